"""The autoscaler v2 of an installed Ray in a closed loop: its reconciler, instance manager and scheduler are the real
ones; the cloud, the GCS and the clock are made here.

The scripts beside this file use it, each to show one finding, in an environment that has ``ray`` 2.60 or later:
``python specs/ray/findings/drained-twice_confirm.py``. Nothing of the project is imported, and no cluster is started.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

try:
    import ray
    from ray.autoscaler.v2.instance_manager.config import InstanceReconcileConfig, NodeTypeConfig, Provider
    from ray.autoscaler.v2.instance_manager.instance_manager import InstanceManager
    from ray.autoscaler.v2.instance_manager.instance_storage import InstanceStorage
    from ray.autoscaler.v2.instance_manager.node_provider import CloudInstance
    from ray.autoscaler.v2.instance_manager.reconciler import Reconciler
    from ray.autoscaler.v2.instance_manager.storage import InMemoryStorage
    from ray.autoscaler.v2.instance_manager.subscribers.cloud_resource_monitor import CloudResourceMonitor
    from ray.autoscaler.v2.scheduler import ResourceDemandScheduler
    from ray.core.generated import autoscaler_pb2
    from ray.core.generated.instance_manager_pb2 import Instance, NodeKind
except ImportError as error:
    raise SystemExit(f"this runs the autoscaler of Ray 2.60 or later, which is not installed: {error}") from None

SECOND = 10**9
WORKER = "worker"
Node = autoscaler_pb2.NodeStatus


@dataclass
class Config:
    """What the reconciler asks its configuration: one worker group of nodes with one CPU."""

    least: int = 0
    most: int = 2
    idle_seconds: int = 60
    installs: bool = False
    provider: Any = Provider.UNKNOWN

    def get_node_type_configs(self) -> dict[str, Any]:
        """The groups of nodes."""
        head = NodeTypeConfig(name="head", resources={"CPU": 0}, min_worker_nodes=0, max_worker_nodes=1)
        worker = NodeTypeConfig(
            name=WORKER, resources={"CPU": 1}, min_worker_nodes=self.least, max_worker_nodes=self.most
        )
        return {"head": head, WORKER: worker}

    def get_max_num_worker_nodes(self) -> None:
        """No limit for all groups together."""

    def get_max_num_nodes(self) -> None:
        """No limit for all nodes together."""

    def get_upscaling_speed(self) -> float:
        """Launches per running node."""
        return 1.0

    def get_max_concurrent_launches(self) -> int:
        """Launches under way."""
        return 10

    def get_instance_reconcile_config(self) -> Any:
        """The timeouts of Ray."""
        return InstanceReconcileConfig()

    def disable_node_updaters(self) -> bool:
        """Whether Ray comes with the image."""
        return not self.installs

    def disable_launch_config_check(self) -> bool:
        """Nodes are never outdated."""
        return True

    def get_idle_timeout_s(self) -> int:
        """When an idle node is terminated."""
        return self.idle_seconds

    def get_pending_idle_timeout_s(self) -> None:
        """Pending nodes are not idle."""

    def get_provider_instance_type(self, name: str) -> str:
        """Of a group."""
        return name


@dataclass
class Cluster:
    """A head that runs, and what the script adds. ``asked`` are the orders that subscribers got."""

    config: Config = field(default_factory=Config)
    cloud: dict[str, Any] = field(default_factory=dict)
    nodes: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    jobs: int = 0
    loops: int = 0
    now: int = 10**18

    def __post_init__(self) -> None:
        logging.disable(logging.CRITICAL)
        self.storage = InstanceStorage(cluster_id="cluster", storage=InMemoryStorage())
        self.monitor = CloudResourceMonitor()
        self.manager = InstanceManager(self.storage, instance_status_update_subscribers=[self, self.monitor])
        self.scheduler = ResourceDemandScheduler()
        self.add_instance("head", head=True)
        self.add_node("head", Node.RUNNING)
        print(f"ray {ray.__version__}, commit {ray.__commit__[:12]}")
        self.loop("the head is found")

    def notify(self, events: list[Any]) -> None:
        """Called by the instance manager, as every subscriber is."""
        self.asked += [Instance.InstanceStatus.Name(event.new_instance_status) for event in events]

    def add_instance(self, name: str, head: bool = False) -> None:
        """The cloud has one more instance."""
        kind = NodeKind.HEAD if head else NodeKind.WORKER
        self.cloud[name] = CloudInstance(
            cloud_instance_id=name,
            node_type="head" if head else WORKER,
            is_running=True,
            request_id="",
            node_kind=kind,
        )

    def add_node(self, instance: str, status: Any, idle_seconds: int = 0) -> None:
        """The GCS lists a Ray node on an instance, in some status; instead of what it said of that node before."""
        # By this resource the reconciler knows the head.
        total = {"node:__internal_head__": 1} if instance == "head" else {"CPU": 1}
        self.nodes[instance] = autoscaler_pb2.NodeState(
            node_id=f"node-{instance}".encode(),
            instance_id=instance,
            ray_node_type_name="head" if instance == "head" else WORKER,
            total_resources=total,
            available_resources=total,
            status=status,
            idle_duration_ms=1000 * idle_seconds,
        )

    def loop(self, what: str, seconds: int = 5, fails: bool = False) -> None:
        """One loop of the reconciler, ``seconds`` after the last; prints what became of it. ``fails``: the scheduler
        raises an error, as any error of a loop would."""
        self.loops += 1
        self.now += seconds * SECOND
        request = autoscaler_pb2.ResourceRequest(resources_bundle={"CPU": 1})
        wanted = [autoscaler_pb2.ResourceRequestByCount(request=request, count=self.jobs)] if self.jobs else []
        state = autoscaler_pb2.ClusterResourceState(
            cluster_resource_state_version=self.loops,
            node_states=list(self.nodes.values()),
            pending_resource_requests=wanted,
        )
        scheduler = mock.Mock(schedule=mock.Mock(side_effect=RuntimeError("put in"))) if fails else self.scheduler
        with mock.patch("time.time_ns", return_value=self.now):
            try:
                Reconciler.reconcile(
                    instance_manager=self.manager,
                    scheduler=scheduler,
                    cloud_provider=mock.MagicMock(),
                    cloud_resource_monitor=self.monitor,
                    ray_cluster_resource_state=state,
                    non_terminated_cloud_instances=dict(self.cloud),
                    autoscaling_config=self.config,
                )
                became = "done"
            except (AssertionError, RuntimeError) as error:
                became = f"aborted: {error}"
        print(f"{self.loops:2}. {what}: {became}; rows {', '.join(self.rows()) or 'none'}")

    def rows(self) -> list[str]:
        """The statuses of the workers' rows."""
        rows, _ = self.storage.get_instances()
        return sorted(Instance.InstanceStatus.Name(row.status) for row in rows.values() if row.instance_type == WORKER)

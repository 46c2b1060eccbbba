"""The autoscaler v2 of an installed Ray, one script of events a line: reads the JSON that
``reference/schedulers/ray/script.py`` plays, and prints what each loop did, in the same form, with ``ray_version``. Of
a script with ``log`` true it also prints what Ray's instance manager logs, line by line, with the script's times.

The autoscaler's loop, its reconciler, instance manager, scheduler and subscribers are Ray's own; the cloud, the GCS,
the installer and the clock are made here, and threads run at once. It runs in an environment of its own, which
``make peer-ray`` makes; nothing of the project is imported.
"""

from __future__ import annotations

import json
import logging
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from queue import Queue
from types import SimpleNamespace
from typing import Any
from unittest import mock

import ray
from ray.autoscaler.v2 import autoscaler
from ray.autoscaler.v2.instance_manager.config import InstanceReconcileConfig, Provider
from ray.autoscaler.v2.instance_manager.instance_manager import InstanceManager
from ray.autoscaler.v2.instance_manager.instance_storage import InstanceStorage
from ray.autoscaler.v2.instance_manager.node_provider import CloudInstance, LaunchNodeError, TerminateNodeError
from ray.autoscaler.v2.instance_manager.storage import InMemoryStorage
from ray.autoscaler.v2.instance_manager.subscribers.cloud_instance_updater import CloudInstanceUpdater
from ray.autoscaler.v2.instance_manager.subscribers.ray_stopper import RayStopper
from ray.autoscaler.v2.instance_manager.subscribers.threaded_ray_installer import ThreadedRayInstaller
from ray.autoscaler.v2.scheduler import ResourceDemandScheduler
from ray.core.generated import autoscaler_pb2 as pb
from ray.core.generated.autoscaler_pb2 import DrainNodeReason
from ray.core.generated.instance_manager_pb2 import Instance, NodeKind
from ray_peer import counted, gang, node_type

try:
    from ray.autoscaler.v2.instance_manager.subscribers.cloud_resource_monitor import CloudResourceMonitor
except ImportError:  # 2.48
    CloudResourceMonitor = None

Json = dict[str, Any]
MS = 10**6
START_MS = 10**12
STATUS = Instance.InstanceStatus


class AtOnce:
    """An executor without threads."""

    def submit(self, function: Any, *arguments: Any) -> Any:
        """Calls it."""
        function(*arguments)
        return SimpleNamespace(add_done_callback=lambda _: None)


class Config:
    """What the autoscaler asks its configuration."""

    def __init__(self, given: Json) -> None:
        self.given = given
        self.provider = Provider.READ_ONLY if given.get("read_only") else Provider.UNKNOWN

    def __getattr__(self, name: str) -> Any:
        key = name.removeprefix("get_")
        defaults = {
            "upscaling_speed": 1.0,
            "max_concurrent_launches": 10,
            "disable_launch_config_check": True,
            "disable_node_updaters": True,
        }
        return lambda: self.given.get(key, defaults.get(key))

    def get_node_type_configs(self) -> Json:
        """The worker groups."""
        return {name: node_type(name, each) for name, each in self.given["node_types"].items()}

    def get_instance_reconcile_config(self) -> InstanceReconcileConfig:
        """The time outs."""
        return InstanceReconcileConfig(**self.given.get("reconcile", {}))

    def get_provider_instance_type(self, name: str) -> str:
        """Of a worker group."""
        return name


class World:
    """A cluster on which a script is played; it is the cloud, the GCS, the installer and a subscriber in one."""

    def __init__(self, cluster: Json) -> None:
        self.config = Config(cluster)
        self.cloud: Json = {}
        self.nodes: Json = {}
        self.errors: list[Any] = []
        self.fails: Counter[str] = Counter()
        self.refuses: set[str] = set()
        self.demand: Json = {}
        self.down, self.loops, self.requests = False, 0, 0
        # Ray reads its configuration when a loop begins, and logs that; here nothing is read
        self.begins: Callable[[], None] = lambda: None
        self.now = START_MS
        self.names: dict[str, str] = {}
        self.launch_names: dict[str, str] = {}
        self.storage = InstanceStorage(cluster_id="cluster", storage=InMemoryStorage())
        self.autoscaler = self._autoscaler()

    def _autoscaler(self) -> Any:
        made = autoscaler.Autoscaler.__new__(autoscaler.Autoscaler)
        made._config_reader = SimpleNamespace(
            refresh_cached_autoscaling_config=lambda: None, get_cached_autoscaling_config=lambda: self.config
        )
        made._gcs_client = self
        made._cloud_instance_provider = self
        made._ray_stop_errors_queue, made._ray_install_errors_queue = Queue(), Queue()
        made._event_logger = made._metrics_reporter = None
        made._scheduler = ResourceDemandScheduler()
        stopper = RayStopper(gcs_client=self, error_queue=made._ray_stop_errors_queue)
        stopper._executor = AtOnce()
        installer = ThreadedRayInstaller(
            head_node_ip="",
            instance_storage=self.storage,
            ray_installer=self,
            error_queue=made._ray_install_errors_queue,
        )
        installer._ray_installation_executor = AtOnce()
        subscribers = [self, CloudInstanceUpdater(cloud_provider=self), stopper, installer]
        made._cloud_resource_monitor = CloudResourceMonitor() if CloudResourceMonitor else None
        if CloudResourceMonitor:
            subscribers.append(made._cloud_resource_monitor)
        made._instance_manager = InstanceManager(
            instance_storage=self.storage, instance_status_update_subscribers=subscribers
        )
        return made

    # What Ray calls.

    def notify(self, events: list[Any]) -> None:
        """As every subscriber."""
        for event in events:
            if event.upsert:
                self.names.setdefault(event.instance_id, f"i{len(self.names) + 1}")
            if event.launch_request_id and event.launch_request_id not in self.launch_names:
                self.requests += 1
                self.launch_names[event.launch_request_id] = f"r{self.requests}"
            name = self.names.get(event.instance_id, event.instance_id)
            self.told["events"].append([name, STATUS.Name(event.new_instance_status)])

    def _check(self) -> None:
        if self.down:
            raise ConnectionError("the cloud does not answer")

    def get_non_terminated(self) -> Json:
        """Of the cloud."""
        self._check()
        return dict(self.cloud)

    def launch(self, shape: Json, request_id: str) -> None:
        """Of the cloud."""
        self._check()
        self.told["launches"] += [[self.launch_names[request_id], name, count] for name, count in shape.items()]

    def terminate(self, ids: list[str], request_id: str) -> None:
        """Of the cloud."""
        self._check()
        self.told["terminations"] += ids

    def poll_errors(self) -> list[Any]:
        """Of the cloud."""
        self._check()
        errors, self.errors = self.errors, []
        return errors

    def _drains(self, name: str, idle: bool) -> bool:
        self.told["drains"].append([name, idle])
        return name in self.nodes and name not in self.refuses

    def drain_node(self, node_id: str, reason: Any, **_: Any) -> tuple[bool, str]:
        """Of the GCS."""
        idle = reason == DrainNodeReason.DRAIN_NODE_REASON_IDLE_TERMINATION
        return self._drains(bytes.fromhex(node_id).decode(), idle), ""

    def drain_nodes(self, node_ids: list[bytes]) -> list[bytes]:
        """Of the GCS."""
        return [each for each in node_ids if self._drains(each.decode(), False)]

    def install_ray(self, instance: Any, head_node_ip: str) -> None:
        """Of the installer."""
        name = instance.cloud_instance_id
        self.told["installs"][name] = self.told["installs"].get(name, 0) + 1
        self.fails[name] -= 1
        if self.fails[name] >= 0:
            raise RuntimeError("not installed")

    # The operations of a script.

    def op_configure(self, **changed: Any) -> None:
        """The configuration changes."""
        self.config = Config({**self.config.given, **changed})

    def op_cloud_instance(self, id: str, type: str, kind: str = "WORKER", running: bool = True) -> None:
        """The cloud lists an instance."""
        self.cloud[id] = CloudInstance(
            cloud_instance_id=id, node_type=type, is_running=running, request_id="", node_kind=NodeKind.Value(kind)
        )

    def op_cloud_instance_gone(self, id: str) -> None:
        """The cloud no longer lists it."""
        self.cloud.pop(id, None)

    def op_cloud(self, down: bool) -> None:
        """The cloud answers, or does not."""
        self.down = down

    def op_ray_node(self, id: str, cloud_instance: str = "", type: str = "", **given: Any) -> None:
        """The GCS reports a node."""
        types = self.config.given["node_types"]
        total = dict(given.get("total", types.get(type, {}).get("resources", {})))
        if given.get("head"):
            total["node:__internal_head__"] = 1
        node = pb.NodeState(
            node_id=id.encode(),
            instance_id=cloud_instance,
            ray_node_type_name=type,
            total_resources={key: float(value) for key, value in sorted(total.items())},
            available_resources={key: float(value) for key, value in given.get("available", total).items()},
            dynamic_labels=given.get("dynamic_labels", {}),
            idle_duration_ms=given.get("idle_ms", 0),
            status=pb.NodeStatus.Value(given.get("status", "RUNNING")),
        )
        if hasattr(node, "labels"):
            node.labels.update(given.get("labels", {}))
        self.nodes[id] = node

    def op_ray_node_gone(self, id: str) -> None:
        """The GCS no longer reports it."""
        self.nodes.pop(id, None)

    def op_demand(self, **given: Any) -> None:
        """What waits to run."""
        self.demand = given

    def op_launch_error(self, launch: str, type: str, count: int = 1) -> None:
        """Instances will not come."""
        ids = {name: request for request, name in self.launch_names.items()}
        self.errors.append(LaunchNodeError(type, count, ids.get(launch, launch), 0))

    def op_terminate_error(self, cloud_instance: str) -> None:
        """An instance could not be terminated."""
        self.errors.append(TerminateNodeError(cloud_instance, "", 0))

    def op_refuse_drains(self, nodes: list[str]) -> None:
        """Nodes that do not drain when asked."""
        self.refuses = set(nodes)

    def op_fail_installs(self, cloud_instance: str, count: int = 3) -> None:
        """Attempts that fail."""
        self.fails[cloud_instance] = count

    def op_instance(self, id: str, history: list[Any], type: str = "", count: int = 1, **given: Any) -> None:
        """The instance manager has it already."""
        if given.get("launch"):
            self.launch_names[given["launch"]] = given["launch"]
        kind = given.get("kind", "WORKER" if given.get("cloud_instance") else "UNMANAGED")
        for number in range(count):
            made = Instance(
                instance_id=id if count == 1 else f"{id}{number}",
                instance_type=type,
                status=STATUS.Value(history[-1][0]),
                cloud_instance_id=given.get("cloud_instance", ""),
                node_id=given.get("node", "").encode().hex(),
                node_kind=NodeKind.Value(kind),
                launch_request_id=given.get("launch", ""),
            )
            for status, ago in history:
                made.status_history.add(
                    instance_status=STATUS.Value(status), timestamp_ns=(self.now - int(ago * 1000)) * MS
                )
            self.storage.upsert_instance(made)

    def op_loop(self, after_s: float = 5) -> Json:
        """One loop of the autoscaler."""
        self.now += int(after_s * 1000)
        self.loops += 1
        self.begins()
        self.told: Json = {"events": [], "launches": [], "terminations": [], "drains": [], "installs": {}}
        constraints = counted(self.demand.get("constraints", []))
        state = pb.ClusterResourceState(
            cluster_resource_state_version=self.loops,
            node_states=list(self.nodes.values()),
            pending_resource_requests=counted(self.demand.get("requests", [])),
            pending_gang_resource_requests=[gang(each, n) for n, each in enumerate(self.demand.get("gangs", []))],
            cluster_resource_constraints=[pb.ClusterResourceConstraint(resource_requests=constraints)]
            if constraints
            else [],
        )
        seconds = self.now / 1000
        with (
            mock.patch("time.time_ns", return_value=self.now * MS),
            mock.patch("time.time", return_value=seconds),
            mock.patch("time.monotonic", return_value=seconds - START_MS / 1000),
            mock.patch("time.sleep"),
            mock.patch.object(autoscaler, "get_cluster_resource_state", return_value=state),
        ):
            went_through = self.autoscaler.update_autoscaling_state() is not None
        return {**self.told, **self._table(), "ended_early": not went_through}

    def _table(self) -> Json:
        rows, _ = self.storage.get_instances()
        named = [(self.names.get(row.instance_id, row.instance_id), row) for row in rows.values()]
        requests = self.launch_names
        return {
            "instances": {name: STATUS.Name(row.status) for name, row in named},
            "details": {
                name: [
                    row.instance_type,
                    NodeKind.Name(row.node_kind),
                    row.cloud_instance_id,
                    bytes.fromhex(row.node_id).decode(),
                    requests.get(row.launch_request_id, row.launch_request_id),
                ]
                for name, row in named
            },
        }


class Lines(logging.Handler):
    """Keeps what is logged, in the form of Ray's own files."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.INFO)
        self.world = world
        self.lines: list[str] = []
        world.begins = lambda: self._add("INFO config.py:187", "Calculating hashes for file mounts and ray commands.")

    def emit(self, record: logging.LogRecord) -> None:
        """One line."""
        self._add(f"{record.levelname} {record.filename}:{record.lineno}", record.getMessage())

    def _add(self, place: str, text: str) -> None:
        at = datetime.fromtimestamp(self.world.now / 1000, UTC)
        self.lines.append(f"{at:%Y-%m-%d %H:%M:%S},{self.world.now % 1000:03d}\t{place} -- {text}")


def logged(script: Json) -> tuple[list[Json], list[str]]:
    """What each loop of a script does, and what the instance manager logs meanwhile."""
    logger = logging.getLogger(InstanceManager.__module__)
    world = World(script["cluster"])
    handler = Lines(world)
    disabled, level, propagates = logging.root.manager.disable, logger.level, logger.propagate
    logging.disable(logging.NOTSET)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        return play(script, world), handler.lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates
        logging.disable(disabled)


def play(script: Json, world: World) -> list[Json]:
    """What each loop of a script does."""
    told = []
    for step in script["steps"]:
        given = {key: value for key, value in step.items() if key != "op"}
        answer = getattr(world, f"op_{step['op']}")(**given)
        if answer is not None:
            told.append(answer)
    return told


def main() -> None:
    """Plays line by line, until the input ends."""
    if not sys.flags.dev_mode:
        logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        script = json.loads(line)
        if script.get("log"):
            loops, lines = logged(script)
            answer = {"loops": loops, "log": lines}
        else:
            answer = {"loops": play(script, World(script["cluster"]))}
        print(json.dumps({"ray_version": ray.__version__, **answer}), flush=True)


if __name__ == "__main__":
    main()

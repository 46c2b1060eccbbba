"""Ray's autoscaler as the reference has it and its spec, side by side: what happens around it in the spec is made to
happen around the reference, and what a loop of the reference does has to be enabled steps of the spec.

`Follower` carries out the spec's world actions on a fake cloud and GCS, runs a loop, and takes the spec's steps: each
change of an instance is an action of the row that stands for it, between them the loop's phases change as far as the
spec lets them, and afterwards both show the same: states, launches that timed out, cloud instances, Ray nodes, jobs.

The spec's rows of one type are alike, Ray's launches have names. Where the cloud has an instance, Ray gives it to the
row that was requested first; so the follower has two rows change their parts where the spec gives it to the other. An
error of one launch while another is under way is left out (`Follower.may_happen`): if the failed row is given the
instance of the other, its error is not heard and the other waits for its time out, while the spec fails the first.
Nodes without work are idle for long or not at all, as the test has it; time is told by the test, which may let it jump
only where the spec lets rows be stuck (`Follower.may_jump`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from model.language import Machine
from model.trace import Value
from reference.schedulers.ray import Autoscaler, AutoscalingConfig, NodeTypeConfig, ReconcileConfig, ResourceRequest
from reference.schedulers.ray import Edition as Release
from reference.schedulers.ray.fake import FakeCloud, FakeGcs, FakeInstaller
from reference.schedulers.ray.instance_manager.instance import InstanceUpdateEvent, ManagedInstance
from reference.schedulers.ray.instance_manager.life_cycle import OVER
from reference.schedulers.ray.instance_manager.observed import HEAD_RESOURCE, ClusterState, RayNode, RayNodeStatus
from reference.schedulers.ray.instance_manager.provider import CloudInstance, LaunchNodeError, TerminateNodeError
from reference.schedulers.ray.request import InstanceStatus as Ray
from reference.schedulers.ray.request import NodeKind
from specs.ray.life_cycle import Status
from specs.ray.parameters import Edition, Timers
from specs.ray.state import Instance, Loop, Node
from specs.walking import Call, Divergence, SpecWalk

WORKER: Final = "worker"
IDLE_S: Final = 60.0
PAUSE_MS: Final = 1
"""So short that ten thousand loops without a jump, which no test comes to, leave nothing stuck."""
JUMP_MS: Final = 20_000
"""Longer than any time out of `subject_for`, which is ten seconds."""
_TIME_OUT_S: Final = 10.0
_NEVER_S: Final = 10.0**9

_STEPS: Final[Mapping[tuple[Ray | None, Ray], tuple[str, ...]]] = {
    (None, Ray.QUEUED): ("queue_instance",),
    (Ray.QUEUED, Ray.REQUESTED): ("launch",),
    (Ray.QUEUED, Ray.TERMINATED): ("cancel_queued",),
    (Ray.REQUESTED, Ray.ALLOCATED): ("allocated",),
    (Ray.REQUESTED, Ray.QUEUED): ("request_timed_out",),
    (Ray.REQUESTED, Ray.ALLOCATION_FAILED): ("launch_failed", "request_given_up"),
    (Ray.ALLOCATED, Ray.RAY_INSTALLING): ("install",),
    (Ray.ALLOCATED, Ray.ALLOCATION_TIMEOUT): ("allocation_timed_out",),
    (Ray.ALLOCATED, Ray.TERMINATING): ("allocation_timed_out", "terminate_unstarted"),
    (Ray.RAY_INSTALLING, Ray.RAY_INSTALL_FAILED): ("install_failed", "install_timed_out"),
    (Ray.RAY_INSTALLING, Ray.TERMINATING): ("terminate_unstarted",),
    (Ray.RAY_RUNNING, Ray.RAY_STOP_REQUESTED): ("terminate_idle", "drain_over_maximum"),
    (Ray.RAY_STOP_REQUESTED, Ray.RAY_RUNNING): ("drain_rejected", "drain_timed_out"),
    (Ray.TERMINATING, Ray.TERMINATION_FAILED): ("termination_failed", "termination_timed_out"),
}
"""What a change of an instance is in the spec: from, to, and the actions that it may be."""
_ANY: Final[Mapping[Ray, tuple[str, ...]]] = {
    Ray.RAY_RUNNING: ("ray_running",),
    Ray.RAY_STOPPING: ("ray_stopping",),
    Ray.RAY_STOPPED: ("ray_stopped", "ray_node_missing"),
    Ray.TERMINATED: ("terminated",),
    Ray.TERMINATING: ("terminate",),
}
"""The same, wherever it comes from."""
_NODES: Final = {RayNodeStatus.DRAINING: Node.DRAINING, RayNodeStatus.DEAD: Node.DEAD}


class NoRowLeft(Exception):
    """The spec has a fixed number of rows, of which those that ended in this loop are free in the next."""


def release_of(machine: Machine) -> Release:
    """Which release of Ray a machine's edition is."""
    return Release.CURRENT if Edition(machine.parameters["edition"]) is Edition.CURRENT else Release.SEED


def subject_for(machine: Machine) -> AutoscalingConfig:
    """The configuration that a machine's parameters describe: one worker group, whose nodes have one CPU."""
    p: Mapping[str, Any] = machine.parameters
    free = Timers(p["timers"]) is Timers.FREE
    return AutoscalingConfig(
        node_types={
            "head": NodeTypeConfig("head", {}, 1),
            WORKER: NodeTypeConfig(WORKER, {"CPU": 1.0}, p["max_workers"], p["min_workers"]),
        },
        upscaling_speed=p["upscaling_speed"],
        max_concurrent_launches=p["max_concurrent_launches"],
        idle_timeout_s=IDLE_S,
        disable_node_updaters=p["kuberay"],
        reconcile=ReconcileConfig(
            request_status_timeout_s=_TIME_OUT_S,
            allocate_status_timeout_s=_TIME_OUT_S if free else _NEVER_S,
            ray_install_status_timeout_s=_TIME_OUT_S,
            terminating_status_timeout_s=_TIME_OUT_S,
            ray_stop_requested_status_timeout_s=_TIME_OUT_S,
            max_num_retry_request_to_allocate=p["retries"],
        ),
    )


class Follower(SpecWalk):
    """The spec, walking along with an autoscaler; ``row`` is which row of the spec an instance is."""

    code = "Ray"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.config = subject_for(machine)
        self.names = machine.sorts[Instance].names
        self.cloud, self.gcs = FakeCloud(), FakeGcs()
        self.autoscaler = Autoscaler(self.cloud, self.gcs, FakeInstaller(), release_of(machine))
        self.row: dict[str, str] = {}
        self.now_ms, self._nodes = 0, 0
        self.pending = self.constraint = 0
        self.cloud.instances["head"] = CloudInstance("head", "head", NodeKind.HEAD)
        self.gcs.nodes["head"] = RayNode("head", "head", "head", total={HEAD_RESOURCE: 1}, available={HEAD_RESOURCE: 1})

    def around(self) -> list[Call]:
        """What may happen around the autoscaler now: enabled actions of the spec that `may_happen`."""
        told = (call for call in self.walked.instances if hasattr(self, f"_{call[0]}"))
        return [call for call in told if self.is_enabled(call) and self.may_happen(call)]

    def may_happen(self, call: Call) -> bool:
        """Whether both tell the same of it: see above."""
        requested = [name for name in self.names if self.shown()[f"status[{name}]"] == Status.REQUESTED.name]
        if call[0] == "fail_launch":
            return len(requested) == 1
        tries = {self.shown()[f"tries[{name}]"] for name in requested}
        return call[0] != "launch_instance" or len(tries) == 1

    def may_jump(self) -> bool:
        """Whether rows may be stuck: nothing that was asked for is still to come."""
        orders = [self.shown()[f"order[{name}]"] for name in self.names]
        return self.config.reconcile.allocate_status_timeout_s < _NEVER_S or not {"ASKED", "FORCED"} & set(orders)

    def happen(self, call: Call) -> None:
        """One action of the spec's world, in both."""
        arguments = [self._instance_of(name) for name in call[1] if name in self.names]
        values = [name for name in call[1] if name not in self.names]
        getattr(self, f"_{call[0]}")(*arguments, *values)
        self.fire(call)

    def loop(self, *, jumps: bool = False, idle: bool = True) -> list[Call]:
        """A loop of the autoscaler, and what it is in the spec. ``jumps``: so late that what is stuck times out;
        ``idle``: nodes without work have been idle for long. Divergence where the spec does not allow it, or both show
        other states then."""
        self.now_ms += JUMP_MS if jumps else PAUSE_MS
        for name, node in self.gcs.nodes.items():
            free = node.status.is_up and node.available == node.total
            self.gcs.nodes[name] = replace(node, idle_ms=int(IDLE_S * 1000) + 1 if free and idle else 0)
        one = ResourceRequest((("CPU", 1.0),))
        self.gcs.cluster = ClusterState(requests=((one, self.pending),), constraints=((one, self.constraint),))
        before = {each.id: each.status for each in self.autoscaler.instances}
        done = self.autoscaler.loop(self.config, self.now_ms)
        taken = [self._taken(("begin_loop", ()))]
        self.row = {each.id: self.row[each.id] for each in self._alive(before)}
        for event in done.events:
            if self._is_worker(event):
                taken += self._follow(event, before.get(event.instance))
                before[event.instance] = event.status
        if done.error:
            taken.append(self._taken(("abort_loop", ())))
        while self.shown()["loop"] != Loop.REST.name:
            taken.append(self._taken(("next_phase", ())))
        self.compare(f"loop at {self.now_ms} ms", self.observed())
        return taken

    def _alive(self, before: Mapping[str, Ray]) -> list[ManagedInstance]:
        """Instances that have a row when a loop begins."""
        return [e for e in self.autoscaler.instances if e.id in self.row and before[e.id] not in OVER]

    def _is_worker(self, event: InstanceUpdateEvent) -> bool:
        there = self.autoscaler.manager.get(event.instance)
        return there is not None and there.kind is not NodeKind.HEAD

    def _taken(self, call: Call) -> Call:
        self.fire(call)
        return call

    def _follow(self, event: InstanceUpdateEvent, source: Ray | None) -> list[Call]:
        """The steps that a change of an instance is: the phases up to it, and it."""
        if source is None:
            free = [n for n in self.names if self.shown()[f"status[{n}]"] == Status.ABSENT.name]
            if not free:
                raise NoRowLeft(f"{len(self.names)} rows are not enough")
            self.row[event.instance] = free[0]
        actions = (*_STEPS.get((source, event.status), ()), *_ANY.get(event.status, ()))
        taken: list[Call] = []
        while True:
            for action in actions:
                if (call := self._enabled(action, event.instance)) is not None:
                    return [*taken, self._taken(call)]
            try:
                taken.append(self._taken(("next_phase", ())))
            except Divergence:
                what = f"{source.value if source else 'nothing'} to {event.status.value}"
                raise Divergence(f"{self.row[event.instance]}: {what} in {self.shown()['loop']}") from None
            if self.shown()["loop"] == Loop.REST.name:
                raise Divergence(f"{self.row[event.instance]}: nothing is {event.status.value} in this loop")

    def _enabled(self, action: str, instance: str) -> Call | None:
        call = action, (self.row[instance],)
        if self.is_enabled(call):
            return call
        if action == "allocated":  # another row's, in the spec: they change parts
            for other, row in self.row.items():
                alike = self.shown()[f"tries[{row}]"] == self.shown()[f"tries[{self.row[instance]}]"]
                if alike and self.is_enabled((action, (row,))):
                    self.row[other], self.row[instance] = self.row[instance], row
                    return action, (row,)
        return None

    def observed(self) -> dict[str, Value]:
        """What the reference and its world show, by the spec's cells."""
        by_row = {self.row[each.id]: each for each in self.autoscaler.instances if each.id in self.row}
        named = {each.cloud_instance for each in by_row.values() if each.status not in OVER}
        seen: dict[str, Value] = {"pending": self.pending}
        seen["extra"] = sum(name not in named and name != "head" for name in self.cloud.instances)
        for name in self.names:
            each = by_row.get(name)
            seen[f"status[{name}]"] = each.status.value if each else Status.ABSENT.name
            seen[f"tries[{name}]"] = _tries(each)
            seen[f"cloud[{name}]"] = each is not None and each.cloud_instance in self.cloud.instances
            seen[f"node[{name}]"] = self._shown_node(each).name
        return seen

    def _shown_node(self, each: ManagedInstance | None) -> Node:
        node = self._node_of(each.id) if each and each.cloud_instance else None
        if node is None:
            return Node.NONE
        busy = Node.IDLE if node.available == node.total else Node.BUSY
        return _NODES.get(node.status, busy)

    # ---- the world

    def _instance_of(self, row: str) -> str:
        """The instance that a row is now."""
        return next(instance for instance, name in self.row.items() if name == row)

    def _managed(self, instance: str) -> ManagedInstance:
        found = self.autoscaler.manager.get(instance)
        assert found is not None
        return found

    def _node_of(self, instance: str) -> RayNode | None:
        cloud = self._managed(instance).cloud_instance
        return next((node for node in self.gcs.nodes.values() if node.cloud_instance == cloud), None)

    def _change(self, instance: str, **values: Any) -> None:
        """The Ray node of an instance, which there is; work on it waits again unless it stays up."""
        node = self._node_of(instance)
        assert node is not None
        if not values.get("status", node.status).is_up and node.status.is_up:
            self.pending += node.available != node.total
        self.gcs.nodes[node.id] = replace(node, **values)

    def _submit_job(self) -> None:
        self.pending += 1

    def _place_job(self, instance: str) -> None:
        self.pending -= 1
        self._change(instance, available={"CPU": 0.0})

    def _finish_job(self, instance: str) -> None:
        self._change(instance, available={"CPU": 1.0})

    def _request_resources(self, size: str) -> None:
        self.constraint = int(size)

    def _launch_instance(self, instance: str) -> None:
        self.cloud.start(WORKER)

    def _fail_launch(self, instance: str) -> None:
        self.cloud.errors.append(LaunchNodeError(self._managed(instance).launch_request, WORKER, 1))

    def _lose_order(self, instance: str) -> None:
        """Nothing comes, and nothing is said."""

    def _start_ray(self, instance: str) -> None:
        self._nodes += 1
        cloud = self._managed(instance).cloud_instance
        one = {"CPU": 1.0}
        self.gcs.nodes[f"n{self._nodes}"] = RayNode(f"n{self._nodes}", cloud, WORKER, total=one, available=one)

    def _fail_install(self, instance: str) -> None:
        self.autoscaler.installer.errors.append(instance)

    def _accept_drain(self, instance: str) -> None:
        self._change(instance, status=RayNodeStatus.DRAINING)

    def _refuse_drain(self, instance: str) -> None:
        self.autoscaler.stopper.errors.append(instance)

    def _stop_ray(self, instance: str) -> None:
        self._change(instance, status=RayNodeStatus.DEAD)

    _kill_ray = _stop_ray

    def _forget_node(self, instance: str) -> None:
        node = self._node_of(instance)
        assert node is not None
        del self.gcs.nodes[node.id]

    def _terminate_instance(self, instance: str) -> None:
        if (node := self._node_of(instance)) is not None:
            self._change(instance, status=RayNodeStatus.DEAD)
            del self.gcs.nodes[node.id]
        del self.cloud.instances[self._managed(instance).cloud_instance]

    _lose_instance = _terminate_instance

    def _fail_termination(self, instance: str) -> None:
        self.cloud.errors.append(TerminateNodeError(self._managed(instance).cloud_instance))


def _tries(each: ManagedInstance | None) -> int:
    """Launches of an instance that timed out, as long as it is not there."""
    if each is None or each.status not in (Ray.QUEUED, Ray.REQUESTED):
        return 0
    return len(each.times(Ray.REQUESTED)) - (each.status is Ray.REQUESTED)

"""Ray's autoscaler as the reference has it, with a cloud and a GCS around it that do what the spec's world does.

`World` carries out the spec's world actions by the spec's rows, runs a loop and tells what it changed, and shows its
state by the spec's cells: states, launches that timed out, orders, cloud instances, Ray nodes, jobs.
`specs.ray.following` has the spec walk along with it, `specs.ray.replayer` has it make the runs of the spec.

An order is what a subscriber was asked for an instance and is still to come. The world acts on orders only, so an order
that was not given, or not as the spec has it, is a divergence. Launches of one type are alike to the cloud: `exchange`
has two rows change their parts where Ray gives an instance to another row than the spec, and the launches with them.
Nodes without work are idle for long or not at all, as the caller has it, who tells the time as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
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
from specs.ray.life_cycle import HAS_CLOUD_INSTANCE, Status
from specs.ray.machine import Phases
from specs.ray.parameters import Scope, Timers
from specs.ray.state import Instance, Node, Order, State
from specs.walking import Call, Divergence

WORKER: Final = "worker"
IDLE_S: Final = 60.0
TIME_OUT_S: Final = 10.0
"""Of each state of `subject_for` that has one."""
NEVER_S: Final = 10.0**9
PAUSE_MS: Final = 1
"""Between loops that follow each other: ten thousand of them, which no test comes to, leave nothing stuck."""
_NODES: Final = {RayNodeStatus.DRAINING: Node.DRAINING, RayNodeStatus.DEAD: Node.DEAD}
_OWNED: Final = frozenset(status.name for status in HAS_CLOUD_INSTANCE)


def scope_of(machine: Machine) -> Scope:
    """What a machine was built with. ValueError for what has no world here."""
    scope = machine.attached(State).scope
    if scope.types > 1 or scope.split or scope.late_launches:
        raise ValueError("the reference's world is one of types=1, split=false and late_launches=0")
    return scope


def release_of(scope: Scope) -> Release:
    """Which release of Ray an edition is."""
    return Release.CURRENT if scope.current else Release.SEED


def subject_for(scope: Scope) -> AutoscalingConfig:
    """The configuration that a machine's parameters describe: one worker group, whose nodes have one CPU."""
    out = TIME_OUT_S if scope.timeouts else NEVER_S
    return AutoscalingConfig(
        node_types={"head": NodeTypeConfig("head", {}, 1), WORKER: _workers(scope.max_workers, scope.min_workers)},
        upscaling_speed=scope.upscaling_speed,
        max_concurrent_launches=scope.max_concurrent_launches,
        idle_timeout_s=IDLE_S,
        disable_node_updaters=scope.kuberay,
        reconcile=ReconcileConfig(
            request_status_timeout_s=out,
            allocate_status_timeout_s=out if scope.timers is Timers.FREE else NEVER_S,
            ray_install_status_timeout_s=out,
            terminating_status_timeout_s=out,
            ray_stop_requested_status_timeout_s=out,
            max_num_retry_request_to_allocate=scope.retries,
        ),
    )


def _workers(most: int, least: int) -> NodeTypeConfig:
    return NodeTypeConfig(WORKER, {"CPU": 1.0}, most, least)


Rows = Mapping[str, ManagedInstance]


@dataclass(frozen=True, slots=True)
class Change:
    """What a loop made of an instance; ``source`` is None where it is new."""

    instance: str
    source: Status | None
    target: Status


@dataclass(frozen=True, slots=True)
class Ran:
    """What a loop did, in order. ``error`` says why it ended early."""

    changes: tuple[Change, ...]
    error: str


class World:
    """An autoscaler and what is around it; ``row`` is which row of the spec an instance is; ``orders`` what is
    to come for an instance, with the launch request that it is of; ``unheard`` those of whose launch the last loop was
    told an error that names another's request."""

    def __init__(self, machine: Machine) -> None:
        scope = scope_of(machine)
        self.config = subject_for(scope)
        self.names = machine.sorts[Instance].names
        self.phases = machine.attached(Phases).order
        self.cloud, self.gcs = FakeCloud(), FakeGcs()
        self.installs = FakeInstaller()
        self.autoscaler = Autoscaler(self.cloud, self.gcs, self.installs, release_of(scope))
        self.row: dict[str, str] = {}
        self.orders: dict[str, tuple[Order, str]] = {}
        self.unheard: set[str] = set()
        self.now_ms, self._nodes = 0, 0
        self.pending = self.constraint = 0
        self.cloud.instances["head"] = CloudInstance("head", "head", NodeKind.HEAD)
        self.loop()  # finds the head, before Ray runs there: so nothing is scaled yet
        self.gcs.nodes["head"] = RayNode("head", "head", "head", total={HEAD_RESOURCE: 1}, available={HEAD_RESOURCE: 1})

    # ---- a loop

    def loop(
        self,
        pause_ms: int = PAUSE_MS,
        stuck: Mapping[str, float] = MappingProxyType({}),
        idle: Collection[str] | None = None,
    ) -> Ran:
        """A loop, ``pause_ms`` after the last one. ``stuck``: time outs that are not as configured, in seconds;
        ``idle``: the rows whose nodes have been idle for long, if they are; None for all."""
        self.now_ms += pause_ms
        rows = {self.managed(instance).cloud_instance: row for instance, row in self.row.items()}
        for name, node in self.gcs.nodes.items():
            long = node.available == node.total and (idle is None or rows.get(node.cloud_instance) in idle)
            self.gcs.nodes[name] = replace(node, idle_ms=int(IDLE_S * 1000) + 1 if long and node.status.is_up else 0)
        one = ResourceRequest((("CPU", 1.0),))
        self.gcs.cluster = ClusterState(requests=((one, self.pending),), constraints=((one, self.constraint),))
        before = {each.id: each for each in self.autoscaler.instances}
        self.cloud.launches, self.cloud.terminations, self.gcs.drained = [], [], []
        self.installs.attempts.clear()
        reconcile = replace(self.config.reconcile, **dict(stuck))  # type: ignore[arg-type]  # only time outs
        done = self.autoscaler.loop(replace(self.config, reconcile=reconcile), self.now_ms)
        self.row = {i: row for i, row in self.row.items() if before[i].status not in OVER}
        self._note_orders(before)
        return Ran(tuple(self._changes(done.events, before)), done.error)

    def _changes(self, events: Iterable[InstanceUpdateEvent], before: Rows) -> Iterator[Change]:
        was = {name: Status[each.status.value] for name, each in before.items()}
        for event in events:
            there = self.autoscaler.manager.get(event.instance)
            if there is not None and there.kind is not NodeKind.HEAD:
                yield Change(event.instance, was.get(event.instance), Status[event.status.value])
                was[event.instance] = Status[event.status.value]

    def _note_orders(self, before: Rows) -> None:
        """What the loop has ordered. What was ordered for the state before, and errors that were read, are over; but
        where one row got the instance that came for another, that one waits for what is still to come."""
        moved = [e for e in self.autoscaler.instances if e.id not in before or e.history != before[e.id].history]
        failed = {i: request for i, (order, request) in self.orders.items() if order is Order.FAILED}
        to_come = [self.orders[e.id] for e in moved if e.id in self.orders and _was_allocated(e, before[e.id])]
        self.orders = {i: order for i, order in self.orders.items() if i not in {e.id for e in moved} | failed.keys()}
        waits = [e for e in self.instances.values() if e.status is Ray.REQUESTED and e.id not in self.orders]
        self.orders |= {e.id: order for e, order in zip(waits, to_come, strict=False)}
        inherited = {e.id for e, (order, _) in zip(waits, to_come, strict=False) if order is Order.FAILED}
        self.unheard = inherited | {i for i, r in failed.items() if r and r != self.managed(i).launch_request}
        for request, _, count in self.cloud.launches:
            asked = [e for e in moved if e.status is Ray.REQUESTED and e.launch_request == request]
            self.orders |= {e.id: (Order.ASKED, request) for e in asked[:count]}
        drained = dict(self.gcs.drained)
        for each in moved:
            match each.status:
                case Ray.TERMINATING if each.cloud_instance in self.cloud.terminations:
                    self.orders[each.id] = Order.ASKED, ""
                case Ray.RAY_STOP_REQUESTED if each.node_id in drained:
                    self.orders[each.id] = Order.ASKED if drained[each.node_id] else Order.FORCED, ""
                case Ray.RAY_INSTALLING if self.installs.attempts[each.cloud_instance]:
                    self.orders[each.id] = Order.ASKED, ""

    # ---- what it shows

    @property
    def instances(self) -> dict[str, ManagedInstance]:
        """The instances that are rows, the oldest first."""
        return {each.id: each for each in self.autoscaler.instances if each.id in self.row}

    def observed(self, ahead: Mapping[str, int] = MappingProxyType({})) -> dict[str, Value]:
        """What the autoscaler and its world show, by the spec's cells. ``ahead``: how many changes of an instance are
        not to be shown."""
        rows = {
            self.row[n]: replace(e, history=e.history[: len(e.history) - ahead.get(n, 0)])
            for n, e in self.instances.items()
        }
        owned = {each.cloud_instance for each in rows.values() if each.status.value in _OWNED}
        seen: dict[str, Value] = {"pending": self.pending}
        seen["extra"] = sum(name not in owned and name != "head" for name in self.cloud.instances)
        for name in self.names:
            each = rows.get(name)
            there = each is not None and each.cloud_instance in owned & self.cloud.instances.keys()
            seen[f"status[{name}]"] = each.status.value if each else Status.ABSENT.name
            seen[f"tries[{name}]"] = tries(each)
            seen[f"cloud[{name}]"] = there
            seen[f"node[{name}]"] = self.shown_node(each).name if there else Node.NONE.name
        return seen

    def shown_orders(self) -> dict[str, Value]:
        """The orders that are still to come, by the spec's cells."""
        orders = {row: self.orders[instance][0] for instance, row in self.row.items() if instance in self.orders}
        return {f"order[{name}]": orders.get(name, Order.NONE).name for name in self.names}

    def shown_node(self, each: ManagedInstance | None) -> Node:
        node = self._node_of(each.id) if each and each.cloud_instance else None
        if node is None:
            return Node.NONE
        busy = Node.IDLE if node.available == node.total else Node.BUSY
        return _NODES.get(node.status, busy)

    # ---- what happens around it

    def happen(self, call: Call) -> None:
        """One action of the spec's world. Divergence if nobody has ordered it."""
        arguments = [self.instance_of(name) for name in call[1] if name in self.names]
        values = [name for name in call[1] if name not in self.names]
        getattr(self, f"_{call[0]}")(*arguments, *values)

    def exchange(self, instance: str, other: str) -> None:
        """The rows of two instances change their parts."""
        self.row[instance], self.row[other] = self.row[other], self.row[instance]

    def instance_of(self, row: str) -> str:
        """The instance that a row is now."""
        return next(instance for instance, name in self.row.items() if name == row)

    def managed(self, instance: str) -> ManagedInstance:
        found = self.autoscaler.manager.get(instance)
        assert found is not None
        return found

    def _node_of(self, instance: str) -> RayNode | None:
        cloud = self.managed(instance).cloud_instance
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

    def _take(self, instance: str, what: str, *kinds: Order) -> str:
        """The order for an instance is carried out; the name of its launch request."""
        order, request = self.orders.pop(instance, (Order.NONE, ""))
        if order not in (kinds or (Order.ASKED,)):
            raise Divergence(f"{self.row[instance]}: Ray has not asked for {what}: {order.name}")
        return request

    def _change_max_workers(self, to: str) -> None:
        types = {**self.config.node_types, WORKER: _workers(int(to), self.config.node_types[WORKER].min_workers)}
        self.config = replace(self.config, node_types=types)

    def _launch_instance(self, instance: str) -> None:
        self._take(instance, "a launch")
        self.cloud.start(WORKER)

    def _fail_launch(self, instance: str) -> None:
        request = self._take(instance, "a launch")
        self.orders[instance] = Order.FAILED, request
        self.cloud.errors.append(LaunchNodeError(request, WORKER, 1))

    def _lose_order(self, instance: str) -> None:
        """Nothing comes, and nothing is said."""
        self._take(instance, "anything", Order.ASKED, Order.FORCED)

    def _start_ray(self, instance: str) -> None:
        if not self.config.disable_node_updaters:
            self._take(instance, "an installation")
        self._start_ray_late(instance)

    def _start_ray_late(self, instance: str) -> None:
        self._nodes += 1
        cloud = self.managed(instance).cloud_instance
        one = {"CPU": 1.0}
        self.gcs.nodes[f"n{self._nodes}"] = RayNode(f"n{self._nodes}", cloud, WORKER, total=one, available=one)

    def _fail_install(self, instance: str) -> None:
        self._take(instance, "an installation")
        self.orders[instance] = Order.FAILED, ""
        self.autoscaler.installer.errors.append(instance)

    def _accept_drain(self, instance: str) -> None:
        node = self._node_of(instance)
        idle = node is not None and node.available == node.total
        self._take(instance, "a drain", Order.FORCED, *((Order.ASKED,) if idle else ()))
        self._change(instance, status=RayNodeStatus.DRAINING)

    def _refuse_drain(self, instance: str) -> None:
        self._take(instance, "a drain that may be refused")
        self.orders[instance] = Order.FAILED, ""
        self.autoscaler.stopper.errors.append(instance)

    def _drain_unasked(self, instance: str) -> None:
        self._change(instance, status=RayNodeStatus.DRAINING)

    def _stop_ray(self, instance: str) -> None:
        self._change(instance, status=RayNodeStatus.DEAD)

    _kill_ray = _stop_ray

    def _forget_node(self, instance: str) -> None:
        node = self._node_of(instance)
        assert node is not None
        del self.gcs.nodes[node.id]

    def _terminate_instance(self, instance: str) -> None:
        self._take(instance, "a termination")
        self._lose_instance(instance)

    def _lose_instance(self, instance: str) -> None:
        self.orders.pop(instance, None)
        if (node := self._node_of(instance)) is not None:
            self._change(instance, status=RayNodeStatus.DEAD)
            del self.gcs.nodes[node.id]
        del self.cloud.instances[self.managed(instance).cloud_instance]

    def _fail_termination(self, instance: str) -> None:
        self._take(instance, "a termination")
        self.orders[instance] = Order.FAILED, ""
        self.cloud.errors.append(TerminateNodeError(self.managed(instance).cloud_instance))


def _was_allocated(now: ManagedInstance, before: ManagedInstance) -> bool:
    return before.status is Ray.REQUESTED and bool(now.times(Ray.ALLOCATED))


def tries(each: ManagedInstance | None) -> int:
    """Launches of an instance that timed out, as long as it is not there."""
    if each is None or each.status not in (Ray.QUEUED, Ray.REQUESTED):
        return 0
    return len(each.times(Ray.REQUESTED)) - (each.status is Ray.REQUESTED)

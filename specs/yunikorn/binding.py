"""The YuniKorn reference and its spec, side by side: which actions an event of the core is, and what both show of a
state.

`cluster_for` makes the cluster that a machine's parameters describe: gangs of one task group, every member one unit of
``vcore``. `Follower` walks the spec along with a core: each record must be enabled actions of the spec, and afterwards
the two must show the same. Only this module of `specs` knows `reference`.

The spec asks for a real pod and starts its replacement in one action, the core in two events; the follower takes the
first as no step and the second as the action. A completed clean-up is the other way round: the core ends an application
with its last confirmed release, the spec in an action of its own. ``SUBMIT`` alone shows nothing: the spec's
applications become visible with their asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.language import Machine
from model.semantics import Fault, Semantics
from model.trace import Value, named_state
from reference.cluster import Application, Cluster, Node, Queue, QueueTree, Resources, SortPolicy, TaskGroup
from reference.schedulers.yunikorn import ApplicationState, Core, Event, EventName, Options, Outcome, Record
from reference.schedulers.yunikorn import Gate as CoreGate
from specs.yunikorn import state as spec
from specs.yunikorn.parameters import Queues, scope

GROUP = "members"
UNIT = 1000
"""Milli-cores in a unit of the spec."""

Call = tuple[str, tuple[str, ...]]
"""An action's name and the names of its arguments."""


class Divergence(AssertionError):
    """The core did what the spec does not allow, or shows another state."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The code under test for one machine: its cluster and its options."""

    cluster: Cluster
    options: Options


def subject_for(machine: Machine) -> Subject:
    """What the parameters of a yunikorn machine describe, for the reference. The names are the machine's own."""
    p: Mapping[str, Any] = machine.parameters
    checked = scope(
        p["apps"],
        _sizes(p["size"]),
        p["nodes"],
        _sizes(p["capacity"]),
        p["quota"],
        p["leaf_quota"],
        Queues(p["queues"]),
    )
    apps, nodes = machine.sorts[spec.App].names, machine.sorts[spec.Node].names
    quota = Resources(vcore=checked.quota * UNIT)
    if checked.hierarchy:
        leaves = tuple(
            Queue(f"root.batch.leaf{i}", Resources(vcore=(p["leaf_quota"] or p["quota"]) * UNIT)) for i in range(2)
        )
        queue_names = [leaves[i].name for i in checked.queue_of]
        queue = Queue("root.batch", quota, children=leaves)
    else:
        queue = Queue("root.batch", quota)
        queue_names = [queue.name] * len(apps)
    cluster = Cluster(
        nodes=tuple(Node(n, Resources(vcore=c * UNIT)) for n, c in zip(nodes, checked.capacities, strict=True)),
        queues=QueueTree(Queue("root", children=(queue,))),
        applications=tuple(
            Application(name, leaf, (TaskGroup(GROUP, size, Resources(vcore=UNIT)),), submitted=i)
            for i, (name, leaf, size) in enumerate(zip(apps, queue_names, checked.sizes, strict=True))
        ),
    )
    return Subject(cluster, Options(SortPolicy(p["policy"]), p["reject_fair"], CoreGate(p["gate"])))


def _sizes(value: int | list[int]) -> int | tuple[int, ...]:
    return tuple(value) if isinstance(value, list) else value


def calls(record: Record) -> list[Call]:
    """The actions of the spec that ``record`` is, in order; none where the spec does not see it."""
    event = record.event
    a, n = event.application, event.node
    match event.name:
        case EventName.SUBMIT if record.outcome is Outcome.REJECTED:
            return [(_rejection(record), (a,))]
        case EventName.ASK_PLACEHOLDERS:
            return [("submit", (a,))]
        case EventName.ALLOCATE_PLACEHOLDER:
            return [("allocate_placeholder", (a, n))]
        case EventName.START_REPLACEMENT:
            return [("replace", (a, n))]
        case EventName.ALLOCATE_REAL:
            return [("allocate_real", (a, n))]
        case EventName.CONFIRM_ASK_RELEASE:
            return [("confirm_ask_release", (a,))]
        case EventName.CONFIRM_RELEASE:
            return _confirmation(record)
        case EventName.FINISH_POD:
            return [("finish_pod", (a, n))]
        case EventName.PLACEHOLDER_TIMEOUT:
            return [("placeholder_timeout", (a,))]
        case EventName.WAITING_TIMEOUT if record.releases:
            return [("clean_up", (a,))]
        case EventName.WAITING_TIMEOUT if record.after is ApplicationState.COMPLETED:
            return [("complete", (a,))]
        case EventName.ASK_REAL if record.before is ApplicationState.WAITING:
            return [("ask_late", (a,))]
    return []


def _rejection(record: Record) -> str:
    return "reject_fair" if "FAIR" in record.reason else "reject_oversized"


def _confirmation(record: Record) -> list[Call]:
    a, n = record.event.application, record.event.node
    match record.outcome:
        case Outcome.SAME_NODE:
            return [("confirm_on_same_node", (a, n))]
        case Outcome.OTHER_NODE:
            return [("confirm_on_other_node", (a, n, record.to_node))]
        case Outcome.UNSCHEDULABLE:
            return [("confirm_unschedulable", (a, n))]
        case Outcome.REMOVED if record.after is ApplicationState.COMPLETED:
            return [("confirm_release", (a, n)), ("complete", (a,))]
        case Outcome.REMOVED:
            return [("confirm_release", (a, n))]
    return []  # a second confirmation changes nothing


_STATES = {
    ApplicationState.NEW: spec.AppState.NEW,
    ApplicationState.ACCEPTED: spec.AppState.ACCEPTED,
    ApplicationState.RUNNING: spec.AppState.RUNNING,
    ApplicationState.WAITING: spec.AppState.WAITING,
    ApplicationState.COMPLETED: spec.AppState.COMPLETED,
    ApplicationState.KILLED: spec.AppState.KILLED,
    ApplicationState.REJECTED: spec.AppState.REJECTED,
}


def observed(core: Core) -> dict[str, Value]:
    """What a core shows, by the spec's cells: all of them but ``late``, which is the spec's own note of the shim."""
    seen: dict[str, Value] = {}
    for application in core.cluster.applications:
        name = application.name
        app = core.applications.get(name)
        seen[f"state[{name}]"] = spec.AppState.NEW.name if app is None else _STATES[app.state].name
        seen[f"asks[{name}]"] = 0 if app is None else len(app.placeholder_asks)
        seen[f"real_asks[{name}]"] = 0 if app is None else len(app.real_asks)
        seen[f"released[{name}]"] = 0 if app is None else _released(core, name)
        for node in core.cluster.nodes:
            here = [] if app is None else [x for x in app.placeholders.values() if x.node == node.name]
            place = f"[{name}, {node.name}]"
            seen["placeholders" + place] = sum(not x.marked for x in here)
            seen["replacing" + place] = sum(x.marked and x.parked is not None for x in here)
            seen["releasing" + place] = sum(x.marked and x.parked is None for x in here)
            seen["reals" + place] = 0 if app is None else sum(x.node == node.name for x in app.reals.values())
    return seen


def _released(core: Core, name: str) -> int:
    """Placeholders of ``name`` that are gone: members asked for, less those that are pending or allocated."""
    app = core.applications[name]
    return sum(count.asked for count in app.groups.values()) - len(app.placeholder_asks) - len(app.placeholders)


class Follower:
    """The spec, walking along with a core."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.semantics = Semantics(machine)
        (self.state,) = self.semantics.initial_states()
        self._instances = {
            (i.action.name, tuple(value for _, value in self.semantics.arguments(i))): i
            for i in self.semantics.instances
        }

    def may_happen(self, core: Core, event: Event) -> bool:
        """Whether ``event``, which the core's environment offers, is within what the spec models.

        The spec submits in order; its shim asks for a real pod when there is a placeholder for it to replace, or late,
        as often as the spec says.
        """
        mine = [a.name for a in core.cluster.applications]
        match event.name:
            case EventName.SUBMIT | EventName.ASK_PLACEHOLDERS:
                earlier = mine[: mine.index(event.application)]
                shown = named_state(self.machine, self.state)
                return all(shown[f"state[{b}]"] != spec.AppState.NEW.name for b in earlier)
            case EventName.ASK_REAL:
                app = core.applications[event.application]
                if any(not p.marked for p in app.placeholders.values()):
                    return not app.real_asks or len(app.real_asks) == len(app.unschedulable)
                return self._enabled(("ask_late", (event.application,)))
        return True

    def follow(self, core: Core, record: Record) -> list[Call]:
        """Take the steps that ``record`` is; the steps taken. Divergence if one is not enabled, or the states
        differ."""
        taken = calls(record)
        if record.event.name is EventName.START_REPLACEMENT and self._takes_pending_ask(core, record):
            taken = [("replace_pending", args) for _, args in taken]
        if record.event.name is EventName.ASK_REAL and self._waits_for_replacement(core, record):
            return []
        for call in taken:
            if not self._enabled(call):
                raise Divergence(f"{record}: the spec does not enable {call[0]}({', '.join(call[1])})")
            new = self.semantics.fire(self._instances[call], self.state)
            if isinstance(new, Fault):
                raise Divergence(f"{record}: {new.message}")
            self.state = new
        shown = named_state(self.machine, self.state)
        differing = {cell: (shown[cell], value) for cell, value in observed(core).items() if shown[cell] != value}
        if differing:
            listed = ", ".join(f"{cell}: spec {a}, core {b}" for cell, (a, b) in differing.items())
            raise Divergence(f"{record}: {listed}")
        return taken

    def _enabled(self, call: Call) -> bool:
        instance = self._instances.get(call)
        return instance is not None and self.semantics.is_enabled(instance, self.state)

    def _takes_pending_ask(self, core: Core, record: Record) -> bool:
        """Whether the replacement is for an ask that the spec shows as pending: the core has one less of them now."""
        name = record.event.application
        shown = named_state(self.machine, self.state)[f"real_asks[{name}]"]
        return shown != len(core.applications[name].real_asks)

    def _waits_for_replacement(self, core: Core, record: Record) -> bool:
        """Whether the real ask just made has a placeholder to replace: the spec sees it when the replacement starts."""
        return any(not p.marked for p in core.applications[record.event.application].placeholders.values())

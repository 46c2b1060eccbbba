"""The YuniKorn reference and its spec, side by side: which actions an event of the core is, and what both show of a
state.

`subject_for` makes the cluster that a machine's parameters describe: gangs of one task group, every member one unit of
``vcore``. `Follower` walks the spec along with a core: each record must be enabled actions of the spec, and afterwards
the two must show the same. Only this module of `specs` knows `reference`.

The spec asks for a real pod and starts its replacement in one action, the core in two events; the follower takes the
first as no step and the second as the action. In between it counts the ask as unseen: the core shows one more than the
spec, and runs where the spec still waits. A completed clean-up is the other way round: the core ends an application
with its last confirmed release, the spec in an action of its own. ``SUBMIT`` alone shows nothing: the spec's
applications become visible with their asks. Cordons are the reason, which the spec leaves out, why a replacement has to
go elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from model.language import Machine
from model.semantics import State
from model.trace import Value
from reference.cluster import Application, Cluster, Node, Queue, QueueTree, Resources, SortPolicy, TaskGroup
from reference.schedulers.yunikorn import (
    ApplicationState,
    Core,
    Environment,
    Event,
    EventName,
    Options,
    Outcome,
    Record,
)
from reference.schedulers.yunikorn import Gate as CoreGate
from reference.schedulers.yunikorn import Timers as CoreTimers
from specs.walking import Call, SpecWalk
from specs.yunikorn.parameters import Queues, Timers
from specs.yunikorn.seed import state as spec
from specs.yunikorn.seed.parameters import scope

GROUP = "members"
UNIT = 1000
"""Milli-cores in a unit of the spec."""


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


def environment_for(machine: Machine, cordons: int = 1) -> Environment:
    """What may happen around the core under ``machine``'s timers; ``cordons`` nodes may be cordoned at once, which the
    spec follows for one.

    The spec's timer of waiting applications is always there: with timers off it is as slow as with slow ones, and only
    placeholder timeouts are missing (``Follower.may_happen``).
    """
    timers = Timers(machine.parameters["timers"])
    return Environment(CoreTimers.FREE if timers is Timers.FREE else CoreTimers.SLOW, cordons=cordons)


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


class Follower(SpecWalk):
    """The spec, walking along with a core.

    ``state`` is the spec's raw state, ``unseen`` the real asks per application that the core has and the spec does not
    see yet. Followers of one machine share what they have worked out.
    """

    code = "core"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.unseen = dict.fromkeys(machine.sorts[spec.App].names, 0)
        self._timers = Timers(machine.parameters["timers"])

    def fork(self) -> Follower:
        """A second follower where this one is."""
        other = Follower(self.machine)
        other.state, other.unseen = self.state, dict(self.unseen)
        return other

    def ways(self, state: State) -> Iterator[tuple[Call, State]]:
        """Every enabled action of the spec in ``state``, and the state after it. Divergence at a faulty step."""
        for call in self.walked.instances:
            if self.walked.after(state, call) is not None:
                yield call, self.after(state, call)

    def after(self, state: State, call: Call) -> State:
        """Where ``call`` leads from ``state``. Divergence where it is not enabled, or its step is a fault."""
        return self.walked.step(state, call)

    def may_happen(self, core: Core, event: Event) -> bool:
        """Whether ``event``, which the core's environment offers, is within what the spec models.

        The spec submits in order; its shim asks for a real pod when there is a placeholder for it to replace, or late,
        as often as the spec says.
        """
        match event.name:
            case EventName.SUBMIT | EventName.ASK_PLACEHOLDERS:
                mine = [a.name for a in core.cluster.applications]
                earlier = mine[: mine.index(event.application)]
                return all(self.shown()[f"state[{b}]"] != spec.AppState.NEW.name for b in earlier)
            case EventName.ASK_REAL:
                return self._has_free_placeholder(core, event.application) or self.is_enabled(
                    ("ask_late", (event.application,))
                )
            case EventName.PLACEHOLDER_TIMEOUT:
                return self._timers is not Timers.OFF
        return True

    def follow(self, core: Core, record: Record) -> list[Call]:
        """Take the steps that ``record``, the last event of ``core``, is; the steps taken.

        Divergence if one is not enabled, or if the states differ afterwards.
        """
        name = record.event.application
        taken = calls(record)
        if record.event.name is EventName.ASK_REAL and self._has_free_placeholder(core, name):
            self.unseen[name] += 1
            taken = []
        elif record.event.name is EventName.START_REPLACEMENT:
            # asks are alike: whichever the core took, the spec takes one that it has not seen, if there is one
            if self.unseen[name]:
                self.unseen[name] -= 1
            else:
                taken = [("replace_pending", arguments) for _, arguments in taken]
        self.take(record, taken)
        self._compare(core, record)
        return taken

    def _compare(self, core: Core, record: Record) -> None:
        expected = dict(self.shown())
        for name, unseen in self.unseen.items():
            if unseen:
                expected[f"real_asks[{name}]"] = int(expected[f"real_asks[{name}]"]) + unseen
                if expected[f"state[{name}]"] == spec.AppState.WAITING.name:
                    expected[f"state[{name}]"] = spec.AppState.RUNNING.name
        self.compare(record, observed(core), expected)

    def _has_free_placeholder(self, core: Core, name: str) -> bool:
        """Whether there is a placeholder for one more real ask than those that the spec does not see yet."""
        unmarked = sum(not p.marked for p in core.applications[name].placeholders.values())
        return unmarked > self.unseen[name]

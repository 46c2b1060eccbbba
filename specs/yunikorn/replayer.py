"""Runs of the YuniKorn spec, made by the reference: the other direction of ``binding.py`` beside this file.

The core's methods take what they are to choose, so every step of the spec has to be one that the core makes: which
placeholder, and which node. Why a node refuses a real pod the spec leaves out; here it is a cordon, for as long as the
step takes. The core completes an application with its last confirmed release, the spec in an action of its own; what
the spec does in between is excused.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final

from model.language import Machine
from model.trace import NamedState, Value
from reference.cluster import Application, Cluster, Constraints, Node, Queue, Resources
from reference.schedulers.yunikorn import ApplicationState, Core, Options, Outcome, Record
from reference.schedulers.yunikorn.books import NotEnabledError
from reference.schedulers.yunikorn.state import Allocation, Ask
from specs.replaying import Excused
from specs.walking import Call, Divergence
from specs.yunikorn.binding import GROUP, observed, subject_for
from specs.yunikorn.seed import state as spec
from specs.yunikorn.snapshot import Snapshot

CLOSED = "completed with the last release"


class Replayer:
    """Makes a machine's steps with a core."""

    code = "core"
    excuses: ClassVar[Mapping[str, str]] = {
        CLOSED: "the core completes an application with its last confirmed release: no late ask finds it waiting"
    }

    def __init__(self, machine: Machine) -> None:
        self.subject = subject_for(machine)

    def start(self) -> Core:
        """A core that knows the applications, with nothing submitted."""
        return Core(self.subject.cluster, self.subject.options)

    def perform(self, subject: Core, call: Call, before: NamedState, after: NamedState) -> Core | Excused:
        """A copy of the core that has made the step. Divergence if it refuses."""
        name, (a, *where) = call
        if _completed_early(subject, a, before):
            return subject if name == "complete" else Excused(CLOSED)
        core = Snapshot(subject, FIXED).restore()
        try:
            _made(core, name, a, where)
        except NotEnabledError as error:
            raise Divergence(f"the core does not: {error}") from None
        return core

    def observed(self, subject: Core, shown: NamedState) -> Mapping[str, Value]:
        """What the core shows, but for an application that has completed a step earlier than in the spec."""
        seen = observed(subject)
        for name in subject.applications:
            if _completed_early(subject, name, shown):
                seen[f"state[{name}]"] = spec.AppState.WAITING.name
        return seen

    def key(self, subject: Core) -> Hashable:
        """All that decides what the core does next."""
        return fingerprint(subject)


def _completed_early(core: Core, name: str, shown: NamedState) -> bool:
    """Whether the core has completed it with its last confirmed release, and the spec has yet to."""
    app = core.applications.get(name)
    if app is None or app.state is not ApplicationState.COMPLETED or not app.being_cleaned:
        return False
    left = any(shown[f"{x}[{name}, {n}]"] for x in ("placeholders", "replacing", "releasing") for n in core.nodes.index)
    return not left and shown[f"state[{name}]"] == spec.AppState.WAITING.name


def _made(core: Core, name: str, a: str, where: Sequence[str]) -> None:
    """Has the core make one step, of which the outcome must be that of the action. Divergence if it is not."""
    match name:
        case "reject_fair" | "reject_oversized":
            _is(core.submit(a), Outcome.REJECTED)
        case "submit":
            _is(core.submit(a), Outcome.DONE)
            core.ask_placeholders(a, GROUP)
        case "allocate_placeholder":
            core.allocate_placeholder(a, GROUP, where[0])
        case "replace":
            asked = core.ask_real(a, GROUP)
            core.start_replacement(a, asked.event.key, where[0])
        case "replace_pending":
            core.start_replacement(a, _pending(core, a), where[0])
        case "allocate_real":
            core.allocate_real(a, _pending(core, a), where[0])
        case "ask_late":
            core.ask_real(a, GROUP)
        case "confirm_ask_release":
            core.confirm_ask_release(a, _first(core.applications[a].placeholder_asks, "placeholder ask"))
        case "finish_pod":
            core.finish_pod(a, _on(core.applications[a].reals.values(), where[0]))
        case "placeholder_timeout":
            core.placeholder_timeout(a)
        case "clean_up" | "complete":
            record = core.waiting_timeout(a)
            if bool(record.releases) != (name == "clean_up"):
                raise Divergence(f"the core marks {len(record.releases)} placeholders")
        case "confirm_release":
            _is(core.confirm_release(a, _marked(core, a, where[0], parked=False)), Outcome.REMOVED)
        case _:
            _confirm_replacement(core, name, a, where)


def _confirm_replacement(core: Core, name: str, a: str, where: Sequence[str]) -> None:
    """A confirmed replacement goes where the spec has it go: all nodes that do not take the pod are cordoned."""
    key = _marked(core, a, where[0], parked=True)
    match name, *where:
        case "confirm_on_same_node", node:
            _is(core.confirm_release(a, key), Outcome.SAME_NODE)
        case "confirm_on_other_node", node, other:
            with _cordoned(core, {*core.nodes.index} - {other}):
                record = _is(core.confirm_release(a, key), Outcome.OTHER_NODE)
            if record.to_node != other:
                raise Divergence(f"the core takes {record.to_node}")
        case "confirm_unschedulable", node:
            with _cordoned(core, {node}):
                _is(core.confirm_release(a, key), Outcome.UNSCHEDULABLE)
        case _:
            raise ValueError(f"{name} is no action of the spec that this replayer knows")


@contextmanager
def _cordoned(core: Core, nodes: set[str]) -> Iterator[None]:
    for node in nodes:
        core.cordon(node)
    yield
    for node in nodes:
        core.uncordon(node)


def _is(record: Record, outcome: Outcome) -> Record:
    if record.outcome is not outcome:
        raise Divergence(f"in the core it is {record}")
    return record


def _pending(core: Core, a: str) -> int:
    return _first(core.applications[a].real_asks, "real ask")


def _first(asks: Mapping[int, object], what: str) -> int:
    for key in asks:
        return key
    raise Divergence(f"the core has no pending {what}")


def _on(pods: Iterable[Allocation], node: str) -> int:
    for pod in pods:
        if pod.node == node:
            return pod.key
    raise Divergence(f"the core has no such pod on {node}")


def _marked(core: Core, a: str, node: str, parked: bool) -> int:
    placeholders = core.applications[a].placeholders.values()
    return _on((p for p in placeholders if p.marked and (p.parked is not None) == parked), node)


# --- copies of a core, and what tells two apart ---


FIXED: Final = frozenset((Application, Cluster, Constraints, Node, Options, Queue, Resources, Ask))
"""What no core changes."""


def fingerprint(core: Core) -> Hashable:
    """All of a core that decides what it does next, and its sums and lines, but for the keys of pods."""
    applications = tuple(
        None if app is None else (
            app.state,
            app.being_killed,
            app.being_cleaned,
            len(app.placeholder_asks),
            tuple(key in app.unschedulable for key in app.real_asks),  # in the order in which they are tried
            tuple((g.asked, g.allocated, g.replaced, g.timed_out, g.reals_asked) for g in app.groups.values()),
            tuple(sorted((p.node, p.marked, p.parked is not None) for p in app.placeholders.values())),
            tuple(sorted(p.node for p in app.reals.values())),
        )
        for app in map(core.applications.get, (a.name for a in core.cluster.applications))
    )  # fmt: skip
    queues = tuple(
        (
            _amounts(queue.used),
            _amounts(queue.owed),
            queue.begun,
            tuple(tuple(app.name for app in line) for line in (queue.reserving, queue.started, queue.placing)),
        )
        for queue in core.queues.states.values()
    )
    nodes = tuple((name in core.nodes.cordoned, _amounts(core.nodes.free(name))) for name in core.nodes.index)
    return applications, queues, nodes, max(core.times_released.values(), default=0)


def _amounts(sums: Mapping[str, int]) -> Hashable:
    return tuple(sorted(item for item in sums.items() if item[1]))

"""All runs of the YuniKorn reference in small scopes are runs of the spec; where the spec allows more, it is known why.

The spec allows what the reference does not do, so that its properties hold of more schedulers than this one. Which
steps these are is listed here, with the condition under which each is one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from yunikorn_walk import Parameters, Walk, parameters, walk

from model.trace import NamedState, named_state
from specs.yunikorn.seed import App, AppState, Gate, Policy, Queues, Timers

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


@dataclass(frozen=True)
class Case:
    """A scope. ``more``: the actions that the spec allows where the core does not take them."""

    given: Parameters
    cordons: int
    more: frozenset[str] = frozenset()

    def __str__(self) -> str:
        shown = (f"{name}={getattr(value, 'value', value)}" for name, value in self.given)
        return ",".join((*shown, f"cordons={self.cordons}"))


def case(cordons: int, *more: str, **values: object) -> Case:
    return Case(parameters(**values), cordons, frozenset(more))


FAIR = {"policy": Policy.FAIR, "reject_fair": False}
LEAVES = {"queues": Queues.TWO_LEAVES}
ALONE = {"apps": 1, "size": 2, "nodes": 2, "capacity": 2, "quota": 2}
TIGHT = {"apps": 2, "size": 2, "nodes": 1, "capacity": 2, "quota": 2}
SMALL = TIGHT | {"size": (1, 2)}
LOOSE = {"apps": 2, "size": 2, "nodes": 1, "capacity": 3, "quota": 3}
NO_REASON = ("complete", "confirm_unschedulable")

CASES = [
    case(1, **ALONE),
    case(0, "confirm_on_other_node", **ALONE),
    case(1, "confirm_on_other_node", apps=1, size=1, nodes=3, capacity=1, quota=1),
    case(1, apps=2, size=(2, 3), nodes=1, capacity=2, quota=2),
    case(0, apps=2, size=2, nodes=1, capacity=2, quota=2, policy=Policy.FAIR),
    case(1, **SMALL, timers=Timers.FREE),
    case(0, *NO_REASON, **TIGHT, policy=Policy.STATEAWARE),
    case(0, *NO_REASON, **SMALL, **FAIR),
    case(0, *NO_REASON, **SMALL, **LEAVES, gate=Gate.RESERVES),
    case(0, "confirm_unschedulable", **TIGHT, timers=Timers.FREE, gate=Gate.NONE),
]

SLOW_CASES = [
    *(
        case(0, *NO_REASON, **LOOSE, policy=policy, reject_fair=False, gate=gate, queues=queues)
        for policy, gate, queues in itertools.product(Policy, Gate, Queues)
    ),
    case(0, *NO_REASON, **TIGHT, **FAIR),
    case(1, **ALONE, timers=Timers.OFF),
    case(1, **ALONE, timers=Timers.FREE),
    case(1, "confirm_on_other_node", apps=1, size=2, nodes=3, capacity=1, quota=2),
    case(1, "complete", **TIGHT),
    case(1, **LOOSE, timers=Timers.FREE),
    case(1, **LOOSE, **LEAVES, timers=Timers.FREE, gate=Gate.NONE),
    case(1, "complete", apps=2, size=2, nodes=2, capacity=1, quota=2),
    case(0, *NO_REASON, "confirm_on_other_node", apps=2, size=2, nodes=2, capacity=2, quota=3, **LEAVES),
    case(1, apps=1, size=3, nodes=2, capacity=2, quota=3),
]


def _message_in_flight(state: NamedState) -> bool:
    return any(value for cell, value in state.items() if cell.startswith(("replacing[", "releasing[")))


KNOWN: dict[str, Callable[[Case, Walk, NamedState], bool]] = {
    # The core's timers are slow for all applications alike; the spec holds only those back that mark placeholders.
    "complete": lambda c, w, state: dict(c.given).get("timers") is not Timers.FREE and _message_in_flight(state),
    # The spec does not say why a node refuses the real pod, nor in which order the others are tried.
    "confirm_on_other_node": lambda c, w, state: c.cordons == 0 or w.machine.parameters["nodes"] > 2,
    "confirm_unschedulable": lambda c, w, state: c.cordons == 0,
}
"""Actions that the spec allows where the core does not take them, and where that may be."""


def check(c: Case) -> None:
    result = walk(c.given, c.cordons)
    more = set()
    for state, (action, arguments) in result.never_taken():
        shown = named_state(result.machine, state)
        known = action in KNOWN and KNOWN[action](c, result, shown)
        assert known, f"the core never takes {action}({', '.join(arguments)}) in {shown}"
        more.add(action)
    assert more == c.more
    unseen = result.passed
    if not more:
        assert {action for _, (action, _) in result.steps} == {a.name for a in result.machine.actions}
        unseen = result.all_states() - result.resting
    for state in unseen:
        shown = named_state(result.machine, state)
        assert any(_ends(result, shown, app) for app in _apps(result)), f"the core does not rest in {shown}"


def _apps(result: Walk) -> tuple[str, ...]:
    return result.machine.sorts[App].names


def _ends(result: Walk, shown: NamedState, app: str) -> bool:
    """Whether the clean-up has just taken the last placeholder of ``app``: the core completes it in the same event."""
    size = result.machine.parameters["size"]
    members = size if isinstance(size, int) else size[_apps(result).index(app)]
    being_cleaned = shown[f"state[{app}]"] == AppState.WAITING.name and shown[f"late[{app}]"] is True
    return being_cleaned and shown[f"released[{app}]"] == members


@pytest.mark.parametrize("c", CASES, ids=str)
def test_every_run_is_a_run_of_the_spec_and_what_more_it_allows_is_known(c: Case) -> None:
    check(c)


@pytest.mark.slow
@pytest.mark.parametrize("c", SLOW_CASES, ids=str)
def test_the_same_in_larger_scopes(c: Case) -> None:
    check(c)

"""Generic mutants: which faults there are, that each is made at its place, and that nothing else changes."""

from __future__ import annotations

import enum
import functools
from collections import Counter

import pytest

from model.language import Expr, Machine, Sort, SpecError, all_, ite, require, sum_, when
from model.language.generic_mutants import Fault, GenericMutant, generic_mutants, paired_guards, places, replaced
from model.language.mutation import disabled, mutated
from model.semantics import explore
from specs.registry import SHIPPED, spec_function

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


class Job(Sort):
    """A job."""


class Phase(enum.Enum):
    """Where a job is."""

    WAITING = 0
    RUNNING = 1
    DONE = 2
    LOST = 3


def one_of_each() -> Machine:
    """An action with a place for each kind of fault."""
    m = Machine("one_of_each")
    m.sort(Job, 2)
    phase = m.variable("phase", Job, Phase, init=Phase.WAITING)
    held = m.variable("held", Job, range(4), init=0)

    @m.action
    def act(j: Job) -> None:
        require((phase[j] == Phase.WAITING) & (held[j] < 2), sum_(held[k] for k in Job) <= 3)
        phase[j] = ite(held[j] == 0, Phase.RUNNING, Phase.DONE)
        with when(held[j] > 0):
            held[j] += 1

    @m.always
    def claim() -> Expr:
        return all_(held[j] <= 3 for j in Job)

    return m


def texts(machine: Machine) -> tuple[list[str], list[str]]:
    (action,) = machine.actions
    updates = [f"{u.variable.name} {'+=' if u.adds else '='} {u.value!r} when {u.condition!r}" for u in action.updates]
    return [repr(g.condition) for g in action.guards], updates


def found(fault: Fault, words: str) -> GenericMutant:
    (mutant,) = [m for m in generic_mutants(one_of_each()) if m.fault is fault and words in m.edit.what]
    return mutant


PLAIN = texts(one_of_each())


def test_how_many_there_are() -> None:
    assert Counter(m.fault for m in generic_mutants(one_of_each())) == {
        Fault.GUARD: 3,
        Fault.UPDATE: 2,
        Fault.NEVER: 1,
        Fault.WHEN: 1,
        Fault.COMPARISON: 5,
        Fault.BRANCHES: 1,
        Fault.MEMBER: 6,
        Fault.NUMBER: 10,
    }


@pytest.mark.parametrize(
    ("fault", "words", "guards", "updates"),
    [
        (Fault.GUARD, "phase[j] == Phase.WAITING", {0: "(held[j] < 2)"}, {}),
        (Fault.GUARD, "held[j] < 2", {0: "(phase[j] == Phase.WAITING)"}, {}),
        (Fault.WHEN, "held", {}, {1: "held += 1 when True"}),
        (Fault.COMPARISON, "<= instead of <", {0: "((phase[j] == Phase.WAITING) & (held[j] <= 2))"}, {}),
        (Fault.COMPARISON, "< instead of <=", {1: "(sum_(held[k] for k in Job) < 3)"}, {}),
        (Fault.COMPARISON, ">= instead of >", {}, {1: "held += 1 when (held[j] >= 0)"}),
        (Fault.BRANCHES, "ite", {}, {0: "phase = ite((held[j] == 0), Phase.DONE, Phase.RUNNING) when True"}),
        (
            Fault.MEMBER,
            "LOST instead of DONE",
            {},
            {0: "phase = ite((held[j] == 0), Phase.RUNNING, Phase.LOST) when True"},
        ),
        (
            Fault.MEMBER,
            "LOST instead of WAITING",
            {0: "((phase[j] == Phase.LOST) & (held[j] < 2))"},
            {},
        ),
        (Fault.NUMBER, "adds 2 instead of 1", {}, {1: "held += 2 when (held[j] > 0)"}),
        (Fault.NUMBER, "4 instead of 3", {1: "(sum_(held[k] for k in Job) <= 4)"}, {}),
    ],
)
def test_a_fault_is_made_at_its_place(
    fault: Fault, words: str, guards: dict[int, str], updates: dict[int, str]
) -> None:
    mutant = found(fault, words)
    told = texts(mutated(one_of_each, mutant.edit))
    assert told == (
        [guards.get(i, text) for i, text in enumerate(PLAIN[0])],
        [updates.get(i, text) for i, text in enumerate(PLAIN[1])],
    )
    assert texts(one_of_each()) == PLAIN


def test_a_whole_guard_and_a_write_are_dropped() -> None:
    assert texts(mutated(one_of_each, found(Fault.GUARD, "sum_").edit)) == (PLAIN[0][:1], PLAIN[1])
    assert texts(mutated(one_of_each, found(Fault.UPDATE, "does not write phase").edit)) == (PLAIN[0], PLAIN[1][1:])
    assert explore(mutated(one_of_each, found(Fault.NEVER, "").edit)).fired == {"act": 0}


def test_two_conjuncts_are_dropped_together() -> None:
    told = [texts(mutated(one_of_each, m.edit))[0] for m in paired_guards(one_of_each())]
    assert told == [PLAIN[0][1:], ["(held[j] < 2)"], ["(phase[j] == Phase.WAITING)"]]


def test_what_they_touch_and_where_they_are() -> None:
    assert found(Fault.UPDATE, "phase").touches == {"phase"}
    assert found(Fault.GUARD, "sum_").touches == {"phase", "held"}
    assert all(
        "test_generic_mutants.py:" in m.edit.what for m in generic_mutants(one_of_each()) if m.fault is not Fault.NEVER
    )


LARGE = ("ray", "kubernetes", "kueue", "composite", "autoscaled_gang")
"""Specs of which so many are built that the slow tests do that."""


@pytest.mark.parametrize(
    "spec", [pytest.param(spec, marks=pytest.mark.slow) if spec in LARGE else spec for spec in SHIPPED]
)
def test_each_mutant_of_a_shipped_spec_is_another_spec_or_none(spec: str) -> None:
    build = spec_function(spec)
    plain = _told(build())
    mutants = generic_mutants(build())
    assert len({m.edit.what for m in mutants}) == len(mutants)

    @functools.cache
    def speaking_of(action: str) -> set[str]:
        """Itself, and actions that ask whether it is enabled."""
        told = _told(mutated(build, disabled(action)))
        return {name for name in plain if plain[name] != told[name]}

    refused = 0
    for mutant in mutants[:: max(1, len(mutants) // 25)]:
        try:
            told = _told(mutated(build, mutant.edit))
        except SpecError:
            refused += 1
            continue
        changed = {name for name in plain if plain[name] != told[name]}
        assert mutant.edit.action in changed
        assert changed <= speaking_of(mutant.edit.action)
    assert refused <= 5


def _told(machine: Machine) -> dict[str, tuple[str, str]]:
    """Guards and updates of each action, as text."""
    return {a.name: (repr(a.guards), repr([(u.condition, u.value) for u in a.updates])) for a in machine.actions}


def test_every_place_can_be_replaced() -> None:
    action = one_of_each().actions[0]
    for expr in [g.condition for g in action.guards] + [u.value for u in action.updates]:
        for path, part in places(expr):
            assert repr(replaced(expr, path, lambda old: old)) == repr(expr)
            seen: list[Expr] = []

            def note(old: Expr) -> Expr:
                seen.append(old)
                return old

            replaced(expr, path, note)
            assert seen == [part] or seen[0] is part


def test_a_divisor_is_left_as_it_is() -> None:
    """0 instead of 1 would divide by nothing."""

    def build() -> Machine:
        m = Machine("halves")
        x = m.scalar("x", range(8), init=7)

        @m.action
        def half() -> None:
            require(x % 1 == 0)
            x.next = x // 1 - 1

        return m

    for mutant in generic_mutants(build()):
        explore(mutated(build, mutant.edit))

"""The benchmark's sizes to the state, and what a verdict says about them."""

from __future__ import annotations

import pytest

from model.explore import Exploration, explore
from model.language import Expr, Location, Machine, Sort, all_, implies, require
from model.semantics import Semantics
from model.verdict import Outcome
from specs.gang import gang


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("parameters", "states", "transitions", "depth", "bytes_per_state"),
    [
        ((4, 3, 2, 4, 7), 90_428, 418_348, 32, 32),
        ((5, 3, 2, 4, 8), 939_194, 5_192_755, 40, 20),
        pytest.param((5, 2, 3, 4, 8), 8_180_824, 53_149_730, 30, 32, marks=pytest.mark.slow),
    ],
)
def test_gang(
    parameters: tuple[int, ...], states: int, transitions: int, depth: int, bytes_per_state: int, threads: int
) -> None:
    exploration = Exploration(gang(*parameters), threads=threads)
    verdict = exploration.verdict
    coverage = verdict.coverage
    assert (coverage.distinct_states, coverage.transitions, coverage.depth) == (states, transitions, depth)
    assert sum(coverage.actions.values()) == transitions
    assert verdict.outcome is Outcome.HOLDS
    assert all(p.outcome is Outcome.HOLDS for p in verdict.properties)
    # Words of the states are 8 bytes each, so less would be wrong.
    assert 8 * exploration.program.layout.words < coverage.bytes_per_state <= bytes_per_state
    assert exploration.search.peak_memory <= 40 * states


class Item(Sort):
    """Something that is lit."""


def lamps(count: int) -> Machine:
    m = Machine("lamps", parameters={"count": count})
    m.sort(Item, count, symmetric=True)
    lit = m.variable("lit", Item, bool, init=False)

    @m.action
    def light(i: Item) -> None:
        require(~lit[i])
        lit[i] = True

    @m.action
    def smash(i: Item) -> None:
        require(lit[i], ~lit[i])
        lit[i] = False

    def lit_somewhere() -> Expr:
        return ~all_(~lit[i] for i in Item)

    @m.always
    def fine() -> Expr:
        return all_(implies(lit[i], lit[i]) for i in Item)

    @m.always
    def not_all() -> Expr:
        return ~all_(lit[i] for i in Item)

    @m.always
    def vacuous() -> Expr:
        return implies(all_(lit[i] & ~lit[i] for i in Item), lit_somewhere())

    @m.step
    def nothing_smashed() -> Expr:
        return all_(implies(lit[i], lit[i]) for i in Item)

    @m.sometimes
    def dark() -> Expr:
        return all_(~lit[i] for i in Item)

    @m.sometimes
    def broken() -> Expr:
        return all_(lit[i] & ~lit[i] for i in Item)

    return m


def test_what_verdicts_say() -> None:
    verdict = explore(lamps(3))
    said = {p.name: (p.kind, p.outcome, p.how, None if p.trace is None else len(p.trace)) for p in verdict.properties}
    premise = "all_((lit[i] & ~lit[i]) for i in Item)"
    assert said == {
        "fine": ("always", Outcome.HOLDS, "all 8 states", None),
        "not_all": ("always", Outcome.VIOLATED, "violated after 3 steps", 3),
        "vacuous": ("always", Outcome.VACUOUS, f"premise never true: {premise}", None),
        "nothing_smashed": ("step", Outcome.HOLDS, "all 12 steps", None),
        "dark": ("sometimes", Outcome.HOLDS, "reached after 0 steps", 0),
        "broken": ("sometimes", Outcome.VACUOUS, "not reached in all 8 states", None),
        "deadlock_free": ("deadlock", Outcome.VIOLATED, "violated after 3 steps", 3),
        "values_in_range": ("range", Outcome.HOLDS, "all 12 steps", None),
        "one_write_per_cell": ("write", Outcome.HOLDS, "all 12 steps", None),
    }
    assert verdict.never_fired == ("smash",)
    assert verdict.parameters == {"count": 3}
    assert verdict.coverage.actions == {"light": 12, "smash": 0}
    json = verdict.to_json()
    assert (json["trace_property"], len(json["trace"])) == ("not_all", 4)


def test_one_state() -> None:
    verdict = explore(lamps(1))
    assert verdict["fine"].how == "all 2 states"
    m = Machine("still")
    x = m.scalar("x", range(2), init=0)

    @m.action
    def stay() -> None:
        x.next = 0

    @m.always
    def zero() -> Expr:
        return x == 0

    verdict = explore(m)
    assert (verdict["zero"].how, verdict["values_in_range"].how) == ("the only state", "the only step")
    assert verdict.outcome is Outcome.HOLDS


def test_a_fault_is_told_with_its_line_and_bounds_what_holds() -> None:
    m = Machine("overflow")
    x = m.scalar("x", range(3), init=0)
    y = m.scalar("y", range(3), init=0)

    @m.action
    def more() -> None:
        x.next += 1

    @m.always
    def small() -> Expr:
        return (x < 3) & (y == 0)

    verdict = explore(m)
    found = verdict["values_in_range"]
    found_at = Location(__file__, more.__code__.co_firstlineno + 2)
    assert found.outcome is Outcome.VIOLATED
    assert found.how == f"violated after 3 steps, at {found_at}: x becomes 3, outside 0..2"
    assert found.trace is not None
    assert [s.fault for s in found.trace.steps] == [None, None, "x becomes 3, outside 0..2"]
    assert found.trace.steps[-1].state == found.trace.steps[-2].state == {"x": 2, "y": 0}
    assert Semantics(m).replay(found.trace) is None
    assert verdict["small"].how == "all 3 states reached without a faulty step"
    # The faulty step counts: the action is enabled.
    assert verdict.coverage.transitions == 3
    assert verdict["deadlock_free"].outcome is Outcome.HOLDS

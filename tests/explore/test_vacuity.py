"""Mutants that break properties: which property none breaks, budgets, and what a mutant does not change."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from model.explore import explore
from model.explore.vacuity import vacuity, with_vacuity
from model.language import Expr, Machine, Sort, all_, choose, implies, require, sum_
from model.language.generic_mutants import generic_mutants, paired_guards
from model.language.mutation import mutated
from model.semantics import explore as slowly
from model.vacuity import Vacuity
from model.verdict import Outcome, Verdict
from specs.gang import gang
from specs.loading import spec_builder


class Job(Sort):
    """A job."""


def jobs(*, ends: bool = False) -> Machine:
    """Jobs take slots; some claims about them say nothing."""
    m = Machine("jobs")
    m.sort(Job, 2)
    held = m.variable("held", Job, range(3), init=0)
    done = m.variable("done", Job, bool, init=False)

    @m.action
    def take(j: Job) -> None:
        require(held[j] < 2, sum_(held[k] for k in Job) <= 4, ~done[j])
        held[j] += 1

    @m.action
    def finish(j: Job) -> None:
        require(held[j] == 2, ~done[j])
        done[j] = True
        held[j] = 0

    @m.always
    def done_holds_nothing() -> Expr:
        return all_(implies(done[j], held[j] == 0) for j in Job)

    @m.always
    def always_true() -> Expr:
        return all_(implies(held[j] == 2, held[j] >= 0) for j in Job)

    @m.sometimes
    def all_done() -> Expr:
        return all_(done[j] for j in Job)

    @m.possible
    def can_end() -> Expr:
        return all_(done[j] for j in Job)

    @m.terminal
    def may_end() -> Expr | bool:
        return ends or all_(done[j] for j in Job)

    return m


def judge(build: Callable[[], Machine], plain: Verdict, **options: Any) -> Verdict:
    return with_vacuity(plain, vacuity(build, plain, **options))


@cache
def judged() -> tuple[Verdict, Verdict, Vacuity]:
    plain = explore(jobs())
    verdict = judge(jobs, plain, threads=1)
    assert verdict.vacuity is not None
    return plain, verdict, verdict.vacuity


def test_a_property_that_no_mutant_breaks_is_vacuous() -> None:
    plain, verdict, found = judged()
    assert plain.outcome is Outcome.HOLDS
    assert found.unbroken == ("always_true",)
    assert (found.undecided, found.not_asked, found.budget) == ((), (), None)
    assert {b.property for b in found.broken} == {"done_holds_nothing", "all_done", "can_end", "deadlock_free"}
    assert verdict.outcome is Outcome.VACUOUS
    told = verdict["always_true"]
    assert told.outcome is Outcome.VACUOUS
    assert told.how == f"all {plain.coverage.distinct_states} states; none of {found.tried} mutants breaks it"
    assert found.mutants == len(generic_mutants(jobs())) + len(paired_guards(jobs()))
    assert found.tried > found.mutants // 2


def test_what_is_told_to_break_breaks() -> None:
    """Each mutant is found again by its words, and the golden interpreter says the same of it."""
    _, _, found = judged()
    every = {m.edit.what: m for m in generic_mutants(jobs())}
    for broken in found.broken:
        golden = slowly(mutated(jobs, every[broken.mutant].edit))
        if broken.property == "all_done":
            assert "all_done" not in golden.reached
        else:
            assert golden.violated[broken.property] == broken.trace_length


def test_what_decides_nothing_is_told() -> None:
    _, _, found = judged()
    every = {m.edit.what: m for m in generic_mutants(jobs())}
    plain = slowly(jobs())
    for what in found.unchanged:
        golden = slowly(mutated(jobs, every[what].edit))
        assert set(golden.distance) == set(plain.distance)
        assert golden.fired == plain.fired
    assert any("take without the guard sum_(held[k] for k in Job) <= 4" in what for what in found.unchanged)
    assert any("finish without the guard ~done[j]" in what for what in found.unchanged)
    assert not any("take without the guard held[j] < 2" in what for what in found.unchanged)


def test_a_machine_that_may_end_anywhere_is_not_asked_for_deadlocks() -> None:
    def build() -> Machine:
        return jobs(ends=True)

    found = vacuity(build, explore(build()))
    assert "deadlock_free" not in {b.property for b in found.broken} | set(found.unbroken)


def test_it_stops_once_all_are_broken() -> None:
    found = vacuity(gang, explore(gang()))
    assert len(found.broken) == 5
    assert found.unbroken == ()
    assert found.tried < found.mutants // 4


def test_the_same_answer_each_time() -> None:
    _, _, first = judged()
    second = vacuity(jobs, explore(jobs()), threads=2)
    assert [(b.property, b.mutant) for b in first.broken] == [(b.property, b.mutant) for b in second.broken]
    assert (first.tried, first.unchanged) == (second.tried, second.unchanged)


def test_a_time_limit_leaves_properties_undecided() -> None:
    verdict = judge(jobs, explore(jobs()), time_limit=0.0)
    assert verdict.vacuity is not None
    assert verdict.vacuity.budget == "time limit of 0 s ran out"
    assert "always_true" in verdict.vacuity.undecided
    assert verdict.vacuity.unbroken == ()
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict["always_true"].outcome is Outcome.HOLDS


def far(size: int = 300_000) -> Machine:
    """Without its guard it goes much farther than with it."""
    m = Machine("far")
    x = m.scalar("x", range(size), init=0)

    @m.action
    def up() -> None:
        require(x < 5)
        x.next += choose(range(1, 64))

    @m.always
    def small() -> Expr:
        return x < size - 10

    @m.always
    def not_negative() -> Expr:
        return x >= 0

    @m.terminal
    def full() -> Expr:
        return x >= 5

    return m


def test_what_a_mutant_breaks_beyond_its_budget_is_undecided() -> None:
    plain = explore(far())
    verdict = judge(far, plain, threads=1)
    found = verdict.vacuity
    assert found is not None
    assert (found.unbroken, found.undecided) == ((), ("small", "not_negative"))
    assert found.budget == "1 mutant was not explored to the end: state budget of 50,272 ran out"
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict["small"].outcome is Outcome.HOLDS
    # A little nearer, and the same mutant breaks it.
    nearer = vacuity(lambda: far(300), explore(far(300)), threads=1)
    assert ("small", 5) in {(b.property, b.trace_length) for b in nearer.broken}
    assert (nearer.unbroken, nearer.undecided, nearer.budget) == (("not_negative",), (), None)


def test_it_stops_within_a_mutant() -> None:
    """The machine itself has 68 states; the first mutant has 50,000, found in many batches."""
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls > 20

    found = vacuity(lambda: far(50_000), explore(far(50_000)), threads=1, stop=stop)
    assert (found.budget, found.broken, found.unbroken) == ("interrupted", (), ())
    assert found.undecided == ("small", "not_negative", "deadlock_free")
    assert found.tried == 1
    assert calls < 30


def test_memory_is_bounded_in_mutants_too() -> None:
    plain = explore(far())
    found = vacuity(far, plain, threads=1, max_memory=750_000)
    assert found.budget == "1 mutant was not explored to the end: memory budget of 750,000 bytes ran out"
    assert "small" in found.undecided


def test_the_time_limit_is_that_of_the_whole_check() -> None:
    plain = explore(jobs())
    spent = replace(plain, coverage=replace(plain.coverage, seconds=90.0))
    found = vacuity(jobs, spent, time_limit=90.0)
    assert (found.budget, found.tried) == ("time limit of 90 s ran out", 0)


def test_what_two_guards_hold_is_not_vacuous() -> None:
    def build() -> Machine:
        m = Machine("twice")
        x = m.scalar("x", range(9), init=0)

        @m.action
        def up() -> None:
            require(x < 4, x != 4)
            x.next += 1

        @m.always
        def small() -> Expr:
            return x < 5

        @m.terminal
        def full() -> Expr:
            return x >= 4

        return m

    verdict = judge(build, explore(build()))
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.vacuity is not None
    (small,) = [b for b in verdict.vacuity.broken if b.property == "small"]
    assert small.mutant.startswith("up without the guards x < 4 and x != 4 (")
    assert small.trace_length == 5


def test_what_does_not_hold_is_not_asked() -> None:
    def build() -> Machine:
        m = jobs()

        @m.always
        def wrong() -> bool:
            return False

        return m

    found = vacuity(build, explore(build()))
    assert found.not_asked == ("wrong",)


SPEC = """
print("read")
from model.language import Machine, require

def spec() -> Machine:
    m = Machine("spec")
    x = m.scalar("x", range(2), init=0)
    @m.action
    def flip() -> None:
        require(x < 2)
        x.next = 1 - x
    @m.always
    def nothing() -> bool:
        return True
    return m
"""


def test_a_users_file_is_read_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC)
    build: Callable[[], Machine] = spec_builder(f"{path}:spec")
    verdict = judge(build, explore(build()))
    assert capsys.readouterr().err.split() == ["read"]
    assert verdict.vacuity is not None
    assert verdict.vacuity.unbroken == ("nothing",)
    assert json.loads(json.dumps(verdict.to_json()))["vacuity"]["unbroken"] == ["nothing"]

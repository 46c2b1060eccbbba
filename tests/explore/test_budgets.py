"""What runs out and what is then said: states, memory, time; stopping at the first violation; progress; threads."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from model import semantics
from model.explore import Exploration, Progress, explore
from model.explore.codegen.native import Native
from model.explore.packing import pack
from model.explore.search import search
from model.explore.search.limits import Limits
from model.explore.search.search import Search
from model.language import Expr, Machine, require
from model.verdict import Outcome, Verdict
from specs.gang import gang
from specs.loading import load_spec
from specs.registry import SHIPPED

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

SMALL = {"apps": 2, "size": 3, "nodes": 2, "capacity": 2, "quota": 4}


@pytest.fixture(scope="module")
def golden() -> semantics.Explored:
    return semantics.explore(gang(**SMALL))


def line(end: int, violated_at: int = -1) -> Machine:
    """A path of ``end`` steps, one state a level."""
    m = Machine("line")
    x = m.scalar("x", range(end + 1), init=0)

    @m.action
    def walk() -> None:
        require(x < end)
        x.next += 1

    @m.always
    def below() -> Expr:
        return x != violated_at

    @m.always
    def beyond() -> Expr:
        return (x < violated_at + 2) | (violated_at < 0)

    @m.sometimes
    def halfway() -> Expr:
        return x == end // 2

    @m.sometimes
    def arrives() -> Expr:
        return x == end

    @m.possible
    def arriving() -> Expr:
        return x == end

    @m.terminal
    def there() -> Expr:
        return x == end

    return m


def test_a_state_budget_is_kept_exactly(golden: semantics.Explored) -> None:
    total = len(golden.distance)
    levels = [sum(d <= k for d in golden.distance.values()) for k in range(golden.depth + 1)]
    for most in (1, 2, 3, 7, 50, total - 1, total, total + 1):
        exploration = Exploration(gang(**SMALL), max_states=most)
        coverage = exploration.verdict.coverage
        assert coverage.distinct_states == min(most, total)
        assert coverage.complete == (most >= total)
        found = dict(zip(map(tuple, exploration.states.tolist()), exploration.distances.tolist(), strict=True))
        assert found.items() <= golden.distance.items()
        if most < total:
            assert exploration.verdict.outcome is Outcome.UNKNOWN
            assert coverage.budget == f"state budget of {most:,} ran out"
            depth = exploration.search.complete_depth
            assert levels[depth] <= most, "all states up to the depth that is called complete were found"
            assert depth == len(levels) - 1 or levels[depth + 1] > most, "and it is the last such depth"
            how = exploration.verdict["node_capacity"].how
            assert how == f"{coverage.budget}; {most:,} states found, all of those up to depth {depth}"


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("most", [1000, 4816, 4817, 30_000, 90_427, 90_428])
def test_a_large_state_budget_is_kept_exactly(most: int, threads: int) -> None:
    machine = gang(apps=4, size=3, nodes=2, capacity=4, quota=7)
    coverage = explore(machine, max_states=most, threads=threads).coverage
    assert coverage.distinct_states == most
    assert coverage.complete == (most == 90_428)


def test_states_that_were_found_are_checked_when_the_state_budget_runs_out() -> None:
    verdict = explore(line(100, violated_at=9), max_states=10)
    assert (verdict["below"].outcome, len(verdict["below"].trace or ())) == (Outcome.VIOLATED, 9)
    assert verdict["beyond"].outcome is Outcome.UNKNOWN
    assert verdict["halfway"].outcome is Outcome.UNKNOWN
    assert verdict["arriving"].outcome is Outcome.UNKNOWN
    assert verdict["deadlock_free"].outcome is Outcome.UNKNOWN
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.coverage.transitions == 10


def test_what_is_decided_stays_decided_when_a_budget_runs_out() -> None:
    verdict = explore(line(100), max_states=60)
    assert verdict["halfway"].outcome is Outcome.HOLDS
    assert verdict["arrives"].outcome is Outcome.UNKNOWN
    assert verdict.outcome is Outcome.UNKNOWN


def test_a_memory_budget() -> None:
    machine = gang(apps=5, size=3, nodes=2, capacity=4, quota=8)
    whole = Exploration(machine).search
    for share in (0.2, 0.4, 0.6):
        budget = int(whole.memory * share)
        exploration = Exploration(machine, max_memory=budget)
        coverage = exploration.verdict.coverage
        assert not coverage.complete
        assert coverage.budget == f"memory budget of {budget:,} bytes ran out"
        assert exploration.search.peak_memory <= budget
        # What the budget allows is used.
        assert coverage.distinct_states > 0.4 * share * whole.count
        assert exploration.verdict.outcome is Outcome.UNKNOWN
        assert exploration.search.complete_depth < whole.depth
    enough = Exploration(machine, max_memory=2 * whole.peak_memory)
    assert enough.verdict.coverage.complete
    assert enough.search.peak_memory <= 2 * whole.peak_memory


def test_no_memory_at_all() -> None:
    verdict = explore(gang(), max_memory=1000)
    assert verdict.coverage.distinct_states == 0
    assert verdict["node_capacity"].how == "memory budget of 1,000 bytes ran out before all initial states were found"
    assert verdict.outcome is Outcome.UNKNOWN


def test_possible_needs_memory_too() -> None:
    machine = line(10_000)
    whole = Exploration(machine)
    assert whole.verdict["arriving"].outcome is Outcome.HOLDS
    verdict = Exploration(machine, max_memory=whole.search.peak_memory + 50_000).verdict
    assert verdict.coverage.complete
    assert verdict["arrives"].outcome is Outcome.HOLDS
    assert verdict["arriving"].outcome is Outcome.UNKNOWN
    assert "memory ran out" in verdict["arriving"].how


def test_possible_needs_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search ends within its limit, just so."""
    run = Search.run
    left = 0.0

    def slowly(self: Search) -> None:
        run(self)
        self.seconds = 60 - left

    monkeypatch.setattr(Search, "run", slowly)
    verdict = explore(line(1_000), time_limit=60)
    assert verdict.coverage.complete
    assert verdict["arrives"].outcome is Outcome.HOLDS
    assert verdict["arriving"].outcome is Outcome.UNKNOWN
    words = "time limit of 60 s ran out while steps were followed backwards over all 1,001 states"
    assert verdict["arriving"].how == words
    left = 30.0
    assert explore(line(1_000), time_limit=60)["arriving"].outcome is Outcome.HOLDS


def test_a_time_limit() -> None:
    machine = gang(apps=5, size=2, nodes=3, capacity=4, quota=8)
    started = time.perf_counter()
    verdict = explore(machine, time_limit=0.2)
    assert time.perf_counter() - started < 20
    assert not verdict.coverage.complete
    assert verdict.coverage.budget == "time limit of 0.2 s ran out"
    assert 1000 < verdict.coverage.distinct_states < 8_180_824
    assert verdict["quota_never_exceeded"].outcome is Outcome.UNKNOWN
    assert explore(gang(), time_limit=1000).coverage.complete


def test_stop_at_the_first_violation() -> None:
    stopped = explore(line(10_000, violated_at=100), stop_at_first=True)
    assert (stopped["below"].outcome, len(stopped["below"].trace or ())) == (Outcome.VIOLATED, 100)
    assert stopped["arrives"].outcome is Outcome.UNKNOWN
    assert stopped["arrives"].how.startswith("stopped at the first violation; ")
    assert not stopped.coverage.complete
    assert stopped.coverage.distinct_states < 4000
    on = explore(line(10_000, violated_at=100))
    assert (on["below"].outcome, on["beyond"].outcome) == (Outcome.VIOLATED, Outcome.VIOLATED)
    assert len(on["beyond"].trace or ()) == 102
    assert on["arrives"].outcome is Outcome.HOLDS


def test_stopping_when_there_is_nothing_to_stop_for() -> None:
    assert explore(gang(), stop_at_first=True).outcome is Outcome.HOLDS


def test_progress_is_told() -> None:
    seen: list[Progress] = []
    verdict = explore(gang(apps=5, size=3, nodes=2, capacity=4, quota=8), progress=seen.append)
    last = seen[-1]
    assert (last.states, last.transitions, last.queue) == (939_194, 5_192_755, 0)
    assert last.depth == verdict.coverage.depth
    for a, b in pairwise(seen):
        assert (a.states, a.transitions, a.depth, a.seconds) <= (b.states, b.transitions, b.depth, b.seconds)
    assert all(p.memory_bytes > 0 for p in seen)


def test_an_interrupt_ends_it_and_leaves_what_was_found() -> None:
    program = pack(gang(apps=5, size=2, nodes=3, capacity=4, quota=8))

    def interrupt(progress: Progress) -> None:
        if progress.states > 1000:
            raise KeyboardInterrupt

    search = Search(program, Native(program), Limits(), interrupt, threads=2)
    with pytest.raises(KeyboardInterrupt):
        search.run()
    assert 1000 < search.count < 8_180_824
    assert search.seconds > 0


def test_budgets_are_not_negative() -> None:
    with pytest.raises(ValueError, match="max_states is not negative, found -1"):
        explore(gang(), max_states=-1)


def shape(verdict: Verdict) -> object:
    c = verdict.coverage
    traces = [p.trace.to_json() if p.trace else None for p in verdict.properties]
    return verdict.properties, traces, c.distinct_states, c.transitions, c.depth, dict(c.actions), c.complete, c.budget


@pytest.mark.parametrize("budget", [{}, {"max_states": 3000}, {"stop_at_first": True}])
def test_the_number_of_threads_changes_nothing(budget: dict[str, int]) -> None:
    machine = gang(apps=4, size=3, nodes=2, capacity=4, quota=7)
    one, *others = (Exploration(machine, threads=n, **budget) for n in (1, 2, 3, 4, 1))  # type: ignore[arg-type]
    for other in others:
        assert shape(other.verdict) == shape(one.verdict)
        assert (other.states == one.states).all()
        assert (other.distances == one.distances).all()


@pytest.mark.parametrize("name", list(SHIPPED))
@pytest.mark.parametrize("symmetry", [False, True])
def test_two_threads_on_every_shipped_spec(name: str, symmetry: bool) -> None:
    """With a batch for each level, however small, so that both threads have a part in all of it."""
    scope = ("pods=2", "nodes=2", "misfits=0") if name == "kubernetes" else ()
    if symmetry and not any(sort.symmetric for sort in load_spec(name, scope).sorts.values()):
        pytest.skip("no sort is symmetric")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_ALONE", 0)
        two = Exploration(load_spec(name, scope), threads=2, symmetry=symmetry)
    one = Exploration(load_spec(name, scope), threads=1, symmetry=symmetry)
    assert shape(two.verdict) == shape(one.verdict)
    assert (two.states == one.states).all()
    assert (two.distances == one.distances).all()

"""A search that was interrupted anywhere and goes on from its checkpoint ends as one that was not interrupted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from checkpointing import SMALL, after, assert_same, interrupted, resume, sized

from model.explore import INTERRUPTED, CheckpointError, Exploration, Saving
from model.explore.search import search
from model.language import Expr, Machine, all_, require, sum_
from model.verdict import Outcome
from specs.gang import gang
from specs.loading import load_spec

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


@pytest.fixture
def level_by_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search comes back to Python after every level, however small."""
    monkeypatch.setattr(search, "_LEVELS", 0)


def broken_gang() -> Machine:
    """With violations, goals and cycles at different depths."""
    m = gang(**SMALL)
    state, reals = m.scalar("laps", range(3), init=0), next(v for v in m.variables if v.name == "reals")
    app, node = reals.sorts

    @m.action
    def lap() -> None:
        require(state < 2)
        state.next += 1

    @m.action
    def unlap() -> None:
        require(state == 2)
        state.next = 0

    @m.always
    def few_reals() -> Expr:
        return sum_(reals[a, n] for a in app for n in node) < 3

    @m.sometimes
    def four_reals() -> Expr:
        return sum_(reals[a, n] for a in app for n in node) == 4

    @m.possible
    def back() -> Expr:
        return all_(reals[a, n] == 0 for a in app for n in node)

    return m


@pytest.mark.usefixtures("level_by_level")
@pytest.mark.parametrize("threads", [1, 2])
def test_interrupted_at_every_level(tmp_path: Path, threads: int) -> None:
    path = tmp_path / "run.checkpoint"
    whole = Exploration(broken_gang(), threads=threads)
    assert {p.outcome for p in whole.verdict.properties} >= {Outcome.HOLDS, Outcome.VIOLATED}
    depths: list[int] = []
    for calls in range(1, whole.verdict.coverage.depth + 1):
        part = interrupted(broken_gang(), path, calls, threads)
        coverage = part.verdict.coverage
        assert coverage.budget == INTERRUPTED
        depth = part.search.complete_depth
        assert (part.distances <= depth).sum() == (whole.distances <= depth).sum()
        assert depth >= coverage.depth - 1
        depths.append(depth)
        assert 0 < coverage.distinct_states < whole.search.count
        assert_same(Exploration(broken_gang(), threads=threads, resume=path), whole)
    assert {*depths} >= {*range(whole.verdict.coverage.depth - 1)}


@pytest.mark.usefixtures("level_by_level")
def test_interrupted_again_and_again(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    whole = Exploration(broken_gang(), threads=1)
    interrupted(broken_gang(), path, 2)
    runs = 1
    while True:
        part = interrupted(broken_gang(), path, 2, resume=path)
        runs += 1
        if part.verdict.coverage.complete:
            break
    assert runs > whole.verdict.coverage.depth / 2
    assert_same(Exploration(broken_gang(), threads=1, resume=path), whole)


@pytest.mark.parametrize(("before", "then"), [(1, 2), (2, 1), (2, 4), (4, 1), (3, 2)])
def test_another_number_of_threads(tmp_path: Path, before: int, then: int) -> None:
    path = tmp_path / "run.checkpoint"
    parameters = {"apps": 4, "size": 3, "nodes": 2, "capacity": 4, "quota": 7}
    part = interrupted(gang(**parameters), path, 9, before)
    assert not part.verdict.coverage.complete
    assert_same(Exploration(gang(**parameters), threads=then, resume=path), Exploration(gang(**parameters)))


@pytest.mark.usefixtures("level_by_level")
@pytest.mark.parametrize(
    ("name", "given"), [("gang", ()), ("yunikorn", ()), pytest.param("autoscaled_gang", (), marks=pytest.mark.slow)]
)
def test_shipped_specs(tmp_path: Path, name: str, given: tuple[str, ...]) -> None:
    path = tmp_path / "run.checkpoint"
    whole = Exploration(load_spec(name, given))
    for calls in {1, 3, max(1, whole.verdict.coverage.depth // 2), whole.verdict.coverage.depth}:
        part = interrupted(load_spec(name, given), path, calls, threads=2)
        assert part.verdict.outcome is Outcome.UNKNOWN
        assert_same(Exploration(load_spec(name, given), threads=1, resume=path), whole)


def test_interrupted_while_fair_runs_are_looked_for(tmp_path: Path) -> None:
    path, name, given = tmp_path / "run.checkpoint", "yunikorn", ("edition=seed",)
    whole = Exploration(load_spec(name, given))
    asked: list[Exploration] = []
    saving = Saving(path)
    lively = {p.name for p in load_spec(name, given).properties if p.kind.is_liveness}
    assert lively
    for calls in range(1, 200):
        part = Exploration(load_spec(name, given), threads=1, stop=after(calls), saving=saving)
        if part.search.complete:
            asked.append(part)
            break
    unknown = [p for p in asked[0].verdict.properties if p.outcome is Outcome.UNKNOWN]
    assert unknown
    assert all(p.how.startswith(f"{INTERRUPTED} while ") for p in unknown)
    assert asked[0].verdict.outcome is Outcome.UNKNOWN
    assert saving.written == path.stat().st_size
    assert_same(Exploration(load_spec(name, given), resume=path), whole)


def test_a_budget_that_runs_out_leaves_a_checkpoint_from_which_a_larger_one_goes_on(tmp_path: Path) -> None:
    parameters = {"apps": 4, "size": 3, "nodes": 2, "capacity": 4, "quota": 7}
    whole = Exploration(gang(**parameters), threads=2)
    budgets: list[dict[str, int | float]] = [{"max_states": 30_000}, {"max_memory": 1_300_000}, {"time_limit": 1e-9}]
    for number, budget in enumerate(budgets):
        path = tmp_path / str(number)
        part = Exploration(gang(**parameters), threads=2, saving=Saving(path), **budget)  # type: ignore[arg-type]
        assert not part.verdict.coverage.complete
        again = Exploration(gang(**parameters), threads=2, resume=path)
        assert again.verdict.properties == whole.verdict.properties
        assert again.verdict.coverage.actions == whole.verdict.coverage.actions
        assert (np.bincount(again.distances) == np.bincount(whole.distances)).all()


def test_a_run_that_ends_leaves_none(tmp_path: Path) -> None:
    saving = Saving(tmp_path / "run.checkpoint")
    assert Exploration(gang(), saving=saving).verdict.outcome is Outcome.HOLDS
    assert saving.written is None
    assert list(tmp_path.iterdir()) == []


def test_now_and_then(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    parameters = {"apps": 4, "size": 3, "nodes": 2, "capacity": 4, "quota": 7}
    whole = Exploration(gang(**parameters), threads=1, saving=Saving(path, every=1e-9))
    assert whole.verdict.coverage.complete
    assert_same(Exploration(gang(**parameters), threads=1, resume=path), whole)


@pytest.mark.usefixtures("level_by_level")
def test_with_symmetry(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    whole = Exploration(sized(), symmetry=True)
    for calls in (1, 5, 20):
        interrupted(sized(), path, calls, symmetry=True)
        assert_same(Exploration(sized(), symmetry=True, resume=path), whole)
    with pytest.raises(CheckpointError, match=r"written with other options .* or by another version"):
        resume(path)

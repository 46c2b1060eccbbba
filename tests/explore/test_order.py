"""The order of states, and with it which of several traces is shown, comes from the states alone: not from the number
of threads, nor from where the search grew or was interrupted."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from checkpointing import assert_same, interrupted

from model.explore import Exploration
from model.explore.codegen.native import Native
from model.explore.packing import pack
from model.explore.search import batches, search
from model.explore.search.batches import batch_ends
from model.explore.search.limits import Limits
from model.explore.search.search import Search
from model.language import Expr, Machine, choose, require
from model.semantics import Semantics

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


def fan(first: int, second: int) -> Machine:
    """One state, then ``first``, then ``first * second``, of which pairs have their next states in common."""
    m = Machine("fan")
    stage = m.scalar("stage", range(5), init=0)
    x, y = m.scalar("x", range(first), init=0), m.scalar("y", range(second), init=0)

    @m.action
    def one() -> None:
        require(stage == 0)
        x.next = choose(range(first))
        stage.next = 1

    @m.action
    def other() -> None:
        require(stage == 1)
        y.next = choose(range(second))
        stage.next = 2

    @m.action
    def join() -> None:
        require(stage == 2)
        x.next = (x + choose(range(2))) % first
        stage.next = 3

    @m.action
    def mirror() -> None:
        require(stage == 3, x < second, y < first)
        old = x.now
        x.next = y
        y.next = old
        stage.next = 4

    @m.always
    def never_joined() -> Expr:
        return (stage < 3) | (x != y)

    @m.sometimes
    def turned() -> Expr:
        return (stage == 4) & (x > y)

    return m


def assert_one_order(machine: Machine, **more: object) -> Exploration:
    one, *others = (Exploration(machine, threads=n, **more) for n in (1, 2, 3, 4))  # type: ignore[arg-type]
    for other in others:
        assert_same(other, one)
    traces = [p.trace for p in one.verdict.properties if p.trace is not None]
    assert len(traces) >= 2
    for trace in traces:
        assert Semantics(machine).replay(trace) is None
    return one


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_CHUNK", 1 << 7)
    monkeypatch.setattr(search, "_ALONE", 1 << 4)
    monkeypatch.setattr(batches, "_TIMES", 2)


def widest(found: Search) -> tuple[int, int]:
    """States of the largest level, and of its largest shard."""
    levels = [[b - a for a, b in zip(*pair, strict=True)] for pair in itertools.pairwise(found.starts)]
    level = max(levels, key=sum)
    return sum(level), max(level)


@pytest.mark.parametrize("second", range(57, 64, 2))
@pytest.mark.usefixtures("small_batches")
def test_levels_about_as_large_as_a_batch(second: int) -> None:
    assert_one_order(fan(2, second))


@pytest.mark.parametrize("ending", [{"stop_at_first": True}, {"max_states": 300}, {"max_states": 700}])
@pytest.mark.usefixtures("small_batches")
def test_a_search_that_ends_early_ends_at_the_same_place(ending: dict[str, int]) -> None:
    one, *others = (Exploration(fan(9, 40), threads=n, **ending) for n in (1, 2, 3, 4))  # type: ignore[arg-type]
    assert not one.verdict.coverage.complete
    for other in others:
        assert_same(other, one)


def test_a_level_of_more_than_eight_batches() -> None:
    level, _ = widest(assert_one_order(fan(400, 400)).search)
    assert level > batches._PARTS * search._CHUNK


@pytest.mark.usefixtures("small_batches")
def test_larger_batches_of_a_large_level() -> None:
    found = assert_one_order(fan(60, 80))
    assert widest(found.search)[0] > batches._PARTS * batches._TIMES * search._CHUNK


@pytest.mark.parametrize(
    "threads", [2, pytest.param(1, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("small_batches")
def test_taken_up_again_with_another_number_of_threads(tmp_path: Path, threads: int) -> None:
    path = tmp_path / "run.checkpoint"
    whole = Exploration(fan(20, 80), threads=1)
    for calls in range(1, 20, 3):
        part = interrupted(fan(20, 80), path, calls, threads)
        assert 0 < part.search.count < whole.search.count
        for after in (1, 2, 4):
            assert_same(Exploration(fan(20, 80), threads=after, resume=path), whole)


def test_a_fan_taken_up_again(tmp_path: Path) -> None:
    path = tmp_path / "run.checkpoint"
    whole = Exploration(fan(128, 127), threads=1)
    for calls in range(2, 5):
        interrupted(fan(128, 127), path, calls, 2)
        for after in (1, 2):
            assert_same(Exploration(fan(128, 127), threads=after, resume=path), whole)


def searched(machine: Machine, *first_bits: int) -> list[Search]:
    """Searches by 1, 2 and 4 threads for each size that tables begin with, which all find the same in the same order.

    With large tables nothing has to grow.
    """
    program = pack(machine)
    native = Native(program)
    made = [Search(program, native, Limits(), threads=n, first_bits=bits) for bits in first_bits for n in (1, 2, 4)]
    for each in made:
        each.run()
        assert [*each.starts] == [*made[0].starts]
        for a, b in zip(each.shards, made[0].shards, strict=True):
            assert (a.states == b.states).all()
        assert each.first == made[0].first
    return made


@pytest.mark.parametrize(("first", "second"), [(128, 127), (40, 407)])
def test_a_level_that_is_one_batch_but_for_one_shard(first: int, second: int) -> None:
    found = searched(fan(first, second), 16)
    level, shard = widest(found[0])
    assert level < search._CHUNK
    assert shard > search._CHUNK // len(found[0].shards)


def test_growth_inside_a_batch_does_not_move_its_end() -> None:
    found = searched(fan(300, 300), 11, 13, 17)
    # What grew more often stopped more often.
    assert len(found[1].parents) > len(found[-2].parents)


def test_batches_cover_a_level_in_equal_parts() -> None:
    starts, ends = (10, 0, 5), (40, 7, 65)
    at, seen = starts, []
    while at != ends:
        at = tuple(batch_ends(starts, ends, at, 75))
        seen.append(at)
    assert seen == [(35, 7, 30), (40, 7, 55), (40, 7, 65)]
    assert batch_ends(starts, ends, (35, 7, 29), 75) == [35, 7, 30]
    assert batch_ends(starts, ends, (36, 7, 29), 75) == [36, 7, 30]

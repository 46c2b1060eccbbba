"""Simulation: seeds and threads, statistics, shortened traces, time limits; distinct states, exact and estimated."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import gangproof
from model.explore import explore, simulate
from model.explore.coverage.distinct import DistinctStates, distinct
from model.explore.walks.walks import batch_size
from model.language import Expr, Machine, Sort, all_, choose, one_of, require
from model.semantics import Semantics
from model.simulation import Simulation
from model.verdict import Outcome
from specs.gang import gang
from specs.loading import SpecLoadError, load_spec


class Job(Sort):
    """A job."""


def without_times(answer: Simulation) -> Simulation:
    return replace(answer, seen=replace(answer.seen, seconds=0.0, compile_seconds=0.0))


def far(length: int = 60, jobs: int = 3) -> Machine:
    """A counter that goes up, down and up by two, beside jobs that come and go and have nothing to do with it."""
    m = Machine("far")
    m.sort(Job, jobs)
    x = m.scalar("x", range(length + 2), init=0)
    busy = m.variable("busy", Job, bool, init=False)

    @m.action
    def up() -> None:
        require(x < length)
        x.next += 1

    @m.action
    def two_up() -> None:
        require(x < length - 1, all_(~busy[j] for j in Job))
        x.next += 2

    @m.action
    def down() -> None:
        require(x > 0)
        x.next -= 1

    @m.action
    def toggle(j: Job) -> None:
        busy[j] = ~busy[j]

    @m.always
    def not_there() -> Expr:
        return x < length // 2

    @m.sometimes
    def all_busy() -> Expr:
        return all_(busy[j] for j in Job)

    return m


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_the_seed_decides_and_threads_do_not(threads: int) -> None:
    machine = gang(apps=3, size=3, nodes=2, capacity=4, quota=7)
    alone = simulate(machine, walks=3_000, steps=40, seed=9, threads=1)
    assert without_times(simulate(machine, walks=3_000, steps=40, seed=9, threads=threads)) == without_times(alone)
    other = simulate(machine, walks=3_000, steps=40, seed=10, threads=threads)
    assert other.seen.actions != alone.seen.actions


def test_threads_do_not_decide_where_walks_stop() -> None:
    machine = far()
    alone = without_times(simulate(machine, walks=5_000, steps=200, seed=4, threads=1))
    assert alone.outcome is Outcome.VIOLATED
    assert alone.stopped == "a violation was found"
    assert alone.seen.walks % batch_size(200) == 0
    assert without_times(simulate(machine, walks=5_000, steps=200, seed=4, threads=4)) == alone


def test_a_trace_is_shortened() -> None:
    machine = far()
    answer = simulate(machine, walks=2_000, steps=400, seed=1)
    told = answer["not_there"]
    assert told.outcome is Outcome.VIOLATED
    assert told.trace is not None
    assert Semantics(machine).replay(told.trace) is None
    # A walk there takes hundreds of steps; 15 times two_up is the shortest.
    assert len(told.trace) == 15 == len(explore(machine)["not_there"].trace or ())
    assert answer["all_busy"].how == "reached after 3 steps"


def test_steps_next_to_the_way_are_looked_at() -> None:
    """A fault that hardly any walk takes, and a step that is forbidden, are seen from the state before."""
    m = Machine("beside")
    x = m.scalar("x", range(1_000), init=0)

    @m.action
    def other() -> None:
        require(x == 0)
        x.next = choose(range(900))

    @m.action
    def leave() -> None:
        require(x == 0)
        x.next = x - 1

    answer = simulate(m, walks=1, steps=1)
    assert answer["values_in_range"].how == "violated after 1 step: x becomes -1, outside 0..999"
    assert answer["values_in_range"].trace is not None
    assert Semantics(m).replay(answer["values_in_range"].trace) is None


def test_every_enabled_step_is_as_likely_and_every_start() -> None:
    m = Machine("even")
    m.sort(Job, 4)
    x = m.scalar("x", range(9), init=one_of(0, 1))
    last = m.variable("last", Job, bool, init=False)

    @m.action
    def one(j: Job) -> None:
        require(x < 2)
        last[j] = True
        x.next = 8

    @m.action
    def two() -> None:
        require(x < 2)
        x.next = ((x + 2) // 3) * 3 + 2

    @m.terminal
    def over() -> Expr:
        return x >= 2

    seen = simulate(m, walks=10_000, steps=1).seen
    # One of five; the standard deviation is 40.
    assert 1_800 < seen.actions["two"] < 2_200
    assert seen.steps == seen.walks == 10_000
    assert seen.distinct_states == 2 + 4 + 2


def test_what_walks_cannot_judge_stays_unknown() -> None:
    answer = simulate(load_spec("yunikorn", ["edition=seed"]), walks=50)
    assert answer.outcome is Outcome.UNKNOWN
    kinds = {p.kind: p.how for p in answer.properties if p.kind in ("possible", "leads_to", "eventually")}
    assert set(kinds.values()) == {"walks cannot judge it"}
    assert all(p.outcome is Outcome.UNKNOWN for p in answer.properties if p.kind != "sometimes")


def test_statistics_of_short_walks() -> None:
    seen = simulate(gang(), walks=64, steps=3).seen
    assert (seen.walks, seen.steps, seen.depth, seen.dead_ends) == (64, 192, 3, 0)
    assert seen.values[0].never == ("FINISHED",)


def test_a_time_limit_ends_it() -> None:
    started = time.perf_counter()
    answer = simulate(gang(apps=4, size=3, capacity=4, quota=7), walks=10**9, steps=100, time_limit=0.3)
    assert time.perf_counter() - started < 20
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.stopped == "time limit of 0.3 s ran out"
    assert 0 < answer.seen.walks < 10**9


def test_what_cannot_be_asked_for() -> None:
    for wrong in ({"walks": 0}, {"steps": 0}, {"seed": -1}):
        with pytest.raises(ValueError, match="positive"):
            simulate(gang(), **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="apps"):
        gangproof.simulate(gang(), apps=2)
    with pytest.raises(SpecLoadError, match="walks"):
        gangproof.simulate("gang", walks=300)


def test_the_face_simulates() -> None:
    assert gangproof.simulate(gangproof.machine("gang", apps=1), walks=300, steps=20).seen.distinct_states == 16
    assert gangproof.simulate("gang", apps=1).seen.distinct_states == 16
    assert gangproof.check("gang", apps=1).coverage.distinct_states == 16


@pytest.mark.parametrize("words", [1, 2, 5])
def test_distinct_states_are_counted_exactly(words: int) -> None:
    random = np.random.default_rng(words)
    states = random.integers(0, 30 if words > 1 else 5_000, (20_000, words)).astype(np.uint64)
    expected = {tuple(s) for s in states.tolist()}
    assert {tuple(s) for s in distinct(states).tolist()} == expected
    assert len(distinct(states)) == len(expected)
    counter = DistinctStates(words)
    for part in np.array_split(states, 7):
        counter.add(part)
    assert counter.count() == (len(expected), True)


def test_more_states_than_are_kept_are_estimated() -> None:
    counter = DistinctStates(2, most=50_000)
    rows = np.arange(400_000, dtype=np.uint64)
    states = np.stack([rows // np.uint64(7), rows % np.uint64(7)], axis=1)
    for part in np.array_split(states, 9):
        counter.add(part)
        counter.add(part[::3])
    count, exact = counter.count()
    assert not exact
    assert abs(count - 400_000) < 400_000 * 4 // 100  # five standard errors


def test_states_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.explore.coverage.distinct.hashes", lambda states: np.zeros(len(states), np.uint64))
    states = np.array([[1, 2], [3, 4], [1, 2], [5, 6], [3, 4]], np.uint64)
    assert sorted(map(tuple, distinct(states).tolist())) == [(1, 2), (3, 4), (5, 6)]


def test_it_is_much_faster_than_the_interpreter() -> None:
    machine = gang(apps=4, size=3, nodes=2, capacity=4, quota=7)
    answer = simulate(machine, walks=4_000, steps=40)
    compiled = answer.seen.steps / answer.seen.seconds
    s = Semantics(machine)
    started, steps, state = time.perf_counter(), 0, s.initial_states()[0]
    while time.perf_counter() - started < 0.3:
        enabled = [i for i in s.instances if s.is_enabled(i, state)]
        if not enabled:
            state = s.initial_states()[0]
            continue
        after = s.fire(enabled[steps % len(enabled)], state)
        assert isinstance(after, tuple)
        state, steps = after, steps + 1
    slow = steps / (time.perf_counter() - started)
    assert compiled > 10 * slow, (compiled, slow)

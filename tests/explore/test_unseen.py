"""What an exploration did not see: blocked actions, values never taken, steps that change nothing."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence

import pytest
from agreement import assert_agrees

from model.coverage import Conjunct, Idle, Taken
from model.explore import Exploration, explore
from model.explore.coverage import blocked
from model.explore.coverage.blocked import MOST_CONDITIONS, Blockers, conjuncts_of, never_together
from model.explore.coverage.patterns import counter_of
from model.explore.packing import PackedProgram
from model.explore.search.budget import OutOfTime
from model.language import Machine, Sort, require, sum_, when
from model.lowering.ground import Node
from model.semantics import Semantics
from model.semantics import explore as slowly
from model.verdict import Outcome
from specs.gang import gang

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


class Job(Sort):
    """A job."""


class Phase(enum.Enum):
    """Where a job is."""

    WAITING = 0
    RUNNING = 1
    LOST = 2


def idle(jobs: int = 2, *, symmetric: bool = False) -> Machine:
    """Takes with ``when`` where ``require`` is meant; nothing can finish."""
    m = Machine("idle")
    m.sort(Job, jobs, symmetric=symmetric)
    held = m.variable("held", Job, range(6), init=0)
    phase = m.variable("phase", Job, Phase, init=Phase.WAITING)

    @m.action
    def take(j: Job) -> None:
        with when(held[j] < 2):
            held[j] += 1

    @m.action
    def finish(j: Job) -> None:
        require(held[j] >= 2, (phase[j] == Phase.WAITING) & (sum_(held[k] for k in Job) < 2))
        phase[j] = Phase.RUNNING

    return m


def test_which_conjunct_blocks() -> None:
    verdict = explore(idle(), coverage=True)
    assert verdict.unseen is not None
    (told,) = verdict.unseen.blocked
    assert (told.action, told.instances, told.cases) == ("finish", 2, 18)
    first, second, third = told.conjuncts
    assert first == Conjunct("held[j] >= 2", first.at, 12, 6, (("j", "job1"),), 3)
    assert second == Conjunct("phase[j] == Phase.WAITING", second.at, 0, 0, None, 0)
    assert third == Conjunct("sum_(held[k] for k in Job) < 2", third.at, 12, 6, (("j", "job1"),), 3)
    assert told.never_together == ((0, 2),)
    assert first.at.startswith("tests/explore/test_unseen.py:")


def test_values_of_all_cells_of_a_variable_together() -> None:
    verdict = explore(idle(), coverage=True)
    assert verdict.unseen is not None
    assert verdict.unseen.values == (
        Taken("held", "0..5", 6, 3, ("3..5",)),
        Taken("phase", "Phase", 3, 1, ("RUNNING", "LOST")),
    )


def test_idle_steps_are_steps_and_told() -> None:
    exploration = assert_agrees(idle())
    verdict = exploration.with_coverage()
    assert verdict["deadlock_free"].outcome is Outcome.HOLDS
    assert verdict["deadlock_free"].how == "all 9 states; in 1 every step changes nothing"
    assert verdict.warnings[0] == "take fires without changing anything in 6 of 18 firings"
    assert verdict.warnings[1].startswith("in 1 state every enabled step changes nothing (the nearest after 4 steps)")
    stuck = exploration.unseen.stuck
    assert stuck is not None
    assert Semantics(idle()).replay(stuck.trace) is None
    assert stuck.trace.last == {"held[job1]": 2, "held[job2]": 2, "phase[job1]": "WAITING", "phase[job2]": "WAITING"}


def test_what_was_found_before_time_ran_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise OutOfTime("time ran out")

    monkeypatch.setattr(Blockers, "explain", late)
    found = Exploration(idle()).unseen
    assert (found.blocked, found.unfinished) == ((), "time ran out")
    assert found.stuck is not None
    assert [each.action for each in found.idle] == ["take"]


def test_an_end_may_be_idle() -> None:
    m = idle()

    @m.terminal
    def may_end() -> bool:
        return True

    exploration = Exploration(m)
    assert exploration.unseen.stuck is None
    assert [each.idle for each in exploration.unseen.idle] == [6]


def test_a_faulty_step_is_not_idle() -> None:
    m = Machine("faulty")
    x = m.scalar("x", range(2), init=1)

    @m.action
    def leave() -> None:
        x.next = x + 1

    exploration = Exploration(m)
    assert exploration.verdict["values_in_range"].outcome is Outcome.VIOLATED
    assert exploration.unseen.idle == ()
    assert exploration.unseen.stuck is None
    assert slowly(m).stuck == []


def test_a_cell_that_is_written_twice_is_not_idle() -> None:
    m = Machine("twice")
    m.sort(Job, 2)
    x = m.variable("x", Job, bool, init=False)

    @m.action
    def clear(j: Job, k: Job) -> None:
        x[j] = False
        x[k] = False

    golden = assert_agrees(m)
    assert golden.verdict["one_write_per_cell"].outcome is Outcome.VIOLATED
    assert [(each.idle, each.fired) for each in golden.unseen.idle] == [(2, 4)]
    assert slowly(m).idle == {"clear": 2}


def wide(values: range, steps: tuple[int, ...]) -> Machine:
    """A scalar that is ``steps[0]`` at first, then ``steps[1]``, ..."""
    m = Machine("wide")
    x = m.scalar("x", values, init=steps[0])
    position = m.scalar("position", range(len(steps)), init=0)
    for number, value in enumerate(steps[1:], 1):

        def jump() -> None:
            require(position == number - 1)
            x.next = value
            position.next = number

        jump.__name__ = f"jump{number}"
        m.action(jump)
    return m


@pytest.mark.parametrize(
    ("values", "steps", "taken", "never"),
    [
        (range(64), (0, 63), 2, ("1..62",)),
        (range(65), (0, 64), 2, ("1..63",)),
        (range(-3, 130), (-3, 5, 129), 3, ("-2..4", "6..128")),
        (range(200), (64, 127, 128), 3, ("0..63", "65..126", "129..199")),
        (range(1 << 16), (0, 2, (1 << 16) - 1), 3, ("1", "3..65534")),
        (range((1 << 16) + 1), (7, 65_536), None, ("0..6",)),
        (range(-(2**40), 2**40), (0, -5, 9), None, (f"{-(2**40)}..-6", f"10..{2**40 - 1}")),
        (range(5, 6), (5, 5), 1, ()),
    ],
)
def test_domains_of_all_sizes(values: range, steps: tuple[int, ...], taken: int | None, never: tuple[str, ...]) -> None:
    told = Exploration(wide(values, steps)).unseen.values[0]
    assert (told.size, told.taken, told.never) == (len(values), taken, never)


@pytest.mark.parametrize("width", [2, 12, 13, 40, 64, 70])
def test_guards_of_many_conjuncts(width: int) -> None:
    """A counter that conjunct i wants to be other than i, for each value that it takes, and one that never holds."""
    m = Machine("guarded")
    x = m.scalar("x", range(width), init=0)
    y = m.scalar("y", bool, init=False)

    @m.action
    def up() -> None:
        require(x < width - 1)
        x.next += 1

    @m.action
    def never() -> None:
        require(*(x != n for n in range(width)))
        y.next = True

    (told,) = Exploration(m).unseen.blocked
    assert len(told.conjuncts) == min(width, 64) == len(conjuncts_of(m.actions[1]))
    plain = told.conjuncts[: 63 if width > 64 else width]
    assert {(c.false, c.alone, c.nearest_states) for c in plain} == {(1, 1, 1)}
    if width > 64:
        assert (told.conjuncts[63].false, told.conjuncts[63].alone) == (width - 63, width - 63)


def test_more_instances_than_are_worth_a_look() -> None:
    m = Machine("many")
    m.sort(Job, 36)
    x = m.variable("x", Job, bool, init=False)

    @m.action
    def never(j: Job, k: Job) -> None:
        require(x[j], x[k])
        x[j] = False

    (told,) = Exploration(m).unseen.blocked
    assert (told.instances, told.looked_at, told.cases) == (1296, MOST_CONDITIONS // 2, MOST_CONDITIONS // 2)
    assert told.never_together == ((0,), (1,))


def test_smallest_sets_that_never_hold() -> None:
    assert never_together({0b011, 0b101}, 3) == ((1, 2),)
    assert never_together({0b011, 0b101, 0b110}, 3) == ((0, 1, 2),)
    assert never_together({0b0111, 0b1011, 0b1101, 0b1110}, 4) == ()
    assert never_together({0b001}, 3) == ((1,), (2,))


def test_of_an_incomplete_exploration_only_values_are_told() -> None:
    verdict = explore(gang(), max_states=3, coverage=True)
    assert verdict.unseen is not None
    assert (verdict.unseen.blocked, verdict.unseen.idle, verdict.unseen.stuck) == ((), (), None)
    assert verdict.unseen.values[0].taken is not None
    assert verdict.unseen.unfinished == verdict.coverage.budget
    assert verdict.unseen.to_json()["unfinished"] == verdict.coverage.budget


def test_each_state_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """On 90,428 states with an action that never fires: compiled code is given blocks of states."""
    m = gang(apps=4, size=3, nodes=2, capacity=4, quota=7)
    broken = m.scalar("broken", bool, init=False)

    @m.action
    def never() -> None:
        require(broken, ~broken)
        broken.next = True

    blocks: list[int] = []

    def counted(program: PackedProgram, conditions: Sequence[Sequence[Node]]) -> Callable[[int, int, int], None]:
        look = counter_of(program, conditions)

        def counting(states: int, count: int, counts: int) -> None:
            blocks.append(count)
            look(states, count, counts)

        return counting

    monkeypatch.setattr(blocked, "counter_of", counted)
    exploration = Exploration(m)
    assert exploration.unseen.blocked[0].never_together == ((0,),)
    assert exploration.verdict.coverage.distinct_states == 90_428
    assert sum(blocks) == 90_428
    assert len(blocks) == exploration.search.native.shards


def test_idle_steps_of_many_instances_are_all_counted() -> None:
    """Each of 2,209 instances does nothing in the only state, and nothing else ever happens."""
    m = Machine("many")
    m.sort(Job, 47)
    x = m.variable("x", Job, bool, init=False)

    @m.action
    def nothing(j: Job, k: Job) -> None:
        with when(x[j] & x[k]):
            x[j] = False

    found = Exploration(m).unseen
    assert found.idle == (Idle("nothing", 2_209, 2_209),)
    assert found.stuck is not None
    assert found.stuck.states == 1


def test_with_symmetry_the_same_is_told_up_to_exchange() -> None:
    plain = Exploration(idle(3, symmetric=True)).unseen
    reduced = Exploration(idle(3, symmetric=True), symmetry=True)
    told = reduced.unseen
    assert reduced.verdict.coverage.distinct_states == 10
    assert told.values == plain.values
    assert [b.never_together for b in told.blocked] == [b.never_together for b in plain.blocked]
    assert [each.action for each in told.idle] == ["take"]
    assert told.stuck is not None
    assert plain.stuck is not None
    assert len(told.stuck.trace) == len(plain.stuck.trace) == 6
    assert Semantics(idle(3)).replay(told.stuck.trace) is None

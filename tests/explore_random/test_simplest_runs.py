"""That a trace changes as few cells as any shortest one, against all shortest runs of random machines."""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings

from model import semantics
from model.explore import Exploration
from model.explore.traces.recover import Recovery
from model.language import Expr, Machine, PropertyKind, after, one_of, require, when
from model.language.describe import describe
from model.lowering.lower import Event, EventKind
from model.semantics import Fault, Semantics, State
from model.strategies import machines
from model.trace import Trace
from model.verdict import PropertyVerdict
from specs.gang import gang
from specs.loading import load_spec

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
Cost = tuple[int, frozenset[int]]  # cells changed, counted with and without repetition


def differing(before: State, after: State) -> frozenset[int]:
    return frozenset(i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)


class AllRuns:
    """What the shortest runs to every state of a machine cost, and all steps."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.semantics = Semantics(machine)
        self.distance = semantics.explore(machine).distance
        self.steps = {
            s: [(i, self.semantics.fire(i, s)) for i in self.semantics.instances if self.semantics.is_enabled(i, s)]
            for s in self.distance
        }
        self.costs: dict[State, set[Cost]] = {s: {(0, frozenset())} for s, d in self.distance.items() if d == 0}
        for state in sorted(self.distance, key=lambda s: self.distance[s]):
            for _, new in self.steps[state]:
                if not isinstance(new, Fault) and self.distance[new] == self.distance[state] + 1:
                    self.costs.setdefault(new, set()).update(self.onwards(state, differing(state, new)))

    def onwards(self, state: State, changed: frozenset[int]) -> set[Cost]:
        return {(total + len(changed), cells | changed) for total, cells in self.costs[state]}

    def ends(self, p: PropertyVerdict) -> dict[int, set[Cost]]:
        """What runs into ``p`` cost, by their length."""
        found: dict[int, set[Cost]] = {}
        declared = {q.name: q for q in self.machine.properties}.get(p.name)
        holds = self.semantics.evaluate
        for state, depth in self.distance.items():
            if p.kind == "deadlock":
                hit = not self.steps[state] and not self.semantics.is_terminal(state)
            elif declared is not None and declared.kind in (PropertyKind.ALWAYS, PropertyKind.SOMETIMES):
                hit = bool(holds(declared.condition, state, {})) == (declared.kind is PropertyKind.SOMETIMES)
            else:
                hit = False
            if hit:
                found.setdefault(depth, set()).update(self.costs[state])
            for _, new in self.steps[state]:
                if isinstance(new, Fault):
                    if new.kind.value == p.name:
                        found.setdefault(depth + 1, set()).update(self.costs[state])
                elif (
                    declared is not None
                    and declared.kind is PropertyKind.STEP
                    and not holds(declared.condition, state, {}, new)
                ):
                    found.setdefault(depth + 1, set()).update(self.onwards(state, differing(state, new)))
        return found


def paid(trace: Trace) -> tuple[int, int]:
    """Cells changed with and without repetition."""
    changes = trace.changes()
    return sum(map(len, changes)), len(set().union(*changes))


def check(machine: Machine, seen: Counter[str]) -> None:
    verdict = Exploration(machine).verdict
    all_runs = AllRuns(machine)
    for p in verdict.properties:
        if p.trace is None or p.kind in ("possible", "eventually", "leads_to"):
            continue
        assert p.note is None
        assert all_runs.semantics.replay(p.trace) is None
        ends = all_runs.ends(p)
        least = min(ends)
        assert len(p.trace) == least
        assert paid(p.trace) == min((total, len(cells)) for total, cells in ends[least]), p
        seen[p.kind] += 1
        seen["a choice of totals"] += len({total for total, _ in ends[least]}) > 1
        seen["a choice of cells"] += len({(t, len(cells)) for t, cells in ends[least] if t == paid(p.trace)[0]}) > 1
        seen["three steps"] += least >= 3


def check_many(count: int, most_states: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    known: set[str] = set()
    for number in itertools.count():

        @seed(number)
        @settings(max_examples=2, deadline=None, suppress_health_check=SLOW_TO_DRAW, database=None, derandomize=False)
        @given(machines(most_states))
        def each(machine: Machine) -> None:
            text = describe(machine)
            if text not in known:
                known.add(text)
                check(machine, seen)

        each()
        if len(known) >= count:
            return seen
    raise AssertionError


def test_no_shortest_run_of_a_random_machine_changes_fewer_cells() -> None:
    seen = check_many(40, 200)
    for what in ("always", "sometimes", "step", "range", "deadlock", "a choice of totals"):
        assert seen[what] >= 2, (what, seen)


def maze(number: int) -> Machine:
    """A few cells, and random moves that set some of them where others have some values; many ways lead to an end."""
    random = Random(number)
    m = Machine("maze")
    cells = [m.scalar(f"x{i}", range(3), init=one_of(0, 1) if random.random() < 0.2 else 0) for i in range(5)]
    for i in range(random.randint(6, 14)):
        conditions = [(cell, random.randrange(3)) for cell in random.sample(cells, random.choice((1, 1, 2)))]
        writes = [(cell, random.choice((0, 1, 1, 2, 2))) for cell in random.sample(cells, random.choice((1, 2, 2, 3)))]
        twice = [writes[0]] if random.random() < 0.1 else []
        grows = [random.choice(cells)] if random.random() < 0.1 else []
        sets = [(cell, value) for cell, value in writes if not any(cell.name == g.name for g in grows)]

        def move() -> None:
            require(*(cell == value for cell, value in conditions))
            same = cells[0] == cells[1]
            for cell, value in sets:
                cell.next = value
            for cell in grows:
                cell.next += 1
            for cell, value in twice:
                with when(same):
                    cell.next = value

        move.__name__ = f"move{i}"
        m.action(move)
    for i, cell in enumerate(random.sample(cells, 3)):
        other, value = random.choice(cells), random.randrange(3)

        def grow() -> None:
            require(cell < 2, other != value)
            cell.next += 1

        grow.__name__ = f"grow{i}"
        m.action(grow)
    most = random.randint(4, 7)
    goal = [random.choice((1, 2)) for _ in range(3)]

    @m.always
    def not_there() -> Expr:
        return ~((cells[0] == goal[0]) & (cells[1] == goal[1]) & (cells[2] == goal[2]))

    @m.always
    def not_so_much() -> Expr:
        return cells[0] + cells[1] + cells[2] + cells[3] + cells[4] < most

    @m.step
    def not_so() -> Expr:
        return ~((cells[3] == 1) & (after(cells[3]) == 2) & (after(cells[4]) == goal[0]))

    return m


def test_no_shortest_run_through_a_maze_changes_fewer_cells() -> None:
    seen: Counter[str] = Counter()
    for number in range(60):
        check(maze(number), seen)
    for what in ("always", "step", "range", "write", "a choice of cells"):
        assert seen[what] >= 5, (what, seen)
    assert seen["three steps"] >= 30


@pytest.mark.slow
def test_no_shortest_run_of_thousands_of_random_machines_changes_fewer_cells() -> None:
    seen = check_many(2_000, 500)
    assert seen["a choice of cells"] >= 20
    assert seen["three steps"] >= 100


@pytest.mark.parametrize(
    "parameters", [{}, {"apps": 2, "size": 3, "nodes": 2, "capacity": 2}, {"apps": 3, "size": 1, "nodes": 2}]
)
def test_no_shortest_run_of_gang_changes_fewer_cells(parameters: dict[str, int]) -> None:
    seen: Counter[str] = Counter()
    check(gang(**parameters), seen)
    assert seen["sometimes"] == 1


@pytest.mark.parametrize("stop_at_first", [False, True])
@pytest.mark.parametrize("assignments", [["queues=two_leaves"], ["policy=fair", "reject_fair=false"]])
def test_the_trace_does_not_depend_on_threads(assignments: list[str], stop_at_first: bool) -> None:
    machine = load_spec("yunikorn", ["edition=seed", *assignments])
    one, two = (Exploration(machine, threads=n, stop_at_first=stop_at_first).verdict for n in (1, 2))
    shown = one["no_starving_gangs"]
    assert shown == two["no_starving_gangs"]
    assert shown.trace is not None
    if not stop_at_first:
        assert one.properties == two.properties


def test_states_that_were_dropped_are_no_part_of_a_run() -> None:
    machine = load_spec("yunikorn", ["edition=seed", "queues=two_leaves"])
    for budget in range(100, 900, 100):
        verdict = Exploration(machine, max_states=budget).verdict
        assert not verdict.coverage.complete
        for p in verdict.properties:
            if p.trace is not None:
                assert Semantics(machine).replay(p.trace) is None
                assert p.note is None


def test_where_too_many_states_lie_before_the_end_the_first_run_is_shown_and_it_is_said() -> None:
    exploration = Exploration(load_spec("yunikorn", ["edition=seed", "queues=two_leaves"]))
    few = Recovery(exploration.search, most_states=10)
    event = Event(EventKind.ALWAYS, "no_starving_gangs")
    first = exploration.search.first[exploration.program.events.index(event)]
    trace, fault, note = few.simple_trace(first, event)
    assert (fault, len(trace)) == (None, 6)
    assert trace == few.trace(first)
    assert note is not None
    assert "lie before the end" in note

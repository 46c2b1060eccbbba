"""That no lasso with as short a stem has a shorter loop, and that no such stem changes fewer cells: by brute force."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache

import pytest
from test_random_liveness import machine_of, random_case

from model.explore import Exploration
from model.explore.liveness import shortest
from model.explore.liveness.shortest import ShortLoops
from model.explore.search.budget import OutOfBudget, OutOfMemory, OutOfTime
from model.language import Expr, Machine, Property, choose, one_of, require, strong, weak
from model.semantics import Semantics, State, explore
from model.semantics_liveness import arguments, demands, moves, refutes
from model.trace import Trace
from model.verdict import PropertyVerdict

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

Cost = tuple[int, frozenset[int]]  # cells changed, counted with and without repetition
Size = tuple[int, int, int, int]  # steps before the loop, on it; cells changed before it, in all and different ones


class Lassos:
    """All there is to know about the violations of one machine's liveness properties, in the plainest way."""

    def __init__(self, machine: Machine) -> None:
        self.semantics = Semantics(machine)
        self.distance: Mapping[State, int] = explore(machine).distance
        self.steps = {s: moves(self.semantics, s) for s in self.distance}

    def least(self, p: Property) -> Size | None:
        """The least size of a lasso that violates ``p``, one number after the other; None if there is none."""
        sizes = [self._least(p, env) for env in arguments(self.semantics.machine, p)]
        return min((s for s in sizes if s is not None), default=None)

    def _least(self, p: Property, env: dict[int, int]) -> Size | None:
        s = self.semantics
        without = {x for x in self.distance if not s.evaluate(p.condition, x, env)}
        triggers = {x for x in without if p.trigger is None or s.evaluate(p.trigger, x, env)}
        # Runs are in a state before the claim starts, or after.
        runs: dict[tuple[State, bool], set[Cost]] = {}
        for state, depth in self.distance.items():
            if depth == 0:
                runs[state, False] = {(0, frozenset())}
                if state in triggers:
                    runs[state, True] = {(0, frozenset())}
        rounds: dict[State, int | None] = {}
        for stem in range(2 * len(self.distance) + 1):
            ends: list[Size] = []
            for (state, late), costs in runs.items():
                if late:
                    if state not in rounds:
                        rounds[state] = self.shortest_round(p, state, without)
                    length = rounds[state]
                    if length is not None:
                        ends += [(stem, length, total, len(cells)) for total, cells in costs]
            if ends:
                return min(ends)
            after: dict[tuple[State, bool], set[Cost]] = {}
            for (state, late), costs in runs.items():
                for _, new in self.steps[state]:
                    changed = {i for i, (a, b) in enumerate(zip(state, new, strict=True)) if a != b}
                    further = {(total + len(changed), cells | changed) for total, cells in costs}
                    if not late:
                        after.setdefault((new, False), set()).update(further)
                        if p.trigger is not None and new in triggers:
                            after.setdefault((new, True), set()).update(further)
                    elif new in without:
                        after.setdefault((new, True), set()).update(further)
            runs = after
        return None

    def shortest_round(self, p: Property, start: State, inside: set[State]) -> int | None:
        """Steps of the shortest fair way from ``start`` back to it, 0 if a run can stay; None if there is none."""
        asked = demands(self.semantics.machine, self.semantics.instances, p.fairness)
        able = {
            s: frozenset(i for i, d in enumerate(asked) if d.instances & {n for n, _ in self.steps[s]}) for s in inside
        }
        level = {(start, able[start], able[start], frozenset[int]())}  # state; always, ever enabled; taken
        known = set(level)
        length = 0
        while level:
            for state, always, ever, taken in level:
                met = all(i in taken or i not in (ever if d.strong else always) for i, d in enumerate(asked))
                if state == start and met:
                    return length
            level = {
                (
                    new,
                    always & able[new],
                    ever | able[new],
                    taken | {i for i, d in enumerate(asked) if n in d.instances},
                )
                for state, always, ever, taken in level
                for n, new in self.steps[state]
                if new in inside
            } - known
            known |= level
            length += 1
        return None


def size_of(trace: Trace) -> Size:
    """The size of the lasso ``trace``."""
    assert trace.loop_start is not None
    changes = trace.changes()[: trace.loop_start]
    return (
        trace.loop_start,
        len(trace) - trace.loop_start,
        sum(map(len, changes)),
        len(set().union(*changes)),
    )


def check(machine: Machine, seen: Counter[str]) -> None:
    found = {p.name: p for p in Exploration(machine).verdict.properties}
    lassos = Lassos(machine)
    for p in machine.properties:
        if p.kind.is_liveness:
            trace, least = found[p.name].trace, lassos.least(p)
            assert (trace is None) == (least is None)
            if trace is not None and least is not None:
                assert refutes(lassos.semantics, p, trace) is None
                # Of stems that change as many cells in all, one that changes the fewest different ones.
                assert size_of(trace) == least, p.name
                assert found[p.name].note is None
                seen[f"loop of {min(4, least[1])}"] += 1
                seen[f"stem of {min(3, least[0])}"] += 1
                seen["more cells than steps"] += least[2] > least[0]


def test_no_loop_in_a_random_graph_is_shorter() -> None:
    rnd = random.Random(21)
    seen: Counter[str] = Counter()
    for _ in range(80):
        check(machine_of(random_case(rnd)), seen)
    assert min(seen[f"loop of {n}"] for n in (0, 2, 3, 4)) >= 2, seen


def maze(number: int) -> Machine:
    """A few cells, and random moves that set some of them where others have some values."""
    rnd = random.Random(number)
    m = Machine("maze")
    cells = [m.scalar(f"x{i}", range(3), init=one_of(0, 1) if rnd.random() < 0.2 else 0) for i in range(4)]
    actions = []
    for i in range(rnd.randint(6, 11)):
        conditions = [(cell, rnd.randrange(3)) for cell in rnd.sample(cells, rnd.choice((1, 1, 2)))]
        writes = [(cell, rnd.randrange(3)) for cell in rnd.sample(cells, rnd.choice((1, 1, 2, 3)))]

        def move() -> None:
            require(*(cell == value for cell, value in conditions))
            for cell, value in writes:
                cell.next = value

        move.__name__ = f"move{i}"
        actions.append(m.action(move))
    fairness = [rnd.choice((weak, strong))(a) for a in rnd.sample(actions, rnd.randint(0, 2))]
    fairness += [m.progress()] if rnd.random() < 0.8 else []
    begin, goal = (rnd.sample([(c, v) for c in cells for v in (1, 2)], 2) for _ in range(2))

    @m.eventually(fairness=fairness)
    def comes() -> Expr:
        return (goal[0][0] == goal[0][1]) & (goal[1][0] == goal[1][1])

    @m.leads_to(fairness=fairness)
    def follows() -> tuple[Expr, Expr]:
        return (begin[0][0] == begin[0][1]) & (begin[1][0] == begin[1][1]), goal[0][0] == goal[0][1]

    return m


def test_no_shortest_way_to_a_shortest_loop_in_a_maze_changes_fewer_cells() -> None:
    seen: Counter[str] = Counter()
    for number in range(60):
        check(maze(number), seen)
    assert min(seen["more cells than steps"], seen["stem of 3"], seen["loop of 2"]) >= 5, seen


LONGER = "the loop may be longer than need be: "


@cache
def exact_cases(seed: int) -> list[tuple[Machine, PropertyVerdict]]:
    """Random machines, and what an exact search says of each."""
    rnd = random.Random(seed)
    cases = [machine_of(random_case(rnd)) for _ in range(60)]
    return [(m, Exploration(m).verdict.properties[0]) for m in cases]


def compare_with_exact(seed: int, reason: str, exhaust: Callable[[], None]) -> Counter[str]:
    """What is shown once ``exhaust`` has taken away what an exact search needs is fair, never shorter, and says so
    unless nothing could be shorter."""
    cases = exact_cases(seed)
    exhaust()
    seen: Counter[str] = Counter()
    for machine, best in cases:
        if best.trace is None or best.trace.loop_start is None or best.note is not None:
            continue
        other = Exploration(machine).verdict.properties[0]
        assert other.trace is not None
        assert other.trace.loop_start == best.trace.loop_start
        assert refutes(Semantics(machine), machine.properties[0], other.trace) is None
        longer = len(other.trace) - len(best.trace)
        assert longer >= 0
        if other.note is None:
            assert longer == 0
        else:
            assert other.note == LONGER + reason
        seen["longer"] += longer > 0
        seen["told"] += other.note is not None
        seen["certain"] += other.note is None
    return seen


def test_where_the_pairs_are_too_many_a_greedy_loop_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "there are too many combinations of what fairness demands"
    seen = compare_with_exact(22, reason, lambda: monkeypatch.setattr(shortest, "_MOST_PAIRS", 0))
    assert min(seen["longer"], seen["told"], seen["certain"]) >= 1, seen


def test_where_the_work_is_too_much_the_first_loop_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = compare_with_exact(
        22, "there are too many steps to follow", lambda: monkeypatch.setattr(shortest, "_MOST_WORK", 0)
    )
    assert min(seen["longer"], seen["told"], seen["certain"]) >= 1, seen


@pytest.mark.parametrize("out", [OutOfTime("time ran out"), OutOfMemory()])
def test_where_a_budget_runs_out_the_first_loop_is_shown(monkeypatch: pytest.MonkeyPatch, out: OutOfBudget) -> None:
    def stop(*_: object) -> None:
        raise out

    seen = compare_with_exact(22, str(out), lambda: monkeypatch.setattr(ShortLoops, "_look", stop))
    assert min(seen["longer"], seen["told"], seen["certain"]) >= 1, seen


def rings(*lengths: int) -> Machine:
    """One step into one of several rings, each a component of its own."""
    m = Machine("rings")
    ring, at = m.scalar("ring", range(len(lengths) + 1), init=0), m.scalar("at", range(max(lengths)), init=0)

    @m.action
    def enter() -> None:
        require(ring == 0)
        ring.next = choose(range(1, len(lengths) + 1))

    turns = []
    for number, length in enumerate(lengths, 1):

        def turn() -> None:
            require(ring == number)
            at.next = (at + 1) % length

        turn.__name__ = f"turn{number}"
        turns.append(m.action(turn))

    @m.eventually(fairness=[weak(enter), *map(weak, turns)])
    def ends() -> Expr:
        return at == max(lengths) - 1

    return m


def test_so_many_starts_have_a_greedy_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortest, "_MOST_PAIRS", 0)
    machine = rings(8, 6, 5, 4, 3, 2)
    loops = []
    for starts in range(6):
        monkeypatch.setattr(shortest, "_GREEDY_STARTS", starts)
        (found,) = [p for p in Exploration(machine).verdict.properties if p.name == "ends"]
        assert found.trace is not None
        assert found.trace.loop_start == 1
        assert found.note == LONGER + "there are too many combinations of what fairness demands"
        loops.append(len(found.trace) - 1)
    assert loops == sorted(loops, reverse=True)
    assert loops[0] == loops[1] > loops[-1] == 2

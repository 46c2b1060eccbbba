"""Compiled answers about liveness against the interpreter on random machines, and both against networkx on graphs."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, seed, settings
from lively import check_liveness

from model.language import Expr, Fairness, Machine, Scalar, Sort, Table, each, require, strong, weak
from model.language.describe import describe
from model.semantics import Semantics, explore
from model.semantics_liveness import refutes
from model.strategies import live_machines
from model.trace import Trace

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def agree_on(count: int, most_states: int) -> Counter[str]:
    """How often ``count`` random machines gave each answer, and how many lassos had how long a loop."""
    seen: set[str] = set()
    answers: Counter[str] = Counter()
    for number in itertools.count():

        @seed(number)
        @settings(max_examples=2, deadline=None, suppress_health_check=SLOW_TO_DRAW, database=None, derandomize=False)
        @given(live_machines(most_states))
        def look(machine: Machine) -> None:
            text = describe(machine)
            if text in seen:
                return
            seen.add(text)
            _, found = check_liveness(machine)
            for p in machine.properties:
                if p.kind.is_liveness:
                    answer = found[p.name]
                    answers[f"{answer.kind} {answer.outcome.value}"] += 1
                    if answer.trace is not None and answer.trace.loop_start is not None:
                        answers["loop" if len(answer.trace) > answer.trace.loop_start else "stay"] += 1
                        answers["stem"] += answer.trace.loop_start > 0

        look()
        if len(seen) >= count:
            return answers
    raise AssertionError


def test_the_explorer_agrees_and_the_machines_are_worth_it(capsys: pytest.CaptureFixture[str]) -> None:
    answers = agree_on(40, 100)
    with capsys.disabled():
        print("\n ", dict(sorted(answers.items())))
    for each_answer in ("eventually holds", "eventually violated", "leads_to holds", "leads_to violated"):
        assert answers[each_answer] >= 5
    assert answers["leads_to vacuous"] >= 1
    assert answers["loop"] >= 5
    assert answers["stem"] >= 5


@pytest.mark.slow
def test_the_explorer_agrees_on_thousands() -> None:
    assert agree_on(3_000, 400)["loop"] >= 100


# ---- against networkx: fair runs by trying every set of states that a run may visit infinitely often


@dataclass(frozen=True)
class Edge:
    """A step from state to state, of an action (``label``), with the number of its argument."""

    source: int
    target: int
    label: int


@dataclass(frozen=True)
class Case:
    """A random graph on states 0.. (0 is initial), what a run must avoid and start with, and what fairness it has."""

    states: int
    edges: tuple[Edge, ...]
    goal: frozenset[int]
    trigger: frozenset[int] | None
    fairness: tuple[tuple[bool, int, bool], ...]  # strong?, label, each edge separately?

    def groups(self) -> Iterator[tuple[bool, set[Edge]]]:
        for is_strong, label, apart in self.fairness:
            own = [e for e in self.edges if e.label == label]
            yield from ((is_strong, {e}) for e in own) if apart else [(is_strong, set(own))]


LABELS = 3


def random_case(rnd: random.Random) -> Case:
    states = rnd.randint(2, 6)
    edges = []
    for _ in range(rnd.randint(states, 3 * states)):
        source = rnd.randrange(states)
        target = rnd.randrange(states) if rnd.random() < 0.5 else (source + 1) % states
        edges.append(Edge(source, target, rnd.randrange(LABELS)))
    goal = frozenset(rnd.sample(range(states), rnd.choice((0, 1, 1, 2))))
    trigger = frozenset(rnd.sample(range(states), rnd.randint(1, 2))) if rnd.random() < 0.5 else None
    fairness = [(rnd.random() < 0.6, label, rnd.random() < 0.4) for label in range(LABELS) if rnd.random() < 0.8]
    return Case(states, tuple(dict.fromkeys(edges)), goal, trigger, tuple(fairness))


def mover(x: Scalar, sort: Any, source: Table[Any], target: Table[Any]) -> Callable[..., None]:
    def move(e: Any) -> None:
        require(x == source[e])
        x.next = target[e]

    move.__annotations__ = {"e": sort}
    return move


def machine_of(case: Case) -> Machine:
    """One action for each label, one argument for each edge."""
    m = Machine("graph")
    x = m.scalar("x", range(case.states), init=0)
    fairness: list[Fairness] = []
    for label in range(LABELS):
        own = [e for e in case.edges if e.label == label]
        if not own:
            continue
        sort = type(f"Edge{label}", (Sort,), {})
        m.sort(sort, len(own))
        source = m.constant(f"source{label}", sort, [e.source for e in own])
        target = m.constant(f"target{label}", sort, [e.target for e in own])

        move = mover(x, sort, source, target)
        move.__name__ = f"move{label}"
        m.action(move)
        fairness += [
            (strong if is_strong else weak)(each(move) if apart else move)
            for is_strong, of, apart in case.fairness
            if of == label
        ]

    def among(chosen: frozenset[int]) -> Expr | bool:
        result: Expr | bool = False
        for state in sorted(chosen):
            result = (x == state) | result
        return result

    if case.trigger is None:

        @m.eventually(fairness=fairness)
        def claim() -> Expr | bool:
            return among(case.goal)

    else:
        trigger = case.trigger

        @m.leads_to(fairness=fairness)
        def claim() -> tuple[Expr | bool, Expr | bool]:
            return among(trigger), among(case.goal)

    return m


def shortest_stem(case: Case) -> int | None:
    """Steps to the nearest set of states that a fair run without the goal may visit forever; None if there is none."""
    whole = nx.DiGraph()
    whole.add_nodes_from(range(case.states))
    whole.add_edges_from((e.source, e.target) for e in case.edges)
    distance = nx.single_source_shortest_path_length(whole, 0)
    region = whole.subgraph(set(range(case.states)) - case.goal)
    starts = {0: 0} if case.trigger is None else {s: d for s, d in distance.items() if s in case.trigger}
    best: int | None = None
    for size in range(1, case.states + 1):
        for chosen in itertools.combinations(sorted(region.nodes), size):
            inf = set(chosen)
            if not nx.is_strongly_connected(region.subgraph(inf)) or not is_fair(case, inf):
                continue
            for start, d in starts.items():
                if start in region:
                    lengths = nx.single_source_shortest_path_length(region, start)
                    for state in inf & lengths.keys():
                        best = d + lengths[state] if best is None else min(best, d + lengths[state])
    return best


def is_fair(case: Case, inf: set[int]) -> bool:
    for is_strong, group in case.groups():
        changing = {e for e in group if e.source != e.target}
        taken = any(e.source in inf and e.target in inf for e in changing)
        enabled = {e.source for e in changing} & inf
        if not taken and (enabled if is_strong else enabled == inf):
            return False
    return True


def test_the_meaning_against_all_sets_of_states() -> None:
    rnd = random.Random(7)
    violated = 0
    for _ in range(400):
        case = random_case(rnd)
        stem = shortest_stem(case)
        assert explore(machine_of(case)).violated.get("claim") == stem, case
        violated += stem is not None
    assert 100 < violated < 300


def test_the_explorer_against_all_sets_of_states() -> None:
    rnd = random.Random(8)
    stems: Counter[int | None] = Counter()
    for _ in range(60):
        case = random_case(rnd)
        _, found = check_liveness(machine_of(case))
        trace = found["claim"].trace
        stem = None if trace is None else trace.loop_start
        assert stem == shortest_stem(case), case
        stems[stem] += 1
    assert len(stems) >= 4


# ---- the judge of lassos refuses


def test_wrong_lassos_are_refused() -> None:
    """Of a lasso that is right, every other place of the loop's start, every shorter run, is refused or right too: then
    it is a loop and fair by the sets of states above."""
    rnd = random.Random(9)
    reasons: Counter[str] = Counter()
    for _ in range(40):
        case = random_case(rnd)
        machine = machine_of(case)
        semantics, (p,) = Semantics(machine), machine.properties
        _, found = check_liveness(machine)
        trace = found["claim"].trace
        if trace is None:
            continue
        for length in range(len(trace) + 1):
            for start in (None, *range(length + 1)):
                changed = Trace(trace.initial, trace.steps[:length], start)
                problem = refutes(semantics, p, changed)
                if problem is None:
                    assert start is not None
                    states = [int(s["x"]) for s in (trace.initial, *(step.state for step in changed.steps))]
                    assert not set(states[start:]) & case.goal
                    assert states[start] == states[-1]
                reasons[str(problem).split(":")[0]] += 1
    assert reasons["the loop is not fair"] > 5
    assert reasons["the loop does not close"] > 5
    assert reasons["the trace has no loop"] > 5
    assert reasons["None"] > 10

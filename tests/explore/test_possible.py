"""``possible`` against networkx on random graphs, and on graphs that are worst for the order of marking."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.explore import explore
from model.language import Expr, Machine, Scalar, among, choose, ite, require
from model.verdict import Outcome

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


def graph_machine(size: int, edges: dict[int, list[int]], goals: list[list[int]]) -> Machine:
    """A state per node and an action per number of edge of a node."""
    m = Machine("graph")
    x = m.scalar("x", range(size), init=0)
    for k in range(max(map(len, edges.values()), default=0) or 1):

        def follow(k: int = k) -> Expr:
            target: Expr | int = 0
            for node, to in edges.items():
                if len(to) > k:
                    target = ite(x == node, to[k], target)
            return ite(x >= 0, target, 0)

        def step() -> None:
            require(among(x, -1, *(node for node, to in edges.items() if len(to) > k)))
            x.next = follow()

        step.__name__ = f"step{k}"
        m.action(step)
    for number, goal in enumerate(goals):

        def possible() -> Expr:
            return among(x, -1, *goal)

        possible.__name__ = f"goal{number}"
        m.possible(possible)

    @m.terminal
    def anywhere() -> Expr:
        return x >= 0

    return m


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, dict[int, list[int]], list[list[int]]]:
    size = draw(st.integers(1, 14))
    node = st.integers(0, size - 1)
    edges = {n: draw(st.lists(node, max_size=3)) for n in range(size)}
    return size, edges, draw(st.lists(st.lists(node, max_size=3), min_size=1, max_size=3))


@given(graphs())
@settings(max_examples=60)
def test_against_networkx(case: tuple[int, dict[int, list[int]], list[list[int]]]) -> None:
    size, edges, goals = case
    graph = nx.DiGraph([(a, b) for a, to in edges.items() for b in to])
    graph.add_nodes_from(range(size))
    distance = nx.single_source_shortest_path_length(graph, 0)
    verdict = explore(graph_machine(size, edges, goals))
    assert verdict.coverage.distinct_states == len(distance)
    for number, goal in enumerate(goals):
        stuck = [d for n, d in distance.items() if not ({n} | nx.descendants(graph, n)) & set(goal)]
        found = verdict[f"goal{number}"]
        assert found.outcome is (Outcome.VIOLATED if stuck else Outcome.HOLDS)
        if stuck:
            assert found.trace is not None
            assert len(found.trace) == min(stuck)
            assert found.trace.last["x"] not in goal


def ladder(size: int, broken: int | None = None) -> tuple[Machine, Scalar]:
    """From 0 to any number in a step; from there down by one, to 1, from which 0 is reached. A step may be missing."""
    m = Machine("ladder")
    x = m.scalar("x", range(size), init=0)

    @m.action
    def jump() -> None:
        require(x == 0)
        x.next = choose(range(1, size))

    @m.action
    def down() -> None:
        require(x > 0, x != (size if broken is None else broken))
        x.next -= 1

    @m.terminal
    def anywhere() -> Expr:
        return x >= 0

    return m, x


@pytest.mark.parametrize(("size", "broken"), [(3000, None), (3000, 1500), (3000, 1), (40, 39)])
def test_long_ways_back(size: int, broken: int | None) -> None:
    """All states but one are found in one level, in an order that is not that of the ways back."""
    machine, x = ladder(size, broken)

    @machine.possible
    def home() -> Expr:
        return x == 0

    @machine.possible
    def one() -> Expr:
        return x == 1

    @machine.possible
    def nowhere() -> Expr:
        return x < 0

    verdict = explore(machine)
    assert verdict.coverage.distinct_states == size
    if broken is None:
        assert (verdict["home"].outcome, verdict["one"].outcome) == (Outcome.HOLDS, Outcome.HOLDS)
        assert verdict["home"].how == f"from all {size:,} states"
    else:
        stuck = verdict["home"].trace
        assert verdict["home"].outcome is Outcome.VIOLATED
        assert stuck is not None
        assert len(stuck) == 1
        assert int(stuck.last["x"]) >= broken
    nowhere_at = verdict["nowhere"].trace
    assert verdict["nowhere"].outcome is Outcome.VIOLATED
    assert nowhere_at is not None
    assert len(nowhere_at) == 0

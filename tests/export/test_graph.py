"""State graphs against the interpreter: all states and steps, and what merging makes of them."""

from __future__ import annotations

import enum
import re
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model import semantics
from model.errors import GraphTooLarge, QueryError
from model.explore import Exploration
from model.export.columns import Columns
from model.export.document import document
from model.export.graph import Merged, life_cycles, merged_graphs, state_graph, without_repeats
from model.export.pictures import dot, mermaid
from model.language import Machine, PropertyKind, Sort, require
from model.query import member, read_queries, read_query
from model.semantics import Fault, Semantics
from model.strategies import machines
from model.trace import named_state
from specs.gang import gang
from specs.gang.machine import App
from specs.loading import load_spec

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
Call = tuple[tuple[int, ...], str, tuple[int, ...]]


def steps_of(machine: Machine) -> tuple[semantics.Explored, list[Call]]:
    """All states as the interpreter finds them, and all sound steps as source, call and target."""
    explored, s = semantics.explore(machine), Semantics(machine)
    found: list[Call] = []
    for state in explored.distance:
        for i in s.instances:
            if s.is_enabled(i, state) and not isinstance(new := s.fire(i, state), Fault):
                call = f"{i.action.name}({', '.join(v for _, v in s.arguments(i))})"
                found.append((state, call, new))
    return explored, found


def check_whole(machine: Machine) -> nx.MultiDiGraph:
    explored, steps = steps_of(machine)
    graph = state_graph(machine)
    raw: dict[int, tuple[int, ...]] = dict(graph.nodes(data="raw"))
    assert {raw[n]: d for n, d in graph.nodes(data="distance")} == explored.distance
    assert sorted((raw[u], k, raw[v]) for u, v, k in graph.edges(keys=True)) == sorted(steps)
    assert list(graph) == list(range(len(explored.distance)))
    assert [d for _, d in graph.nodes(data="distance")] == sorted(explored.distance.values())
    s = Semantics(machine)
    for _, data in graph.nodes(data=True):
        assert data["state"] == named_state(machine, data["raw"])
        assert data["end"] == (not any(s.is_enabled(i, data["raw"]) for i in s.instances))
        assert data["terminal"] == s.is_terminal(data["raw"])
        assert data["initial"] == (data["distance"] == 0)
    return graph


@pytest.mark.parametrize("parameters", [{}, {"apps": 3, "size": 1}])
def test_all_states_and_steps_of_gang(parameters: dict[str, int]) -> None:
    machine = gang(**parameters)
    graph = check_whole(machine)
    coverage = Exploration(machine).verdict.coverage
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (coverage.distinct_states, coverage.transitions)
    assert nx.is_directed_acyclic_graph(graph)
    assert nx.dag_longest_path_length(graph) == coverage.depth
    assert {k for _, _, k in graph.out_edges(0, keys=True)} == {f"submit({a})" for a in machine.sorts[App].names}


@settings(max_examples=25, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(machines(200))
def test_all_states_and_steps_of_random_machines(machine: Machine) -> None:
    check_whole(machine)


def check_merged(machine: Machine, texts: list[str]) -> Merged:
    explored, steps = steps_of(machine)
    queries = [read_query(machine, t) for t in texts]
    s = Semantics(machine)

    def merged(state: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple(member(machine, q, s.evaluate(q.expr, state, dict(q.elements))) for q in queries)

    (graph,) = merged_graphs(machine, [queries])
    values = [n.values for n in graph.nodes]
    assert len(values) == len(set(values))
    for node in graph.nodes:
        inside = [x for x in explored.distance if merged(x) == node.values]
        assert node.states == len(inside)
        assert node.initial == any(explored.distance[x] == 0 for x in inside)
        able = {source for source, _, _ in steps}
        assert node.end == any(x not in able for x in inside)
    expected = {(merged(a), call.partition("(")[0], merged(b)) for a, call, b in steps}
    assert {(values[e.source], name, values[e.target]) for e in graph.edges for name in e.actions} == expected
    assert len({(e.source, e.target) for e in graph.edges}) == len(graph.edges)
    assert (graph.states, graph.steps) == (len(explored.distance), len(steps))
    return graph


@settings(max_examples=25, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(machines(200), st.data())
def test_merged_graphs_of_random_machines(machine: Machine, data: st.DataObject) -> None:
    cells = [machine.show_cell(c) for c in machine.cells()]
    check_merged(machine, data.draw(st.lists(st.sampled_from(cells), min_size=1, max_size=3, unique=True)))


def test_a_merged_graph_of_gang() -> None:
    graph = check_merged(gang(), ["state[app1]", "sum(placeholders[app1, n] for n in Node) >= 2"])
    assert graph.nodes[0].values == ("NEW", False)
    assert graph.nodes[0].initial


@settings(max_examples=25, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(machines(200))
def test_columns_mean_what_the_interpreter_says(machine: Machine) -> None:
    states = Exploration(machine).states
    s, columns = Semantics(machine), Columns(machine)
    for p in machine.properties:
        if p.kind in (PropertyKind.ALWAYS, PropertyKind.SOMETIMES, PropertyKind.POSSIBLE):
            one_by_one = [s.evaluate(p.condition, tuple(x), {}) for x in states.tolist()]
            assert np.array_equal(columns.value(p.condition, states, {}), one_by_one)
    for i in s.instances[:20]:
        for g in i.action.guards:
            one_by_one = [s.evaluate(g.condition, tuple(x), i.environment()) for x in states.tolist()]
            assert np.array_equal(columns.value(g.condition, states, i.environment()), one_by_one)


def life_cycle(graph: Merged) -> dict[tuple[str, str], set[str]]:
    names = [str(n.values[0]) for n in graph.nodes]
    return {(names[e.source], names[e.target]): set(e.actions) for e in graph.edges if e.source != e.target}


def test_the_life_cycle_of_yunikorn_is_that_of_its_design() -> None:
    machine = load_spec("yunikorn", ["edition=seed"])
    graphs = without_repeats(merged_graphs(machine, life_cycles(machine)))
    assert [g.title for g in graphs] == ["state[app1]; state[app2]"]
    assert life_cycle(graphs[0]) == {
        ("NEW", "ACCEPTED"): {"submit"},
        ("ACCEPTED", "RUNNING"): {"confirm_on_same_node", "confirm_on_other_node", "allocate_real"},
        ("ACCEPTED", "KILLED"): {"confirm_release"},
        ("RUNNING", "WAITING"): {"finish_pod"},
        ("WAITING", "RUNNING"): {"replace", "ask_late"},
        ("WAITING", "COMPLETED"): {"complete"},
    }
    assert {n.values[0] for n in graphs[0].nodes if n.initial} == {"NEW"}
    assert {n.values[0] for n in graphs[0].nodes if n.end} == {"KILLED", "COMPLETED"}


def test_one_entity_of_a_symmetric_sort_and_each_of_another() -> None:
    assert [q.text for p in life_cycles(gang()) for q in p] == ["state[app1]"]
    machine = load_spec("autoscaled_gang", [])
    graphs = without_repeats(merged_graphs(machine, life_cycles(machine)))
    assert len(graphs) == 2
    assert ("RAY_RUNNING", "RAY_STOP_REQUESTED") in life_cycle(graphs[1])


class Job(Sort):
    """A job."""


def counter(names: tuple[str, ...] = ("a",)) -> Machine:
    m = Machine("counter")
    m.sort(Job, names=names)
    x = m.variable("x", Job, range(1000), init=0)

    @m.action
    def count(j: Job) -> None:
        require(x[j] < 999)
        x[j] += 1

    return m


def test_what_is_too_large_is_refused_in_words() -> None:
    with pytest.raises(GraphTooLarge, match="more than 5 states: state budget of 5 ran out; take smaller"):
        state_graph(counter(), max_states=5)
    with pytest.raises(GraphTooLarge, match=r"merged by x\[a\] the graph has more than 400 nodes"):
        merged_graphs(counter(), [read_queries(counter(), "x[a]")])
    with pytest.raises(QueryError, match="no enum-valued variable"):
        life_cycles(counter())
    (graph,) = merged_graphs(counter(), [read_queries(counter(), "x[a] // 500")])
    assert [n.states for n in graph.nodes] == [500, 500]


SHAPES = (
    r'\w+=("[^"]*"|\w+);',
    r"(node|edge) \[.*\];",
    r"subgraph cluster_\d \{",
    r"\}",
    r'\w+( -> \w+)?( \[(\w+=("[^"]*"|\w+)(, )?)+\])?;',
)


def test_dot() -> None:
    machine = load_spec("autoscaled_gang", [])
    graphs = without_repeats(merged_graphs(machine, life_cycles(machine)))
    text = dot(machine.name, graphs)
    lines = text.splitlines()
    assert lines[0] == 'digraph "autoscaled_gang" {'
    for line in lines[1:-1]:
        assert any(re.fullmatch(shape, line.strip()) for shape in SHAPES), line
    assert text.count("{") == text.count("}") == 3
    assert text.count("peripheries=2") == sum(n.end for g in graphs for n in g.nodes)
    assert text.count("-> g") == sum(e.source != e.target for g in graphs for e in g.edges) + 2
    assert dot(machine.name, graphs, loops=True).count("-> g") == sum(len(g.edges) for g in graphs) + 2


def test_mermaid_with_names_that_are_syntax() -> None:
    machine = counter(('a "quoted"; #1',))
    queries = [read_queries(machine, "x['a \"quoted\"; #1'] // 500, x['a \"quoted\"; #1'] // 250")]
    lines = mermaid(merged_graphs(machine, queries)).splitlines()
    assert lines[3:5] == ["stateDiagram-v2", "  direction LR"]
    states = [line for line in lines if line.startswith("  state ")]
    assert len(states) == 4
    for line in states:
        assert re.fullmatch(r'  state "[^"]*" as g0n\d', line)
        assert not re.search(r"[;#]", re.sub(r"#\d+;", "", line))
    assert "  [*] --> g0n0" in lines
    assert "  g0n3 --> [*]" in lines
    assert "  g0n0 --> g0n1 : count" in lines


class Mood(enum.Enum):
    IDLE = 0
    BUSY = 1


def test_a_symmetric_sort_that_a_constant_splits_has_a_picture_of_each_kind() -> None:
    m = Machine("kinds")
    m.sort(Job, 3, symmetric=True)
    rank = m.constant("rank", Job, [1, 0, 1])
    phase = m.variable("phase", Job, Mood, init=Mood.IDLE)

    @m.action
    def begin(a: Job) -> None:
        require(phase[a] == Mood.IDLE, rank[a] == 0)
        phase[a] = Mood.BUSY

    assert [[q.text for q in each] for each in life_cycles(m)] == [["phase[job1]"], ["phase[job2]"]]


def test_a_page_of_markdown() -> None:
    machine = gang(apps=1, size=1, nodes=1)
    page = document(machine, "gang apps=1", "A gang.", merged_graphs(machine, life_cycles(machine)))
    head, _, rest = page.partition("\n## state[app1]\n")
    assert head == "# gang apps=1\n\nA gang. Explored: 5 states, 4 steps.\n"
    assert "```mermaid\nstateDiagram-v2\n" in rest
    assert "| from | to | by |\n| --- | --- | --- |\n| NEW | PENDING | submit |\n" in rest
    assert "| `quota_never_exceeded` | always |" in rest

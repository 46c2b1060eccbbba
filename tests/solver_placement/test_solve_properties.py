"""The solver against enumeration, against any greedy, and against what must not matter."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from brute_force import best
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.cluster import Assignment, Cluster, Node, Placement
from reference.strategies import clusters, nodes
from reference.validate import validate
from solver_placement import METHODS, Status, solve
from solver_placement.columns import Columns, Master
from solver_placement.engine import Effort
from solver_placement.exact import Found, two_phases
from solver_placement.model_cpsat import Formulation, NodeModel
from solver_placement.model_patterns import PatternModel, all_patterns
from solver_placement.problem import Problem
from solver_placement.reduction import reduce_cluster

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

EXACT = ["auto", "patterns", "nodes"]
INEXACT = sorted(set(METHODS) - set(EXACT))


def twins(cluster: Cluster) -> Cluster:
    """Every node and every gang twice: what is alike is then counted, and counts are above 1."""
    pods = tuple(replace(p, name=f"{p.name}{t}", node=f"{p.node}{t}") for p in cluster.running for t in "xy")
    return replace(
        cluster,
        nodes=tuple(replace(n, name=f"{n.name}{twin}") for n in cluster.nodes for twin in "xy"),
        applications=tuple(replace(a, name=f"{a.name}{twin}") for a in cluster.applications for twin in "xy"),
        running=pods,
    )


alike = clusters(max_nodes=2, max_apps=2, max_groups=1, max_members=3).map(twins)
tiny = clusters(max_nodes=3, max_apps=4, max_groups=2, max_members=3) | alike


@pytest.mark.parametrize("method", EXACT)
@settings(max_examples=40)
@given(cluster=tiny)
def test_the_optimum_is_the_one_of_enumeration(method: str, cluster: Cluster) -> None:
    answer = solve(cluster, method=method)
    assert validate(cluster, answer.placement) == []
    assert answer.status is Status.OPTIMAL
    assert (answer.objective.weight, answer.objective.nodes) == best(cluster)
    assert (answer.bound, answer.nodes_bound) == (answer.objective.weight, answer.objective.nodes)
    assert answer.gap == 0


@pytest.mark.parametrize("model", [NodeModel, lambda problem: PatternModel(problem, all_patterns(problem) or [])])
@settings(max_examples=40)
@given(cluster=tiny)
def test_each_model_finds_the_optimum_from_nothing(model: Callable[[Problem], Formulation], cluster: Cluster) -> None:
    problem = reduce_cluster(cluster)
    most = sum(gang.weight * gang.count for gang in problem.gangs)
    effort = Effort(time.monotonic() + 60, workers=1)
    found = two_phases(problem, model(problem), Found(problem.empty(), most, 0), effort)
    problem.check(found.packing)
    assert (problem.weight(found.packing), found.packing.nodes_used()) == best(cluster)
    assert (found.bound, found.nodes_bound) == best(cluster)


@pytest.mark.parametrize("method", INEXACT)
@settings(max_examples=40)
@given(cluster=tiny)
def test_bounds_bracket_the_optimum_even_without_proof(method: str, cluster: Cluster) -> None:
    answer = solve(cluster, method=method, time_limit=1.0)
    weight, used = best(cluster)
    assert validate(cluster, answer.placement) == []
    assert answer.objective.weight <= weight <= answer.bound
    if answer.objective.weight == weight:
        assert answer.nodes_bound <= used <= answer.objective.nodes


@settings(max_examples=40)
@given(cluster=tiny)
def test_column_generation_bounds_both_phases(cluster: Cluster) -> None:
    problem = reduce_cluster(cluster)
    weight, used = best(cluster)
    effort = Effort(time.monotonic() + 60, workers=1)
    if not problem.gangs:
        assert (weight, used) == (0, 0)
        return
    columns = Columns(problem)
    upper = Master(columns, None).generate(effort)
    assert upper is not None
    assert weight <= upper
    lower = Master(columns, weight).generate(effort)
    assert lower is not None
    assert lower <= used


@settings(max_examples=40)
@given(cluster=clusters(max_nodes=4, max_apps=6), data=st.data())
def test_no_greedy_beats_the_optimum(cluster: Cluster, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(cluster.applications))))
    placement = first_fit(cluster, order)
    assert validate(cluster, placement) == []
    answer = solve(cluster)
    assert answer.status is Status.OPTIMAL
    weight = sum(app.weight for app in cluster.applications if app.name in placement.admitted)
    assert (weight, -placement.nodes_used()) <= (answer.objective.weight, -answer.objective.nodes)


def first_fit(cluster: Cluster, order: list[int]) -> Placement:
    """Gangs in ``order``, pods one by one on the first node that takes them, judged by ``validate`` alone."""
    placed: dict[tuple[str, str, str], int] = {}
    admitted: list[str] = []

    def as_placement(counts: dict[tuple[str, str, str], int], names: list[str]) -> Placement:
        waiting = sorted({a.name for a in cluster.applications} - set(names))
        assignments = tuple(Assignment(*key, n) for key, n in sorted(counts.items()))
        return Placement(assignments, tuple(sorted(names)), dict.fromkeys(waiting, "waits"))

    def hard_faults(counts: dict[tuple[str, str, str], int], names: list[str]) -> bool:
        faults = validate(cluster, as_placement(counts, names))
        return any(fault.rule.name != "PARTIAL_GANG" for fault in faults)

    for i in order:
        app = cluster.applications[i]
        trial, whole = dict(placed), True
        for group in app.task_groups:
            for _ in range(group.min_member):
                for node in cluster.nodes:
                    key = (app.name, group.name, node.name)
                    if not hard_faults({**trial, key: trial.get(key, 0) + 1}, [*admitted, app.name]):
                        trial[key] = trial.get(key, 0) + 1
                        break
                else:
                    whole = False
        if whole and not hard_faults(trial, [*admitted, app.name]):
            placed, admitted = trial, [*admitted, app.name]
    return as_placement(placed, admitted)


@settings(max_examples=30)
@given(cluster=clusters(max_nodes=4, max_apps=5), data=st.data())
def test_names_and_order_do_not_matter(cluster: Cluster, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(cluster.nodes))
    names = {node.name: f"m{i}" for i, node in enumerate(shuffled)}
    other = replace(
        cluster,
        nodes=tuple(replace(node, name=names[node.name]) for node in shuffled),
        applications=tuple(data.draw(st.permutations(cluster.applications))),
        running=tuple(replace(pod, node=names[pod.node]) for pod in cluster.running),
    )
    assert solve(cluster).objective == solve(other).objective


@settings(max_examples=30)
@given(cluster=clusters(max_nodes=3, max_apps=5), extra=nodes("extra"))
def test_a_node_more_never_lowers_the_weight(cluster: Cluster, extra: Node) -> None:
    more = replace(cluster, nodes=(*cluster.nodes, extra))
    assert solve(more).objective.weight >= solve(cluster).objective.weight


@settings(max_examples=30)
@given(cluster=clusters(max_nodes=4, max_apps=5))
def test_the_same_input_gives_the_same_placement(cluster: Cluster) -> None:
    assert solve(cluster).placement == solve(cluster).placement


@settings(max_examples=40)
@given(cluster=tiny)
def test_hopeless_gangs_are_hopeless_alone(cluster: Cluster) -> None:
    problem = reduce_cluster(cluster)
    for app in cluster.applications:
        if app.name in problem.hopeless:
            assert best(replace(cluster, applications=(app,))) == (0, 0), problem.hopeless[app.name]


@settings(max_examples=40)
@given(cluster=tiny)
def test_what_is_left_out_does_not_fit_beside_the_admitted(cluster: Cluster) -> None:
    answer = solve(cluster)
    admitted = [a for a in cluster.applications if a.name in answer.placement.admitted]
    for app in cluster.applications:
        if app.name in answer.placement.pending:
            together = replace(cluster, applications=(*admitted, app))
            assert best(together)[0] < sum(a.weight for a in together.applications)

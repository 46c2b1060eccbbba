"""What gangs and nodes can say beyond plain gangs, against every placement that the judge accepts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from reference.cluster import (
    Application,
    Assignment,
    Cluster,
    Node,
    Placement,
    Queue,
    QueueTree,
    Resources,
    TaskGroup,
    TopologyConstraint,
)
from reference.cluster.features import Feature, features
from reference.strategies_rich import rich_clusters
from reference.validate import validate
from solver_placement import Status, solve
from solver_placement.arrange import arrange
from solver_placement.problem import ProblemTooLarge
from solver_placement.reduction import reduce_cluster
from solver_placement.solve import KNOWS

pytestmark = pytest.mark.no_cover

RULES = sorted(KNOWS & {f for f in Feature if f is not Feature.NODE_TYPES}, key=lambda f: f.name)


def placements(app: Application, nodes: tuple[Node, ...]) -> Iterator[tuple[Assignment, ...]]:
    """Every way to put up to ``most`` pods of each group on the nodes."""
    cells = [(group, node) for group in app.task_groups for node in nodes]
    for counts in itertools.product(*(range(group.most + 1) for group, _ in cells)):
        per_group = dict.fromkeys((g.name for g in app.task_groups), 0)
        for (group, _), n in zip(cells, counts, strict=True):
            per_group[group.name] += n
        if all(per_group[g.name] <= g.most for g in app.task_groups):
            chosen = (Assignment(app.name, g.name, n.name, k) for (g, n), k in zip(cells, counts, strict=True) if k)
            yield tuple(sorted(chosen))


def best_weight(cluster: Cluster) -> int:
    """The most weight of any placement that ``validate`` accepts; states that hold the same are looked at once."""
    groups = {(a.name, g.name): g.pod_resource for a in cluster.applications for g in a.task_groups}

    def good(assignments: tuple[Assignment, ...], admitted: tuple[str, ...]) -> bool:
        waiting = sorted({a.name for a in cluster.applications} - set(admitted))
        ordered = tuple(sorted(assignments))
        return not validate(cluster, Placement(ordered, tuple(sorted(admitted)), dict.fromkeys(waiting, "waits")))

    def held(assignments: tuple[Assignment, ...]) -> tuple[object, ...]:
        queue_of = {a.name: a.queue for a in cluster.applications}
        asks = [(groups[a.application, a.task_group], a) for a in assignments]
        return tuple(sorted((a.node, queue_of[a.application], tuple(r.items()), a.count) for r, a in asks))

    states: dict[object, tuple[tuple[Assignment, ...], tuple[str, ...]]] = {(): ((), ())}
    for app in cluster.applications:
        alone = [chosen for chosen in placements(app, cluster.nodes) if good(chosen, (app.name,))]
        after = dict(states)
        for assignments, admitted in states.values():
            for chosen in alone:
                both, names = assignments + chosen, (*admitted, app.name)
                key = (held(both), sum(a.weight for a in cluster.applications if a.name in names), len(names))
                if key not in after and good(both, names):
                    after[key] = (both, names)
        states = after
    return max(sum(a.weight for a in cluster.applications if a.name in names) for _, names in states.values())


def small(cluster: Cluster) -> bool:
    cells = [g.most + 1 for a in cluster.applications for g in a.task_groups for _ in cluster.nodes]
    largest = 1
    for app in cluster.applications:
        ways = 1
        for group in app.task_groups:
            ways *= (group.most + 1) ** len(cluster.nodes)
        largest = max(largest, ways)
    return largest <= 250 and len(cells) <= 12


@pytest.mark.parametrize("feature", RULES, ids=lambda f: f.name)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_each_rule_gives_the_optimum_of_enumeration(feature: Feature, data: st.DataObject) -> None:
    agrees(data.draw(rich_clusters(frozenset({feature}), max_nodes=2, max_apps=2).filter(small)))


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(cluster=rich_clusters(frozenset(RULES), max_nodes=3, max_apps=3).filter(small))
def test_all_rules_together_give_the_optimum_of_enumeration(cluster: Cluster) -> None:
    agrees(cluster)


def agrees(cluster: Cluster) -> None:
    for feature in features(cluster):
        event(feature.name)
    answer = solve(cluster)
    assert validate(cluster, answer.placement) == []
    assert answer.status is Status.OPTIMAL
    assert answer.objective.weight == answer.bound == best_weight(cluster)
    # its own answer is a start that it can read
    problem = reduce_cluster(cluster)
    assert problem.weight(problem.pack(answer.placement)) == answer.objective.weight
    for method in ("nodes", "search"):
        other = solve(cluster, method=method, time_limit=5)
        assert validate(cluster, other.placement) == []
        assert other.objective.weight <= answer.bound <= other.bound


def gpus(count: int) -> Node:
    return Node(f"n{count}", Resources({"gpu": count * 1000, "vcore": 100}), devices=("gpu",))


def sharing(name: str, count: int, share: int, weight: int = 1) -> Application:
    return Application(name, "root", (TaskGroup("g", count, Resources({"gpu": share, "vcore": 1})),), weight=weight)


@pytest.mark.parametrize("method", ["auto", "nodes", "patterns", "search"])
@pytest.mark.parametrize(
    ("shares", "fits"),
    [((600, 600, 600), 2), ((600, 600, 400), 3), ((300, 700, 500), 3), ((700, 700, 400), 2), ((1000, 500, 500), 3)],
)
def test_shares_of_two_devices_do_not_add_up(shares: tuple[int, ...], fits: int, method: str) -> None:
    apps = tuple(sharing(f"a{i}", 1, share) for i, share in enumerate(shares))
    cluster = Cluster((gpus(2),), QueueTree(Queue("root")), apps)
    answer = solve(cluster, method=method)
    assert validate(cluster, answer.placement) == []
    assert (answer.objective.weight, answer.bound) == (fits, fits)


@given(st.lists(st.integers(1, 10), max_size=6), st.integers(0, 3))
def test_an_arrangement_is_found_if_there_is_one(shares: list[int], devices: int) -> None:
    ways = itertools.product(range(devices), repeat=len(shares))
    possible = any(
        all(sum(s for s, at in zip(shares, way, strict=True) if at == d) <= 10 for d in range(devices)) for way in ways
    )
    found = arrange(shares, devices, 10)
    assert (found is not None) == possible
    if found is not None:
        assert all(sum(s for s, at in zip(shares, found, strict=True) if at == d) <= 10 for d in range(devices))


def test_a_gang_in_one_rack_may_need_a_smaller_rival() -> None:
    nodes = tuple(Node(f"n{i}", Resources(vcore=4), {"rack": str(i // 2)}) for i in range(4))
    near = (TopologyConstraint(("rack",)),)
    big = Application("big", "root", (TaskGroup("g", 2, Resources(vcore=4)),), weight=5, topology=near)
    loose = tuple(
        Application(f"loose{i}", "root", (TaskGroup("g", 1, Resources(vcore=4)),), weight=2) for i in range(3)
    )
    cluster = Cluster(nodes, QueueTree(Queue("root")), (big, *loose))
    answer = solve(cluster)
    assert validate(cluster, answer.placement) == []
    assert (answer.objective.weight, answer.bound) == (9, 9)


def test_amounts_beyond_the_solver_are_refused_with_the_gang_that_asks_most() -> None:
    groups = (TaskGroup("g", 10**9, Resources(memory=2**40 + 1)),)
    apps = (
        Application("modest", "root", (TaskGroup("g", 1, Resources(memory=7)),)),
        Application("vast", "root", groups),
    )
    cluster = Cluster((Node("n", Resources(memory=2**90)),), QueueTree(Queue("root")), apps)
    with pytest.raises(ProblemTooLarge, match="of memory in all, application 'vast' the most"):
        solve(cluster)


def test_what_no_domain_holds_is_said() -> None:
    nodes = tuple(Node(f"n{i}", Resources(vcore=4), {"rack": str(i)}) for i in range(3))
    near = (TopologyConstraint(("rack",)),)
    app = Application("wide", "root", (TaskGroup("g", 2, Resources(vcore=3)),), topology=near)
    answer = solve(Cluster(nodes, QueueTree(Queue("root")), (app,)))
    reason = "no domain of rack has room for the pods that have to be in one together"
    assert (answer.bound, dict(answer.placement.pending)) == (0, {"wide": reason})


def test_too_many_ways_to_be_whole_are_refused() -> None:
    groups = tuple(TaskGroup(f"g{i}", 0, Resources(vcore=i + 1), size=9) for i in range(9))
    app = Application("free", "root", groups, min_members=40)
    cluster = Cluster((Node("n", Resources(vcore=400)),), QueueTree(Queue("root")), (app,))
    with pytest.raises(ProblemTooLarge, match="application 'free' can be whole in more than 20000 ways"):
        solve(cluster)

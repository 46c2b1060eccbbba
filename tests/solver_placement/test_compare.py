"""Greedy versus optimal, and the witness: judged anew, and nothing in it can be taken away."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from brute_force import best
from hypothesis import HealthCheck, assume, given, settings

from reference.cluster import (
    Application,
    Assignment,
    Cluster,
    Node,
    Placement,
    Queue,
    QueueTree,
    Resources,
    RunningPod,
    TaskGroup,
)
from reference.schedulers import schedule
from reference.strategies import clusters
from reference.validate import validate
from solver_placement import Solution, compare, solve
from solver_placement.problem import Unsound
from solver_placement.shrink import passes, without_idle_queues
from solver_placement.witness import Search, find_witness, weight_of


def yunikorn(cluster: Cluster) -> Placement:
    return schedule(cluster, policy="yunikorn").placement


def crowded() -> Cluster:
    """Small gangs come first and leave no node whole for the heavy one; much around it that does not matter."""
    nodes = tuple(Node(f"n{i}", Resources(vcore=4, memory=8), {"zone": "a"}) for i in range(5))
    leaves = (
        Queue("root.a", maximum=Resources(vcore=100), max_applications=50),
        Queue("root.b", maximum=Resources(memory=100)),
        Queue("root.idle"),
    )
    tree = QueueTree(Queue("root", maximum=Resources(vcore=90), children=leaves))
    small = [Application(f"small{i}", "root.a", (TaskGroup("g", 3, Resources(vcore=1)),), i) for i in range(6)]
    heavy = Application("heavy", "root.b", (TaskGroup("workers", 4, Resources(vcore=4, memory=1)),), 9, weight=50)
    running = (RunningPod("r0", "n4", "root.a", Resources(vcore=1, pods=1)),)
    return Cluster(nodes, tree, (*small, heavy), running)


def test_the_comparison_tells_what_each_policy_leaves() -> None:
    cluster = crowded()
    nothing = Placement((), (), {a.name: "no" for a in sorted(cluster.applications, key=lambda a: a.name)})
    found = compare(cluster, {"yunikorn": yunikorn, "idle": lambda _: nothing}, time_limit=20)
    assert not found.refused
    assert found.solution.objective.weight == found.solution.bound == 51
    greedy, idle = found.policies
    assert (greedy.name, idle.name) == ("yunikorn", "idle")
    assert greedy.objective.weight == weight_of(cluster, greedy.placement) < 51
    assert greedy.gap * 51 == 51 - greedy.objective.weight
    assert (idle.gap, idle.admitted_gangs) == (1, 0)


def test_the_witness_is_small_and_stands_alone() -> None:
    cluster = crowded()
    witness = compare(cluster, {"yunikorn": yunikorn}, time_limit=30).witness
    assert witness is not None
    assert witness.minimal
    assert len(witness.cluster.applications) == 2
    assert len(witness.cluster.nodes) == 1
    assert witness.cluster.running == ()
    assert all(not q.maximum and q.max_applications is None for q in witness.cluster.queues)
    assert witness.cluster.problems() == []
    assert validate(witness.cluster, witness.placement) == []
    assert validate(witness.cluster, witness.solution.placement) == []
    assert weight_of(witness.cluster, yunikorn(witness.cluster)) == witness.weight < best(witness.cluster)[0]
    assert "yunikorn admits small" in witness.sentence
    assert "(weight 50)" in witness.sentence


@settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much])
@given(cluster=clusters(max_nodes=3, max_apps=4))
def test_a_minimal_witness_is_minimal(cluster: Cluster) -> None:
    assume(weight_of(cluster, yunikorn(cluster)) < best(cluster)[0])
    witness = find_witness(cluster, Search("yunikorn", yunikorn, 60.0), proven=True, cost=0.0)
    assert witness is not None
    assert witness.minimal
    small = witness.cluster
    assert witness.weight < witness.solution.objective.weight == best(small)[0]

    def falls_short(part: Cluster) -> bool:
        return weight_of(part, yunikorn(part)) < best(part)[0]

    assert falls_short(small)
    for app in small.applications:
        assert not falls_short(replace(small, applications=tuple(a for a in small.applications if a is not app)))
    for node in small.nodes:
        rest = tuple(n for n in small.nodes if n is not node)
        running = tuple(p for p in small.running if p.node != node.name)
        assert not falls_short(replace(small, nodes=rest, running=running))
    for pod in small.running:
        assert not falls_short(replace(small, running=tuple(p for p in small.running if p is not pod)))


@settings(max_examples=40)
@given(cluster=clusters(max_nodes=4, max_apps=4))
def test_shrinking_without_a_reason_to_keep_anything_ends_at_nothing(cluster: Cluster) -> None:
    for shrink in passes():
        cluster = shrink(cluster, lambda part: part.problems() == [])
    assert cluster.problems() == []
    assert (cluster.nodes, cluster.applications, cluster.running) == ((), (), ())
    assert all(not q.maximum and not q.guaranteed and q.max_applications is None for q in cluster.queues)
    assert [q.name for q in cluster.queues] == ["root"]


@settings(max_examples=40)
@given(cluster=clusters(max_nodes=4, max_apps=4))
def test_a_judge_that_refuses_all_leaves_the_cluster_alone(cluster: Cluster) -> None:
    for shrink in passes():
        assert shrink(cluster, lambda _: False) is cluster


@settings(max_examples=40)
@given(cluster=clusters(max_nodes=2, max_apps=2))
def test_idle_queues_go_and_busy_ones_stay(cluster: Cluster) -> None:
    pruned = without_idle_queues(cluster)
    assert pruned.problems() == []
    busy = {a.queue for a in cluster.applications} | {p.queue for p in cluster.running}
    assert {q.name for q in pruned.queues.leaves()} <= busy
    assert {q.name for q in pruned.queues} <= {q.name for q in cluster.queues}


def test_a_refused_placement_is_reported_and_never_compared() -> None:
    cluster = crowded()

    def cheat(_: Cluster) -> Placement:
        rest = {a.name: "no" for a in sorted(cluster.applications, key=lambda a: a.name) if a.name != "heavy"}
        return Placement((Assignment("heavy", "workers", "n0", 1),), ("heavy",), rest)

    found = compare(cluster, {"cheat": cheat}, time_limit=10)
    assert found.refused
    assert any("heavy/workers" in line for line in found.policies[0].refusals)
    assert found.witness is None


def test_no_witness_where_greedy_is_optimal() -> None:
    cluster = replace(crowded(), applications=crowded().applications[:2])
    found = compare(cluster, {"yunikorn": yunikorn}, time_limit=10)
    assert found.witness is None
    assert found.witness_note == "every policy reaches the optimum"
    assert found.policies[0].gap == 0


def test_a_good_placement_above_the_bound_is_a_fault_of_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["solver_placement.compare"]

    def too_low(*arguments: object, **options: object) -> Solution:
        found = solve(*arguments, **options)  # type: ignore[arg-type]
        return replace(found, bound=found.bound - 1)

    monkeypatch.setattr(module, "solve", too_low)
    best_known = solve(crowded(), time_limit=20).placement
    with pytest.raises(Unsound, match="known has weight 51, which the judge accepts, but the solver's bound is 50"):
        compare(crowded(), {"known": lambda _: best_known}, time_limit=20)

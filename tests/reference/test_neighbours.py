"""Affinity, anti-affinity and spread between pods: small placements that the judge refuses or accepts, by hand, and
what no order of pods can bring about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reference.cluster import (
    Application,
    Assignment,
    Cluster,
    Constraints,
    Neighbours,
    Node,
    Operator,
    Placement,
    PodAffinityTerm,
    Queue,
    QueueTree,
    Requirement,
    Resources,
    RunningPod,
    SpreadConstraint,
    TaskGroup,
)
from reference.cluster.features import Feature, features, reduce_to
from reference.schedulers import schedule
from reference.validate import Rule, validate

ONE = Resources(vcore=1)
DB = (Requirement("app", Operator.IN, ("db",)),)
WEB = (Requirement("app", Operator.IN, ("web",)),)
IS_DB, IS_WEB = (("app", "db"),), (("app", "web"),)
NEAR, HOST = PodAffinityTerm("zone", DB), PodAffinityTerm("host", DB)
EVEN = SpreadConstraint("zone", 1, WEB)
NODES = tuple(
    Node(name, Resources(vcore=9), {"host": name, **({"zone": zone} if zone else {})})
    for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("x", ""))
)


def question(*groups: Neighbours, running: tuple[tuple[str, Neighbours], ...] = ()) -> Cluster:
    """A gang for each of ``groups``, of as many pods as a placement has."""
    apps = tuple(
        Application(f"g{i}", "root.q", (TaskGroup("g", 1, ONE, size=9, neighbours=each),))
        for i, each in enumerate(groups)
    )
    pods = tuple(RunningPod(f"r{i}", node, "root.q", ONE, neighbours=each) for i, (node, each) in enumerate(running))
    made = Cluster(NODES, QueueTree(Queue("root", children=(Queue("root.q"),))), apps, pods)
    assert made.problems() == []
    return made


def placed(**counts: str) -> Placement:
    """``g0="a1 a1 b1"``: two pods of gang g0 on node a1 and one on b1."""
    cells = [(app, "g", node, nodes.split().count(node)) for app, nodes in counts.items() for node in nodes.split()]
    return Placement(tuple(Assignment(*cell) for cell in sorted(set(cells))), tuple(sorted(counts)))


APART = Neighbours(IS_DB, anti_affinity=(NEAR,))
ALONE_ON_HOST = Neighbours(IS_DB, anti_affinity=(HOST,))
TOGETHER = Neighbours(IS_DB, affinity=(NEAR,))
BESIDE_DB = Neighbours(IS_WEB, affinity=(NEAR,))
SPREAD = Neighbours(IS_WEB, spread=(EVEN,))
A_DB, A_WEB = Neighbours(IS_DB), Neighbours(IS_WEB)

# groups, pods that run, placement, the places that the judge names
CASES: dict[str, tuple[tuple[Neighbours, ...], tuple[tuple[str, Neighbours], ...], Placement, list[str]]] = {
    "one on each side": ((APART,), (), placed(g0="a1 b1"), []),
    "two in one zone": ((APART,), (), placed(g0="a1 a2"), ["g0/g@a1", "g0/g@a2"]),
    "two on one node": ((ALONE_ON_HOST,), (), placed(g0="a1 a1"), ["g0/g@a1"]),
    "each on its own node": ((ALONE_ON_HOST,), (), placed(g0="a1 a2"), []),
    "no zone, nothing to keep apart": ((APART,), (), placed(g0="x x"), []),
    "beside one that is selected": ((APART, A_DB), (), placed(g0="a1", g1="a2"), ["g0/g@a1"]),
    "beside one that is not": ((APART, A_WEB), (), placed(g0="a1", g1="a2"), []),
    "beside one that runs": ((APART,), (("a2", A_DB),), placed(g0="a1"), ["g0/g@a1"]),
    "beside one that runs and minds": ((A_DB,), (("a2", APART),), placed(g0="a1"), ["g0/g@a1"]),
    "two that run mind each other": ((A_WEB,), (("a1", APART), ("a2", APART)), placed(g0="a1"), []),
    "together": ((TOGETHER,), (), placed(g0="a1 a2"), []),
    "the first of its kind": ((TOGETHER,), (), placed(g0="b1"), []),
    "not together": ((TOGETHER,), (), placed(g0="a1 b1"), ["g0/g@b1"]),
    "two pairs": ((TOGETHER,), (), placed(g0="a1 a2 b1 b1"), []),
    "two gangs, one each": ((TOGETHER, TOGETHER), (), placed(g0="a1", g1="b1"), ["g1/g@b1"]),
    "not the first, for one runs": ((TOGETHER,), (("a1", A_DB),), placed(g0="b1"), ["g0/g@b1"]),
    "the first, for what runs is nowhere": ((TOGETHER,), (("x", A_DB),), placed(g0="b1"), []),
    "no zone to be together in": ((TOGETHER,), (), placed(g0="x"), ["g0/g@x"]),
    "beside a database": ((BESIDE_DB, A_DB), (), placed(g0="a1 a1", g1="a2"), []),
    "far from it": ((BESIDE_DB, A_DB), (), placed(g0="b1 b1", g1="a2"), ["g0/g@b1"]),
    "even": ((SPREAD,), (), placed(g0="a1 a2 b1"), []),
    "uneven": ((SPREAD,), (), placed(g0="a1 a2"), ["g0/g@a1", "g0/g@a2"]),
    "uneven beside those that run": ((SPREAD,), (("a1", A_WEB), ("a1", A_WEB)), placed(g0="a2 b1"), ["g0/g@a2"]),
    "even out those that run": ((SPREAD,), (("a1", A_WEB), ("a1", A_WEB)), placed(g0="b1"), []),
    "others came later": ((SPREAD, A_WEB), (), placed(g0="a1", g1="a1 a2"), []),
    "two gangs spread together": ((SPREAD, SPREAD), (), placed(g0="a1", g1="a2"), ["g0/g@a1", "g1/g@a2"]),
    "no zone to be even over": ((SPREAD,), (), placed(g0="x"), ["g0/g@x"]),
    "of three domains one is missing": (
        (replace(SPREAD, spread=(replace(EVEN, min_domains=3),)),), (), placed(g0="a1 a2 b1 b1"),
        ["g0/g@a1", "g0/g@a2", "g0/g@b1"]),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_what_the_judge_says(what: str) -> None:
    groups, running, placement, where = CASES[what]
    found = validate(question(*groups, running=running), placement)
    assert [v.where for v in found] == where
    assert {v.rule for v in found} <= {Rule.POD_AFFINITY, Rule.SPREAD}


def test_spread_counts_the_nodes_that_the_pod_may_use() -> None:
    """Zone b is closed to it by its nodeSelector, and so is no domain."""
    made = question(SPREAD)
    (app,) = made.applications
    here = replace(app.task_groups[0], constraints=Constraints((("zone", "a"),)))
    assert validate(replace(made, applications=(replace(app, task_groups=(here,)),)), placed(g0="a1 a1 a2")) == []


@pytest.mark.parametrize(("feature", "group"), [(Feature.POD_AFFINITY, APART), (Feature.SPREAD, SPREAD)])
def test_who_does_not_know_gets_a_smaller_question(feature: Feature, group: Neighbours) -> None:
    made = question(group)
    assert features(made) & {Feature.POD_AFFINITY, Feature.SPREAD} == {feature}
    reduced, said = reduce_to(made, frozenset({Feature.ELASTIC}), "it")
    assert feature not in features(reduced)
    assert any(feature.value in line for line in said)
    with pytest.raises(Exception, match=feature.value):
        schedule(made, "yunikorn")


def test_kubernetes_heeds_pods_that_run() -> None:
    """One that runs forbids zone a; nobody is preempted, whatever the priority."""
    made = question(A_DB, running=(("a1", APART),))
    app = replace(made.applications[0], priority=9)
    placement = schedule(replace(made, applications=(app,)), "kubernetes").placement
    assert {a.node for a in placement.assignments} <= {"b1", "x"}
    assert placement.admitted == ("g0",)
    assert validate(made, placement) == []

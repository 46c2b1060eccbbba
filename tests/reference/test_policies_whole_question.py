"""What a policy says that it knows of a cluster it reads: the judge accepts every placement, and each feature is shown
to change one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from tiny_clusters import cluster, gang, leaf, tree, units

from reference.cluster import (
    PODS,
    Application,
    Cluster,
    CompositeGroup,
    Neighbours,
    Node,
    Operator,
    Placement,
    PodAffinityTerm,
    Requirement,
    Resources,
    SpreadConstraint,
    Topology,
    TopologyConstraint,
)
from reference.cluster.features import RULES, Feature, features, reduce_to
from reference.schedulers import KNOWS, POLICIES, schedule
from reference.strategies_rich import rich_clusters
from reference.validate import validate

QUEUE = tree(leaf("root.a"))
BOTH = ("volcano", "kubernetes")


def racks(*capacities: int, size: int = 2) -> tuple[Node, ...]:
    """Nodes of so many units, ``size`` of them in each rack, four of them in each zone."""
    return tuple(
        Node(f"n{i}", units(c), {"rack": f"r{i // size}", "zone": f"z{i // 4}"}) for i, c in enumerate(capacities)
    )


def asked(policy: str, question: Cluster) -> Placement:
    placement = schedule(question, policy).placement
    assert validate(question, placement) == []
    return placement


def without(feature: Feature, policy: str, question: Cluster) -> Placement:
    """The answer of one who knows all that the policy does but the feature."""
    reduced, _ = reduce_to(question, KNOWS[policy] - {feature}, policy)
    if feature is Feature.PRIORITY:
        reduced = replace(reduced, applications=tuple(replace(app, priority=0) for app in reduced.applications))
    if feature is Feature.SHARES:
        queue = reduced.queues.root
        same = tuple(replace(child, weight=1, priority=0) for child in queue.children)
        reduced = replace(reduced, queues=tree(*same))
    if feature is Feature.PREFERRED_TOPOLOGY:
        reduced = replace(reduced, applications=tuple(replace(app, topology=()) for app in reduced.applications))
    return schedule(reduced, policy).placement


def in_one_rack() -> Cluster:
    """Three pods: the nodes of the first rack have room for two, those of the second for three."""
    near = (TopologyConstraint(("zone", "rack")),)
    app = replace(gang("app", "root.a", 3), topology=near)
    return Cluster(racks(1, 1, 2, 1), QUEUE, (app,), topologies=(Topology("default", ("zone", "rack")),))


def near_each_other() -> Cluster:
    """Pods of one unit, which are best spread; the second gang's wish is one rack."""
    near = (TopologyConstraint(("rack",), required=False),)
    app = replace(gang("app", "root.a", 2), topology=near)
    return Cluster(racks(3, 2, 3, 2), QUEUE, (app,))


def one_to_three() -> Cluster:
    return cluster([2], QUEUE, _elastic("app", 1, 3))


def three_of_five() -> Cluster:
    """Two roles of at least one pod each, three in all: there is no room for a second pod of the first, which is
    larger."""
    app = gang("app", "root.a", 1, 1)
    first, second = (replace(group, size=3) for group in app.task_groups)
    groups = (replace(first, min_resource=units(2)), second)
    return cluster([2, 1, 1], QUEUE, replace(app, task_groups=groups, min_members=3))


def one_of_two_groups() -> Cluster:
    app = gang("app", "root.a", 3, 2)
    return cluster([2], QUEUE, replace(app, composites=(CompositeGroup("either", ("g0", "g1"), 1),)))


def the_later_is_dearer() -> Cluster:
    return cluster([2], QUEUE, gang("a", "root.a", 2), replace(gang("b", "root.a", 2, submitted=1), priority=5))


def one_queue_weighs_three() -> Cluster:
    """Four units: with equal weights each queue deserves two."""
    heavy = replace(leaf("root.b"), weight=3)
    apps = (*(gang(f"a{i}", "root.a", 1) for i in range(4)), *(gang(f"b{i}", "root.b", 1) for i in range(4)))
    return cluster([4], tree(leaf("root.a"), heavy), *apps)


def _elastic(name: str, least: int, most: int) -> Application:
    app = gang(name, "root.a", least)
    (group,) = app.task_groups
    return replace(app, task_groups=(replace(group, size=most),))


def apart_from_each_other() -> Cluster:
    """Two pods that may not share a node, and a first node with room for both."""
    (group,) = gang("a", "root.a", 2).task_groups
    apart = PodAffinityTerm("rack", (Requirement("app", Operator.IN, ("db",)),))
    group = replace(group, neighbours=Neighbours((("app", "db"),), anti_affinity=(apart,)))
    return Cluster(racks(9, 1, size=1), QUEUE, (replace(gang("a", "root.a", 2), task_groups=(group,)),))


def spread_over_zones() -> Cluster:
    """Four pods, evenly over two zones, of which the first has room for all."""
    (group,) = gang("a", "root.a", 4).task_groups
    even = SpreadConstraint("zone", 1, (Requirement("app", Operator.IN, ("web",)),))
    group = replace(group, neighbours=Neighbours((("app", "web"),), spread=(even,)))
    nodes = racks(9, 9, 9, 9, 2, 2)
    return Cluster(nodes, QUEUE, (replace(gang("a", "root.a", 4), task_groups=(group,)),))


SHOWN: dict[Feature, Callable[[], Cluster]] = {
    Feature.TOPOLOGY: in_one_rack,
    Feature.PREFERRED_TOPOLOGY: near_each_other,
    Feature.ELASTIC: one_to_three,
    Feature.MIN_MEMBERS: three_of_five,
    Feature.COMPOSITE: one_of_two_groups,
    Feature.POD_AFFINITY: apart_from_each_other,
    Feature.SPREAD: spread_over_zones,
    Feature.PRIORITY: the_later_is_dearer,
    Feature.SHARES: one_queue_weighs_three,
}
KNOWN = [(policy, feature) for policy in BOTH for feature in sorted(KNOWS[policy], key=lambda f: f.name)]


@pytest.mark.parametrize(("policy", "feature"), KNOWN)
def test_what_is_known_changes_the_answer(policy: str, feature: Feature) -> None:
    question = SHOWN[feature]()
    assert feature in features(question)
    placement = asked(policy, question)
    assert placement.admitted
    other = without(feature, policy, question)
    assert (placement.assignments, placement.admitted) != (other.assignments, other.admitted)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_rule_that_is_not_known_is_refused_and_none_is_claimed_that_no_test_shows(policy: str) -> None:
    assert KNOWS[policy] <= set(SHOWN)
    for feature in (RULES & set(SHOWN)) - KNOWS[policy]:
        with pytest.raises(Exception, match=feature.value):
            schedule(SHOWN[feature](), policy)


@pytest.mark.parametrize("policy", BOTH)
@settings(max_examples=30)
@given(rich_clusters(KNOWS["volcano"] | KNOWS["kubernetes"]))
def test_the_judge_accepts_what_is_answered(policy: str, question: Cluster) -> None:
    reduced, _ = reduce_to(question, KNOWS[policy], policy)
    asked(policy, reduced)


@pytest.mark.slow
@pytest.mark.parametrize("policy", BOTH)
@settings(max_examples=1500)
@given(rich_clusters(KNOWS["volcano"] | KNOWS["kubernetes"]))
def test_the_judge_accepts_whatever_is_answered(policy: str, question: Cluster) -> None:
    reduced, _ = reduce_to(question, KNOWS[policy], policy)
    asked(policy, reduced)


# ---- single rules


@pytest.mark.parametrize("policy", BOTH)
def test_one_domain_may_be_that_of_several_labels(policy: str) -> None:
    """Racks are called alike in two zones: r0 of both together has room for two, one alone does not."""
    nodes = tuple(Node(f"n{i}", units(1), {"zone": f"z{i}", "rack": "r0"}) for i in range(2))
    app = replace(gang("app", "root.a", 2), topology=(TopologyConstraint(("zone", "rack")),))
    question = Cluster(nodes, QUEUE, (app,))
    assert asked(policy, question).admitted == ()
    anywhere = replace(question, applications=(replace(app, topology=(TopologyConstraint(("rack",)),)),))
    assert asked(policy, anywhere).admitted == ("app",)


def test_kubernetes_places_each_group_in_a_domain_of_its_own() -> None:
    near = (TopologyConstraint(("rack",)),)
    app = gang("app", "root.a", 2, 2)
    apart = replace(app, task_groups=tuple(replace(group, topology=near) for group in app.task_groups))
    question = Cluster(racks(1, 1, 1, 1), QUEUE, (apart,))
    assert asked("kubernetes", question).admitted == ("app",)
    together = replace(question, applications=(replace(app, topology=near),))
    assert asked("kubernetes", together).admitted == ()


def test_volcano_says_what_its_jobs_cannot() -> None:
    near = (TopologyConstraint(("rack",)),)
    app = gang("app", "root.a", 2, 2)
    apart = replace(app, task_groups=tuple(replace(group, topology=near) for group in app.task_groups))
    placement = asked("volcano", Cluster(racks(1, 1, 1, 1), QUEUE, (apart,)))
    assert placement.pending["app"].startswith("Volcano cannot say: a domain for a task group of its own")
    crossing = tuple(Node(f"n{i}", units(2), {"zone": f"z{i // 2}", "rack": f"r{i % 2}"}) for i in range(4))
    zone, rack = (
        replace(gang(key, "root.a", 4, submitted=i), topology=(TopologyConstraint((key,)),))
        for i, key in enumerate(("zone", "rack"))
    )
    placement = asked("volcano", Cluster(crossing, QUEUE, (zone, rack)))
    assert placement.admitted == ("zone",)
    assert placement.pending["rack"] == "Volcano cannot say: domains of rack are no tier of one tree of HyperNodes"


def test_volcano_takes_the_lowest_tier_that_will_do() -> None:
    """Two pods may be anywhere in a zone, and go to one rack of it."""
    app = replace(gang("app", "root.a", 2), topology=(TopologyConstraint(("zone",)),))
    nodes = racks(1, 1, 1, 1, 1, 1, 1, 1)
    question = Cluster(nodes, QUEUE, (app,), topologies=(Topology("default", ("zone", "rack")),))
    used = {a.node for a in asked("volcano", question).assignments}
    assert len(used) == 2
    assert len({node.labels["rack"] for node in nodes if node.name in used}) == 1


@pytest.mark.parametrize("policy", BOTH)
def test_pods_beyond_the_minimum_wait_for_nobody(policy: str) -> None:
    """Two of one to three, then the other gang has its one."""
    question = cluster([3], QUEUE, _elastic("a", 1, 3), gang("b", "root.a", 1, submitted=1))
    counts = {a.application: a.count for a in asked(policy, question).assignments}
    assert counts == ({"a": 2, "b": 1} if policy == "volcano" else {"a": 3})


def test_volcano_keeps_a_limit_of_pods_where_queues_have_weights() -> None:
    """Proportion does not look at pods, so capacity has to."""
    few = replace(leaf("root.a"), maximum=Resources({PODS: 1}), weight=2)
    question = cluster([4], tree(few, leaf("root.b")), gang("a", "root.a", 1), gang("b", "root.a", 1, submitted=1))
    assert asked("volcano", question).admitted == ("a",)


def test_a_quota_lets_kubernetes_create_as_many_pods_as_fit() -> None:
    question = cluster([9], tree(leaf("root.a", 4)), _elastic("a", 1, 3), _elastic("b", 1, 3))
    counts = {a.application: a.count for a in asked("kubernetes", question).assignments}
    assert counts == {"a": 3, "b": 1}


def test_a_group_that_may_be_empty_starts_after_the_gang_in_kubernetes() -> None:
    app = gang("app", "root.a", 1, 1)
    first, second = app.task_groups
    app = replace(app, task_groups=(replace(first, min_member=0, size=2), second))
    counts = {a.task_group: a.count for a in asked("kubernetes", cluster([2], QUEUE, app)).assignments}
    assert counts == {"g0": 1, "g1": 1}

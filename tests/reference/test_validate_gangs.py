"""The judge on elastic and composite gangs: tables of what is whole, and what a smaller question is good for."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import event, given, settings

from reference.cluster import (
    Application,
    Assignment,
    Cluster,
    CompositeGroup,
    Node,
    Placement,
    Queue,
    QueueTree,
    Resources,
    TopologyConstraint,
)
from reference.cluster import TaskGroup as Group
from reference.cluster.features import RULES, Feature, features, reduce_to, refuse
from reference.errors import InputError
from reference.schedulers import schedule
from reference.strategies_rich import rich_clusters
from reference.validate import Rule, validate

POD = Resources(vcore=1)
ELASTIC = Application("a", "root", (Group("m", 1, POD), Group("w", 2, POD, size=4)))
ROLES = Application("a", "root", (Group("m", 1, POD, size=1), Group("w", 0, POD, size=5)), min_members=4)
TREE = Application(
    "a",
    "root",
    (Group("m", 1, POD), Group("x", 2, POD), Group("y", 1, POD, size=3), Group("z", 1, POD)),
    composites=(CompositeGroup("top", ("in", "x"), 1), CompositeGroup("in", ("y", "z"), 2)),
)


@pytest.mark.parametrize(
    ("app", "counts", "wrong"),
    [
        (ELASTIC, {"m": 1, "w": 2}, []),
        (ELASTIC, {"m": 1, "w": 4}, []),
        (ELASTIC, {"m": 1, "w": 1}, ["a/w: 1 of 2 to 4 pods are placed; the gang is admitted, expected 2 to 4"]),
        (ELASTIC, {"m": 1, "w": 5}, ["a/w: 5 of 2 to 4 pods are placed; the gang is admitted, expected 2 to 4"]),
        (ELASTIC, {"w": 2}, ["a/m: 0 of 1 pods are placed; the gang is admitted, expected 1"]),
        (ROLES, {"m": 1, "w": 3}, []),
        (ROLES, {"m": 1, "w": 5}, []),
        (ROLES, {"m": 1, "w": 2}, ["a: 3 pods are placed; the gang is admitted, expected at least 4"]),
        (ROLES, {"w": 5}, ["a/m: 0 of 1 pods are placed; the gang is admitted, expected 1"]),
        (TREE, {"m": 1, "x": 2}, []),
        (TREE, {"m": 1, "y": 1, "z": 1}, []),
        (TREE, {"m": 1, "x": 2, "y": 3, "z": 1}, []),
        (
            TREE,
            {"m": 1},
            ["a/top: 0 of 2 groups are whole and pods are placed; the gang is admitted, expected 1 whole groups"],
        ),
        (
            TREE,
            {"m": 1, "x": 2, "y": 1},
            ["a/in: 1 of 2 groups are whole and pods are placed; the gang is admitted, expected 2 whole groups"],
        ),
        (
            TREE,
            {"m": 1, "x": 1, "y": 1, "z": 1},
            ["a/x: 1 of 2 pods are placed; the gang is admitted, expected 2"],
        ),
    ],
)
def test_what_is_whole(app: Application, counts: dict[str, int], wrong: list[str]) -> None:
    made = Cluster((Node("n", Resources(vcore=99)),), QueueTree(Queue("root")), (app,))
    assert made.problems() == []
    placed = tuple(Assignment("a", name, "n", count) for name, count in sorted(counts.items()))
    found = validate(made, Placement(placed, ("a",)))
    assert [f"{v.where}: {v.message}" for v in found] == wrong
    assert {v.rule for v in found} <= {Rule.PARTIAL_GANG}
    pending = validate(made, Placement(placed, (), {"a": "waits"}))
    assert {v.where for v in pending} == {f"a/{name}" for name in counts}


def test_a_composite_keeps_its_groups_in_one_domain() -> None:
    near = (TopologyConstraint(("rack",)),)
    app = replace(TREE, composites=(TREE.composites[0], replace(TREE.composites[1], topology=near)))
    nodes = tuple(Node(f"n{i}", Resources(vcore=9), {"rack": str(i)}) for i in range(2))
    made = Cluster(nodes, QueueTree(Queue("root")), (app,))
    good = (("m", "n0"), ("y", "n1"), ("z", "n1"))
    bad = (("m", "n0"), ("y", "n0"), ("z", "n1"))
    for cells, where in ((good, []), (bad, ["a/in"])):
        placement = Placement(tuple(Assignment("a", *cell, 1) for cell in cells), ("a",))
        assert [v.where for v in validate(made, placement)] == where


PLACED_STRICTER = frozenset({Feature.ELASTIC, Feature.MIN_MEMBERS, Feature.COMPOSITE})


@settings(max_examples=60)
@given(rich_clusters(PLACED_STRICTER))
def test_what_is_good_for_the_smaller_question_is_good(cluster: Cluster) -> None:
    """Fixed groups are stricter: what a scheduler of plain gangs does with them is a good placement as it was asked."""
    used = features(cluster) & RULES
    plain, said = reduce_to(cluster, frozenset(), "it")
    for feature in used:
        event(feature.name)
    assert plain.problems() == []
    assert not features(plain) & RULES
    assert len(said) == len(features(cluster))
    placement = schedule(plain).placement
    assert validate(plain, placement) == []
    assert validate(cluster, placement) == []
    event(f"admitted: {bool(placement.admitted)}")


@settings(max_examples=60)
@given(rich_clusters(RULES))
def test_a_smaller_question_has_what_is_known_and_nothing_else(cluster: Cluster) -> None:
    assert cluster.problems() == []
    for feature in RULES:
        known = RULES - {feature}
        part, said = reduce_to(cluster, known, "it")
        assert part.problems() == []
        assert feature not in features(part)
        assert len(said) >= (feature in features(cluster))
        if feature not in features(cluster):
            assert part == cluster
    assert reduce_to(cluster, frozenset(Feature), "it") == (cluster, ())


def test_a_rule_that_is_not_known_is_refused() -> None:
    made = Cluster((Node("n", Resources(vcore=9)),), QueueTree(Queue("root", weight=2)), (ROLES,))
    refuse(made, RULES, "it")
    with pytest.raises(InputError) as caught:
        refuse(made, frozenset({Feature.TOPOLOGY}), "it")
    assert str(caught.value).startswith(
        "found a minimum of the whole gang above those of its groups, task groups larger than their minimum, "
        "expected what it knows"
    )
    with pytest.raises(InputError):
        schedule(made)


def test_minima_are_raised_in_order() -> None:
    made = Cluster((Node("n", Resources(vcore=9)),), QueueTree(Queue("root")), (ROLES,))
    (plain,) = reduce_to(made, frozenset(), "it")[0].applications
    assert Counter({g.name: g.min_member for g in plain.task_groups}) == {"m": 1, "w": 3}

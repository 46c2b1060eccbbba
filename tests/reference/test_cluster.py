"""What a cluster refuses: values that make no sense at construction, references and names in ``problems``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from reference.cluster import (
    Application,
    Cluster,
    CompositeGroup,
    Node,
    NodeType,
    Queue,
    QueueTree,
    Resources,
    RunningPod,
    Topology,
    TopologyConstraint,
)
from reference.cluster import TaskGroup as Group
from reference.cluster.cluster import MOST_LEVELS

ONE = Resources(vcore=1)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: TopologyConstraint(()), "needs node labels"),
        (lambda: TopologyConstraint(("zone", "")), "needs node labels"),
        (lambda: TopologyConstraint(("zone", "zone")), "names a label twice"),
        (lambda: Topology("t", ()), "topology 't' needs node labels"),
        (lambda: NodeType("big", ONE, minimum=-1), "from -1 to None nodes"),
        (lambda: NodeType("big", ONE, minimum=2, maximum=1), "from 2 to 1 nodes"),
        (lambda: NodeType("big", ONE, price=-1), "the price -1 is below 0"),
        (lambda: Queue("root", weight=-1), "the weight -1 is below 0"),
        (lambda: Group("g", 2, ONE, size=1), "size 1 with minMember 2"),
        (lambda: Group("g", 0, ONE, size=0), "size 0 with minMember 0"),
        (lambda: CompositeGroup("c", (), 0), "0 of 0 children"),
        (lambda: CompositeGroup("c", ("a",), 2), "2 of 1 children"),
        (lambda: CompositeGroup("c", ("a",), 0), "0 of 1 children"),
        (lambda: CompositeGroup("c", ("a", "a"), 1), "names a child twice"),
        (lambda: Application("a", "root", (Group("g", 1, ONE, size=3),), min_members=4), "min_members 4 of 3 pods"),
        (lambda: Application("a", "root", (Group("g", 1, ONE),), min_members=0), "min_members 0 of 1 pods"),
    ],
)
def test_values_that_make_no_sense(make: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert says in str(caught.value)


GROUPS = (Group("g0", 1, ONE), Group("g1", 0, ONE, size=2), Group("g2", 1, ONE))
GOOD = Application("a", "root", GROUPS, composites=(CompositeGroup("c", ("g0", "g1"), 1),))


def chain(links: int) -> tuple[CompositeGroup, ...]:
    """Composites inside each other, the last around a task group."""
    return tuple(CompositeGroup(f"c{i}", (f"c{i + 1}" if i < links - 1 else "g0",), 1) for i in range(links))


def cluster(*applications: Application) -> Cluster:
    """A cluster with one node of one node type."""
    kind = NodeType("big", Resources(vcore=9))
    return Cluster((kind.node("n"),), QueueTree(Queue("root")), applications, node_types=(kind,))


def test_a_good_cluster_has_no_problems() -> None:
    assert cluster(GOOD).problems() == []
    assert cluster(replace(GOOD, composites=chain(MOST_LEVELS))).problems() == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"composites": (CompositeGroup("c", ("x",), 1),)}, ["composite group 'c' names the unknown group 'x'"]),
        ({"composites": (CompositeGroup("g0", ("g1",), 1),)}, ["a task group and a composite group are named 'g0'"]),
        (
            {"composites": (CompositeGroup("c", ("g0",), 1), CompositeGroup("c", ("g1",), 1))},
            ["two composite groups are named 'c'"],
        ),
        (
            {"composites": (CompositeGroup("c", ("g0",), 1), CompositeGroup("d", ("g0",), 1))},
            ["group 'g0' is in composite groups 'c' and 'd'"],
        ),
        (
            {"composites": (CompositeGroup("c", ("d",), 1), CompositeGroup("d", ("c",), 1))},
            ["composite group 'c' is inside itself"],
        ),
        ({"composites": chain(MOST_LEVELS + 1)}, ["composite group 'c50' is more than 50 levels deep"]),
        ({"composites": (CompositeGroup("top", ("c",), 1), CompositeGroup("c", ("c",), 1))}, None),
        ({"task_groups": (Group("g", 0, ONE),)}, ["task group 'g': minMember must be at least 1, found 0"]),
        ({"task_groups": (Group("g", -1, ONE, size=2),)}, ["task group 'g': minMember must be at least 0, found -1"]),
    ],
)
def test_names_and_references(change: dict[str, object], says: list[str] | None) -> None:
    base = GOOD if "composites" in change else replace(GOOD, composites=())
    problems = cluster(replace(base, **change)).problems()  # type: ignore[arg-type]
    if says is None:
        assert problems
    else:
        assert problems == [f"application 'a': {line}" for line in says]


def test_running_pods_have_names_of_their_own() -> None:
    pod = RunningPod("p", "n", "root", ONE)
    assert replace(cluster(GOOD), running=(pod, replace(pod, queue="gone"))).problems() == [
        "two running pods are named 'p'"
    ]


def test_a_gang_needs_a_pod() -> None:
    idle = replace(GOOD, task_groups=(Group("g", 0, ONE, size=2),), composites=())
    assert cluster(idle).problems() == ["application 'a' needs no pod: every task group has the minimum 0"]
    assert cluster(replace(idle, min_members=1)).problems() == []


def test_unknown_node_types_and_repeated_names() -> None:
    made = replace(cluster(GOOD), nodes=(Node("n", ONE, node_type="small"),), topologies=(Topology("t", ("x",)),) * 2)
    assert made.problems() == ["two topologies are named 't'", "node 'n' is of unknown node type 'small'"]


def test_domains() -> None:
    labels = {"zone": "a", "rack": "1"}
    assert TopologyConstraint(("rack",)).domain(labels) == ("1",)
    assert TopologyConstraint(("zone", "rack")).domain(labels) == ("a", "1")
    assert TopologyConstraint(("zone", "row")).domain(labels) is None
    assert Topology("t", ("zone", "row", "rack")).down_to("row") == ("zone", "row")

"""The native JSON of a cluster: writes and reads back to an equal cluster; everything else is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objects import gang, node

from reference.cluster import (
    Application,
    Cluster,
    CompositeGroup,
    Constraints,
    GangStyle,
    Node,
    NodeType,
    Operator,
    Queue,
    QueueTree,
    Requirement,
    Resources,
    RunningPod,
    SortPolicy,
    Taint,
    TaintEffect,
    TaskGroup,
    Toleration,
    Topology,
    TopologyConstraint,
)
from reference.manifests import ManifestError, load, to_native
from reference.manifests.document import json_field
from reference.manifests.native import read_native
from reference.strategies import clusters

TEXT = st.text(st.characters(codec="utf-8"), max_size=5)
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
RESOURCES = st.dictionaries(NAMES, st.integers(0, 2**63 - 1), max_size=3).map(Resources)
EFFECTS = st.sampled_from(TaintEffect)
REQUIREMENTS = st.builds(Requirement, TEXT, st.sampled_from(Operator), st.lists(TEXT, max_size=2).map(tuple))
CONSTRAINTS = st.builds(
    Constraints,
    st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    st.lists(st.builds(Toleration, TEXT, st.booleans(), TEXT, st.none() | EFFECTS), max_size=2).map(tuple),
    st.lists(st.lists(REQUIREMENTS, max_size=2).map(tuple), max_size=2).map(tuple),
)
TAINTS = st.lists(st.builds(Taint, TEXT, TEXT, EFFECTS), max_size=2).map(tuple)
LABELS = st.dictionaries(TEXT, TEXT, max_size=2)
KEYS = st.lists(NAMES, min_size=1, max_size=2, unique=True).map(tuple)
NEAR = st.lists(st.builds(TopologyConstraint, KEYS, st.booleans()), max_size=2).map(tuple)
ORDER = st.integers(-5, 2**62)
NODES = st.builds(Node, NAMES, RESOURCES, LABELS, TAINTS, st.booleans(), RESOURCES, TEXT)
NODE_TYPES = st.builds(
    lambda least, more, **rest: NodeType(minimum=least, maximum=None if more is None else least + more, **rest),
    st.integers(0, 9),
    st.none() | st.integers(0, 9),
    name=NAMES,
    capacity=RESOURCES,
    labels=LABELS,
    taints=TAINTS,
    price=st.integers(0, 9),
    priority=ORDER,
)
GROUPS = st.one_of(
    st.builds(TaskGroup, NAMES, st.integers(1, 2**31), RESOURCES, CONSTRAINTS, st.none(), NEAR),
    st.builds(TaskGroup, NAMES, st.integers(0, 9), RESOURCES, CONSTRAINTS, st.integers(9, 2**31), NEAR),
)
COMPOSITES = st.builds(
    lambda name, children, near: CompositeGroup(name, children, len(children), near), NAMES, KEYS, NEAR
)


@st.composite
def any_application(draw: st.DrawFn) -> Application:
    """Every field of an application, whether or not its references make sense."""
    groups = tuple(draw(st.lists(GROUPS, max_size=2)))
    pods = sum(group.most for group in groups)
    return Application(
        name=draw(NAMES),
        queue=draw(NAMES),
        task_groups=groups,
        submitted=draw(ORDER),
        weight=draw(st.integers(1, 2**62)),
        style=draw(st.sampled_from(GangStyle)),
        placeholder_timeout_seconds=draw(st.integers(0, 10**6)),
        min_members=draw(st.integers(1, pods)) if pods and draw(st.booleans()) else None,
        topology=draw(NEAR),
        composites=tuple(draw(st.lists(COMPOSITES, max_size=2))),
        priority=draw(ORDER),
        namespace=draw(TEXT),
    )


def queue(name: str, *children: Queue) -> st.SearchStrategy[Queue]:
    """A queue of that name with any settings."""
    return st.builds(
        Queue,
        st.just(name),
        RESOURCES,
        RESOURCES,
        st.sampled_from(SortPolicy),
        st.none() | st.integers(0, 9),
        st.just(children),
        st.booleans(),
        st.integers(0, 9),
        RESOURCES,
        RESOURCES,
        ORDER,
        st.booleans(),
    )


PODS = st.lists(st.builds(RunningPod, NAMES, NAMES, NAMES, RESOURCES, TEXT, TEXT, ORDER), max_size=2)


@st.composite
def any_cluster(draw: st.DrawFn) -> Cluster:
    """Every field of every type, whether or not it makes sense."""
    below = draw(queue("root.a.b"))
    tree = QueueTree(draw(queue("root", draw(queue("root.a", below)), draw(queue("root.c")))))
    return Cluster(
        tuple(draw(st.lists(NODES, max_size=2, unique_by=lambda n: n.name))),
        tree,
        tuple(draw(st.lists(any_application(), max_size=2))),
        tuple(draw(PODS)),
        tuple(draw(st.lists(NODE_TYPES, max_size=2))),
        tuple(draw(st.lists(st.builds(Topology, NAMES, KEYS), max_size=2))),
    )


@settings(max_examples=30)
@given(any_cluster())
def test_every_field_survives_the_way_through_json(cluster: Cluster) -> None:
    text = json.dumps(to_native(cluster))
    again, _ = read_native(json_field(text, "c.json"))
    assert again == cluster
    assert json.dumps(to_native(again)) == text


def test_every_field_of_every_type_is_written() -> None:
    group = TaskGroup("g", 1, Resources(), topology=(TopologyConstraint(("rack",)),))
    application = Application("a", "root", (group,), composites=(CompositeGroup("c", ("g",), 1),))
    kind = NodeType("t", Resources())
    made = Cluster(
        (kind.node("n"),),
        QueueTree(Queue("root")),
        (application,),
        (RunningPod("p", "n", "root", Resources()),),
        (kind,),
        (Topology("x", ("rack",)),),
    )
    native = to_native(made)
    for written, value in (
        (native["nodes"][0], made.nodes[0]),
        (native["queues"], made.queues.root),
        (native["applications"][0], application),
        (native["applications"][0]["task_groups"][0], group),
        (native["applications"][0]["task_groups"][0]["topology"][0], group.topology[0]),
        (native["applications"][0]["composites"][0], application.composites[0]),
        (native["running"][0], made.running[0]),
        (native["node_types"][0], kind),
        (native["topologies"][0], made.topologies[0]),
        ({key: written for key, written in native.items() if key != "gangproof"}, made),
    ):
        assert set(written) == {field.name for field in fields(value)}


@settings(max_examples=50)
@given(cluster=clusters())
def test_valid_clusters_load_from_a_file(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("native") / "cluster.json"
    path.write_text(json.dumps(to_native(cluster), indent=1), encoding="utf-8")
    result = load(path)
    assert result.cluster == cluster


@pytest.fixture
def native() -> dict[str, Any]:
    """The native JSON of a small valid cluster."""
    group = TaskGroup("g", 2, Resources(vcore=1), Constraints((("a", "b"),)))
    application = Application("job", "root.q", (group,))
    tree = QueueTree(Queue("root", children=(Queue("root.q"),), is_parent=True))
    pod = RunningPod("p", "n", "root.q", Resources(vcore=1))
    return to_native(Cluster((Node("n", Resources(vcore=9)),), tree, (application,), (pod,)))


def at(value: Any, *path: str | int) -> Any:
    """The value below ``value`` that the path leads to."""
    for step in path:
        value = value[step]
    return value


BAD: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("gangproof",), "cluster/v9", "expected 'cluster/v1'"),
    (("extra",), 1, "the unknown key 'extra'"),
    (("nodes", 0, "capacity", "vcore"), -1, "found -1"),
    (("nodes", 0, "capacity", "vcore"), 1.5, "found 1.5"),
    (("nodes", 0, "capacity", "vcore"), None, "found nothing"),
    (("nodes", 0, "capacity", "vcore"), 2**63, "found 9223372036854775808"),
    (("nodes", 0, "capacity"), None, "expected a mapping of resources"),
    (("nodes", 0, "colour"), "red", "the unknown key 'colour'"),
    (("nodes", 0, "taints"), [{"key": "a", "effect": "Never"}], "expected one of NoSchedule"),
    (("queues",), None, "the root queue"),
    (("queues", "children", 0, "name"), "other.q", "such as 'root.x'"),
    (("queues", "children", 0, "name"), "root.q.r", "such as 'root.x'"),
    (("queues", "children", 0, "name"), "root.", "such as 'root.x'"),
    (("queues", "sort_policy"), "lifo", "one of fifo, stateaware, fair"),
    (("applications", 0, "style"), "Softest", "one of Soft, Hard"),
    (("applications", 0, "queue"), "root.none", "'root.none' is not a leaf queue"),
    (("applications", 0, "task_groups"), [], "has no task group"),
    (("applications", 0, "task_groups", 0, "min_member"), 0, "a whole number, 1 or more"),
    (("applications", 0, "task_groups", 0, "constraints", "tolerations"), [{}], "true or false"),
    (("applications", 0, "task_groups", 0, "constraints", "affinity_terms"), [[{"operator": "In"}]], "a label"),
    (("running", 0, "node"), "other", "runs on unknown node 'other'"),
    (("running", 0, "priority"), "high", "a whole number"),
    (("nodes", 0, "node_type"), "big", "of unknown node type 'big'"),
    (("node_types",), [{"name": "t", "capacity": {}, "minimum": 2, "maximum": 1}], "at least the minimum (2)"),
    (("node_types",), [{"name": "t", "capacity": {}, "price": -1}], "found -1"),
    (("node_types",), [{"name": "t", "capacity": {}}] * 2, "two node types are named 't'"),
    (("topologies",), [{"name": "x", "levels": []}], "at least one node label"),
    (("topologies",), [{"name": "x", "levels": ["rack", "rack"]}], "'rack' a second time"),
    (("topologies",), [{"name": "x", "levels": [""]}], "an empty text"),
    (("queues", "weight"), -1, "found -1"),
    (("queues", "reclaimable"), 1, "true or false"),
    (("queues", "reserved"), {"vcore": "1"}, "a whole number in the resource's base unit"),
    (("applications", 0, "min_members"), 3, "from 1 to 2, the pods of all groups"),
    (("applications", 0, "min_members"), 0, "from 1 to 2, the pods of all groups"),
    (("applications", 0, "topology"), [{}], "widest first"),
    (("applications", 0, "topology"), [{"keys": ["a"], "required": "yes"}], "true or false"),
    (("applications", 0, "composites"), [{"name": "c", "children": [], "min_children": 1}], "at least one group"),
    (("applications", 0, "composites"), [{"name": "c", "children": ["g"], "min_children": 2}], "from 1 to 1, the"),
    (("applications", 0, "composites"), [{"name": "c", "children": ["g", "g"], "min_children": 1}], "'g' a second"),
    (("applications", 0, "composites"), [{"name": "c", "children": ["h"], "min_children": 1}], "the unknown group 'h'"),
    (("applications", 0, "composites"), [{"name": "g", "children": ["g"], "min_children": 1}], "are named 'g'"),
    (("applications", 0, "composites"), [{"name": "c", "children": ["c"], "min_children": 1}], "is inside itself"),
    (("applications", 0, "task_groups", 0, "size"), 1, "from 0 to the size (1)"),
    (("applications", 0, "task_groups", 0, "size"), 0, "a whole number, 1 or more"),
    (("applications", 0, "task_groups", 0, "topology"), {}, "a list"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "says"), BAD)
def test_a_bad_native_file_is_refused(
    path: tuple[str | int, ...], value: Any, says: str, native: dict[str, Any], write: Callable[..., Path]
) -> None:
    at(native, *path[:-1])[path[-1]] = value
    with pytest.raises(ManifestError) as caught:
        load(write("c.json", native))
    assert says in str(caught.value)


def test_deep_queues_are_refused(native: dict[str, Any], write: Callable[..., Path]) -> None:
    inner: dict[str, Any] = {"name": "root" + ".a" * 59}
    for depth in range(58, 0, -1):
        inner = {"name": "root" + ".a" * depth, "children": [inner]}
    native["queues"]["children"] = [inner]
    with pytest.raises(ManifestError, match="levels of queues"):
        load(write("c.json", native))


def test_defaults_may_be_left_out(write: Callable[..., Path]) -> None:
    short = {
        "gangproof": "cluster/v1",
        "nodes": [{"name": "n", "capacity": {"vcore": 1}}],
        "queues": {"name": "root", "children": [{"name": "root.q"}]},
        "applications": [
            {"name": "a", "queue": "root.q", "task_groups": [{"name": "g", "min_member": 1, "min_resource": {}}]}
        ],
    }
    expected = Cluster(
        (Node("n", Resources(vcore=1)),),
        QueueTree(Queue("root", children=(Queue("root.q"),))),
        (Application("a", "root.q", (TaskGroup("g", 1, Resources()),)),),
    )
    assert load(write("c.json", short)).cluster == expected
    assert (
        replace(expected, applications=())
        == load(write("d.json", {**short, "applications": []}), require_applications=False).cluster
    )


def test_a_native_file_stands_alone(native: dict[str, Any], write: Callable[..., Path]) -> None:
    first = write("c.json", native)
    with pytest.raises(ManifestError, match="a native cluster beside"):
        load([first, write("k.json", gang())])
    with pytest.raises(ManifestError, match="a native cluster beside"):
        load([first, write("n.json", node("other"))])
    with pytest.raises(ManifestError, match="a second one"):
        load([first, write("d.json", native)])


def test_two_native_nodes_of_one_name(native: dict[str, Any], write: Callable[..., Path]) -> None:
    native["nodes"] *= 2
    with pytest.raises(ManifestError, match="the node 'n' a second time"):
        load(write("c.json", native))

"""The native JSON of a cluster: writes and reads back to an equal cluster; everything else is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objects import gang, node

from reference.cluster import (
    Application,
    Cluster,
    Constraints,
    GangStyle,
    Node,
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
NODES = st.builds(
    Node,
    NAMES,
    RESOURCES,
    st.dictionaries(TEXT, TEXT, max_size=2),
    st.lists(st.builds(Taint, TEXT, TEXT, EFFECTS), max_size=2).map(tuple),
    st.booleans(),
    RESOURCES,
)
GROUPS = st.builds(TaskGroup, NAMES, st.integers(1, 2**31), RESOURCES, CONSTRAINTS)
APPLICATIONS = st.builds(
    Application,
    NAMES,
    NAMES,
    st.lists(GROUPS, max_size=2).map(tuple),
    st.integers(-5, 2**62),
    st.integers(1, 2**62),
    st.sampled_from(GangStyle),
    st.integers(0, 10**6),
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
    )


@st.composite
def any_cluster(draw: st.DrawFn) -> Cluster:
    """Every field of every type, whether or not it makes sense."""
    below = draw(queue("root.a.b"))
    tree = QueueTree(draw(queue("root", draw(queue("root.a", below)), draw(queue("root.c")))))
    pods = st.lists(st.builds(RunningPod, NAMES, NAMES, NAMES, RESOURCES), max_size=2)
    return Cluster(
        tuple(draw(st.lists(NODES, max_size=2, unique_by=lambda n: n.name))),
        tree,
        tuple(draw(st.lists(APPLICATIONS, max_size=2))),
        tuple(draw(pods)),
    )


@settings(max_examples=30)
@given(any_cluster())
def test_every_field_survives_the_way_through_json(cluster: Cluster) -> None:
    text = json.dumps(to_native(cluster))
    again, _ = read_native(json_field(text, "c.json"))
    assert again == cluster
    assert json.dumps(to_native(again)) == text


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

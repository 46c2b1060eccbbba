"""gangproof's own JSON of a ``Cluster``: every field of the types in ``reference.cluster``, amounts in their integer
units (thousandths of a core or GPU, bytes, counts), nothing assumed. ``native_write.to_native`` writes it, ``load``
reads it back to an equal cluster. ::

    {"gangproof": "cluster/v1",
     "nodes": [{"name": "n1", "capacity": {"vcore": 8000, "memory": 17179869184}, "labels": {"disk": "ssd"},
                "taints": [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}],
                "schedulable": true, "occupied": {"vcore": 100}, "node_type": "big"}],
     "node_types": [{"name": "big", "capacity": {"vcore": 8000}, "labels": {}, "taints": [], "minimum": 0,
                     "maximum": 4, "price": 3, "priority": 0}],
     "topologies": [{"name": "default", "levels": ["zone", "rack"]}],
     "queues": {"name": "root", "is_parent": true, "children": [
                {"name": "root.batch", "maximum": {"vcore": 6000}, "guaranteed": {}, "sort_policy": "fifo",
                 "max_applications": 5, "is_parent": false, "weight": 1, "deserved": {}, "reserved": {},
                 "priority": 0, "reclaimable": true, "children": []}]},
     "applications": [{"name": "job-1", "queue": "root.batch", "submitted": 0, "weight": 1, "style": "Soft",
                       "placeholder_timeout_seconds": 900, "min_members": 5, "priority": 0, "namespace": "ml",
                       "topology": [{"keys": ["zone"], "required": true}],
                       "composites": [{"name": "all", "children": ["workers"], "min_children": 1, "topology": []}],
                       "task_groups": [{"name": "workers", "min_member": 4, "min_resource": {"vcore": 1000},
                                        "size": 6, "topology": [{"keys": ["zone", "rack"], "required": false}],
                                        "constraints": {"node_selector": [{"key": "disk", "value": "ssd"}],
                                                        "tolerations": [{"key": "", "exists": true, "value": "",
                                                                         "effect": null}],
                                                        "affinity_terms": [[{"key": "zone", "operator": "In",
                                                                             "values": ["a"]}]]}}]}],
     "running": [{"name": "p", "node": "n1", "queue": "root.batch", "resources": {"vcore": 500, "pods": 1},
                  "application": "job-0", "task_group": "workers", "priority": 0}]}

Task groups and running pods may also have ``neighbours`` (``native_neighbours``).
Members that have a default in the types may be left out; unknown members are errors.
"""

from __future__ import annotations

from typing import Final

from reference.cluster import (
    ALONE,
    Application,
    Cluster,
    CompositeGroup,
    Constraints,
    GangStyle,
    Node,
    NodeType,
    Queue,
    QueueTree,
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
from reference.manifests.document import Field
from reference.manifests.native_neighbours import read_native_neighbours, read_native_requirement
from reference.manifests.notices import Notices, PlaceOf
from reference.manifests.quantity import INT64_MAX
from reference.manifests.queue_parts import only_keys

FORMAT: Final = "cluster/v1"
MARK: Final = "gangproof"
_MAX_DEPTH: Final = 50


def read_native(root: Field) -> tuple[Cluster, dict[str, Field]]:
    """The cluster in a native document, and the places of its nodes. Raises ManifestError.

    Whether names are unique and references resolve is left to ``Cluster.problems``.
    """
    only_keys(root, MARK, "nodes", "queues", "applications", "running", "node_types", "topologies")
    version = root.need(MARK, f"{FORMAT!r}")
    if version.value != FORMAT:
        raise version.error(f"{FORMAT!r}, the only format of this file that there is")
    nodes = root.list_of("nodes")
    cluster = Cluster(
        nodes=tuple(_node(node) for node in nodes),
        queues=QueueTree(_queue(root.need("queues", "the root queue"), "", 1)),
        applications=tuple(_application(application) for application in root.list_of("applications")),
        running=tuple(_running(pod) for pod in root.list_of("running")),
        node_types=tuple(_node_type(kind) for kind in root.list_of("node_types")),
        topologies=tuple(_topology(each) for each in root.list_of("topologies")),
    )
    return cluster, dict(zip((node.name for node in cluster.nodes), nodes, strict=True))


def _node(field: Field) -> Node:
    only_keys(field, "name", "capacity", "labels", "taints", "schedulable", "occupied", "node_type", "devices")
    return Node(
        name=_name(field),
        capacity=_resources(field.need("capacity", "a mapping of resources to amounts")),
        labels=field.optional("labels", Field.string_map, {}),
        taints=tuple(_taint(taint) for taint in field.list_of("taints")),
        schedulable=field.optional("schedulable", Field.boolean, True),
        occupied=field.optional("occupied", _resources, Resources()),
        node_type=field.optional("node_type", Field.string, ""),
        devices=tuple(each.string() for each in field.list_of("devices")),
    )


def _node_type(field: Field) -> NodeType:
    only_keys(field, "name", "capacity", "labels", "taints", "minimum", "maximum", "price", "priority")
    least = field.optional("minimum", _count, 0)
    expected = f"a whole number, at least the minimum ({least})"
    return NodeType(
        name=_name(field),
        capacity=_resources(field.need("capacity", "a mapping of resources to amounts")),
        labels=field.optional("labels", Field.string_map, {}),
        taints=tuple(_taint(taint) for taint in field.list_of("taints")),
        minimum=least,
        maximum=field.optional("maximum", lambda f: f.integer(least, INT64_MAX, expected), None),
        price=field.optional("price", _count, 0),
        priority=field.optional("priority", _signed, 0),
    )


def _topology(field: Field) -> Topology:
    only_keys(field, "name", "levels")
    return Topology(_name(field), _keys(field, "levels"))


def _near(field: Field) -> tuple[TopologyConstraint, ...]:
    """A list of topology constraints."""
    found: list[TopologyConstraint] = []
    for each in field.elements():
        only_keys(each, "keys", "required")
        found.append(TopologyConstraint(_keys(each, "keys"), each.optional("required", Field.boolean, True)))
    return tuple(found)


def _keys(field: Field, key: str) -> tuple[str, ...]:
    """Node labels, at least one, each once."""
    expected = "a list of node labels, widest first"
    found: list[str] = []
    for each in field.need(key, expected).elements(expected):
        name = each.name("a node label")
        if name in found:
            raise each.error("each label once", f"{name!r} a second time")
        found.append(name)
    if not found:
        raise field.need(key, expected).error("at least one node label", "an empty list")
    return tuple(found)


def _taint(field: Field) -> Taint:
    only_keys(field, "key", "value", "effect")
    effect = field.need("effect", "the effect").choice(TaintEffect)
    return Taint(field.need("key", "the key").string(), field.optional("value", Field.string, ""), effect)


def note_places(root: Field, notices: Notices) -> None:
    """Tells ``notices`` where the queues and gangs of a cluster stand that was read."""

    def queue(field: Field) -> None:
        notices.place(PlaceOf.QUEUE, field.need("name", "a name").string(), field)
        for child in field.list_of("children"):
            queue(child)

    queue(root.need("queues", "the root queue"))
    for application in root.list_of("applications"):
        notices.place(PlaceOf.GANG, application.need("name", "a name").string(), application)


def _queue(field: Field, above: str, depth: int) -> Queue:
    only_keys(
        field, "name", "maximum", "guaranteed", "sort_policy", "max_applications", "is_parent", "children", "weight",
        "deserved", "reserved", "priority", "reclaimable",
    )  # fmt: skip
    if depth > _MAX_DEPTH:
        raise field.error(f"at most {_MAX_DEPTH} levels of queues", "a deeper one")
    name = _name(field)
    if (above and not name.startswith(above + ".")) or "." in name[len(above) + 1 :] or name.endswith("."):
        example = f"{above}.x"
        expected = f"a name below its parent queue, such as {example!r}" if above else "a name without dots"
        raise field.need("name", "a name").error(expected)
    return Queue(
        name=name,
        maximum=field.optional("maximum", _resources, Resources()),
        guaranteed=field.optional("guaranteed", _resources, Resources()),
        sort_policy=field.optional("sort_policy", lambda f: f.choice(SortPolicy), SortPolicy.FIFO),
        max_applications=field.optional("max_applications", _count, None),
        children=tuple(_queue(child, name, depth + 1) for child in field.list_of("children")),
        is_parent=field.optional("is_parent", Field.boolean, False),
        weight=field.optional("weight", _count, 1),
        deserved=field.optional("deserved", _resources, Resources()),
        reserved=field.optional("reserved", _resources, Resources()),
        priority=field.optional("priority", _signed, 0),
        reclaimable=field.optional("reclaimable", Field.boolean, True),
    )


def _application(field: Field) -> Application:
    only_keys(
        field, "name", "queue", "task_groups", "submitted", "weight", "style", "placeholder_timeout_seconds",
        "min_members", "topology", "composites", "priority", "namespace",
    )  # fmt: skip
    groups = tuple(_task_group(group) for group in field.need("task_groups", "task groups").elements())
    most = sum(group.most for group in groups)
    expected = f"a whole number from 1 to {most}, the pods of all groups"
    return Application(
        name=_name(field),
        queue=field.need("queue", "the name of a leaf queue").name(),
        task_groups=groups,
        submitted=field.optional("submitted", _signed, 0),
        weight=field.optional("weight", _count, 1),
        style=field.optional("style", lambda f: f.choice(GangStyle), GangStyle.SOFT),
        placeholder_timeout_seconds=field.optional("placeholder_timeout_seconds", _count, 900),
        min_members=field.optional("min_members", lambda f: f.integer(1, most, expected), None),
        topology=field.optional("topology", _near, ()),
        composites=tuple(_composite(each) for each in field.list_of("composites")),
        priority=field.optional("priority", _signed, 0),
        namespace=field.optional("namespace", Field.string, ""),
    )


def _composite(field: Field) -> CompositeGroup:
    only_keys(field, "name", "children", "min_children", "topology")
    children: list[str] = []
    for child in field.need("children", "the names of its groups").elements("a list of names of groups"):
        name = child.name("the name of a task group or composite group")
        if name in children:
            raise child.error("each group once", f"{name!r} a second time")
        children.append(name)
    if not children:
        raise field.need("children", "names").error("at least one group", "an empty list")
    least = field.need("min_children", "how many of the children have to be whole")
    expected = f"a whole number from 1 to {len(children)}, the number of children"
    return CompositeGroup(
        name=_name(field),
        children=tuple(children),
        min_children=least.integer(1, len(children), expected),
        topology=field.optional("topology", _near, ()),
    )


def _task_group(field: Field) -> TaskGroup:
    only_keys(field, "name", "min_member", "min_resource", "constraints", "size", "topology", "neighbours")
    size = field.optional("size", lambda f: f.integer(1, INT64_MAX, "a whole number, 1 or more"), None)
    least = field.need("min_member", "how many pods")
    expected = "a whole number, 1 or more" if size is None else f"a whole number from 0 to the size ({size})"
    return TaskGroup(
        name=_name(field),
        min_member=least.integer(1 if size is None else 0, INT64_MAX if size is None else size, expected),
        min_resource=_resources(field.need("min_resource", "a mapping of resources to amounts")),
        constraints=field.optional("constraints", _constraints, Constraints()),
        size=size,
        topology=field.optional("topology", _near, ()),
        neighbours=field.optional("neighbours", read_native_neighbours, ALONE),
    )


def _constraints(field: Field) -> Constraints:
    only_keys(field, "node_selector", "tolerations", "affinity_terms")
    return Constraints(
        node_selector=tuple(_pair(pair) for pair in field.list_of("node_selector")),
        tolerations=tuple(_toleration(toleration) for toleration in field.list_of("tolerations")),
        affinity_terms=tuple(
            tuple(read_native_requirement(requirement) for requirement in term.elements())
            for term in field.list_of("affinity_terms")
        ),
    )


def _pair(field: Field) -> tuple[str, str]:
    only_keys(field, "key", "value")
    return field.need("key", "a label").string(), field.need("value", "its value").string()


def _toleration(field: Field) -> Toleration:
    only_keys(field, "key", "exists", "value", "effect")
    return Toleration(
        key=field.optional("key", Field.string, ""),
        exists=field.need("exists", "true or false").boolean(),
        value=field.optional("value", Field.string, ""),
        effect=field.optional("effect", lambda f: f.choice(TaintEffect), None),
    )


def _running(field: Field) -> RunningPod:
    only_keys(field, "name", "node", "queue", "resources", "application", "task_group", "priority", "neighbours")
    return RunningPod(
        name=_name(field),
        node=field.need("node", "the name of a node").name(),
        queue=field.need("queue", "the name of a queue").name(),
        resources=_resources(field.need("resources", "a mapping of resources to amounts")),
        application=field.optional("application", Field.string, ""),
        task_group=field.optional("task_group", Field.string, ""),
        priority=field.optional("priority", _signed, 0),
        neighbours=field.optional("neighbours", read_native_neighbours, ALONE),
    )


def _count(field: Field) -> int:
    return field.integer(0, INT64_MAX)


def _signed(field: Field) -> int:
    return field.integer(-INT64_MAX, INT64_MAX)


def _name(field: Field) -> str:
    return field.need("name", "a name").name()


def _resources(field: Field) -> Resources:
    expected = "a whole number in the resource's base unit, 0 or more"
    return Resources({key: field.child(key, v).integer(0, INT64_MAX, expected) for key, v in field.mapping().items()})


# For documents that hold parts of this format


def read_node(field: Field) -> Node:
    """One node. Raises ManifestError."""
    return _node(field)


def read_application(field: Field) -> Application:
    """One application. Raises ManifestError."""
    return _application(field)


def read_resources(field: Field) -> Resources:
    """Amounts in base units. Raises ManifestError."""
    return _resources(field)

"""gangproof's own JSON of a ``Cluster``: every field of the types in ``reference.cluster``, amounts in their integer
units (thousandths of a core or GPU, bytes, counts), nothing assumed. ``to_native`` writes it, ``load`` reads it back to
an equal cluster. ::

    {"gangproof": "cluster/v1",
     "nodes": [{"name": "n1", "capacity": {"vcore": 8000, "memory": 17179869184}, "labels": {"disk": "ssd"},
                "taints": [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}],
                "schedulable": true, "occupied": {"vcore": 100}}],
     "queues": {"name": "root", "is_parent": true, "children": [
                {"name": "root.batch", "maximum": {"vcore": 6000}, "guaranteed": {}, "sort_policy": "fifo",
                 "max_applications": 5, "is_parent": false, "children": []}]},
     "applications": [{"name": "job-1", "queue": "root.batch", "submitted": 0, "weight": 1, "style": "Soft",
                       "placeholder_timeout_seconds": 900,
                       "task_groups": [{"name": "workers", "min_member": 4, "min_resource": {"vcore": 1000},
                                        "constraints": {"node_selector": [{"key": "disk", "value": "ssd"}],
                                                        "tolerations": [{"key": "", "exists": true, "value": "",
                                                                         "effect": null}],
                                                        "affinity_terms": [[{"key": "zone", "operator": "In",
                                                                             "values": ["a"]}]]}}]}],
     "running": [{"name": "p", "node": "n1", "queue": "root.batch", "resources": {"vcore": 500, "pods": 1}}]}

Members that have a default in the types may be left out; unknown members are errors.
"""

from __future__ import annotations

from typing import Any, Final

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
from reference.manifests.document import Field
from reference.manifests.quantity import INT64_MAX
from reference.manifests.queue_parts import only_keys

FORMAT: Final = "cluster/v1"
MARK: Final = "gangproof"
_MAX_DEPTH: Final = 50


# Writing


def to_native(cluster: Cluster) -> dict[str, Any]:
    """The native JSON of ``cluster``, as dicts and lists ready for ``json.dumps``."""
    return {
        MARK: FORMAT,
        "nodes": [_node_json(node) for node in cluster.nodes],
        "queues": _queue_json(cluster.queues.root),
        "applications": [_application_json(application) for application in cluster.applications],
        "running": [
            {"name": pod.name, "node": pod.node, "queue": pod.queue, "resources": dict(pod.resources)}
            for pod in cluster.running
        ],
    }


def _node_json(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "capacity": dict(node.capacity),
        "labels": dict(sorted(node.labels.items())),
        "taints": [{"key": t.key, "value": t.value, "effect": t.effect.value} for t in node.taints],
        "schedulable": node.schedulable,
        "occupied": dict(node.occupied),
    }


def _queue_json(queue: Queue) -> dict[str, Any]:
    return {
        "name": queue.name,
        "maximum": dict(queue.maximum),
        "guaranteed": dict(queue.guaranteed),
        "sort_policy": queue.sort_policy.value,
        "max_applications": queue.max_applications,
        "is_parent": queue.is_parent,
        "children": [_queue_json(child) for child in queue.children],
    }


def _application_json(application: Application) -> dict[str, Any]:
    return {
        "name": application.name,
        "queue": application.queue,
        "submitted": application.submitted,
        "weight": application.weight,
        "style": application.style.value,
        "placeholder_timeout_seconds": application.placeholder_timeout_seconds,
        "task_groups": [
            {
                "name": group.name,
                "min_member": group.min_member,
                "min_resource": dict(group.min_resource),
                "constraints": _constraints_json(group.constraints),
            }
            for group in application.task_groups
        ],
    }


def _constraints_json(constraints: Constraints) -> dict[str, Any]:
    return {
        "node_selector": [{"key": key, "value": value} for key, value in constraints.node_selector],
        "tolerations": [
            {"key": t.key, "exists": t.exists, "value": t.value, "effect": t.effect.value if t.effect else None}
            for t in constraints.tolerations
        ],
        "affinity_terms": [
            [{"key": r.key, "operator": r.operator.value, "values": list(r.values)} for r in term]
            for term in constraints.affinity_terms
        ],
    }


# Reading


def read_native(root: Field) -> tuple[Cluster, dict[str, Field]]:
    """The cluster in a native document, and the places of its nodes. Raises ManifestError.

    Whether names are unique and references resolve is left to ``Cluster.problems``.
    """
    only_keys(root, MARK, "nodes", "queues", "applications", "running")
    version = root.need(MARK, f"{FORMAT!r}")
    if version.value != FORMAT:
        raise version.error(f"{FORMAT!r}, the only format of this file that there is")
    nodes = root.list_of("nodes")
    cluster = Cluster(
        nodes=tuple(_node(node) for node in nodes),
        queues=QueueTree(_queue(root.need("queues", "the root queue"), "", 1)),
        applications=tuple(_application(application) for application in root.list_of("applications")),
        running=tuple(_running(pod) for pod in root.list_of("running")),
    )
    return cluster, dict(zip((node.name for node in cluster.nodes), nodes, strict=True))


def _node(field: Field) -> Node:
    only_keys(field, "name", "capacity", "labels", "taints", "schedulable", "occupied")
    return Node(
        name=_name(field),
        capacity=_resources(field.need("capacity", "a mapping of resources to amounts")),
        labels=field.optional("labels", Field.string_map, {}),
        taints=tuple(_taint(taint) for taint in field.list_of("taints")),
        schedulable=field.optional("schedulable", Field.boolean, True),
        occupied=field.optional("occupied", _resources, Resources()),
    )


def _taint(field: Field) -> Taint:
    only_keys(field, "key", "value", "effect")
    effect = field.need("effect", "the effect").choice(TaintEffect)
    return Taint(field.need("key", "the key").string(), field.optional("value", Field.string, ""), effect)


def _queue(field: Field, above: str, depth: int) -> Queue:
    only_keys(field, "name", "maximum", "guaranteed", "sort_policy", "max_applications", "is_parent", "children")
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
        max_applications=field.optional("max_applications", lambda f: f.integer(0, INT64_MAX), None),
        children=tuple(_queue(child, name, depth + 1) for child in field.list_of("children")),
        is_parent=field.optional("is_parent", Field.boolean, False),
    )


def _application(field: Field) -> Application:
    only_keys(field, "name", "queue", "task_groups", "submitted", "weight", "style", "placeholder_timeout_seconds")
    return Application(
        name=_name(field),
        queue=field.need("queue", "the name of a leaf queue").name(),
        task_groups=tuple(_task_group(group) for group in field.need("task_groups", "task groups").elements()),
        submitted=field.optional("submitted", lambda f: f.integer(-INT64_MAX, INT64_MAX), 0),
        weight=field.optional("weight", lambda f: f.integer(0, INT64_MAX), 1),
        style=field.optional("style", lambda f: f.choice(GangStyle), GangStyle.SOFT),
        placeholder_timeout_seconds=field.optional(
            "placeholder_timeout_seconds", lambda f: f.integer(0, INT64_MAX), 900
        ),
    )


def _task_group(field: Field) -> TaskGroup:
    only_keys(field, "name", "min_member", "min_resource", "constraints")
    return TaskGroup(
        name=_name(field),
        min_member=field.need("min_member", "how many pods").integer(1, INT64_MAX, "a whole number, 1 or more"),
        min_resource=_resources(field.need("min_resource", "a mapping of resources to amounts")),
        constraints=field.optional("constraints", _constraints, Constraints()),
    )


def _constraints(field: Field) -> Constraints:
    only_keys(field, "node_selector", "tolerations", "affinity_terms")
    return Constraints(
        node_selector=tuple(_pair(pair) for pair in field.list_of("node_selector")),
        tolerations=tuple(_toleration(toleration) for toleration in field.list_of("tolerations")),
        affinity_terms=tuple(
            tuple(_requirement(requirement) for requirement in term.elements())
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


def _requirement(field: Field) -> Requirement:
    only_keys(field, "key", "operator", "values")
    operator = field.need("operator", "an operator").choice(Operator)
    values = tuple(value.string() for value in field.list_of("values"))
    return Requirement(field.need("key", "a label").string(), operator, values)


def _running(field: Field) -> RunningPod:
    only_keys(field, "name", "node", "queue", "resources")
    return RunningPod(
        name=_name(field),
        node=field.need("node", "the name of a node").name(),
        queue=field.need("queue", "the name of a queue").name(),
        resources=_resources(field.need("resources", "a mapping of resources to amounts")),
    )


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

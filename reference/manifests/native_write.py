"""Writes gangproof's own JSON of a ``Cluster``; ``reference.manifests.native`` says what it looks like and reads it."""

from __future__ import annotations

from typing import Any

from reference.cluster import (
    Application,
    Cluster,
    Constraints,
    Node,
    NodeType,
    Queue,
    Taint,
    TaskGroup,
    TopologyConstraint,
)
from reference.manifests.native import FORMAT, MARK
from reference.manifests.native_neighbours import neighbours_json, requirement_json


def to_native(cluster: Cluster) -> dict[str, Any]:
    """The native JSON of ``cluster``, as dicts and lists ready for ``json.dumps``."""
    return {
        MARK: FORMAT,
        "nodes": [_node_json(node) for node in cluster.nodes],
        "queues": _queue_json(cluster.queues.root),
        "applications": [_application_json(application) for application in cluster.applications],
        "running": [
            {
                "name": pod.name,
                "node": pod.node,
                "queue": pod.queue,
                "resources": dict(pod.resources),
                "application": pod.application,
                "task_group": pod.task_group,
                "priority": pod.priority,
                "neighbours": neighbours_json(pod.neighbours),
            }
            for pod in cluster.running
        ],
        "node_types": [_node_type_json(kind) for kind in cluster.node_types],
        "topologies": [{"name": each.name, "levels": list(each.levels)} for each in cluster.topologies],
    }


def _node_json(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "capacity": dict(node.capacity),
        "labels": dict(sorted(node.labels.items())),
        "taints": _taints_json(node.taints),
        "schedulable": node.schedulable,
        "occupied": dict(node.occupied),
        "node_type": node.node_type,
        "devices": list(node.devices),
    }


def _taints_json(taints: tuple[Taint, ...]) -> list[dict[str, str]]:
    return [{"key": t.key, "value": t.value, "effect": t.effect.value} for t in taints]


def _node_type_json(kind: NodeType) -> dict[str, Any]:
    return {
        "name": kind.name,
        "capacity": dict(kind.capacity),
        "labels": dict(sorted(kind.labels.items())),
        "taints": _taints_json(kind.taints),
        "minimum": kind.minimum,
        "maximum": kind.maximum,
        "price": kind.price,
        "priority": kind.priority,
    }


def _topology_json(constraints: tuple[TopologyConstraint, ...]) -> list[dict[str, Any]]:
    return [{"keys": list(each.keys), "required": each.required} for each in constraints]


def _queue_json(queue: Queue) -> dict[str, Any]:
    return {
        "name": queue.name,
        "maximum": dict(queue.maximum),
        "guaranteed": dict(queue.guaranteed),
        "sort_policy": queue.sort_policy.value,
        "max_applications": queue.max_applications,
        "is_parent": queue.is_parent,
        "weight": queue.weight,
        "deserved": dict(queue.deserved),
        "reserved": dict(queue.reserved),
        "priority": queue.priority,
        "reclaimable": queue.reclaimable,
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
        "min_members": application.min_members,
        "topology": _topology_json(application.topology),
        "composites": [
            {
                "name": each.name,
                "children": list(each.children),
                "min_children": each.min_children,
                "topology": _topology_json(each.topology),
            }
            for each in application.composites
        ],
        "priority": application.priority,
        "namespace": application.namespace,
        "task_groups": [_task_group_json(group) for group in application.task_groups],
    }


def _task_group_json(group: TaskGroup) -> dict[str, Any]:
    return {
        "name": group.name,
        "min_member": group.min_member,
        "min_resource": dict(group.min_resource),
        "constraints": _constraints_json(group.constraints),
        "size": group.size,
        "topology": _topology_json(group.topology),
        "neighbours": neighbours_json(group.neighbours),
    }


def _constraints_json(constraints: Constraints) -> dict[str, Any]:
    return {
        "node_selector": [{"key": key, "value": value} for key, value in constraints.node_selector],
        "tolerations": [
            {"key": t.key, "exists": t.exists, "value": t.value, "effect": t.effect.value if t.effect else None}
            for t in constraints.tolerations
        ],
        "affinity_terms": [[requirement_json(each) for each in term] for term in constraints.affinity_terms],
    }

"""Nodes as ``kubectl get nodes -o json|yaml`` prints them (API: core/v1 Node)."""

from __future__ import annotations

from reference.cluster.node import Node, Taint
from reference.cluster.resources import PODS, Resources
from reference.manifests.amounts import kubernetes_resources
from reference.manifests.constraints import read_effect
from reference.manifests.document import Field
from reference.manifests.notices import Notices


def read_node(field: Field, notices: Notices) -> Node:
    """One Node object: allocatable resources, labels, taints, cordon."""
    metadata = field.need("metadata", "metadata with a name")
    name = metadata.need("name", "the node's name").name("the node's name")
    labels = metadata.get("labels")
    spec = field.get("spec")
    unschedulable = spec.get("unschedulable") if spec else None
    return Node(
        name=name,
        capacity=_capacity(field, notices),
        labels=labels.string_map() if labels else {},
        taints=tuple(_taint(t) for t in spec.list_of("taints")) if spec else (),
        schedulable=not (unschedulable and unschedulable.boolean()),
    )


def _capacity(field: Field, notices: Notices) -> Resources:
    status = field.need("status", "status.allocatable")
    amounts = status.get("allocatable")
    if amounts is None:
        amounts = status.need("capacity", "status.allocatable (or at least status.capacity)")
        notices.add(status, "no allocatable: capacity is taken, which also counts what the system reserves", "capacity")
    capacity = kubernetes_resources(amounts)
    if PODS not in capacity:
        notices.add(amounts, "no number of pods: it is taken as unlimited", "node pods")
    return capacity


def _taint(field: Field) -> Taint:
    value = field.get("value")
    return Taint(
        key=field.need("key", "the taint's key").name("the taint's key"),
        value=value.string() if value else "",
        effect=read_effect(field.need("effect", "NoSchedule, PreferNoSchedule or NoExecute")),
    )

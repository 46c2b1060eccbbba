"""Nodes that no gang of the input can tell apart, found before anything is asked of a single node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from reference.cluster import PODS, Cluster, Node

Free = Mapping[str, int | None]
"""Free amount per type that a node lists, at least 0; ``pods`` is None (any number) where the node does not list it."""


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes with the same free amounts and taints, and the same labels as far as a gang asks for them."""

    node: Node
    free: Free
    names: tuple[str, ...]


def node_kinds(cluster: Cluster) -> list[NodeKind]:
    """The kinds of ``cluster``'s nodes, by first name; names within a kind are sorted."""
    constraints = {group.constraints for app in cluster.applications for group in app.task_groups}
    asked = {key for c in constraints for key, _ in c.node_selector}
    asked |= {requirement.key for c in constraints for term in c.affinity_terms for requirement in term}
    used_on: dict[str, Counter[str]] = {node.name: Counter() for node in cluster.nodes}
    for pod in cluster.running:
        used_on[pod.node].update(pod.resources)
    alike: dict[object, tuple[Node, Free, list[str]]] = {}
    for node in sorted(cluster.nodes, key=lambda n: n.name):
        free = _free(node, used_on[node.name])
        labels = frozenset((k, v) for k, v in node.labels.items() if k in asked)
        key = (tuple(sorted(free.items())), labels, frozenset(node.taints), node.schedulable)
        alike.setdefault(key, (node, free, []))[2].append(node.name)
    return [NodeKind(node, free, tuple(names)) for node, free, names in alike.values()]


def _free(node: Node, used: Mapping[str, int]) -> Free:
    """What ``node`` has left beside ``used``, its running pods; an overcommitted type counts as 0."""
    available = node.available
    free: dict[str, int | None] = {r: max(available.amount(r) - used.get(r, 0), 0) for r in node.capacity}
    free.setdefault(PODS, None)
    return free

"""Nodes that no gang of the input can tell apart, found before anything is asked of a single node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from reference.cluster import PODS, Cluster, Node
from reference.cluster.node import DEVICE
from solver_placement.options import required_keys

Free = Mapping[str, int | None]
"""Free amount per type that a node lists, at least 0; ``pods`` is None (any number) where the node does not list it."""


NO_PRICES: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes with the same free amounts and taints, and the same labels as far as a gang asks for them.

    ``held`` are the shares of running pods per type that the node hands out by device.
    """

    node: Node
    free: Free
    held: Mapping[str, tuple[int, ...]]
    names: tuple[str, ...]
    price: int | None = None


def node_kinds(cluster: Cluster, prices: Mapping[str, int] = NO_PRICES) -> list[NodeKind]:
    """The kinds of ``cluster``'s nodes, by first name; names within a kind are sorted. ``prices`` tell nodes apart."""
    constraints = {group.constraints for app in cluster.applications for group in app.task_groups}
    asked = {key for c in constraints for key, _ in c.node_selector}
    asked |= {requirement.key for c in constraints for term in c.affinity_terms for requirement in term}
    asked |= {key for app in cluster.applications for keys in required_keys(app) for key in keys}
    used_on: dict[str, Counter[str]] = {node.name: Counter() for node in cluster.nodes}
    shares: dict[str, dict[str, list[int]]] = {node.name: {name: [] for name in node.devices} for node in cluster.nodes}
    for pod in cluster.running:
        used_on[pod.node].update(pod.resources)
        for name, held in shares[pod.node].items():
            if 0 < (amount := pod.resources.amount(name)) < DEVICE:
                held.append(amount)
    alike: dict[object, tuple[NodeKind, list[str]]] = {}
    for node in sorted(cluster.nodes, key=lambda n: n.name):
        free = _free(node, used_on[node.name])
        labels = frozenset((k, v) for k, v in node.labels.items() if k in asked)
        held_here = {name: tuple(sorted(held)) for name, held in shares[node.name].items()}
        devices = tuple(sorted(held_here.items()))
        key = (
            tuple(sorted(free.items())),
            labels,
            frozenset(node.taints),
            node.schedulable,
            devices,
            prices.get(node.name),
        )
        alike.setdefault(key, (NodeKind(node, free, held_here, (), prices.get(node.name)), []))[1].append(node.name)
    return [replace(kind, names=tuple(names)) for kind, names in alike.values()]


def _free(node: Node, used: Mapping[str, int]) -> Free:
    """What ``node`` has left beside ``used``, its running pods; an overcommitted type counts as 0."""
    available = node.available
    free: dict[str, int | None] = {r: max(available.amount(r) - used.get(r, 0), 0) for r in node.capacity}
    free.setdefault(PODS, None)
    return free

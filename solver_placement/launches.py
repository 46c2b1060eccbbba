"""Nodes that may be launched, as nodes of the question: an autoscaler's side of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reference.cluster import Cluster, Node, Placement


@dataclass(frozen=True, slots=True)
class Offer:
    """``cluster`` has every node that may be launched; ``prices`` of those that do not have to be in any case.

    ``types`` is the type of each such node, ``forced`` those that the minima of types ask for.
    """

    cluster: Cluster
    prices: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    forced: frozenset[str] = frozenset()

    def launched(self, placement: Placement) -> tuple[Cluster, dict[str, int]]:
        """The cluster with the nodes that are launched for ``placement``, and how many of each type those are."""
        used = {a.node for a in placement.assignments} | self.forced
        kept = tuple(node for node in self.cluster.nodes if node.name not in self.types or node.name in used)
        counts = Counter(self.types[node.name] for node in kept if node.name in self.types)
        return replace(self.cluster, nodes=kept), dict(sorted(counts.items()))


def offer(cluster: Cluster) -> Offer:
    """As many new nodes of each type as it may have, and as could hold a pod."""
    if not cluster.node_types:
        return Offer(cluster)
    pods = sum(group.most for app in cluster.applications for group in app.task_groups)
    taken = {node.name for node in cluster.nodes}
    there = Counter(node.node_type for node in cluster.nodes)
    nodes: list[Node] = list(cluster.nodes)
    prices: dict[str, int] = {}
    types: dict[str, str] = {}
    forced: set[str] = set()
    for kind in cluster.node_types:
        needed = max(kind.minimum - there[kind.name], 0)
        room = pods if kind.maximum is None else min(kind.maximum - there[kind.name], pods)
        for i in range(max(needed, room)):
            name = f"{kind.name}-new-{i + 1:05}"
            while name in taken:
                name += "'"
            taken.add(name)
            nodes.append(kind.node(name))
            types[name] = kind.name
            if i < needed:
                forced.add(name)
            else:
                prices[name] = kind.price
    return Offer(replace(cluster, nodes=tuple(nodes), node_types=cluster.node_types), prices, types, frozenset(forced))

"""Room on the nodes, and the order in which nodes are tried.

Order: YuniKorn scores a node by the mean of its used shares of vcore and memory; ``fair`` tries the lowest score first,
``binpacking`` the highest, ties by the order of the nodes in the cluster. YuniKorn computes the score in floats; here
it is an exact fraction.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from reference.cluster import MEMORY, PODS, VCORE, Cluster, Constraints, Node, Resources
from reference.schedulers.yunikorn.options import NodeOrder

Pod = tuple[Resources, Constraints]
"""What decides where a pod may go."""
Want = list[tuple[str, int]]
"""Amounts above 0 that a pod asks for."""


class Nodes:
    """Free room per node, kept up to date, with the nodes sorted by score."""

    def __init__(self, cluster: Cluster, order: NodeOrder) -> None:
        # labels and taints of each node; whether it is cordoned changes, and is kept beside them
        self.nodes = [replace(node, schedulable=True) for node in cluster.nodes]
        self.index = {node.name: i for i, node in enumerate(cluster.nodes)}
        self.cordoned = {node.name for node in cluster.nodes if not node.schedulable}
        self._closed_at_start = frozenset(self.cordoned)
        self._sign = 1 if order is NodeOrder.FAIR else -1
        self._free: list[dict[str, int]] = [dict(node.available) for node in cluster.nodes]
        self._lists_pods = [PODS in node.capacity for node in cluster.nodes]
        self._wants: dict[Resources, tuple[Want, Want]] = {}
        for pod in cluster.running:
            self._change(self.index[pod.node], pod.resources, -1)
        self._scores = [self._score(i) for i in range(len(self.nodes))]
        self._sorted = sorted((score, i) for i, score in enumerate(self._scores))
        self._allowed: dict[Constraints, list[bool]] = {}
        # pods for which no node had room; room only shrinks until something is given back, so they need no second look
        self._no_room: set[Pod] = set()

    def closed_at_start(self, node: str) -> bool:
        """Whether the cluster itself says that ``node`` is cordoned."""
        return node in self._closed_at_start

    def free(self, node: str) -> Mapping[str, int]:
        """What ``node`` has left, per type that it lists."""
        return self._free[self.index[node]]

    def fits(self, node: str, resources: Resources, constraints: Constraints) -> bool:
        """Whether a pod may run on ``node`` and has room there now."""
        i = self.index[node]
        return self._admits(constraints)[i] and self._has_room(i, self._wanted(resources))

    def choices(self, resources: Resources, constraints: Constraints) -> Iterator[str]:
        """The nodes that can take a pod now, in the order in which they are tried."""
        allowed, wants = self._admits(constraints), self._wanted(resources)
        return (self.nodes[i].name for _, i in self._sorted if allowed[i] and self._has_room(i, wants))

    def first(self, resources: Resources, constraints: Constraints) -> str | None:
        """The node that a pod goes to now, or None."""
        pod = (resources, constraints)
        if pod in self._no_room:
            return None
        found = next(self.choices(resources, constraints), None)
        if found is None:
            self._no_room.add(pod)
        return found

    def take(self, node: str, resources: Resources) -> None:
        """A pod of ``resources`` now runs on ``node``."""
        i = self.index[node]
        self._change(i, resources, -1)
        self._sort_again(i)

    def give(self, node: str, resources: Resources) -> None:
        """A pod of ``resources`` has left ``node``."""
        i = self.index[node]
        self._change(i, resources, 1)
        self._sort_again(i)
        self._no_room = {pod for pod in self._no_room if not self.fits(node, *pod)}

    def cordon(self, node: str) -> None:
        """``node`` takes no new pods; those on it stay."""
        self.cordoned.add(node)
        self._allowed.clear()

    def uncordon(self, node: str) -> None:
        """``node`` takes pods again."""
        self.cordoned.discard(node)
        self._allowed.clear()
        self._no_room.clear()

    def add(self, node: Node, free: Resources) -> None:
        """``node`` takes pods from now on; its place is that of its name, or the last."""
        i = self.index.setdefault(node.name, len(self.nodes))
        if i == len(self.nodes):
            self.nodes.append(node)
            self._free.append({})
            self._lists_pods.append(False)
            self._scores.append(Fraction(0))
        self.nodes[i], self._free[i] = replace(node, schedulable=True), dict(free)
        self._lists_pods[i] = PODS in node.capacity
        self._scores[i] = self._score(i)
        bisect.insort(self._sorted, (self._scores[i], i))
        (self.cordoned.discard if node.schedulable else self.cordoned.add)(node.name)
        self._allowed.clear()
        self._no_room.clear()

    def remove(self, node: str) -> None:
        """``node`` is gone; what is given back on it later changes nothing."""
        i = self.index[node]
        self._sorted.remove((self._scores[i], i))
        self.cordon(node)

    def why_not(self, node: str, resources: Resources, constraints: Constraints) -> str | None:
        """The first thing that keeps a pod off ``node``, or None: a constraint, or the type that is short."""
        i = self.index[node]
        if node in self.cordoned:
            return "node is cordoned"
        reason = self.nodes[i].why_not(constraints)
        if reason is not None:
            return reason
        wants = self._wanted(resources)[self._lists_pods[i]]
        short = next((name for name, amount in wants if amount > self._free[i].get(name, 0)), None)
        return None if short is None else f"not enough {short}"

    def _admits(self, constraints: Constraints) -> list[bool]:
        allowed = self._allowed.get(constraints)
        if allowed is None:
            allowed = [node.name not in self.cordoned and node.admits(constraints) for node in self.nodes]
            self._allowed[constraints] = allowed
        return allowed

    def _wanted(self, resources: Resources) -> tuple[Want, Want]:
        """What counts on a node that does not list ``pods``, and on one that does (``Node.counted``)."""
        wants = self._wants.get(resources)
        if wants is None:
            every = [(name, amount) for name, amount in resources.items() if amount > 0]
            wants = self._wants[resources] = ([want for want in every if want[0] != PODS], every)
        return wants

    def _has_room(self, i: int, wants: tuple[Want, Want]) -> bool:
        free = self._free[i]
        for name, amount in wants[self._lists_pods[i]]:  # noqa: SIM110  # the innermost loop: all() costs twice as much
            if amount > free.get(name, 0):
                return False
        return True

    def _change(self, i: int, resources: Resources, sign: int) -> None:
        free = self._free[i]
        for name, amount in self._wanted(resources)[self._lists_pods[i]]:
            free[name] = free.get(name, 0) + sign * amount

    def _score(self, i: int) -> Fraction:
        capacity, free = self.nodes[i].capacity, self._free[i]
        shares = [1 - Fraction(free[name], capacity[name]) for name in (VCORE, MEMORY) if capacity.get(name, 0) > 0]
        return sum(shares, Fraction(0)) * Fraction(self._sign, max(len(shares), 1))

    def _sort_again(self, i: int) -> None:
        place = bisect.bisect_left(self._sorted, (self._scores[i], i))
        if place == len(self._sorted) or self._sorted[place] != (self._scores[i], i):
            return  # the node is gone
        del self._sorted[place]
        self._scores[i] = self._score(i)
        bisect.insort(self._sorted, (self._scores[i], i))

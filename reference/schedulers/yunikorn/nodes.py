"""Room on the nodes, and the order in which nodes are tried.

Order: YuniKorn scores a node by the mean of its used shares of vcore and memory; ``fair`` tries the lowest score first,
``binpacking`` the highest. Ties go by the order of the nodes in the cluster, or by name, as the program has it.
YuniKorn computes the score in floats; here it is an exact fraction.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from reference.cluster import MEMORY, PODS, VCORE, Constraints, Node, Resources, RunningPod
from reference.schedulers.yunikorn.options import NodeOrder

Pod = tuple[Resources, Constraints]
"""What decides where a pod may go."""
Score = tuple[float, Fraction, str, int]
"""The score, rounded to the nearest double, and exact; then what breaks ties.

Rounding keeps order, so comparing doubles first changes nothing but the time it takes.
"""
Want = list[tuple[str, int]]
"""Amounts above 0 that a pod asks for."""


class Nodes:
    """Free room per node, kept up to date, with the nodes sorted by score."""

    def __init__(
        self, nodes: Iterable[Node], order: NodeOrder, running: Iterable[RunningPod] = (), ties_by_name: bool = False
    ) -> None:
        # labels and taints of each node; whether it is cordoned changes, and is kept beside them
        self.nodes: list[Node] = []
        self.index: dict[str, int] = {}
        self.cordoned: set[str] = set()
        self._sign = 1 if order is NodeOrder.FAIR else -1
        self._ties_by_name = ties_by_name
        self._free: list[dict[str, int]] = []
        self._lists_pods: list[bool] = []
        self._wants: dict[Resources, tuple[Want, Want]] = {}
        self._scores: list[Score] = []
        self._sorted: list[Score] = []
        # one object for one value: a comparison of tuples sees at once that they are the same
        self._exact: dict[tuple[int, int], Fraction] = {}
        self._allowed: dict[Constraints, list[bool]] = {}
        # pods for which no node had room; room only shrinks until something is given back, so they need no second look
        self._no_room: set[Pod] = set()
        for node in nodes:
            self._enter(node)
        self._closed_at_start = frozenset(self.cordoned)
        for pod in running:
            self._change(self.index[pod.node], pod.resources, -1)
        self._scores = [self._score(i) for i in range(len(self.nodes))]
        self._sorted = sorted(self._scores)

    def _enter(self, node: Node) -> int:
        """A node at the end of the tables, not in the order yet."""
        i = self.index[node.name] = len(self.nodes)
        self.nodes.append(replace(node, schedulable=True))
        self._free.append(dict(node.available))
        self._lists_pods.append(PODS in node.capacity)
        if not node.schedulable:
            self.cordoned.add(node.name)
        return i

    def add(self, node: Node, free: Resources | None = None) -> None:
        """A node that was not there, or is there again, with ``free`` left where pods are on it already."""
        i = self._enter(node)
        if free is not None:
            self._free[i] = dict(free)
        self._scores.append(self._score(i))
        bisect.insort(self._sorted, self._scores[i])
        self._allowed.clear()
        self._no_room.clear()

    def remove(self, node: str) -> Node:
        """A node is gone, with what it has; its place in the tables stays empty."""
        i = self.index.pop(node)
        del self._sorted[bisect.bisect_left(self._sorted, self._scores[i])]
        self.cordoned.discard(node)
        return self.nodes[i]

    def closed_at_start(self, node: str) -> bool:
        """Whether the cluster itself says that ``node`` is cordoned."""
        return node in self._closed_at_start

    def free(self, node: str) -> Mapping[str, int]:
        """What ``node`` has left, per type that it lists."""
        return self._free[self.index[node]]

    def capacity(self, node: str) -> Resources:
        """All that ``node`` has."""
        return self.nodes[self.index[node]].capacity

    def in_order(self) -> Iterator[str]:
        """All nodes, in the order in which they are tried."""
        return (self.nodes[score[-1]].name for score in self._sorted)

    def admits(self, node: str, constraints: Constraints) -> bool:
        """Whether a pod may run on ``node``, room aside."""
        return self._admits(constraints)[self.index[node]]

    def fits(self, node: str, resources: Resources, constraints: Constraints) -> bool:
        """Whether a pod may run on ``node`` and has room there now."""
        i = self.index[node]
        return self._admits(constraints)[i] and self._has_room(i, self._wanted(resources))

    def choices(self, resources: Resources, constraints: Constraints) -> Iterator[str]:
        """The nodes that can take a pod now, in the order in which they are tried."""
        allowed, wants, frees, lists = self._admits(constraints), self._wanted(resources), self._free, self._lists_pods
        for score in self._sorted:
            i = score[-1]
            if allowed[i]:
                free = frees[i]
                for name, amount in wants[lists[i]]:  # _has_room, without a call: this is the innermost loop
                    if amount > free.get(name, 0):
                        break
                else:
                    yield self.nodes[i].name

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
        """A pod of ``resources`` has left ``node``; on one that is gone this changes nothing."""
        i = self.index.get(node)
        if i is None:
            return
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

    def _score(self, i: int) -> Score:
        node, free = self.nodes[i], self._free[i]
        used, whole, types = 0, 1, 0  # the sum of shares is used / whole
        for name in (VCORE, MEMORY):
            capacity = node.capacity.get(name, 0)
            if capacity > 0:
                used, whole, types = used * capacity + (capacity - free[name]) * whole, whole * capacity, types + 1
        parts = (self._sign * used, whole * max(types, 1))
        exact = self._exact.get(parts)
        if exact is None:
            exact = self._exact[parts] = Fraction(*parts)
        return (parts[0] / parts[1], exact, node.name if self._ties_by_name else "", i)

    def _sort_again(self, i: int) -> None:
        place = bisect.bisect_left(self._sorted, self._scores[i])
        if place == len(self._sorted) or self._sorted[place] != self._scores[i]:
            return  # the node is gone
        del self._sorted[place]
        self._scores[i] = self._score(i)
        bisect.insort(self._sorted, self._scores[i])

"""The index behind "the best node": what was found out about a node is kept until it may have changed.

The rule is Ray's: try every node with all requests that are left, take the one of the highest score, of several the
first in the list; again. Two observations make it fast and change nothing:

- Nodes that are alike take the same, so one try speaks for all of them.
- Requests only get fewer. A node would still take what it took, as long as no fewer than that are left of each.

So each group of nodes alike is tried once, ranked in a heap, and tried again only when something that it took has
become too few.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from reference.schedulers.ray.node import Fill, Need, Rules, SchedulingNode, Source, try_schedule
from reference.schedulers.ray.request import InstanceStatus

Ties = Callable[[str], tuple[float, ...]]
"""What tells nodes of one score apart, by node type: larger is better."""


class Demand:
    """The requests of one pass, sorted, and how many of each are left."""

    def __init__(self, needs: Sequence[Need], counts: Sequence[int]) -> None:
        self.needs = needs
        self.remaining = list(counts)
        self.waiting = [index for index, count in enumerate(counts) if count]

    def take(self, took: Sequence[tuple[int, int]]) -> None:
        """These are placed."""
        for index, count in took:
            self.remaining[index] -= count
            if not self.remaining[index]:
                self.waiting.remove(index)

    def fits_somewhere_in(self, node: SchedulingNode, source: Source) -> bool:
        """Whether the node has the resources for any request, labels aside."""
        return any(self.needs[index].fits(node.available[source]) for index in self.waiting)


@dataclass(slots=True, eq=False)
class _Group:
    """Nodes alike, by number. ``fill`` is what the first would take, None where that is not known (any more),
    ``tried`` the node that it was found with, ``filled`` that node with it."""

    nodes: deque[tuple[int, SchedulingNode]] = field(default_factory=deque)
    fill: Fill | None = None
    tried: SchedulingNode | None = None
    filled: SchedulingNode | None = None
    version: int = 0
    is_out: bool = False


class Candidates:
    """Nodes that wait to be chosen, in the order of ``add``, for the requests of ``demand`` that are left."""

    def __init__(self, demand: Demand, source: Source, *, rules: Rules, alike_once: bool, ties: Ties) -> None:
        self._demand, self._source, self._ties = demand, source, ties
        self._rules, self._alike_once = rules, alike_once
        self._groups: dict[object, _Group] = {}
        self._ranked: list[tuple[tuple[float, ...], int, int, _Group]] = []
        self._watched: list[list[tuple[int, int, int, _Group]]] = [[] for _ in demand.needs]
        self._labels = frozenset(label for need in demand.needs for label in need.request.labels)
        self._twins: list[_Group] = []
        self._number = self._versions = 0

    def add(self, node: SchedulingNode) -> None:
        """One more, at the end of the list; numbers count from 1."""
        self._number += 1
        key = self._key(node)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group()
            if self._is_one_of_twins(node):
                self._twins.append(group)
        group.nodes.append((self._number, node))
        if len(group.nodes) == 1 or group in self._twins:
            self._rank(group)

    def take_best(self) -> tuple[int, SchedulingNode] | None:
        """The best node, filled, and its number; it is no candidate any more, and what it took is taken off the
        demand."""
        while self._ranked:
            _, number, version, group = heappop(self._ranked)
            if version != group.version or group.fill is None:
                continue
            node, fill = group.nodes.popleft()[1], group.fill
            if group.filled is None or group.tried is not node:
                group.tried, group.filled = node, fill.onto(node, self._source)
            filled = group.filled
            self._demand.take(fill.took)
            for each in (group, *self._twins):
                self._rank(each)
            self._try_again_where_too_few(fill.took)
            return number, filled
        return None

    def _key(self, node: SchedulingNode) -> object:
        if self._is_one_of_twins(node):
            return node.twin
        if self._alike_once and node.instance_status is not InstanceStatus.RAY_RUNNING:
            return node.looks[self._source]
        labels = self._labels.union(*(request.labels for request, _ in node.scheduled[self._source]))
        # Other labels decide nothing, and a node has some of its own, its name say.
        told = frozenset((label, node.labels.get(label)) for label in labels)
        return told, node.holds[self._source]

    def _is_one_of_twins(self, node: SchedulingNode) -> bool:
        return bool(node.twin) and not self._alike_once

    def _rank(self, group: _Group) -> None:
        """Gives the group its place by its first node, trying it where what that would take is not known."""
        self._versions += 1
        group.version = self._versions
        if not group.nodes or group.is_out:
            return
        number, node = group.nodes[0]
        if group.tried is not None and group.tried.scheduled[self._source] != node.scheduled[self._source]:
            group.fill = None
        if group in self._twins:
            group.fill = None  # what is tried on these depends on how many are left, and on more than is taken
        if group.fill is not None and any(self._demand.remaining[i] < count for i, count in group.fill.took):
            group.fill = None
        if group.fill is None:
            group.tried, group.filled = node, None
            group.fill = self._try(node, len(group.nodes))
            if group.fill is None:  # nor later, as requests only get fewer
                group.is_out = True
                return
        rank = (*group.fill.score, *self._ties(node.node_type))
        heappush(self._ranked, (tuple(-value for value in rank), number, group.version, group))
        for index, count in group.fill.took:
            heappush(self._watched[index], (-count, number, group.version, group))

    def _try_again_where_too_few(self, took: Sequence[tuple[int, int]]) -> None:
        """Groups that would take more of something than is left of it."""
        for index, _ in took:
            watched, left = self._watched[index], self._demand.remaining[index]
            while watched and -watched[0][0] > left:
                _, _, version, group = heappop(watched)
                if version == group.version:
                    self._rank(group)

    def _try(self, node: SchedulingNode, places: int) -> Fill | None:
        if not self._is_one_of_twins(node):
            return self._try_once(node)
        # Each place of the twins is tried on the one object, so on what the places before took too; and the one that
        # is chosen leaves with all of that, though only what it took itself counts as placed.
        best: Fill | None = None
        last: Fill | None = None
        for _ in range(places):
            fill = self._try_once(last.onto(node, self._source) if last else node)
            if fill is None:
                break
            if best is None or fill.score > best.score:
                best = fill
            last = fill
        return replace(last, took=best.took, score=best.score) if best and last else None

    def _try_once(self, node: SchedulingNode) -> Fill | None:
        demand = self._demand
        return try_schedule(node, self._source, demand.needs, demand.remaining, demand.waiting, self._rules)

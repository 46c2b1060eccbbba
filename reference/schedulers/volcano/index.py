"""The best node for a task, without trying every node for every task.

The rule is ``Session.best_of``: of the nodes that admit the task, those with room now come before those that will have
room; of these the highest score, then the first by name. All of that depends on the task's shape and on the node alone.
So for each shape the nodes stand in a heap, and a node is looked at again only after it changed. A decision then costs
as many looks as nodes changed since the last task of that shape: at most all of them, and mostly the few of one gang.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from reference.schedulers.volcano.api import Shape, Task
from reference.schedulers.volcano.nodes import NodeInfo

Rank = tuple[int, int]
"""0 with room now, 1 with room to come; then the score, negative. Smaller is better."""
Look = Callable[[Task, NodeInfo], Rank | None]
"""What a node is to a task: None where the task cannot go there."""


class _Order:
    """The nodes of one shape: ``current`` is the rank of each, ``heap`` holds these and ranks that are out of date."""

    def __init__(self, position: int, count: int) -> None:
        self.position = position
        self.current: list[Rank | None] = [None] * count
        self.heap: list[tuple[Rank, int]] = []


class NodeIndex:
    """One for all sessions; nodes are known by their place in the order of names."""

    def __init__(self, nodes: Sequence[NodeInfo]) -> None:
        self.nodes = nodes
        self._place = {node.name: i for i, node in enumerate(nodes)}
        self._changed: list[int] = []
        self._orders: dict[Shape, _Order] = {}

    def touch(self, node: str) -> None:
        """Something changed on the node."""
        self._changed.append(self._place[node])
        if len(self._changed) > 8 * len(self.nodes) + 100_000:  # a run of any length in bounded memory
            self._changed.clear()
            self._orders.clear()

    def best(self, task: Task, look: Look) -> NodeInfo | None:
        """The node that the rule gives. ``look`` must be the same function of shape and node at every call."""
        order = self._orders.get(task.shape)
        if order is None:
            order = self._orders[task.shape] = _Order(len(self._changed), len(self.nodes))
            places: Sequence[int] = range(len(self.nodes))
        else:
            places = list(dict.fromkeys(self._changed[order.position :]))
            order.position = len(self._changed)
        current, heap = order.current, order.heap
        for place in places:
            rank = look(task, self.nodes[place])
            if rank != current[place]:
                current[place] = rank
                if rank is not None:
                    heapq.heappush(heap, (rank, place))
        while heap:
            rank, place = heap[0]
            if current[place] == rank:
                return self.nodes[place]
            heapq.heappop(heap)
        return None

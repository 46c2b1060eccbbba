"""The best node for a task, without trying every node for every task.

The rule is ``Session.best_of``: of the nodes that admit the task, those with room now come before those that will have
room; of these the highest score, then the first by name. All of that depends on the task's shape and on the node alone.
So for each shape the nodes stand in a heap, and a node is looked at again only after it changed. A decision then costs
as many looks as nodes changed since the last task of that shape: at most all of them, and mostly the few of one gang.
Which nodes admit a shape is asked once, for it does not change; what a node ranks hangs on its amounts alone, so
nodes that become alike are looked at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence

from reference.schedulers.volcano.api import Shape, Task
from reference.schedulers.volcano.nodes import NodeInfo

Rank = tuple[int, int]
"""0 with room now, 1 with room to come; then the score, negative. Smaller is better."""
Look = Callable[[Task, NodeInfo], Rank | None]
"""What a node is to a task: None where the task cannot go now."""


class _Order:
    """The nodes of one shape: ``admitted``, at which places; ``current``, the rank of each; ``heap`` holds these and
    ranks that are out of date; ``known``, ranks by the amounts of nodes; ``position``, up to where it has heard of
    changes."""

    def __init__(self, admitted: list[bool], position: int) -> None:
        self.admitted, self.position = admitted, position
        self.current: list[Rank | None] = [None] * len(admitted)
        self.heap: list[tuple[Rank, int]] = []
        self.known: dict[str, Rank | None] = {}


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

    def best(self, task: Task, admits: Callable[[Task, NodeInfo], bool], look: Look) -> NodeInfo | None:
        """The node that the rule gives. Both must be the same functions of shape and node at every call."""
        order = self._orders.get(task.shape)
        places: Iterable[int]
        if order is None:
            order = _Order([admits(task, node) for node in self.nodes], len(self._changed))
            self._orders[task.shape] = order
            places = range(len(self.nodes))
        else:
            places = dict.fromkeys(self._changed[order.position :])
            order.position = len(self._changed)
        admitted, current, heap, known = order.admitted, order.current, order.heap, order.known
        if len(known) > 4 * len(self.nodes) + 1000:
            known.clear()
        for place in places:
            if not admitted[place]:
                continue
            node = self.nodes[place]
            amounts = node.amounts
            if amounts in known:
                rank = known[amounts]
            else:
                rank = known[amounts] = look(task, node)
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

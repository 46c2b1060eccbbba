"""What the nodes of a heuristic have left: a row of integers for each resource type, so that a rule looks at all nodes
at once.

The rows are numpy's 64-bit integers. Amounts are at most 2^63 - 1 and are only compared, or subtracted where they fit.
Scores are made of millionths: an amount keeps 42 bits before it is multiplied by a million, so nothing overflows.
"""

from __future__ import annotations

import enum

import numpy as np
import numpy.typing as npt

from reference.cluster import PODS, Cluster, Constraints, Node, Resources, TaskGroup, total

Row = npt.NDArray[np.int64]

_MILLION = 1_000_000
_BITS = 42
_ENOUGH = 2**62
"""The pods that a node takes which does not say how many (``Node.counted``)."""


class NodeRule(enum.Enum):
    """Which of the nodes with room takes a pod."""

    FIRST_FIT = "first-fit"
    BEST_FIT = "best-fit"
    DOT_PRODUCT = "dot-product"


class Room:
    """Free amounts by node, in the order in which nodes came first."""

    def __init__(self, cluster: Cluster) -> None:
        self._start = {node.name: node for node in cluster.nodes}
        self._free_at_start = cluster.free_by_node()
        self._types = [PODS]
        self._nodes: list[Node] = []
        self._index: dict[str, int] = {}
        self._free = self._capacity = np.zeros((1, 0), dtype=np.int64)
        self._there = np.zeros(0, dtype=np.bool_)
        self._largest = [1]
        self._allowed: dict[Constraints, npt.NDArray[np.bool_]] = {}
        self._wanted: dict[Resources, Row | None] = {}

    def add(self, node: Node) -> None:
        """``node`` takes pods from now on; one that the cluster started with has its running pods again."""
        for name in node.capacity:
            if name not in self._types:
                self._types.append(name)
                self._largest.append(1)
                row = np.zeros((1, len(self._nodes)), dtype=np.int64)
                self._free, self._capacity = (np.vstack([rows, row]) for rows in (self._free, self._capacity))
                self._wanted.clear()
        free = self._free_at_start[node.name] if self._start.get(node.name) is node else node.available
        rows = [[each.amount(name) for name in self._types] for each in (free, node.capacity)]
        self._largest = list(map(max, self._largest, rows[1]))
        if PODS not in node.capacity:
            rows[0][0] = rows[1][0] = _ENOUGH
        place = self._index.get(node.name)
        if place is None:
            self._index[node.name] = len(self._nodes)
            self._nodes.append(node)
            self._free = np.hstack([self._free, np.array(rows[0], dtype=np.int64)[:, None]])
            self._capacity = np.hstack([self._capacity, np.array(rows[1], dtype=np.int64)[:, None]])
            self._there = np.append(self._there, True)
        else:
            self._nodes[place], self._there[place] = node, True
            self._free[:, place], self._capacity[:, place] = rows
        self._allowed.clear()

    def remove(self, node: str) -> None:
        """``node`` is gone."""
        self._there[self._index[node]] = False

    def total(self) -> Resources:
        """What all nodes that are there have, used or not."""
        return total(node.capacity for node, there in zip(self._nodes, self._there, strict=True) if there)

    def best(self, rule: NodeRule, group: TaskGroup) -> str | None:
        """The node that ``rule`` gives a member of ``group``, None where none has room."""
        want = self._want(group.pod_resource)
        if want is None or not self._nodes:
            return None
        fits = self._admits(group.constraints) & self._there
        for free, amount in zip(self._free, want, strict=True):
            if amount:
                fits &= free >= amount
        first = int(fits.argmax())
        if not fits[first]:
            return None
        if rule is NodeRule.FIRST_FIT:
            return self._nodes[first].name
        places = np.flatnonzero(fits)
        # pods, the first type, are counted only by nodes that limit them, and say nothing of how full a node is
        if rule is NodeRule.BEST_FIT:
            left = self._free[1:, places] - want[1:, None]
            scores = -self._millionths(left, self._capacity[1:, places]).sum(axis=0)
        else:
            largest = np.array(self._largest[1:], dtype=np.int64)[:, None]
            asked = self._millionths(np.minimum(want[1:, None], largest), largest)
            scores = (self._millionths(self._free[1:, places], largest) * asked).sum(axis=0)
        return self._nodes[int(places[int(scores.argmax())])].name

    def take(self, node: str, group: TaskGroup) -> None:
        """A member of ``group`` is on ``node``."""
        self._free[:, self._index[node]] -= self._taken(group)

    def give(self, node: str, group: TaskGroup) -> None:
        """A member of ``group`` has left ``node``."""
        self._free[:, self._index[node]] += self._taken(group)

    def _taken(self, group: TaskGroup) -> Row:
        """What a member takes that found a node."""
        want = self._want(group.pod_resource)
        if want is None:
            raise ValueError(f"no node has what a member of {group.name!r} asks for")
        return want

    def _want(self, request: Resources) -> Row | None:
        """``request`` as a row; None where it asks for something that no node has."""
        if request not in self._wanted:
            known = all(name in self._types for name, amount in request.items() if amount > 0)
            row = np.array([request.amount(name) for name in self._types], dtype=np.int64)
            self._wanted[request] = row if known else None
        return self._wanted[request]

    def _admits(self, constraints: Constraints) -> npt.NDArray[np.bool_]:
        allowed = self._allowed.get(constraints)
        if allowed is None:
            allowed = np.array([node.admits(constraints) for node in self._nodes], dtype=np.bool_)
            self._allowed[constraints] = allowed
        return allowed

    def _millionths(self, amounts: Row, wholes: Row) -> Row:
        """``amounts`` in millionths of ``wholes``, rounded down; 0 of nothing. Both lose the same low bits."""
        shift = np.array([max(largest.bit_length() - _BITS, 0) for largest in self._largest[1:]], dtype=np.int64)[
            :, None
        ]
        shares: Row = (amounts >> shift) * _MILLION // np.maximum(wholes >> shift, 1)
        return shares

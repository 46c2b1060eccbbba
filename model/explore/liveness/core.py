"""The part of a state graph that runs can go round in: its cycles, found once for all liveness claims.

All steps that change the state are looked up once and kept; states that lie on no cycle are then dropped. Where memory
does not suffice for all steps, states from which every way ends are struck out before, last level first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from model.explore.liveness.components import NODE_BYTES, strong_components
from model.explore.search.budget import Budget, OutOfMemory
from model.explore.traces.steps import Batch, Numbers, Steps
from model.semantics_liveness import Demand

_WORD = 64
_PASSES = 32  # inside one batch
_SWEEPS = 8  # over all states

Flags = NDArray[np.uint8]
"""1 or 0 for each state."""
Bits = NDArray[Any]
"""One unsigned integer for each state."""
Masks = NDArray[np.uint64]
"""Rows of 64-bit words, a bit for each demand."""


@dataclass(frozen=True, slots=True)
class Demanded:
    """What fairness asks, as bits of ``words`` 64-bit words: ``of`` has the bits of each instance, shape (instances,
    words); ``weak`` and ``strong`` those of each kind."""

    of: Masks
    weak: Masks
    strong: Masks

    @property
    def words(self) -> int:
        """64-bit words of a mask."""
        return int(self.of.shape[1])


def demanded_of(asked: Sequence[Demand], instances: int) -> Demanded:
    """The demands as bits, one for each."""
    words = max(1, -(-len(asked) // _WORD))
    of = np.zeros((instances, words), np.uint64)
    kinds = np.zeros((2, words), np.uint64)
    for i, demand in enumerate(asked):
        word, bit = i // _WORD, np.uint64(1 << (i % _WORD))
        of[sorted(demand.instances), word] |= bit
        kinds[int(demand.strong), word] |= bit
    return Demanded(of, kinds[0], kinds[1])


def any_bit(masks: Masks) -> NDArray[np.bool_]:
    """Which rows of ``masks``, of shape (n, words), have a bit set."""
    return np.asarray((masks != 0).any(axis=1), np.bool_)


def smallest(bits: int) -> np.dtype[Any]:
    """The smallest unsigned type with so many bits, at most 64."""
    return next(np.dtype(d) for d in (np.uint8, np.uint16, np.uint32, np.uint64) if 8 * np.dtype(d).itemsize >= bits)


class Core:
    """The states that lie on cycles, with their steps.

    Nodes are numbered from 0; ``states`` has their states' numbers, ascending. The edges of node v, which are all steps
    from it that change the state, are ``targets`` and ``instances`` from ``offsets[v]`` to ``offsets[v + 1]``; a target
    outside v's strongly connected component is ``len(states)``, which stands for all the rest.

    ``stays``: bit i is set in the states in which a run that is fair to ``demanded[i]`` can stay forever: none of its
    instances is enabled.
    """

    def __init__(self, steps: Steps, transitions: int, demanded: Sequence[Demanded], budget: Budget) -> None:
        self._steps = steps
        self._asks = [any_bit(d.of) for d in demanded]
        self.stays: Final[Bits] = np.zeros(steps.count, smallest(len(demanded)))
        budget.take(self.stays.nbytes)
        kept = budget.part()
        nodes = np.arange(steps.count)
        try:
            kept.take(self._bytes(steps.count, transitions))
        except OutOfMemory:
            nodes = self._strike(budget.part())
            budget.take(self._bytes(len(nodes), 0))
            kept = budget
        self._collect(nodes, transitions, kept)
        self._keep_cycles(budget)

    def _bytes(self, nodes: int, edges: int) -> int:
        return nodes * (8 + 8 + NODE_BYTES) + 4 * self._steps.count + edges * self._edge_bytes

    @property
    def _edge_bytes(self) -> int:
        return 4 + smallest((len(self._asks[0]) - 1).bit_length()).itemsize

    def _collect(self, nodes: Numbers, transitions: int, budget: Budget) -> None:
        """The graph over ``nodes``; who may stay where."""
        n = len(nodes)
        chosen = np.full(self._steps.count, n, np.int32)
        chosen[nodes] = np.arange(n, dtype=np.int32)
        offsets = np.zeros(n + 1, np.int64)
        # Room that nothing is written to takes no memory.
        targets = np.empty(transitions, np.int32)
        instances = np.empty(transitions, smallest((len(self._asks[0]) - 1).bit_length()))
        used = 0
        for batch in self._steps.batches(np.arange(self._steps.count)):
            budget.check_time()
            moves = batch.only(batch.targets != batch.sources)
            self._note_stays(moves)
            at = chosen[batch.states]
            if n < self._steps.count:
                moves = moves.only(at[moves.rows] < n)
                budget.take(len(moves.rows) * self._edge_bytes)
            moves = moves.by_row()
            more = used + len(moves.rows)
            targets[used:more], instances[used:more] = chosen[moves.targets], moves.instances
            used = more
            inside = at < n
            offsets[at[inside] + 1] = np.bincount(moves.rows, minlength=len(at))[inside]
        np.cumsum(offsets, out=offsets)
        self.states, self.offsets = nodes, offsets
        self.targets, self.instances = targets[:used], instances[:used]

    def _note_stays(self, moves: Batch) -> None:
        for i, asks in enumerate(self._asks):
            free = np.ones(len(moves.states), np.bool_)
            free[moves.rows[asks[moves.instances]]] = False
            self.stays[moves.states[free]] |= self.stays.dtype.type(1 << i)

    def _keep_cycles(self, budget: Budget) -> None:
        """Drop all nodes that are components of their own."""
        n = len(self.states)
        component, count = strong_components(self.offsets, self.targets, np.r_[np.zeros(n), -1].astype(np.int32))
        size = np.bincount(component[:n], minlength=max(1, count))
        kept = np.flatnonzero(size[component[:n]] > 1)
        counts = self.offsets[kept + 1] - self.offsets[kept]
        budget.take(len(kept) * 16 + int(counts.sum()) * self._edge_bytes)
        edges = edges_of(self.offsets, kept)
        node_of = np.full(n + 1, len(kept), np.int32)
        node_of[kept] = np.arange(len(kept), dtype=np.int32)
        targets = self.targets[edges]
        same = component[targets] == np.repeat(component[kept], counts)
        self.targets = np.where(same, node_of[targets], np.int32(len(kept)))
        self.instances = self.instances[edges]
        self.offsets = np.concatenate([[0], np.cumsum(counts)])
        self.states = self.states[kept]

    def _strike(self, budget: Budget) -> Numbers:
        """The states from which some way does not end; a few too many."""
        alive = np.ones(self._steps.count, np.uint8)
        budget.take(alive.nbytes)
        left = len(alive)
        for _ in range(_SWEEPS):
            for depth in range(self._steps.depth, -1, -1):
                level = self._steps.at_depth(depth)
                for batch in self._steps.batches(level[alive[level] != 0]):
                    budget.check_time()
                    inner = batch.only((alive[batch.targets] != 0) & (batch.targets != batch.sources))
                    for _ in range(_PASSES):
                        going = np.zeros(len(batch.states), np.bool_)
                        going[inner.rows[alive[inner.targets] != 0]] = True
                        dead = batch.states[~going & (alive[batch.states] != 0)]
                        if not len(dead):
                            break
                        alive[dead] = 0
            before, left = left, int(np.count_nonzero(alive))
            if left == before:
                break
        return np.flatnonzero(alive)


def edges_of(offsets: Numbers, nodes: Numbers) -> Numbers:
    """The numbers of the edges of ``nodes``, one node after the other."""
    firsts, counts = offsets[nodes], offsets[nodes + 1] - offsets[nodes]
    numbers: Numbers = np.repeat(firsts - np.cumsum(counts) + counts, counts)
    numbers += np.arange(len(numbers))
    return numbers


__all__ = ["Bits", "Core", "Demanded", "Flags", "Masks", "any_bit", "demanded_of", "edges_of", "smallest"]

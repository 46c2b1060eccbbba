"""``possible(p)``: can a state where p holds be reached from every state?

States from which p can be reached are marked. One pass over all states, last found first, marks nearly all of them:
most states lead to states found later. Only for those left are the steps kept, and marks are spread backwards along
them. So memory is a byte a state, and edges only where they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from model.explore.search.budget import Budget
from model.explore.search.search import Found, Search
from model.explore.traces.steps import Batch, Numbers, Steps

_STATES = 1 << 16
_CHUNK = 1 << 12
_EDGE_BYTES = 40  # source, target, and the copies made while sorting


def first_stuck(search: Search, bit: int, budget: Budget) -> Found | None:
    """The first state of a complete ``search`` from which no state with predicate ``bit`` is reachable, if there is
    one.

    OutOfMemory and OutOfTime where ``budget`` does not suffice.
    """
    budget.check_time()
    budget = budget.part()
    budget.take(search.count)
    spread = _Spread(search, bit, budget)
    spread.sweep()
    spread.follow()
    stuck = [Found(shard, int(left[0])) for shard, left in enumerate(spread.left()) if len(left)]
    return min(stuck, key=lambda at: (search.depth_of(at), at.number, at.shard), default=None)


class _Spread:
    """Marks, a byte for each state as `Steps` numbers them: one where the predicate holds can be reached from it."""

    def __init__(self, search: Search, bit: int, budget: Budget) -> None:
        self._search = search
        self._budget = budget
        self._steps = Steps(search)
        self.marks = np.zeros(search.count, np.uint8)
        for first, bits in self._steps.word_of(search.native.predicates):
            budget.check_time()
            self.marks[first : first + len(bits)] = (bits >> np.uint64(bit)) & np.uint64(1)

    def left(self) -> list[Numbers]:
        """For each shard the numbers in it of the states that are not marked."""
        return [np.flatnonzero(marks == 0) for marks in np.split(self.marks, self._steps.offsets[1:-1])]

    def _batches(self, numbers: Numbers) -> Iterator[Batch]:
        for batch in self._steps.batches(numbers):
            self._budget.check_time()
            yield batch

    def sweep(self) -> None:
        """Mark what leads to marked states, from the last level to the first; levels are taken together while small."""
        starts, high = self._search.starts, self._search.counts
        for level in range(len(starts) - 1, -1, -1):
            low = starts[level]
            if sum(high) - sum(low) >= _CHUNK or level == 0:
                self._sweep(low, high)
                high = low

    def _sweep(self, low: tuple[int, ...], high: tuple[int, ...]) -> None:
        """Mark what leads to marked states, of the states from ``low`` to ``high`` in each shard."""
        for offset, begin, end in zip(self._steps.offsets[:-1].tolist(), low, high, strict=True):
            for first in range(begin, end, _STATES):
                numbers = np.arange(offset + first, offset + min(first + _STATES, end), dtype=np.int64)
                for batch in self._batches(numbers):
                    self.marks[batch.sources[self.marks[batch.targets] != 0]] = 1

    def follow(self) -> None:
        """Mark the rest of what leads to marked states."""
        marks = self.marks
        left = np.flatnonzero(marks == 0)
        if len(left):
            sources, targets = self._edges(left)
            order = np.argsort(targets, kind="stable")
            sources, targets = sources[order], targets[order]
            fresh = left[marks[left] != 0]
            while len(fresh):
                self._budget.check_time()
                lows, highs = np.searchsorted(targets, fresh, "left"), np.searchsorted(targets, fresh, "right")
                before = np.concatenate([sources[a:b] for a, b in zip(lows.tolist(), highs.tolist(), strict=True)])
                fresh = np.unique(before[marks[before] == 0])
                marks[fresh] = 1

    def _edges(self, left: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The steps between states of ``left``; those that lead to a marked state are marked at once."""
        sources: list[Numbers] = [np.zeros(0, np.int64)]
        targets: list[Numbers] = [np.zeros(0, np.int64)]
        for batch in self._batches(left):
            hit = self.marks[batch.targets] != 0
            self.marks[batch.sources[hit]] = 1
            sources.append(batch.sources[~hit])
            targets.append(batch.targets[~hit])
            self._budget.take(_EDGE_BYTES * len(sources[-1]))
        return np.concatenate(sources), np.concatenate(targets)


__all__ = ["first_stuck"]

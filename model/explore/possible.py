"""``possible(p)``: can a state where p holds be reached from every state?

States from which p can be reached are marked. One pass over all states, last found first, marks nearly all of them:
most states lead to states found later. Only for those left are the steps kept, and marks are spread backwards along
them. So memory is a byte a state, and edges only where they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen import context as c
from model.explore.search.budget import Budget
from model.explore.search.search import Found, Search
from model.explore.search.shard import rows_of

_ROOM = 1 << 14
_STATES = 1 << 16
_CHUNK = 1 << 12
_EDGE_BYTES = 40  # source, target, and the copies made while sorting


def first_stuck(search: Search, bit: int, budget: Budget) -> Found | None:
    """The first state of a complete ``search`` from which no state with predicate ``bit`` is reachable, if there is
    one.

    OutOfMemory and OutOfTime where ``budget`` does not suffice.
    """
    budget = budget.part()
    budget.take(search.count)
    spread = _Spread(search, bit, budget)
    spread.sweep()
    spread.follow()
    stuck = [
        Found(shard, int(left[0]))
        for shard, marks in enumerate(spread.marks)
        if len(left := np.flatnonzero(marks == 0))
    ]
    return min(stuck, key=lambda at: (search.depth_of(at), at.number, at.shard), default=None)


class _Spread:
    """Marks, one byte per state and shard: a state where the predicate holds can be reached from it."""

    def __init__(self, search: Search, bit: int, budget: Budget) -> None:
        self._search = search
        self._budget = budget
        self._blocks = search.scratch(_ROOM)
        self.marks = [np.zeros(s.count, np.uint8) for s in search.shards]
        # Shard by shard one numbering of all states.
        self._offsets = np.concatenate([[0], np.cumsum(search.counts)]).astype(np.int64)
        bits = np.empty(_STATES, np.uint64)
        for marks, shard in zip(self.marks, search.shards, strict=True):
            for first in range(0, shard.count, _STATES):
                budget.check_time()
                part = shard.states[first : first + _STATES]
                search.native.predicates(part.ctypes.data, len(part), bits.ctypes.data)
                marks[first : first + len(part)] = (bits[: len(part)] >> np.uint64(bit)) & np.uint64(1)

    def _steps(
        self, shard: int, states: NDArray[np.uint64]
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.uint32]]]:
        """The steps from ``states`` of ``shard``: shard of the target; row of the source; number of the target."""
        block, native = self._blocks[shard], self._search.native
        states = np.ascontiguousarray(states)
        real = int(block.words[c.STATES])
        first = 0
        while first < len(states):
            self._budget.check_time()
            block.words[c.STATES] = states.ctypes.data
            last = native.expand(block.address, first, min(len(states), first + c.ROWS))
            block.words[c.STATES] = real
            for to, target in enumerate(self._blocks):
                records = block.records(to)
                native.kernels.find(target.address, records.ctypes.data, len(records))
                yield to, rows_of(records) + first, target.guesses[: len(records)].copy()
            first = last

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
        for shard, states in enumerate(s.states for s in self._search.shards):
            for first in range(low[shard], high[shard], _CHUNK):
                marks = self.marks[shard][first : min(first + _CHUNK, high[shard])]
                for to, rows, targets in self._steps(shard, states[first : first + len(marks)]):
                    marks[rows[self.marks[to][targets] != 0]] = 1

    def follow(self) -> None:
        """Mark the rest of what leads to marked states."""
        marks = np.concatenate(self.marks)
        left = np.flatnonzero(marks == 0)
        if len(left):
            sources, targets = self._edges(marks, left)
            order = np.argsort(targets, kind="stable")
            sources, targets = sources[order], targets[order]
            fresh = left[marks[left] != 0]
            while len(fresh):
                self._budget.check_time()
                lows, highs = np.searchsorted(targets, fresh, "left"), np.searchsorted(targets, fresh, "right")
                before = np.concatenate([sources[a:b] for a, b in zip(lows.tolist(), highs.tolist(), strict=True)])
                fresh = np.unique(before[marks[before] == 0])
                marks[fresh] = 1
            self.marks = np.split(marks, self._offsets[1:-1])

    def _edges(self, marks: NDArray[np.uint8], left: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The steps between states of ``left``; those that lead to a marked state are marked at once."""
        sources: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        targets: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        for shard, states in enumerate(s.states for s in self._search.shards):
            inside = left[(left >= self._offsets[shard]) & (left < self._offsets[shard + 1])]
            for start in range(0, len(inside), _STATES):
                numbers = inside[start : start + _STATES]
                for to, rows, found in self._steps(shard, states[numbers - self._offsets[shard]]):
                    reached = found.astype(np.int64) + self._offsets[to]
                    hit = marks[reached] != 0
                    marks[numbers[rows[hit]]] = 1
                    sources.append(numbers[rows[~hit]])
                    targets.append(reached[~hit])
                    self._budget.take(_EDGE_BYTES * len(sources[-1]))
        return np.concatenate(sources), np.concatenate(targets)


__all__ = ["first_stuck"]

"""The steps of a finished search, looked up again: states are expanded anew and their successors found in the tables.

States get one numbering, shard by shard and in each shard in the order found, so that arrays can be kept about them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen import context as c
from model.explore.search.search import Found, Search
from model.explore.search.shard import instances_of, rows_of

_ROOM = 1 << 14
_STATES = 1 << 16

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """The steps from ``states``: of each the row of its source in ``states``, its target, and its instance."""

    states: Numbers
    rows: Numbers
    targets: Numbers
    instances: Numbers

    @property
    def sources(self) -> Numbers:
        """The source of each step."""
        return self.states[self.rows]

    def by_row(self) -> Batch:
        """The same with the steps in order of their sources."""
        order = np.argsort(self.rows, kind="stable")
        return Batch(self.states, self.rows[order], self.targets[order], self.instances[order])

    def only(self, chosen: NDArray[np.bool_]) -> Batch:
        """The same with only the steps of the mask ``chosen``."""
        return Batch(self.states, self.rows[chosen], self.targets[chosen], self.instances[chosen])


class Steps:
    """Looks up the steps of a finished ``search``. Faulty steps, which lead nowhere, are not there.

    Where the search is not complete, the target of a step may have been dropped: it is then no state's number.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._blocks = search.scratch(_ROOM)
        self.offsets: Final[Numbers] = np.concatenate([[0], np.cumsum(search.counts)]).astype(np.int64)
        self._offsets: Final[list[int]] = self.offsets.tolist()
        self.count: Final = search.count
        self.depth: Final = search.depth

    def found(self, number: int) -> Found:
        """The state with this number."""
        shard = int(np.searchsorted(self.offsets, number, side="right")) - 1
        return Found(shard, number - int(self.offsets[shard]))

    def packed(self, numbers: Numbers) -> NDArray[np.uint64]:
        """The packed states with these numbers, in any order: shape (n, words)."""
        shards = np.searchsorted(self.offsets[1:-1], numbers, side="right")
        out = np.empty((len(numbers), self._search.program.layout.words), np.uint64)
        for shard, offset in enumerate(self._offsets[:-1]):
            here = np.flatnonzero(shards == shard)
            if len(here):
                out[here] = self._search.shards[shard].states[numbers[here] - offset]
        return out

    def raw(self, numbers: Numbers) -> Numbers:
        """The raw values of the states with these numbers: shape (n, cells)."""
        return self._search.program.layout.unpack_all(self.packed(numbers))

    def depth_of(self, number: int) -> int:
        """Steps of a shortest path to the state."""
        return self._search.depth_of(self.found(number))

    def at_depth(self, depth: int) -> Numbers:
        """The states at this depth, in order of number."""
        starts = self._search.starts
        ends = starts[depth + 1] if depth + 1 < len(starts) else self._search.counts
        ranges = zip(self._offsets, starts[depth], ends, strict=False)
        return np.concatenate([np.arange(first + low, first + high) for first, low, high in ranges if low < high])

    def word_of(self, predicates: Callable[[int, int, int], None]) -> Iterator[tuple[int, NDArray[np.uint64]]]:
        """What ``predicates`` says of all states, part by part: the first state of the part, and one word for each."""
        bits = np.empty(_STATES, np.uint64)
        for offset, shard in zip(self._offsets, self._search.shards, strict=False):
            for first in range(0, shard.count, _STATES):
                part = shard.states[first : first + _STATES]
                predicates(part.ctypes.data, len(part), bits.ctypes.data)
                yield offset + first, bits[: len(part)]

    def batches(self, numbers: Numbers) -> Iterator[Batch]:
        """The steps from the states ``numbers``, which ascend; each state is in exactly one batch."""
        bounds = np.searchsorted(numbers, self.offsets).tolist()
        for shard, (low, high) in enumerate(itertools.pairwise(bounds)):
            for first in range(low, high, _STATES):
                yield from self._expand(shard, numbers[first : min(first + _STATES, high)])

    def _expand(self, shard: int, numbers: Numbers) -> Iterator[Batch]:
        block, native = self._blocks[shard], self._search.native
        states = np.ascontiguousarray(self._search.shards[shard].states[numbers - self.offsets[shard]])
        real = int(block.words[c.STATES])
        first = 0
        while first < len(states):
            block.words[c.STATES] = states.ctypes.data
            last = native.expand(block.address, first, min(len(states), first + c.ROWS))
            block.words[c.STATES] = real
            none = np.zeros(0, np.int64)
            rows, targets, instances = [none], [none], [none]
            for to, target in enumerate(self._blocks):
                records = block.records(to)
                if not len(records):
                    continue
                native.kernels.find(target.address, records.ctypes.data, len(records))
                rows.append(rows_of(records))
                instances.append(instances_of(records))
                targets.append(target.guesses[: len(records)].astype(np.int64) + self.offsets[to])
            yield Batch(numbers[first:last], *map(np.concatenate, (rows, targets, instances)))
            first = last


__all__ = ["Batch", "Numbers", "Steps"]

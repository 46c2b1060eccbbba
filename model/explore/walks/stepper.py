"""The compiled successor function on states of one's own, outside of any search: for random walks and for replays.

Compiled code notes each event (a violation, a goal) when it sees it for the first time; `Stepper.forget` makes it
new again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen import context as c
from model.explore.codegen.native import Native
from model.explore.packing import PackedProgram
from model.explore.search.shard import Block, instances_of, rows_of

_ROOM = 1 << 12

Packed = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Successors:
    """Steps without a fault, those of each row together and rows in order; ``counts`` of each row."""

    counts: NDArray[np.int64]
    _records: Packed
    _order: NDArray[np.int64]

    def pick(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], Packed]:
        """Of the steps at the positions ``chosen`` the numbers of the instances, and the packed targets."""
        records = self._records[self._order[chosen]]
        return instances_of(records), np.ascontiguousarray(records[:, :-1])


@dataclass(frozen=True, slots=True)
class Noted:
    """An event (by number) seen for the first time: in the state of this row or in a step of an instance from it."""

    event: int
    row: int
    instance: int | None


class Stepper:
    """Computes steps, with buffers of its own: one for each thread."""

    def __init__(self, program: PackedProgram, native: Native) -> None:
        self._native: Final = native
        self._shards: Final = native.shards
        self._block: Final = Block(program, native.shards, _ROOM)

    def forget(self) -> None:
        """All events count as not seen yet."""
        self._block.seen[:] = 0
        self._block.words[c.LOG_COUNT] = 0

    def successors(self, states: Packed) -> Successors:
        """All steps from ``states`` (packed, shape (n, words)); instances of a row in an order that is always the
        same."""
        states = np.ascontiguousarray(states)
        block = self._block
        block.words[c.STATES] = states.ctypes.data
        parts: list[Packed] = []
        bases: list[int] = []
        first = 0
        while first < len(states):
            last = self._native.expand(block.address, first, min(len(states), first + c.ROWS))
            for shard in range(self._shards):
                records = block.records(shard)
                if len(records):
                    parts.append(records.copy())
                    bases.append(first)
            first = last
        if not parts:
            none = np.zeros((0, states.shape[1] + 1), np.uint64)
            return Successors(np.zeros(len(states), np.int64), none, np.zeros(0, np.int64))
        records = np.concatenate(parts)
        rows = rows_of(records)
        if bases[-1]:
            rows += np.repeat(bases, [len(part) for part in parts])
        # Numbers of 16 bits are sorted in linear time.
        order = np.argsort(rows.astype(np.uint16) if len(states) <= 1 << 16 else rows, kind="stable")
        return Successors(np.bincount(rows, minlength=len(states)), records, order)

    def noted(self) -> list[Noted]:
        """What was noted since the last call, in order."""
        words = self._block.words
        found = [
            Noted(64 * word + bit, row, instance if instance >= 0 else None)
            for word, bits, row, instance in self._block.log[: words[c.LOG_COUNT]].tolist()
            for bit in range(64)
            if bits >> bit & 1
        ]
        words[c.LOG_COUNT] = 0
        return found


__all__ = ["Noted", "Packed", "Stepper", "Successors"]

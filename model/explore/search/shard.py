"""One shard of the state space: its states in the order found, its hash table, and the block compiled code works
with."""

from __future__ import annotations

import array
import bisect
import functools
import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen import context as c
from model.explore.layout import INSTANCE_BITS, INSTANCES
from model.explore.packing import PackedProgram
from model.explore.search.memory import Array, reserve

LOAD = 3 / 4  # tables grow beyond this
_LINES = 128  # processors fetch cache lines of 64 bytes in pairs
FULL = 15 / 16  # and, if they may not grow, take no more than this


class Block:
    """The words that compiled code reads and writes for one shard, and the small arrays that they point to.

    No two arrays share a cache line: the blocks belong to different threads. ``buffers`` are the records for each
    shard: shape (shards, records, words + 1).
    """

    def __init__(self, program: PackedProgram, shards: int, room: int) -> None:
        self.shards: Final = shards
        self.record_words: Final = program.layout.words + 1
        # Whatever is expanded last still finds room for all its successors.
        records = room + max(1, len(program.instances))
        self.words = _zeros((c.size(shards),), np.int64)
        self.buffers = _zeros((shards, records, self.record_words), np.uint64)
        self.guesses = _zeros((records,), np.uint32)
        self.seen = _zeros((len(program.events) // 64 + 1,), np.uint64)
        self.fired = _zeros((program.actions,), np.int64)
        self.log = _zeros((len(program.events) + 1, c.LOG_WORDS), np.int64)
        for slot, used in ((c.GUESSES, self.guesses), (c.SEEN, self.seen), (c.FIRED, self.fired), (c.LOG, self.log)):
            self.words[slot] = used.ctypes.data
        self.words[c.ROOM] = room
        self.words[c.MOST] = shards * records
        for s in range(shards):
            self.words[c.buffers(shards) + s] = self.buffers[s].ctypes.data
        self.address: Final = int(self.words.ctypes.data)

    @functools.cached_property
    def nbytes(self) -> int:
        """Memory of all its arrays, the buffers only as far as they are usually filled."""
        used = self.shards * self.record_words * 8 * int(self.words[c.ROOM])
        return used + sum(a.nbytes for a in (self.words, self.guesses, self.seen, self.fired, self.log))

    def rewind(self) -> None:
        """Empty all buffers."""
        at, cursors = c.buffers(self.shards), c.cursors(self.shards)
        self.words[cursors : cursors + self.shards] = self.words[at : at + self.shards]

    def records(self, shard: int) -> NDArray[np.uint64]:
        """What was written for ``shard``: shape (records, words + 1)."""
        used = int(self.words[c.cursors(self.shards) + shard] - self.words[c.buffers(self.shards) + shard])
        return self.buffers[shard, : used // (8 * self.record_words)]


def _zeros(shape: tuple[int, ...], kind: type[np.generic]) -> NDArray[Any]:
    """Zeros that share no cache line with other arrays: a line that two threads write to goes to and fro."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    room = np.zeros(-(-size // _LINES) * _LINES + _LINES, np.uint8)
    first = -room.ctypes.data % _LINES
    return room[first : first + size].view(kind).reshape(shape)


class Rows:
    """A growing list of rows with one integer per shard, 8 bytes each."""

    def __init__(self, shards: int) -> None:
        self.columns: Final = [array.array("q") for _ in range(shards)]

    def append(self, row: Iterable[int]) -> None:
        """Add a row."""
        for column, value in zip(self.columns, row, strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, index: int) -> tuple[int, ...]:
        return tuple(column[index] for column in self.columns)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return zip(*self.columns, strict=True)

    def last_at_most(self, shard: int, value: int) -> int:
        """The index of the last row whose entry for ``shard`` is at most ``value``; entries never decrease."""
        return bisect.bisect_right(self.columns[shard], value) - 1

    @property
    def nbytes(self) -> int:
        """Memory, without what the lists keep in reserve."""
        return 8 * len(self) * len(self.columns)


class Shard:
    """States, table and block of one shard. ``bits``: log2 of the table's slots, at least 5 (two buckets).

    ``beyond``: there may be more states than memory.
    """

    def __init__(self, program: PackedProgram, shards: int, room: int, bits: int, beyond: bool = False) -> None:
        self.block: Final = Block(program, shards, room)
        self.row_bytes: Final = 8 * program.layout.words
        self.bits = bits
        self.table = Array(4 << bits)
        self.rows = Array(self.row_bytes * (2 * self.most + (1 << bits)), reserve(beyond))

    @property
    def count(self) -> int:
        """Number of states."""
        return int(self.block.words[c.COUNT])

    @property
    def expanded(self) -> int:
        """Number of states whose steps were computed."""
        return int(self.block.words[c.NEXT])

    @property
    def most(self) -> int:
        """Most states that one round can add."""
        return int(self.block.words[c.MOST])

    @property
    def capacity(self) -> int:
        """States that there is room for without growth of the array."""
        return self.rows.size // self.row_bytes

    @property
    def limit_of_table(self) -> int:
        """States beyond which the table should grow."""
        return int(LOAD * (1 << self.bits))

    @property
    def fixed_bytes(self) -> int:
        """Memory besides the states."""
        return self.table.size + self.block.nbytes

    @property
    def states(self) -> NDArray[np.uint64]:
        """The packed states: shape (count, words)."""
        words = self.row_bytes // 8
        return self.rows.view(self.count * words).reshape(self.count, words)


def rows_of(records: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Of each record the row of the state that it is a successor of, in the call that wrote it."""
    return ((records[:, -1] & np.uint64(0xFFFFFFFF)) >> np.uint64(INSTANCE_BITS)).astype(np.int64)


def instances_of(records: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Of each record the number of the instance that led to it."""
    return (records[:, -1] & np.uint64(INSTANCES - 1)).astype(np.int64)


__all__ = ["FULL", "LOAD", "Block", "Rows", "Shard", "instances_of", "rows_of"]

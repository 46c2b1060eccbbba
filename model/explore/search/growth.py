"""Growth of tables and state arrays within the budgets for states and memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from model.explore.codegen import context as c
from model.explore.codegen.native import Kernels
from model.explore.search.memory import Array, default_budget
from model.explore.search.shard import FULL, Shard
from model.explore.search.spill import Spill

MOST_BITS = 32
_NEVER = 1 << 62
_FRESH = 0.05
# States are moved to disk as long as there are so many times more in memory than a round can add.
_LEAST = 4


class Growth:
    """Keeps the room that compiled code may use ahead of what it needs; all tables have the same size.

    ``memory_limit`` in bytes; None: always a share of what is free. When something that is needed may not grow, all is
    final: compiled code fills what there is and then drops new states. ``words`` says for which budget.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        kernels: Kernels,
        memory_limit: int | None,
        most_states: int | None,
        spill: Spill | None = None,
        threads: int = 1,
    ) -> None:
        self._shards: Final = shards
        self._kernels: Final = kernels
        self._memory_limit: Final = memory_limit
        self._most: Final = most_states
        self._spill: Final = spill
        self._threads: Final = threads
        self._row: Final = shards[0].row_bytes
        self._final: str | None = None
        # The most states that a shard will ever have, once everything is final.
        self._last = [_NEVER] * len(shards)
        self.peak = self._available = 0
        self._asked = -_FRESH
        self.marks = 0
        if any(self._share(n) < s.most for n, s in enumerate(shards)):
            self._final = self._memory_words()
            self._settle()
        self.update()

    @property
    def memory(self) -> int:
        """Bytes in use now; ``marks`` are those that the search keeps besides states, tables and buffers."""
        return self._fixed + self._states

    @property
    def spilled(self) -> int:
        """Bytes of states that are on disk instead."""
        return 0 if self._spill is None else self._spill.bytes

    @property
    def _states(self) -> int:
        """Bytes of states in memory."""
        return sum(s.count for s in self._shards) * self._row - self.spilled

    @property
    def _fixed(self) -> int:
        return self.marks + sum(s.fixed_bytes for s in self._shards)

    @property
    def limit(self) -> int:
        """Bytes that may be in use."""
        if self._memory_limit is not None:
            return self._memory_limit
        now = time.perf_counter()
        if now - self._asked > _FRESH:
            # Asking the system takes longer than anything else here.
            self._asked, self._available = now, self.memory + default_budget()
        return self._available

    @property
    def dropped(self) -> bool:
        """Whether states were found that there was no room for."""
        return any(s.block.words[c.DROPPED] for s in self._shards)

    @property
    def final(self) -> bool:
        """Whether states may be dropped from now on."""
        return self._final is not None or self._left() == 0

    @property
    def tight(self) -> bool:
        """Whether a round could exceed the state budget, which is not used up: then each shard must ask by
        `prepare`."""
        return 0 < self._left() < _NEVER and self._left() // len(self._shards) < max(s.most for s in self._shards)

    @property
    def words(self) -> str:
        """Which budget made compiled code drop states."""
        if self._most is not None and self._left() == 0:
            return f"state budget of {self._most:,} ran out"
        return self._final or self._memory_words()

    def _memory_words(self) -> str:
        budget = "memory" if self._memory_limit is None else f"memory budget of {self._memory_limit:,} bytes"
        problem = "" if self._spill is None or self._spill.problem is None else f", and {self._spill.problem}"
        return f"{budget} ran out{problem}"

    def _left(self) -> int:
        """States that the state budget has left."""
        return _NEVER if self._most is None else max(0, self._most - sum(s.count for s in self._shards))

    def _share(self, number: int) -> int:
        """The most states that shard ``number`` may have within the memory budget, tables as they are."""
        limit = self.limit
        # Some is left for marks that are still to come.
        inside = max(0, limit - limit // 256 - self._fixed) // self._row // len(self._shards)
        return inside if self._spill is None else inside + self._spill.bytes_of(number) // self._row

    def prepare(self, number: int, more: int) -> None:
        """Make room for ``more`` states in shard ``number``, no more than a round can add, as far as budgets allow."""
        shard = self._shards[number]
        while self._final is None and shard.count + more > self._room(number):
            self.grow()
        shard.block.words[c.LIMIT] = min(self._last[number], shard.count + self._left())

    def update(self) -> None:
        """Tell compiled code where the arrays are, when to come back, and how many states there may be."""
        left = self._left()
        if self._final is not None:
            self._last = [
                max(s.count, min(last, self._share(n)))
                for n, (s, last) in enumerate(zip(self._shards, self._last, strict=True))
            ]
        for number, (shard, last) in enumerate(zip(self._shards, self._last, strict=True)):
            words = shard.block.words
            words[c.STATES], words[c.TABLE], words[c.BITS] = shard.rows.address, shard.table.address, shard.bits
            words[c.LIMIT] = last if left else shard.count
            room = _NEVER if self._final is not None or not left else self._room(number)
            words[c.PAUSE] = min(room, shard.count + left // len(self._shards)) if left else _NEVER

    def _room(self, number: int) -> int:
        """States up to which shard ``number`` needs no growth."""
        shard = self._shards[number]
        return min(shard.capacity, shard.limit_of_table, max(shard.count, self._share(number)))

    # ---- growth

    def grow(self) -> None:
        """Larger tables, or more room for states, wherever the next round might need them."""
        try:
            if self._final is None and any(s.count + s.most > s.limit_of_table for s in self._shards):
                self._grow_tables()
            if self._final is None and self._crowded and not (self._move() and not self._crowded):
                self._final = self._memory_words()
            for shard in self._shards:
                if self._final is None and shard.count + shard.most > shard.capacity:
                    # Room that is not used costs nothing, so this may be more than the budget has left.
                    shard.rows.grow(2 * shard.rows.size)
            if self._final is not None and self._last[0] == _NEVER:
                self._settle()
        except MemoryError:
            self._final = self._memory_words()
            self._last = [min(s.capacity, int(FULL * (1 << s.bits))) for s in self._shards]
        self.update()

    @property
    def _crowded(self) -> bool:
        """Whether a round could add more states than there is memory for."""
        return any(s.count + s.most > self._share(n) for n, s in enumerate(self._shards))

    def _move(self) -> bool:
        """Move older states to disk, if that is allowed and enough of them are in memory."""
        least = _LEAST * sum(s.most for s in self._shards) * self._row
        return self._spill is not None and self._states >= least and self._spill.move(self._shards) > 0

    def _grow_tables(self) -> None:
        shards, bits, size = len(self._shards), self._shards[0].bits + 1, 8 << self._shards[0].bits
        if bits > MOST_BITS:
            self._final = f"the room for {shards * int(FULL * (1 << MOST_BITS)):,} states, which is the most, ran out"
            return
        # All the larger tables, and beside the last of them, while they are filled, their smaller ones.
        while self.memory + shards * size // 2 + min(self._threads, shards) * size // 2 > self.limit:
            if not self._move():
                self._final = self._memory_words()
                return
        self._expect(in_order=True)
        # As many at a time as there are threads: so many smaller tables are there beside their larger ones.
        with ThreadPoolExecutor(self._threads) as pool:
            for first in range(0, shards, self._threads):
                some = self._shards[first : first + self._threads]
                larger = [Array(size) for _ in some]
                self.peak = max(self.peak, self.memory + len(some) * size)
                for shard, table in zip(some, larger, strict=True):
                    shard.block.words[c.NEW_TABLE], shard.block.words[c.NEW_BITS] = table.address, bits
                for _ in pool.map(self._kernels.rehash, [s.block.address for s in some]):
                    pass
                for shard, table in zip(some, larger, strict=True):
                    shard.table, shard.bits = table, bits
        self._expect(in_order=False)

    def _expect(self, in_order: bool) -> None:
        if self._spill is not None:
            self._spill.expect(self._shards, in_order)

    def _settle(self) -> None:
        """Give the states what the budget leaves for them, now that nothing else will grow."""
        self._last = [max(s.count, min(self._share(n), int(FULL * (1 << s.bits)))) for n, s in enumerate(self._shards)]
        for shard, last in zip(self._shards, self._last, strict=True):
            shard.rows.grow(max(1, last) * self._row)

    # ---- from a checkpoint

    def allow(self, bits: Sequence[int], room: Sequence[int], counts: Sequence[int]) -> None:
        """Tables and arrays as large as those that ``counts`` states of each shard were in. MemoryError if the budget
        does not allow for them."""
        tables = sum(4 << b for b in bits) - sum(s.table.size for s in self._shards)
        states = 0 if self._spill is not None else sum(counts) * self._row
        if self.memory + tables + states > self.limit:
            raise MemoryError
        for shard, b, capacity in zip(self._shards, bits, room, strict=True):
            shard.bits, shard.table = b, Array(4 << b)
            shard.rows.grow(max(capacity * self._row, shard.rows.size))

    def relieve(self) -> None:
        """Move states to disk if there are too many in memory."""
        while self.memory > self.limit:
            if not self._move():
                raise MemoryError

    def refill(self) -> None:
        """Put all states into the tables, which are empty."""
        self._expect(in_order=True)
        for shard in self._shards:
            words = shard.block.words
            words[c.STATES], words[c.NEW_TABLE], words[c.NEW_BITS] = shard.rows.address, shard.table.address, shard.bits
            self._kernels.rehash(shard.block.address)
        self._expect(in_order=False)
        self.peak = max(self.peak, self.memory)
        self.update()


__all__ = ["MOST_BITS", "Growth"]

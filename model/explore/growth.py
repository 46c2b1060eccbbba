"""Growth of tables and state arrays within the budgets for states and memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from model.explore import context as c
from model.explore.memory import Array, default_budget
from model.explore.native import Kernels
from model.explore.shard import FULL, Shard

MOST_BITS = 32
_NEVER = 1 << 62


class Growth:
    """Keeps the room that compiled code may use ahead of what it needs; all tables have the same size.

    ``memory_limit`` in bytes; None: always a share of what is free. When something that is needed may not grow, all is
    final: compiled code fills what there is and then drops new states. ``words`` says for which budget.
    """

    def __init__(
        self, shards: Sequence[Shard], kernels: Kernels, memory_limit: int | None, most_states: int | None
    ) -> None:
        self._shards: Final = shards
        self._kernels: Final = kernels
        self._memory_limit: Final = memory_limit
        self._most: Final = most_states
        self._row: Final = shards[0].row_bytes
        self._final: str | None = None
        # The most states that a shard will ever have, once everything is final.
        self._last = [_NEVER] * len(shards)
        self.peak = 0
        self.marks = 0
        if self._share() < max(s.most for s in shards):
            self._final = self._memory_words()
            self._settle()
        self.update()

    @property
    def memory(self) -> int:
        """Bytes in use now; ``marks`` are those that the search keeps besides states, tables and buffers."""
        return self._fixed + sum(s.count for s in self._shards) * self._row

    @property
    def _fixed(self) -> int:
        return self.marks + sum(s.fixed_bytes for s in self._shards)

    @property
    def limit(self) -> int:
        """Bytes that may be in use."""
        return self.memory + default_budget() if self._memory_limit is None else self._memory_limit

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
        if self._memory_limit is None:
            return "memory ran out"
        return f"memory budget of {self._memory_limit:,} bytes ran out"

    def _left(self) -> int:
        """States that the state budget has left."""
        return _NEVER if self._most is None else max(0, self._most - sum(s.count for s in self._shards))

    def _share(self) -> int:
        """The most states that each shard may have within the memory budget, tables as they are."""
        limit = self.limit
        # Some is left for marks that are still to come.
        return max(0, limit - limit // 256 - self._fixed) // self._row // len(self._shards)

    def prepare(self, number: int, more: int) -> None:
        """Make room for ``more`` states in shard ``number``, no more than a round can add, as far as budgets allow."""
        shard = self._shards[number]
        while self._final is None and shard.count + more > self._room(shard):
            self.grow()
        shard.block.words[c.LIMIT] = min(self._last[number], shard.count + self._left())

    def update(self) -> None:
        """Tell compiled code where the arrays are, when to come back, and how many states there may be."""
        left = self._left()
        if self._final is not None:
            share = self._share()
            self._last = [max(s.count, min(last, share)) for s, last in zip(self._shards, self._last, strict=True)]
        for shard, last in zip(self._shards, self._last, strict=True):
            words = shard.block.words
            words[c.STATES], words[c.TABLE], words[c.BITS] = shard.rows.address, shard.table.address, shard.bits
            words[c.LIMIT] = last if left else shard.count
            room = _NEVER if self._final is not None or not left else self._room(shard)
            words[c.PAUSE] = min(room, shard.count + left // len(self._shards)) if left else _NEVER

    def _room(self, shard: Shard) -> int:
        """States up to which ``shard`` needs no growth."""
        return min(shard.capacity, shard.limit_of_table, max(shard.count, self._share()))

    # ---- growth

    def grow(self) -> None:
        """Larger tables, or more room for states, wherever the next round might need them."""
        try:
            if self._final is None and any(s.count + s.most > s.limit_of_table for s in self._shards):
                self._grow_tables()
            if self._final is None and any(s.count + s.most > self._share() for s in self._shards):
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

    def _grow_tables(self) -> None:
        shards, bits, size = len(self._shards), self._shards[0].bits + 1, 8 << self._shards[0].bits
        if bits > MOST_BITS:
            self._final = f"the room for {shards * int(FULL * (1 << MOST_BITS)):,} states, which is the most, ran out"
            return
        # All the larger tables, and beside the last of them, while it is filled, its smaller one.
        if self.memory + shards * size // 2 + size // 2 > self.limit:
            self._final = self._memory_words()
            return
        for shard in self._shards:
            larger = Array(size)
            self.peak = max(self.peak, self.memory + size)
            words = shard.block.words
            words[c.NEW_TABLE], words[c.NEW_BITS] = larger.address, bits
            self._kernels.rehash(shard.block.address)
            shard.table, shard.bits = larger, bits

    def _settle(self) -> None:
        """Give the states what the budget leaves for them, now that nothing else will grow."""
        share = self._share()
        self._last = [max(s.count, min(share, int(FULL * (1 << s.bits)))) for s in self._shards]
        for shard, last in zip(self._shards, self._last, strict=True):
            shard.rows.grow(max(1, last) * self._row)


__all__ = ["MOST_BITS", "Growth"]

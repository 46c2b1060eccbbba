"""The hash table by itself, driven as the search drives it: collisions, growth, fullness."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from model.explore.codegen import context as c
from model.explore.codegen.native import Kernels, kernels
from model.explore.codegen.table import BUCKET, TILE
from model.explore.packing import pack
from model.explore.search.memory import Array
from model.explore.search.shard import Shard
from model.language import Machine

ROOM = 64


class Table:
    """One shard without a search: states go in as words."""

    def __init__(self, words: int, bits: int = 6, collide: bool = False, room: int = ROOM) -> None:
        m = Machine("holder")
        cells = [m.scalar(f"x{i}", range(2**40), init=0) for i in range(words)]

        @m.action
        def nothing() -> None:
            cells[0].next = 0

        self.kernels: Kernels = kernels(words, 1, collide)
        self.shard = Shard(pack(m), 1, room, bits)
        self.room = room
        self.connect()
        self.shard.block.words[c.LIMIT] = 1 << 40

    def connect(self) -> None:
        words = self.shard.block.words
        words[c.STATES], words[c.TABLE], words[c.BITS] = (
            self.shard.rows.address,
            self.shard.table.address,
            self.shard.bits,
        )

    def records(self, states: NDArray[np.uint64]) -> NDArray[np.uint64]:
        block = self.shard.block
        block.rewind()
        self.kernels.records(block.address, states.ctypes.data, len(states))
        return block.records(0)

    def insert(self, states: Iterable[tuple[int, ...]]) -> None:
        given = np.array(list(states), np.uint64).reshape(-1, self.shard.row_bytes // 8)
        for first in range(0, len(given), self.room):
            if self.shard.count + self.room > self.shard.capacity:
                self.shard.rows.grow(2 * self.shard.rows.size)
                self.connect()
            records = self.records(given[first : first + self.room])
            self.kernels.insert(self.shard.block.address, records.ctypes.data, len(records))

    def find(self, states: Iterable[tuple[int, ...]]) -> list[int]:
        given = np.array(list(states), np.uint64).reshape(-1, self.shard.row_bytes // 8)
        found: list[int] = []
        for first in range(0, len(given), self.room):
            records = self.records(given[first : first + self.room])
            self.kernels.find(self.shard.block.address, records.ctypes.data, len(records))
            found += self.shard.block.guesses[: len(records)].view(np.int32).tolist()
        return found

    def grow(self, bits: int) -> None:
        larger = Array(4 << bits)
        words = self.shard.block.words
        words[c.NEW_TABLE], words[c.NEW_BITS] = larger.address, bits
        self.kernels.rehash(self.shard.block.address)
        self.shard.table, self.shard.bits = larger, bits
        self.connect()

    @property
    def states(self) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self.shard.states.tolist()]


@given(st.integers(1, 6), st.booleans(), st.data())
@settings(max_examples=60)
def test_it_is_a_set_that_keeps_the_order(words: int, collide: bool, data: st.DataObject) -> None:
    word = st.integers(0, 3) | st.integers(0, 2**64 - 1) | st.sampled_from([2**63, 2**64 - 1, 2**32])
    states = data.draw(st.lists(st.tuples(*[word] * words), max_size=120))
    # Words that differ in one place only.
    states += [(*s[:-1], s[-1] ^ 1) for s in states[::7]]
    table = Table(words, bits=9, collide=collide)
    table.insert(states)
    wanted = list(dict.fromkeys(states))
    assert table.states == wanted
    numbers = {state: i for i, state in enumerate(wanted)}
    assert table.find(states) == [numbers[s] for s in states]
    others = [s for s in ((*s[:-1], s[-1] ^ 2) for s in states) if s not in numbers]
    assert table.find(others) == [-1] * len(others)


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_all_states_colliding_over_bucket_boundaries(words: int, extra: int) -> None:
    count = 5 * BUCKET + extra
    table = Table(words, bits=8, collide=True)
    states = [(i, *[7] * (words - 1)) for i in range(count)]
    table.insert(states + states[::-1])
    assert table.states == states
    assert table.find(states) == list(range(count))
    # One chain from the first bucket on.
    entries = np.frombuffer(table.shard.table._map, np.uint32)
    assert np.flatnonzero(entries).tolist() == list(range(count))
    table.grow(10)
    assert table.find(states) == list(range(count))
    assert table.find([(count, *[7] * (words - 1))]) == [-1]


def test_a_full_table_wraps_around() -> None:
    table = Table(1, bits=6)
    states = [(i * 0x9E3779B97F4A7C15 % 2**64,) for i in range(64)]
    table.insert(states[:63])
    assert table.states == states[:63]
    assert table.find(states) == [*range(63), -1]


@pytest.mark.parametrize("bits", [5, 6, 8])
def test_growth_keeps_every_state(bits: int) -> None:
    table = Table(2, bits=bits)
    states = [(i, i * i) for i in range(3 * (1 << bits) // 4)]
    table.insert(states)
    for larger in range(bits + 1, bits + 6):
        table.grow(larger)
        assert table.find(states) == list(range(len(states)))
    more = [(i, 1) for i in range(5000)]
    table.grow(14)
    table.insert(more)
    wanted = list(dict.fromkeys(states + more))
    assert table.states == wanted
    assert table.find(wanted) == list(range(len(wanted)))


def test_states_beyond_the_limit_are_dropped_and_counted() -> None:
    table = Table(1, bits=8)
    words = table.shard.block.words
    words[c.LIMIT] = 10
    table.insert([(i,) for i in range(10)])
    assert words[c.DROPPED] == 0
    table.insert([(i,) for i in range(5, 15)])
    assert table.states == [(i,) for i in range(10)]
    assert words[c.DROPPED] == 5
    assert table.find([(9,), (10,)]) == [9, -1]


def test_slots_keep_bits_of_the_hash_beside_the_number() -> None:
    table = Table(1, bits=12, room=1024)
    table.insert([(i,) for i in range(2000)])
    entries = np.frombuffer(table.shard.table._map, np.uint32)
    entries = entries[entries != 0]
    assert sorted((entries & 0xFFF).tolist()) == list(range(1, 2001))
    # Twenty bits of hash: they spread.
    assert len(set((entries >> 12).tolist())) > 1900


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("count", [TILE - 1, TILE, TILE + 1, 2 * TILE, 2 * TILE + 1])
def test_batches_at_the_boundaries_of_tiles(words: int, count: int) -> None:
    """Records are taken in tiles: a state that is twice in one, or in two neighbouring ones, is one state."""
    table = Table(words, bits=9, room=4 * TILE)
    states = [(2**64 - 1 - i % (count - 1), *[i % (count - 1)] * (words - 1)) for i in range(count)]
    table.insert([*states, *states[::-1]])
    wanted = list(dict.fromkeys(states))
    assert len(wanted) == count - 1
    assert table.states == wanted
    assert table.find(states) == [wanted.index(s) for s in states]


@pytest.mark.parametrize("words", [1, 2, 6])
@pytest.mark.parametrize("past", [-1, 0, 1])
def test_growth_of_a_table_filled_to_where_it_should_grow(words: int, past: int) -> None:
    bits = 8
    table = Table(words, bits=bits)
    count = table.shard.limit_of_table + past
    states = [(i * 0x9E3779B97F4A7C15 % 2**64, *[i] * (words - 1)) for i in range(count)]
    table.insert(states)
    table.grow(bits + 1)
    table.insert(states[::-1])
    assert table.states == states
    assert table.find(states) == list(range(count))
    assert np.count_nonzero(np.frombuffer(table.shard.table._map, np.uint32)) == count

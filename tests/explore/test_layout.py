"""Packing of states into words, and machines whose states take one to many words."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import assert_agrees
from hypothesis import given
from hypothesis import strategies as st

from model.explore.layout import MOST_WORDS, layout_of
from model.language import Expr, Machine, Scalar, Sort, SpecError, after, all_, require


class Item(Sort):
    """Something counted."""


def cells_of(domains: list[range]) -> Machine:
    m = Machine("cells")
    cells = [m.scalar(f"x{i}", domain, init=domain.start) for i, domain in enumerate(domains)]

    @m.action
    def nothing() -> None:
        cells[0].next = domains[0].start

    return m


DOMAINS = st.builds(lambda start, bits, less: range(start, start + max(1, (1 << bits) - less)),
                    st.integers(-(2**20), 2**20), st.integers(0, 39), st.integers(0, 3))  # fmt: skip


@given(st.lists(DOMAINS, min_size=1, max_size=40), st.data())
def test_packing_is_exact(domains: list[range], data: st.DataObject) -> None:
    layout = layout_of(cells_of(domains))
    states = [[data.draw(st.sampled_from([d.start, d.stop - 1]) | st.integers(d.start, d.stop - 1)) for d in domains]
              for _ in range(3)]  # fmt: skip
    packed = [layout.pack(state) for state in states]
    assert [list(layout.unpack(words)) for words in packed] == states
    assert layout.unpack_all(np.array(packed, np.uint64)).tolist() == states
    # Different states are different words, and no field straddles two.
    assert (packed[0] == packed[1]) == (states[0] == states[1])
    assert all(f.shift + f.bits <= 64 for f in layout.fields)
    taken = [0] * layout.words
    for f in layout.fields:
        assert taken[f.word] & f.mask == 0
        taken[f.word] |= f.mask


def test_fields_fill_words_without_gaps_where_they_fit() -> None:
    assert layout_of(cells_of([range(2**16)] * 8)).words == 2
    assert layout_of(cells_of([range(2**16)] * 8 + [range(2)])).words == 3
    assert layout_of(cells_of([range(2**33)] * 3)).words == 3
    # Later small fields use the room that large ones leave.
    assert layout_of(cells_of([range(2**33), range(2**33), range(2**31), range(2**31)])).words == 2


def test_a_state_that_is_too_large_is_refused_with_its_line() -> None:
    assert layout_of(cells_of([range(2**33)] * MOST_WORDS)).words == MOST_WORDS
    with pytest.raises(
        SpecError, match=rf"test_layout\.py:\d+: .*more than {MOST_WORDS} words.*x{MOST_WORDS} is the first"
    ):
        layout_of(cells_of([range(2**33)] * (MOST_WORDS + 1)))


def counters(bits: list[int], fuel: int) -> Machine:
    """Counters at the upper and lower ends of fields of ``bits`` bits; ``fuel`` steps in all."""
    m = Machine("counters")
    left = m.scalar("left", range(fuel + 1), init=fuel)
    cells: list[Scalar] = []

    def declare(number: int, cell: Scalar, top: int) -> None:
        def up() -> None:
            require(left > 0, cell < top)
            left.next -= 1
            cell.next += 1

        def down() -> None:
            require(left > 0, cell > -3)
            cell.next = cell - 1
            left.next -= 1

        def jump() -> None:
            require(left > 1)
            left.next -= 2
            cell.next = ite_top(cell, top)

        for action in (up, down, jump):
            action.__name__ = f"{action.__name__}{number}"
            m.action(action)

    def ite_top(cell: Scalar, top: int) -> Expr:
        return top - (cell + 3)

    for number, width in enumerate(bits):
        domain = range(-3, (1 << width) - 3)
        cell = m.scalar(f"x{number}", domain, init=domain.stop - 2 if number % 2 else domain.start)
        cells.append(cell)
        declare(number, cell, domain.stop - 1)

    @m.terminal
    def spent() -> Expr:
        return left < 2

    @m.step
    def only_one_moves() -> Expr:
        return (after(cells[0]) == cells[0]) | (after(cells[-1]) == cells[-1])

    @m.always
    def inside() -> Expr:
        result = cells[0] >= -3
        for cell, width in zip(cells, bits, strict=True):
            result = result & (cell <= (1 << width) - 4)
        return result

    return m


@pytest.mark.parametrize(
    ("bits", "words"),
    [
        ([1, 2, 3], 1),
        ([31, 31], 1),
        ([30, 31, 1], 1),
        ([30, 31, 2], 2),
        ([39, 25, 39, 25, 30], 3),
        ([39, 39, 39, 39], 4),
        ([38, 37, 36, 35, 34], 5),
        ([33, 34, 35, 36, 37, 38, 1, 2, 29], 6),
        ([40] * 9, 9),
    ],
)
def test_words_of_a_state(bits: list[int], words: int) -> None:
    exploration = assert_agrees(counters(bits, 2 if len(bits) > 4 else 3))
    assert exploration.program.layout.words == words


def test_a_cell_of_one_value_at_a_full_word() -> None:
    m = Machine("full")
    m.sort(Item, 16)
    x = m.variable("x", Item, range(16), init=15)
    one = m.scalar("one", range(7, 8), init=7)

    @m.action
    def lower(i: Item) -> None:
        require(all_(x[j] == 15 for j in Item) & (one == 7))
        x[i] -= 1
        one.next = 7

    exploration = assert_agrees(m)
    assert exploration.program.layout.words == 1

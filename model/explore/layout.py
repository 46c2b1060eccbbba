"""How a state is packed: every cell is a bit field of a 64-bit word.

Packing is exact (no fingerprint). A field holds ``value - domain.start`` in as many bits as its domain needs and
never straddles two words; a cell whose domain has one value takes no bits. Fields go, in the order of
``machine.cells()``, to the first word that has room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.language import Machine, SpecError, describe_domain
from model.lowering.lower import MOST_IN_ALL

MOST_WORDS = 32
INSTANCES = MOST_IN_ALL
INSTANCE_BITS = (INSTANCES - 1).bit_length()
"""A step's record has so many bits for the number of the instance that led to it."""
_WORD = 64


@dataclass(frozen=True, slots=True)
class Field:
    """Where one cell lies: ``bits`` bits of word ``word`` from bit ``shift``; it holds the value minus ``start``."""

    word: int
    shift: int
    bits: int
    start: int
    size: int

    @property
    def mask(self) -> int:
        """The field's bits, in place."""
        return ((1 << self.bits) - 1) << self.shift


@dataclass(frozen=True, slots=True)
class Layout:
    """One field per cell, in the order of ``machine.cells()``; a state is ``words`` 64-bit words."""

    fields: tuple[Field, ...]
    words: int

    def pack(self, state: Sequence[int]) -> tuple[int, ...]:
        """``state`` (raw values, one per cell) as words."""
        words = [0] * self.words
        for field, value in zip(self.fields, state, strict=True):
            words[field.word] |= (value - field.start) << field.shift
        return tuple(words)

    def unpack(self, words: Sequence[int]) -> tuple[int, ...]:
        """The raw values, one per cell."""
        return tuple(((int(words[f.word]) & f.mask) >> f.shift) + f.start for f in self.fields)

    def unpack_all(self, states: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Raw values of packed ``states`` of shape (n, words): shape (n, cells)."""
        out = np.empty((len(states), len(self.fields)), np.int64)
        for i, f in enumerate(self.fields):
            raw = (states[:, f.word] >> np.uint64(f.shift)) & np.uint64((1 << f.bits) - 1) if f.bits else np.uint64(0)
            out[:, i] = np.asarray(raw).astype(np.int64) + f.start
        return out


def layout_of(machine: Machine) -> Layout:
    """The layout of ``machine``'s states. SpecError if a domain or the whole state is too large to pack."""
    fields: list[Field] = []
    used: list[int] = []
    for cell in machine.cells():
        values = machine.values(cell.variable.domain)
        size = values.stop - values.start
        bits = (size - 1).bit_length()
        if bits >= _WORD or not -(2**63) <= values.start <= values.stop - 1 < 2**63:
            raise SpecError(
                f"{cell.variable.name}: the domain {describe_domain(cell.variable.domain)} is too large to explore; "
                f"values must fit in 64 bits, and a domain in 63",
                cell.variable.at,
            )
        word = next((i for i, taken in enumerate(used) if taken + bits <= _WORD), len(used))
        if word == len(used):
            used.append(0)
        fields.append(Field(word, used[word], bits, values.start, size))
        used[word] += bits
        if len(used) > MOST_WORDS:
            raise SpecError(
                f"{machine.name}: a state takes more than {MOST_WORDS} words of 64 bits, which is the most that can be "
                f"explored; {machine.show_cell(cell)} is the first cell that does not fit",
                cell.variable.at,
            )
    return Layout(tuple(fields), len(used))


__all__ = ["INSTANCES", "INSTANCE_BITS", "MOST_WORDS", "Field", "Layout", "layout_of"]

"""How many cells a step changes, counted on packed states, thousands at a time.

A changed cell is marked by the top bit of its field, in place. So marks can be counted, and the marks of a run joined:
the cells that it changes at all.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.layout import Layout

Words = NDArray[np.uint64]


class Changes:
    """Compares packed states of one layout."""

    def __init__(self, layout: Layout) -> None:
        top, below = [0] * layout.words, [0] * layout.words
        for field in layout.fields:
            if field.bits:
                top[field.word] |= 1 << (field.shift + field.bits - 1)
                below[field.word] |= field.mask & ~(1 << (field.shift + field.bits - 1))
        self._top: Final = np.array(top, np.uint64)
        self._below: Final = np.array(below, np.uint64)

    def marks(self, before: Words, after: Words) -> Words:
        """A bit for each cell that differs: arrays of shape (n, words)."""
        differing = before ^ after
        # Below the top bit of a field something differs: the sum carries into it, and never beyond.
        carried = (differing & self._below) + self._below
        return (carried | differing) & self._top

    def count(self, before: Words, after: Words) -> NDArray[np.int64]:
        """How many cells differ: shape (n,)."""
        return counted(self.marks(before, after))


def counted(marks: Words) -> NDArray[np.int64]:
    """The number of marks in each row."""
    return np.asarray(np.bitwise_count(marks).sum(axis=1, dtype=np.int64))


__all__ = ["Changes", "Words", "counted"]

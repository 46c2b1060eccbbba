"""How many different states there are among many: exactly while that fits, else an estimate from their hashes.

The estimate keeps the `_KEPT` smallest hashes: among n of them, spread evenly, the k-th smallest is about k/n of the
whole range. Its standard error is 1/sqrt(k), below one percent.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Packed = NDArray[np.uint64]
_KEPT: Final = 1 << 14
MOST_EXACT: Final = 1 << 22
_MIX: Final = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def hashes(states: Packed) -> NDArray[np.uint64]:
    """64 bits for each of the packed ``states``, of shape (n, words)."""
    total = np.zeros(len(states), np.uint64)
    for word in range(states.shape[1]):
        total = (total ^ states[:, word]) * np.uint64(_MIX[0])
        total = (total ^ (total >> np.uint64(30))) * np.uint64(_MIX[1])
        total = (total ^ (total >> np.uint64(27))) * np.uint64(_MIX[2])
        total ^= total >> np.uint64(31)
    return total


def distinct(states: Packed) -> Packed:
    """The different ones of ``states``, each once, in an order that depends on nothing but which they are."""
    if len(states) < 2:
        return states
    hashed = hashes(states)
    order = np.argsort(hashed)
    if states.shape[1] > 1:
        ordered, hashed = states[order], hashed[order]
        differ = (ordered[1:] != ordered[:-1]).any(axis=1)
        if (differ & (hashed[1:] == hashed[:-1])).any():
            order = np.lexsort(states.T)
    ordered = states[order]
    kept = np.ones(len(ordered), bool)
    kept[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[kept]


class DistinctStates:
    """Counts the different ones of all states that are added. ``most``: count exactly up to so many."""

    def __init__(self, words: int, most: int = MOST_EXACT) -> None:
        self._most: Final = most
        self._known: Packed | None = np.zeros((0, words), np.uint64)
        self._fresh: list[Packed] = []
        self._waiting = 0
        self._least = np.zeros(0, np.uint64)

    def add(self, states: Packed) -> None:
        """Add ``states``, already `distinct` among themselves or not."""
        if self._known is None:
            self._estimate(states)
            return
        self._fresh.append(states)
        self._waiting += len(states)
        if self._waiting > max(1 << 18, len(self._known)):
            self._merge()

    def _merge(self) -> None:
        if self._known is not None and self._fresh:
            self._known = distinct(np.concatenate([self._known, *self._fresh]))
            if len(self._known) > self._most:
                self._estimate(self._known)
                self._known = None
        self._fresh, self._waiting = [], 0

    def _estimate(self, states: Packed) -> None:
        hashed = np.sort(np.concatenate([self._least, hashes(states)]))
        kept = np.ones(len(hashed), bool)
        kept[1:] = hashed[1:] != hashed[:-1]
        self._least = hashed[kept][:_KEPT]

    def count(self) -> tuple[int, bool]:
        """How many, and whether that is exact."""
        self._merge()
        if self._known is not None:
            return len(self._known), True
        if len(self._least) < _KEPT:
            return len(self._least), False
        return round((_KEPT - 1) * 2.0**64 / float(self._least[-1])), False


__all__ = ["MOST_EXACT", "DistinctStates", "distinct", "hashes"]

"""``possible(p)``: can a state where p holds be reached from every state?

States from which p can be reached are marked. One pass over all states, last found first, marks nearly all of them:
most states lead to states found later. Only for those left are the steps kept, and marks are spread backwards along
them. So memory is a byte a state, and edges only where they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from model.explore import context as c
from model.explore.search import Search

_RECORDS = 1 << 16
_STATES = 1 << 16
_CHUNK = 1 << 10
_EDGE_BYTES = 40  # source, target, and the copies made while sorting


class OutOfMemory(Exception):
    """The steps that had to be kept would not fit in the memory budget."""


def first_stuck(search: Search, bit: int) -> int | None:
    """The first state of a complete ``search`` from which no state with predicate ``bit`` is reachable; None if there
    is none.

    OutOfMemory where the search's memory budget does not suffice.
    """
    marked = _holding(search, bit)
    spare = search.spare_memory - marked.nbytes
    if spare < 0:
        raise OutOfMemory
    stepper = _Stepper(search)
    for first in range((search.count - 1) // _CHUNK * _CHUNK, -1, -_CHUNK):
        _mark_range(stepper, search, marked, first, min(first + _CHUNK, search.count))
    left = np.flatnonzero(marked == 0)
    if len(left):
        _spread(stepper, search, marked, left, spare)
        left = left[marked[left] == 0]
    return int(left[0]) if len(left) else None


def _holding(search: Search, bit: int) -> NDArray[np.uint8]:
    """1 for each state where the predicate holds."""
    marked = np.zeros(search.count, np.uint8)
    states = search.states
    bits = np.empty(_STATES, np.uint64)
    for first in range(0, search.count, _STATES):
        part = states[first : first + _STATES]
        search.native.predicates(part.ctypes.data, len(part), bits.ctypes.data)
        marked[first : first + len(part)] = (bits[: len(part)] >> np.uint64(bit)) & np.uint64(1)
    return marked


class _Stepper:
    """Numbers of the states that given states lead to."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._from = search.scratch(_RECORDS)

    def successors(
        self, states: NDArray[np.uint64]
    ) -> Iterator[tuple[int, int, NDArray[np.int64], NDArray[np.uint32]]]:
        """For rows first..last-1 of ``states``: first, last, and of each step the row and the state it leads to."""
        context, native = self._from, self._search.native
        states = np.ascontiguousarray(states)
        real = int(context.words[c.STATES])
        first = 0
        while first < len(states):
            context.words[c.STATES] = states.ctypes.data
            last = native.expand(context.address, first, min(len(states), first + context.rows))
            context.words[c.STATES] = real
            native.kernels.find(context.address)
            ends = context.ends[: last - first].astype(np.int64)
            rows = np.repeat(np.arange(first, last), np.diff(ends, prepend=0))
            yield first, last, rows, context.indices[: context.words[c.COUNT]]
            first = last


def _mark_range(stepper: _Stepper, search: Search, marked: NDArray[np.uint8], first: int, last: int) -> None:
    """Mark the states first..last-1 that lead to marked ones, also through each other as far as a few passes show."""
    for _, _, rows, targets in stepper.successors(search.states[first:last]):
        for _ in range(4):
            leading = rows[marked[targets] != 0] + first
            fresh = leading[marked[leading] == 0]
            if not len(fresh):
                break
            marked[fresh] = 1


def _spread(stepper: _Stepper, search: Search, marked: NDArray[np.uint8], left: NDArray[np.int64], spare: int) -> None:
    """Mark those of the states ``left`` from which a marked one can be reached."""
    sources, targets = _edges(stepper, search, marked, left, spare)
    order = np.argsort(targets, kind="stable")
    sources, targets = sources[order], targets[order]
    fresh = left[marked[left] != 0]
    while len(fresh):
        lows, highs = np.searchsorted(targets, fresh, "left"), np.searchsorted(targets, fresh, "right")
        before = np.concatenate([sources[a:b] for a, b in zip(lows.tolist(), highs.tolist(), strict=True)])
        fresh = np.unique(before[marked[before] == 0])
        marked[fresh] = 1


def _edges(
    stepper: _Stepper, search: Search, marked: NDArray[np.uint8], left: NDArray[np.int64], spare: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The steps between states of ``left``; those that lead to a marked state are marked at once."""
    sources: list[NDArray[np.int64]] = []
    targets: list[NDArray[np.int64]] = []
    held = 0
    for start in range(0, len(left), _STATES):
        numbers = left[start : start + _STATES]
        for _, _, rows, to in stepper.successors(search.states[numbers]):
            hit = marked[to] != 0
            marked[numbers[rows[hit]]] = 1
            sources.append(numbers[rows[~hit]])
            targets.append(to[~hit].astype(np.int64))
            held += _EDGE_BYTES * len(sources[-1])
            if held > spare:
                raise OutOfMemory
    return np.concatenate(sources), np.concatenate(targets)


__all__ = ["OutOfMemory", "first_stuck"]

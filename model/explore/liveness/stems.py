"""Ways to loops that change few cells: among the shortest, as `model.explore.traces.simplest` finds them.

A run into a violation is first anywhere, then, from a start of the claim on, among states without the goal. A state in
the second part is numbered apart, behind all states, so that shortest runs are ways through levels as others are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.liveness.region import Region
from model.explore.search.search import Found, Search
from model.explore.traces.endings import Endings
from model.explore.traces.recover import Recovery
from model.explore.traces.simplest import FAR, SimpleRun
from model.explore.traces.steps import Batch, Numbers, Steps

Path = list[tuple[Found, int | None]]


class _Level:
    """What is left to pay from the states ``numbers``, which ascend."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers: Final = numbers
        self.left = np.full(len(numbers), FAR, np.int32)

    def rows(self, numbers: Numbers) -> Numbers:
        """The rows of ``left`` of these states; -1 for those of other levels."""
        rows = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return np.where(self._numbers[rows] == numbers, rows, -1) if len(self._numbers) else np.full_like(rows, -1)


class _Staged(Steps):
    """The steps of both parts of a run: state n has number n before the claim starts, and n + ``count`` after."""

    def __init__(self, search: Search, region: Region, last_start: int) -> None:
        super().__init__(search)
        self._region: Final = region
        self._last_start: Final = last_start

    def at_depth(self, depth: int) -> Numbers:
        """The states in which a shortest run may be after so many steps."""
        later = self._region.levels[depth] + self.count
        return np.concatenate([super().at_depth(depth), later]) if depth < self._last_start else later

    def found(self, number: int) -> Found:
        """The state with this number."""
        return super().found(number % self.count)

    def packed(self, numbers: Numbers) -> NDArray[np.uint64]:
        """The packed states with these numbers."""
        return super().packed(numbers % self.count)

    def batches(self, numbers: Numbers) -> Iterator[Batch]:
        """The steps from the states ``numbers``; those to a start lead into both parts."""
        before = int(np.searchsorted(numbers, self.count))
        for batch in super().batches(numbers[:before]):
            enters = self._region.starts[batch.targets] != 0
            some = batch.only(enters)
            yield batch
            yield Batch(some.states, some.rows, some.targets + self.count, some.instances)
        for batch in super().batches(numbers[before:] - self.count):
            yield Batch(batch.states + self.count, batch.rows, batch.targets + self.count, batch.instances)


def simple_way(
    search: Search, recovery: Recovery, region: Region, ends: Numbers, *, at_start: bool
) -> tuple[Path, str | None]:
    """A shortest run to one of ``ends``, of the wanted states of ``region``, and why it is not one that changes the
    fewest cells, if it is none. ``at_start``: the claim starts in initial states only."""
    depth = len(region.levels) - 1
    states = sum(map(len, region.levels[:-1])) + (0 if at_start else sum(search.starts[min(depth, search.depth)]))
    found: SimpleRun | str | None = recovery.refusal(states, depth)
    if found is None:
        last = 0 if at_start else max(d for d in range(min(depth, search.depth) + 1) if region.starts_at(d))
        steps = _Staged(search, region, last)
        levels = [_Level(steps.at_depth(d)) for d in range(depth + 1)]
        found = recovery.simple_way(steps, levels, Endings(depth, ends + steps.count))
    if isinstance(found, str):
        start, way = region.way_to(int(ends[0]))
        plain = Steps(search)
        path = recovery.path(plain.found(start)) + [(plain.found(s), instance) for s, instance in way]
        return path, f"the first found, not one that changes the fewest cells: {found}"
    return found.path, found.note


__all__ = ["simple_way"]

"""Where a run that violates a liveness claim can be: states where the goal does not hold, from a start on.

The region is found by breadth-first search among such states. Almost none of them matter in most machines: a state
from which every way inside the region ends lies on no cycle, so these are struck out, last level first, before any
edge is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.budget import Budget
from model.explore.steps import Batch, Numbers, Steps

_CHUNK = 1 << 16
_PASSES = 32  # inside one batch
_SWEEPS = 4  # over the whole region
_FEWER = 0.9  # another sweep is worth it if the last one left less than this

Flags = NDArray[np.uint8]
Masks = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Demanded:
    """What fairness asks, as bits of ``words`` 64-bit words: ``of`` has the bits of each instance, shape (instances,
    words); ``weak`` and ``strong`` those of each kind."""

    of: Masks
    weak: Masks
    strong: Masks

    @property
    def words(self) -> int:
        """64-bit words of a mask."""
        return int(self.of.shape[1])


def any_bit(masks: Masks) -> NDArray[np.bool_]:
    """Which rows of ``masks``, of shape (n, words), have a bit set."""
    return np.asarray((masks != 0).any(axis=1), np.bool_)


class Region:
    """The states that can be reached without the goal. ``levels[d]``: those first reached after d steps, ascending.

    ``inside``: 1 for each state where the goal does not hold; ``starts``: 1 for each where a violating run may begin,
    at once if ``at_start_only`` (then only initial states count), else whenever it comes there.
    """

    def __init__(
        self, steps: Steps, inside: Flags, starts: Flags, at_start_only: bool, demanded: Demanded, budget: Budget
    ) -> None:
        self.steps: Final = steps
        self.demanded: Final = demanded
        self.levels: list[Numbers] = []
        # The level of the first state where a fair run can stay, and the first such state in it.
        self.stay: tuple[int, int] | None = None
        self._budget = budget
        self._asks = any_bit(demanded.of)
        self._inside = inside
        self.seen: Final[Flags] = np.zeros(steps.count, np.uint8)
        budget.take(self.seen.nbytes)
        self._search(starts, at_start_only)

    def _search(self, starts: Flags, at_start_only: bool) -> None:
        last = 0 if at_start_only else self.steps.depth
        fresh: list[Numbers] = []
        while fresh or len(self.levels) <= last:
            depth = len(self.levels)
            if depth <= last:
                here = self.steps.at_depth(depth)
                fresh.append(here[(starts[here] & self._inside[here] & ~self.seen[here] & 1) != 0])
            level = np.unique(np.concatenate(fresh)) if fresh else np.zeros(0, np.int64)
            self.seen[level] = 1
            self.levels.append(level)
            self._budget.take(level.nbytes)
            fresh = []
            for batch in self.steps.batches(level):
                self._budget.check_time()
                self._note_stays(batch, depth)
                new = batch.targets[(self._inside[batch.targets] & ~self.seen[batch.targets] & 1) != 0]
                if len(new):
                    new = np.unique(new)
                    self.seen[new] = 1
                    fresh.append(new)

    def _note_stays(self, batch: Batch, level: int) -> None:
        """A fair run can stay where nothing is enabled that fairness asks for."""
        if self.stay is not None and self.stay[0] < level:
            return
        moving = self._asks[batch.instances] & (batch.targets != batch.sources)
        asked = np.zeros(len(batch.states), np.bool_)
        asked[batch.rows[moving]] = True
        stays = batch.states[~asked]
        if len(stays):
            first = int(stays[0])
            self.stay = (level, first) if self.stay is None else min(self.stay, (level, first))

    def circling(self) -> Flags:
        """1 for each state of the region that may lie on a cycle inside it or lead to one; a few too many."""
        alive = self.seen.copy()
        self._budget.take(alive.nbytes)
        before = sum(map(len, self.levels))
        for _ in range(_SWEEPS):
            for level in reversed(self.levels):
                self._strike(level[alive[level] != 0], alive)
            left = int(np.count_nonzero(alive))
            if not left or left > _FEWER * before:
                break
            before = left
        return alive

    def _strike(self, level: Numbers, alive: Flags) -> None:
        for batch in self.steps.batches(level):
            self._budget.check_time()
            inner = batch.only((alive[batch.targets] != 0) & (batch.targets != batch.sources))
            for _ in range(_PASSES):
                going = np.zeros(len(batch.states), np.bool_)
                going[inner.rows[alive[inner.targets] != 0]] = True
                dead = batch.states[~going & (alive[batch.states] != 0)]
                if not len(dead):
                    break
                alive[dead] = 0


__all__ = ["Demanded", "Flags", "Masks", "Region", "any_bit"]

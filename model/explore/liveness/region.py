"""The nearest place where a run can violate a liveness claim: breadth-first search among states without its goal."""

from __future__ import annotations

from typing import Final

import numpy as np

from model.explore.liveness.core import Flags
from model.explore.search.budget import Budget
from model.explore.traces.steps import Numbers, Steps


class Region:
    """The states that runs come to without the goal, up to the nearest that is ``wanted``.

    ``inside``: where the goal does not hold; ``triggered``: where the claim starts, whenever a run comes there; if the
    goal does not hold there either, a run may begin to violate the claim: these are the ``starts``. ``levels[d]`` has
    the states first reached after d steps, counted from the initial states, ascending; ``found`` are the wanted ones of
    the last level, none if none can be reached.
    """

    def __init__(self, steps: Steps, inside: Flags, triggered: Flags, wanted: Flags, budget: Budget) -> None:
        self._steps = steps
        self.starts: Final = triggered & inside
        self.levels: Final[list[Numbers]] = []
        self.found: Numbers = np.zeros(0, np.int64)
        new = inside.copy()
        budget.take(new.nbytes)
        fresh: list[Numbers] = []
        for depth in range(steps.count + 1):
            if depth <= steps.depth:
                here = steps.at_depth(depth)
                fresh.append(here[(self.starts[here] & new[here]) != 0])
            elif not fresh:
                return
            level = np.unique(np.concatenate(fresh))
            new[level] = 0
            self.levels.append(level)
            budget.take(level.nbytes)
            self.found = level[wanted[level] != 0]
            if len(self.found):
                return
            fresh = []
            for batch in steps.batches(level):
                budget.check_time()
                reached = batch.targets[new[batch.targets] != 0]
                if len(reached):
                    new[reached] = 0
                    fresh.append(reached)

    def starts_at(self, depth: int) -> bool:
        """Whether a run may begin to violate the claim in one of the states at this depth."""
        return bool(self.starts[self._steps.at_depth(depth)].any())

    def way_to(self, state: int) -> tuple[int, list[tuple[int, int]]]:
        """A shortest way to a state of the last level: a start, and from there each state with the instance that leads
        to it. A shortest way to the start is no shorter than its level."""
        steps, back = self._steps, []
        level = len(self.levels) - 1
        while not (self.starts[state] and steps.depth_of(state) == level):
            parent, instance = self._predecessor(self.levels[level - 1], state)
            back.append((state, instance))
            state, level = parent, level - 1
        return state, back[::-1]

    def _predecessor(self, level: Numbers, state: int) -> tuple[int, int]:
        for batch in self._steps.batches(level):
            hits = np.flatnonzero(batch.targets == state)
            if len(hits):
                return int(batch.sources[hits[0]]), int(batch.instances[hits[0]])
        raise AssertionError(f"state {state} has no predecessor in its region")


__all__ = ["Region"]

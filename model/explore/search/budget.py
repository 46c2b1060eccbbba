"""What is left of an exploration's memory and time for analyses of what it found."""

from __future__ import annotations

import copy
import time

from model.explore.search.search import INTERRUPTED, Search


class OutOfBudget(Exception):
    """A budget ran out; its text says which."""


class OutOfMemory(OutOfBudget):
    """What has to be kept would not fit in the memory budget."""

    def __init__(self) -> None:
        super().__init__("memory ran out")


class OutOfTime(OutOfBudget):
    """The time limit ran out, or it was asked to stop."""


class Budget:
    """The rest of the budgets of a finished ``search``, counted from now."""

    def __init__(self, search: Search) -> None:
        self._spare = search.growth.limit - search.memory
        self._search = search
        limit = search.limits.seconds
        self._deadline = None if limit is None else time.perf_counter() + max(0.0, limit - search.seconds)

    def part(self) -> Budget:
        """The same budgets for a part of the analysis, whose memory is free again when it is done."""
        return copy.copy(self)

    def take(self, size: int) -> None:
        """Account for ``size`` bytes. OutOfMemory if there are not so many left."""
        self._spare -= size
        if self._spare < 0:
            raise OutOfMemory

    @property
    def time_out(self) -> str | None:
        """Why there is no time left, None if there is some."""
        try:
            self.check_time()
        except OutOfTime as out:
            return str(out)
        return None

    def check_time(self) -> None:
        """OutOfTime if the time limit has run out, or it was asked to stop."""
        if self._search.stopped:
            raise OutOfTime(INTERRUPTED)
        if self._deadline is not None and time.perf_counter() > self._deadline:
            raise OutOfTime(f"time limit of {self._search.limits.seconds:g} s ran out")


__all__ = ["Budget", "OutOfBudget", "OutOfMemory", "OutOfTime"]

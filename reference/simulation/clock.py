"""The virtual clock: what is to happen, in one total order.

Time is whole milliseconds from the start of the trace. At one instant what gives room comes before what takes it, in
the order of ``Rank``; what has one rank happens in the order in which it was put into the queue. Nothing else decides,
so the same input gives the same run.
"""

from __future__ import annotations

import enum
import heapq
import itertools
from dataclasses import dataclass

MS_PER_SECOND = 1000
MS_PER_HOUR = 3_600_000


class Rank(enum.IntEnum):
    """What happens first at one instant."""

    NODE_COMES = 0
    GROUP_ENDS = 1
    POD_FAILS = 2
    NODE_GOES = 3
    SUBMIT = 4
    AUTOSCALE = 5


@dataclass(frozen=True, slots=True)
class Happening:
    """Something at ``time`` (ms). ``subject`` is what it concerns: a job's name, a node's name or the node itself.

    ``background`` happenings go on for ever by themselves (nodes break and come back, the autoscaler looks): they do
    not keep a run going in which nothing else is left to happen.
    """

    time: int
    rank: Rank
    subject: object
    detail: object = None
    background: bool = False


class EventQueue:
    """Happenings in order of (time, rank, arrival in the queue)."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, Rank, int, Happening]] = []
        self._numbers = itertools.count()
        self.foreground = 0
        """How many happenings in the queue are not background."""

    def put(self, happening: Happening) -> None:
        """``happening`` is to come."""
        heapq.heappush(self._heap, (happening.time, happening.rank, next(self._numbers), happening))
        self.foreground += not happening.background

    def next_time(self) -> int | None:
        """When the next one is, None where none is left."""
        return self._heap[0][0] if self._heap else None

    def take(self, now: int) -> Happening | None:
        """The next one that is due at ``now``, None where none is."""
        if not self._heap or self._heap[0][0] > now:
            return None
        happening = heapq.heappop(self._heap)[3]
        self.foreground -= not happening.background
        return happening

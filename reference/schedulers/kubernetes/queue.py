"""The scheduling queue: activeQ, backoffQ, the unschedulable ones, and the gate before them, on a virtual clock.

What is queued is a root: a hierarchy of groups, one PodGroup, or one pod.
"""

from __future__ import annotations

import enum
import heapq
from dataclasses import dataclass

from reference.schedulers.kubernetes.groups import Shape
from reference.schedulers.kubernetes.options import Options


class Place(enum.Enum):
    """Where the queue has a root."""

    GATED = "gated"
    """PreEnqueue does not let it in, or nothing of it is pending."""
    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    POPPED = "popped"
    """Its cycle runs."""


@dataclass(slots=True)
class Queued:
    """A root in the queue. ``timestamp``: when it came into the queue, with a number for ties; ``attempts`` double the
    backoff; ``until`` ends it; ``since``: when it became unschedulable; ``shape``: the hierarchy as it came in."""

    name: str
    priority: int
    timestamp: tuple[int, int]
    place: Place = Place.GATED
    attempts: int = 0
    until: int = 0
    since: int = 0
    shape: Shape = ()

    def order(self) -> tuple[int, tuple[int, int], str]:
        """QueueSort: priority, then time."""
        return -self.priority, self.timestamp, self.name


class SchedulingQueue:
    """Where every root is; ``now`` is the clock in seconds."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.now = 0
        self.entries: dict[str, Queued] = {}
        self._active: list[tuple[tuple[int, tuple[int, int], str], int, Queued]] = []
        self._due: list[tuple[int, int, Queued]] = []
        self._unschedulable: dict[str, Queued] = {}
        self._numbers = 0

    def number(self) -> int:
        """The next number: what comes later gets a larger one."""
        self._numbers += 1
        return self._numbers

    def place(self, name: str) -> Place:
        """Where a root is."""
        return self.entries[name].place if name in self.entries else Place.GATED

    def entry(self, name: str, priority: int) -> Queued:
        """The entry of a root, a new one with the present time where there is none."""
        if name not in self.entries:
            self.entries[name] = Queued(name, priority, (self.now, self.number()))
        self.entries[name].priority = priority
        return self.entries[name]

    def activate(self, entry: Queued, shape: Shape) -> None:
        """To activeQ, with the timestamp that it has."""
        entry.shape = shape
        self._put(entry, Place.ACTIVE)

    def _put(self, entry: Queued, place: Place) -> None:
        if entry.place is Place.UNSCHEDULABLE:
            del self._unschedulable[entry.name]
        entry.place = place
        match place:
            case Place.ACTIVE:
                heapq.heappush(self._active, (entry.order(), self.number(), entry))
            case Place.BACKOFF:
                heapq.heappush(self._due, (entry.until, self.number(), entry))
            case Place.UNSCHEDULABLE:
                self._unschedulable[entry.name] = entry
                end = entry.since + self.options.unschedulable_timeout
                heapq.heappush(self._due, (end, self.number(), entry))

    def pop(self) -> Queued | None:
        """The first of activeQ; its attempt counts."""
        while self._active:
            order, _, entry = heapq.heappop(self._active)
            # what was moved, or got another priority, is in the heap again
            if self.entries.get(entry.name) is entry and entry.place is Place.ACTIVE and entry.order() == order:
                entry.place = Place.POPPED
                entry.attempts += 1
                return entry
        return None

    def back_off(self, entry: Queued) -> None:
        """To backoffQ as a newcomer, for longer with each attempt."""
        self._hold(entry)
        self._put(entry, Place.BACKOFF)

    def set_aside(self, entry: Queued) -> None:
        """Among the unschedulable ones, until an event may help it; then the rest of its backoff is left."""
        self._hold(entry)
        entry.since = self.now
        self._put(entry, Place.UNSCHEDULABLE)

    def _hold(self, entry: Queued) -> None:
        doubled = self.options.backoff_initial << min(max(entry.attempts - 1, 0), 62)
        entry.until = self.now + min(doubled, self.options.backoff_max)
        entry.timestamp = (self.now, self.number())

    def drop(self, name: str) -> None:
        """Nothing of the root is pending any more."""
        self.entries.pop(name, None)
        self._unschedulable.pop(name, None)

    def wake(self, name: str) -> bool:
        """An event may help a root that is set aside: to activeQ, or backoffQ while it is still held back."""
        entry = self._unschedulable.get(name)
        if entry is None:
            return False
        self._put(entry, Place.BACKOFF if entry.until > self.now else Place.ACTIVE)
        return True

    def unschedulable(self) -> list[str]:
        """Those that wait for an event."""
        return sorted(self._unschedulable)

    def flush(self) -> list[str]:
        """Those whose backoff is over go to activeQ, and those that have waited too long for an event are tried
        again; who came to activeQ."""
        moved: list[str] = []
        while self._due and self._due[0][0] <= self.now:
            _, _, entry = heapq.heappop(self._due)
            if self.entries.get(entry.name) is entry and self._flush(entry):
                moved.append(entry.name)
        return moved

    def flush_one(self, name: str) -> bool:
        """The same for one root alone."""
        return name in self.entries and self._flush(self.entries[name])

    def _flush(self, entry: Queued) -> bool:
        if entry.place is Place.BACKOFF and entry.until <= self.now:
            self._put(entry, Place.ACTIVE)
            return True
        if entry.place is Place.UNSCHEDULABLE and self.now - entry.since >= self.options.unschedulable_timeout:
            self.wake(entry.name)
            return self.place(entry.name) is Place.ACTIVE
        return False

    def next_backoff(self) -> int | None:
        """The time at which the next backoff ends, None where there is none."""
        return min((e.until for e in self.entries.values() if e.place is Place.BACKOFF), default=None)

    def next_flush(self) -> int | None:
        """The time at which ``flush`` may move something next, None where it never does."""
        while self._due:
            time, _, entry = self._due[0]
            if self.entries.get(entry.name) is entry and entry.place in (Place.BACKOFF, Place.UNSCHEDULABLE):
                return max(time, self.now)
            heapq.heappop(self._due)
        return None

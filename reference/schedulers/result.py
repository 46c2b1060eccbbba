"""What every reference scheduler answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from reference.cluster import Placement


class LogEntry(Protocol):
    """One thing that a scheduler did; each scheduler has its own type, and ``str`` tells it in one line."""

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """A placement for the whole cluster, and how the scheduler ``policy`` came to it, in order."""

    policy: str
    placement: Placement
    log: tuple[LogEntry, ...] = ()

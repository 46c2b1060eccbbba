"""What an exploration may take, and how far it says it is."""

from __future__ import annotations

import os
from dataclasses import dataclass

from model.lowering.lower import EventKind


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an exploration is. ``queue``: states found, not yet expanded. ``depth``: of the level being expanded."""

    states: int
    transitions: int
    depth: int
    queue: int
    memory_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets; None is no limit, but for ``memory`` (bytes) a share of what is free. ``seconds`` of search.

    ``until``: stop once an event of this kind has occurred.
    """

    memory: int | None = None
    states: int | None = None
    seconds: float | None = None
    stop_at_first: bool = False
    until: EventKind | None = None


def workers(threads: int | None) -> int:
    """``threads``, or one for each processor that this process may use. ValueError below 1."""
    if threads is None:
        return len(os.sched_getaffinity(0))
    if threads < 1:
        raise ValueError(f"threads is at least 1, found {threads}")
    return threads


__all__ = ["Limits", "Progress", "workers"]

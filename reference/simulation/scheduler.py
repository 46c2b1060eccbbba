"""What a simulation asks of a scheduler: a protocol small enough that an engine is adapted in a page.

The simulation tells what happened (``add_node``, ``submit``, ``pod_ended``, ...), then asks ``cycle`` what the
scheduler makes of it, again and again until it makes nothing more of it. Changes come in the order in which they
happened, each once. Pods are known by numbers that the scheduler gives, unique in a run.

Room is accounted for on both sides: the scheduler decides by its own books, the simulation keeps others for its
metrics and log, and tests hold every instant of the log against ``reference.validate``.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from reference.cluster import Application, Node


@dataclass(frozen=True, slots=True)
class Bound:
    """A pod now runs on a node. A ``placeholder`` holds room for a member of the gang and does no work."""

    application: str
    task_group: str
    pod: int
    node: str
    placeholder: bool = False


@dataclass(frozen=True, slots=True)
class Released:
    """The scheduler let a pod go, or lost it with its node: a gang that loses a pod so has failed, but for a
    placeholder."""

    application: str
    pod: int
    reason: str


class Ending(enum.Enum):
    """How the scheduler closes a gang that has not run."""

    REJECTED = "reject"
    """It was never taken in."""
    KILLED = "kill"
    """It was taken in and given up, by a placeholder timeout for example."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The scheduler is done with a gang; its pods are released before."""

    application: str
    ending: Ending
    reason: str


@dataclass(frozen=True, slots=True)
class Said:
    """One event in the scheduler's own words, for the log: names are those of the actions that its spec is bound to."""

    event: str
    fields: Mapping[str, object] = field(default_factory=dict)


Change = Bound | Released | Closed | Said


class OnlineScheduler(Protocol):
    """A scheduler on a virtual clock; ``now`` is in milliseconds and never goes back."""

    @property
    def name(self) -> str:
        """The policy's name; also who speaks in ``Said``."""
        ...

    def add_node(self, node: Node, now: int) -> None:
        """``node`` takes pods from now on; one of its name may have been there before."""
        ...

    def remove_node(self, node: str, now: int) -> None:
        """``node`` is gone with its pods: the next cycle reports each of them ``Released``."""
        ...

    def submit(self, application: Application, now: int) -> None:
        """A gang comes; a name comes again only after it ended, was closed or withdrawn."""
        ...

    def withdraw(self, application: str, now: int) -> None:
        """The gang is taken back whatever it has: its pods are gone, and are not reported."""
        ...

    def pod_ended(self, application: str, pod: int, now: int) -> None:
        """A pod, no placeholder, has ended by itself; it is not reported."""
        ...

    def cycle(self, now: int) -> Sequence[Change]:
        """What changes now; empty when nothing more does."""
        ...

    def next_timer(self) -> int | None:
        """The time (ms) at which ``cycle`` has something to do even if nothing happens before; None where none."""
        ...


class SchedulerError(RuntimeError):
    """A scheduler that breaks the protocol: a fault of its code, not of any input."""

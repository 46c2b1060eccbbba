"""Instances as the instance manager keeps them, and the events that change them. Times are milliseconds of the loop's
clock."""

from __future__ import annotations

from dataclasses import dataclass

from reference.schedulers.ray.node import TerminationCause
from reference.schedulers.ray.request import InstanceStatus, NodeKind


class ReconcileError(Exception):
    """What ends a loop of the reconciler before its end: what was done stays, the rest waits for the next loop."""


@dataclass(frozen=True, slots=True)
class ManagedInstance:
    """An instance: from being queued to its cloud instance being gone. ``history`` are the states it was in, with the
    time when each began; the last is its status.

    ``cloud_instance``, ``node_id`` (its Ray node) and ``launch_request`` are empty as long as there is none.
    """

    id: str
    type: str
    history: tuple[tuple[InstanceStatus, int], ...]
    cloud_instance: str = ""
    node_id: str = ""
    kind: NodeKind = NodeKind.UNMANAGED
    launch_request: str = ""

    @property
    def status(self) -> InstanceStatus:
        """The state it is in."""
        return self.history[-1][0]

    def times(self, status: InstanceStatus) -> list[int]:
        """When it entered ``status``, each time."""
        return [at for entered, at in self.history if entered is status]

    def is_stuck(self, seconds: float, now_ms: int) -> bool:
        """Whether it has been in its state for longer than ``seconds``."""
        return now_ms - self.history[-1][1] > seconds * 1000


@dataclass(frozen=True, slots=True)
class TerminationRequest:
    """Why the scheduler wants an instance gone; ``node_id`` is the Ray node to stop."""

    cause: TerminationCause
    node_id: str = ""


@dataclass(frozen=True, slots=True)
class InstanceUpdateEvent:
    """An instance is to enter ``status``; what else is not empty is what it has then. Only with ``upsert`` it may be
    new."""

    instance: str
    status: InstanceStatus
    type: str = ""
    cloud_instance: str = ""
    node_id: str = ""
    kind: NodeKind = NodeKind.UNMANAGED
    launch_request: str = ""
    upsert: bool = False
    termination: TerminationRequest | None = None

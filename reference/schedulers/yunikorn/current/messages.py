"""What shim and core tell each other: the messages of the scheduler interface, as far as gangs need them.

Source: apache/yunikorn-scheduler-interface at 2858f4d0, si.proto. Times are milliseconds of a virtual clock; amounts
are ``Resources``. A message from the core lies in ``Partition.outbox`` until the shim takes it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from reference.cluster import ANYWHERE, NOTHING, Constraints, GangStyle, Resources
from reference.schedulers.yunikorn.current.states import ApplicationState


class TerminationType(enum.Enum):
    """Why an allocation is released."""

    UNKNOWN = "UNKNOWN"
    STOPPED_BY_RM = "STOPPED_BY_RM"
    TIMEOUT = "TIMEOUT"
    PREEMPTED_BY_SCHEDULER = "PREEMPTED_BY_SCHEDULER"
    PLACEHOLDER_REPLACED = "PLACEHOLDER_REPLACED"


@dataclass(frozen=True, slots=True)
class AddApplication:
    """AddApplicationRequest. ``placeholder_ask`` is the size of the whole gang, zero for an application without one.

    ``timeout_ms``: how long placeholders may wait for the rest of their gang; 0 stands for the default of 15 minutes.
    ``created`` (the tag creationTime) shortens it after a restart by what has passed already.
    """

    application: str
    queue: str
    placeholder_ask: Resources = NOTHING
    style: GangStyle = GangStyle.SOFT
    timeout_ms: int = 0
    user: str = ""
    groups: tuple[str, ...] = ()
    created: int | None = None


@dataclass(frozen=True, slots=True)
class Allocation:
    """An ask where ``node`` is empty, an allocation where it is not; the shim's in recovery, the core's when new.

    ``created`` is the pod's creation time; None: now. A placeholder has a task group.
    """

    key: str
    application: str
    resources: Resources
    node: str = ""
    task_group: str = ""
    placeholder: bool = False
    priority: int = 0
    created: int | None = None
    required_node: str = ""
    originator: bool = False
    constraints: Constraints = ANYWHERE


@dataclass(frozen=True, slots=True)
class AllocationRelease:
    """To the core: the pod is gone (or confirmed to be). To the shim: the pod is to go. No key: all that there is."""

    application: str
    key: str
    type: TerminationType
    message: str = ""


@dataclass(frozen=True, slots=True)
class AllocationResponse:
    """From the core: allocations that are new, or releases that belong together. One of the two is empty."""

    new: tuple[Allocation, ...] = ()
    released: tuple[AllocationRelease, ...] = ()


@dataclass(frozen=True, slots=True)
class AcceptedApplication:
    """From the core: the application is in its queue."""

    application: str


@dataclass(frozen=True, slots=True)
class RejectedApplication:
    """From the core: the application is not taken, and why."""

    application: str
    reason: str


@dataclass(frozen=True, slots=True)
class RejectedAllocation:
    """From the core: the ask or allocation is not taken, and why."""

    application: str
    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class UpdatedApplication:
    """From the core: the application has changed its state."""

    application: str
    state: ApplicationState
    message: str = ""


Message = AllocationResponse | AcceptedApplication | RejectedApplication | RejectedAllocation | UpdatedApplication
"""All that the core tells the shim."""

"""YuniKorn's core and shim as their code is today (2026): a partition, and the shim that talks to it.

Start reading at ``partition.py`` (events), then ``cycle.py`` (who is next) and ``releases.py`` (what goes).
"""

from reference.schedulers.yunikorn.current.application import Application, PlaceholderData, Request
from reference.schedulers.yunikorn.current.books import PartitionOptions, Predicates
from reference.schedulers.yunikorn.current.messages import (
    AcceptedApplication,
    AddApplication,
    Allocation,
    AllocationRelease,
    AllocationResponse,
    Message,
    RejectedAllocation,
    RejectedApplication,
    TerminationType,
    UpdatedApplication,
)
from reference.schedulers.yunikorn.current.partition import Partition
from reference.schedulers.yunikorn.current.queue import QueueConfig
from reference.schedulers.yunikorn.current.releases import Removed
from reference.schedulers.yunikorn.current.result import Result, ResultType
from reference.schedulers.yunikorn.current.states import ApplicationEvent, ApplicationState
from reference.schedulers.yunikorn.current.users import Limit

__all__ = [
    "AcceptedApplication",
    "AddApplication",
    "Allocation",
    "AllocationRelease",
    "AllocationResponse",
    "Application",
    "ApplicationEvent",
    "ApplicationState",
    "Limit",
    "Message",
    "Partition",
    "PartitionOptions",
    "PlaceholderData",
    "Predicates",
    "QueueConfig",
    "RejectedAllocation",
    "RejectedApplication",
    "Removed",
    "Request",
    "Result",
    "ResultType",
    "TerminationType",
    "UpdatedApplication",
]

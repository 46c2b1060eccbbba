"""The state machines of the shim: of an application and of a task (a pod).

Source: apache/yunikorn-k8shim at 23b6b47f, pkg/cache/application_state.go and task_state.go. What a table does not list
is refused, and the state kept.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


class ShimState(enum.Enum):
    """Where an application is, as the shim sees it."""

    NEW = "New"
    SUBMITTED = "Submitted"
    ACCEPTED = "Accepted"
    RESERVING = "Reserving"
    RUNNING = "Running"
    RESUMING = "Resuming"
    REJECTED = "Rejected"
    COMPLETED = "Completed"
    KILLING = "Killing"
    KILLED = "Killed"
    FAILING = "Failing"
    FAILED = "Failed"


class ShimEvent(enum.Enum):
    """What moves it."""

    SUBMIT = "SubmitApplication"
    ACCEPT = "AcceptApplication"
    RESERVE = "TryReserve"
    UPDATE_RESERVATION = "UpdateReservation"
    RESUME = "ResumingApplication"
    TASK_COMPLETED = "AppTaskCompleted"
    RUN = "RunApplication"
    RELEASE = "ReleaseAppAllocation"
    COMPLETE = "CompleteApplication"
    REJECT = "RejectApplication"
    FAIL = "FailApplication"
    KILL = "KillApplication"
    KILLED = "KilledApplication"


class TaskState(enum.Enum):
    """Where a pod is."""

    NEW = "New"
    PENDING = "Pending"
    SCHEDULING = "Scheduling"
    ALLOCATED = "Allocated"
    REJECTED = "Rejected"
    BOUND = "Bound"
    KILLING = "Killing"
    KILLED = "Killed"
    FAILED = "Failed"
    COMPLETED = "Completed"


class TaskEvent(enum.Enum):
    """What moves it."""

    INIT = "InitTask"
    SUBMIT = "SubmitTask"
    ALLOCATED = "TaskAllocated"
    BOUND = "TaskBound"
    COMPLETE = "CompleteTask"
    KILL = "KillTask"
    KILLED = "TaskKilled"
    REJECTED = "TaskRejected"
    FAIL = "TaskFail"


_S, _E = ShimState, ShimEvent
_T, _V = TaskState, TaskEvent

SHIM_TRANSITIONS: Final[Mapping[tuple[ShimState, ShimEvent], ShimState]] = MappingProxyType(
    {
        (_S.NEW, _E.SUBMIT): _S.SUBMITTED,
        (_S.SUBMITTED, _E.ACCEPT): _S.ACCEPTED,
        (_S.ACCEPTED, _E.RESERVE): _S.RESERVING,
        (_S.RESERVING, _E.UPDATE_RESERVATION): _S.RESERVING,
        (_S.RESERVING, _E.RESUME): _S.RESUMING,
        (_S.RESUMING, _E.TASK_COMPLETED): _S.RESUMING,
        **{(s, _E.RUN): _S.RUNNING for s in (_S.ACCEPTED, _S.RESERVING, _S.RESUMING, _S.RUNNING)},
        **{(s, _E.RELEASE): _S.RUNNING for s in (_S.RUNNING, _S.ACCEPTED, _S.RESERVING)},
        (_S.FAILING, _E.RELEASE): _S.FAILING,
        (_S.RESUMING, _E.RELEASE): _S.RESUMING,
        (_S.RUNNING, _E.COMPLETE): _S.COMPLETED,
        (_S.SUBMITTED, _E.REJECT): _S.REJECTED,
        **{(s, _E.FAIL): _S.FAILING for s in (_S.SUBMITTED, _S.ACCEPTED, _S.RUNNING, _S.RESERVING)},
        (_S.FAILING, _E.FAIL): _S.FAILED,
        (_S.REJECTED, _E.FAIL): _S.FAILED,
        **{(s, _E.KILL): _S.KILLING for s in (_S.ACCEPTED, _S.RUNNING, _S.RESERVING)},
        (_S.KILLING, _E.KILLED): _S.KILLED,
    }
)
"""Of an application. A reservation that loses a placeholder (RELEASE) goes on without the rest."""

TASK_TRANSITIONS: Final[Mapping[tuple[TaskState, TaskEvent], TaskState]] = MappingProxyType(
    {
        (_T.NEW, _V.INIT): _T.PENDING,
        (_T.PENDING, _V.SUBMIT): _T.SCHEDULING,
        (_T.SCHEDULING, _V.ALLOCATED): _T.ALLOCATED,
        (_T.COMPLETED, _V.ALLOCATED): _T.COMPLETED,
        (_T.ALLOCATED, _V.BOUND): _T.BOUND,
        **{(s, _V.COMPLETE): _T.COMPLETED for s in TaskState},
        **{(s, _V.KILL): _T.KILLING for s in (_T.PENDING, _T.SCHEDULING, _T.ALLOCATED, _T.BOUND)},
        (_T.KILLING, _V.KILLED): _T.KILLED,
        **{(s, _V.REJECTED): _T.REJECTED for s in (_T.NEW, _T.PENDING, _T.SCHEDULING)},
        **{(s, _V.FAIL): _T.FAILED for s in (_T.NEW, _T.PENDING, _T.SCHEDULING, _T.REJECTED, _T.ALLOCATED)},
    }
)
"""Of a task. An allocation that comes for a completed one is given back."""

TERMINATED: Final = frozenset({_T.REJECTED, _T.KILLED, _T.FAILED, _T.COMPLETED})
"""States of tasks whose pod is gone or never ran."""

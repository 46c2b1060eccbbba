"""The state machine of an application in the core.

Source: apache/yunikorn-core at be3bb487, pkg/scheduler/objects/application_state.go. An event that the table does not
list for a state is refused and the state kept; upstream logs that and goes on.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


class ApplicationState(enum.Enum):
    """Where an application is in its life."""

    NEW = "New"
    ACCEPTED = "Accepted"
    RUNNING = "Running"
    RESUMING = "Resuming"
    COMPLETING = "Completing"
    COMPLETED = "Completed"
    FAILING = "Failing"
    FAILED = "Failed"
    REJECTED = "Rejected"
    EXPIRED = "Expired"


class ApplicationEvent(enum.Enum):
    """What moves it."""

    REJECT = "rejectApplication"
    RUN = "runApplication"
    COMPLETE = "completeApplication"
    FAIL = "failApplication"
    RESUME = "resumeApplication"
    EXPIRE = "expireApplication"


_S, _E = ApplicationState, ApplicationEvent

TRANSITIONS: Final[Mapping[tuple[ApplicationState, ApplicationEvent], ApplicationState]] = MappingProxyType(
    {
        (_S.NEW, _E.REJECT): _S.REJECTED,
        (_S.NEW, _E.RUN): _S.ACCEPTED,
        (_S.RESUMING, _E.RUN): _S.ACCEPTED,
        (_S.ACCEPTED, _E.RUN): _S.RUNNING,
        (_S.RUNNING, _E.RUN): _S.RUNNING,
        (_S.COMPLETING, _E.RUN): _S.RUNNING,
        (_S.ACCEPTED, _E.COMPLETE): _S.COMPLETING,
        (_S.RUNNING, _E.COMPLETE): _S.COMPLETING,
        (_S.COMPLETING, _E.COMPLETE): _S.COMPLETED,
        (_S.NEW, _E.FAIL): _S.FAILING,
        (_S.ACCEPTED, _E.FAIL): _S.FAILING,
        (_S.RUNNING, _E.FAIL): _S.FAILING,
        (_S.FAILING, _E.FAIL): _S.FAILED,
        (_S.NEW, _E.RESUME): _S.RESUMING,
        (_S.ACCEPTED, _E.RESUME): _S.RESUMING,
        (_S.COMPLETED, _E.EXPIRE): _S.EXPIRED,
        (_S.FAILED, _E.EXPIRE): _S.EXPIRED,
        (_S.REJECTED, _E.EXPIRE): _S.EXPIRED,
    }
)
"""Where an event leads from a state. An application that runs and runs again has not moved."""

TERMINATED: Final = frozenset({_S.COMPLETED, _S.FAILED, _S.REJECTED, _S.EXPIRED})
"""States of applications that have left their queue."""

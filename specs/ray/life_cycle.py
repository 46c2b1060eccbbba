"""The life cycle of an instance: its states, and the published table of what may follow which.

The table is that of ``InstanceUtil.get_valid_transitions`` in Ray's instance manager; its UNKNOWN, which nothing enters
and nothing leaves, is left out. ABSENT is ours: a row that is in no use, so that the sort has a fixed size.
"""

from __future__ import annotations

import enum
from typing import Final

from specs.ray.parameters import Edition


class Status(enum.Enum):
    """Where a row of the instance manager is."""

    ABSENT = 0
    QUEUED = 1
    REQUESTED = 2
    ALLOCATED = 3
    ALLOCATION_TIMEOUT = 4
    RAY_INSTALLING = 5
    RAY_RUNNING = 6
    RAY_STOP_REQUESTED = 7
    RAY_STOPPING = 8
    RAY_STOPPED = 9
    RAY_INSTALL_FAILED = 10
    TERMINATING = 11
    TERMINATION_FAILED = 12
    TERMINATED = 13
    ALLOCATION_FAILED = 14


_S = Status

_CURRENT: Final = {
    _S.QUEUED: (_S.REQUESTED, _S.TERMINATED),
    _S.REQUESTED: (_S.ALLOCATED, _S.QUEUED, _S.ALLOCATION_FAILED),
    _S.ALLOCATED: (
        _S.RAY_INSTALLING,
        _S.RAY_RUNNING,
        _S.ALLOCATION_TIMEOUT,
        _S.RAY_STOPPING,
        _S.RAY_STOPPED,
        _S.TERMINATING,
        _S.TERMINATED,
    ),
    _S.ALLOCATION_TIMEOUT: (_S.TERMINATING, _S.TERMINATED),
    _S.RAY_INSTALLING: (
        _S.RAY_RUNNING,
        _S.RAY_INSTALL_FAILED,
        _S.RAY_STOPPED,
        _S.TERMINATING,
        _S.TERMINATED,
    ),
    _S.RAY_RUNNING: (_S.RAY_STOP_REQUESTED, _S.RAY_STOPPING, _S.RAY_STOPPED, _S.TERMINATING, _S.TERMINATED),
    _S.RAY_STOP_REQUESTED: (_S.RAY_STOPPING, _S.RAY_STOPPED, _S.RAY_RUNNING, _S.TERMINATED),
    _S.RAY_STOPPING: (_S.RAY_STOPPED, _S.TERMINATING, _S.TERMINATED),
    _S.RAY_STOPPED: (_S.TERMINATING, _S.TERMINATED),
    _S.RAY_INSTALL_FAILED: (_S.TERMINATING, _S.TERMINATED),
    _S.TERMINATING: (_S.TERMINATED, _S.TERMINATION_FAILED),
    _S.TERMINATION_FAILED: (_S.TERMINATING, _S.TERMINATED),
    _S.TERMINATED: (),
    _S.ALLOCATION_FAILED: (),
}

_NOT_IN_SEED: Final = {
    (_S.QUEUED, _S.TERMINATED),
    (_S.ALLOCATED, _S.ALLOCATION_TIMEOUT),
    (_S.TERMINATION_FAILED, _S.TERMINATED),
    (_S.ALLOCATION_TIMEOUT, _S.TERMINATING),
    (_S.ALLOCATION_TIMEOUT, _S.TERMINATED),
}

STARTS: Final = (_S.ALLOCATED, _S.QUEUED, _S.TERMINATING)
"""What a new row may begin as."""

HAS_CLOUD_INSTANCE: Final = (
    _S.ALLOCATED,
    _S.ALLOCATION_TIMEOUT,
    _S.RAY_INSTALLING,
    _S.RAY_RUNNING,
    _S.RAY_STOP_REQUESTED,
    _S.RAY_STOPPING,
    _S.RAY_STOPPED,
    _S.RAY_INSTALL_FAILED,
    _S.TERMINATING,
    _S.TERMINATION_FAILED,
)
"""States in which the row names an instance of the cloud."""

COUNTED: Final = (
    _S.QUEUED,
    _S.REQUESTED,
    _S.ALLOCATED,
    _S.RAY_INSTALLING,
    _S.RAY_RUNNING,
    _S.RAY_STOP_REQUESTED,
)
"""States that can still lead to a running Ray: what the scheduler counts, against minimum, maximum and demand."""

NOT_RUNNING_RAY: Final = (_S.QUEUED, _S.REQUESTED, _S.ALLOCATED, _S.RAY_INSTALLING, _S.RAY_STOP_REQUESTED)
"""Of these, what the scheduler sees as a node that is not running yet: a drain that was requested too."""

TO_TERMINATE: Final = (_S.RAY_STOPPED, _S.ALLOCATION_TIMEOUT, _S.RAY_INSTALL_FAILED, _S.TERMINATION_FAILED)
"""States from which every loop asks the cloud to terminate the instance."""

BEFORE_RUNNING: Final = (_S.ALLOCATED, _S.RAY_INSTALLING, _S.ALLOCATION_TIMEOUT, _S.RAY_INSTALL_FAILED)
"""States that RAY_RUNNING cannot lead to: a Ray node that runs makes these RAY_RUNNING, whatever the table says."""

BEFORE_STOPPING: Final = (*BEFORE_RUNNING, _S.RAY_RUNNING, _S.RAY_STOP_REQUESTED)
"""States that RAY_STOPPING cannot lead to."""

BEFORE_STOPPED: Final = (*BEFORE_STOPPING, _S.RAY_STOPPING)
"""States that RAY_STOPPED cannot lead to."""


def published(edition: Edition) -> dict[Status, tuple[Status, ...]]:
    """The table of an edition: what may follow each state."""
    out = _NOT_IN_SEED if edition is Edition.SEED else set()
    return {
        source: tuple(t for t in targets if (source, t) not in out)
        for source, targets in _CURRENT.items()
        if edition is Edition.CURRENT or source is not _S.ALLOCATION_TIMEOUT
    }

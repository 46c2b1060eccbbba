"""Which actions of the spec a change of a row is, and in which phase of the loop each of them is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from specs.ray.life_cycle import Status as S
from specs.ray.state import Loop

_STEPS: Final[Mapping[tuple[S | None, S], tuple[str, ...]]] = {
    (None, S.QUEUED): ("queue_instance",),
    (S.QUEUED, S.REQUESTED): ("launch",),
    (S.QUEUED, S.TERMINATED): ("cancel_queued",),
    (S.REQUESTED, S.ALLOCATED): ("allocated",),
    (S.REQUESTED, S.QUEUED): ("request_timed_out",),
    (S.REQUESTED, S.ALLOCATION_FAILED): ("launch_failed", "request_given_up"),
    (S.ALLOCATED, S.RAY_INSTALLING): ("install",),
    (S.ALLOCATED, S.ALLOCATION_TIMEOUT): ("allocation_timed_out",),
    (S.ALLOCATED, S.TERMINATING): ("allocation_timed_out", "terminate_unstarted"),
    (S.RAY_INSTALLING, S.RAY_INSTALL_FAILED): ("install_failed", "install_timed_out"),
    (S.RAY_INSTALLING, S.TERMINATING): ("terminate_unstarted",),
    (S.RAY_RUNNING, S.RAY_STOP_REQUESTED): ("terminate_idle", "drain_over_maximum"),
    (S.RAY_STOP_REQUESTED, S.RAY_RUNNING): ("drain_rejected", "drain_timed_out"),
    (S.TERMINATING, S.TERMINATION_FAILED): ("termination_failed", "termination_timed_out"),
}
"""What a change of a row is: from, to, and the actions that it may be."""
_ANY: Final[Mapping[S, tuple[str, ...]]] = {
    S.RAY_RUNNING: ("ray_running",),
    S.RAY_STOPPING: ("ray_stopping",),
    S.RAY_STOPPED: ("ray_stopped", "ray_node_missing"),
    S.TERMINATED: ("terminated",),
    S.TERMINATING: ("terminate",),
}
"""The same, wherever it comes from."""

_PHASES: Final[Mapping[Loop, tuple[str, ...]]] = {
    Loop.STUCK: (
        "ray_node_missing",
        "request_timed_out",
        "request_given_up",
        "allocation_timed_out",
        "install_timed_out",
        "drain_timed_out",
        "termination_timed_out",
    ),
    Loop.SCALE: ("queue_instance", "cancel_queued", "terminate_unstarted", "terminate_idle", "drain_over_maximum"),
    Loop.TERMINATE: ("terminate",),
    Loop.LAUNCH: ("launch",),
    Loop.INSTALL: ("install",),
}
_PHASE: Final = {action: phase for phase, actions in _PHASES.items() for action in actions}


def actions_for(source: S | None, target: S) -> tuple[str, ...]:
    """What the change may be; ``source`` is None for a new row."""
    return (*_STEPS.get((source, target), ()), *_ANY.get(target, ()))


def phase_of(action: str) -> Loop:
    """Where a loop does this."""
    return _PHASE.get(action, Loop.SYNC)

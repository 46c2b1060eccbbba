"""The life cycle of a cloud instance in Ray's autoscaler v2: its states, and which may follow which.

Follows the autoscaler's design text of Ray 2.48: its normal transitions, and its note on refused drain requests. ABSENT
is the text's "(non-existent)". ALLOCATION_FAILED, and REQUESTED back to QUEUED, are only in the program's
`get_valid_transitions`: they are what a failed launch does. The table is written by hand; no action is derived from it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final

from model.language import Expr, Machine, Sort, Variable, after, all_, among, implies


class Instance(Sort):
    """A row of the instance manager; once Ray runs there, a node."""


class InstanceState(enum.Enum):
    """State of one row of the instance manager."""

    ABSENT = 0
    QUEUED = 1
    REQUESTED = 2
    ALLOCATED = 3
    RAY_INSTALLING = 4
    RAY_RUNNING = 5
    RAY_STOP_REQUESTED = 6
    RAY_STOPPING = 7
    RAY_STOPPED = 8
    TERMINATING = 9
    TERMINATED = 10
    ALLOCATION_FAILED = 11


_S = InstanceState

GONE: Final = (_S.ABSENT, _S.TERMINATED, _S.ALLOCATION_FAILED)
"""Rows that are no instance: not yet, or no more. Their place can be given to a new row, with a new instance id."""

ACCEPTS_PLACEHOLDERS: Final = (_S.RAY_RUNNING, _S.RAY_STOP_REQUESTED)
"""Ray runs, and no drain request was accepted yet."""

ON_THE_WAY: Final = (_S.QUEUED, _S.REQUESTED, _S.ALLOCATED, _S.RAY_INSTALLING)
"""Launched for demand, not yet usable."""

TRANSITIONS: Final[Mapping[InstanceState, tuple[InstanceState, ...]]] = {
    _S.ABSENT: (_S.QUEUED,),
    _S.QUEUED: (_S.REQUESTED,),
    _S.REQUESTED: (_S.ALLOCATED, _S.QUEUED, _S.ALLOCATION_FAILED),
    _S.ALLOCATED: (_S.RAY_INSTALLING, _S.RAY_RUNNING),
    _S.RAY_INSTALLING: (_S.RAY_RUNNING,),
    _S.RAY_RUNNING: (_S.RAY_STOP_REQUESTED,),
    _S.RAY_STOP_REQUESTED: (_S.RAY_STOPPING, _S.RAY_RUNNING),
    _S.RAY_STOPPING: (_S.RAY_STOPPED,),
    _S.RAY_STOPPED: (_S.TERMINATING,),
    _S.TERMINATING: (_S.TERMINATED,),
    # A place is given to a new row: the old row stays TERMINATED for good, the new one starts as QUEUED.
    _S.TERMINATED: (_S.QUEUED,),
    _S.ALLOCATION_FAILED: (_S.QUEUED,),
}
"""What may follow each state, while the cloud takes nothing away."""

IN_THE_CLOUD: Final = (
    _S.ALLOCATED,
    _S.RAY_INSTALLING,
    _S.RAY_RUNNING,
    _S.RAY_STOP_REQUESTED,
    _S.RAY_STOPPING,
    _S.RAY_STOPPED,
    _S.TERMINATING,
)
"""States in which the cloud has the instance, so that it can vanish: then the next state is TERMINATED."""


def successors(
    state: InstanceState, *, kuberay: bool, retries: int, vanish: bool, again: bool
) -> tuple[InstanceState, ...]:
    """What may follow ``state`` under these parameters of the spec; nothing where it cannot occur or is final.

    KubeRay's images bring Ray along, so nothing is installed; elsewhere Ray is always installed first. Without retries
    the first failed launch is final. ``again``: whether an instance can be needed after one has terminated.
    """
    allowed = list(TRANSITIONS[state])
    if (kuberay and state is _S.RAY_INSTALLING) or (state is _S.TERMINATED and not again):
        return ()
    if state is _S.ALLOCATED:
        allowed.remove(_S.RAY_INSTALLING if kuberay else _S.RAY_RUNNING)
    if state is _S.REQUESTED and not retries:
        allowed.remove(_S.QUEUED)
    if vanish and state in IN_THE_CLOUD and _S.TERMINATED not in allowed:
        allowed.append(_S.TERMINATED)
    return tuple(allowed)


def declare_transitions(
    m: Machine, instance: Variable[Instance], *, kuberay: bool, retries: int, vanish: bool, again: bool
) -> None:
    """One step property per source state: an instance that leaves it goes where the life cycle says.

    One property for all would hide that some state is never left.
    """
    for state in InstanceState:
        allowed = successors(state, kuberay=kuberay, retries=retries, vanish=vanish, again=again)
        if allowed:
            _declare(m, instance, state, allowed)


def _declare(
    m: Machine, instance: Variable[Instance], source: InstanceState, allowed: tuple[InstanceState, ...]
) -> None:
    def legal() -> Expr:
        return all_(
            implies((instance[i] == source) & (after(instance[i]) != source), among(after(instance[i]), *allowed))
            for i in Instance
        )

    legal.__name__ = f"{source.name.lower()}_is_left_as_allowed"
    legal.__doc__ = f"From {source.name} only to {' or '.join(state.name for state in allowed)}."
    m.step(legal)

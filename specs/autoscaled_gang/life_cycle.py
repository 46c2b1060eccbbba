"""The life cycle of a cloud instance: the part of that of Ray's autoscaler v2 in which only launches fail.

The states and the table of transitions are those of `specs.ray.life_cycle`, in the edition of Ray 2.48. Here
nothing but a launch fails, Ray neither dies nor is drained by others, and the cloud is asked to take back only what Ray
has left: so each state towards the end is reached from the one before it. What a failed launch does (REQUESTED back to
QUEUED, and ALLOCATION_FAILED) is in the program's table alone, not in the design text. No action is derived from the
table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from model.language import Expr, Machine, Sort, Variable, after, all_, among, implies
from specs.ray.life_cycle import HAS_CLOUD_INSTANCE, Status, published
from specs.ray.parameters import Edition


class Instance(Sort):
    """A row of the instance manager; once Ray runs there, a node."""


_S = Status

GONE: Final = (_S.ABSENT, _S.TERMINATED, _S.ALLOCATION_FAILED)
"""Rows that are no instance: not yet, or no more. Their place can be given to a new row, with a new instance id."""

ACCEPTS_PLACEHOLDERS: Final = (_S.RAY_RUNNING, _S.RAY_STOP_REQUESTED)
"""Ray runs, and no drain request was accepted yet."""

ON_THE_WAY: Final = (_S.QUEUED, _S.REQUESTED, _S.ALLOCATED, _S.RAY_INSTALLING)
"""Launched for demand, not yet usable."""

_LEFT_OUT: Final = (_S.ALLOCATION_TIMEOUT, _S.RAY_INSTALL_FAILED, _S.TERMINATION_FAILED)

_REACHED_FROM: Final = {
    _S.RAY_STOPPING: _S.RAY_STOP_REQUESTED,
    _S.RAY_STOPPED: _S.RAY_STOPPING,
    _S.TERMINATING: _S.RAY_STOPPED,
    _S.TERMINATED: _S.TERMINATING,
}
"""The way down, each state from one only, while the cloud takes nothing away."""

TRANSITIONS: Final[Mapping[Status, tuple[Status, ...]]] = {
    # A place is given to a new row: an old row stays TERMINATED or ALLOCATION_FAILED for good, the new one is QUEUED.
    **{state: (_S.QUEUED,) for state in GONE},
    **{
        state: tuple(t for t in targets if t not in _LEFT_OUT and _REACHED_FROM.get(t, state) is state)
        for state, targets in published(Edition.SEED).items()
        if state not in _LEFT_OUT and state not in GONE
    },
}
"""What may follow each state, while the cloud takes nothing away."""

IN_THE_CLOUD: Final = tuple(state for state in HAS_CLOUD_INSTANCE if state not in _LEFT_OUT)
"""States in which the cloud has the instance, so that it can vanish: then the next state is TERMINATED."""


def successors(state: Status, *, kuberay: bool, retries: int, vanish: bool, again: bool) -> tuple[Status, ...]:
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
    for state in TRANSITIONS:
        allowed = successors(state, kuberay=kuberay, retries=retries, vanish=vanish, again=again)
        if allowed:
            _declare(m, instance, state, allowed)


def _declare(m: Machine, instance: Variable[Instance], source: Status, allowed: tuple[Status, ...]) -> None:
    def legal() -> Expr:
        return all_(
            implies((instance[i] == source) & (after(instance[i]) != source), among(after(instance[i]), *allowed))
            for i in Instance
        )

    legal.__name__ = f"{source.name.lower()}_is_left_as_allowed"
    legal.__doc__ = f"From {source.name} only to {' or '.join(state.name for state in allowed)} (R11)."
    m.step(legal)

"""The life cycle of an instance: which state may follow which, by edition.

The table is that of Ray's ``InstanceUtil.get_valid_transitions``; UNKNOWN, which nothing enters or leaves, is left out.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.request import InstanceStatus as S

_CURRENT: Final = {
    S.QUEUED: {S.REQUESTED, S.TERMINATED},
    S.REQUESTED: {S.ALLOCATED, S.QUEUED, S.ALLOCATION_FAILED},
    S.ALLOCATED: {
        *(S.RAY_INSTALLING, S.RAY_RUNNING, S.RAY_STOPPING, S.RAY_STOPPED),
        *(S.ALLOCATION_TIMEOUT, S.TERMINATING, S.TERMINATED),
    },
    S.RAY_INSTALLING: {S.RAY_RUNNING, S.RAY_INSTALL_FAILED, S.RAY_STOPPED, S.TERMINATING, S.TERMINATED},
    S.RAY_RUNNING: {S.RAY_STOP_REQUESTED, S.RAY_STOPPING, S.RAY_STOPPED, S.TERMINATING, S.TERMINATED},
    S.RAY_STOP_REQUESTED: {S.RAY_STOPPING, S.RAY_STOPPED, S.RAY_RUNNING, S.TERMINATED},
    S.RAY_STOPPING: {S.RAY_STOPPED, S.TERMINATING, S.TERMINATED},
    S.RAY_STOPPED: {S.TERMINATING, S.TERMINATED},
    S.RAY_INSTALL_FAILED: {S.TERMINATING, S.TERMINATED},
    S.ALLOCATION_TIMEOUT: {S.TERMINATING, S.TERMINATED},
    S.TERMINATING: {S.TERMINATED, S.TERMINATION_FAILED},
    S.TERMINATION_FAILED: {S.TERMINATING, S.TERMINATED},
    S.TERMINATED: set[S](),
    S.ALLOCATION_FAILED: set[S](),
}

_NOT_IN_SEED: Final = {
    (S.QUEUED, S.TERMINATED),
    (S.ALLOCATED, S.ALLOCATION_TIMEOUT),
    (S.ALLOCATION_TIMEOUT, S.TERMINATING),
    (S.ALLOCATION_TIMEOUT, S.TERMINATED),
    (S.TERMINATION_FAILED, S.TERMINATED),
}

STARTS: Final = frozenset({S.ALLOCATED, S.QUEUED, S.TERMINATING})
"""What an instance may begin as."""

OVER: Final = frozenset({S.TERMINATED, S.ALLOCATION_FAILED})
"""What an instance ends as; it is kept, but its cloud instance, if it had one, is anybody's."""


@functools.cache
def transitions(edition: Edition) -> Mapping[S, frozenset[S]]:
    """What may follow each state. 2.48 has no ALLOCATION_TIMEOUT."""
    out = _NOT_IN_SEED if edition is Edition.SEED else set()
    return MappingProxyType(
        {
            source: frozenset(target for target in targets if (source, target) not in out)
            for source, targets in _CURRENT.items()
            if edition is Edition.CURRENT or source is not S.ALLOCATION_TIMEOUT
        }
    )


@functools.cache
def reachable(status: S, edition: Edition) -> frozenset[S]:
    """What may follow ``status`` in one step or more; itself, where a way leads back."""
    table, found, new = transitions(edition), set[S](), [status]
    while new:
        for target in table.get(new.pop(), frozenset()) - found:
            found.add(target)
            new.append(target)
    return frozenset(found)

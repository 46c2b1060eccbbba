"""Queues for jobs of traces that name none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from reference.cluster import Cluster
from reference.errors import InputError
from reference.manifests.queues import DEFAULT_QUEUE


def leaves_for(cluster: Cluster) -> tuple[str, ...]:
    """The leaf queues that such jobs are dealt to in turn: the default queue alone where there is one."""
    names = tuple(queue.name for queue in cluster.queues.leaves())
    if not names:
        raise InputError("no leaf queue", "a queue that runs applications", where="queues")
    return (DEFAULT_QUEUE,) if DEFAULT_QUEUE in names else names


def dealt(cluster: Cluster) -> Iterator[str]:
    """A leaf queue for one job after another."""
    return cycle(leaves_for(cluster))

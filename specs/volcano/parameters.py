"""The parameters of the volcano spec, and the jobs that each layout has."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from specs.parameters import check_size

MOST = 4
MOST_UNITS = 32
HEAVIEST = 2
"""The highest weight that a changed quota may say."""


class Edition(enum.Enum):
    """Whose order of jobs."""

    SEED = "seed"
    """The design of 2019: a queue, a namespace of that queue, a job of that namespace."""
    SHIPPED = "shipped"
    """What was released: a namespace first, by its share in all queues together, then a queue."""
    CURRENT = "current"
    """Since 2023 without namespaces: a queue, then its jobs by DRF share; and a queue is never given more than it
    deserves."""


class Layout(enum.Enum):
    """Which jobs there are."""

    GRID = "grid"
    """``jobs`` jobs for each namespace in each queue, submitted at any time, each finishes."""
    CASE1 = "case1"
    """The design's first case; like the others below it is one session, in which nothing ends."""
    CASE2 = "case2"
    CASE3 = "case3"
    """The request of ns1 in q1 is blank; taken as enough for the queue's share."""
    CASE3_BLANK = "case3_blank"
    """The same, taken as no request at all."""
    EXAMPLE = "example"
    """The design's example: job1 and job2 of ns1, job3 and job4 of ns2, in one queue."""
    MOTIVATION = "motivation"
    """A job of one pod of one user, six of another, in a queue with room for three."""


@dataclass(frozen=True)
class Events:
    """How often each of these may happen."""

    quota_changes: int = 0
    drains: int = 0
    scale_ups: int = 0
    bind_failures: int = 0


@dataclass(frozen=True)
class Static:
    """A layout of one session. ``jobs``: per queue, per namespace, the sizes of its jobs; a job is ready with one
    task, but in the example with all."""

    capacity: int
    queue_weights: tuple[int, ...]
    namespace_weights: tuple[int, ...]
    jobs: tuple[tuple[tuple[int, ...], ...], ...]
    whole: bool = False


STATIC = {
    Layout.CASE1: Static(16, (1, 1), (1, 1, 1, 1), (((5,), (10,), (), ()), ((), (), (10,), (2,)))),
    Layout.CASE2: Static(16, (1, 3), (3, 1, 2, 6), (((5,), (10,), (), ()), ((), (), (10,), (2,)))),
    Layout.CASE3: Static(16, (1, 3), (2, 6), (((4,), ()), ((5,), (20,)))),
    Layout.CASE3_BLANK: Static(16, (1, 3), (2, 6), (((), ()), ((5,), (20,)))),
    Layout.EXAMPLE: Static(8, (1,), (1, 1), (((2, 2), (2, 2)),), whole=True),
    Layout.MOTIVATION: Static(3, (1,), (1, 1), (((1,), (1,) * 6),)),
}


@dataclass(frozen=True)
class Scope:
    """Checked parameters. ``sizes``: per queue, per namespace, the tasks of each job, 0 for no job."""

    capacity: int
    queue_weights: tuple[int, ...]
    namespace_weights: tuple[int, ...]
    sizes: tuple[tuple[tuple[int, ...], ...], ...]
    minimum: int | None
    memory: tuple[int, ...]
    memory_capacity: int
    static: bool

    @property
    def largest(self) -> int:
        """Tasks of the largest job."""
        return max(size for queue in self.sizes for namespace in queue for size in namespace)

    @property
    def some_job_has_extras(self) -> bool:
        """Whether some job has tasks beyond its minAvailable."""
        return any(size > self._least(size) for q in self.sizes for n in q for size in n)

    def minima(self) -> list[list[list[int]]]:
        """minAvailable of each job."""
        return [[[self._least(size) for size in n] for n in q] for q in self.sizes]

    def _least(self, size: int) -> int:
        return size if self.minimum is None else min(size, self.minimum)


def scope(
    layout: Layout,
    queues: int,
    namespaces: int,
    jobs: int,
    size: int,
    minimum: int,
    capacity: int,
    queue_weight: int | Sequence[int],
    namespace_weight: int | Sequence[int],
    memory: int | Sequence[int],
    memory_capacity: int,
) -> Scope:
    """The scope of a spec, or ValueError that names the parameter, what was found and what is possible."""
    check_size("queues", queues, most=2)
    check_size("namespaces", namespaces, most=MOST)
    check_size("jobs", jobs, most=MOST)
    check_size("size", size, most=MOST_UNITS)
    check_size("minimum", minimum, most=size)
    check_size("capacity", capacity, most=MOST_UNITS)
    check_size("memory_capacity", memory_capacity, least=0)
    if layout is not Layout.GRID:
        s = STATIC[layout]
        most = max(len(n) for q in s.jobs for n in q)
        sizes = tuple(tuple(n + (0,) * (most - len(n)) for n in q) for q in s.jobs)
        least = None if s.whole else 1
        return Scope(
            s.capacity, s.queue_weights, s.namespace_weights, sizes, least, (0,) * len(s.namespace_weights), 0, True
        )
    memories = _each("memory", memory, namespaces, "namespace", least=0)
    if any(memories) != (memory_capacity > 0):
        raise ValueError(f"memory and memory_capacity go together, found {memory} and {memory_capacity}")
    if any(memories) and queues > 1:
        raise ValueError(f"memory is for queues=1: queues share units only; found queues={queues}")
    return Scope(
        capacity,
        _each("queue_weight", queue_weight, queues, "queue"),
        _each("namespace_weight", namespace_weight, namespaces, "namespace"),
        (((size,) * jobs,) * namespaces,) * queues,
        minimum,
        memories,
        memory_capacity,
        static=False,
    )


def _each(name: str, value: int | Sequence[int], count: int, what: str, least: int = 1) -> tuple[int, ...]:
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ValueError(f"{name} is one integer, or one per {what} ({count}), found {len(values)}")
    for each in values:
        check_size(name, each, least=least)
    return values

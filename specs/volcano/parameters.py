"""The parameters of the volcano spec, and the jobs that each layout has."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, fields

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
    """The code of August 2026, since 2023 without namespaces: a queue, then its jobs by DRF share; and a queue is never
    given more than it deserves."""


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
    slow_ends: int = 0


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


@dataclass(frozen=True)
class Sizes:
    """The numbers of a scope, as parameters: those of the grid, which a layout of one session replaces by its own."""

    queues: int = 2
    namespaces: int = 2
    jobs: int = 1
    size: int = 3
    minimum: int = 2
    capacity: int = 4
    queue_weight: int | tuple[int, ...] = 1
    namespace_weight: int | tuple[int, ...] = 1
    memory: int | tuple[int, ...] = 0
    memory_capacity: int = 0


def scope(layout: Layout, edition: Edition, sizes: Sizes) -> Scope:
    """The scope of a spec, or ValueError that names the parameter, what was found and what is possible."""
    if layout is not Layout.GRID:
        s = STATIC[layout]
        _check_fixed(layout, s, sizes)
        most = max(len(n) for q in s.jobs for n in q)
        padded = tuple(tuple(n + (0,) * (most - len(n)) for n in q) for q in s.jobs)
        least = None if s.whole else 1
        return Scope(
            s.capacity, s.queue_weights, s.namespace_weights, padded, least, (0,) * len(s.namespace_weights), 0, True
        )
    g = sizes
    check_size("queues", g.queues, most=2)
    check_size("namespaces", g.namespaces, most=MOST)
    check_size("jobs", g.jobs, most=MOST)
    check_size("size", g.size, most=MOST_UNITS)
    check_size("minimum", g.minimum, most=g.size)
    check_size("capacity", g.capacity, most=MOST_UNITS)
    check_size("memory_capacity", g.memory_capacity, least=0)
    memories = _each("memory", g.memory, g.namespaces, "namespace", least=0)
    if any(memories) != (g.memory_capacity > 0):
        raise ValueError(f"memory and memory_capacity go together, found {g.memory} and {g.memory_capacity}")
    if any(memories) and g.queues > 1:
        raise ValueError(f"memory is for queues=1: queues share units only; found queues={g.queues}")
    weights = _each("namespace_weight", g.namespace_weight, g.namespaces, "namespace")
    if edition is Edition.CURRENT and set(weights) != {1}:
        raise ValueError(f"namespace_weight is 1 with edition=current, which has no such weights; found {weights}")
    return Scope(
        g.capacity,
        _each("queue_weight", g.queue_weight, g.queues, "queue"),
        weights,
        (((g.size,) * g.jobs,) * g.namespaces,) * g.queues,
        g.minimum,
        memories,
        g.memory_capacity,
        static=False,
    )


def _check_fixed(layout: Layout, static: Static, sizes: Sizes) -> None:
    """ValueError for a number that the layout would not heed: it is neither the layout's own nor the default one."""
    own = Sizes(
        queues=len(static.queue_weights),
        namespaces=len(static.namespace_weights),
        capacity=static.capacity,
        queue_weight=static.queue_weights,
        namespace_weight=static.namespace_weights,
    )
    for field in fields(Sizes):
        found, mine = getattr(sizes, field.name), getattr(own, field.name)
        if found not in (mine, field.default):
            expected = "none, as its jobs have their own" if field.name in ("jobs", "size", "minimum") else mine
            raise ValueError(f"{field.name} is fixed by layout={layout.value}: expected {expected}, found {found}")


def _each(name: str, value: int | Sequence[int], count: int, what: str, least: int = 1) -> tuple[int, ...]:
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ValueError(f"{name} is one integer, or one per {what} ({count}), found {len(values)}")
    for each in values:
        check_size(name, each, least=least)
    return values

"""What a state of the volcano_reclaim spec consists of."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from model.language import Expr, Machine, Sort, Table, all_, any_, implies, sum_


class Queue(Sort):
    """A queue."""


class Job(Sort):
    """The jobs of one queue, by number."""


class Node(Sort):
    """A node."""


class Phase(enum.Enum):
    """The PodGroup's phase."""

    NEW = 0
    PENDING = 1
    INQUEUE = 2
    DONE = 3


class Claims(enum.Enum):
    """How far a queue may reclaim."""

    WITHIN = "within"
    """While it stays within what it deserves, with the task that it claims for."""
    UNTIL = "until"
    """Until it has what it deserves or more: the last task may go beyond."""


class Needs(enum.Enum):
    """For whom a queue may reclaim."""

    STARVING = "starving"
    """For a job with fewer than minAvailable tasks."""
    PENDING = "pending"
    """For any job with pending tasks, as it was until 2024."""


class State:
    """The variables.

    ``running``, ``releasing`` (evicted, but not gone yet) and ``pipelined`` (waiting for room on that node) are a job's
    tasks on a node; the others are pending. ``evicting`` and ``piped`` are what the open statement does: victims and
    tasks that it would pipeline. ``turn``: the job of that statement; ``tried``: it had its turn in this session.
    ``reclaims``: the statement is that of the reclaim action, which comes after the one of allocate.
    """

    def __init__(
        self,
        m: Machine,
        queues: int,
        jobs: int,
        size: int,
        minimum: int,
        nodes: int,
        room: int,
        width: Sequence[int],
    ) -> None:
        m.sort(Queue, queues, symmetric=len(set(width)) == 1)
        m.sort(Job, jobs, symmetric=True)
        m.sort(Node, nodes, symmetric=True)
        self.size, self.minimum, self.room = size, minimum, room
        self.capacity, self.queues = nodes * room, queues
        self.widths: Table[Any] | None = None if set(width) == {1} else m.constant("width", Queue, list(width))
        self.reclaims = m.scalar("reclaims", bool, init=False)
        where, count = (Queue, Job, Node), range(min(size, room) + 1)
        self.phase = m.variable("phase", (Queue, Job), Phase, init=Phase.NEW)
        self.turn = m.variable("turn", (Queue, Job), bool, init=False)
        self.tried = m.variable("tried", (Queue, Job), bool, init=False)
        self.running = m.variable("running", where, count, init=0)
        self.releasing = m.variable("releasing", where, count, init=0)
        self.pipelined = m.variable("pipelined", where, count, init=0)
        self.evicting = m.variable("evicting", where, count, init=0)
        self.piped = m.variable("piped", where, count, init=0)

    # ---- one job

    def ready(self, q: Queue, j: Job) -> Expr:
        """Tasks that run and that the statement does not evict."""
        return sum_(self.running[q, j, n] - self.evicting[q, j, n] for n in Node)

    def waiting(self, q: Queue, j: Job) -> Expr:
        """Tasks that are pipelined, by the statement too."""
        return sum_(self.pipelined[q, j, n] + self.piped[q, j, n] for n in Node)

    def pending(self, q: Queue, j: Job) -> Expr:
        """Tasks that have no place and none in prospect."""
        gone = sum_(self.running[q, j, n] + self.releasing[q, j, n] for n in Node)
        return self.size - gone - self.waiting(q, j)

    def is_starving(self, q: Queue, j: Job) -> Expr:
        """Whether fewer than minAvailable tasks run or are pipelined."""
        return self.ready(q, j) + self.waiting(q, j) < self.minimum

    def is_pipelined(self, q: Queue, j: Job) -> Expr:
        """JobPipelined: whether at least minAvailable do."""
        return ~self.is_starving(q, j)

    def wants(self, q: Queue, j: Job) -> Expr:
        """Whether the session has something to do for it."""
        return (self.phase[q, j] == Phase.INQUEUE) & (self.pending(q, j) > 0)

    # ---- nodes

    def idle(self, n: Node) -> Expr:
        """Room that is free now."""
        return self.room - sum_(
            self.units(q, self.running[q, j, n] + self.releasing[q, j, n]) for q in Queue for j in Job
        )

    def future_idle(self, n: Node) -> Expr:
        """Room that is free, or will be, and for which nobody waits."""
        soon = sum_(self.units(q, self.releasing[q, j, n] + self.evicting[q, j, n]) for q in Queue for j in Job)
        return (
            self.idle(n)
            + soon
            - sum_(self.units(q, self.pipelined[q, j, n] + self.piped[q, j, n]) for q in Queue for j in Job)
        )

    def units(self, q: Queue, tasks: Expr) -> Expr:
        """What so many tasks of a queue take."""
        return tasks if self.widths is None else tasks * self.widths[q]

    def width(self, q: Queue) -> Expr | int:
        """What one takes."""
        return 1 if self.widths is None else self.widths[q]

    def fits(self, q: Queue, n: Node) -> Expr:
        """Whether a task of a queue finds room on a node without any eviction."""
        return self.future_idle(n) >= self.width(q)

    def some_node_fits(self, q: Queue) -> Expr:
        """Whether it does so on some node."""
        return any_(self.fits(q, n) for n in Node)

    def has_reclaimees(self, q: Queue, n: Node) -> Expr:
        """Whether tasks of other queues run on a node that the statement does not evict."""
        return any_((p != q) & (self.running[p, i, n] - self.evicting[p, i, n] > 0) for p in Queue for i in Job)

    def has_victims(self, n: Node) -> Expr:
        """Whether the statement evicts tasks of a node."""
        return any_(self.evicting[p, i, n] > 0 for p in Queue for i in Job)

    # ---- queues

    def allocated(self, q: Queue) -> Expr:
        """What proportion counts for a queue: running and pipelined tasks, without what the statement evicts."""
        return sum_(self.units(q, self.ready(q, j) + self.waiting(q, j)) for j in Job)

    def deserves(self, q: Queue, more: int) -> Expr:
        """Whether the queue, with ``more`` tasks, is within what it deserves: its equal part, an exact fraction."""
        units = self.allocated(q) + more * self.width(q) if more else self.allocated(q)
        return units * self.queues <= self.capacity

    def lacks(self, q: Queue) -> Expr:
        """Whether it has less than it deserves."""
        return self.allocated(q) * self.queues < self.capacity

    def is_first(self, q: Queue) -> Expr:
        """Whether no other queue with a job that waits for its turn has less. All deserve the same, so that a share is
        told by what is allocated."""
        return all_(
            implies(any_(self.wants(p, i) & ~self.tried[p, i] for i in Job), self.allocated(q) <= self.allocated(p))
            for p in Queue
        )

    def nobody_has_the_turn(self) -> Expr:
        """Whether no statement is open."""
        return all_(~self.turn[q, j] for q in Queue for j in Job)

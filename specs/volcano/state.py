"""What a state of the volcano spec consists of: jobs, shares and the orders that are made of them.

Shares are fractions; two of them are compared by cross-multiplied integers, so nothing is ever rounded.
"""

from __future__ import annotations

import enum
from typing import Any, cast

from model.language import Expr, Machine, Sort, Table, all_, among, any_, implies, ite, max_, sum_
from model.language.expressions import lift
from specs.volcano.parameters import HEAVIEST, Edition, Events, Scope


class Queue(Sort):
    """A queue."""


class Namespace(Sort):
    """A namespace: a user."""


class Job(Sort):
    """The jobs of one namespace in one queue, by number."""


class Quota(Sort):
    """The ResourceQuotas of a namespace, by number."""


class Phase(enum.Enum):
    """The PodGroup's phase."""

    NEW = 0
    INQUEUE = 1
    RUNNING = 2
    DONE = 3


class Session(enum.Enum):
    """The scheduling session."""

    CLOSED = 0
    OPEN = 1
    OVER = 2
    """Closed, in a layout that has one session."""


def larger(a: Expr | int, b: Expr | int) -> Expr:
    """The larger of two numbers."""
    return ite(lift(a) >= b, a, b)


def smaller(a: Expr | int, b: Expr | int) -> Expr:
    """The smaller of two numbers."""
    return ite(lift(a) <= b, a, b)


class State:
    """The variables.

    ``bound``: tasks of a job that run; ``tentative``: tasks that the open statement has placed; ``turn``: the job of
    that statement; ``tried``: out of this session's queues. ``in_queue`` and ``in_namespace`` are what the plugins
    proportion and drf keep count of. ``weight``: a namespace's weight as the session sees it. With jobs that end
    slowly: ``going`` units still run down, and ``piped`` tasks are promised a place among them, for this session. With
    binds that fail, in the current edition: ``lost`` tasks of a job are on no list until the next session.
    """

    def __init__(self, m: Machine, scope: Scope, edition: Edition, repaired: bool, events: Events) -> None:
        self.edition, self.repaired, self.scope = edition, repaired, scope
        self.is_today = edition is Edition.CURRENT and not repaired
        scales = events.scale_ups > 0
        s = scope
        queues, namespaces, jobs = len(s.sizes), len(s.sizes[0]), len(s.sizes[0][0])
        alike = not s.static
        m.sort(Queue, queues, symmetric=alike and len(set(s.queue_weights)) == 1)
        same = len(set(s.namespace_weights)) == 1 and len(set(s.memory)) == 1
        m.sort(Namespace, namespaces, symmetric=alike and same)
        m.sort(Job, jobs, symmetric=alike)
        where = (Queue, Namespace, Job)
        self.size: Table[Any] = m.constant("size", cast(Any, where), cast(Any, s.sizes))
        self.minimum: Table[Any] = m.constant("minimum", cast(Any, where), cast(Any, s.minima()))
        self.queue_weight = m.constant("queue_weight", Queue, s.queue_weights)
        self.memory = m.constant("memory", Namespace, s.memory)
        room = s.memory_capacity or 1
        # dominant share of one task, in parts of capacity * memory_capacity
        self.dominant = m.constant("dominant", Namespace, [max(room, each * s.capacity) for each in s.memory])
        most = s.largest + scales
        every = sum(size + scales for q in s.sizes for n in q for size in n)
        first = Phase.INQUEUE if s.static else Phase.NEW
        self.session = m.scalar("session", Session, init=Session.CLOSED)
        initial = [[[first if size else Phase.DONE for size in n] for n in q] for q in s.sizes]
        self.phase = m.variable("phase", where, Phase, init=initial if s.static else first)
        self.bound = m.variable("bound", where, range(most + 1), init=0)
        self.tentative = m.variable("tentative", where, range(most + 1), init=0)
        self.turn = m.variable("turn", where, bool, init=False)
        self.tried = m.variable("tried", where, bool, init=False)
        self.in_queue = m.variable("in_queue", Queue, range(every + 1), init=0)
        self.in_namespace = m.variable("in_namespace", (Queue, Namespace), range(every + 1), init=0)
        heaviest = max(*s.namespace_weights, HEAVIEST if events.quota_changes else 1)
        self.weight = m.variable("weight", Namespace, range(heaviest + 1), init=list(s.namespace_weights))
        self.left = {
            name: m.scalar(f"{name}_left", range(count + 1), init=count)
            for name, count in vars(events).items()
            if count
        }
        if events.quota_changes:
            m.sort(Quota, 2, symmetric=True)
            # 0: the quota has no weight, or one that is no positive integer
            self.quota = m.variable("quota", (Namespace, Quota), range(HEAVIEST + 1), init=0)
        if events.drains:
            self.down = m.scalar("down", range(events.drains + 1), init=0)
        if events.slow_ends:
            self.going = m.scalar("going", range(events.slow_ends * most + 1), init=0)
            self.piped = m.variable("piped", where, range(most + 1), init=0)
        if scales:
            self.policy = m.variable("policy", where, bool, init=False)
            self.pods = m.variable("pods", where, bool, init=False)
        self.loses = events.bind_failures > 0 and self.is_today
        if self.loses:
            self.lost = m.variable("lost", where, range(events.bind_failures + 1), init=0)
        self.scales, self.drains, self.slow = scales, events.drains > 0, events.slow_ends > 0

    # ---- one job

    def total(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Its pods that the scheduler knows."""
        size = self.size[q, n, j]
        return size + ite(self.pods[q, n, j], 1, 0) if self.scales else size

    def least(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """minAvailable as the scheduler knows it."""
        least = self.minimum[q, n, j]
        return least + ite(self.policy[q, n, j], 1, 0) if self.scales else least

    def placed(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Its tasks that are bound, or that the statement has placed or promised a place."""
        placed = self.bound[q, n, j] + self.tentative[q, n, j]
        return placed + self.piped[q, n, j] if self.slow else placed

    def goal(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Where its statement stops: minAvailable, and for a job that is ready one task more."""
        return larger(self.least(q, n, j), self.bound[q, n, j] + 1)

    def is_ready(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Whether minAvailable tasks run."""
        return self.bound[q, n, j] >= self.least(q, n, j)

    def is_broken(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Whether a part of a gang runs."""
        return (self.bound[q, n, j] > 0) & ~self.is_ready(q, n, j)

    def minimum_of_pods(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """minAvailable of the job whose pods the scheduler knows, whatever it knows of the PodGroup."""
        least = self.minimum[q, n, j]
        return least + ite(self.pods[q, n, j], 1, 0) if self.scales else least

    def wants(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Whether it has tasks that are not bound."""
        waits = among(self.phase[q, n, j], Phase.INQUEUE, Phase.RUNNING)
        return waits & (self.bound[q, n, j] < self.total(q, n, j))

    def is_candidate(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Whether the session may pop it."""
        return self.is_in_line(q, n, j) & ~self.is_overused(q)

    def is_in_line(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Whether it is among the jobs of this session, with a task on its list."""
        waits = self.wants(q, n, j) & ~self.tried[q, n, j]
        return waits & self.has_task(q, n, j) if self.loses else waits

    def has_task(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Whether there is a task that this session can still place."""
        if not self.loses:
            return lift(True)
        return self.placed(q, n, j) + self.lost[q, n, j] < self.total(q, n, j)

    def undo(self, q: Queue, n: Namespace, j: Job) -> None:
        """In an action: what the statement of a job did is undone."""
        done = self.placed(q, n, j) - self.bound[q, n, j]
        self.in_queue[q] -= done
        self.in_namespace[q, n] -= done
        self.tentative[q, n, j] = 0
        if self.slow:
            self.piped[q, n, j] = 0

    def forget(self, q: Queue, n: Namespace, j: Job, tasks: Expr | int) -> None:
        """In an action: tasks of a job are gone."""
        self.bound[q, n, j] -= tasks
        self.in_queue[q] -= tasks
        self.in_namespace[q, n] -= tasks

    # ---- cluster and queues

    def highest_quota(self, n: Namespace) -> Expr:
        """The highest weight that a quota of a namespace says, or 1."""
        return larger(1, max_(self.quota[n, k] for k in Quota))

    def someone_has_the_turn(self) -> Expr:
        """Whether a statement is open."""
        return any_(self.turn[q, n, j] for q in Queue for n in Namespace for j in Job)

    def used(self) -> Expr:
        """Units that are bound or placed by the statement, and those that still run down."""
        here = sum_(self.bound[q, n, j] + self.tentative[q, n, j] for q in Queue for n in Namespace for j in Job)
        return here + self.going if self.slow else here

    def memory_used(self) -> Expr:
        """Memory likewise."""
        return sum_(
            (self.bound[q, n, j] + self.tentative[q, n, j]) * self.memory[n]
            for q in Queue
            for n in Namespace
            for j in Job
        )

    def request(self, q: Queue) -> Expr:
        """All tasks of a queue's jobs that are not done."""
        live = (Phase.INQUEUE, Phase.RUNNING)
        return sum_(ite(among(self.phase[q, n, j], *live), self.total(q, n, j), 0) for n in Namespace for j in Job)

    @property
    def all_weights(self) -> int:
        """The denominator of deserved shares."""
        return sum(self.scope.queue_weights)

    def deserved(self, q: Queue) -> Expr:
        """What the queue deserves, times all weights: its part by weight, or what the other one leaves, and never
        beyond its request."""
        capacity, everyone = self.scope.capacity, self.all_weights
        others = sum_(ite(p != q, self.request(p), 0) for p in Queue)
        share = larger(self.queue_weight[q] * capacity, (capacity - others) * everyone)
        return smaller(self.request(q) * everyone, share)

    def is_overused(self, q: Queue) -> Expr:
        """Whether it has all that it deserves."""
        return self.deserved(q) <= self.in_queue[q] * self.all_weights

    def has_room(self) -> Expr:
        """Whether the cluster has a unit free."""
        taken = self.used() + self.down if self.drains else self.used()
        return taken < self.scope.capacity

    def fits(self, q: Queue, n: Namespace) -> Expr:
        """Whether one more task of a namespace may be placed."""
        fits = self.has_room()
        if self.scope.memory_capacity:
            fits = fits & (self.memory_used() + self.memory[n] <= self.scope.memory_capacity)
        return fits & self.may_have_more(q)

    def may_have_more(self, q: Queue) -> Expr:
        """Allocatable, which the current edition asks for each task: whether it, too, is within what is deserved."""
        if not self.is_today:
            return lift(True)
        return (self.in_queue[q] + 1) * self.all_weights <= self.deserved(q)

    def will_fit(self, q: Queue) -> Expr:
        """Whether one more task may be promised a place: among what is free or runs down, and is not promised yet."""
        promised = sum_(self.piped[p, k, i] for p in Queue for k in Namespace for i in Job)
        taken = self.used() - self.going + promised
        taken = taken + self.down if self.drains else taken
        return (taken < self.scope.capacity) & self.may_have_more(q)

    def gang_fits(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Whether all that the job lacks of minAvailable may be placed, by what is bound."""
        more = self.least(q, n, j) - self.bound[q, n, j]
        bound = sum_(self.bound[p, k, i] for p in Queue for k in Namespace for i in Job)
        taken = bound + more + self.down if self.drains else bound + more
        taken = taken + self.going if self.slow else taken
        fits = taken <= self.scope.capacity
        if self.scope.memory_capacity:
            memory = sum_(self.bound[p, k, i] * self.memory[k] for p in Queue for k in Namespace for i in Job)
            fits = fits & (memory + more * self.memory[n] <= self.scope.memory_capacity)
        if self.is_today:
            inside = sum_(self.bound[q, k, i] for k in Namespace for i in Job)
            fits = fits & ((inside + more) * self.all_weights <= self.deserved(q))
        return fits & (self.total(q, n, j) >= self.least(q, n, j))

    # ---- orders

    def bound_share(self, q: Queue, n: Namespace) -> Expr:
        """A namespace's dominant share in a queue, by what is bound."""
        return sum_(self.bound[q, n, j] for j in Job) * self.dominant[n]

    def has_candidate(self, q: Queue, n: Namespace) -> Expr:
        """Whether some job of a namespace in a queue may be popped."""
        return any_(self.is_candidate(q, n, j) for j in Job)

    def share(self, q: Queue, n: Namespace) -> Expr:
        """The namespace's dominant share: within the queue; in the edition that shipped, in all queues together."""
        if self.edition is Edition.SHIPPED:
            return sum_(self.in_namespace[p, n] for p in Queue) * self.dominant[n]
        return self.in_namespace[q, n] * self.dominant[n]

    def queue_is_first(self, q: Queue, n: Namespace) -> Expr:
        """Whether no other queue, of those with a candidate, has a smaller part of what it deserves."""
        shipped = self.edition is Edition.SHIPPED
        return all_(
            implies(
                self.has_candidate(p, n) if shipped else any_(self.has_candidate(p, k) for k in Namespace),
                self.in_queue[q] * self.deserved(p) <= self.in_queue[p] * self.deserved(q),
            )
            for p in Queue
        )

    def namespace_is_first(self, q: Queue, n: Namespace) -> Expr:
        """Whether no other namespace, of those with a candidate, has a smaller share by weight: u1/w1 < u2/w2."""
        return all_(
            implies(
                any_(self.has_candidate(p, k) for p in Queue)
                if self.edition is Edition.SHIPPED
                else self.has_candidate(q, k),
                self.share(q, n) * self.weight[k] <= self.share(q, k) * self.weight[n],
            )
            for k in Namespace
        )

    def job_is_first(self, q: Queue, n: Namespace, j: Job) -> Expr:
        """Whether no other job comes before: gangs that are not ready do, then those with a smaller share. Repaired, a
        gang that lost a task comes before all (volcano#5805)."""
        anyone = self.edition is Edition.CURRENT
        return all_(
            implies(
                self.is_candidate(q, k, i) if anyone else self.is_candidate(q, k, i) & (k == n),
                ~self._comes_before(q, k, i, n, j),
            )
            for k in Namespace
            for i in Job
        )

    def _comes_before(self, q: Queue, k: Namespace, i: Job, n: Namespace, j: Job) -> Expr:
        less = self.bound[q, k, i] * self.dominant[k] < self.bound[q, n, j] * self.dominant[n]
        readier = self.is_ready(q, n, j) & ~self.is_ready(q, k, i)
        before = readier | ((self.is_ready(q, n, j) == self.is_ready(q, k, i)) & less)
        if not self.repaired:
            return before
        mend, mine = self.is_broken(q, k, i), self.is_broken(q, n, j)
        return (mend & ~mine) | ((mend == mine) & before)

"""What a state of the kubernetes spec consists of, and the sums that guards and properties are made of."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from model.language import Expr, Machine, Sort, all_, any_, ite, sum_, when
from specs.kubernetes.parameters import Edition, Scope


class PodGroup(Sort):
    """A PodGroup with the gang policy. All of its pods are alike and take one unit of a node."""


class Node(Sort):
    """A node."""


class Queue(enum.Enum):
    """Where the scheduling queue has a group."""

    OUTSIDE = 0
    """Gated, or nothing of it is pending."""
    ACTIVE = 1
    """In activeQ."""
    BACKOFF = 2
    """In backoffQ."""
    UNSCHEDULABLE = 3
    """Among the unschedulable ones, until an event wakes it."""
    POPPED = 4
    """Its scheduling cycle runs."""


class Condition(enum.Enum):
    """PodGroupInitiallyScheduled."""

    NONE = 0
    UNSCHEDULABLE = 1
    """False, reason Unschedulable."""
    SCHEDULER_ERROR = 2
    """False, reason SchedulerError."""
    SCHEDULED = 3
    """True, reason Scheduled."""


class Misfit(enum.Enum):
    """What is wrong with one pod of a group."""

    NONE = 0
    SCHEDULER_NAME = 1
    PRIORITY = 2


@dataclass(frozen=True)
class Resource:
    """One resource of a node: its ``capacity``, what of it the ``snapshot`` has as used, and what a pod of each group
    takes: one unit where ``needs`` is None; the distinct ``sizes`` of that."""

    capacity: int
    snapshot: Any
    needs: Any
    sizes: tuple[int, ...]

    def of(self, g: PodGroup, pods: Expr) -> Expr:
        """What so many pods of a group take."""
        return pods if self.needs is None else self.needs[g] * pods

    def pods_in(self, g: PodGroup, left: Expr) -> Expr:
        """How many pods of a group take no more than what is left."""
        if self.needs is None:
            return left
        found = left // self.sizes[0]
        for size in self.sizes[1:]:
            found = ite(self.needs[g] == size, left // size, found)
        return found


class State:
    """The variables.

    Of a group the API server has its ``object`` and ``seen`` pods; those that the cache counts as ``scheduled`` are
    ``assumed`` (their binding is under way) or ``bound``. During its cycle, ``todo`` of its ``queued`` pods are still
    to be judged and ``proposed`` ones have a node in the ``snapshot``, in which ``counted`` pods of it are scheduled
    and victims may be ``leaving``; ``event_seen`` notes that something happened meanwhile that may help it. In the
    simulation of PodGroupPostFilter the pods of the ``candidate`` are taken out of the snapshot. A ``disrupted`` group
    was evicted and its pods still have to leave; the group that did it has ``nominated`` nodes. ``judged`` matters in
    the seed only: PlacementFeasible was asked once. Of the assumed pods those that are ``waiting`` are held at Permit;
    there are such only with ``late``, in the current edition. ``memory_snapshot`` is the snapshot of the second of
    ``resources``, where there is one.
    """

    def __init__(self, m: Machine, scope: Scope) -> None:
        self.min_count = scope.min_count
        self.edition = scope.edition
        m.sort(PodGroup, scope.groups, symmetric=scope.alike)
        m.sort(Node, scope.nodes, symmetric=True)
        self.priority = m.constant("priority", PodGroup, [i + 1 if scope.ranked else 1 for i in range(scope.groups)])
        count = range(scope.pods + 1)
        self.object = m.variable("object", PodGroup, bool, init=False)
        self.seen = m.variable("seen", PodGroup, count, init=0)
        self.misfit = m.variable("misfit", PodGroup, Misfit, init=Misfit.NONE)
        self.queue = m.variable("queue", PodGroup, Queue, init=Queue.OUTSIDE)
        self.condition = m.variable("condition", PodGroup, Condition, init=Condition.NONE)
        self.done = m.variable("done", PodGroup, bool, init=False)
        self.scheduled = m.variable("scheduled", PodGroup, count, init=0)
        self.assumed = m.variable("assumed", (PodGroup, Node), count, init=0)
        self.waiting = m.variable("waiting", (PodGroup, Node), count, init=0) if scope.permit else None
        self.bound = m.variable("bound", (PodGroup, Node), count, init=0)
        self.proposed = m.variable("proposed", (PodGroup, Node), count, init=0)
        self.nominated = m.variable("nominated", (PodGroup, Node), count, init=0)
        self.disrupted = m.variable("disrupted", PodGroup, bool, init=False)
        self.candidate = m.variable("candidate", PodGroup, bool, init=False)
        self.resources = tuple(self._resources(m, scope))
        self.counted = m.scalar("counted", count, init=0)
        self.queued = m.scalar("queued", count, init=0)
        self.todo = m.scalar("todo", count, init=0)
        self.leaving = m.scalar("leaving", bool, init=False)
        self.judged = m.scalar("judged", bool, init=False)
        self.event_seen = m.scalar("event_seen", bool, init=False)
        self.failures = m.scalar("failures", range(scope.failures + 1), init=0)
        self.misfits = m.scalar("misfits", range(scope.misfits + 1), init=0)

    def _resources(self, m: Machine, scope: Scope) -> Iterator[Resource]:
        room = range(scope.capacity + 1)
        yield Resource(scope.capacity, m.variable("snapshot", Node, room, init=0), None, (1,))
        if scope.memory:
            needs = m.constant("needs", PodGroup, scope.needs)
            used = m.variable("memory_snapshot", Node, range(scope.memory + 1), init=0)
            yield Resource(scope.memory, used, needs, tuple(sorted(set(scope.needs))))

    # ---- one group

    def running(self, g: PodGroup) -> Expr:
        """Pods that are bound."""
        return sum_(self.bound[g, n] for n in Node)

    def binding(self, g: PodGroup) -> Expr:
        """Pods whose binding is under way."""
        return sum_(self.assumed[g, n] for n in Node)

    def permitted(self, g: PodGroup, n: Node) -> Expr:
        """Pods on a node whose binding is under way, and not held at Permit."""
        return self.assumed[g, n] if self.waiting is None else self.assumed[g, n] - self.waiting[g, n]

    def placed(self, g: PodGroup) -> Expr:
        """Pods that have a node."""
        return sum_(self.assumed[g, n] + self.bound[g, n] for n in Node)

    def proposals(self, g: PodGroup) -> Expr:
        """Pods that this cycle has found a node for."""
        return sum_(self.proposed[g, n] for n in Node)

    def cycles(self, g: PodGroup) -> Expr:
        """Whether the cycle of the group runs."""
        return self.queue[g] == Queue.POPPED

    # ---- nodes

    def used(self, n: Node, of: Resource) -> Expr:
        """What pods of the cache take of a node."""
        return sum_(of.of(b, self.assumed[b, n] + self.bound[b, n]) for b in PodGroup)

    def kept(self, g: PodGroup, n: Node, of: Resource) -> Expr:
        """What is kept of a node for others than ``g`` that are nominated there, and are not less important."""
        return sum_(
            ite((b != g) & (self.priority[b] >= self.priority[g]), of.of(b, self.nominated[b, n]), 0) for b in PodGroup
        )

    def room(self, g: PodGroup, n: Node) -> Expr:
        """Pods of a group that a node takes, in the snapshot, next to what others are nominated for."""
        rooms: list[Expr] = []
        for r in self.resources:
            left = r.capacity - r.snapshot[n] - self.kept(g, n, r)
            rooms.append(r.pods_in(g, ite(left < 0, 0, left)))
        return functools.reduce(lambda a, b: ite(a < b, a, b), rooms)

    def has_room(self, g: PodGroup, n: Node, of: Resource) -> Expr:
        """Filter: in the snapshot, next to what this cycle proposed and what others are nominated for."""
        taken: Expr = of.snapshot[n] + of.of(g, self.proposed[g, n]) + self.kept(g, n, of)
        if of.needs is None:
            return taken < of.capacity
        wanted: Expr = taken + of.needs[g]
        return wanted <= of.capacity

    def fits(self, g: PodGroup, n: Node) -> Expr:
        """Filter, of every resource."""
        return self.every(lambda r: self.has_room(g, n, r))

    def every(self, holds: Callable[[Resource], Expr]) -> Expr:
        """Whether something holds for every resource."""
        return functools.reduce(lambda a, b: a & b, map(holds, self.resources))

    def most_placed(self, g: PodGroup) -> Expr:
        """Pods of the cycle's group that the snapshot has room for, at best."""
        room = sum_(self.room(g, n) for n in Node)
        return ite(room < self.queued, room, self.queued)

    # ---- the cycle

    def no_cycle(self) -> Expr:
        """Whether the scheduler is free to pop."""
        return all_(~self.cycles(b) for b in PodGroup)

    def comes_first(self, g: PodGroup) -> Expr:
        """QueueSort: nobody more important is active. Ties are free."""
        return (self.queue[g] == Queue.ACTIVE) & all_(
            (self.queue[b] != Queue.ACTIVE) | (self.priority[b] <= self.priority[g]) for b in PodGroup
        )

    def simulates(self) -> Expr:
        """Whether the cycle is in PodGroupPostFilter."""
        return any_(self.candidate[b] for b in PodGroup)

    def is_hopeless(self, g: PodGroup) -> Expr:
        """PlacementFeasible says Unschedulable: even with all remaining pods minCount is missed."""
        missed = self.todo + self.proposals(g) + self.counted < self.min_count
        return missed & self.judged if self.edition is Edition.SEED else missed

    def is_feasible(self, g: PodGroup) -> Expr:
        """PlacementFeasible says Success."""
        return self.proposals(g) + self.counted >= self.min_count

    def failed(self, g: PodGroup) -> Expr:
        """Nothing can be found for the group, or nothing new."""
        none = (self.todo == 0) & (~self.is_feasible(g) | (self.proposals(g) == 0))
        return self.cycles(g) & (self.is_hopeless(g) | none)

    def is_candidate(self, g: PodGroup, v: PodGroup) -> Expr:
        """Whether pods of ``v`` run that can be asked to leave."""
        return (self.running(v) > 0) & (self.binding(v) == 0) & ~self.disrupted[v]

    def is_eligible(self) -> Expr:
        """Whether, in the snapshot, the victims of earlier preemptions have left."""
        return ~self.leaving

    # ---- parts of actions

    def end_cycle(self, g: PodGroup) -> None:
        """The snapshot and what was tried in it are dropped."""
        self.todo.next = 0
        self.queued.next = 0
        self.counted.next = 0
        self.leaving.next = False
        self.judged.next = False
        self.event_seen.next = False
        for n in Node:
            for r in self.resources:
                r.snapshot[n] = 0
            self.proposed[g, n] = 0
        for b in PodGroup:
            self.candidate[b] = False

    def tell_unschedulable(self, g: PodGroup) -> None:
        """The condition is False, unless it was True once."""
        latched = self.condition[g] == Condition.SCHEDULED
        self.condition[g] = ite(latched, Condition.SCHEDULED, Condition.UNSCHEDULABLE)

    def wake(self, but: PodGroup | None = None) -> None:
        """Room was freed. All leave the unschedulable ones, or all but one; a cycle that runs takes note."""
        with when(~self.no_cycle()):
            self.event_seen.next = True
        for b in PodGroup:
            waits = self.queue[b] == Queue.UNSCHEDULABLE
            with when(waits if but is None else waits & (b != but)):
                self.queue[b] = Queue.ACTIVE

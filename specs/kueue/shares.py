"""What a state of the kueue spec consists of: a cohort of ClusterQueues, and the shares that they are compared by."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from model.language import Expr, Machine, Sort, all_, any_, implies, ite, sum_
from model.language.expressions import lift


class Queue(Sort):
    """A ClusterQueue. All of them are in one cohort and lend each other what they do not use."""


class Workload(Sort):
    """A workload, in the order in which they were created."""


class Strategy(enum.Enum):
    """What the share of the preemptor's ClusterQueue is compared with (fairSharing.preemptionStrategies)."""

    FINAL = "final"
    """LessThanOrEqualToFinalShare: with the share that the other has after the preemption."""
    INITIAL = "initial"
    """LessThanInitialShare: with the share that the other has before the preemption."""
    BOTH = "both"
    """Either."""


class Stage(enum.Enum):
    """What the scheduler is at."""

    IDLE = 0
    TARGETS = 1
    """It gathers targets for the preemptor."""
    FILL_BACK = 2
    """It looks for targets that turned out not to be needed (fillBackWorkloads)."""
    ENDING = 3
    """The last preemptor of the cycle was left out."""


@dataclass(frozen=True)
class Gates:
    """What came into Kueue one by one: ``sticky_head``, a preemptor stays the head of its ClusterQueue (kueue#6929);
    ``preemptor_first``, it goes before the heads of the others, too (kueue#13662); ``weightless_alike``, shares with
    weight 0 are equal, as they were before they were compared unweighted (kueue#6774)."""

    sticky_head: bool = True
    preemptor_first: bool = True
    weightless_alike: bool = False


class Cohort:
    """The variables. ``admitted`` workloads use quota; one that is ``pending`` for the ``preemptor`` in vain is
    ``inadmissible`` until something changes. A ``sticky`` one stays the head of its ClusterQueue, for it has
    preempted others. ``target`` workloads are to be preempted. With two preemptors in a cycle: ``issued`` ones have had
    their preemptions issued, and ``leaving`` workloads are evicted by these when the cycle ends."""

    def __init__(
        self,
        m: Machine,
        nominal: Sequence[int],
        weight: Sequence[int],
        queue: Sequence[int],
        size: Sequence[int],
        priority: Sequence[int],
        strategy: Strategy,
        gates: Gates,
        preemptors: int,
    ) -> None:
        self.preemptors = preemptors
        self.total = sum(nominal)
        self.strategy = strategy
        self.gates = gates
        ranked = list(zip(queue, priority, strict=True))
        self.has_ranks = any(q == r and p < o for q, p in ranked for r, o in ranked)
        m.sort(Queue, len(nominal), ordered=True)
        m.sort(Workload, len(size), ordered=True)
        self.nominal = m.constant("nominal", Queue, nominal)
        self.weight = m.constant("weight", Queue, weight)
        self.number = m.constant("number", Queue, list(range(len(nominal))))
        self.queue = m.constant("queue", Workload, queue)
        self.size = m.constant("size", Workload, size)
        self.priority = m.constant("priority", Workload, priority)
        self.created = m.variable("created", Workload, bool, init=False)
        self.admitted = m.variable("admitted", Workload, bool, init=False)
        self.inadmissible = m.variable("inadmissible", Workload, bool, init=False)
        self.preemptor = m.variable("preemptor", Workload, bool, init=False)
        self.sticky = m.variable("sticky", Workload, bool, init=False)
        self.target = m.variable("target", Workload, bool, init=False)
        self.stage = m.scalar("stage", Stage, init=Stage.IDLE)
        if preemptors > 1:
            self.issued = m.variable("issued", Workload, bool, init=False)
            self.leaving = m.variable("leaving", Workload, bool, init=False)

    # ---- usage

    def of(self, w: Workload, q: Queue) -> Expr:
        """Whether a workload is of a ClusterQueue."""
        return self.queue[w] == self.number[q]

    def stays(self, w: Workload) -> Expr:
        """Whether, in the simulation, a workload uses quota: it is admitted and no target, or it is the preemptor."""
        return (self.admitted[w] & ~self.target[w]) | self.preemptor[w]

    def usage(self, q: Queue) -> Expr:
        """What the workloads of a ClusterQueue use, in the simulation."""
        return sum_(ite(self.of(w, q) & self.stays(w), self.size[w], 0) for w in Workload)

    def is_too_much(self) -> Expr:
        """Whether, in the simulation, the preemptor does not fit the cohort."""
        return sum_(ite(self.stays(w), self.size[w], 0) for w in Workload) > self.total

    def fits(self, w: Workload) -> Expr:
        """Whether a workload fits what the cohort has left."""
        used = sum_(ite(self.admitted[v], self.size[v], 0) for v in Workload)
        return used + self.size[w] <= self.total

    # ---- shares

    def borrowed(self, q: Queue, more: Expr | int) -> Expr:
        """What a ClusterQueue uses above its nominal quota, in the simulation and with so much more."""
        above = self.usage(q) + more - self.nominal[q]
        return ite(above > 0, above, 0)

    def share_is_at_most(self, q: Queue, plus: Expr | int, r: Queue, more: Expr | int) -> Expr:
        """Whether the weighted share of ``q`` (with so much more) is at most that of ``r``. The share is what is
        borrowed by the weight; with weight 0 it is above all others, and two such are compared unweighted
        (kueue#6774)."""
        mine, other = self.borrowed(q, plus), self.borrowed(r, more)
        both_zero = (self.weight[q] == 0) & (self.weight[r] == 0)
        unweighted = lift(True) if self.gates.weightless_alike else mine <= other
        return ite(both_zero, unweighted, mine * self.weight[r] <= other * self.weight[q])

    def share_is_less(self, q: Queue, plus: Expr | int, r: Queue, more: Expr | int) -> Expr:
        """Whether the weighted share of ``q`` is less than that of ``r``."""
        return ~self.share_is_at_most(r, more, q, plus)

    def is_fair(self, q: Queue, t: Workload, r: Queue) -> Expr:
        """Whether a preemptor of ``q`` may have ``t`` of ``r`` preempted, beside the targets that there are."""
        final = self.share_is_at_most(q, 0, r, -self.size[t])
        initial = self.share_is_less(q, 0, r, 0)
        rule = {Strategy.FINAL: final, Strategy.INITIAL: initial, Strategy.BOTH: final | initial}
        return rule[self.strategy]

    def is_preempting(self, q: Queue) -> Expr:
        """Whether the preemptor is of a ClusterQueue."""
        return any_(self.preemptor[w] & self.of(w, q) for w in Workload)

    def is_fair_target(self, t: Workload) -> Expr:
        """Whether the strategies allow a target of another ClusterQueue."""
        return any_(
            self.of(t, r) & self.is_preempting(q) & (q != r) & self.is_fair(q, t, r) for q in Queue for r in Queue
        )

    def fits_beside(self, t: Workload) -> Expr:
        """Whether the preemptor fits also if target ``t`` stays."""
        return sum_(ite(self.stays(w), self.size[w], 0) for w in Workload) + self.size[t] <= self.total

    def joint(self) -> Expr:
        """What is used once the cycle's preemptions are done and its preemptors are admitted."""
        remaining = sum_(ite(self.admitted[w] & ~self.leaving[w] & ~self.target[w], self.size[w], 0) for w in Workload)
        return remaining + sum_(ite(self.issued[w] | self.preemptor[w], self.size[w], 0) for w in Workload)

    def goes_with_others(self) -> Expr:
        """Whether the preemptor's targets are none of an earlier preemptor of the cycle, and it fits beside that."""
        return all_(~(self.target[t] & self.leaving[t]) for t in Workload) & (self.joint() <= self.total)

    def none_is_issued(self) -> Expr:
        """Whether the cycle has no preemptor yet."""
        return all_(~self.issued[w] for w in Workload) if self.preemptors > 1 else lift(True)

    def taken(self, r: Queue) -> Expr:
        """What the targets of a ClusterQueue use."""
        return sum_(ite(self.target[v] & self.of(v, r), self.size[v], 0) for v in Workload)

    def is_fair_in_all(self, q: Queue, r: Queue) -> Expr:
        """Whether all targets of ``r`` together are allowed for a preemptor of ``q``."""
        final = self.share_is_at_most(q, 0, r, 0)
        initial = self.share_is_less(q, 0, r, self.taken(r))
        rule = {Strategy.FINAL: final, Strategy.INITIAL: initial, Strategy.BOTH: final | initial}
        return rule[self.strategy]

    def stays_fair(self) -> Expr:
        """Whether the targets in other ClusterQueues are allowed."""
        return all_(
            implies(self.is_preempting(q) & (q != r) & (self.taken(r) > 0), self.is_fair_in_all(q, r))
            for q in Queue
            for r in Queue
        )

    def is_no_easy_target(self) -> Expr:
        """Whether the preemptor, if it takes its place from its own ClusterQueue, leaves that within nominal quota or
        with a share that is not above that of any other."""
        takes = any_(self.target[t] & self.is_preempting(q) & self.of(t, q) for t in Workload for q in Queue)
        return implies(
            takes,
            all_(
                implies(self.is_preempting(q) & (q != r), self.share_is_at_most(q, 0, r, 0))
                for q in Queue
                for r in Queue
            ),
        )

    def is_own_target(self, t: Workload) -> Expr:
        """withinClusterQueue=LowerPriority: a less important workload of the preemptor's own ClusterQueue."""
        return any_(
            self.preemptor[w] & (self.queue[w] == self.queue[t]) & (self.priority[t] < self.priority[w])
            for w in Workload
        )

    def is_candidate(self, t: Workload) -> Expr:
        """Whether a workload may become a target."""
        return self.is_own_target(t) | (self.borrows(t) & self.is_fair_target(t))

    def borrows(self, t: Workload) -> Expr:
        """Whether the ClusterQueue of a workload borrows, in the simulation."""
        return any_(self.of(t, r) & (self.usage(r) > self.nominal[r]) for r in Queue)

    # ---- the scheduler

    def is_pending(self, w: Workload) -> Expr:
        """Whether a workload waits for admission."""
        return self.created[w] & ~self.admitted[w] & ~self.inadmissible[w]

    def is_head(self, w: Workload) -> Expr:
        """Whether a workload is the head of its ClusterQueue: a sticky one, else the most important, then the oldest
        one pending."""

        def before(v: Workload) -> Expr:
            order = (self.priority[v] > self.priority[w]) | ((self.priority[v] == self.priority[w]) & (v < w))
            if not self.gates.sticky_head:
                return order
            return (self.sticky[v] & ~self.sticky[w]) | ((self.sticky[v] == self.sticky[w]) & order)

        return self.is_pending(w) & all_(
            ~(self.is_pending(v) & (self.queue[v] == self.queue[w]) & before(v)) for v in Workload
        )

    def would_borrow(self, w: Workload) -> Expr:
        """Whether the ClusterQueue borrows once the workload is admitted."""
        return any_(self.of(w, q) & (self.usage(q) + self.size[w] > self.nominal[q]) for q in Queue)

    def goes_first(self, v: Workload, w: Workload) -> Expr:
        """Whether head ``v`` has precedence over ``w``: it has preempted for its place, or else it does not borrow, or
        else it leads to the lower share."""
        lower = any_(
            self.of(v, q) & self.of(w, r) & self.share_is_less(q, self.size[v], r, self.size[w])
            for q in Queue
            for r in Queue
        )
        nominal = ~self.would_borrow(v) & self.would_borrow(w)
        fair = nominal | ((self.would_borrow(v) == self.would_borrow(w)) & lower)
        if not self.gates.preemptor_first:
            return fair
        return (self.sticky[v] & ~self.sticky[w]) | ((self.sticky[v] == self.sticky[w]) & fair)

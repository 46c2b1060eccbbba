"""Kueue's fair sharing: a workload that does not fit may have others preempted, if the shares of their queues allow it.

One cohort of ClusterQueues, one resource. The scheduler admits the head of the ClusterQueue that has the lowest share;
for a head that does not fit it gathers targets, gives back those that turned out not to be needed, and preempts the
rest. Preempted workloads are pending again; the preemptor has to win the next cycle like everybody else. Workloads run
for ever, so that all must come to rest once all are created.
"""

from __future__ import annotations

from model.language import Expr, Machine, all_, implies, ite, require, sum_
from specs.kueue.properties import declare
from specs.kueue.shares import Cohort, Gates, Stage, Strategy, Workload
from specs.parameters import check_each, check_size


def kueue(
    nominal: tuple[int, ...] = (4, 2),
    weight: tuple[int, ...] = (1, 1),
    queue: tuple[int, ...] = (0, 0, 1, 0),
    size: tuple[int, ...] = (4, 2, 5, 4),
    priority: tuple[int, ...] = (0, 0, 0, 1),
    strategy: Strategy = Strategy.BOTH,
    sticky_head: bool = True,
    preemptor_first: bool = False,
    weightless_alike: bool = False,
    preemptors: int = 1,
    repaired: bool = False,
) -> Machine:
    """Kueue's preemption for fair sharing.

    ``nominal`` and ``weight`` of each ClusterQueue; ``queue``, ``size`` and ``priority`` of each workload.
    ``strategy``: which fair sharing strategies are configured. ``sticky_head``, ``preemptor_first`` and
    ``weightless_alike``: whether a preemptor stays the head of its ClusterQueue, whether it goes before the others'
    heads, and whether shares with weight 0 are equal. ``preemptors`` of different ClusterQueues have preemptions issued
    in one cycle. ``repaired`` mends what the findings show. ValueError for sizes that make no sense.
    """
    check_each("nominal", nominal, len(nominal), "queue", least=0, most=16)
    check_each("weight", weight, len(nominal), "queue", least=0, most=16)
    check_each("queue", queue, len(queue), "workload", least=0, most=len(nominal) - 1)
    check_each("size", size, len(queue), "workload", most=max(1, sum(nominal)))
    check_each("priority", priority, len(queue), "workload", least=0, most=16)
    m = Machine("kueue", doc="Kueue's fair sharing within a cohort")
    check_size("preemptors", preemptors, most=2)
    gates = Gates(sticky_head, preemptor_first, weightless_alike)
    c = Cohort(m, nominal, weight, queue, size, priority, strategy, gates, preemptors)
    m.attach(c)

    @m.action
    def create(w: Workload) -> None:
        """A workload is submitted; those that were inadmissible are tried again."""
        require(~c.created[w], c.stage == Stage.IDLE, c.none_is_issued())
        c.created[w] = True
        for v in Workload:
            c.inadmissible[v] = False

    @m.action
    def admit(w: Workload) -> None:
        """w fits, and no head that fits goes first (kueue#3405)."""
        require(c.stage == Stage.IDLE, c.is_head(w), c.fits(w), c.none_is_issued())
        require(all_(implies((v != w) & c.is_head(v) & c.fits(v), ~c.goes_first(v, w)) for v in Workload))
        c.admitted[w] = True
        c.sticky[w] = False
        for v in Workload:
            c.inadmissible[v] = False

    def is_next(v: Workload) -> Expr:
        """Whether a head has not had its turn in this cycle."""
        return c.is_head(v) & ~c.issued[v] if preemptors > 1 else c.is_head(v)

    @m.action
    def start_preemption(w: Workload) -> None:
        """No head fits: the scheduler looks for targets, for one that nobody goes before."""
        require(c.stage == Stage.IDLE, c.is_head(w), all_(~(c.is_head(v) & c.fits(v)) for v in Workload))
        if preemptors > 1:
            require(~c.issued[w], sum_(ite(c.issued[v], 1, 0) for v in Workload) < preemptors)
        require(all_(implies((v != w) & is_next(v), ~c.goes_first(v, w)) for v in Workload))
        c.preemptor[w] = True
        c.stage.next = Stage.TARGETS

    if c.has_ranks:

        @m.action
        def take_own_target(t: Workload) -> None:
            """A less important workload of the preemptor's own ClusterQueue becomes a target: its share sinks."""
            require(c.stage == Stage.TARGETS, c.is_too_much(), c.admitted[t], ~c.target[t], c.is_own_target(t))
            c.target[t] = True

    @m.action
    def take_fair_target(t: Workload) -> None:
        """A workload of another ClusterQueue, which borrows, becomes a target: a strategy allows it (kueue#3779,
        kueue#7101)."""
        require(c.stage == Stage.TARGETS, c.is_too_much(), c.admitted[t], ~c.target[t], c.borrows(t))
        require(c.is_fair_target(t))
        c.target[t] = True

    @m.action
    def targets_are_enough() -> None:
        """The preemptor fits without the targets."""
        require(c.stage == Stage.TARGETS, ~c.is_too_much())
        c.stage.next = Stage.FILL_BACK

    @m.action
    def give_up(w: Workload) -> None:
        """There are no further targets, and the preemptor does not fit: it waits for a change."""
        require(c.stage == Stage.TARGETS, c.preemptor[w], c.is_too_much())
        require(all_(~(c.admitted[t] & ~c.target[t] & c.is_candidate(t)) for t in Workload))
        _give_up(c, w)

    @m.action
    def fill_back(t: Workload) -> None:
        """fillBackWorkloads: a target is given back, for the preemptor fits beside it (kueue#14543)."""
        require(c.stage == Stage.FILL_BACK, c.target[t], c.fits_beside(t))
        c.target[t] = False

    if repaired:

        @m.action
        def reject_targets(w: Workload) -> None:
            """With what was given back the share of the preemptor's ClusterQueue is too high for the targets that are
            left, or for a place that it took from its own: nobody is preempted (kueue#14543)."""
            require(
                c.stage == Stage.FILL_BACK, c.preemptor[w], all_(~(c.target[t] & c.fits_beside(t)) for t in Workload)
            )
            require(~(c.stays_fair() & c.is_no_easy_target()))
            _give_up(c, w)

    _preempt(m, c, repaired)
    if preemptors > 1:
        _end_cycle(m, c)
    declare(m, c)
    return m


def _preempt(m: Machine, c: Cohort, repaired: bool) -> None:
    @m.action
    def preempt(w: Workload) -> None:
        """No target can be given back: all are evicted. The preemptor is not admitted yet, but stays the head
        (kueue#6929, kueue#13662). With two preemptors in a cycle the second only if its targets are none of the
        first's (kueue#2596)."""
        require(c.stage == Stage.FILL_BACK, c.preemptor[w], all_(~(c.target[t] & c.fits_beside(t)) for t in Workload))
        if repaired:
            require(c.stays_fair() & c.is_no_easy_target())
        if c.preemptors > 1:
            require(c.goes_with_others())
            c.issued[w] = True
        else:
            c.sticky[w] = True
        c.preemptor[w] = False
        c.stage.next = Stage.IDLE
        for t in Workload:
            if c.preemptors > 1:
                c.leaving[t] = c.leaving[t] | c.target[t]
            else:
                c.admitted[t] = c.admitted[t] & ~c.target[t]
                c.inadmissible[t] = False
            c.target[t] = False


def _end_cycle(m: Machine, c: Cohort) -> None:
    @m.action
    def leave_out(w: Workload) -> None:
        """The second preemptor's targets overlap with the first's, or it would not fit beside that one: it is left out
        in this cycle (kueue#2596)."""
        require(c.stage == Stage.FILL_BACK, c.preemptor[w], all_(~(c.target[t] & c.fits_beside(t)) for t in Workload))
        require(~c.goes_with_others())
        c.preemptor[w] = False
        c.stage.next = Stage.ENDING
        for t in Workload:
            c.target[t] = False

    @m.action
    def end_cycle() -> None:
        """What was issued is done: the targets are evicted, the preemptors stay the heads (kueue#2596)."""
        require((c.stage == Stage.IDLE) | (c.stage == Stage.ENDING), ~c.none_is_issued())
        c.stage.next = Stage.IDLE
        for t in Workload:
            c.sticky[t] = c.sticky[t] | c.issued[t]
            c.admitted[t] = c.admitted[t] & ~c.leaving[t]
            c.inadmissible[t] = False
            c.issued[t] = False
            c.leaving[t] = False


def _give_up(c: Cohort, w: Workload) -> None:
    """Part of an action: the preemptor waits for a change."""
    c.preemptor[w] = False
    c.inadmissible[w] = True
    c.sticky[w] = False
    c.stage.next = Stage.IDLE
    for t in Workload:
        c.target[t] = False

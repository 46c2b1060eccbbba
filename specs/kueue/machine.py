"""Kueue's fair sharing: a workload that does not fit may have others preempted, if the shares of their queues allow it.

One cohort of ClusterQueues, one resource. The scheduler admits the head of the ClusterQueue that has the lowest share;
for a head that does not fit it gathers targets, gives back those that turned out not to be needed, and preempts the
rest. Preempted workloads are pending again; the preemptor has to win the next cycle like everybody else. Workloads run
for ever, so that all must come to rest once all are created.
"""

from __future__ import annotations

from model.language import Machine, all_, implies, require
from specs.kueue.properties import declare
from specs.kueue.shares import Cohort, Stage, Strategy, Workload
from specs.parameters import check_each


def kueue(
    nominal: tuple[int, ...] = (3, 3),
    weight: tuple[int, ...] = (1, 1),
    queue: tuple[int, ...] = (0, 0, 1, 0),
    size: tuple[int, ...] = (2, 3, 4, 3),
    priority: tuple[int, ...] = (0, 1, 0, 0),
    strategy: Strategy = Strategy.BOTH,
    recheck: bool = True,
) -> Machine:
    """Kueue's preemption for fair sharing, with and without looking again at targets after fillBackWorkloads.

    ``nominal`` and ``weight`` of each ClusterQueue; ``queue``, ``size`` and ``priority`` of each workload.
    ``strategy``: which fair sharing strategies are configured. ``recheck``: whether the targets that are left
    after fillBackWorkloads must be allowed, which today's code does not ask. ValueError for sizes that make no sense.
    """
    check_each("nominal", nominal, len(nominal), "queue", least=0, most=16)
    check_each("weight", weight, len(nominal), "queue", least=0, most=16)
    check_each("queue", queue, len(queue), "workload", least=0, most=len(nominal) - 1)
    check_each("size", size, len(queue), "workload", most=max(1, sum(nominal)))
    check_each("priority", priority, len(queue), "workload", least=0, most=16)
    m = Machine("kueue", doc="Kueue's fair sharing within a cohort")
    c = Cohort(m, nominal, weight, queue, size, priority, strategy)
    m.attach(c)

    @m.action
    def create(w: Workload) -> None:
        """A workload is submitted; those that were inadmissible are tried again."""
        require(~c.created[w], c.stage == Stage.IDLE)
        c.created[w] = True
        for v in Workload:
            c.inadmissible[v] = False

    @m.action
    def admit(w: Workload) -> None:
        """w fits, and no head that fits goes first (kueue#3405)."""
        require(c.stage == Stage.IDLE, c.is_head(w), c.fits(w))
        require(all_(implies((v != w) & c.is_head(v) & c.fits(v), ~c.goes_first(v, w)) for v in Workload))
        c.admitted[w] = True
        c.sticky[w] = False
        for v in Workload:
            c.inadmissible[v] = False

    @m.action
    def start_preemption(w: Workload) -> None:
        """No head fits: the scheduler looks for targets, for one that nobody goes before."""
        require(c.stage == Stage.IDLE, c.is_head(w), all_(~(c.is_head(v) & c.fits(v)) for v in Workload))
        require(all_(implies((v != w) & c.is_head(v), ~c.goes_first(v, w)) for v in Workload))
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
        """fillBackWorkloads: a target is given back, for the preemptor fits beside it (kueue#2596)."""
        require(c.stage == Stage.FILL_BACK, c.target[t], c.fits_beside(t))
        c.target[t] = False

    if recheck:

        @m.action
        def reject_targets(w: Workload) -> None:
            """With what was given back the share of the preemptor's ClusterQueue is too high for the targets that are
            left: nobody is preempted (kueue#14543)."""
            require(
                c.stage == Stage.FILL_BACK, c.preemptor[w], all_(~(c.target[t] & c.fits_beside(t)) for t in Workload)
            )
            require(~c.stays_fair())
            _give_up(c, w)

    @m.action
    def preempt(w: Workload) -> None:
        """No target can be given back: all are evicted. The preemptor is not admitted yet, but goes first (kueue#6929,
        kueue#13662)."""
        require(c.stage == Stage.FILL_BACK, c.preemptor[w], all_(~(c.target[t] & c.fits_beside(t)) for t in Workload))
        if recheck:
            require(c.stays_fair())
        c.preemptor[w] = False
        c.sticky[w] = True
        c.stage.next = Stage.IDLE
        for t in Workload:
            c.admitted[t] = c.admitted[t] & ~c.target[t]
            c.target[t] = False
            c.inadmissible[t] = False

    declare(m, c)
    return m


def _give_up(c: Cohort, w: Workload) -> None:
    """Part of an action: the preemptor waits for a change."""
    c.preemptor[w] = False
    c.inadmissible[w] = True
    c.sticky[w] = False
    c.stage.next = Stage.IDLE
    for t in Workload:
        c.target[t] = False

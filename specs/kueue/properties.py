"""What must hold in the kueue spec."""

from __future__ import annotations

from model.language import Expr, Machine, after, all_, any_, implies, ite, sum_
from specs.kueue.shares import Cohort, Stage, Workload


def declare(m: Machine, c: Cohort) -> None:
    """Quota, precedence, who may be preempted, and that all come to rest."""

    def evicted(t: Workload) -> Expr:
        return c.admitted[t] & ~after(c.admitted[t])

    def chosen(t: Workload) -> Expr:
        """Whether a step settles that a workload is evicted, if only when the cycle ends."""
        return ~c.leaving[t] & after(c.leaving[t]) if c.preemptors > 1 else evicted(t)

    @m.always
    def quota_never_exceeded() -> Expr:
        """Admitted workloads use no more than the quota of the cohort (kueue#804)."""
        return sum_(ite(c.admitted[w], c.size[w], 0) for w in Workload) <= c.total

    @m.step
    def nominal_quota_has_precedence() -> Expr:
        """No workload is admitted by borrowing while a head that fits would not borrow; one that has
        preempted for its place may be (kueue#3405)."""
        return all_(
            implies(
                ~c.admitted[w] & after(c.admitted[w]) & c.would_borrow(w) & ~c.sticky[w],
                ~any_(c.is_head(v) & c.fits(v) & ~c.would_borrow(v) for v in Workload),
            )
            for w in Workload
        )

    @m.step
    def victims_are_allowed_in_the_end() -> Expr:
        """What the strategies demand of the victims in another ClusterQueue holds for all that are preempted together,
        not only while they were gathered (kueue#14543)."""
        return implies(any_(chosen(t) for t in Workload), c.stays_fair())

    if c.has_ranks:

        @m.step
        def own_victims_are_less_important() -> Expr:
            """Within its own ClusterQueue a workload has only those of lower priority preempted (kueue#3210)."""
            return all_(
                implies(
                    chosen(t) & c.preemptor[w] & (c.queue[t] == c.queue[w]),
                    c.priority[t] < c.priority[w],
                )
                for t in Workload
                for w in Workload
            )

    @m.step
    def no_useless_victim() -> Expr:
        """Nobody is preempted whom the preemptor fits beside, and nobody for preemptors that do not fit together all
        the same (kueue#2596)."""
        needed = all_(implies(chosen(t), ~c.fits_beside(t)) for t in Workload)
        if c.preemptors == 1:
            return needed
        return needed & implies(any_(evicted(t) for t in Workload), c.joint() <= c.total)

    @m.sometimes
    def a_workload_is_to_be_preempted() -> Expr:
        """Targets are found that are enough (kueue#7101)."""
        return (c.stage == Stage.FILL_BACK) & any_(c.target[t] for t in Workload)

    def at_rest() -> Expr:
        return (c.stage == Stage.IDLE) & c.none_is_issued() & all_(c.admitted[w] | c.inadmissible[w] for w in Workload)

    @m.terminal
    def all_are_at_rest() -> Expr:
        """Here a run may stop: every workload is admitted, or can neither be admitted nor preempt."""
        return at_rest()

    @m.eventually(fairness=[m.progress()])
    def preemption_comes_to_rest() -> Expr:
        """Nobody preempts each other for ever: every run comes to rest (kueue#14543, kueue#3779, kueue#7101,
        kueue#6774)."""
        return at_rest()

"""What must hold of the volcano spec, and what must be reachable so that it says something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.language import Expr, Machine, after, all_, any_, each, implies, strong, sum_
from specs.volcano.parameters import Edition, Events
from specs.volcano.state import Job, Namespace, Phase, Queue, Session, State


@dataclass(frozen=True)
class Life:
    """The actions that fairness names."""

    finish: Callable[..., Any]
    back: list[Callable[..., Any]]
    """What brings units back that are away."""


def declare(m: Machine, s: State, events: Events, life: Life | None) -> None:
    """All properties."""
    _declare_resources(m, s)
    _declare_gangs(m, s)
    _declare_orders(m, s, events)
    if events.quota_changes:
        _declare_weights(m, s)
    _declare_progress(m, s, life)


def _declare_resources(m: Machine, s: State) -> None:
    @m.always
    def cluster_capacity() -> Expr:
        """No more units, and no more memory, are taken than there are, for shares are parts of what is there (V7)."""
        enough = s.used() <= s.scope.capacity
        return enough & (s.memory_used() <= s.scope.memory_capacity) if s.scope.memory_capacity else enough

    @m.always
    def usage_is_conserved() -> Expr:
        """What proportion counts for a queue, and drf for a namespace in it, u of u/w, is the sum of what jobs have
        there (V7)."""
        return all_(
            (s.in_queue[q] == sum_(s.in_namespace[q, n] for n in Namespace))
            & all_(s.in_namespace[q, n] == sum_(s.placed(q, n, j) for j in Job) for n in Namespace)
            for q in Queue
        )

    @m.step
    def no_overused_queue_gets_more() -> Expr:
        """A queue that has all that it deserves gets no turn, as in the three cases; in the current edition none gets a
        task beyond it (V10)."""
        turns = all_(
            implies(after(s.turn[q, n, j]) & ~s.turn[q, n, j], ~s.is_overused(q))
            for q in Queue
            for n in Namespace
            for j in Job
        )
        if not s.is_today:
            return turns
        everyone = s.all_weights
        return turns & all_(
            implies(
                (s.session == Session.OPEN) & (after(s.in_queue[q]) > s.in_queue[q]),
                after(s.in_queue[q]) * everyone <= s.deserved(q),
            )
            for q in Queue
        )


def _declare_gangs(m: Machine, s: State) -> None:
    @m.step
    def no_partial_gang_is_bound() -> Expr:
        """Whenever tasks of a job are bound, at least minAvailable of the pods that are known run then (V4,
        volcano#2462, volcano#6010)."""
        return all_(
            implies(
                after(s.bound[q, n, j]) > s.bound[q, n, j],
                after(s.bound[q, n, j]) >= (s.minimum_of_pods(q, n, j)),
            )
            for q in Queue
            for n in Namespace
            for j in Job
        )

    @m.always
    def statements_are_committed_or_discarded() -> Expr:
        """Nothing is placed, and nothing promised, but by the statement of the job that has the turn: a round ends with
        its tasks bound, or given back (V4, volcano#268, volcano#5044)."""
        return all_(
            implies(~s.turn[q, n, j], s.placed(q, n, j) == s.bound[q, n, j])
            for q in Queue
            for n in Namespace
            for j in Job
        )

    @m.sometimes
    def a_job_gets_ready() -> Expr:
        """minAvailable tasks of some job run (V4)."""
        return any_(
            (s.phase[q, n, j] == Phase.RUNNING) & s.is_ready(q, n, j) for q in Queue for n in Namespace for j in Job
        )


def _declare_orders(m: Machine, s: State, events: Events) -> None:
    def gets_turn(q: Queue, n: Namespace, j: Job) -> Expr:
        return after(s.turn[q, n, j]) & ~s.turn[q, n, j]

    if s.edition is not Edition.CURRENT:
        shipped = s.edition is Edition.SHIPPED

        def may_be_next(q: Queue, k: Namespace) -> Expr:
            return any_(s.has_candidate(p, k) for p in Queue) if shipped else s.has_candidate(q, k)

        def has(q: Queue, n: Namespace) -> Expr:
            return sum_(s.bound_share(p, n) for p in Queue) if shipped else s.bound_share(q, n)

        @m.step
        def turns_follow_namespace_shares() -> Expr:
            """No turn goes to a namespace while another one of the queue, with a job that may be popped, has less:
            u1/w1 < u2/w2, by what is bound at that moment. So many pods of one user don't keep back the few of
            another. In the edition that shipped one of any queue is another, and has what is bound in all (V5, V6, V7,
            V11)."""
            return all_(
                implies(
                    gets_turn(q, n, j) & may_be_next(q, k),
                    has(q, n) * s.weight[k] <= has(q, k) * s.weight[n],
                )
                for q in Queue
                for n in Namespace
                for j in Job
                for k in Namespace
            )

    if len(s.scope.sizes) > 1:

        @m.step
        def turns_follow_queue_shares() -> Expr:
            """No turn goes to a queue while another one with a job that may be popped, in the edition that shipped with
            one of the namespace that has the turn, has a smaller part of what it deserves (V10)."""
            return all_(
                implies(gets_turn(q, n, j), s.queue_is_first(q, n)) for q in Queue for n in Namespace for j in Job
            )

    if s.scope.some_job_has_extras:

        @m.step
        def ready_jobs_come_last() -> Expr:
            """No job that is ready gets a turn while a gang of its namespace that is not ready may be popped (V4)."""
            return all_(
                implies(gets_turn(q, n, j) & s.is_ready(q, n, j), s.is_ready(q, n, i) | ~s.is_candidate(q, n, i))
                for q in Queue
                for n in Namespace
                for j in Job
                for i in Job
            )

    if events.drains:

        @m.step
        def broken_gangs_come_first() -> Expr:
            """No job of which nothing runs gets a turn while a gang of its namespace that lost a task may be popped
            (volcano#5805)."""
            return all_(
                implies(
                    gets_turn(q, n, j) & (s.bound[q, n, j] == 0),
                    ~(s.is_broken(q, n, i) & s.is_candidate(q, n, i)),
                )
                for q in Queue
                for n in Namespace
                for j in Job
                for i in Job
            )


def _declare_weights(m: Machine, s: State) -> None:
    @m.always
    def weights_are_positive() -> Expr:
        """Whatever the quotas say, no namespace weighs less than 1 (V1)."""
        return all_(s.weight[n] >= 1 for n in Namespace)

    @m.step
    def the_highest_quota_counts() -> Expr:
        """A session begins with the highest weight of each namespace's quotas (V2)."""
        opens = (s.session != Session.OPEN) & (after(s.session) == Session.OPEN)
        return implies(opens, all_(after(s.weight[n]) == s.highest_quota(n) for n in Namespace))

    @m.step
    def a_session_keeps_its_weights() -> Expr:
        """Within a session no weight changes (V3)."""
        return implies(s.session == Session.OPEN, all_(after(s.weight[n]) == s.weight[n] for n in Namespace))


def _declare_progress(m: Machine, s: State, life: Life | None) -> None:
    if life is None:

        @m.terminal
        def session_is_over() -> Expr:
            """The one session is over (V10)."""
            return s.session == Session.OVER

        @m.eventually(fairness=[m.progress()])
        def the_session_ends() -> Expr:
            """Every run ends with the session. What each namespace has then, in the design's three cases, is in the
            table of the README (V10)."""
            return s.session == Session.OVER

        return

    @m.step
    def no_job_that_fits_is_left_out() -> Expr:
        """When a session closes, no gang is left whose queue is not overused and whose minAvailable fits what is
        free: rounds go on until then (V4, volcano#5044)."""
        closes = (s.session == Session.OPEN) & (after(s.session) != Session.OPEN)
        return implies(
            closes,
            all_(
                implies(s.wants(q, n, j) & ~s.is_overused(q) & ~s.is_ready(q, n, j), ~s.gang_fits(q, n, j))
                for q in Queue
                for n in Namespace
                for j in Job
            ),
        )

    @m.terminal
    def all_done() -> Expr:
        """Every job has ended: until then a next round begins (V4)."""
        return all_(s.phase[q, n, j] == Phase.DONE for q in Queue for n in Namespace for j in Job)

    @m.possible
    def all_jobs_can_end() -> Expr:
        """From every reachable state all jobs can still end (V4)."""
        return all_(s.phase[q, n, j] == Phase.DONE for q in Queue for n in Namespace for j in Job)

    fairness = [m.progress(), strong(each(life.finish))]
    fairness.extend(strong(action) for action in life.back)

    @m.leads_to(fairness=fairness)
    def every_submitted_job_ends(q: Queue, n: Namespace, j: Job) -> tuple[Expr, Expr]:
        """Every job that is submitted runs and ends, if the scheduler goes on, what is ready ends at last and
        nodes that are away come back: round after round each job gets its minMember (V4)."""
        return s.phase[q, n, j] == Phase.INQUEUE, s.phase[q, n, j] == Phase.DONE

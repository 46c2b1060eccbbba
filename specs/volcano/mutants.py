"""Faults of the volcano spec: reports that people filed, and at least one for each property."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from model.language import Expr, Ite, Machine, Quantified, all_, any_, implies, ite, require
from model.language.mutation import disabled, rewritten, with_update, without_guard, without_update
from specs.mutant import Mutant
from specs.volcano.machine import volcano
from specs.volcano.parameters import Edition, Layout
from specs.volcano.state import Job, Namespace, Queue, Quota, Session, State

_ENDS: Final = ("all_jobs_can_end", "every_submitted_job_ends")
_ONE_BY_ONE: Final = {"size": 2, "minimum": 1, "namespaces": 1}
"""A queue has its turn again before it has all that it deserves."""
_QUEUES: Final = "(in_queue[q] * ite("
"""What the guard about the order of queues says, and no other."""
_JobAction = Callable[[Queue, Namespace, Job], None]


def _dropped(m: Machine) -> _JobAction:
    s = m.attached(State)

    def discard(q: Queue, n: Namespace, j: Job) -> None:
        require(s.turn[q, n, j], s.placed(q, n, j) < s.goal(q, n, j), ~s.fits(q, n))
        s.tried[q, n, j] = True
        s.turn[q, n, j] = False

    return discard


def _overused_too(m: Machine) -> _JobAction:
    s = m.attached(State)

    def pop_job(q: Queue, n: Namespace, j: Job) -> None:
        require(s.session == Session.OPEN, ~s.someone_has_the_turn(), s.wants(q, n, j) & ~s.tried[q, n, j])
        require(s.queue_is_first(q, n), s.namespace_is_first(q, n), s.job_is_first(q, n, j))
        s.turn[q, n, j] = True

    return pop_job


def _queue_first(m: Machine) -> _JobAction:
    s = m.attached(State)

    def is_later(p: Queue, q: Queue) -> Expr:
        later = s.in_queue[q] * s.deserved(p) <= s.in_queue[p] * s.deserved(q)
        return implies(any_(s.has_candidate(p, k) for k in Namespace), later)

    def has_less(q: Queue, n: Namespace, k: Namespace) -> Expr:
        return implies(s.has_candidate(q, k), s.share(q, n) * s.weight[k] <= s.share(q, k) * s.weight[n])

    def pop_job(q: Queue, n: Namespace, j: Job) -> None:
        require(s.session == Session.OPEN, ~s.someone_has_the_turn(), s.is_candidate(q, n, j), s.job_is_first(q, n, j))
        require(all_(is_later(p, q) for p in Queue), all_(has_less(q, n, k) for k in Namespace))
        s.turn[q, n, j] = True

    return pop_job


def _seen_at_once(m: Machine) -> Callable[[Namespace, Quota], None]:
    s = m.attached(State)

    def change_quota(n: Namespace, k: Quota) -> None:
        require(s.left["quota_changes"] > 0)
        s.left["quota_changes"].next = s.left["quota_changes"] - 1
        s.quota[n, k] = 2
        s.weight[n] = 2

    return change_quota


def _without_default(value: Expr) -> Expr:
    """From the highest quota, or 1, to the highest quota."""
    assert isinstance(value, Ite)
    return value.otherwise


def _lowest(value: Expr) -> Expr:
    """From the highest quota, or 1, to the lowest."""
    assert isinstance(value, Ite)
    highest = value.otherwise
    assert isinstance(highest, Quantified)
    lowest = Quantified("min", highest.symbols, highest.body)
    return ite(lowest <= 1, 1, lowest)


_REPORTS = (
    Mutant(
        "statement_dropped",
        "a job that is too large for what is idle keeps what its statement took, for the rest of the session",
        "statements_are_committed_or_discarded",
        volcano,
        (rewritten("discard", _dropped, "discard does not undo the statement"),),
        {"capacity": 3},
        report="volcano#268",
    ),
)

_SEEDED = (
    Mutant(
        "no_room_looked_at",
        "a task is placed although the cluster is full",
        "cluster_capacity",
        volcano,
        (without_guard("allocate", "< 3)"),),
        {"capacity": 3, "size": 2},
    ),
    Mutant(
        "usage_not_given_back",
        "a discarded statement still counts for its queue",
        "usage_is_conserved",
        volcano,
        (without_update("discard", "in_queue"),),
    ),
    Mutant(
        "overused_queue_popped",
        "whether a queue is overused is not looked at",
        "no_overused_queue_gets_more",
        volcano,
        (rewritten("pop_job", _overused_too, "any job may be popped"),),
    ),
    Mutant(
        "commits_early",
        "a statement is committed before the job is ready",
        "no_partial_gang_is_bound",
        volcano,
        (without_guard("commit", "=="),),
        consequences=_ENDS,
    ),
    Mutant(
        "never_committed",
        "no statement is committed",
        "a_job_gets_ready",
        volcano,
        (disabled("commit"),),
        consequences=(*_ENDS, "deadlock_free"),
    ),
    Mutant(
        "no_namespace_order",
        "the order of namespaces is not looked at",
        "turns_follow_namespace_shares",
        volcano,
        (without_guard("pop_job", "* weight["),),
    ),
    Mutant(
        "no_namespace_order_as_shipped",
        "the order of namespaces, over all queues together, is not looked at",
        "turns_follow_namespace_shares",
        volcano,
        (without_guard("pop_job", "* weight["),),
        {"edition": Edition.SHIPPED},
    ),
    Mutant(
        "no_queue_order",
        "the order of queues is not looked at",
        "turns_follow_queue_shares",
        volcano,
        (without_guard("pop_job", _QUEUES),),
        _ONE_BY_ONE,
    ),
    Mutant(
        "no_queue_order_as_shipped",
        "the order of a namespace's queues is not looked at",
        "turns_follow_queue_shares",
        volcano,
        (without_guard("pop_job", _QUEUES),),
        {"edition": Edition.SHIPPED, **_ONE_BY_ONE},
    ),
    Mutant(
        "queue_before_namespace",
        "what was released takes the queue first again, and there the namespace, by its share in all queues",
        "turns_follow_namespace_shares",
        volcano,
        (rewritten("pop_job", _queue_first, "pop_job takes the first queue of all, then its namespaces"),),
        {"edition": Edition.SHIPPED, "size": 2, "minimum": 1},
    ),
    Mutant(
        "tried_for_ever",
        "V4: a job that did not fit in one session is not tried in a later one either",
        "every_submitted_job_ends",
        volcano,
        (without_update("open_session", "tried"),),
        consequences=("all_jobs_can_end", "no_job_that_fits_is_left_out"),
    ),
    Mutant(
        "no_job_order",
        "jobs are popped in any order",
        "ready_jobs_come_last",
        volcano,
        (without_guard("pop_job", "dominant[k]) <"),),
        {"queues": 1, "jobs": 2},
    ),
    Mutant(
        "broken_gang_waits_its_turn",
        "whether a gang lost a task is not looked at, nor anything else that jobs are ordered by",
        "broken_gangs_come_first",
        volcano,
        (without_guard("pop_job", "dominant[k]) <"),),
        {"drains": 1, "size": 2, "capacity": 2, "queues": 1, "namespaces": 1, "jobs": 2, "repaired": True},
    ),
    Mutant(
        "no_default_weight",
        "a namespace without a valid quota weighs nothing",
        "weights_are_positive",
        volcano,
        (with_update("open_session", "weight", _without_default),),
        {"quota_changes": 1, "queues": 1},
        consequences=("the_highest_quota_counts",),
    ),
    Mutant(
        "lowest_quota",
        "the lowest weight counts",
        "the_highest_quota_counts",
        volcano,
        (with_update("open_session", "weight", _lowest),),
        {"quota_changes": 1, "queues": 1},
    ),
    Mutant(
        "weights_change_in_session",
        "an open session sees a quota at once",
        "a_session_keeps_its_weights",
        volcano,
        (rewritten("change_quota", _seen_at_once, "change_quota also writes the session's weight"),),
        {"quota_changes": 1, "queues": 1},
    ),
    Mutant(
        "closes_early",
        "a session closes though jobs may still be popped",
        "no_job_that_fits_is_left_out",
        volcano,
        (without_guard("close_session", "all_"),),
        consequences=("every_submitted_job_ends",),
    ),
    Mutant(
        "never_finished",
        "what runs never ends",
        "all_jobs_can_end",
        volcano,
        (disabled("finish"),),
        consequences=("every_submitted_job_ends",),
    ),
    Mutant(
        "never_closed",
        "a session does not close",
        "the_session_ends",
        volcano,
        (disabled("close_session"),),
        {"layout": Layout.EXAMPLE},
        consequences=("deadlock_free",),
    ),
)

MUTANTS = (*_REPORTS, *_SEEDED)

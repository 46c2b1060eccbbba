"""Faults of the kueue spec: reports of the Kueue project, and at least one fault for each property."""

from __future__ import annotations

from typing import Final

from model.language import Expr, Machine, all_, any_, implies, require
from model.language.mutation import (
    Body,
    disabled,
    rewritten,
    with_guard,
    without_guard,
    without_update,
)
from specs.kueue.machine import kueue
from specs.kueue.shares import Cohort, Queue, Stage, Workload
from specs.mutant import Faults

_OLDER_HEAD: Final = {"nominal": (3, 3), "queue": (0, 1, 0, 0), "size": (6, 6, 3, 1), "priority": (0, 0, 0, 0)}
_THREE: Final = {"nominal": (3, 3), "queue": (0, 1, 1), "size": (5, 6, 6), "priority": (0, 0, 0)}
_WITHIN_NOMINAL: Final = {"nominal": (2, 2), "queue": (0, 0, 1), "size": (2, 2, 2), "priority": (0, 0, 0)}
_WEIGHTLESS: Final = {
    "nominal": (0, 0, 2),
    "weight": (0, 0, 1),
    "queue": (0, 1),
    "size": (2, 2),
    "priority": (0, 0),
}
_MORE_IMPORTANT: Final = {"queue": (0, 1), "size": (5, 4), "priority": (1, 0), "nominal": (3, 3)}
_OVERLAP: Final = {
    "nominal": (2, 2, 0),
    "weight": (1, 1, 1),
    "queue": (2, 2, 2, 0, 1),
    "size": (1, 2, 1, 3, 3),
    "priority": (0, 0, 0, 0, 0),
    "preemptors": 2,
}
_SMALL: Final = {"nominal": (2, 2), "queue": (0, 0, 1, 1), "size": (2, 2, 2, 1), "priority": (0, 0, 0, 0)}
_RANKED: Final = {"nominal": (2, 2), "queue": (0, 0, 1, 1), "size": (2, 2, 2, 1), "priority": (0, 1, 0, 0)}


_mutant: Final = Faults(kueue)


def _priority_is_enough(m: Machine) -> Body:
    c = m.attached(Cohort)

    def take_fair_target(t: Workload) -> None:
        """A less important workload of another ClusterQueue may be a target whatever the shares."""
        less = any_(c.preemptor[w] & (c.queue[w] != c.queue[t]) & (c.priority[t] < c.priority[w]) for w in Workload)
        require(c.stage == Stage.TARGETS, c.is_too_much(), c.admitted[t], ~c.target[t], c.borrows(t))
        require(c.is_fair_target(t) | less)
        c.target[t] = True

    return take_fair_target


def _weightless_are_alike(m: Machine) -> Body:
    c = m.attached(Cohort)

    def take_fair_target(t: Workload) -> None:
        """Two shares with weight 0 are equal, whatever is borrowed."""

        def weightless(w: Workload) -> Expr:
            return any_(c.of(w, q) & (c.weight[q] == 0) for q in Queue)

        require(c.stage == Stage.TARGETS, c.is_too_much(), c.admitted[t], ~c.target[t], c.borrows(t))
        alike = any_(c.preemptor[w] & (c.queue[w] != c.queue[t]) & weightless(w) & weightless(t) for w in Workload)
        require(c.is_fair_target(t) | alike)
        c.target[t] = True

    return take_fair_target


def _borrows_by_itself(m: Machine) -> Body:
    c = m.attached(Cohort)

    def admit(w: Workload) -> None:
        """Who borrows is told by the size of the request, and nothing else says who goes first."""

        def borrows(v: Workload) -> Expr:
            return any_(c.of(v, q) & (c.size[v] > c.nominal[q]) for q in Queue)

        require(c.stage == Stage.IDLE, c.is_head(w), c.fits(w))
        require(all_(implies(c.is_head(v) & c.fits(v) & ~borrows(v), ~borrows(w)) for v in Workload))
        c.admitted[w] = True
        c.sticky[w] = False
        for v in Workload:
            c.inadmissible[v] = False

    return admit


MUTANTS: Final = (
    _mutant(
        "priority_preempts_whatever_the_shares",
        "borrowWithinCohort, a rule without shares, is heeded with fair sharing: a more important workload of the "
        "ClusterQueue with the higher share preempts, and is preempted by share",
        "preemption_comes_to_rest",
        rewritten("take_fair_target", _priority_is_enough, "a less important workload may be taken at any share"),
        parameters=_MORE_IMPORTANT,
        report="kueue#3779",
        consequences=("victims_are_allowed_in_the_end",),
    ),
    _mutant(
        "weightless_queues_are_alike",
        "the share of a ClusterQueue with weight 0 is the largest there is, so that two such are always equal",
        "preemption_comes_to_rest",
        rewritten("take_fair_target", _weightless_are_alike, "between ClusterQueues of weight 0 any may be taken"),
        parameters=_WEIGHTLESS,
        report="kueue#6774",
        consequences=("victims_are_allowed_in_the_end",),
    ),
    _mutant(
        "preemptor_is_not_the_head",
        "an older workload that does not fit goes back to the head of the queue, in front of the preemptor",
        "preemption_comes_to_rest",
        without_update("preempt", "sticky"),
        parameters=_OLDER_HEAD,
        report="kueue#6929",
    ),
    _mutant(
        "borrowing_is_told_by_the_request",
        "whether a workload borrows is computed from its request alone, not from what its queue uses already; without "
        "fair sharing, as in the report, that alone decides who goes first",
        "nominal_quota_has_precedence",
        rewritten("admit", _borrows_by_itself, "admit compares requests with nominal quota"),
        parameters=_WITHIN_NOMINAL,
        report="kueue#3405",
        consequences=("preemption_comes_to_rest",),
    ),
    _mutant(
        "overlapping_targets_are_issued_twice",
        "two preemptors of one cycle have overlapping targets preempted: the first takes the room of those that both "
        "want, and the others go for a second that does not fit",
        "no_useless_victim",
        without_guard("preempt", "leaving[t]"),
        parameters=_OVERLAP,
        report="kueue#2596",
    ),
    _mutant(
        "targets_are_not_given_back",
        "targets that turn out not to be needed are preempted all the same",
        "no_useless_victim",
        without_guard("preempt", "all_(~(target[t]"),
        consequences=("preemption_comes_to_rest",),
    ),
    _mutant(
        "targets_are_taken_whatever_the_shares",
        "the strategies are not asked",
        "victims_are_allowed_in_the_end",
        without_guard("take_fair_target", "weight["),
        parameters=_THREE,
        consequences=("preemption_comes_to_rest",),
    ),
    _mutant(
        "quota_is_not_looked_at",
        "a head is admitted whatever the cohort has left",
        "quota_never_exceeded",
        without_guard("admit", "+ size[w]) <= 4"),
        parameters=_SMALL,
    ),
    _mutant(
        "priority_is_not_looked_at",
        "withinClusterQueue=LowerPriority: the priority of a target in the own queue is not looked at",
        "own_victims_are_less_important",
        with_guard("take_own_target", "priority[t]", lambda old: old | True),
        parameters=_RANKED,
        consequences=("preemption_comes_to_rest",),
    ),
    _mutant(
        "nobody_is_a_target",
        "no targets are looked for in other ClusterQueues",
        "a_workload_is_to_be_preempted",
        disabled("take_fair_target"),
        parameters=_SMALL,
        consequences=(
            "preemption_comes_to_rest",
            "deadlock_free",
        ),
    ),
)
"""Each breaks the property that it names, where the spec itself holds."""

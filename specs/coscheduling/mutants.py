"""Faults of the coscheduling spec: reports of the scheduler-plugins, Koordinator and KubeRay, and seeded ones."""

from __future__ import annotations

from typing import Final

from model.language import Machine, require
from model.language.mutation import (
    Body,
    disabled,
    rewritten,
    with_action,
    with_guard,
    without_guard,
    without_update,
)
from specs.coscheduling.machine import Gang, GangState, Plugin, coscheduling
from specs.mutant import Faults

_GROUPS: Final = {"gangs": 4, "size": 1, "slots": 2, "together": 2, "timeouts": False}
"""Gang groups {A, B} and {C, D} of single pods, and room for one group."""
_SCALED: Final = {"size": 3, "slots": 3, "scales": 1}
_TOO_LARGE: Final = {"size": (2, 3), "slots": 2}


_mutant: Final = Faults(coscheduling)


def _leaves_waiting_pods(m: Machine) -> Body:
    p = m.attached(Plugin)

    def fail_pod(g: Gang) -> None:
        """The pod is unschedulable; what its gang holds stays assumed."""
        require(p.is_active(g), p.used() == p.slots, ~p.has_quorum(g))
        p.state[g] = GangState.BACKOFF

    return fail_pod


def _leaves_siblings(m: Machine) -> Body:
    p = m.attached(Plugin)

    def fail_pod(g: Gang) -> None:
        """Only pods of the gang itself are rejected, not those of its gang group."""
        require(p.is_active(g), p.used() == p.slots, ~p.has_quorum(g))
        p.assigned[g] = p.bound[g]
        p.waiting[g] = 0
        p.state[g] = GangState.BACKOFF

    return fail_pod


def _counts_without_placing(m: Machine) -> Body:
    p = m.attached(Plugin)

    def count_unplaced(g: Gang) -> None:
        """A pod of g is counted, and then found to fit nowhere."""
        require(p.is_active(g), p.used() == p.slots, p.assigned[g] < p.pods[g])
        p.assigned[g] += 1

    return count_unplaced


MUTANTS: Final = (
    _mutant(
        "waiting_pods_are_kept",
        "pods of different gangs interleave at Permit, and nothing gives back what a gang that got stuck holds",
        "every_gang_can_finish",
        rewritten("fail_pod", _leaves_waiting_pods, "fail_pod rejects no waiting pods"),
        parameters={"timeouts": False},
        report="scheduler-plugins#117",
    ),
    _mutant(
        "no_timeout_of_the_gang",
        "a gang of which one pod fits nowhere keeps the others assumed; neither rejection nor timeout ends that",
        "nobody_holds_slots_for_ever",
        rewritten("fail_pod", _leaves_waiting_pods, "fail_pod rejects no waiting pods"),
        disabled("permit_times_out"),
        parameters=_TOO_LARGE,
        report="scheduler-plugins#713",
    ),
    _mutant(
        "counts_pods_that_are_not_placed",
        "Permit counts a pod of the gang that has not got a node",
        "no_partial_gang_is_bound",
        with_action("fail_pod", _counts_without_placing, "a pod that fits nowhere is counted all the same"),
        report="scheduler-plugins#930",
        consequences=(
            "assigned_is_true",
            "every_gang_can_finish",
            "deadlock_free",
            "values_in_range",
        ),
    ),
    _mutant(
        "siblings_keep_waiting",
        "when a gang is rejected, pods of the other gangs of its gang group go on waiting",
        "every_gang_can_finish",
        rewritten("fail_pod", _leaves_siblings, "fail_pod rejects its own gang only"),
        parameters=_GROUPS,
        report="koordinator#872",
    ),
    _mutant(
        "min_member_is_stale",
        "the PodGroup object is not updated when its owner scales",
        "no_partial_gang_is_bound",
        without_update("scale_up", "min_member"),
        parameters=_SCALED,
        report="kuberay#5205",
    ),
    _mutant(
        "slots_are_not_looked_at",
        "Filter does not look at what is assumed",
        "slots_are_enough",
        without_guard("schedule_pod", "< 2"),
    ),
    _mutant(
        "rejected_pods_still_count",
        "the count of assigned pods is not taken back when waiting pods are rejected",
        "assigned_is_true",
        without_update("permit_times_out", "assigned"),
        consequences=(
            "no_partial_gang_is_bound",
            "every_gang_can_finish",
            "deadlock_free",
            "values_in_range",
        ),
    ),
    _mutant(
        "gangs_of_a_group_are_bound_alone",
        "Permit looks at the gang, not at its gang group",
        "gang_groups_are_bound_together",
        with_guard("permit", "team", lambda old: old | True),
        parameters=_GROUPS,
    ),
    _mutant(
        "denied_for_good",
        "the back-off of a rejected gang never ends",
        "every_gang_can_finish",
        disabled("backoff_expires"),
        consequences=("deadlock_free",),
    ),
    _mutant(
        "nothing_is_bound",
        "Permit never lets a gang through",
        "a_gang_finishes",
        disabled("permit"),
        consequences=(
            "nobody_holds_slots_for_ever",
            "every_gang_can_finish",
        ),
    ),
)
"""Each breaks the property that it names, where the spec itself holds."""

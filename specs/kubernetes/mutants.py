"""Faults of the kubernetes spec: real reports of the Kubernetes project, and at least one fault for each property."""

from __future__ import annotations

from typing import Final

from model.language import Machine, all_, ite, require
from model.language.mutation import (
    Body,
    disabled,
    rewritten,
    with_action,
    with_update,
    without_guard,
    without_update,
)
from specs.kubernetes.machine import kubernetes
from specs.kubernetes.parameters import Cycle
from specs.kubernetes.state import Condition, Node, PodGroup, Queue, State
from specs.mutant import Faults, Mutant

SMALL: Final = {"pods": 2, "nodes": 2, "misfits": 0}
"""Two gangs of two pods, and room for one."""
_EXTRAS: Final = {"misfits": 0}
_SINGLE_PODS: Final = {"groups": 3, "pods": 1, "min_count": 1, "nodes": 2, "misfits": 0, "failures": 0}
_MISFIT: Final = {"pods": 2, "nodes": 2}
_MEMORY: Final = {"pods": 2, "nodes": 2, "capacity": 2, "memory": 3, "needs": (1, 2), "misfits": 0}
"""On a node, pods for the first resource two and for the second one of the second group, and one of the first."""

_STUCK: Final = ("every_group_can_finish", "every_complete_gang_finishes", "deadlock_free")
"""What breaks where groups wait for ever."""
_mutant: Final = Faults(kubernetes, SMALL)


def _takes_a_new_snapshot(m: Machine) -> Body:
    s = m.attached(State)

    def refresh(g: PodGroup) -> None:
        """The snapshot is taken anew between two pods of g."""
        require(s.cycles(g), s.todo > 0, ~s.simulates())
        for n in Node:
            s.resources[0].snapshot[n] = s.used(n, s.resources[0])

    return refresh


def _fails_silently(m: Machine) -> Body:
    s = m.attached(State)

    def bind_fails(g: PodGroup, n: Node) -> None:
        """The pod is forgotten, and its group stays where it is."""
        require(s.assumed[g, n] > 0, s.failures == 0)
        s.failures.next = 1
        s.assumed[g, n] -= 1
        s.scheduled[g] -= 1
        s.wake(but=g)

    return bind_fails


def _binds_what_fits(m: Machine) -> Body:
    s = m.attached(State)

    def decide_unschedulable(g: PodGroup) -> None:
        """The group is unschedulable, and what was found for some of its pods is assumed."""
        require(s.failed(g))
        s.queue[g] = ite(s.event_seen, Queue.BACKOFF, Queue.UNSCHEDULABLE)
        s.scheduled[g] += ite(s.simulates(), 0, s.proposals(g))
        for n in Node:
            s.assumed[g, n] += ite(s.simulates(), 0, s.proposed[g, n])
        s.tell_unschedulable(g)
        s.end_cycle(g)

    return decide_unschedulable


def _tells_gated_groups(m: Machine) -> Body:
    s = m.attached(State)

    def tell_gated(g: PodGroup) -> None:
        """A gated group is told to be unschedulable."""
        require(s.queue[g] == Queue.OUTSIDE, s.object[g], s.condition[g] == Condition.NONE)
        s.condition[g] = Condition.UNSCHEDULABLE

    return tell_gated


def _binds_nominations(m: Machine) -> Body:
    s = m.attached(State)

    def bind_nominated(g: PodGroup, n: Node) -> None:
        """A nominated pod is bound without a further cycle."""
        require(s.nominated[g, n] > 0, s.scheduled[g] < s.seen[g], ~s.cycles(g))
        s.nominated[g, n] -= 1
        s.assumed[g, n] += 1
        s.scheduled[g] += 1

    return bind_nominated


def _sees_victims_gone(m: Machine) -> Body:
    s = m.attached(State)

    def look_again(g: PodGroup) -> None:
        """The cycle of g notes that all victims have left; its snapshot stays as it is."""
        require(s.cycles(g), s.leaving, all_(~s.disrupted[b] for b in PodGroup))
        s.leaving.next = False

    return look_again


_REPORTS = (
    _mutant(
        "pod_that_loses_its_node_still_counts",
        "the count of scheduled pods is raised when a pod gets a node, and not lowered when it loses it",
        "scheduled_count_is_true",
        without_update("bind_fails", "scheduled"),
        report="kubernetes#140306",
        consequences=(
            "decision_is_atomic",
            "partial_gang_is_queued",
            *_STUCK,
        ),
    ),
    _mutant(
        "simulation_keeps_the_failed_attempt",
        "the simulation of preemption starts with the cycle state that the failed attempt left behind",
        "every_pod_is_judged_once",
        without_update("post_filter", "proposed"),
        parameters=_EXTRAS,
        report="kubernetes#140871",
    ),
    _mutant(
        "victims_have_the_priority_of_their_pods",
        "a victim counts with its pod's own priority, here lower than any group's, instead of its PodGroup's",
        "victims_are_less_important",
        without_guard("post_filter", "(priority[v] < priority[g])"),
        report="kubernetes#139030",
        consequences=("every_complete_gang_finishes",),
    ),
    _mutant(
        "preempts_while_victims_leave",
        "whether victims of an earlier preemption still leave the nominated nodes is not looked at",
        "no_eviction_while_victims_leave",
        without_guard("post_filter", "~leaving"),
        parameters=_SINGLE_PODS,
        report="kubernetes#138710",
        consequences=("every_complete_gang_finishes",),
    ),
)

_RESOURCES = (
    _mutant(
        "snapshot_without_a_resource",
        "the snapshot knows a node's capacity of each resource, and of one of them not what its pods take",
        "node_capacity",
        without_update("pop", "memory_snapshot"),
        parameters=_MEMORY,
        report="kueue#4270",
        # whoever comes finds room, so nobody is ever evicted
        consequences=(
            "a_group_is_evicted",
            "every_group_can_finish",
            "every_complete_gang_finishes",
            "values_in_range",
        ),
    ),
    _mutant(
        "only_the_first_resource",
        "K9: Filter looks at the first resource of a node alone",
        "node_capacity",
        without_guard("place_pod", "memory_snapshot[n]"),
        parameters=_MEMORY,
        consequences=("eviction_makes_the_group_feasible", *_STUCK, "values_in_range"),
    ),
)

_CYCLE = (
    Mutant(
        "one_pod_at_a_time",
        "K1: without the PodGroup cycle two gangs each hold part of the nodes and wait for the other",
        "every_group_can_finish",
        kubernetes,
        parameters=SMALL,
        consequences=("decision_is_atomic", "every_complete_gang_finishes", "deadlock_free"),
        changed={"cycle": Cycle.POD_BY_POD},
    ),
    _mutant(
        "no_filter",
        "K9: Filter does not look at a node's room",
        "node_capacity",
        without_guard("place_pod", "snapshot[n] + proposed[g, n]"),
        consequences=(
            "eviction_makes_the_group_feasible",
            *_STUCK,
            "values_in_range",
        ),
    ),
    _mutant(
        "simulation_is_committed",
        "K8: pods that fit only without the victims are assumed at once",
        "node_capacity",
        without_guard("decide_success", "~any_(candidate[b]"),
        consequences=("values_in_range",),
    ),
    _mutant(
        "min_count_forgotten",
        "K10: a cycle succeeds as soon as one pod has a node",
        "decision_is_atomic",
        without_guard("decide_success", ">= 2)"),
        consequences=(
            "failure_binds_nothing",
            "true_means_min_count",
            *_STUCK,
        ),
    ),
    _mutant(
        "gives_up_with_a_node_left",
        "K12: a pod counts as one that fits nowhere although a node has room for it",
        "a_group_is_placed_if_it_can_be",
        without_guard("fail_pod", "all_("),
        consequences=_STUCK,
    ),
    _mutant(
        "scheduled_pods_are_not_counted",
        "K6: pods that come later have to be a gang by themselves",
        "later_pods_join_their_group",
        without_update("pop", "counted"),
        parameters=_EXTRAS,
    ),
    _mutant(
        "two_cycles_at_once",
        "K4: a group is popped while another one's cycle runs",
        "one_cycle_at_a_time",
        without_guard("pop", "all_(~(queue[b] == Queue.POPPED)"),
        consequences=(
            "node_capacity",
            "decision_is_atomic",
            "every_pod_is_judged_once",
            "snapshot_is_kept",
            "partial_gang_is_queued",
            "true_means_min_count",
            "eviction_makes_the_group_feasible",
            *_STUCK,
            "values_in_range",
        ),
    ),
    _mutant(
        "a_snapshot_for_each_pod",
        "K4: the snapshot is taken anew for each pod of a group",
        "snapshot_is_kept",
        with_action("pop", _takes_a_new_snapshot, "the snapshot is refreshed between pods"),
    ),
    _mutant(
        "queued_without_its_object",
        "K2: PreEnqueue does not wait for the PodGroup object",
        "gate_is_passed",
        without_guard("pre_enqueue", "object[g]"),
    ),
    _mutant(
        "queued_with_one_pod",
        "K2: PreEnqueue does not wait for minCount pods",
        "gate_is_passed",
        without_guard("pre_enqueue", "(seen[g] >= 2)"),
    ),
    _mutant(
        "failure_binds_what_fits",
        "K7: what a failed cycle found is assumed all the same",
        "failure_binds_nothing",
        rewritten("decide_unschedulable", _binds_what_fits, "decide_unschedulable assumes the pods that have a node"),
        consequences=(
            "decision_is_atomic",
            "unschedulable_ends_a_cycle",
            *_STUCK,
        ),
    ),
    _mutant(
        "events_during_a_cycle_are_lost",
        "what happens during a group's cycle does not keep it from the unschedulable ones",
        "every_complete_gang_finishes",
        with_update("decide_unschedulable", "queue", lambda _: Queue.UNSCHEDULABLE),
        consequences=(
            "every_group_can_finish",
            "deadlock_free",
        ),
    ),
    _mutant(
        "nobody_finishes",
        "bound gangs never end",
        "all_groups_finish",
        disabled("finish"),
        consequences=_STUCK,
    ),
)

_BINDING = (
    _mutant(
        "failed_binding_is_forgotten",
        "K5: a pod whose binding failed does not return to the queue",
        "partial_gang_is_queued",
        rewritten("bind_fails", _fails_silently, "bind_fails does not queue the group"),
    ),
    _mutant(
        "bindings_never_fail",
        "K5: binding is taken for a part of the decision",
        "a_partial_gang_is_bound",
        disabled("bind_fails"),
    ),
)

_CONDITIONS = (
    _mutant(
        "condition_follows_each_cycle",
        "K21: a later failure turns the condition False again",
        "initially_scheduled_is_a_latch",
        with_update("decide_unschedulable", "condition", lambda _: Condition.UNSCHEDULABLE),
        parameters=_EXTRAS,
    ),
    _mutant(
        "true_for_nominations",
        "K8, K21: a group that is nominated by preemption is told to be scheduled, and nothing of it is placed yet",
        "true_means_min_count",
        with_update("preempt", "condition", lambda _: Condition.SCHEDULED),
    ),
    _mutant(
        "gated_groups_are_told",
        "K21: a group that never had a cycle is told to be unschedulable",
        "unschedulable_ends_a_cycle",
        with_action("pre_enqueue", _tells_gated_groups, "gated groups get the condition"),
    ),
    _mutant(
        "every_failure_is_an_error",
        "K21: a lack of room is told as SchedulerError",
        "scheduler_error_means_misfit",
        with_update("decide_unschedulable", "condition", lambda _: Condition.SCHEDULER_ERROR),
        parameters=_MISFIT,
        consequences=("initially_scheduled_is_a_latch",),
    ),
    _mutant(
        "mixed_groups_are_judged",
        "K13: schedulerName and priority of the pods are not compared",
        "mixed_groups_are_not_judged",
        without_guard("pop", "(misfit[g] == Misfit.NONE)"),
        parameters=_MISFIT,
    ),
)

_PREEMPTION = (
    _mutant(
        "evicts_in_vain",
        "K7: victims are evicted although the group does not fit without them",
        "eviction_makes_the_group_feasible",
        without_guard("preempt", ">= 2)"),
        parameters={"pods": 3, "min_count": 2, "nodes": 2, "misfits": 0},
    ),
    _mutant(
        "nominations_are_bound",
        "K8: PostFilter's success is taken for a decision",
        "decision_is_atomic",
        with_action("preempt", _binds_nominations, "nominated pods are bound"),
        consequences=(
            "node_capacity",
            "values_in_range",
        ),
    ),
    _mutant(
        "eligibility_outside_the_snapshot",
        "K4: whether victims are leaving is asked of the present, and whether there is room of the older snapshot",
        "every_complete_gang_finishes",
        with_action("place_pod", _sees_victims_gone, "that victims have left is seen during the cycle"),
        parameters=_SINGLE_PODS,
    ),
    _mutant(
        "never_preempts",
        "K7: PodGroupPostFilter finds victims and lets them be",
        "a_group_is_evicted",
        disabled("preempt"),
        consequences=_STUCK,
    ),
)

MUTANTS: Final = (*_REPORTS, *_RESOURCES, *_CYCLE, *_BINDING, *_CONDITIONS, *_PREEMPTION)
"""Each breaks the property that it names, where the spec itself holds."""

"""Kubernetes PodGroup scheduling: one cycle places a whole gang, pods are bound one by one.

The rules K1 to K22 are those of README.md beside this file; where the documentation page and today's code differ the
parameter ``edition`` decides. Pods of a group are alike; every pod takes one unit of a node, and of a second resource,
where there is one, what its group needs.
"""

from __future__ import annotations

from collections.abc import Callable

from model.language import Expr, Machine, all_, any_, choose, ite, require, when
from specs.kubernetes.parameters import Cycle, Edition, Scope, scope
from specs.kubernetes.properties import (
    declare_conditions,
    declare_cycle,
    declare_pods,
    declare_preemption,
    declare_progress,
)
from specs.kubernetes.state import Condition, Misfit, Node, PodGroup, Queue, State


def kubernetes(
    groups: int = 2,
    pods: int = 3,
    min_count: int = 2,
    nodes: int = 3,
    capacity: int = 1,
    failures: int = 1,
    misfits: int = 1,
    ranked: bool = True,
    late: bool = False,
    cycle: Cycle = Cycle.POD_GROUP,
    edition: Edition = Edition.CURRENT,
    memory: int = 0,
    needs: int | tuple[int, ...] = 1,
) -> Machine:
    """Kubernetes' PodGroup cycle: gate, snapshot, PlacementFeasible, one decision, single bindings, preemption, latch.

    ``groups`` gangs of ``pods`` pods, of which ``min_count`` have to be placed; ``nodes`` nodes for ``capacity`` pods
    each. ``failures``: how many bindings may fail. ``misfits``: how many pods come with another schedulerName or
    priority than their group. ``ranked``: each group is more important than those before it and may preempt them.
    ``late``: a group may lose pods, by a failed binding or because evicted ones leave, while its own cycle runs.
    ``memory``: units of a second resource that each node has, of which a pod takes its group's ``needs`` (one number,
    or one per group); 0: nodes have one resource. ValueError for sizes that make no sense.
    """
    checked = scope(
        groups, pods, min_count, nodes, capacity, failures, misfits, ranked, late, cycle, edition, memory, needs
    )
    m = Machine("kubernetes", doc="Kubernetes PodGroup scheduling, mid 2026")
    s = State(m, checked)
    m.attach(s)
    _create(m, s, checked)
    if cycle is Cycle.POD_BY_POD:
        _schedule_pods(m, s)
    else:
        _gate(m, s, checked)
        _cycle(m, s)
        _decide(m, s, checked)
    if checked.preempts:
        _preempt(m, s, checked)
    repair = [_validate(m, s, checked)] if misfits else []
    _bind(m, s, checked)
    declare_pods(m, s, checked)
    if cycle is Cycle.POD_GROUP:
        declare_cycle(m, s, checked)
        declare_conditions(m, s, checked)
    if checked.preempts:
        declare_preemption(m, s)
    declare_progress(m, s, repair)
    return m


def _create(m: Machine, s: State, scope: Scope) -> None:
    gated = scope.cycle is Cycle.POD_GROUP
    if gated:

        @m.action
        def create_pod_group(g: PodGroup) -> None:
            """The scheduler sees the PodGroup object (K2)."""
            require(~s.object[g])
            s.object[g] = True

    @m.action
    def create_pod(g: PodGroup) -> None:
        """The scheduler sees one more pod of g, also after others are scheduled, or in place of an evicted one; an
        unschedulable group is tried again (K2)."""
        require(s.seen[g] < scope.pods, ~s.done[g])
        s.seen[g] += 1
        if gated:
            with when(s.cycles(g)):
                s.event_seen.next = True
            with when(s.queue[g] == Queue.UNSCHEDULABLE):
                s.queue[g] = Queue.ACTIVE


def _schedule_pods(m: Machine, s: State) -> None:
    @m.action
    def schedule_pod(g: PodGroup, n: Node) -> None:
        """One pod is popped and gets a node, whatever becomes of its group (K1)."""
        require(s.seen[g] > s.scheduled[g], *_has_capacity(s, g, n))
        s.assumed[g, n] += 1
        s.scheduled[g] += 1


def _has_capacity(s: State, g: PodGroup, n: Node) -> list[Expr]:
    return [
        s.used(n, r) < r.capacity if r.needs is None else s.used(n, r) + r.needs[g] <= r.capacity for r in s.resources
    ]


def _gate(m: Machine, s: State, scope: Scope) -> None:
    @m.action
    def pre_enqueue(g: PodGroup) -> None:
        """PreEnqueue lets g into activeQ: its object and enough pods are seen, one in the seed, minCount today (K2)."""
        require(s.queue[g] == Queue.OUTSIDE, s.object[g], s.seen[g] > s.scheduled[g], s.seen[g] >= scope.gate)
        s.queue[g] = Queue.ACTIVE

    @m.action
    def backoff_expires(g: PodGroup) -> None:
        """g was held back long enough (K8)."""
        require(s.queue[g] == Queue.BACKOFF)
        s.queue[g] = Queue.ACTIVE


def _cycle(m: Machine, s: State) -> None:
    @m.action
    def pop(g: PodGroup) -> None:
        """g's cycle begins: all of its pending pods, next to those that are scheduled, and one snapshot; nothing is
        wrong with any of its pods (K3, K4, K6, K13)."""
        require(s.no_cycle(), s.comes_first(g), s.misfit[g] == Misfit.NONE)
        s.queue[g] = Queue.POPPED
        s.todo.next = s.seen[g] - s.scheduled[g]
        s.queued.next = s.seen[g] - s.scheduled[g]
        s.counted.next = s.scheduled[g]
        s.leaving.next = any_(s.disrupted[b] for b in PodGroup)
        for n in Node:
            for r in s.resources:
                r.snapshot[n] = s.used(n, r)

    @m.action
    def place_pod(g: PodGroup, n: Node) -> None:
        """Filter and Score find n for the next pod, which is assumed in the snapshot (K9, K10)."""
        require(s.cycles(g), s.todo > 0, ~s.is_hopeless(g), *(s.has_room(g, n, r) for r in s.resources))
        s.proposed[g, n] += 1
        s.todo.next = s.todo - 1
        if s.edition is Edition.SEED:
            s.judged.next = True

    @m.action
    def fail_pod(g: PodGroup) -> None:
        """No node passes Filter for the next pod; PlacementFeasible is asked, no PostFilter runs (K9, K10)."""
        require(s.cycles(g), s.todo > 0, ~s.is_hopeless(g), all_(~s.fits(g, n) for n in Node))
        s.todo.next = s.todo - 1
        if s.edition is Edition.SEED:
            s.judged.next = True


def _decide(m: Machine, s: State, scope: Scope) -> None:
    # Facts on today's code are not settled: it may or may not back off.
    leftovers = Queue.ACTIVE if scope.edition is Edition.SEED else Queue.BACKOFF

    @m.action
    def decide_success(g: PodGroup) -> None:
        """minCount is met: all proposed pods are assumed at once and go on to binding, today by way of Permit; pods
        that are left return to the queue (K5, K21)."""
        require(s.cycles(g), s.todo == 0, s.is_feasible(g), s.proposals(g) > 0, ~s.simulates())
        s.queue[g] = ite(s.seen[g] > s.scheduled[g] + s.proposals(g), leftovers, Queue.OUTSIDE)
        if s.waiting is not None:
            # Permit counts what is there now, not what the snapshot had; whoever reaches minCount lets all go on.
            misses = s.scheduled[g] + s.proposals(g) < scope.min_count
            for n in Node:
                s.waiting[g, n] = ite(misses, s.waiting[g, n] + s.proposed[g, n], 0)
        s.scheduled[g] += s.proposals(g)
        for n in Node:
            s.assumed[g, n] += s.proposed[g, n]
            s.nominated[g, n] = 0
        s.condition[g] = Condition.SCHEDULED
        s.end_cycle(g)

    @m.action
    def decide_unschedulable(g: PodGroup) -> None:
        """Nothing is found, not even by preemption: nothing of g is bound; it waits for an event, or backs off if one
        came during the cycle (K7, K10, K21)."""
        require(s.failed(g))
        if scope.preempts:
            require(s.simulates() | ~any_(_may_preempt(s, g, v) for v in PodGroup))
        s.queue[g] = ite(s.event_seen, Queue.BACKOFF, Queue.UNSCHEDULABLE)
        s.tell_unschedulable(g)
        s.end_cycle(g)


def _may_preempt(s: State, g: PodGroup, v: PodGroup) -> Expr:
    return (s.priority[v] < s.priority[g]) & s.is_candidate(g, v) & s.is_eligible()


def _preempt(m: Machine, s: State, scope: Scope) -> None:
    @m.action
    def post_filter(g: PodGroup, v: PodGroup) -> None:
        """PodGroupPostFilter: the cycle failed and is simulated anew, without the pods of a less important v;
        not while earlier victims are leaving (K7)."""
        require(s.failed(g), ~s.simulates(), s.is_eligible(), s.is_candidate(g, v), s.priority[v] < s.priority[g])
        s.candidate[v] = True
        s.todo.next = s.queued
        s.judged.next = False
        for n in Node:
            for r in s.resources:
                r.snapshot[n] -= r.of(v, s.bound[v, n])
            s.proposed[g, n] = 0

    @m.action
    def preempt(g: PodGroup) -> None:
        """Without the candidate g fits: its pods are asked to leave and g is nominated. Nothing binds; g backs off
        (K8, K21)."""
        require(s.cycles(g), s.todo == 0, s.is_feasible(g), s.proposals(g) > 0, s.simulates())
        for v in PodGroup:
            with when(s.candidate[v] & (s.running(v) > 0)):
                s.disrupted[v] = True
        for n in Node:
            s.nominated[g, n] = s.proposed[g, n]
        s.queue[g] = Queue.BACKOFF
        s.tell_unschedulable(g)
        s.end_cycle(g)

    @m.action
    def victims_leave(v: PodGroup) -> None:
        """The evicted pods of v are gone; new ones may be created in their place. Room is free, also for what is left
        of v (K7)."""
        require(s.disrupted[v], s.binding(v) == 0, _may_lose_pods(s, v, scope))
        s.wake()
        s.disrupted[v] = False
        s.seen[v] -= s.running(v)
        s.scheduled[v] -= s.running(v)
        for n in Node:
            s.bound[v, n] = 0


def _validate(m: Machine, s: State, scope: Scope) -> Callable[..., None]:
    @m.action
    def create_misfit(g: PodGroup) -> None:
        """A pod of g is seen that has another schedulerName, or another priority (K13)."""
        require(s.seen[g] < scope.pods, ~s.done[g], s.misfits < scope.misfits)
        s.seen[g] += 1
        wrong = choose(Misfit)
        require(wrong != Misfit.NONE)
        s.misfits.next = s.misfits + 1
        s.misfit[g] = wrong
        with when(s.cycles(g)):
            s.event_seen.next = True
        with when(s.queue[g] == Queue.UNSCHEDULABLE):
            s.queue[g] = Queue.ACTIVE

    @m.action
    def reject_invalid(g: PodGroup) -> None:
        """The pods of g do not agree: no cycle, SchedulerError, and back to the queue (K13, K21)."""
        require(s.no_cycle(), s.comes_first(g), s.misfit[g] != Misfit.NONE)
        s.queue[g] = Queue.BACKOFF
        latched = s.condition[g] == Condition.SCHEDULED
        s.condition[g] = ite(latched, Condition.SCHEDULED, Condition.SCHEDULER_ERROR)

    @m.action
    def replace_misfit(g: PodGroup) -> None:
        """The owner replaces the odd pod by one like the others (K13)."""
        require(s.misfit[g] != Misfit.NONE)
        s.misfit[g] = Misfit.NONE

    return replace_misfit


def _may_lose_pods(s: State, g: PodGroup, scope: Scope) -> Expr | bool:
    return scope.late or ~s.cycles(g)


def _forget(s: State, g: PodGroup, n: Node, scope: Scope) -> None:
    s.assumed[g, n] -= 1
    s.scheduled[g] -= 1
    if scope.cycle is Cycle.POD_GROUP:
        rests = (s.queue[g] == Queue.OUTSIDE) | (s.queue[g] == Queue.UNSCHEDULABLE)
        s.wake(but=g)
        with when(rests):
            s.queue[g] = Queue.BACKOFF


def _bind(m: Machine, s: State, scope: Scope) -> None:
    @m.action
    def bind(g: PodGroup, n: Node) -> None:
        """One assumed pod of g is bound, on its own (K5)."""
        require(s.permitted(g, n) > 0)
        s.assumed[g, n] -= 1
        s.bound[g, n] += 1

    if scope.failures:

        @m.action
        def bind_fails(g: PodGroup, n: Node) -> None:
            """PreBind or Bind fails: that one pod is forgotten, and its group is queued again (K5)."""
            require(s.permitted(g, n) > 0, s.failures < scope.failures, _may_lose_pods(s, g, scope))
            s.failures.next = s.failures + 1
            _forget(s, g, n, scope)

    waiting = s.waiting
    if waiting is not None:

        @m.action
        def permit_times_out(g: PodGroup, n: Node) -> None:
            """A pod that Permit held back, for fewer than minCount were left, has waited too long: it is forgotten, and
            its group is queued again (K5)."""
            # Minutes: it does not fall into the milliseconds of a cycle, least of all again and again
            require(waiting[g, n] > 0, ~s.cycles(g))
            waiting[g, n] -= 1
            _forget(s, g, n, scope)

    @m.action
    def finish(g: PodGroup) -> None:
        """minCount pods of g are bound, and the workload starts, and runs to its end. Room is free (K1)."""
        require(s.running(g) >= scope.min_count, s.binding(g) == 0, ~s.cycles(g), ~s.disrupted[g])
        if scope.cycle is Cycle.POD_GROUP:
            s.wake(but=g)
        s.done[g] = True
        s.seen[g] = 0
        s.scheduled[g] = 0
        s.queue[g] = Queue.OUTSIDE
        for n in Node:
            s.bound[g, n] = 0
            s.nominated[g, n] = 0

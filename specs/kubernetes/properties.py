"""What must hold in the kubernetes spec."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from model.language import Expr, Machine, after, all_, any_, count_, each, implies, sum_, weak
from specs.kubernetes.parameters import Scope
from specs.kubernetes.state import Condition, Misfit, Node, PodGroup, Queue, State


def declare_pods(m: Machine, s: State, scope: Scope) -> None:
    """Nodes, counters, and all or nothing."""

    @m.always
    def node_capacity() -> Expr:
        """No node has more pods than it has room for, in any of its resources (K9)."""
        return all_(s.every(lambda r: s.used(n, r) <= r.capacity) for n in Node)

    @m.always
    def scheduled_count_is_true() -> Expr:
        """The number of scheduled pods that the cache keeps is that of assumed and bound ones (kubernetes#140306)."""
        return all_(s.scheduled[g] == s.placed(g) for g in PodGroup)

    if scope.min_count > 1:

        @m.step
        def decision_is_atomic() -> Expr:
            """Whenever pods of a group are given nodes, at least minCount have one afterwards (K5, K7, K10)."""
            return all_(implies(after(s.placed(g)) > s.placed(g), after(s.placed(g)) >= s.min_count) for g in PodGroup)


def declare_cycle(m: Machine, s: State, scope: Scope) -> None:
    """The queue and the scheduling cycle."""

    @m.always
    def one_cycle_at_a_time() -> Expr:
        """The scheduler judges one group, or none (K4)."""
        return count_(s.cycles(g) for g in PodGroup) <= 1

    @m.always
    def every_pod_is_judged_once() -> Expr:
        """In a cycle, pods judged and to be judged are no more than those pending (K3, kubernetes#140871)."""
        return all_(implies(s.cycles(g), s.todo + s.proposals(g) <= s.seen[g] - s.placed(g)) for g in PodGroup)

    @m.step
    def snapshot_is_kept() -> Expr:
        """During a cycle the snapshot does not change, but for candidates that are taken out (K4)."""
        stays = any_(s.cycles(g) & after(s.cycles(g)) for g in PodGroup) & (s.simulates() == after(s.simulates()))
        return implies(stays, all_(s.every(lambda r: after(r.snapshot[n]) == r.snapshot[n]) for n in Node))

    @m.step
    def gate_is_passed() -> Expr:
        """A group enters the queue with its object and enough pods seen (K2)."""
        return all_(
            implies(
                (s.queue[g] == Queue.OUTSIDE) & (after(s.queue[g]) == Queue.ACTIVE),
                s.object[g] & (s.seen[g] >= scope.gate),
            )
            for g in PodGroup
        )

    def given_up(g: PodGroup) -> Expr:
        return ((s.todo == 0) | s.is_hopeless(g)) & ~s.is_feasible(g)

    @m.step
    def a_group_is_placed_if_it_can_be() -> Expr:
        """Pods of a group are alike: where a cycle comes to miss minCount, the nodes that it sees have no room for so
        many, however they are placed (K12)."""
        return all_(
            implies(
                s.cycles(g) & after(s.cycles(g)) & ~given_up(g) & after(given_up(g)),
                s.counted + s.most_placed(g) < s.min_count,
            )
            for g in PodGroup
        )

    if scope.pods > scope.min_count:

        @m.always
        def later_pods_join_their_group() -> Expr:
            """Pods that come later need not be a gang by themselves, where minCount pods of their group have a node
            already (K6)."""
            return all_(implies(s.cycles(g) & (s.placed(g) >= s.min_count), ~s.is_hopeless(g)) for g in PodGroup)

    @m.step
    def failure_binds_nothing() -> Expr:
        """A cycle that ends without success gives no pod a node (K7, K8)."""
        return all_(
            implies(
                s.cycles(g) & ~after(s.cycles(g)) & ~s.is_feasible(g),
                after(s.placed(g)) <= s.placed(g),
            )
            for g in PodGroup
        )

    if scope.failures and scope.min_count > 1:

        @m.always
        def partial_gang_is_queued() -> Expr:
            """Of a group that is bound in part, pods are being bound or evicted, or the group is queued to place the
            rest (K5)."""
            return all_(
                implies(
                    (s.running(g) > 0) & (s.running(g) < s.min_count) & (s.seen[g] >= s.min_count),
                    (s.binding(g) > 0) | s.disrupted[g] | (s.queue[g] != Queue.OUTSIDE),
                )
                for g in PodGroup
            )

        @m.sometimes
        def a_partial_gang_is_bound() -> Expr:
            """Bindings are not atomic: a failed one leaves part of a gang bound, and none under way (K5)."""
            return any_((s.running(g) > 0) & (s.running(g) < s.min_count) & (s.binding(g) == 0) for g in PodGroup)

    if scope.misfits:

        @m.step
        def mixed_groups_are_not_judged() -> Expr:
            """No cycle begins for a group whose pods differ in schedulerName or priority (K13)."""
            return all_(implies(~s.cycles(g) & after(s.cycles(g)), s.misfit[g] == Misfit.NONE) for g in PodGroup)


def declare_conditions(m: Machine, s: State, scope: Scope) -> None:
    """PodGroupInitiallyScheduled."""

    @m.step
    def initially_scheduled_is_a_latch() -> Expr:
        """Once True the condition never changes (K21)."""
        return all_(
            implies(s.condition[g] == Condition.SCHEDULED, after(s.condition[g]) == Condition.SCHEDULED)
            for g in PodGroup
        )

    @m.step
    def true_means_min_count() -> Expr:
        """The condition becomes True with at least minCount pods placed (K21)."""
        return all_(
            implies(
                (s.condition[g] != Condition.SCHEDULED) & (after(s.condition[g]) == Condition.SCHEDULED),
                after(s.placed(g)) >= s.min_count,
            )
            for g in PodGroup
        )

    @m.step
    def unschedulable_ends_a_cycle() -> Expr:
        """The condition becomes False with reason Unschedulable only at the end of a cycle that was not feasible, or
        that placed nothing new (K21)."""
        return all_(
            implies(
                (s.condition[g] != Condition.UNSCHEDULABLE) & (after(s.condition[g]) == Condition.UNSCHEDULABLE),
                s.cycles(g) & ~after(s.cycles(g)) & (after(s.placed(g)) == s.placed(g)),
            )
            for g in PodGroup
        )

    if scope.misfits:

        @m.step
        def scheduler_error_means_misfit() -> Expr:
            """The condition becomes False with reason SchedulerError only for pods that do not agree (K21)."""
            return all_(
                implies(
                    (s.condition[g] != Condition.SCHEDULER_ERROR)
                    & (after(s.condition[g]) == Condition.SCHEDULER_ERROR),
                    s.misfit[g] != Misfit.NONE,
                )
                for g in PodGroup
            )


def declare_preemption(m: Machine, s: State) -> None:
    """Who is evicted for whom."""

    def evicted(v: PodGroup) -> Expr:
        return ~s.disrupted[v] & after(s.disrupted[v])

    @m.step
    def victims_are_less_important() -> Expr:
        """Pods are evicted only for a group of higher priority than theirs (kubernetes#139030)."""
        return all_(
            implies(evicted(v), any_(s.cycles(g) & (s.priority[v] < s.priority[g]) for g in PodGroup)) for v in PodGroup
        )

    @m.step
    def eviction_makes_the_group_feasible() -> Expr:
        """Pods are evicted only if the group that preempts then meets minCount within the nodes (K7, K8)."""
        return all_(
            implies(
                evicted(v),
                any_(s.cycles(g) & s.is_feasible(g) for g in PodGroup)
                & all_(
                    s.every(
                        lambda r: (
                            s.used(n, r)
                            - r.of(v, s.bound[v, n])
                            + sum_(r.of(g, after(s.nominated[g, n])) for g in PodGroup)
                            <= r.capacity
                        )
                    )
                    for n in Node
                ),
            )
            for v in PodGroup
        )

    @m.step
    def no_eviction_while_victims_leave() -> Expr:
        """Nobody is evicted for a group whose earlier victims are still leaving (kubernetes#138710)."""
        return all_(implies(evicted(v), ~any_(s.disrupted[b] for b in PodGroup)) for v in PodGroup)

    @m.sometimes
    def a_group_is_evicted() -> Expr:
        """A group that was scheduled once has to leave (K7)."""
        return any_(s.disrupted[v] & (s.condition[v] == Condition.SCHEDULED) for v in PodGroup)


def declare_progress(m: Machine, s: State, repair: Sequence[Callable[..., None]]) -> None:
    """No gang waits for ever; ``repair`` are actions that somebody takes at last."""

    @m.terminal
    def all_groups_are_done() -> Expr:
        """Here a run may stop."""
        return all_(s.done[g] for g in PodGroup)

    @m.possible
    def every_group_can_finish() -> Expr:
        """From every reachable state all groups can run to their end (K1)."""
        return all_(s.done[g] for g in PodGroup)

    @m.leads_to(fairness=[m.progress(), *(weak(each(a)) for a in repair)])
    def every_complete_gang_finishes(g: PodGroup) -> tuple[Expr, Expr]:
        """A group of which minCount pods are seen finishes at last, if only a run never stops while something can
        happen, and odd pods are replaced (K1)."""
        return s.seen[g] >= s.min_count, s.done[g]

    @m.sometimes
    def all_groups_finish() -> Expr:
        """There is a run in which every group finishes (K1)."""
        return all_(s.done[g] for g in PodGroup)

"""What must hold of the current edition, and what must be reachable so that it says something."""

from __future__ import annotations

from model.language import Expr, Machine, after, all_, among, any_, count_, implies, ite, sum_
from specs.yunikorn.current.groups import Group
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.current.state import (
    OVER,
    App,
    Core,
    Member,
    Node,
    Placeholder,
    Queue,
    Reason,
    Shim,
    State,
    Task,
    Timer,
)


def declare_usage(m: Machine, s: State) -> None:
    """What is counted as used is what is used."""
    scope = s.scope

    @m.always
    def node_usage_is_what_is_on_it() -> Expr:
        """A node counts the units of what is on it, and what a removal has still to take off it (YUNIKORN-1712,
        YUNIKORN-854)."""
        return all_(s.node_used[n] == s.on_node(n) + s.due_node[n] for n in Node)

    @m.always
    def queue_usage_is_what_its_applications_hold() -> Expr:
        """A leaf queue and its parent count what applications hold, and what a removal has still to give back
        (YUNIKORN-567, YUNIKORN-1993)."""
        return all_(
            s.leaf_used[q] == sum_(ite(s.in_leaf(a, q), s.holds(a) + s.due_queue[a], 0) for a in App) for q in Queue
        ) & (s.parent_used == sum_(s.leaf_used[q] for q in Queue))

    @m.always
    def user_usage_is_what_applications_hold() -> Expr:
        """The user's usage, placeholders too, is what the applications hold (YUNIKORN-3380)."""
        return s.user_used == sum_(s.holds(a) for a in App)

    @m.always
    def node_capacity() -> Expr:
        """No node has more than its capacity, of units and of memory, real pods that are parked on it included
        (Y18)."""
        units = all_(s.node_used[n] <= scope.capacity for n in Node)
        return units & all_(s.memory_used(n) <= scope.memory for n in Node) if scope.memory else units

    if scope.node_removals:

        @m.always
        def lost_nodes_are_empty() -> Expr:
            """Nothing is allocated or parked on a node that is gone (YUNIKORN-854)."""
            return all_(implies(s.lost[n], s.on_node(n) == 0) for n in Node)

    @m.always
    def quota_on_every_level() -> Expr:
        """No leaf, parent or root queue has more than its maximum; the root's is the size of all nodes (Y5, Y11,
        YUNIKORN-2171)."""
        return (
            all_(s.leaf_used[q] <= (scope.leaf_quota or scope.quota) for q in Queue)
            & (s.parent_used <= scope.quota)
            & (s.parent_used <= s.total)
        )

    if scope.user_limit:

        @m.always
        def user_within_limit() -> Expr:
            """The applications of a user have no more than the limit that the configuration has for the user, in all
            leaf queues together (YUNIKORN-1920, YUNIKORN-2012)."""
            configured: Expr = scope.user_limit + scope.config_updates - s.config_updates
            return s.user_used <= configured

    if scope.autoscaler:

        @m.step
        def nodes_are_wanted_for_head_room() -> Expr:
            """What the autoscaler is told fits the head room of the parent queue (YUNIKORN-3148)."""
            return implies(after(s.wanted) > s.wanted, s.parent_used + after(s.wanted) <= scope.quota)


def declare_placeholders(m: Machine, s: State) -> None:
    """Each placeholder is released once, and each parked pod has one."""
    scope = s.scope

    if scope.replaceable:

        @m.always
        def parked_pod_has_its_placeholder() -> Expr:
            """A real pod is parked behind one allocated placeholder, which is released for it (Y17, Y19,
            YUNIKORN-854)."""
            return all_(
                implies(
                    s.has_link(a, p), (s.placeholder[a, p] == Placeholder.ALLOCATED) & (s.mark[a, p] == Reason.REPLACED)
                )
                & (count_(s.linked[a, p, k] for k in Node) <= 1)
                for a in App
                for p in Member
            )

    @m.always
    def core_does_not_crash() -> Expr:
        """No confirmation finds the core without what it takes for granted (YUNIKORN-528, YUNIKORN-3379)."""
        return ~s.crashed

    @m.step
    def confirmations_are_not_echoed() -> Expr:
        """Of a placeholder that the shim says is gone the shim is not told (YUNIKORN-2025)."""
        return all_(
            implies(
                among(s.confirm[a, p], Reason.TIMEOUT, Reason.PREEMPTED)
                & (after(s.confirm[a, p]) == Reason.NONE)
                & (s.release[a, p] == Reason.NONE),
                after(s.release[a, p]) == Reason.NONE,
            )
            for a in App
            for p in Member
        )

    if scope.preemptions:

        @m.step
        def victims_are_preempted_once() -> Expr:
            """Each preemption takes a placeholder that nobody wants back yet (YUNIKORN-3003)."""
            return implies(
                after(s.preemptions) < s.preemptions,
                any_(
                    (s.mark[a, p] == Reason.NONE) & (after(s.mark[a, p]) == Reason.PREEMPTED)
                    for a in App
                    for p in Member
                ),
            )

    @m.step
    def released_for_one_reason() -> Expr:
        """A placeholder that is released or preempted keeps that reason until it is gone (Y19, YUNIKORN-3188)."""
        restarts = False if not scope.restarts else after(s.restarts) != s.restarts
        return all_(
            implies(
                s.mark[a, p] != Reason.NONE,
                (after(s.mark[a, p]) == s.mark[a, p]) | (after(s.placeholder[a, p]) == Placeholder.GONE) | restarts,
            )
            for a in App
            for p in Member
        )

    @m.always
    def group_counters_add_up() -> Expr:
        """Of the placeholders that a task group asked for each is pending, allocated, replaced or timed out. What was
        pending when its application was removed is not counted (Y15, YUNIKORN-2953)."""
        return all_(
            s.removed[a] | (s.count[a, g] == counted(s, a, g) + s.pending_placeholders(a, g))
            for a in App
            for g in s.groups.each()
        )

    @m.step
    def placeholders_that_go_are_counted() -> Expr:
        """An allocated placeholder that goes is replaced or timed out, also if all go with their application
        (YUNIKORN-2926)."""
        restarts = False if not scope.restarts else after(s.restarts) != s.restarts
        return all_(
            implies(after(s.allocated(a, g)) < s.allocated(a, g), after(counted(s, a, g)) >= counted(s, a, g))
            | restarts
            for a in App
            for g in s.groups.each()
        )

    @m.always
    def real_pods_are_counted_once() -> Expr:
        """Every real pod is in the shim, pending, parked, allocated or has ended (Y16, Y29)."""
        return all_(
            s.unsubmitted[a] + s.real_asks[a] + s.parked(a) + s.running_pods(a) + s.ended[a] == scope.all_reals
            for a in App
        )

    @m.always
    def gone_pods_are_released() -> Expr:
        """The core has no placeholder allocation whose pod is gone, but for one that a message will take away
        (YUNIKORN-677)."""
        return all_(
            implies(
                among(s.task[a, p], Task.COMPLETED, Task.FAILED)
                & among(s.placeholder[a, p], Placeholder.PENDING, Placeholder.ALLOCATED),
                (s.confirm[a, p] != Reason.NONE) | s.told[a, p],
            )
            for a in App
            for p in Member
        )


def counted(s: State, a: App, g: Group | None) -> Expr:
    """Placeholders of a task group that are allocated, or were and are counted as gone, or timed out before they
    were."""
    return s.replaced[a, g] + s.timed_out[a, g] + s.allocated(a, g)


def declare_gangs(m: Machine, s: State) -> None:
    """All or nothing, and the states of applications."""

    @m.step
    def real_pods_wait_for_the_gang() -> Expr:
        """The shim submits a real pod only when every placeholder is bound or was, or the reservation has timed out or
        lost a placeholder (Y1, Y14, YUNIKORN-1197)."""
        gone = (Task.COMPLETED, Task.FAILED)
        return all_(
            implies(
                (after(s.unsubmitted[a]) < s.unsubmitted[a]) & (after(s.ended[a]) == s.ended[a]),
                all_(s.task[a, p] == Task.BOUND for p in Member)
                | any_(among(s.task[a, p], *gone) for p in Member)
                | s.late[a],
            )
            for a in App
        )

    @m.always
    def running_application_has_its_gang() -> Expr:
        """An application with a real pod allocated is Running, and one that is Accepted has none (Y14, Y20,
        YUNIKORN-582, YUNIKORN-1900)."""
        return all_(
            implies(s.running_pods(a) > 0, among(s.core[a], Core.RUNNING, Core.FAILING) | s.removed[a]) for a in App
        )

    @m.always
    def running_applications_are_counted() -> Expr:
        """The queue's running applications are those that are Running (YUNIKORN-1919)."""
        return s.running_apps == count_(s.core[a] == Core.RUNNING for a in App)

    if s.scope.max_apps:

        @m.always
        def running_applications_within_limit() -> Expr:
            """No more applications run than maxapplications, those counted that are Accepted and hold something
            (YUNIKORN-1986)."""
            return count_((s.core[a] == Core.RUNNING) | s.allocating[a] for a in App) <= s.scope.max_apps

    @m.step
    def accepted_application_keeps_its_placeholders() -> Expr:
        """An Accepted application completes only when no placeholder of it is allocated (Y20, YUNIKORN-1205)."""
        return all_(
            implies(
                (s.core[a] != Core.COMPLETING) & (after(s.core[a]) == Core.COMPLETING) & ~after(s.removed[a]),
                (s.core[a] == Core.RUNNING) | (after(s.allocated(a)) == 0),
            )
            for a in App
        )

    @m.always
    def completing_application_is_idle() -> Expr:
        """A completing application has nothing pending, and no real pod allocated or parked (Y20, YUNIKORN-1900)."""
        return all_(implies(s.core[a] == Core.COMPLETING, s.idle(a) & (s.parked(a) == 0)) for a in App)

    @m.always
    def no_pod_outlives_its_application() -> Expr:
        """The shim has no placeholder pod of an application that has completed, failed or was killed (Y26, Y27,
        YUNIKORN-521)."""
        return all_(
            implies(
                among(s.shim[a], Shim.COMPLETED, Shim.FAILED, Shim.KILLING, Shim.KILLED),
                among(s.task[a, p], Task.NEW, Task.COMPLETED, Task.FAILED),
            )
            for a in App
            for p in Member
        )

    @m.step
    def ends_are_final() -> Expr:
        """A terminated application only expires (Y27, YUNIKORN-1555)."""
        return all_(implies(among(s.core[a], *OVER), among(after(s.core[a]), s.core[a], Core.EXPIRED)) for a in App)

    @m.always
    def terminal_holds_nothing() -> Expr:
        """What has left its queue has nothing allocated, pending or parked, and no timer (Y26, YUNIKORN-574,
        YUNIKORN-724)."""
        return all_(
            implies(
                s.over(a),
                (s.holds(a) == 0)
                & (s.parked(a) == 0)
                & (s.real_asks[a] == 0)
                & (s.pending_placeholders(a) == 0)
                & (s.placeholder_timer[a] != Timer.ON)
                & ~s.completing_timer[a],
            )
            for a in App
        )


def declare_admission(m: Machine, s: State) -> None:
    """Which gangs the core takes, and where a run may stop."""

    @m.terminal
    def all_over() -> Expr:
        """Every application is over, and every real pod has ended."""
        return all_(s.over(a) for a in App)

    @m.always
    def oversized_gangs_are_rejected() -> Expr:
        """An application whose placeholderAsk is larger than a maximum on its path is not accepted (Y5)."""
        return all_(
            implies(
                s.core[a] != Core.NEW,
                among(s.core[a], Core.REJECTED, Core.EXPIRED) if s.scope.oversized else s.core[a] != Core.REJECTED,
            )
            for a in App
        )


def declare_rejection(m: Machine, s: State) -> None:
    """For gangs that are larger than their queue."""

    @m.leads_to(fairness=[m.progress()])
    def rejected_application_fails(a: App) -> tuple[Expr, Expr]:
        """The pods of a rejected application fail; they do not wait (YUNIKORN-1704)."""
        return s.core[a] == Core.REJECTED, s.shim[a] == Shim.FAILED


def declare_timeouts(m: Machine, s: State) -> None:
    """What the placeholder timeout may touch."""

    if s.scope.style is Style.SOFT:

        @m.always
        def only_placeholders_time_out() -> Expr:
            """Soft: the placeholder timeout takes no real pod, neither allocated nor pending (Y23, Y24)."""
            return all_(~s.real_timed_out[a] for a in App)

    if s.scope.can_time_out:

        @m.always
        def reservation_ends_with_its_time() -> Expr:
            """Once the timeout is heard of nothing is reserved any more, also after a restart (Y23, YUNIKORN-3332)."""
            return all_(implies(s.late[a] & s.updates[a].is_empty(), s.shim[a] != Shim.RESERVING) for a in App)

    @m.always
    def no_reservation_beside_real_pods() -> Expr:
        """Placeholders are reserved only as long as no real pod was started (Y12, YUNIKORN-686)."""
        return all_(implies(s.shim[a] == Shim.RESERVING, s.running_pods(a) == 0) for a in App)

    if s.scope.style is Style.HARD:

        @m.always
        def failing_application_asks_for_nothing() -> Expr:
            """An application that fails has no placeholder ask left to be scheduled (Y24, YUNIKORN-577)."""
            return all_(implies(s.core[a] == Core.FAILING, s.pending_placeholders(a) == 0) for a in App)

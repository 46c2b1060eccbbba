"""What the environment does: pods are deleted, binds fail, placeholders are preempted, nodes and applications removed,
and the scheduler restarts. Each may happen a few times only."""

from __future__ import annotations

from model.language import Machine, among, count_, ite, require, sum_, when
from specs.yunikorn.current.moves import (
    after_last_placeholder,
    after_replacement,
    by_complete,
    ends_with_last_placeholder,
    ends_with_last_pod,
    forget,
    move,
)
from specs.yunikorn.current.recovery import declare_restart
from specs.yunikorn.current.state import (
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
    least,
)


def declare_events(m: Machine, s: State) -> None:
    """All that the parameters allow."""
    scope = s.scope
    if scope.deletions:
        _declare_deletion(m, s)
    if scope.bind_failures:
        _declare_bind_failure(m, s)
    if scope.preemptions:
        _declare_preemption(m, s)
    if scope.node_removals:
        _declare_node_removal(m, s)
    if scope.app_removals:
        _declare_app_removal(m, s)
    if scope.restarts:
        declare_restart(m, s)
    if scope.config_updates:
        _declare_config_update(m, s)
    if scope.autoscaler:
        _declare_autoscaler(m, s)


def _declare_deletion(m: Machine, s: State) -> None:
    @m.action
    def delete_placeholder_pod(a: App, p: Member) -> None:
        """Somebody deletes the pod of a placeholder. The shim tells the core, which may be allocating it
        (YUNIKORN-677, YUNIKORN-1205, YUNIKORN-1337)."""
        require(s.deletions > 0, among(s.task[a, p], Task.SCHEDULING, Task.ALLOCATED, Task.BOUND))
        s.deletions.next -= 1
        s.task[a, p] = Task.COMPLETED
        s.confirm[a, p] = Reason.STOPPED


def _declare_bind_failure(m: Machine, s: State) -> None:
    @m.action
    def fail_to_bind(a: App, p: Member) -> None:
        """The pod of an allocated placeholder cannot be bound: the task fails, and the core takes the allocation back
        (YUNIKORN-2884, YUNIKORN-3316)."""
        require(s.bind_failures > 0, s.task[a, p] == Task.ALLOCATED)
        s.bind_failures.next -= 1
        s.task[a, p] = Task.FAILED
        s.confirm[a, p] = Reason.STOPPED


def _declare_preemption(m: Machine, s: State) -> None:
    @m.action
    def preempt_placeholder(a: App, p: Member) -> None:
        """A placeholder is the victim of an ask elsewhere; nobody preempts what is released or preempted already
        (YUNIKORN-3188)."""
        require(s.preemptions > 0, s.placeholder[a, p] == Placeholder.ALLOCATED, s.mark[a, p] == Reason.NONE)
        s.preemptions.next -= 1
        s.mark[a, p] = Reason.PREEMPTED
        s.release[a, p] = Reason.PREEMPTED


def _declare_node_removal(m: Machine, s: State) -> None:
    scope = s.scope
    less = scope.placeholder - scope.real

    @m.action
    def remove_node(n: Node) -> None:
        """A node goes: the scheduling cycle no longer sees it, and its allocations are removed one by one
        (YUNIKORN-2171)."""
        require(s.node_removals > 0, s.serves(n), ~s.removing())
        s.node_removals.next -= 1
        s.leaving[n] = True

    @m.action
    def remove_placeholder_of_node(a: App, p: Member, n: Node) -> None:
        """A placeholder on the node is removed. A real pod parked behind it on this node is pending again; one on
        another node is allocated at once (YUNIKORN-854)."""
        require(s.leaving[n], s.placed[a, p, n])
        here = s.linked[a, p, n]
        elsewhere = s.has_link(a, p) & ~here
        left = after_last_placeholder(s, a, ends_with_last_placeholder(s, a, here))
        move(s, a, ite(elsewhere, after_replacement(s, a, left), left), Core.COMPLETED, Core.FAILED, through=left)
        forget(s, a, p)
        s.placed[a, p, n] = False
        s.real_asks.add(a, p, ite(here, 1, 0))
        for k in Node:
            s.reals[a, k] += ite((k != n) & s.linked[a, p, k], 1, 0)
            s.linked[a, p, k] = False
        s.replaced.add(a, p, ite(elsewhere, 1, 0))
        s.timed_out.add(a, p, ite(elsewhere, 0, 1))
        # its pod is gone with the node, whatever the shim was asked to do
        s.release[a, p] = Reason.STOPPED
        s.user_used.next -= ite(elsewhere, less, scope.placeholder)
        s.parent_used.next -= ite(elsewhere, less, scope.placeholder)
        for q in Queue:
            with when(s.in_leaf(a, q)):
                s.leaf_used[q] -= ite(elsewhere, less, scope.placeholder)
        s.node_used[n] -= scope.placeholder

    @m.action
    def remove_real_pod_of_node(a: App, n: Node) -> None:
        """A real pod on the node is removed: it has failed (YUNIKORN-2171)."""
        require(s.leaving[n], s.reals[a, n] > 0)
        move(s, a, ite(ends_with_last_pod(s, a), by_complete(s.core[a]), s.core[a]))
        s.reals[a, n] -= 1
        s.ended[a] += 1
        s.user_used.next -= scope.real
        s.parent_used.next -= scope.real
        for q in Queue:
            with when(s.in_leaf(a, q)):
                s.leaf_used[q] -= scope.real
        s.node_used[n] -= scope.real

    if scope.nodes > 1:

        @m.action
        def unpark_real_pod_of_node(a: App, p: Member, n: Node) -> None:
            """A real pod that is parked on the node, its placeholder elsewhere: its ask is pending again; the
            placeholder stays released (YUNIKORN-854)."""
            require(s.leaving[n], s.linked[a, p, n], ~s.placed[a, p, n])
            s.linked[a, p, n] = False
            s.real_asks.add(a, p, 1)
            s.node_used[n] -= scope.real

    @m.action
    def node_removed(n: Node) -> None:
        """Nothing is left on the node: the root queue's maximum shrinks, and not before (YUNIKORN-2171)."""
        require(s.leaving[n], s.on_node(n) == 0)
        s.leaving[n] = False
        s.lost[n] = True
        s.total.next -= scope.capacity


def _declare_app_removal(m: Machine, s: State) -> None:
    scope = s.scope

    @m.action
    def remove_application(a: App) -> None:
        """The shim kills an application: asks, then allocations are removed, real ones and placeholders, which count as
        timed out; their asks do not (YUNIKORN-567, YUNIKORN-2926, YUNIKORN-3380)."""
        require(s.app_removals > 0, among(s.shim[a], Shim.ACCEPTED, Shim.RESERVING, Shim.RUNNING))
        require(~s.removing(), ~s.over(a), s.updates[a].is_empty())
        s.app_removals.next -= 1
        s.shim[a] = Shim.KILLING
        s.removed[a] = True
        state = s.core[a]
        done = among(state, Core.ACCEPTED, Core.RUNNING, Core.COMPLETING)
        s.core[a] = ite(done, by_complete(state), state)
        s.completing_timer[a] = False
        s.running_apps.next -= ite(state == Core.RUNNING, 1, 0)
        s.allocating[a] = False
        s.placeholder_timer[a] = Timer.OFF
        s.parent_used.next -= s.holds(a)
        for q in Queue:
            with when(s.in_leaf(a, q)):
                s.leaf_used[q] -= s.holds(a)
        s.user_used.next -= s.holds(a)
        for n in Node:
            s.node_used[n] -= (
                scope.placeholder * count_(s.placed[a, p, n] for p in Member)
                + scope.real * s.reals[a, n]
                + scope.real * count_(s.linked[a, p, n] & ~s.placed[a, p, n] for p in Member)
            )
        for g in s.groups.each():
            s.timed_out[a, g] += s.allocated(a, g)
        s.ended[a] += s.unsubmitted[a] + s.real_asks[a] + s.parked(a) + s.running_pods(a)
        s.unsubmitted[a] = 0
        s.real_asks[a] = 0
        for n in Node:
            s.reals[a, n] = 0
        for p in Member:
            kept = s.placeholder[a, p] == Placeholder.NONE
            s.placeholder[a, p] = ite(kept, Placeholder.NONE, Placeholder.GONE)
            s.mark[a, p] = Reason.NONE
            if s.forgotten is not None:
                s.forgotten[a, p] = False
            s.asked[a, p] = False
            s.told[a, p] = False
            s.release[a, p] = Reason.NONE
            s.confirm[a, p] = Reason.NONE
            s.task[a, p] = ite(s.task[a, p] == Task.NEW, Task.NEW, Task.COMPLETED)
            for n in Node:
                s.placed[a, p, n] = False
                s.linked[a, p, n] = False

    @m.action
    def killed(a: App) -> None:
        """All pods of a killed application are gone (YUNIKORN-567)."""
        require(s.shim[a] == Shim.KILLING)
        s.shim[a] = Shim.KILLED


def _declare_config_update(m: Machine, s: State) -> None:
    @m.action
    def update_configuration() -> None:
        """The configuration is read anew: it has one unit more for the user, which counts at once (YUNIKORN-2012)."""
        require(s.config_updates > 0)
        s.config_updates.next -= 1
        s.limit.next = s.limit + 1


def _declare_autoscaler(m: Machine, s: State) -> None:
    @m.action
    def tell_autoscaler() -> None:
        """The autoscaler is told for which asks nodes are wanted: those for which the queues have head room, what one
        leaf takes of the parent's being lost to the others (YUNIKORN-3148)."""
        asks = sum_(s.outstanding(q) for q in Queue)
        s.wanted.next = least(asks, s.scope.quota - s.parent_used)

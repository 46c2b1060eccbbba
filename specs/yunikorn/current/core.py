"""Actions of the core: the scheduling cycle, and what it does with the shim's confirmations."""

from __future__ import annotations

from model.language import Expr, Machine, Operand, among, any_, count_, ite, require, when
from model.language.expressions import lift
from specs.yunikorn.current.moves import (
    after_last_placeholder,
    after_replacement,
    by_complete,
    by_run,
    ends_with_last_placeholder,
    ends_with_last_pod,
    forget,
    idle_for_good,
    leave,
    leave_node,
    move,
    use,
)
from specs.yunikorn.current.state import (
    OVER,
    App,
    Core,
    Member,
    Node,
    Placeholder,
    Queue,
    Reason,
    State,
    Timer,
)


def declare_cycle(m: Machine, s: State) -> None:
    """One scheduling cycle: it finds one allocation or one replacement.

    Node predicates may refuse anything for reasons that are not modelled, so any fitting choice is possible.
    """
    scope = s.scope

    def may_run(a: App) -> Expr:
        """canRunApp, asked for Accepted applications only."""
        others = s.running_apps + sum_allocating(s)
        return (s.core[a] != Core.ACCEPTED) | s.allocating[a] | (others + 1 <= scope.max_apps)

    @m.action
    def allocate_placeholder(a: App, p: Member, n: Node) -> None:
        """A placeholder ask is scheduled like any ask, one by one: no gate waits until the whole gang fits. The first
        one starts the timer; with the last one, all of placeholderAsk, the application runs (Y3, Y8, Y9, Y13, Y22)."""
        require(s.placeholder[a, p] == Placeholder.PENDING, ~s.over(a), s.fits_node(n, scope.placeholder_size))
        require(*s.fits_queues(a, scope.placeholder))
        if scope.max_apps:
            require(may_run(a))
        first, last = s.allocated(a) == 0, s.allocated(a) + 1 == scope.size
        # with the repairs also of an application that was completing before its other asks came
        waits = among(s.core[a], Core.ACCEPTED, Core.RUNNING) if scope.repaired else s.core[a] == Core.ACCEPTED
        starts = first & waits & (s.placeholder_timer[a] == Timer.OFF)
        move(s, a, ite(last, by_run(s.core[a]), s.core[a]), allocates=True)
        s.placeholder_timer[a] = ite(starts, Timer.ON, s.placeholder_timer[a])
        s.placeholder[a, p] = Placeholder.ALLOCATED
        s.placed[a, p, n] = True
        s.told[a, p] = True
        use(s, a, n, scope.placeholder)

    if scope.replaceable:

        @m.action
        def replace_on_same_node(a: App, p: Member, n: Node) -> None:
            """A real ask finds a placeholder of its task group that nobody wants back, and its node takes the pod: the
            ask is parked behind it, and the shim is asked to release it. The state of the application is not looked at
            (Y14, Y15, Y16, Y17)."""
            require(s.real_asks.of(a, p) > 0, s.placed[a, p, n], s.mark[a, p] == Reason.NONE, s.serves(n))
            require(~s.over(a))
            s.real_asks.take(a, p)
            s.linked[a, p, n] = True
            s.mark[a, p] = Reason.REPLACED
            s.release[a, p] = Reason.REPLACED

        if scope.nodes > 1:

            @m.action
            def replace_on_other_node(a: App, p: Member, n: Node, k: Node) -> None:
                """No placeholder's node takes the pod (ports, affinity, a cordon), but another node does, which has
                none of them: it has the pod from now on, before the confirmation; the queue does not count it yet (Y16,
                Y17, Y18)."""
                require(s.real_asks.of(a, p) > 0, s.placed[a, p, n], s.mark[a, p] == Reason.NONE, n != k)
                require(s.fits_node(k, scope.real_size), ~s.over(a), ~has_free_placeholder(s, a, p, k))
                s.real_asks.take(a, p)
                s.linked[a, p, k] = True
                s.node_used[k] += scope.real
                s.mark[a, p] = Reason.REPLACED
                s.release[a, p] = Reason.REPLACED

    else:

        @m.action
        def cancel_smaller_placeholder(a: App, p: Member) -> None:
            """A real ask is larger than the placeholder, so no placeholder of the group can be used: it is released
            as timed out (Y16, Y24)."""
            require(s.real_asks.of(a, p) > 0, s.placeholder[a, p] == Placeholder.ALLOCATED, s.mark[a, p] == Reason.NONE)
            s.mark[a, p] = Reason.TIMEOUT
            s.release[a, p] = Reason.TIMEOUT

    if scope.some_pod_has_no_placeholder:

        @m.action
        def allocate_real(a: App, n: Node) -> None:
            """The normal path, once by the counters of the group no placeholder is left (Y16)."""
            g = s.groups.chosen()
            require(s.real_asks[a, g] > 0, ~s.can_replace(a, g), ~s.over(a), s.fits_node(n, scope.real_size))
            require(*s.fits_queues(a, scope.real))
            if scope.max_apps:
                require(may_run(a))
            move(s, a, by_run(s.core[a]), allocates=True)
            s.real_asks[a, g] -= 1
            s.reals[a, n] += 1
            use(s, a, n, scope.real)


def has_free_placeholder(s: State, a: App, p: Member, n: Node) -> Expr:
    """Whether a placeholder of the group of ``p`` is on the node that nobody wants back."""
    return any_(s.groups.alike(p, q) & s.placed[a, q, n] & (s.mark[a, q] == Reason.NONE) for q in Member)


def sum_allocating(s: State) -> Expr:
    """allocatingAcceptedApps: Accepted applications that hold something, which count as running."""
    return count_(s.allocating[b] for b in App)


def handled(s: State, a: App, p: Member, *reasons: Reason) -> Expr:
    """Whether the core can handle a confirmation with one of ``reasons`` now."""
    return among(s.confirm[a, p], *reasons) & ~s.asked[a, p] & ~s.removing()


def swap_on_same_node(s: State, a: App, p: Member, n: Node) -> None:
    """The real pod takes the place of its placeholder, whatever that means for the application's state."""
    swap(s, a, p)
    s.placed[a, p, n] = False
    s.linked[a, p, n] = False
    s.reals[a, n] += 1
    if s.scope.placeholder_size != s.scope.real_size:
        leave(s, a, n, s.scope.placeholder_size - s.scope.real_size)


def read_parked(s: State, a: App, p: Member, reads: Operand = True) -> None:
    """The core ``reads`` the placeholder of a confirmed replacement, and the real pod that is parked behind it: where
    one of them is not there it crashes."""
    there = (s.placeholder[a, p] == Placeholder.ALLOCATED) & s.has_link(a, p)
    s.crashed.next = s.crashed | (lift(reads) & ~there)


def move_by_replacement(s: State, a: App) -> None:
    """The placeholder's removal may change the state, and then the allocation of the real pod."""
    left = left_by_placeholder(s, a)
    move(s, a, after_replacement(s, a, left), Core.COMPLETED, Core.FAILED, through=left)


def swap(s: State, a: App, p: Member) -> None:
    """The placeholder goes, and the real pod that is parked behind it is allocated."""
    read_parked(s, a, p)
    forget(s, a, p)
    s.confirm[a, p] = Reason.NONE
    s.replaced.add(a, p, 1)
    s.user_used.next += s.scope.real - s.scope.placeholder


def replaced_by_nothing(s: State, a: App, p: Member, n: Node, finds: Operand) -> None:
    """The confirmation of a replacement without a real pod, of which only the placeholder goes. What of the pod is to
    be read is read if it ``finds`` one."""
    require(handled(s, a, p, Reason.REPLACED), s.placed[a, p, n], ~s.has_link(a, p))
    move(s, a, left_by_placeholder(s, a), Core.COMPLETED, Core.FAILED)
    read_parked(s, a, p, finds)
    forget(s, a, p)
    s.confirm[a, p] = Reason.NONE
    s.placed[a, p, n] = False
    s.replaced.add(a, p, 1)
    s.user_used.next -= s.scope.placeholder
    leave(s, a, n, s.scope.placeholder_size)


def found_no_more(s: State, a: App, p: Member, finds: Operand) -> None:
    """A confirmation for a placeholder that the core has no more. If it ``finds`` one that is replaced, it goes on to
    read the real pod."""
    require(s.confirm[a, p] != Reason.NONE, ~s.asked[a, p], ~s.removing())
    require(~among(s.placeholder[a, p], Placeholder.PENDING, Placeholder.ALLOCATED))
    read_parked(s, a, p, (s.confirm[a, p] == Reason.REPLACED) & finds)
    s.confirm[a, p] = Reason.NONE


def left_by_placeholder(s: State, a: App) -> Expr:
    """The state after a placeholder allocation is removed: with the last one it may change."""
    return after_last_placeholder(s, a, ends_with_last_placeholder(s, a))


def removed(s: State, a: App, p: Member, n: Node) -> None:
    """The confirmation that a placeholder is gone which nothing replaces."""
    scope = s.scope
    require(handled(s, a, p, Reason.TIMEOUT, Reason.PREEMPTED, Reason.STOPPED), s.placed[a, p, n])
    failed = (s.core[a] == Core.FAILING) & (s.allocated(a) == 1)
    move(s, a, left_by_placeholder(s, a), Core.COMPLETED, Core.FAILED)
    if scope.adversary:
        unpark(s, a, p, failed)
    if scope.loses_placeholders:
        known = True if s.forgotten is None else ~s.forgotten[a, p]
        s.due_ask[a] = (s.confirm[a, p] != Reason.TIMEOUT) & known
    forget(s, a, p)
    s.confirm[a, p] = Reason.NONE
    s.placed[a, p, n] = False
    s.timed_out.add(a, p, 1)
    s.user_used.next -= scope.placeholder
    leave(s, a, n, scope.placeholder_size)


def nothing_else(s: State, a: App) -> Expr:
    """Whether a placeholder ask is the last thing that the application has, but for allocated placeholders."""
    return (s.pending_placeholders(a) == 1) & (s.real_asks[a] == 0) & (s.running_pods(a) == 0)


def ask_removed(s: State, a: App, p: Member, last: Expr) -> None:
    """The confirmation that a pending placeholder is gone; with the ``last`` of what it has an application
    completes."""
    require(handled(s, a, p, Reason.STOPPED), s.placeholder[a, p] == Placeholder.PENDING)
    done = last & ~among(s.core[a], Core.FAILING, Core.COMPLETING)
    move(s, a, ite(done, by_complete(s.core[a]), s.core[a]))
    s.placeholder[a, p] = Placeholder.GONE
    s.confirm[a, p] = Reason.NONE
    if s.scope.repaired:
        s.timed_out.add(a, p, 1)


def unpark(s: State, a: App, p: Member, failed: Expr) -> None:
    """What an application that has failed asked for fails with it. The real pod that is parked behind a placeholder
    that is gone for another reason should be pending again; that it is not is a finding."""
    parked = ite(s.has_link(a, p), 1, 0) if s.scope.repaired else 0
    s.ended[a] += ite(failed, s.real_asks[a] + parked, 0)
    for g in s.groups.each():
        own = ite(s.groups.has(g, p), parked, 0) if s.groups.several else parked
        s.real_asks[a, g] = ite(failed, 0, s.real_asks[a, g] + own)
    if not s.scope.repaired:
        return
    for k in Node:
        s.node_used[k] -= ite(s.linked[a, p, k] & ~s.placed[a, p, k], s.scope.real, 0)
        s.linked[a, p, k] = False


def declare_confirmations(m: Machine, s: State) -> None:
    """The shim has released a placeholder. One goroutine handles what the shim says: the application first, then the
    node, then the queue."""
    scope = s.scope
    less = scope.placeholder - scope.real

    if scope.replaceable:

        @m.action
        def confirm_on_same_node(a: App, p: Member, n: Node) -> None:
            """The real pod takes the place of its placeholder; what it does not need goes back (Y18, Y19)."""
            require(handled(s, a, p, Reason.REPLACED), s.placed[a, p, n], s.linked[a, p, n])
            move_by_replacement(s, a)
            swap_on_same_node(s, a, p, n)

        if scope.nodes > 1:

            @m.action
            def confirm_on_other_node(a: App, p: Member, n: Node, k: Node) -> None:
                """The placeholder leaves its node; the real pod is on the other one already (Y18, Y19)."""
                require(handled(s, a, p, Reason.REPLACED), s.placed[a, p, n], s.linked[a, p, k], n != k)
                move_by_replacement(s, a)
                swap(s, a, p)
                s.placed[a, p, n] = False
                s.linked[a, p, k] = False
                s.reals[a, k] += 1
                leave_node(s, n, scope.placeholder_size)
                if less:
                    s.due_queue[a] += less

        if scope.node_removals and scope.nodes > 1:

            @m.action
            def confirm_without_real_pod(a: App, p: Member, n: Node) -> None:
                """The node of the real pod is gone, and the pod no longer parked: the placeholder is removed, if the
                core gets over that nothing replaces it (YUNIKORN-3379)."""
                replaced_by_nothing(s, a, p, n, s.has_link(a, p) if scope.repaired else True)

    @m.action
    def confirm_removal(a: App, p: Member, n: Node) -> None:
        """A placeholder that nothing replaces is gone. With the last one an application that fails has failed, one
        that resumes is Accepted, and one that is done completes (Y25, Y26)."""
        removed(s, a, p, n)

    if scope.deletions:

        @m.action
        def confirm_ask_removal(a: App, p: Member) -> None:
            """The pod of a pending placeholder is gone, and so is its ask; the counters of the group do not change
            (Y25)."""
            ask_removed(s, a, p, nothing_else(s, a) & (s.allocated(a) == 0))

    if scope.can_time_out or scope.duplicates:

        @m.action
        def ignore_confirmation(a: App, p: Member) -> None:
            """The core has no such placeholder: it is gone already, or its ask was dropped (YUNIKORN-528)."""
            found_no_more(s, a, p, s.placeholder[a, p] == Placeholder.ALLOCATED)

    @m.action
    def node_step(n: Node) -> None:
        """The second step of a removal: the node gives the units back (YUNIKORN-1712)."""
        require(s.is_due(n))
        s.node_used[n] -= s.due_node[n]
        s.due_node[n] = 0
        if s.due_memory is not None:
            s.due_memory[n] = 0

    @m.action
    def queue_step(a: App) -> None:
        """The third step of a removal: so does the queue, which was looked up before the application could leave it
        (YUNIKORN-1993)."""
        require(s.due_queue[a] > 0, s.no_node_due())
        for q in Queue:
            with when(s.in_leaf(a, q)):
                s.leaf_used[q] -= s.due_queue[a]
        s.parent_used.next -= s.due_queue[a]
        s.due_queue[a] = 0

    if scope.loses_placeholders:

        @m.action
        def ask_step(a: App) -> None:
            """After a removal that is no timeout the placeholder's ask goes, too: with nothing left an application that
            is Accepted completes, and one that is Completing stays so (YUNIKORN-724). Where a placeholder timeout has
            dropped all asks there is none to go, and the application stays what it is."""
            require(s.due_ask[a], s.due_queue[a] == 0, s.no_node_due())
            done = idle_for_good(s, a) & (s.allocated(a) == 0) & (s.core[a] != Core.COMPLETING)
            move(s, a, ite(done, by_complete(s.core[a]), s.core[a]))
            s.due_ask[a] = False


def declare_pods(m: Machine, s: State) -> None:
    """Real pods come and end."""
    scope = s.scope

    @m.action
    def finish_pod(a: App, n: Node) -> None:
        """A real pod ends. With nothing allocated and nothing pending the application completes, after a while;
        placeholders, and pods parked behind them, do not count (Y20)."""
        require(s.reals[a, n] > 0, ~s.removing(), ~s.over(a))
        move(s, a, ite(ends_with_last_pod(s, a), by_complete(s.core[a]), s.core[a]))
        s.reals[a, n] -= 1
        s.ended[a] += 1
        s.user_used.next -= scope.real
        leave(s, a, n, scope.real_size)


def declare_expiry(m: Machine, s: State) -> None:
    """The last step of every application."""

    @m.action
    def expire(a: App) -> None:
        """Days later a terminated application is forgotten (Y28)."""
        require(among(s.core[a], *OVER[:-1]))
        s.core[a] = Core.EXPIRED

"""What the events of the core's application state machine lead to, and what leaving and entering a state does."""

from __future__ import annotations

from model.language import Expr, Operand, among, ite, when
from model.language.expressions import lift
from specs.yunikorn.current.parameters import Size
from specs.yunikorn.current.state import App, Core, Member, Node, Placeholder, Queue, Reason, State, Timer


def by_run(state: Expr) -> Expr:
    """After runApplication; where the table has no such edge, the event is refused and the state kept."""
    return ite(
        among(state, Core.NEW, Core.RESUMING),
        Core.ACCEPTED,
        ite(among(state, Core.ACCEPTED, Core.COMPLETING), Core.RUNNING, state),
    )


def by_complete(state: Expr) -> Expr:
    """After completeApplication."""
    return ite(
        among(state, Core.ACCEPTED, Core.RUNNING),
        Core.COMPLETING,
        ite(state == Core.COMPLETING, Core.COMPLETED, state),
    )


def by_fail(state: Expr) -> Expr:
    """After failApplication."""
    return ite(
        among(state, Core.NEW, Core.ACCEPTED, Core.RUNNING),
        Core.FAILING,
        ite(state == Core.FAILING, Core.FAILED, state),
    )


def by_resume(state: Expr) -> Expr:
    """After resumeApplication."""
    return ite(among(state, Core.NEW, Core.ACCEPTED), Core.RESUMING, state)


def move(s: State, a: App, new: Expr, *tells: Core, allocates: Operand = False, through: Expr | None = None) -> None:
    """The application goes to state ``new``: the timer of Completing, running applications, and the shim is told.

    ``tells``: states of which the shim is told. ``allocates``: something was allocated to it. While it is still
    Accepted it counts as running for the limit. ``through``: the state that it is in on its way, if there is one.
    """
    old = s.core[a]
    s.completing_timer[a] = (new == Core.COMPLETING) & (s.completing_timer[a] | (old != Core.COMPLETING))
    if s.scope.max_apps:
        # incRunningApps is guarded: it never counts more than the limit
        starts, stops = (old != Core.RUNNING) & (new == Core.RUNNING), (old == Core.RUNNING) & (new != Core.RUNNING)
        if through is not None:
            # counted out and in again: nothing changes, unless the count is wrong and there is nothing to take off
            again = (old == Core.RUNNING) & (through == Core.COMPLETING) & (new == Core.RUNNING)
            starts = starts | (again & (s.running_apps == 0))
        s.running_apps.next += ite(starts & (s.running_apps < s.scope.max_apps), 1, 0) - ite(
            stops & (s.running_apps > 0), 1, 0
        )
        gone = among(new, Core.RUNNING, Core.COMPLETED, Core.FAILED)
        s.allocating[a] = ~gone & (s.allocating[a] | ((new == Core.ACCEPTED) & allocates))
    else:
        s.running_apps.next += ite(new == Core.RUNNING, 1, 0) - ite((old == Core.RUNNING) & (s.running_apps > 0), 1, 0)
    for state in tells:
        with when((new == state) & (old != state)):
            s.updates[a].send(state=state)
    s.core[a] = new


def use(s: State, a: App, n: Node, units: int) -> None:
    """An allocation: node, queues and user count it."""
    s.node_used[n] += units
    for q in Queue:
        with when(s.in_leaf(a, q)):
            s.leaf_used[q] += units
    s.parent_used.next += units
    s.user_used.next += units


def leave(s: State, a: App, n: Node, pod: Size) -> None:
    """A removal: the node and then the queue are still to be told; see `node_step` and `queue_step`."""
    leave_node(s, n, pod)
    s.due_queue[a] += pod.units


def leave_node(s: State, n: Node, pod: Size) -> None:
    """A removal of which only the node is told."""
    s.due_node[n] += pod.units
    if s.due_memory is not None:
        s.due_memory[n] += pod.memory


def ends_with_last_placeholder(s: State, a: App, asks: Operand = False) -> Expr:
    """Whether a placeholder allocation is the last one, and its removal raises an event; ``asks``: a real ask is
    pending again by then."""
    state = s.core[a]
    done = ((state == Core.COMPLETING) & ~s.completing_timer[a]) | (s.idle(a) & ~lift(asks))
    if s.scope.repaired:
        done = done & (s.parked(a) == 0)
    return (s.allocated(a) == 1) & (done | among(state, Core.FAILING, Core.RESUMING))


def after_last_placeholder(s: State, a: App, ends: Expr) -> Expr:
    """The state after a placeholder allocation is removed; it changes only if that ``ends`` something."""
    state = s.core[a]
    failed_or_resumed = ite(state == Core.FAILING, Core.FAILED, Core.ACCEPTED)
    event = ite(among(state, Core.FAILING, Core.RESUMING), failed_or_resumed, by_complete(state))
    return ite(ends, event, state)


def after_replacement(s: State, a: App, left: Expr) -> Expr:
    """The state once a real pod is allocated that replaces a placeholder, whose removal has led to ``left``."""
    # the last placeholder's allocation made the application run, so the first replacement does not
    runs = (s.running_pods(a) > 0) | (left == Core.COMPLETING)
    if s.scope.repaired:
        # it may still be Accepted, where the reservation has lost a placeholder
        runs = runs | (left == Core.ACCEPTED)
    return ite(runs, by_run(left), left)


def idle_for_good(s: State, a: App) -> Expr:
    """Whether nothing is pending and no real pod is allocated; with the repairs, nor parked: a parked pod is neither,
    and will run."""
    return s.idle(a) & (s.parked(a) == 0) if s.scope.repaired else s.idle(a)


def ends_with_last_pod(s: State, a: App) -> Expr:
    """Whether a real pod that goes is the last one, and its removal raises an event: parked pods do not count."""
    last = (s.running_pods(a) == 1) & (s.real_asks[a] == 0) & (s.pending_placeholders(a) == 0)
    return last & (s.parked(a) == 0) if s.scope.repaired else last


def forget(s: State, a: App, p: Member) -> None:
    """A placeholder allocation is gone, and its confirmation is handled; with the last one the timer is cleared."""
    last = s.allocated(a) == 1
    s.placeholder_timer[a] = ite(last & (s.placeholder_timer[a] == Timer.ON), Timer.OFF, s.placeholder_timer[a])
    s.placeholder[a, p] = Placeholder.GONE
    s.mark[a, p] = Reason.NONE
    if s.forgotten is not None:
        s.forgotten[a, p] = False

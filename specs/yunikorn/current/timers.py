"""Timers of the core: the placeholder timeout, Soft and Hard, and the end of Completing."""

from __future__ import annotations

from collections.abc import Callable

from model.language import Expr, Machine, among, ite, require, when
from specs.yunikorn.current.groups import Group
from specs.yunikorn.current.moves import by_complete, by_fail, by_resume, move
from specs.yunikorn.current.parameters import Style
from specs.yunikorn.current.state import App, Core, Member, Placeholder, Reason, State, Timer
from specs.yunikorn.parameters import Timers


def declare_timers(m: Machine, s: State) -> None:
    """When timers fire, and what they do."""
    scope = s.scope
    if scope.timers is not Timers.OFF:
        _declare_placeholder_timeout(m, s)

    @m.action
    def completing_timeout(a: App) -> None:
        """After its time in Completing the application completes, but for placeholders that are left: they are
        released, and the last confirmation completes it (Y21, Y24, Y26)."""
        require(s.completing_timer[a])
        if scope.timers is not Timers.FREE:
            require(s.quiet())
        state, left = s.core[a], s.allocated(a) > 0
        s.core[a] = ite(left, state, by_complete(state))
        s.completing_timer[a] = False
        with when(~left):
            s.updates[a].send(state=Core.COMPLETED)
        for p in Member:
            release_unmarked(s, a, p, left)


def release_unmarked(s: State, a: App, p: Member, condition: Expr) -> None:
    """SetReleased: an allocated placeholder that is neither released nor preempted is wanted back."""
    with when(condition & (s.placeholder[a, p] == Placeholder.ALLOCATED) & (s.mark[a, p] == Reason.NONE)):
        s.mark[a, p] = Reason.TIMEOUT
        s.release[a, p] = Reason.TIMEOUT


def _declare_placeholder_timeout(m: Machine, s: State) -> None:
    scope = s.scope

    if scope.split_timeout:

        @m.action
        def placeholder_timer_expires(a: App) -> None:
            """The time is up; the handler waits for the application's lock. It is too late now to clear the timer
            (Y22)."""
            require(s.placeholder_timer[a] == Timer.ON)
            if scope.timers is not Timers.FREE:
                require(s.quiet())
            s.placeholder_timer[a] = Timer.FIRED

    @m.action
    def placeholder_timeout(a: App) -> None:
        """The handler. Of a running or completing application what is left of the placeholders is released; its state
        stays. Any other application, thought to have nothing but placeholders, resumes (Soft) or fails (Hard), and
        everything that it has allocated or pending is released, as one message each (Y23, Y24)."""
        keeps = time_is_up(s, a)
        count_timed_out(s, a, keeps, lambda g: asks_at_timeout(s, a, g))
        if not scope.repaired or scope.style is Style.HARD:
            take_real_asks(s, a, keeps)
        release_reserved(s, a, keeps)


def time_is_up(s: State, a: App) -> Expr:
    """The handler of the placeholder timeout, as far as the application goes; whether it keeps its state."""
    scope = s.scope
    require(s.placeholder_timer[a] == (Timer.FIRED if scope.split_timeout else Timer.ON))
    if scope.timers is not Timers.FREE and not scope.split_timeout:
        require(s.quiet())
    state = s.core[a]
    keeps = among(state, Core.RUNNING, Core.COMPLETING) & (s.allocated(a) > 0)
    if scope.repaired:
        # the timer may have been cleared, or a replacement begun, since it started
        keeps = keeps | (s.allocated(a) == 0) | (s.running_pods(a) + s.parked(a) > 0)
    event = by_resume(state) if scope.style is Style.SOFT else by_fail(state)
    tells = Core.RESUMING if scope.style is Style.SOFT else Core.FAILING
    move(s, a, ite(keeps, state, event), tells)
    s.placeholder_timer[a] = Timer.OFF
    with when(~keeps):
        s.late[a] = True
    return keeps


def asks_at_timeout(s: State, a: App, g: Group | None) -> Expr:
    """The pending asks of a group that count as timed out at once: those of placeholders. The code of today takes
    whatever is pending for a placeholder, which is a finding."""
    return s.pending_placeholders(a, g) + (0 if s.scope.repaired else s.real_asks[a, g])


def count_timed_out(s: State, a: App, keeps: Expr, number: Callable[[Group | None], Expr]) -> None:
    """What times out at once, ``number`` of each group, where the application does not keep its state."""
    for g in s.groups.each():
        s.timed_out[a, g] += ite(keeps, 0, number(g))


def take_real_asks(s: State, a: App, keeps: Expr) -> None:
    """An application that does not keep its state loses its real asks."""
    s.real_timed_out[a] = s.real_timed_out[a] | (~keeps & ((s.real_asks[a] > 0) | (s.running_pods(a) > 0)))
    s.ended[a] += ite(keeps, 0, s.real_asks[a])
    for g in s.groups.each():
        s.real_asks[a, g] = ite(keeps, s.real_asks[a, g], 0)


def release_reserved(s: State, a: App, keeps: Expr) -> None:
    """Every placeholder is wanted back; its ask goes, too, where the application does not keep its state."""
    for p in Member:
        time_out(s, a, p, keeps)


def time_out(s: State, a: App, p: Member, keeps: Expr) -> None:
    """A placeholder at the placeholder timeout. That one which is released already, to be replaced, is released again
    where the application does not keep its state, and for another reason, is a finding. All asks are dropped then, also
    those of what is allocated."""
    here = s.placeholder[a, p] == Placeholder.ALLOCATED
    wanted = here & (s.mark[a, p] == Reason.NONE)
    if not s.scope.repaired:
        wanted = wanted | (here & ~keeps & (s.mark[a, p] == Reason.REPLACED))
    pending = (s.placeholder[a, p] == Placeholder.PENDING) & ~keeps
    with when(wanted):
        s.mark[a, p] = Reason.TIMEOUT
    with when(wanted | pending):
        s.release[a, p] = Reason.TIMEOUT
    with when(pending):
        s.placeholder[a, p] = Placeholder.GONE
    if s.forgotten is not None:
        with when(here & ~keeps):
            s.forgotten[a, p] = True

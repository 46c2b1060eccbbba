"""What must come to pass of the current edition: nobody is stuck, and there is something to get stuck in."""

from __future__ import annotations

from model.language import Expr, Machine, all_, among, any_, implies
from specs.yunikorn.current.state import App, Core, State

NO_HELP = (
    "placeholder_timeout",
    "placeholder_timer_expires",
    "expire",
    "confirm_again",
    "release_again",
    "tell_again",
    "delete_placeholder_pod",
    "fail_to_bind",
    "preempt_placeholder",
    "remove_node",
    "remove_application",
    "restart",
    "update_configuration",
    "tell_autoscaler",
)
"""What nobody may count on who waits: the placeholder timeout, and what the environment may do and need not."""


def declare_progress(m: Machine, s: State) -> None:
    """Nobody is stuck."""

    @m.sometimes
    def every_real_pod_runs() -> Expr:
        """All real pods of an application run at once (Y1)."""
        return any_(s.running_pods(a) == s.scope.all_reals for a in App)

    @m.sometimes
    def an_application_completes() -> Expr:
        """Some application comes to its end, after it replaced a placeholder unless its pods are too large for that
        (Y16, Y21)."""
        least = 1 if s.scope.replaceable else 0
        return any_((s.core[a] == Core.COMPLETED) & (s.replaced[a] >= least) for a in App)

    @m.possible
    def every_application_can_end() -> Expr:
        """From every reachable state all applications can reach an end (Y21, YUNIKORN-1337)."""
        return all_(s.over(a) for a in App)

    if s.scope.room_for_a_gang:

        @m.always
        def no_starving_gangs() -> Expr:
            """In no reachable state is a placeholder timeout all that can still happen, but for what others do, while
            an application waits for placeholders that there would be room for without the other applications (Y7,
            Y11)."""
            waits = any_((s.core[a] == Core.ACCEPTED) & (s.pending_placeholders(a) > 0) & ~s.over(a) for a in App)
            room = s.total >= s.scope.gang
            if s.scope.user_limit:
                room = room & (s.limit >= s.scope.gang)
            return implies(waits & room, m.any_enabled(but=[x for x in m.actions if x.name in NO_HELP]))

    @m.leads_to(fairness=[m.progress()])
    def every_admitted_gang_is_decided(a: App) -> tuple[Expr, Expr]:
        """An application that is Accepted, and has placeholders asked for or allocated, runs, fails or times out at
        last, if only a run never stops while something can happen. Or somebody else has decided: all its placeholders
        are taken away, or it is removed (Y1, Y23, YUNIKORN-1161)."""
        placeholders = s.pending_placeholders(a) + s.allocated(a)
        decided = among(s.core[a], Core.RUNNING, Core.RESUMING, Core.FAILING, Core.FAILED)
        if s.scope.adversary:
            decided = decided | ((s.core[a] == Core.COMPLETING) & (placeholders == 0))
        if s.scope.app_removals:
            decided = decided | s.removed[a]
        return (s.core[a] == Core.ACCEPTED) & (placeholders > 0), decided

    @m.leads_to(fairness=[m.progress()])
    def every_real_ask_is_served(a: App) -> tuple[Expr, Expr]:
        """A pending real ask is parked or allocated at last, or its application ends (Y16, YUNIKORN-1242)."""
        return s.real_asks[a] > 0, s.real_asks[a] == 0

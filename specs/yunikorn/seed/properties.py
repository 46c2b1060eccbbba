"""What must hold of the yunikorn spec, and what must be reachable so that it says something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import Expr, Machine, after, all_, among, any_, implies
from specs.yunikorn.seed.parameters import Policy
from specs.yunikorn.seed.state import App, AppState, Node, State


def is_over(s: State, a: App) -> Expr:
    """Whether an application has reached one of its ends."""
    return among(s.state[a], AppState.COMPLETED, AppState.KILLED, AppState.REJECTED)


def declare_ends(m: Machine, s: State) -> None:
    """Where a run may stop, and what no application keeps there."""

    @m.terminal
    def all_over() -> Expr:
        """Every application is completed, killed or rejected."""
        return all_(is_over(s, a) for a in App)

    @m.always
    def terminal_holds_nothing() -> Expr:
        """A completed, killed or rejected application has nothing allocated and nothing pending (Y26)."""
        return all_(implies(is_over(s, a), (s.held(a) == 0) & (s.asks[a] == 0) & (s.real_asks[a] == 0)) for a in App)


def declare_rejection_by_policy(m: Machine, s: State) -> None:
    """For queues that refuse gangs."""

    @m.always
    def fair_gangs_are_rejected() -> Expr:
        """A queue with FAIR sorting accepts no gang (Y6)."""
        return all_(implies(s.state[a] != AppState.NEW, s.state[a] == AppState.REJECTED) for a in App)

    @m.sometimes
    def every_gang_is_rejected() -> Expr:
        """All applications are submitted, and rejected (Y6)."""
        return all_(s.state[a] == AppState.REJECTED for a in App)


def declare_rejection_by_size(m: Machine, s: State) -> None:
    """For scopes in which some gang is larger than its quota."""

    @m.always
    def oversized_gangs_are_rejected() -> Expr:
        """No application is accepted whose placeholderAsk is larger than a quota on its path (Y5)."""
        return all_(
            implies(~s.fits_empty_queues(a) & (s.state[a] != AppState.NEW), s.state[a] == AppState.REJECTED)
            for a in App
        )


def declare_resources(m: Machine, s: State) -> None:
    """Nodes and quotas."""

    @m.always
    def node_capacity() -> Expr:
        """No node holds more than it can (Y3, Y18)."""
        return all_(s.used(n) <= s.capacity[n] for n in Node)

    @m.always
    def quota_never_exceeded() -> Expr:
        """No leaf queue holds more than its quota (Y5, Y8)."""
        return all_(s.fits_leaf(a, 0) for a in App)

    if s.hierarchy:

        @m.always
        def parent_quota_never_exceeded() -> Expr:
            """The leaf queues together hold no more than the quota of their parent (Y11)."""
            return s.fits_parent(0)


def declare_gangs(m: Machine, s: State) -> None:
    """All or nothing, and each placeholder once."""

    @m.always
    def no_partial_gang_runs() -> Expr:
        """No application runs, or has a real pod asked for, parked or allocated, before all its placeholders have been
        allocated (Y1, Y14)."""
        return all_(
            implies(
                (s.state[a] == AppState.RUNNING) | (s.real_asks[a] + s.parked(a) + s.running(a) > 0), s.asks[a] == 0
            )
            for a in App
        )

    @m.always
    def placeholders_released_once() -> Expr:
        """Each placeholder of a submitted application is pending, allocated or released, and only one of these
        (Y19)."""
        return all_(
            implies(
                ~among(s.state[a], AppState.NEW, AppState.REJECTED),
                s.asks[a] + s.allocated(a) + s.released[a] == s.size[a],
            )
            for a in App
        )

    @m.always
    def waiting_is_idle() -> Expr:
        """A waiting application has no real pod, asked for, parked or allocated, and no placeholder ask (Y20)."""
        return all_(
            implies(
                s.state[a] == AppState.WAITING,
                (s.asks[a] == 0) & (s.real_asks[a] == 0) & (s.parked(a) == 0) & (s.running(a) == 0),
            )
            for a in App
        )


def declare_life_cycle(m: Machine, s: State, apps: int, kills: bool) -> None:
    """Which states follow which; one property per state, so that each can be vacuous on its own."""

    def leaves(source: AppState, *targets: AppState) -> Expr:
        return all_(
            implies((s.state[a] == source) & (after(s.state[a]) != source), among(after(s.state[a]), *targets))
            for a in App
        )

    @m.step
    def new_is_accepted_or_rejected() -> Expr:
        """From New to Accepted or Rejected (Y5, Y13)."""
        return leaves(AppState.NEW, AppState.ACCEPTED, AppState.REJECTED)

    @m.step
    def accepted_runs_or_is_killed() -> Expr:
        """From Accepted to Running or Killed (Y23)."""
        return leaves(AppState.ACCEPTED, AppState.RUNNING, AppState.KILLED)

    @m.step
    def running_waits() -> Expr:
        """From Running to Waiting (Y20)."""
        return leaves(AppState.RUNNING, AppState.WAITING)

    @m.step
    def waiting_runs_or_completes() -> Expr:
        """From Waiting to Running or Completed (Y21)."""
        return leaves(AppState.WAITING, AppState.RUNNING, AppState.COMPLETED)

    if apps > 1:  # the last application to end leaves nobody to take a step

        @m.step
        def ends_are_final() -> Expr:
            """Nothing follows Completed, Killed or Rejected (Y27)."""
            return all_(implies(is_over(s, a), after(s.state[a]) == s.state[a]) for a in App)

    if kills:

        @m.step
        def only_partial_gangs_time_out() -> Expr:
            """Placeholders of an Accepted application are timed out only while some are allocated and some pending
            (Y23)."""
            return all_(
                implies(
                    (s.state[a] == AppState.ACCEPTED) & (s.timed_out(a) == 0) & (after(s.timed_out(a)) > 0),
                    (s.asks[a] > 0) & (s.allocated(a) > 0) & (s.allocated(a) < s.size[a]),
                )
                for a in App
            )


def declare_order(m: Machine, s: State, policy: Policy) -> None:
    """For a queue of several gangs that is sorted by submission."""

    def blocks(b: App) -> Expr:
        return s.waits(b) if policy is Policy.FIFO else s.state[b] == AppState.ACCEPTED

    @m.always
    def order_is_kept() -> Expr:
        """No application holds anything while an earlier one of its queue waits for placeholders, or, with StateAware,
        is still Accepted (Y7)."""
        return all_(implies((b < a) & (s.queue[b] == s.queue[a]) & blocks(b), s.held(a) == 0) for a in App for b in App)


def declare_progress(m: Machine, s: State, timeout: Callable[..., Any] | None, *, serves_real_asks: bool) -> None:
    """Nobody is stuck, and there is something to get stuck in."""

    @m.always
    def no_starving_gangs() -> Expr:
        """In no reachable state is a placeholder timeout all that can still happen while an application waits (Y7,
        Y11)."""
        return implies(any_(s.waits(a) for a in App), m.any_enabled(but=[] if timeout is None else [timeout]))

    @m.possible
    def every_application_can_end() -> Expr:
        """From every reachable state all applications can reach an end (Y21, Y23)."""
        return all_(is_over(s, a) for a in App)

    @m.leads_to(fairness=[m.progress()])
    def every_accepted_application_ends(a: App) -> tuple[Expr, Expr]:
        """Every application that is accepted completes or is killed at last, if only a run never stops while something
        can happen (Y21, Y23)."""
        return s.state[a] == AppState.ACCEPTED, among(s.state[a], AppState.COMPLETED, AppState.KILLED)

    @m.leads_to(fairness=[m.progress()])
    def every_admitted_gang_is_decided(a: App) -> tuple[Expr, Expr]:
        """Every application that is accepted runs or is killed at last, if only a run never stops while something can
        happen (Y1, Y23)."""
        return s.state[a] == AppState.ACCEPTED, among(s.state[a], AppState.RUNNING, AppState.KILLED)

    if serves_real_asks:

        @m.leads_to(fairness=[m.progress()])
        def every_real_ask_is_served(a: App) -> tuple[Expr, Expr]:
            """A pending real ask is parked behind a placeholder or, when none is left, allocated at last, if only a run
            never stops while something can happen (Y16)."""
            return s.real_asks[a] > 0, s.real_asks[a] == 0

    @m.sometimes
    def every_accepted_application_completes() -> Expr:
        """All applications that are not too large complete (Y5, Y21)."""
        return all_(implies(s.fits_empty_queues(a), s.state[a] == AppState.COMPLETED) & is_over(s, a) for a in App)

    if timeout is not None:

        @m.sometimes
        def an_application_is_killed() -> Expr:
            """A placeholder timeout runs to its end (Y23)."""
            return any_(s.state[a] == AppState.KILLED for a in App)

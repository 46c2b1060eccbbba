"""YuniKorn gang scheduling as its design document of 2020/21 has it: placeholders reserve a gang, real pods replace
them.

The document is "Gang Scheduling Implementation" of the Apache YuniKorn site. README.md beside this file lists its
rules (Y1 to Y30), what of this spec follows each, and what is left out and why. Where the document is silent or
contradicts itself the docstring of the action says what was chosen.

Every placeholder and every real pod takes one unit of a node and of each quota on its application's path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import Expr, Machine, all_, among, implies, ite, require
from specs.yunikorn.parameters import Queues, Timers
from specs.yunikorn.seed.parameters import Gate, Policy, Scope, scope
from specs.yunikorn.seed.properties import (
    declare_ends,
    declare_gangs,
    declare_life_cycle,
    declare_order,
    declare_progress,
    declare_rejection_by_policy,
    declare_rejection_by_size,
    declare_resources,
)
from specs.yunikorn.seed.state import App, AppState, Node, State


def yunikorn_seed(
    apps: int = 2,
    size: int | tuple[int, ...] = 3,
    nodes: int = 2,
    capacity: int | tuple[int, ...] = 2,
    quota: int = 4,
    policy: Policy = Policy.FIFO,
    reject_fair: bool = True,
    gate: Gate = Gate.FITS,
    queues: Queues = Queues.ONE_LEAF,
    leaf_quota: int = 0,
    timers: Timers = Timers.SLOW,
) -> Machine:
    """YuniKorn's gang scheduling design: placeholders, replacement, timeout, completion, quotas in a hierarchy.

    ``size``: members of each gang (one number, or one per application); ``capacity``: units of each node, likewise.
    ``leaf_quota``: quota of each of two leaves; 0 means as much as the parent's. The defaults are the document's own
    rules: queues with FAIR sorting refuse gangs, and a gang starts to reserve when all of it fits. ValueError for
    sizes that make no sense.
    """
    checked = scope(apps, size, nodes, capacity, quota, leaf_quota, queues)
    m = Machine("yunikorn", doc="YuniKorn gang scheduling, as the design document of 2020/21 has it")
    s = State(m, checked)
    m.attach(s)
    declare_ends(m, s)
    if policy is Policy.FAIR and reject_fair:
        _refuse_gangs(m, s)
        declare_rejection_by_policy(m, s)
        return m
    if any(checked.oversized):
        _refuse_oversized(m, s)
        declare_rejection_by_size(m, s)
    if all(checked.oversized):
        return m
    _submit(m, s)
    _reserve(m, s, policy, gate)
    _replace(m, s, checked)
    _finish(m, s)
    timeout = None
    asks_for_real = checked.has_partial_gangs or checked.can_fill_all_nodes_but_one
    if asks_for_real:
        _schedule_without_placeholder(m, s)
    if checked.has_partial_gangs:
        _clean_up(m, s, timers)
        timeout = None if timers is Timers.OFF else _time_out(m, s, timers)
    declare_resources(m, s)
    declare_gangs(m, s)
    declare_life_cycle(m, s, apps, kills=timeout is not None)
    if policy is not Policy.FAIR and checked.some_queue_is_shared:
        declare_order(m, s, policy)
    declare_progress(m, s, timeout, serves_real_asks=asks_for_real)
    return m


def _is_next_to_submit(s: State, a: App) -> Expr:
    """Applications are numbered in the order in which they are submitted."""
    return (s.state[a] == AppState.NEW) & all_(implies(b < a, s.state[b] != AppState.NEW) for b in App)


def _refuse_gangs(m: Machine, s: State) -> None:
    @m.action
    def reject_fair(a: App) -> None:
        """A queue with FAIR sorting refuses every application with a placeholderAsk (Y6)."""
        require(_is_next_to_submit(s, a))
        s.state[a] = AppState.REJECTED


def _refuse_oversized(m: Machine, s: State) -> None:
    @m.action
    def reject_oversized(a: App) -> None:
        """The placeholderAsk is larger than a quota on the path: it could never be honoured (Y5)."""
        require(_is_next_to_submit(s, a), ~s.fits_empty_queues(a))
        s.state[a] = AppState.REJECTED


def _submit(m: Machine, s: State) -> None:
    @m.action
    def submit(a: App) -> None:
        """The application, whose placeholderAsk is its size, and the asks of all its placeholders reach the core; the
        first ask makes it Accepted (Y4, Y12, Y13)."""
        require(_is_next_to_submit(s, a), s.fits_empty_queues(a))
        s.state[a] = AppState.ACCEPTED
        s.asks[a] = s.size[a]


def _reserve(m: Machine, s: State, policy: Policy, gate: Gate) -> None:
    def comes_first(a: App) -> Expr:
        """By the sorting of its queue."""
        if policy is Policy.FIFO:
            return all_(implies((b < a) & (s.queue[b] == s.queue[a]), ~s.waits(b)) for b in App)
        if policy is Policy.STATEAWARE:
            return all_(implies((b < a) & (s.queue[b] == s.queue[a]), s.state[b] != AppState.ACCEPTED) for b in App)
        return s.asks[a] > 0

    def may_start(a: App) -> Expr:
        """The gate looks at an application's first placeholder only."""
        reserves = gate is Gate.RESERVES
        fits = s.fits_leaf(a, s.size[a] + s.leaf_promised(a) if reserves else s.size[a])
        if s.hierarchy:
            fits = fits & s.fits_parent(s.size[a] + s.parent_promised() if reserves else s.size[a])
        return (s.asks[a] < s.size[a]) | fits

    @m.action
    def allocate_placeholder(a: App, n: Node) -> None:
        """The core binds a placeholder of a to n, as it would any ask; the application stays Accepted. Its first one
        waits until the gate lets it start; that stops nobody else (Y3, Y8, Y9, Y13)."""
        require(s.state[a] == AppState.ACCEPTED, s.asks[a] > 0, s.timed_out(a) == 0)
        require(s.used(n) < s.capacity[n], s.fits_leaf(a, 1), comes_first(a))
        if s.hierarchy:
            require(s.fits_parent(1))
        if gate is not Gate.NONE:
            require(may_start(a))
        s.asks[a] -= 1
        s.placeholders[a, n] += 1


def _replace(m: Machine, s: State, checked: Scope) -> None:
    @m.action
    def replace(a: App, n: Node) -> None:
        """The shim asks for a real pod, the originator or another, once all placeholders are allocated. The
        core marks a placeholder on n and parks the ask behind it; it releases nothing yet. An application that waits
        runs again. Every placeholder may get its real pod, no more are asked for (Y1, Y10, Y14, Y16, Y17, Y21)."""
        require(among(s.state[a], AppState.ACCEPTED, AppState.RUNNING, AppState.WAITING))
        require(s.asks[a] == 0, s.placeholders[a, n] > 0)
        s.placeholders[a, n] -= 1
        s.replacing[a, n] += 1
        s.state[a] = ite(s.state[a] == AppState.WAITING, AppState.RUNNING, s.state[a])

    @m.action
    def confirm_on_same_node(a: App, n: Node) -> None:
        """The shim confirms: the placeholder goes, the real pod takes its place, in one update (Y18)."""
        require(s.replacing[a, n] > 0)
        s.replacing[a, n] -= 1
        s.released[a] += 1
        s.reals[a, n] += 1
        s.state[a] = AppState.RUNNING

    if len(checked.capacities) > 1:

        @m.action
        def confirm_on_other_node(a: App, n: Node, other: Node) -> None:
            """The shim confirms, but n does not take the real pod (ports, affinity, a cordon: any reason that is not
            modelled); another node has room (Y18)."""
            require(s.replacing[a, n] > 0, n != other, s.used(other) < s.capacity[other])
            s.replacing[a, n] -= 1
            s.released[a] += 1
            s.reals[a, other] += 1
            s.state[a] = AppState.RUNNING

    if checked.can_fill_all_nodes_but_one:

        @m.action
        def confirm_unschedulable(a: App, n: Node) -> None:
            """The shim confirms, n does not take the real pod and no other node has room: the ask is pending again
            (Y18)."""
            require(s.replacing[a, n] > 0, s.no_other_node_has_room(n))
            s.replacing[a, n] -= 1
            s.released[a] += 1
            s.real_asks[a] += 1

        if checked.has_partial_gangs:

            @m.action
            def replace_pending(a: App, n: Node) -> None:
                """The next cycle of an ask that became unschedulable: it is parked behind a placeholder again (Y16)."""
                require(s.real_asks[a] > 0, s.placeholders[a, n] > 0)
                s.real_asks[a] -= 1
                s.placeholders[a, n] -= 1
                s.replacing[a, n] += 1


def _schedule_without_placeholder(m: Machine, s: State) -> None:
    @m.action
    def allocate_real(a: App, n: Node) -> None:
        """The normal cycle, for a real ask with no unreleased placeholder left: one that became unschedulable, or a
        late one (Y16)."""
        require(s.real_asks[a] > 0, s.unreleased(a) == 0)
        require(s.used(n) < s.capacity[n], s.fits_leaf(a, 1))
        if s.hierarchy:
            require(s.fits_parent(1))
        s.real_asks[a] -= 1
        s.reals[a, n] += 1
        s.state[a] = AppState.RUNNING


def _finish(m: Machine, s: State) -> None:
    @m.action
    def finish_pod(a: App, n: Node) -> None:
        """A real pod on n ends. With nothing else allocated or pending the application waits; placeholders do not count
        (Y20)."""
        require(s.state[a] == AppState.RUNNING, s.reals[a, n] > 0)
        idle = (s.running(a) == 1) & (s.parked(a) == 0) & (s.real_asks[a] == 0)
        s.state[a] = ite(idle, AppState.WAITING, AppState.RUNNING)
        s.reals[a, n] -= 1

    @m.action
    def complete(a: App) -> None:
        """The waiting time is over and no placeholder is left: the application leaves its queue (Y21, Y26, Y27)."""
        require(s.state[a] == AppState.WAITING, s.allocated(a) == 0)
        s.state[a] = AppState.COMPLETED
        s.late[a] = False


def _clean_up(m: Machine, s: State, timers: Timers) -> None:
    @m.action
    def ask_late(a: App) -> None:
        """An ask for a real pod that was on its way when the clean-up began: a waiting application runs again (Y21)."""
        require(s.state[a] == AppState.WAITING, s.late[a])
        s.late[a] = False
        s.real_asks[a] += 1
        s.state[a] = AppState.RUNNING

    @m.action
    def clean_up(a: App) -> None:
        """The waiting time is over and placeholders are left: they are marked for release. The application completes
        only when the shim has confirmed all; the document says so once and the opposite once (Y21, Y24, Y26)."""
        require(s.state[a] == AppState.WAITING, s.unreleased(a) > 0)
        if timers is not Timers.FREE:
            require(s.no_message_in_flight())
        s.late[a] = True
        _mark_all(s, a)

    @m.action
    def confirm_release(a: App, n: Node) -> None:
        """The shim confirms the release of a timed-out placeholder, after the releases of asks; the last one of an
        Accepted application makes it Killed (Y25, Y26, Y27)."""
        require(s.releasing[a, n] > 0, s.asks[a] == 0)
        last = (s.state[a] == AppState.ACCEPTED) & (s.timed_out(a) == 1)
        s.state[a] = ite(last, AppState.KILLED, s.state[a])
        s.releasing[a, n] -= 1
        s.released[a] += 1


def _time_out(m: Machine, s: State, timers: Timers) -> Callable[..., Any]:
    @m.action
    def placeholder_timeout(a: App) -> None:
        """Time is up, counted from the first allocation, for an Accepted application with part of its placeholders:
        all are marked for release (Y22, Y23, Y24)."""
        require(s.state[a] == AppState.ACCEPTED, s.asks[a] > 0, s.timed_out(a) == 0)
        require(s.allocated(a) > 0, s.allocated(a) < s.size[a])
        if timers is Timers.SLOW:
            require(s.no_message_in_flight())
        _mark_all(s, a)

    @m.action
    def confirm_ask_release(a: App) -> None:
        """The shim confirms the release of a pending placeholder ask of an application that timed out (Y24, Y25)."""
        require(s.asks[a] > 0, s.timed_out(a) > 0)
        s.asks[a] -= 1
        s.released[a] += 1

    return placeholder_timeout


def _mark_all(s: State, a: App) -> None:
    for n in Node:
        s.releasing[a, n] += s.placeholders[a, n]
        s.placeholders[a, n] = 0

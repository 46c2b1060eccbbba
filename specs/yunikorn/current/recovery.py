"""A restart of the scheduler: what is left are pods, and what the shim and the core make of them."""

from __future__ import annotations

from collections.abc import Callable

from model.language import Expr, Machine, all_, among, any_, count_, ite, require, sum_
from specs.yunikorn.current.groups import Group
from specs.yunikorn.current.parameters import Recovery
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
)


def goes_on(s: State, a: App) -> Expr:
    """Whether a reservation is gone on with: no real pod was started, and its time is not over."""
    return ~started(s, a) & ~s.late[a]


def started(s: State, a: App) -> Expr:
    """Whether a real pod of it is there, or was."""
    return (s.running_pods(a) > 0) | (s.ended[a] > 0)


def bound_in(s: State, a: App, g: Group | None = None) -> Expr:
    """Its placeholders that are bound, of one group or of all."""
    return count_(
        s.groups.within(g, p, (s.task[a, p] == Task.BOUND) & any_(s.placed[a, p, n] for n in Node)) for p in Member
    )


def live_pods(s: State, a: App) -> Expr:
    """Its pods that are recovered: those that are on a node. A pod that has ended is left out."""
    return bound_in(s, a) + s.running_pods(a)


def declare_restart(m: Machine, s: State) -> None:
    """Core and shim are one process, and restart together."""

    @m.action
    def restart() -> None:
        """Core and shim start anew, with the pods that are bound. What was pending is asked for again; what was on its
        way, or only marked, is forgotten. A reservation is gone on with, and its lost placeholders created again,
        unless a real pod was started or its time is over (Y29, YUNIKORN-686, YUNIKORN-1161, YUNIKORN-3332)."""
        restarted(s)


def restarted(
    s: State, reserves: Callable[[State, App], Expr] = goes_on, pods: Callable[[State, App], Expr] = live_pods
) -> None:
    """The scheduler after a restart; ``reserves``: whether an application goes on to reserve. ``pods``: how many are
    recovered of it, which bring it back."""
    scope = s.scope

    def bound(a: App) -> Expr:
        return bound_in(s, a)

    def units(a: App) -> Expr:
        return ite(s.over(a), 0, scope.placeholder * bound(a) + scope.real * s.running_pods(a))

    def runs(a: App) -> Expr:
        """Whether the recovered allocations make it run: a real one, or all placeholders."""
        return ~s.over(a) & ((s.running_pods(a) > 0) | (bound(a) == scope.size))

    def lives(a: App) -> Expr:
        """Whether it is there after the restart: of what is over that may only be for pods that are recovered."""
        active = among(s.shim[a], Shim.ACCEPTED, Shim.RESERVING, Shim.RESUMING, Shim.RUNNING)
        return ite(s.over(a), pods(s, a) > 0, active)

    require(s.restarts > 0, ~s.removing(), all_(s.updates[a].is_empty() & (s.core[a] != Core.FAILING) for a in App))
    s.restarts.next -= 1
    for n in Node:
        s.node_used[n] = scope.placeholder * count_(
            s.placed[a, p, n] & (s.task[a, p] == Task.BOUND) for a in App for p in Member
        ) + scope.real * sum_(s.reals[a, n] for a in App)
    for q in Queue:
        s.leaf_used[q] = sum_(ite(s.in_leaf(a, q), units(a), 0) for a in App)
    s.parent_used.next = sum_(units(a) for a in App)
    s.user_used.next = sum_(units(a) for a in App)
    s.running_apps.next = count_(lives(a) & runs(a) for a in App)
    for a in App:
        recover(s, a, lives(a), runs(a), reserves(s, a), pods(s, a) > 0)


def recover(s: State, a: App, lives: Expr, runs: Expr, reserves: Expr, holds: Expr) -> None:
    """One application after a restart, which ``holds`` something if pods of it are recovered."""
    kept = s.scope.recovery is Recovery.KEPT
    core = ite(runs, Core.RUNNING, ite(holds, Core.ACCEPTED, Core.NEW))
    s.core[a] = ite(lives, core, s.core[a])
    # an application without a pod is not heard of again
    s.removed[a] = s.removed[a] | (lives & ~holds & (s.ended[a] == s.scope.all_reals))
    s.shim[a] = ite(lives, ite(reserves, Shim.RESERVING, Shim.RUNNING), s.shim[a])
    s.placeholder_timer[a] = ite(lives & (bound_in(s, a) > 0), Timer.ON, Timer.OFF)
    s.completing_timer[a] = False
    for g in s.groups.each():
        s.count[a, g] = ite(lives, bound_in(s, a, g) if kept else 0, s.count[a, g])
        s.replaced[a, g] = ite(lives, 0, s.replaced[a, g])
        s.timed_out[a, g] = ite(lives, 0, s.timed_out[a, g])
        s.unsubmitted[a, g] += s.real_asks[a, g] + s.parked(a, g)
    s.real_asks[a] = 0
    s.allocating[a] = False
    for n in Node:
        if not kept:
            s.reals[a, n] += count_(s.placed[a, p, n] & (s.task[a, p] == Task.BOUND) for p in Member)
    for p in Member:
        stays = (s.task[a, p] == Task.BOUND) & any_(s.placed[a, p, n] for n in Node)
        # a pod of a node that is gone is gone, too
        gone = ite(s.task[a, p] == Task.BOUND, Task.COMPLETED, s.task[a, p])
        s.task[a, p] = ite(lives & reserves & ~stays, Task.PENDING, ite(stays, Task.BOUND, gone))
        s.placeholder[a, p] = ite(
            lives, ite(stays & kept, Placeholder.ALLOCATED, Placeholder.NONE), s.placeholder[a, p]
        )
        s.mark[a, p] = Reason.NONE
        if s.forgotten is not None:
            s.forgotten[a, p] = False
        s.asked[a, p] = False
        s.told[a, p] = False
        s.release[a, p] = Reason.NONE
        s.confirm[a, p] = Reason.NONE
        for n in Node:
            s.placed[a, p, n] = s.placed[a, p, n] & stays & kept
            s.linked[a, p, n] = False

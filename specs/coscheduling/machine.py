"""Coscheduling by a Permit plugin: pods are scheduled one by one and wait, assumed, until their gang is complete.

This is how gangs are scheduled without the PodGroup cycle: by the coscheduling plugin of kubernetes-sigs/
scheduler-plugins, and by Koordinator, where gangs of one gang group also wait for each other. A gang that gets stuck
gives back what it holds: PostFilter rejects the whole gang when one of its pods fits nowhere, a timeout does when it
waits too long, and then the gang backs off. Every pod takes one slot.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

from model.language import Expr, Machine, Sort, after, all_, any_, each, implies, require, sum_, weak, when
from specs.parameters import check_each, check_size


class Gang(Sort):
    """A PodGroup of the coscheduling plugin, in order of creation."""


class GangState(enum.Enum):
    """What becomes of a gang."""

    ACTIVE = 0
    BACKOFF = 1
    """It was rejected, and is not tried for some time."""
    DONE = 2


class Plugin:
    """The variables. Of a gang ``pods`` pods exist; ``waiting`` ones are assumed and wait at Permit, ``bound`` ones
    run. ``assigned`` is the plugin's own count of both. ``min_member`` is what its PodGroup object says, ``wanted``
    what its owner wants."""

    def __init__(self, m: Machine, sizes: tuple[int, ...], slots: int, together: int, scales: int) -> None:
        m.sort(Gang, len(sizes), ordered=True)
        self.slots = slots
        self.size = m.constant("size", Gang, sizes)
        self.team = m.constant("team", Gang, [i // together for i in range(len(sizes))])
        count = range(max(sizes) + 1)
        self.pods = m.variable("pods", Gang, count, init=0)
        self.wanted = m.variable("wanted", Gang, count, init=[size - scales for size in sizes])
        self.min_member = m.variable("min_member", Gang, count, init=[size - scales for size in sizes])
        self.waiting = m.variable("waiting", Gang, count, init=0)
        self.bound = m.variable("bound", Gang, count, init=0)
        self.assigned = m.variable("assigned", Gang, count, init=0)
        self.state = m.variable("state", Gang, GangState, init=GangState.ACTIVE)

    def is_done(self, g: Gang) -> Expr:
        """Whether the gang has run to its end."""
        return self.state[g] == GangState.DONE

    def used(self) -> Expr:
        """Slots that are taken."""
        return sum_(self.waiting[g] + self.bound[g] for g in Gang)

    def is_active(self, g: Gang) -> Expr:
        """Whether a pod of the gang is in activeQ and passes PreFilter: enough of them exist, and it was not denied."""
        pending = self.pods[g] > self.waiting[g] + self.bound[g]
        return pending & (self.pods[g] >= self.min_member[g]) & (self.state[g] == GangState.ACTIVE)

    def has_quorum(self, g: Gang) -> Expr:
        """Permit: minMember pods of the gang, and of all gangs of its gang group, are assumed or bound."""
        return all_(
            implies(self.team[b] == self.team[g], self.is_done(b) | (self.assigned[b] >= self.min_member[b]))
            for b in Gang
        )

    def reject(self, g: Gang) -> None:
        """Part of an action: pods of the gang group that wait are rejected, and it backs off."""
        for b in Gang:
            with when(self.team[b] == self.team[g]):
                self.assigned[b] = self.bound[b]
                self.waiting[b] = 0
                self.state[b] = GangState.BACKOFF


def coscheduling(
    gangs: int = 2,
    size: int | tuple[int, ...] = 2,
    slots: int = 2,
    together: int = 1,
    scales: int = 0,
    timeouts: bool = True,
) -> Machine:
    """Gangs at the Permit barrier of the scheduler-plugins and Koordinator: assumed pods wait for their gang.

    ``size``: pods of each gang (one number, or one per gang), all of them needed. ``slots``: pods that the cluster has
    room for. ``together``: gangs of a gang group, which are bound together or not at all. ``scales``: by how many pods
    each gang may grow before it is bound. ``timeouts``: whether pods that wait at Permit are rejected after some time.
    ValueError for sizes that make no sense.
    """
    check_size("gangs", gangs, most=8)
    check_size("slots", slots, most=64)
    check_size("scales", scales, least=0, most=8)
    check_size("together", together, most=gangs)
    sizes = (size,) * gangs if isinstance(size, int) else tuple(size)
    check_each("size", sizes, gangs, "gang", least=scales + 1, most=16)
    if gangs % together:
        raise ValueError(f"together divides gangs, which is {gangs}; found {together}")
    m = Machine("coscheduling", doc="Gangs at the Permit barrier")
    p = Plugin(m, sizes, slots, together, scales)
    m.attach(p)

    @m.action
    def create_pod(g: Gang) -> None:
        """The owner of g creates one more pod, up to what it wants (kuberay#5205)."""
        require(p.pods[g] < p.wanted[g], p.state[g] != GangState.DONE)
        p.pods[g] += 1

    if scales:

        @m.action
        def scale_up(g: Gang) -> None:
            """The owner of g wants one pod more, and says so in the PodGroup object (kuberay#5205)."""
            require(p.wanted[g] < p.size[g], p.bound[g] == 0, p.state[g] != GangState.DONE, ~p.has_quorum(g))
            p.wanted[g] += 1
            p.min_member[g] += 1

    @m.action
    def schedule_pod(g: Gang) -> None:
        """A pod of g gets a slot and waits at Permit; pods of different gangs come in any order
        (scheduler-plugins#117)."""
        require(p.is_active(g), p.used() < slots)
        p.waiting[g] += 1
        p.assigned[g] += 1

    @m.action
    def fail_pod(g: Gang) -> None:
        """A pod of g fits nowhere: PostFilter rejects all pods of the gang group that wait, and it backs off
        (scheduler-plugins#117, koordinator#872)."""
        require(p.is_active(g), p.used() == slots, ~p.has_quorum(g))
        p.reject(g)

    @m.action
    def backoff_expires(g: Gang) -> None:
        """g may be tried again (scheduler-plugins#713)."""
        require(p.state[g] == GangState.BACKOFF)
        p.state[g] = GangState.ACTIVE

    @m.action
    def permit(g: Gang) -> None:
        """minMember pods are assumed: all that wait are bound (scheduler-plugins#930)."""
        require(p.waiting[g] > 0, p.has_quorum(g))
        p.bound[g] += p.waiting[g]
        p.waiting[g] = 0

    @m.action
    def finish(g: Gang) -> None:
        """The gang runs, to its end; gangs of its group that wait are bound before (koordinator#872)."""
        require(p.bound[g] > 0, p.waiting[g] == 0, p.bound[g] == p.pods[g])
        require(all_(implies(p.team[b] == p.team[g], p.is_done(b) | (p.waiting[b] == 0)) for b in Gang))
        p.state[g] = GangState.DONE
        p.pods[g] = 0
        p.bound[g] = 0
        p.assigned[g] = 0

    _declare_safety(m, p, together)

    if timeouts:
        _time_out(m, p, permit)

    if max(sizes) <= slots:

        @m.possible
        def every_gang_can_finish() -> Expr:
            """From every reachable state all gangs can run to their end (scheduler-plugins#117, koordinator#872)."""
            return all_(p.is_done(g) for g in Gang)

    @m.sometimes
    def a_gang_finishes() -> Expr:
        """Some gang runs to its end (scheduler-plugins#117)."""
        return any_(p.is_done(g) for g in Gang)

    @m.terminal
    def all_gangs_are_done() -> Expr:
        """Here a run may stop."""
        return all_(p.is_done(g) for g in Gang)

    return m


def _time_out(m: Machine, p: Plugin, permit: Callable[..., None]) -> None:
    @m.action
    def permit_times_out(g: Gang) -> None:
        """Pods of g have waited for too long: those of its gang group that wait are rejected, and it backs off
        (scheduler-plugins#713)."""
        require(p.waiting[g] > 0, ~p.has_quorum(g))
        p.reject(g)

    @m.leads_to(fairness=[weak(each(permit)), weak(each(permit_times_out))])
    def nobody_holds_slots_for_ever(g: Gang) -> tuple[Expr, Expr]:
        """Pods that wait at Permit are bound or rejected at last, if timeouts fire (scheduler-plugins#713)."""
        return p.waiting[g] > 0, p.waiting[g] == 0


def _declare_safety(m: Machine, p: Plugin, together: int) -> None:
    @m.always
    def slots_are_enough() -> Expr:
        """No more pods are assumed or bound than there are slots: waiting pods hold theirs (scheduler-plugins#117)."""
        return p.used() <= p.slots

    @m.always
    def assigned_is_true() -> Expr:
        """The plugin counts the pods that are assumed or bound, and no others (scheduler-plugins#930)."""
        return all_(p.assigned[g] == p.waiting[g] + p.bound[g] for g in Gang)

    @m.step
    def no_partial_gang_is_bound() -> Expr:
        """When pods of a gang are bound, as many as its owner wants are (scheduler-plugins#930, kuberay#5205)."""
        return all_(implies(after(p.bound[g]) > p.bound[g], after(p.bound[g]) >= p.wanted[g]) for g in Gang)

    if together > 1:

        @m.step
        def gang_groups_are_bound_together() -> Expr:
            """When a gang is bound, all gangs of its group are complete (koordinator#872)."""
            return all_(
                implies(
                    (after(p.bound[g]) > p.bound[g]) & (p.team[b] == p.team[g]),
                    p.is_done(b) | (p.waiting[b] + p.bound[b] >= p.wanted[b]),
                )
                for g in Gang
                for b in Gang
            )

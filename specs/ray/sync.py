"""The sync phase of a loop: rows follow what the cloud and the GCS say (R4). A row moves once for each cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from model.language import Machine, all_, among, implies, ite, require
from specs.ray.life_cycle import BEFORE_RUNNING, BEFORE_STOPPED, BEFORE_STOPPING, Status
from specs.ray.state import Instance, Loop, Node, Order, State

Actions = list[Callable[..., Any]]


def declare_begin(m: Machine, s: State) -> None:
    """The first step of a loop."""

    @m.action
    def begin_loop() -> None:
        """Five seconds are over: the inputs are read. Rows that have ended are history; their places are free for new
        ones (R4, R5)."""
        require(s.loop == Loop.REST)
        s.loop.next = Loop.SYNC
        s.read_inputs()
        for i in Instance:
            over = among(s.status[i], Status.TERMINATED, Status.ALLOCATION_FAILED)
            s.status[i] = ite(over, Status.ABSENT, s.status[i])


def declare_sync(m: Machine, s: State) -> Actions:
    """The passive transitions. Returns them: the phase ends where none is left."""
    return [*_cloud(m, s), *_ray_nodes(m, s), *_errors(m, s)]


def _cloud(m: Machine, s: State) -> Actions:
    @m.action
    def allocated(i: Instance) -> None:
        """The cloud has an instance that no row names: a requested row of its type gets it (R11)."""
        lost = s.order[i] == Order.NONE  # or it has come: rows are alike, so it may as well come for such a one
        others = all_((s.status[j] != Status.REQUESTED) | (s.order[j] != Order.NONE) for j in Instance)
        if s.scope.types > 1:
            others = all_(
                implies(s.same_group(i, j) & (s.status[j] == Status.REQUESTED), s.order[j] != Order.NONE)
                for j in Instance
            )
        require(s.loop == Loop.SYNC, s.status[i] == Status.REQUESTED, s.seen_extra_for(i) > 0, lost | others)
        _count_late(s, i)
        s.status[i] = Status.ALLOCATED
        s.order[i] = Order.NONE
        s.tries[i] = 0
        s.name_extra(i)

    @m.action
    def launch_failed(i: Instance) -> None:
        """The cloud has reported that the launch failed, and no instance is there to take instead (R15)."""
        require(s.loop == Loop.SYNC, s.status[i] == Status.REQUESTED)
        require(s.seen_extra_for(i) == 0, s.order[i] == Order.FAILED)
        s.status[i] = Status.ALLOCATION_FAILED
        s.order[i] = Order.NONE
        s.tries[i] = 0

    @m.action
    def terminated(i: Instance) -> None:
        """The cloud no longer lists the instance: asked for or not, the row is over (R11)."""
        require(s.loop == Loop.SYNC, s.has_cloud(i), ~s.seen_cloud[i])
        s.status[i] = Status.TERMINATED
        s.order[i] = Order.NONE

    actions: Actions = [allocated, launch_failed, terminated]
    if s.scope.late_launches:

        @m.action
        def adopt(i: Instance) -> None:
            """An instance that nobody waits for gets a row of its own (R4)."""
            require(s.loop == Loop.SYNC, s.status[i] == Status.ABSENT, s.seen_extra > 0, s.requested() == 0)
            s.status[i] = Status.ALLOCATED
            s.name_extra(i)

        actions.append(adopt)
    return actions


def _count_late(s: State, i: Instance) -> None:
    """The instance came for another row; what was launched for this one is still to come."""
    if s.scope.late_launches:
        fits = (s.order[i] == Order.ASKED) & (s.late < s.scope.late_launches)
        s.late.next = s.late + ite(fits, 1, 0)


def _ray_nodes(m: Machine, s: State) -> Actions:
    @m.action
    def ray_running(i: Instance) -> None:
        """The GCS lists a Ray node on the instance that runs (R11)."""
        require(s.loop == Loop.SYNC, s.seen_cloud[i], s.seen_up(i), among(s.status[i], *BEFORE_RUNNING))
        s.status[i] = Status.RAY_RUNNING
        s.order[i] = Order.NONE

    before_stopping = [x for x in BEFORE_STOPPING if not (s.scope.repaired and x is Status.RAY_INSTALLING)]

    @m.action
    def ray_stopping(i: Instance) -> None:
        """The GCS says that the node drains (R11)."""
        require(s.loop == Loop.SYNC, s.seen_cloud[i], s.seen_node[i] == Node.DRAINING)
        require(among(s.status[i], *before_stopping))
        s.status[i] = Status.RAY_STOPPING
        s.order[i] = Order.NONE

    @m.action
    def ray_stopped(i: Instance) -> None:
        """The GCS says that the node is dead (R11, R17)."""
        require(s.loop == Loop.SYNC, s.seen_cloud[i], s.seen_node[i] == Node.DEAD, among(s.status[i], *BEFORE_STOPPED))
        s.status[i] = Status.RAY_STOPPED
        s.order[i] = Order.NONE

    return [ray_running, ray_stopping, ray_stopped]


def _errors(m: Machine, s: State) -> Actions:
    @m.action
    def termination_failed(i: Instance) -> None:
        """The cloud has reported that it did not terminate the instance (R15)."""
        require(s.loop == Loop.SYNC, s.seen_cloud[i], s.status[i] == Status.TERMINATING, s.order[i] == Order.FAILED)
        s.status[i] = Status.TERMINATION_FAILED
        s.order[i] = Order.NONE

    @m.action
    def drain_rejected(i: Instance) -> None:
        """RayStopper has reported that the node refused: it runs on (R14)."""
        require(s.loop == Loop.SYNC, s.seen_cloud[i], s.seen_up(i))
        require(s.status[i] == Status.RAY_STOP_REQUESTED, s.order[i] == Order.FAILED)
        s.status[i] = Status.RAY_RUNNING
        s.order[i] = Order.NONE

    actions: Actions = [termination_failed, drain_rejected]
    if not s.scope.kuberay:

        @m.action
        def install_failed(i: Instance) -> None:
            """The installer has reported that Ray cannot be installed (R15)."""
            require(s.loop == Loop.SYNC, s.seen_cloud[i], s.seen_node[i] == Node.NONE)
            require(s.status[i] == Status.RAY_INSTALLING, s.order[i] == Order.FAILED)
            s.status[i] = Status.RAY_INSTALL_FAILED
            s.order[i] = Order.NONE

        actions.append(install_failed)
    return actions

"""The step phase of a loop: stuck rows, scaling decisions, and what the subscribers are told (R5)."""

from __future__ import annotations

from model.language import Expr, Machine, all_, among, choose, implies, ite, require
from specs.ray.life_cycle import NOT_RUNNING_RAY, TO_TERMINATE, Status
from specs.ray.parameters import Timers
from specs.ray.state import Instance, Loop, Node, Order, State
from specs.ray.sync import Actions


def declare_stuck(m: Machine, s: State) -> Actions:
    """Nodes that the GCS has forgotten, and rows that stay in a state for too long. Returns what has to happen."""
    must: Actions = []
    if s.scope.current and s.scope.crash:

        @m.action
        def ray_node_missing(i: Instance) -> None:
            """The GCS no longer knows the row's node: it has stopped (ray#63424)."""
            waits = (Status.RAY_RUNNING, Status.RAY_STOP_REQUESTED, Status.RAY_STOPPING)
            require(s.loop == Loop.STUCK, among(s.status[i], *waits), s.seen_node[i] == Node.NONE)
            s.status[i] = Status.RAY_STOPPED
            s.order[i] = Order.NONE

        must.append(ray_node_missing)
    if s.scope.timeouts:
        _requests_time_out(m, s)
        _others_time_out(m, s, must)
    return must


def _stuck(s: State, i: Instance, status: Status) -> Expr:
    """Whether a row has been in a state for too long."""
    stuck = (s.loop == Loop.STUCK) & (s.status[i] == status)
    if s.scope.timers is Timers.SLOW:
        stuck = stuck & (s.order[i] == Order.NONE)
    if s.scope.split:  # nor has anything come that the loop has not read
        all_read = s.cloud[i] == s.seen_cloud[i]
        if status is Status.REQUESTED:
            all_read = s.extra == s.seen_extra
        elif status is not Status.TERMINATING:
            all_read = all_read & (s.node[i] == s.seen_node[i])
        stuck = stuck & all_read
    return stuck


def _requests_time_out(m: Machine, s: State) -> None:
    def give_up(i: Instance) -> None:
        """Whatever the cloud makes of the old request comes too late for this row."""
        if s.scope.late_launches:
            late = choose(bool, "late")
            require(implies(late, (s.order[i] == Order.ASKED) & (s.late < s.scope.late_launches)))
            s.late.next = s.late + ite(late, 1, 0)
        s.order[i] = Order.NONE

    if s.scope.retries:

        @m.action
        def request_timed_out(i: Instance) -> None:
            """The launch takes too long: the row is queued again. The old request may still succeed, later."""
            require(_stuck(s, i, Status.REQUESTED), s.tries[i] < s.scope.retries)
            s.status[i] = Status.QUEUED
            s.tries[i] += 1
            give_up(i)

    @m.action
    def request_given_up(i: Instance) -> None:
        """The launch took too long once too often."""
        require(_stuck(s, i, Status.REQUESTED), s.tries[i] == s.scope.retries)
        give_up(i)
        s.status[i] = Status.ALLOCATION_FAILED
        s.tries[i] = 0


def _others_time_out(m: Machine, s: State, first: Actions) -> None:
    """``first``: what the loop has done before it looks at the clock."""

    def stuck(i: Instance, status: Status) -> Expr:
        now = _stuck(s, i, status)
        for action in first:
            now = now & ~m.enabled(action, i)
        return now

    if s.scope.timers is Timers.FREE:

        @m.action
        def allocation_timed_out(i: Instance) -> None:
            """Ray does not start on the instance: 2.60 marks the row, 2.48 terminates at once (kuberay#4226)."""
            require(stuck(i, Status.ALLOCATED))
            s.status[i] = Status.ALLOCATION_TIMEOUT if s.scope.current else Status.TERMINATING
            s.order[i] = Order.NONE if s.scope.current else Order.ASKED

    if not s.scope.kuberay:

        @m.action
        def install_timed_out(i: Instance) -> None:
            """The installer takes too long."""
            require(stuck(i, Status.RAY_INSTALLING))
            s.status[i] = Status.RAY_INSTALL_FAILED
            s.order[i] = Order.NONE

    @m.action
    def drain_timed_out(i: Instance) -> None:
        """The node neither drains nor refuses: the row is taken to run on."""
        require(stuck(i, Status.RAY_STOP_REQUESTED))
        s.status[i] = Status.RAY_RUNNING
        s.order[i] = Order.NONE

    @m.action
    def termination_timed_out(i: Instance) -> None:
        """The instance is still listed long after the cloud was asked to terminate it."""
        require(stuck(i, Status.TERMINATING))
        s.status[i] = Status.TERMINATION_FAILED
        s.order[i] = Order.NONE


def declare_scale(m: Machine, s: State) -> Actions:
    """The scheduler's decisions, one row at a time. Returns those that have to be made."""
    must: Actions = []
    if s.scope.reconfigure or (s.scope.late_launches and s.scope.max_workers < s.scope.instances):
        must.extend(_terminate_over_maximum(m, s))

    @m.action
    def queue_instance(i: Instance) -> None:
        """Minimum, request_resources or jobs need one more, and the maximum allows it: a new row (R1, R5, R9, R10)."""
        require(s.loop == Loop.SCALE, s.status[i] == Status.ABSENT)
        if s.scope.types == 1:
            require(s.counted() < s.most, s.counted() < s.needed())
        else:  # the minimum of each group comes first, then what is needed, in any group
            least = s.scope.min_workers
            others = all_(s.counted_of(j) >= least for j in Instance) & (s.counted() < s.needed())
            require(s.counted_of(i) < s.most, s.counted() < s.scope.all_nodes, (s.counted_of(i) < least) | others)
        s.status[i] = Status.QUEUED

    @m.action
    def terminate_idle(i: Instance) -> None:
        """The node was idle for too long, and none of minimum, request_resources and jobs needs it: Ray is asked to
        drain (R5, R10, R11)."""
        require(s.loop == Loop.SCALE, s.status[i] == Status.RAY_RUNNING, s.seen_node[i] == Node.IDLE)
        require(s.needed() < s.counted() - s.chosen)
        if s.scope.types > 1:
            require(s.counted_of(i) - s.chosen_of(i) > s.scope.min_workers)
        s.status[i] = Status.RAY_STOP_REQUESTED
        s.order[i] = Order.ASKED
        s.choose(i, counts=not s.scope.repaired)

    must.append(queue_instance)
    return must


def _terminate_over_maximum(m: Machine, s: State) -> Actions:
    scope = s.scope
    unstarted = [Status.ALLOCATED, *([Status.RAY_INSTALLING] if scope.current else [])]
    drained = [x for x in NOT_RUNNING_RAY if x not in (*unstarted, Status.QUEUED, Status.RAY_STOP_REQUESTED)]
    first = [Status.QUEUED, *unstarted, *([] if scope.repaired else drained)]

    def over() -> Expr:
        return (s.loop == Loop.SCALE) & (s.counted() - s.chosen > s.most)

    def chosen() -> None:
        """It still counts, in this decision no longer."""
        s.chosen.next = s.chosen + (0 if scope.repaired else 1)

    def drain_again(i: Instance) -> None:
        """More rows than the maximum: a row that is asked to drain already is one of those that do not run Ray, and is
        chosen again."""
        require(over(), s.status[i] == Status.RAY_STOP_REQUESTED, s.chosen == 0)
        s.order[i] = Order.FORCED
        chosen()

    def cancel_queued(i: Instance) -> None:
        """More rows than the maximum: those that do not run Ray yet go first, and this one was not asked for yet.
        2.48 wants to drain it (ray#59219)."""
        require(over(), s.status[i] == Status.QUEUED)
        s.status[i] = Status.TERMINATED if scope.current else Status.RAY_STOP_REQUESTED
        s.order[i] = Order.NONE if scope.current else Order.FORCED
        s.tries[i] = 0
        if not scope.current:
            chosen()

    @m.action
    def terminate_unstarted(i: Instance) -> None:
        """More rows than the maximum: this one's instance does not run Ray yet (ray#50868)."""
        require(over(), among(s.status[i], *unstarted))
        s.status[i] = Status.TERMINATING
        s.order[i] = Order.ASKED

    def drain_unstarted(i: Instance) -> None:
        """More rows than the maximum: what runs no Ray is drained all the same, for anything that is neither queued
        nor has an instance counts as running."""
        require(over(), among(s.status[i], *drained))
        s.status[i] = Status.RAY_STOP_REQUESTED
        s.order[i] = Order.FORCED
        chosen()

    @m.action
    def drain_over_maximum(i: Instance) -> None:
        """More rows than the maximum, and all run Ray: idle ones go first, but a busy node cannot refuse (R1, R5)."""
        require(over(), s.status[i] == Status.RAY_RUNNING, all_(~among(s.status[j], *first) for j in Instance))
        idle = s.seen_node[i] == Node.IDLE
        require(idle | all_((s.status[j] != Status.RAY_RUNNING) | (s.seen_node[j] != Node.IDLE) for j in Instance))
        s.status[i] = Status.RAY_STOP_REQUESTED
        s.order[i] = Order.FORCED
        chosen()

    must: Actions = [terminate_unstarted, drain_over_maximum]
    if scope.reconfigure:  # else rows over the maximum were adopted, and what is queued was wanted before
        must.append(m.action(cancel_queued))
    if scope.reconfigure and not scope.repaired:
        must.extend((m.action(drain_unstarted), m.action(drain_again)))
    return must


def declare_terminate(m: Machine, s: State) -> Actions:
    """Every loop asks the cloud to take back what is done with."""

    @m.action
    def terminate(i: Instance) -> None:
        """Ray has stopped, or never started, or the cloud has failed to terminate the instance before: it is asked to
        (R11, R16)."""
        require(s.loop == Loop.TERMINATE, among(s.status[i], *TO_TERMINATE))
        s.status[i] = Status.TERMINATING
        s.order[i] = Order.ASKED

    return [terminate]


def declare_launch(m: Machine, s: State) -> Actions:
    """Queued rows become requests."""

    @m.action
    def launch(i: Instance) -> None:
        """The cloud is asked for an instance; not for too many at once (R11, R13, R16)."""
        require(s.loop == Loop.LAUNCH, s.status[i] == Status.QUEUED)
        require(s.requested() < s.scope.max_concurrent_launches, s.chosen_of(i) < s.launch_limit(i))
        s.status[i] = Status.REQUESTED
        s.order[i] = Order.ASKED
        s.choose(i)

    return [launch]


def declare_install(m: Machine, s: State) -> None:
    """New instances get Ray, if they have booted."""

    @m.action
    def install(i: Instance) -> None:
        """The instance has booted: the installer is told. With KubeRay the pod brings Ray along (R11, R12)."""
        require(s.loop == Loop.INSTALL, s.status[i] == Status.ALLOCATED)
        s.status[i] = Status.RAY_INSTALLING
        s.order[i] = Order.ASKED

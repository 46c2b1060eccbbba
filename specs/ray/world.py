"""What happens outside of the autoscaler: users, Ray's own scheduler, the cloud, and the orders that reach it.

None of it changes a row: the next sync sees the results (R15). With an atomic loop it happens between loops only.
"""

from __future__ import annotations

from model.language import Expr, Machine, among, choose, ite, require
from specs.ray.life_cycle import Status
from specs.ray.state import Instance, Loop, Node, Order, State


def declare_world(m: Machine, s: State) -> None:
    """All of it, as the parameters have it."""
    _jobs(m, s)
    _users(m, s)
    _launches(m, s)
    _ray(m, s)
    _drains(m, s)
    _terminations(m, s)
    _losses(m, s)


def _outside(s: State) -> Expr:
    """Whether the world may move."""
    return (s.loop == Loop.REST) if not s.scope.split else s.extra >= 0


def _asked(s: State, i: Instance, status: Status) -> Expr:
    """Whether the order that belongs to ``status`` is on its way."""
    return _outside(s) & (s.status[i] == status) & (s.order[i] == Order.ASKED)


def _jobs(m: Machine, s: State) -> None:
    @m.action
    def submit_job() -> None:
        """A job waits for a node: a task, an actor, or a gang of one node (R18, R19)."""
        require(_outside(s), s.pending + s.busy() < s.scope.jobs)
        s.pending.next = s.pending + 1

    @m.action
    def place_job(i: Instance) -> None:
        """Ray puts a job on an idle node; the autoscaler never does (R2)."""
        require(_outside(s), s.pending > 0, s.node[i] == Node.IDLE)
        s.pending.next = s.pending - 1
        s.node[i] = Node.BUSY

    @m.action
    def finish_job(i: Instance) -> None:
        """A job ends, and its node is idle."""
        require(_outside(s), s.node[i] == Node.BUSY)
        s.node[i] = Node.IDLE


def _users(m: Machine, s: State) -> None:
    # Between loops, a split one too: only the step phase reads this, and as it was when the loop began.
    if s.scope.request_resources:

        @m.action
        def request_resources() -> None:
            """The user asks for a cluster of some size, whatever is pending; the last call counts (R4, R19)."""
            size = choose(range(s.scope.request_resources + 1), "size")
            require(s.loop == Loop.REST, size != s.constraint)
            s.constraint.next = size

    if s.scope.reconfigure:

        @m.action
        def change_max_workers() -> None:
            """The user changes the maximum of the worker group while all is running (R1, R4)."""
            to = choose(range(s.scope.min_workers, s.scope.max_workers + 1), "to")
            require(s.loop == Loop.REST, to != s.most)
            s.most.next = to


def _launches(m: Machine, s: State) -> None:
    @m.action
    def launch_instance(i: Instance) -> None:
        """The cloud has created the instance; no row names it yet (R16)."""
        require(_asked(s, i, Status.REQUESTED))
        s.order[i] = Order.NONE
        s.add_extra(i)

    @m.action
    def fail_launch(i: Instance) -> None:
        """The cloud refuses the launch and says so: of several asked for at once, some may come and some not."""
        require(_asked(s, i, Status.REQUESTED))
        s.order[i] = Order.FAILED

    if s.scope.timeouts:

        @m.action
        def lose_order(i: Instance) -> None:
            """What the subscriber was told comes to nothing, and nobody says so: a launch, an installation, a drain or
            a termination (R15)."""
            require(_outside(s), among(s.order[i], Order.ASKED, Order.FORCED))
            s.order[i] = Order.NONE

    if s.scope.late_launches:

        @m.action
        def launch_late() -> None:
            """The cloud creates an instance that the autoscaler had given up."""
            require(_outside(s), s.late > 0)
            s.late.next = s.late - 1
            s.extra.next = s.extra + 1


def _ray(m: Machine, s: State) -> None:
    @m.action
    def start_ray(i: Instance) -> None:
        """Ray starts on the instance and tells the GCS: installed, or, with KubeRay, with the pod (R12)."""
        begins = s.status[i] == (Status.ALLOCATED if s.scope.kuberay else Status.RAY_INSTALLING)
        require(_outside(s), s.cloud[i], s.node[i] == Node.NONE, begins)
        if not s.scope.kuberay:
            require(s.order[i] == Order.ASKED)
            s.order[i] = Order.NONE
        s.node[i] = Node.IDLE

    if s.scope.late_start:

        @m.action
        def start_ray_late(i: Instance) -> None:
            """Ray starts although the autoscaler has stopped waiting for it."""
            given_up = (Status.ALLOCATION_TIMEOUT, Status.RAY_INSTALL_FAILED, Status.TERMINATING)
            require(_outside(s), s.cloud[i], s.node[i] == Node.NONE, among(s.status[i], *given_up))
            s.node[i] = Node.IDLE

    if not s.scope.kuberay:

        @m.action
        def fail_install(i: Instance) -> None:
            """Ray cannot be installed, after three attempts."""
            require(_asked(s, i, Status.RAY_INSTALLING))
            s.order[i] = Order.FAILED


def _drains(m: Machine, s: State) -> None:
    @m.action
    def accept_drain(i: Instance) -> None:
        """The node is idle when the request to drain arrives, or is not asked; what runs there waits again (R14)."""
        idle = (s.order[i] == Order.ASKED) & (s.node[i] == Node.IDLE)
        forced = (s.order[i] == Order.FORCED) & s.up(i)
        require(_outside(s), s.status[i] == Status.RAY_STOP_REQUESTED, idle | forced)
        _requeue(s, i)
        s.order[i] = Order.NONE
        s.node[i] = Node.DRAINING

    @m.action
    def refuse_drain(i: Instance) -> None:
        """The node is no longer idle when the request to drain arrives (R14)."""
        require(_asked(s, i, Status.RAY_STOP_REQUESTED), s.node[i] == Node.BUSY)
        s.order[i] = Order.FAILED

    @m.action
    def stop_ray(i: Instance) -> None:
        """A node that drains is done."""
        require(_outside(s), s.node[i] == Node.DRAINING)
        s.node[i] = Node.DEAD

    if s.scope.drains:

        @m.action
        def drain_unasked(i: Instance) -> None:
            """Somebody else drains the node: the cloud's notice of a preemption, or an operator."""
            require(_outside(s), s.up(i))
            _requeue(s, i)
            s.node[i] = Node.DRAINING


def _terminations(m: Machine, s: State) -> None:
    @m.action
    def terminate_instance(i: Instance) -> None:
        """The cloud takes the instance back (R16)."""
        require(_asked(s, i, Status.TERMINATING))
        _requeue(s, i)
        s.order[i] = Order.NONE
        s.cloud[i] = False
        s.node[i] = Node.NONE

    @m.action
    def fail_termination(i: Instance) -> None:
        """The cloud refuses to terminate the instance and says so."""
        require(_asked(s, i, Status.TERMINATING))
        s.order[i] = Order.FAILED


def _losses(m: Machine, s: State) -> None:
    if s.scope.vanish:

        @m.action
        def lose_instance(i: Instance) -> None:
            """The cloud takes the instance away unasked."""
            require(_outside(s), s.cloud[i])
            _requeue(s, i)
            s.order[i] = Order.NONE
            s.cloud[i] = False
            s.node[i] = Node.NONE

    if s.scope.crash:

        @m.action
        def kill_ray(i: Instance) -> None:
            """Ray dies on the instance."""
            require(_outside(s), s.up(i))
            _requeue(s, i)
            s.node[i] = Node.DEAD

        @m.action
        def forget_node(i: Instance) -> None:
            """The GCS forgets a dead node (R17)."""
            require(_outside(s), s.node[i] == Node.DEAD)
            s.node[i] = Node.NONE


def _requeue(s: State, i: Instance) -> None:
    """What runs on the node waits again."""
    s.pending.next = s.pending + ite(s.node[i] == Node.BUSY, 1, 0)

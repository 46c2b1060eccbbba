"""What a state of the ray spec consists of, and the words that guards and properties are made of."""

from __future__ import annotations

import enum

from model.language import Expr, Machine, Operand, Sort, among, count_, ite
from specs.ray.life_cycle import COUNTED, HAS_CLOUD_INSTANCE, Status
from specs.ray.parameters import Scope


class Instance(Sort):
    """A row of the instance manager, and the instance of the cloud that it names."""


class Loop(enum.Enum):
    """Where the reconciler is. One loop goes through all of these in this order; 2.48 launches before it terminates."""

    REST = 0
    SYNC = 1
    STUCK = 2
    SCALE = 3
    TERMINATE = 4
    LAUNCH = 5
    INSTALL = 6


class Order(enum.Enum):
    """What a subscriber was told to do for a row: launch, install Ray, drain, terminate, by the row's state."""

    NONE = 0
    ASKED = 1
    FORCED = 2
    """A drain that no busy node can refuse."""
    FAILED = 3
    """It reported an error, which no loop has read yet."""


class Node(enum.Enum):
    """What the GCS says of the Ray node on an instance."""

    NONE = 0
    IDLE = 1
    BUSY = 2
    DRAINING = 3
    DEAD = 4


class State:
    """The variables.

    The instance manager's: ``status`` of each row and ``tries``, its launches that timed out. The subscribers':
    ``order``. The world's: ``cloud``, whether the cloud lists the row's instance; ``node``, its Ray node; ``extra``,
    instances of the cloud that no row names yet; ``late``, launches that the autoscaler has given up and the cloud has
    not; ``pending``, jobs that wait for a node; each takes a whole one. The user's: ``most``, the maximum that the
    configuration has now, and ``constraint``, what request_resources asked for. ``chosen`` counts what the
    phase of the loop has chosen so far: nodes that are idle for too long, then launches.

    The ``seen`` ones are what the loop has read of the world: with a split loop a copy that grows old, else the world
    itself, which stands still meanwhile.
    """

    def __init__(self, m: Machine, scope: Scope) -> None:
        self.scope = scope
        m.sort(Instance, scope.instances, symmetric=scope.types == 1)
        self.loop = m.scalar("loop", Loop, init=Loop.REST)
        self.status = m.variable("status", Instance, Status, init=Status.ABSENT)
        self.tries = m.variable("tries", Instance, range(scope.retries + 1), init=0)
        self.order = m.variable("order", Instance, Order, init=Order.NONE)
        self.cloud = m.variable("cloud", Instance, bool, init=False)
        self.node = m.variable("node", Instance, Node, init=Node.NONE)
        self.extra = m.scalar("extra", range(scope.instances + scope.late_launches + 1), init=0)
        self.late = m.scalar("late", range(scope.late_launches + 1), init=0)
        self.pending = m.scalar("pending", range(scope.jobs + 1), init=0)
        self.chosen = m.scalar("chosen", range(scope.instances + 1), init=0)
        self.most = m.scalar("most", range(scope.max_workers + 1), init=scope.max_workers)
        self.constraint = m.scalar("constraint", range(scope.request_resources + 1), init=0)
        if scope.types > 1:
            # Which rows are of the second worker group; and how many of ``extra`` and ``chosen`` are.
            half = scope.instances // 2
            self.second = m.constant("second", Instance, [0] * (scope.instances - half) + [1] * half)
            self.extra_second = m.scalar("extra_second", self.extra.domain, init=0)
            self.chosen_second = m.scalar("chosen_second", self.chosen.domain, init=0)
        self.seen_cloud, self.seen_node = self.cloud, self.node
        self.seen_extra, self.seen_pending = self.extra, self.pending
        if scope.split:
            self.seen_cloud = m.variable("seen_cloud", Instance, bool, init=False)
            self.seen_node = m.variable("seen_node", Instance, Node, init=Node.NONE)
            self.seen_extra = m.scalar("seen_extra", self.extra.domain, init=0)
            self.seen_pending = m.scalar("seen_pending", self.pending.domain, init=0)

    # ---- what the loop reads

    def read_inputs(self) -> None:
        """The snapshot of a split loop."""
        if self.scope.split:
            for i in Instance:
                self.seen_cloud[i] = self.cloud[i]
                self.seen_node[i] = self.node[i]
            self.seen_extra.next = self.extra
            self.seen_pending.next = self.pending

    def name_extra(self, i: Instance) -> None:
        """The row names an instance of the cloud that none has named."""
        self.extra.next = self.extra - 1
        if self.scope.types > 1:
            self.extra_second.next = self.extra_second - self.second[i]
        self.cloud[i] = True
        if self.scope.split:
            self.seen_extra.next = self.seen_extra - 1
            self.seen_cloud[i] = True

    # ---- the row's worker group

    def same_group(self, i: Instance, j: Instance) -> Expr:
        """Whether two rows are of one worker group, where there are two groups."""
        return self.second[i] == self.second[j]

    def seen_extra_for(self, i: Instance) -> Expr:
        """Instances that no row names, of the row's type."""
        if self.scope.types == 1:
            return self.seen_extra
        return ite(self.second[i] == 1, self.extra_second, self.extra - self.extra_second)

    def chosen_of(self, i: Instance) -> Expr:
        """What the phase has chosen of the row's group."""
        if self.scope.types == 1:
            return self.chosen
        return ite(self.second[i] == 1, self.chosen_second, self.chosen - self.chosen_second)

    def counted_of(self, i: Instance) -> Expr:
        """Rows of its group that the scheduler sees."""
        if self.scope.types == 1:
            return self.counted()
        return count_(self.counts(j) & self.same_group(i, j) for j in Instance)

    def staying_of(self, i: Instance) -> Expr:
        """Rows of its group that the scheduler sees, without those that are asked to drain."""
        if self.scope.types == 1:
            return self.staying()
        draining = Status.RAY_STOP_REQUESTED
        return count_(self.counts(j) & (self.status[j] != draining) & self.same_group(i, j) for j in Instance)

    def choose(self, i: Instance, counts: bool = True) -> None:
        """Part of an action: the phase has chosen the row; it ``counts`` as chosen."""
        one = 1 if counts else 0
        self.chosen.next = self.chosen + one
        if self.scope.types > 1:
            self.chosen_second.next = self.chosen_second + one * self.second[i]

    def choose_none(self) -> None:
        """Part of an action: the next phase has chosen nothing."""
        self.chosen.next = 0
        if self.scope.types > 1:
            self.chosen_second.next = 0

    def add_extra(self, i: Instance) -> None:
        """Part of an action: the cloud has one more instance, of the row's type, that no row names."""
        self.extra.next = self.extra + 1
        if self.scope.types > 1:
            self.extra_second.next = self.extra_second + self.second[i]

    # ---- one row

    def has_cloud(self, i: Instance) -> Expr:
        """Whether the row names an instance of the cloud."""
        return among(self.status[i], *HAS_CLOUD_INSTANCE)

    def counts(self, i: Instance) -> Expr:
        """Whether the scheduler sees the row at all."""
        counted = [x for x in COUNTED if not (self.scope.repaired and x is Status.RAY_STOP_REQUESTED)]
        return among(self.status[i], *counted)

    def up(self, i: Instance) -> Expr:
        """Whether Ray runs on the instance and is not leaving."""
        return among(self.node[i], Node.IDLE, Node.BUSY)

    def seen_up(self, i: Instance) -> Expr:
        """Whether the loop has read so."""
        return among(self.seen_node[i], Node.IDLE, Node.BUSY)

    # ---- all rows

    def counted(self) -> Expr:
        """Rows that the scheduler sees."""
        return count_(self.counts(i) for i in Instance)

    def requested(self) -> Expr:
        """Rows whose launch is under way."""
        return count_(self.status[i] == Status.REQUESTED for i in Instance)

    def running(self) -> Expr:
        """Rows that run Ray."""
        return count_(self.status[i] == Status.RAY_RUNNING for i in Instance)

    def free(self) -> Expr:
        """Nodes, now or soon, that the simulation can put a pending job on: one whose drain was requested too."""
        return count_(
            self.counts(i) & ((self.status[i] != Status.RAY_RUNNING) | (self.seen_node[i] == Node.IDLE))
            for i in Instance
        )

    def staying(self) -> Expr:
        """Rows that the scheduler sees, without those that are asked to drain."""
        return count_(self.counts(i) & (self.status[i] != Status.RAY_STOP_REQUESTED) for i in Instance)

    def busy(self) -> Expr:
        """Jobs that run."""
        return count_(self.node[i] == Node.BUSY for i in Instance)

    def needed(self) -> Expr:
        """The nodes that jobs use or wait for, or that minimum or request_resources want: the most of the three."""
        wanted = self.counted() - self.free() + self.seen_pending
        for floor in (self.constraint, self.scope.types * self.scope.min_workers):
            wanted = ite(wanted < floor, floor, wanted)
        return wanted

    def launch_limit(self, i: Instance) -> Operand:
        """How many launches one loop may begin in the row's group, beside those that are under way."""
        if not self.scope.upscaling_speed:
            return 1
        running = self.running()
        if self.scope.types > 1:
            running = count_((self.status[j] == Status.RAY_RUNNING) & self.same_group(i, j) for j in Instance)
        if not self.scope.current:  # 2.48 multiplies first
            return ite(running == 0, 1, self.scope.upscaling_speed * running)
        return self.scope.upscaling_speed * ite(running == 0, 1, running)

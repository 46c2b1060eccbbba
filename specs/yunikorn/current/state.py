"""What a state of the current edition consists of: what the core knows, what the shim knows, and what is on its
way between them."""

from __future__ import annotations

import enum
from typing import Any

from model.language import Expr, Machine, Sort, Variable, all_, among, any_, count_, ite, record, sum_
from specs.yunikorn.current.groups import Group, Grouped, Groups
from specs.yunikorn.current.parameters import Recovery, Scope, Size


class App(Sort):
    """An application with one task group."""


class Member(Sort):
    """A placeholder of an application, by its place in the task group."""


class Node(Sort):
    """A node."""


class Queue(Sort):
    """A leaf queue. Applications take turns: the first goes to the first leaf, the second to the second, ..."""


class Core(enum.Enum):
    """The core's application states."""

    NEW = 0
    ACCEPTED = 1
    RUNNING = 2
    RESUMING = 3
    COMPLETING = 4
    COMPLETED = 5
    FAILING = 6
    FAILED = 7
    REJECTED = 8
    EXPIRED = 9


class Shim(enum.Enum):
    """The shim's application states."""

    NEW = 0
    SUBMITTED = 1
    ACCEPTED = 2
    RESERVING = 3
    RUNNING = 4
    RESUMING = 5
    FAILING = 6
    FAILED = 7
    COMPLETED = 8
    REJECTED = 9
    KILLING = 10
    KILLED = 11


class Task(enum.Enum):
    """The shim's task states, of a placeholder pod."""

    NEW = 0
    PENDING = 1
    SCHEDULING = 2
    ALLOCATED = 3
    BOUND = 4
    COMPLETED = 5
    FAILED = 6


class Placeholder(enum.Enum):
    """What the core has of a placeholder."""

    NONE = 0
    PENDING = 1
    ALLOCATED = 2
    GONE = 3


class Reason(enum.Enum):
    """TerminationType: why a placeholder is released."""

    NONE = 0
    REPLACED = 1
    TIMEOUT = 2
    PREEMPTED = 3
    STOPPED = 4


class Timer(enum.Enum):
    """A timer of the core. FIRED: its handler waits for the application's lock."""

    OFF = 0
    ON = 1
    FIRED = 2


OVER = (Core.COMPLETED, Core.FAILED, Core.REJECTED, Core.EXPIRED)
"""States of applications that have left their queue."""


def least(one: Expr, other: Expr) -> Expr:
    """The smaller of two numbers."""
    return ite(one < other, one, other)


class State:
    """The variables, and the words that guards and properties are made of.

    ``placeholder`` and ``placed`` are the core's view of a placeholder and its node, ``mark`` the reason for which the
    core wants it back. ``linked`` is the node of the real pod parked behind it. ``asked`` (for a placeholder),
    ``told`` (an allocation), ``release`` and ``confirm`` are messages on their way. Real pods are counted:
    ``unsubmitted`` in the shim, ``real_asks`` in the core, ``reals`` allocated, ``ended``. ``due_node`` and
    ``due_queue`` are what a removal has taken from the application, and not yet from the node and from the queue;
    ``due_ask``: the ask of what was removed has still to go; ``forgotten``: it went when the placeholder timed out,
    which is still allocated. The ``..._used`` are what nodes, queues and users count as used; ``limit``: the limit
    of the user that the core goes by, 0 for none; ``wanted``: what the autoscaler was told last.
    """

    def __init__(self, m: Machine, scope: Scope) -> None:
        self.scope = scope
        s = scope
        m.sort(App, s.apps, ordered=True)
        m.sort(Member, s.size, symmetric=True)
        m.sort(Node, s.nodes, symmetric=True)
        m.sort(Queue, s.leaves)
        self.queue_of = m.constant("queue_of", App, [i % s.leaves for i in range(s.apps)])
        self.queue_number = m.constant("queue_number", Queue, list(range(s.leaves)))
        self.groups = Groups(m, Member, s.size, s.groups)
        pods, units = range(s.reals + 1), range(s.most_units + 1)
        # a restart that takes placeholders for real pods adds them
        all_pods = range(s.all_reals + (s.size if s.recovery is Recovery.LOST else 0) + 1)
        counts = range(2 * s.size + s.reals + 1)
        # the core
        self.core = m.variable("core", App, Core, init=Core.NEW)
        self.placeholder = m.variable("placeholder", (App, Member), Placeholder, init=Placeholder.NONE)
        self.placed = m.variable("placed", (App, Member, Node), bool, init=False)
        self.mark = m.variable("mark", (App, Member), Reason, init=Reason.NONE)
        self.linked = m.variable("linked", (App, Member, Node), bool, init=False)
        self.real_asks = Grouped(m, self.groups, "real_asks", App, pods, 0)
        self.reals = m.variable("reals", (App, Node), all_pods, init=0)
        self.count = Grouped(m, self.groups, "count", App, counts, 0)
        self.replaced = Grouped(m, self.groups, "replaced", App, counts, 0)
        self.timed_out = Grouped(m, self.groups, "timed_out", App, counts, 0)
        self.placeholder_timer = m.variable("placeholder_timer", App, Timer, init=Timer.OFF)
        self.completing_timer = m.variable("completing_timer", App, bool, init=False)
        self.real_timed_out = m.variable("real_timed_out", App, bool, init=False)
        self.late = m.variable("late", App, bool, init=False)
        self.removed = m.variable("removed", App, bool, init=False)
        self.allocating = m.variable("allocating", App, bool, init=False)
        self.running_apps = m.scalar("running_apps", range(s.apps + 1), init=0)
        self.node_used = m.variable("node_used", Node, units, init=0)
        self.leaf_used = m.variable("leaf_used", Queue, units, init=0)
        self.parent_used = m.scalar("parent_used", units, init=0)
        self.user_used = m.scalar("user_used", units, init=0)
        # no step but one in which half of a removal is done
        self.due_node = m.variable("due_node", Node, range(s.placeholder + s.real + 1), init=0)
        self.due_memory: Variable[Node] | None = None
        if s.memory:
            self.due_memory = m.variable("due_memory", Node, range(s.placeholder_memory + s.real_memory + 1), init=0)
        self.due_queue = m.variable("due_queue", App, range(s.placeholder + s.real + 1), init=0)
        self.due_ask = m.variable("due_ask", App, bool, init=False)
        self.forgotten: Variable[tuple[App, Member]] | None = None
        if s.forgets_asks:
            self.forgotten = m.variable("forgotten", (App, Member), bool, init=False)
        self.leaving = m.variable("leaving", Node, bool, init=False)
        self.lost = m.variable("lost", Node, bool, init=False)
        self.crashed = m.scalar("crashed", bool, init=False)
        self.limit = m.scalar("limit", range(s.user_limit + s.config_updates + 1), init=s.user_limit)
        self.wanted = m.scalar("wanted", range(s.most_units + 1 if s.autoscaler else 1), init=0)
        self.total = m.scalar("total", range(s.nodes * s.capacity + 1), init=s.nodes * s.capacity)
        # the shim
        self.shim = m.variable("shim", App, Shim, init=Shim.NEW)
        self.task = m.variable("task", (App, Member), Task, init=Task.NEW)
        self.unsubmitted = Grouped(m, self.groups, "unsubmitted", App, pods, s.reals)
        self.ended = m.variable("ended", App, all_pods, init=0)
        # messages
        self.asked = m.variable("asked", (App, Member), bool, init=False)
        self.told = m.variable("told", (App, Member), bool, init=False)
        self.release = m.variable("release", (App, Member), Reason, init=Reason.NONE)
        self.confirm = m.variable("confirm", (App, Member), Reason, init=Reason.NONE)
        self.updates = m.channel("updates", record(state=Core), 2, over=App)
        # what the environment may still do
        self.duplicates = self._budget(m, "duplicates", s.duplicates)
        self.deletions = self._budget(m, "deletions", s.deletions)
        self.bind_failures = self._budget(m, "bind_failures", s.bind_failures)
        self.preemptions = self._budget(m, "preemptions", s.preemptions)
        self.node_removals = self._budget(m, "node_removals", s.node_removals)
        self.app_removals = self._budget(m, "app_removals", s.app_removals)
        self.restarts = self._budget(m, "restarts", s.restarts)
        self.config_updates = self._budget(m, "config_updates", s.config_updates)

    @staticmethod
    def _budget(m: Machine, name: str, most: int) -> Any:
        return m.scalar(name, range(most + 1), init=most)

    # ---- one application

    def allocated(self, a: App, g: Group | None = None) -> Expr:
        """Its allocated placeholders, of one group or of all: marked ones too, until the shim confirms."""
        return count_(self.groups.within(g, p, self.placeholder[a, p] == Placeholder.ALLOCATED) for p in Member)

    def pending_placeholders(self, a: App, g: Group | None = None) -> Expr:
        """Its placeholder asks, of one group or of all."""
        return count_(self.groups.within(g, p, self.placeholder[a, p] == Placeholder.PENDING) for p in Member)

    def parked(self, a: App, g: Group | None = None) -> Expr:
        """Its real pods that wait behind a placeholder, of one group or of all."""
        return count_(self.groups.within(g, p, self.linked[a, p, k]) for p in Member for k in Node)

    def running_pods(self, a: App) -> Expr:
        """Its real pods that are allocated."""
        return sum_(self.reals[a, n] for n in Node)

    def idle(self, a: App) -> Expr:
        """hasZeroAllocations: nothing pending, no real pod allocated. Placeholders and parked pods do not count."""
        return (self.pending_placeholders(a) == 0) & (self.real_asks[a] == 0) & (self.running_pods(a) == 0)

    def has_link(self, a: App, p: Member) -> Expr:
        """Whether a real pod is parked behind the placeholder."""
        return any_(self.linked[a, p, k] for k in Node)

    def can_replace(self, a: App, g: Group | None = None) -> Expr:
        """canReplace: by the counters of the task group some placeholder may still be replaced."""
        return self.count[a, g] > self.replaced[a, g] + self.timed_out[a, g]

    def over(self, a: App) -> Expr:
        """Whether the application has left its queue."""
        return among(self.core[a], *OVER) | self.removed[a]

    def holds(self, a: App) -> Expr:
        """Units of its allocations, as queues and users count them."""
        return self.scope.placeholder * self.allocated(a) + self.scope.real * self.running_pods(a)

    # ---- nodes and queues

    def serves(self, n: Node) -> Expr:
        """Whether the scheduling cycle sees the node."""
        return ~self.leaving[n] & ~self.lost[n]

    def on_node(self, n: Node) -> Expr:
        """Units that are on a node: a real pod parked on another node than its placeholder is there already."""
        return self._on_node(n, self.scope.placeholder, self.scope.real)

    def _on_node(self, n: Node, placeholder: int, real: int) -> Expr:
        return (
            placeholder * count_(self.placed[a, p, n] for a in App for p in Member)
            + real * sum_(self.reals[a, n] for a in App)
            + real * count_(self.linked[a, p, n] & ~self.placed[a, p, n] for a in App for p in Member)
        )

    def memory_used(self, n: Node) -> Expr:
        """Memory of what is on a node, and what a removal has still to take off it."""
        assert self.due_memory is not None
        return self._on_node(n, self.scope.placeholder_memory, self.scope.real_memory) + self.due_memory[n]

    def in_leaf(self, a: App, q: Queue) -> Expr:
        """Whether q is the leaf queue of the application."""
        return self.queue_of[a] == self.queue_number[q]

    def fits_node(self, n: Node, pod: Size) -> Expr:
        """Whether the node is schedulable and has room, of every resource."""
        fits = self.serves(n) & (self.node_used[n] + pod.units <= self.scope.capacity)
        return fits & (self.memory_used(n) + pod.memory <= self.scope.memory) if self.scope.memory else fits

    def fits_queues(self, a: App, units: int) -> list[Expr]:
        """Head room on each level: of the leaf queue, if it lists the type, of the parent, and of the root, whose
        maximum is the size of all nodes; and, where the user is limited, what is left to it in the leaf and in the
        parent."""
        levels = [self.parent_used + units <= self.scope.quota, self.parent_used + units <= self.total]
        if self.scope.leaf_quota:
            leaf = sum_(ite(self.in_leaf(a, q), self.leaf_used[q], 0) for q in Queue)
            levels.insert(0, leaf + units <= self.scope.leaf_quota)
        if self.scope.user_limit:
            in_leaf = sum_(ite(self.queue_of[b] == self.queue_of[a], self.holds(b), 0) for b in App)
            levels += [(self.limit == 0) | (used + units <= self.limit) for used in (in_leaf, self.user_used)]
        return levels

    def outstanding(self, q: Queue) -> Expr:
        """Units of the placeholder asks in a leaf for which the leaf has head room."""
        asks = sum_(ite(self.in_leaf(a, q), self.scope.placeholder * self.pending_placeholders(a), 0) for a in App)
        return least(asks, self.scope.leaf_quota - self.leaf_used[q]) if self.scope.leaf_quota else asks

    def no_node_due(self) -> Expr:
        """Whether no node has to be told of a removal."""
        return all_(~self.is_due(n) for n in Node)

    def is_due(self, n: Node) -> Expr:
        """Whether the node has to be told of a removal."""
        units = self.due_node[n] > 0
        return units if self.due_memory is None else units | (self.due_memory[n] > 0)

    def removing(self) -> Expr:
        """Whether the core is in the middle of a removal: the goroutine that handles messages is busy with it."""
        return (
            any_(self.is_due(n) for n in Node)
            | any_((self.due_queue[a] > 0) | self.due_ask[a] for a in App)
            | any_(self.leaving[n] for n in Node)
        )

    def quiet(self) -> Expr:
        """Whether nothing is on its way, so that a slow timer may fire."""
        return (
            ~self.removing()
            & all_(self.updates[a].is_empty() & (self.shim[a] != Shim.SUBMITTED) for a in App)
            & all_(
                ~self.told[a, p]
                & ~self.asked[a, p]
                & (self.release[a, p] == Reason.NONE)
                & (self.confirm[a, p] == Reason.NONE)
                & (self.task[a, p] != Task.ALLOCATED)
                & ~((self.task[a, p] == Task.PENDING) & (self.shim[a] == Shim.RESERVING))
                for a in App
                for p in Member
            )
        )

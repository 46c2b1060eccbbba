"""What a state of the yunikorn spec consists of, and the sums that guards and properties are made of."""

from __future__ import annotations

import enum

from model.language import Expr, Machine, Sort, all_, any_, ite, sum_
from specs.yunikorn.seed.parameters import Scope


class App(Sort):
    """An application with one task group. Their order is the order of submission."""


class Node(Sort):
    """A node."""


class AppState(enum.Enum):
    """The core's application states."""

    NEW = 0
    ACCEPTED = 1
    RUNNING = 2
    WAITING = 3
    COMPLETED = 4
    KILLED = 5
    REJECTED = 6


class State:
    """The variables. Where a placeholder is on its way tells which of the counts per node it is in.

    A placeholder is first one of ``asks``, then allocated: one of ``placeholders`` on a node. The core marks it for
    release, for a real pod (``replacing``) or because a timer fired (``releasing``), and the shim's confirmation takes
    it away (``released``). A real pod that is parked behind the placeholder that it replaces is counted with it; once
    allocated it is one of ``reals`` until it finishes. ``real_asks`` are pending without a placeholder to replace.
    ``late``: one more ask may arrive although the clean-up has begun.
    """

    def __init__(self, m: Machine, scope: Scope) -> None:
        self.hierarchy = scope.hierarchy
        m.sort(App, len(scope.sizes), ordered=True)
        m.sort(Node, len(scope.capacities), symmetric=len(set(scope.capacities)) == 1)
        self.size = m.constant("size", App, scope.sizes)
        self.capacity = m.constant("capacity", Node, scope.capacities)
        self.queue = m.constant("queue", App, scope.queue_of)
        self.leaf_quota = m.constant("leaf_quota", App, scope.leaf_quotas)
        self.parent_quota = scope.quota
        count = range(max(scope.sizes) + 1)
        self.state = m.variable("state", App, AppState, init=AppState.NEW)
        self.asks = m.variable("asks", App, count, init=0)
        self.real_asks = m.variable("real_asks", App, count, init=0)
        self.released = m.variable("released", App, count, init=0)
        self.late = m.variable("late", App, bool, init=False)
        self.placeholders = m.variable("placeholders", (App, Node), count, init=0)
        self.replacing = m.variable("replacing", (App, Node), count, init=0)
        self.releasing = m.variable("releasing", (App, Node), count, init=0)
        self.reals = m.variable("reals", (App, Node), count, init=0)

    # ---- one application

    def unreleased(self, a: App) -> Expr:
        """Allocated placeholders that are not marked for release."""
        return sum_(self.placeholders[a, n] for n in Node)

    def parked(self, a: App) -> Expr:
        """Real pods parked behind a placeholder."""
        return sum_(self.replacing[a, n] for n in Node)

    def timed_out(self, a: App) -> Expr:
        """Placeholders marked for release because a timer fired."""
        return sum_(self.releasing[a, n] for n in Node)

    def allocated(self, a: App) -> Expr:
        """Placeholders that the core counts as allocated: marked ones too, until the shim confirms."""
        return sum_(self.placeholders[a, n] + self.replacing[a, n] + self.releasing[a, n] for n in Node)

    def running(self, a: App) -> Expr:
        """Real pods that are allocated."""
        return sum_(self.reals[a, n] for n in Node)

    def held(self, a: App) -> Expr:
        """All that counts against quotas and nodes."""
        return self.allocated(a) + self.running(a)

    def waits(self, a: App) -> Expr:
        """Whether placeholder asks are pending."""
        return self.asks[a] > 0

    def reserves(self, a: App) -> Expr:
        """Whether it holds part of its gang and is to get the rest."""
        return (self.asks[a] > 0) & (self.asks[a] < self.size[a]) & (self.timed_out(a) == 0)

    # ---- nodes and queues

    def used(self, n: Node) -> Expr:
        """What is allocated on a node."""
        return sum_(
            self.placeholders[a, n] + self.replacing[a, n] + self.releasing[a, n] + self.reals[a, n] for a in App
        )

    def leaf_used(self, a: App) -> Expr:
        """What is allocated in the leaf queue of an application."""
        return sum_(ite(self.queue[b] == self.queue[a], self.held(b), 0) for b in App)

    def parent_used(self) -> Expr:
        """What is allocated in all queues."""
        return sum_(self.held(b) for b in App)

    def leaf_promised(self, a: App) -> Expr:
        """What applications in the leaf queue of ``a`` still have to reserve."""
        return sum_(ite((self.queue[b] == self.queue[a]) & self.reserves(b), self.asks[b], 0) for b in App)

    def parent_promised(self) -> Expr:
        """What all applications still have to reserve."""
        return sum_(ite(self.reserves(b), self.asks[b], 0) for b in App)

    def fits_empty_queues(self, a: App) -> Expr:
        """Whether the placeholderAsk of an application is within every quota on its path."""
        return (self.size[a] <= self.leaf_quota[a]) & (self.size[a] <= self.parent_quota)

    def fits_leaf(self, a: App, units: Expr | int) -> Expr:
        """Whether ``units`` more keep the quota of the application's leaf."""
        return self.leaf_used(a) + units <= self.leaf_quota[a]

    def fits_parent(self, units: Expr | int) -> Expr:
        """Whether ``units`` more keep the parent's quota."""
        return self.parent_used() + units <= self.parent_quota

    def no_message_in_flight(self) -> Expr:
        """Whether the shim has confirmed every release."""
        return all_((self.replacing[a, n] == 0) & (self.releasing[a, n] == 0) for a in App for n in Node)

    def no_other_node_has_room(self, n: Node) -> Expr:
        """Whether all nodes but one are full."""
        return ~any_((k != n) & (self.used(k) < self.capacity[k]) for k in Node)

"""What a state of YuniKorn's slice consists of."""

from __future__ import annotations

import enum

from model.language import Expr, Machine, Sort, sum_
from specs.yunikorn.seed.state import App, Node


class Queue(Sort):
    """A leaf queue; all have one parent."""


class Life(enum.Enum):
    """How far an application is."""

    NEW = 0
    ACCEPTED = 1
    RUNNING = 2
    """Running or Waiting."""
    TIMED_OUT = 3
    """Accepted, and its placeholders are being released."""
    OVER = 4
    """Completed, Killed or Rejected."""


class State:
    """The variables, and the sums over them.

    ``asks`` and ``real_asks`` are pending; ``placeholders`` are allocated, ``parked`` are those behind which a real pod
    waits, and ``reals`` the real pods. ``counted`` is what a leaf counts for an application; the ``..._used`` are what
    nodes, leaves and their parent count.
    """

    def __init__(self, m: Machine, size: int, capacity: int, leaf_quota: int, quota: int) -> None:
        self.size, self.capacity, self.leaf_quota, self.quota = size, capacity, leaf_quota, quota
        count = range(size + 1)
        self.life = m.variable("life", App, Life, init=Life.NEW)
        self.asks = m.variable("asks", App, count, init=0)
        self.real_asks = m.variable("real_asks", App, count, init=0)
        self.placeholders = m.variable("placeholders", (App, Node), count, init=0)
        self.parked = m.variable("parked", (App, Node), count, init=0)
        self.reals = m.variable("reals", (App, Node), count, init=0)
        self.counted = m.variable("counted", (App, Queue), count, init=0)
        self.node_used = m.variable("node_used", Node, range(capacity + 1), init=0)
        self.leaf_used = m.variable("leaf_used", Queue, range(leaf_quota + 1), init=0)
        self.parent_used = m.scalar("parent_used", range(quota + 1), init=0)

    def units(self, a: App, n: Node) -> Expr:
        """What an application holds on a node."""
        return self.placeholders[a, n] + self.parked[a, n] + self.reals[a, n]

    def held(self, a: App) -> Expr:
        """What it holds on all nodes."""
        return sum_(self.units(a, n) for n in Node)

    def asked(self, a: App) -> Expr:
        """Real pods that are asked for, parked or allocated."""
        return self.real_asks[a] + sum_(self.parked[a, n] + self.reals[a, n] for n in Node)

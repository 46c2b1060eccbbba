"""What of YuniKorn's design decides quotas, nodes and gangs: a small machine, meant for any number of applications.

It is the seed edition without order, gates, timers and messages: each action touches one application.
"""

from __future__ import annotations

import enum

from model.language import Expr, Machine, Sort, all_, among, any_, implies, ite, require, sum_
from specs.parameters import check_size
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


def yunikorn_slice(
    apps: int = 2,
    size: int = 2,
    nodes: int = 2,
    capacity: int = 2,
    queues: int = 1,
    leaf_quota: int = 3,
    quota: int = 3,
) -> Machine:
    """YuniKorn's quotas, nodes and gangs, for proofs about any number of applications, nodes and queues.

    ``apps`` gangs of ``size`` members in ``queues`` leaves of ``leaf_quota`` under one parent of ``quota``; ``nodes``
    nodes for ``capacity`` members each. ValueError for sizes that make no sense.
    """
    sizes = {"apps": apps, "size": size, "nodes": nodes, "capacity": capacity, "queues": queues}
    for name, value in {**sizes, "leaf_quota": leaf_quota, "quota": quota}.items():
        check_size(name, value)
    m = Machine("yunikorn_slice", doc="What of YuniKorn's design decides quotas, nodes and gangs")
    m.sort(App, apps, symmetric=True)
    m.sort(Node, nodes, symmetric=True)
    m.sort(Queue, queues, symmetric=True)
    count = range(size + 1)
    life = m.variable("life", App, Life, init=Life.NEW)
    asks = m.variable("asks", App, count, init=0)
    real_asks = m.variable("real_asks", App, count, init=0)
    placeholders = m.variable("placeholders", (App, Node), count, init=0)
    parked = m.variable("parked", (App, Node), count, init=0)
    reals = m.variable("reals", (App, Node), count, init=0)
    counted = m.variable("counted", (App, Queue), count, init=0)
    node_used = m.variable("node_used", Node, range(capacity + 1), init=0)
    leaf_used = m.variable("leaf_used", Queue, range(leaf_quota + 1), init=0)
    parent_used = m.scalar("parent_used", range(quota + 1), init=0)

    def units(a: App, n: Node) -> Expr:
        return placeholders[a, n] + parked[a, n] + reals[a, n]

    def held(a: App) -> Expr:
        return sum_(units(a, n) for n in Node)

    def asked(a: App) -> Expr:
        return real_asks[a] + sum_(parked[a, n] + reals[a, n] for n in Node)

    def take(a: App, n: Node, q: Queue) -> None:
        require(node_used[n] < capacity, leaf_used[q] < leaf_quota, parent_used < quota)
        node_used[n] += 1
        leaf_used[q] += 1
        counted[a, q] += 1
        parent_used.next += 1

    def give_back(a: App, n: Node, q: Queue) -> None:
        require(counted[a, q] > 0)
        node_used[n] -= 1
        leaf_used[q] -= 1
        counted[a, q] -= 1
        parent_used.next -= 1

    @m.action
    def reject(a: App) -> None:
        """The application is not taken, for its size or by the policy of its queue (Y5, Y6)."""
        require(life[a] == Life.NEW)
        life[a] = Life.OVER

    @m.action
    def submit(a: App) -> None:
        """The asks of all placeholders reach the core (Y4, Y12, Y13)."""
        require(life[a] == Life.NEW)
        life[a] = Life.ACCEPTED
        asks[a] = size

    @m.action
    def allocate_placeholder(a: App, n: Node, q: Queue) -> None:
        """A placeholder is bound as any ask, where node, leaf and parent have room (Y3, Y8)."""
        require(life[a] == Life.ACCEPTED, asks[a] > 0)
        take(a, n, q)
        asks[a] -= 1
        placeholders[a, n] += 1

    @m.action
    def replace(a: App, n: Node) -> None:
        """A real pod is parked behind a placeholder; it was asked for just now, or is pending (Y14, Y16, Y17)."""
        require(among(life[a], Life.ACCEPTED, Life.RUNNING), asks[a] == 0, placeholders[a, n] > 0)
        placeholders[a, n] -= 1
        parked[a, n] += 1

    @m.action
    def replace_pending(a: App, n: Node) -> None:
        """A real ask that is pending is parked behind a placeholder (Y16)."""
        require(real_asks[a] > 0, placeholders[a, n] > 0)
        real_asks[a] -= 1
        placeholders[a, n] -= 1
        parked[a, n] += 1

    @m.action
    def confirm_on_same_node(a: App, n: Node) -> None:
        """The placeholder goes, the real pod takes its place (Y18)."""
        require(parked[a, n] > 0)
        parked[a, n] -= 1
        reals[a, n] += 1
        life[a] = Life.RUNNING

    if nodes > 1:

        @m.action
        def confirm_on_other_node(a: App, n: Node, other: Node) -> None:
            """The placeholder goes, another node takes the real pod (Y18)."""
            require(parked[a, n] > 0, n != other, node_used[other] < capacity)
            parked[a, n] -= 1
            reals[a, other] += 1
            node_used[n] -= 1
            node_used[other] += 1
            life[a] = Life.RUNNING

    @m.action
    def confirm_unschedulable(a: App, n: Node, q: Queue) -> None:
        """The placeholder goes, and the real pod is pending again (Y18)."""
        require(parked[a, n] > 0)
        give_back(a, n, q)
        parked[a, n] -= 1
        real_asks[a] += 1

    @m.action
    def allocate_real(a: App, n: Node, q: Queue) -> None:
        """A real ask without a placeholder is scheduled as any other (Y16)."""
        require(real_asks[a] > 0)
        take(a, n, q)
        real_asks[a] -= 1
        reals[a, n] += 1
        life[a] = Life.RUNNING

    @m.action
    def ask_late(a: App) -> None:
        """An ask for one more real pod, in place of a member that ended (Y21)."""
        require(life[a] == Life.RUNNING, held(a) + real_asks[a] < size)
        real_asks[a] += 1

    @m.action
    def finish_pod(a: App, n: Node, q: Queue) -> None:
        """A real pod ends (Y20)."""
        require(life[a] == Life.RUNNING, reals[a, n] > 0)
        give_back(a, n, q)
        reals[a, n] -= 1

    @m.action
    def complete(a: App) -> None:
        """Nothing is allocated or pending any more: the application is over (Y21, Y26)."""
        require(life[a] == Life.RUNNING, held(a) == 0, real_asks[a] == 0)
        life[a] = Life.OVER

    @m.action
    def time_out(a: App) -> None:
        """A gang of which a part is allocated gives up (Y22, Y23)."""
        require(life[a] == Life.ACCEPTED, asks[a] > 0, held(a) > 0)
        life[a] = Life.TIMED_OUT

    @m.action
    def release_ask(a: App) -> None:
        """A pending placeholder ask of such a gang is released (Y24, Y25)."""
        require(life[a] == Life.TIMED_OUT, asks[a] > 0)
        asks[a] -= 1

    @m.action
    def release(a: App, n: Node, q: Queue) -> None:
        """A placeholder is released, of such a gang after its asks; with the last one it is over (Y24, Y25, Y26)."""
        require(among(life[a], Life.RUNNING, Life.TIMED_OUT), asks[a] == 0, placeholders[a, n] > 0)
        life[a] = ite((life[a] == Life.TIMED_OUT) & (held(a) == 1), Life.OVER, life[a])
        give_back(a, n, q)
        placeholders[a, n] -= 1

    @m.always
    def node_capacity() -> Expr:
        """No node holds more than it can (Y3, Y18)."""
        return all_(sum_(units(a, n) for a in App) <= capacity for n in Node)

    @m.always
    def quota_never_exceeded() -> Expr:
        """No leaf queue holds more than its quota, nor do all together hold more than their parent's (Y5, Y8, Y11)."""
        everything = sum_(units(a, n) for a in App for n in Node)
        return all_(sum_(counted[a, q] for a in App) <= leaf_quota for q in Queue) & (everything <= quota)

    @m.always
    def no_partial_gang_runs() -> Expr:
        """No application runs, or has a real pod asked for, parked or allocated, before all its placeholders have been
        allocated (Y1, Y14)."""
        return all_(
            implies(
                (life[a] == Life.RUNNING) | (asked(a) > 0),
                (asks[a] == 0) & among(life[a], Life.ACCEPTED, Life.RUNNING),
            )
            for a in App
        )

    @m.always
    def gangs_are_reserved_whole() -> Expr:
        """Of an accepted application for which no real pod was asked yet every member is pending or allocated: asks run
        out only when the whole gang has its placeholders (Y1, Y14, Y19)."""
        return all_(
            implies(
                (life[a] == Life.ACCEPTED) & (asked(a) == 0),
                asks[a] + sum_(placeholders[a, n] for n in Node) == size,
            )
            for a in App
        )

    @m.always
    def gangs_do_not_grow() -> Expr:
        """No application has more pending and allocated than its gang has members; one that is over, or not submitted,
        has nothing (Y10, Y26)."""
        return all_(asks[a] + held(a) + real_asks[a] <= ite(among(life[a], Life.NEW, Life.OVER), 0, size) for a in App)

    @m.always
    def node_usage_is_conserved() -> Expr:
        """What a node counts as used is what it holds (Y18)."""
        return all_(node_used[n] == sum_(units(a, n) for a in App) for n in Node)

    @m.always
    def queue_usage_is_conserved() -> Expr:
        """What a leaf counts is what it counts for its applications, which is what they hold; what the parent counts is
        what its leaves count, and what all applications hold (Y8, Y11)."""
        return (
            all_(leaf_used[q] == sum_(counted[a, q] for a in App) for q in Queue)
            & all_(held(a) == sum_(counted[a, q] for q in Queue) for a in App)
            & (parent_used == sum_(leaf_used[q] for q in Queue))
            & (parent_used == sum_(units(a, n) for a in App for n in Node))
        )

    @m.sometimes
    def a_whole_gang_runs() -> Expr:
        """All members of some gang are real pods, and run (Y1)."""
        return any_(sum_(reals[a, n] for n in Node) == size for a in App)

    @m.terminal
    def all_over() -> Expr:
        """Every application is over."""
        return all_(life[a] == Life.OVER for a in App)

    return m

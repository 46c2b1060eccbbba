"""What of YuniKorn's design decides quotas, nodes and gangs: a small machine, meant for any number of applications.

It is the seed edition without order, gates, timers and messages: each action touches one application.
"""

from __future__ import annotations

from model.language import Machine, among, ite, require
from specs.parameters import check_size
from specs.yunikorn.seed.state import App, Node
from specs.yunikorn.slice.properties import declare
from specs.yunikorn.slice.state import Life, Queue, State


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
    s = State(m, size, capacity, leaf_quota, quota)
    m.attach(s)
    _allocate(m, s)
    _replace(m, s, nodes)
    _end(m, s)
    declare(m, s)
    return m


def _allocate(m: Machine, s: State) -> None:
    @m.action
    def reject(a: App) -> None:
        """The application is not taken, for its size or by the policy of its queue (Y5, Y6)."""
        require(s.life[a] == Life.NEW)
        s.life[a] = Life.OVER

    @m.action
    def submit(a: App) -> None:
        """The asks of all placeholders reach the core (Y4, Y12, Y13)."""
        require(s.life[a] == Life.NEW)
        s.life[a] = Life.ACCEPTED
        s.asks[a] = s.size

    @m.action
    def allocate_placeholder(a: App, n: Node, q: Queue) -> None:
        """A placeholder is bound as any ask, where node, leaf and parent have room (Y3, Y8)."""
        require(s.life[a] == Life.ACCEPTED, s.asks[a] > 0)
        take(s, a, n, q)
        s.asks[a] -= 1
        s.placeholders[a, n] += 1


def _replace(m: Machine, s: State, nodes: int) -> None:
    @m.action
    def replace(a: App, n: Node) -> None:
        """A real pod is parked behind a placeholder; it was asked for just now, or is pending (Y14, Y16, Y17)."""
        require(among(s.life[a], Life.ACCEPTED, Life.RUNNING), s.asks[a] == 0, s.placeholders[a, n] > 0)
        s.placeholders[a, n] -= 1
        s.parked[a, n] += 1

    @m.action
    def replace_pending(a: App, n: Node) -> None:
        """A real ask that is pending is parked behind a placeholder (Y16)."""
        require(s.real_asks[a] > 0, s.placeholders[a, n] > 0)
        s.real_asks[a] -= 1
        s.placeholders[a, n] -= 1
        s.parked[a, n] += 1

    @m.action
    def confirm_on_same_node(a: App, n: Node) -> None:
        """The placeholder goes, the real pod takes its place (Y18)."""
        require(s.parked[a, n] > 0)
        s.parked[a, n] -= 1
        s.reals[a, n] += 1
        s.life[a] = Life.RUNNING

    if nodes > 1:

        @m.action
        def confirm_on_other_node(a: App, n: Node, other: Node) -> None:
            """The placeholder goes, another node takes the real pod (Y18)."""
            require(s.parked[a, n] > 0, n != other, s.node_used[other] < s.capacity)
            s.parked[a, n] -= 1
            s.reals[a, other] += 1
            s.node_used[n] -= 1
            s.node_used[other] += 1
            s.life[a] = Life.RUNNING

    @m.action
    def confirm_unschedulable(a: App, n: Node, q: Queue) -> None:
        """The placeholder goes, and the real pod is pending again (Y18)."""
        require(s.parked[a, n] > 0)
        give_back(s, a, n, q)
        s.parked[a, n] -= 1
        s.real_asks[a] += 1

    @m.action
    def allocate_real(a: App, n: Node, q: Queue) -> None:
        """A real ask without a placeholder is scheduled as any other (Y16)."""
        require(s.real_asks[a] > 0)
        take(s, a, n, q)
        s.real_asks[a] -= 1
        s.reals[a, n] += 1
        s.life[a] = Life.RUNNING

    @m.action
    def ask_late(a: App) -> None:
        """An ask for one more real pod, in place of a member that ended (Y21)."""
        require(s.life[a] == Life.RUNNING, s.held(a) + s.real_asks[a] < s.size)
        s.real_asks[a] += 1


def _end(m: Machine, s: State) -> None:
    @m.action
    def finish_pod(a: App, n: Node, q: Queue) -> None:
        """A real pod ends (Y20)."""
        require(s.life[a] == Life.RUNNING, s.reals[a, n] > 0)
        give_back(s, a, n, q)
        s.reals[a, n] -= 1

    @m.action
    def complete(a: App) -> None:
        """Nothing is allocated or pending any more: the application is over (Y21, Y26)."""
        require(s.life[a] == Life.RUNNING, s.held(a) == 0, s.real_asks[a] == 0)
        s.life[a] = Life.OVER

    @m.action
    def time_out(a: App) -> None:
        """A gang of which a part is allocated gives up (Y22, Y23)."""
        require(s.life[a] == Life.ACCEPTED, s.asks[a] > 0, s.held(a) > 0)
        s.life[a] = Life.TIMED_OUT

    @m.action
    def release_ask(a: App) -> None:
        """A pending placeholder ask of such a gang is released (Y24, Y25)."""
        require(s.life[a] == Life.TIMED_OUT, s.asks[a] > 0)
        s.asks[a] -= 1

    @m.action
    def release(a: App, n: Node, q: Queue) -> None:
        """A placeholder is released, of such a gang after its asks; with the last one it is over (Y24, Y25, Y26)."""
        require(among(s.life[a], Life.RUNNING, Life.TIMED_OUT), s.asks[a] == 0, s.placeholders[a, n] > 0)
        s.life[a] = ite((s.life[a] == Life.TIMED_OUT) & (s.held(a) == 1), Life.OVER, s.life[a])
        give_back(s, a, n, q)
        s.placeholders[a, n] -= 1


def take(s: State, a: App, n: Node, q: Queue) -> None:
    """One more unit is allocated, where node, leaf and parent have room."""
    require(s.node_used[n] < s.capacity, s.leaf_used[q] < s.leaf_quota, s.parent_used < s.quota)
    s.node_used[n] += 1
    s.leaf_used[q] += 1
    s.counted[a, q] += 1
    s.parent_used.next += 1


def give_back(s: State, a: App, n: Node, q: Queue) -> None:
    """A unit is free again."""
    require(s.counted[a, q] > 0)
    s.node_used[n] -= 1
    s.leaf_used[q] -= 1
    s.counted[a, q] -= 1
    s.parent_used.next -= 1

"""Machines with channels, and what the compiled explorer and the interpreter agree on about them."""

from __future__ import annotations

import enum

from agreement import assert_agrees

from model.language import (
    Expr,
    Machine,
    Order,
    Sort,
    all_,
    choose,
    record,
    require,
    when,
)
from model.verdict import Outcome


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Kind(enum.Enum):
    ASK = 0
    RELEASE = 1


def states_of(machine: Machine) -> int:
    return assert_agrees(machine).verdict.coverage.distinct_states


def outcome(machine: Machine, name: str) -> Outcome:
    return assert_agrees(machine).verdict[name].outcome


# ---- channels


def pipe(
    order: Order,
    capacity: int,
    apps: int = 2,
    units: int = 2,
    *,
    blocking: bool = True,
    duplicates: bool = False,
    lossy: bool = False,
) -> Machine:
    """Any message may be sent, whenever there is room, and is received some time."""
    m = Machine("pipe")
    m.sort(App, apps, symmetric=True)
    fields = record(kind=Kind, app=App, units=range(1, units + 1), urgent=bool)
    channel = m.channel("pipe", fields, capacity, order, blocking=blocking, duplicates=duplicates, lossy=lossy)

    @m.action
    def send(a: App) -> None:
        channel.send(kind=choose(Kind), app=a, units=choose(range(1, units + 1)), urgent=choose(bool))

    @m.action
    def receive() -> None:
        channel.receive()

    @m.always
    def consistent() -> Expr:
        return channel.consistent()

    @m.always
    def counts_add_up() -> Expr:
        return (channel.count(kind=Kind.ASK) + channel.count(kind=Kind.RELEASE) == channel.length()) & (
            channel.has() == ~channel.is_empty()
        )

    return m


def relay(order: Order, capacity: int = 3, *, conditional: bool = False) -> Machine:
    """One step may receive one message and send two; what comes out is noted."""
    m = Machine("relay")
    m.sort(App, 2)
    channel = m.channel("line", record(app=App, hops=range(3)), capacity, order, blocking=True)
    first = m.element("first", App)
    seen = m.set("seen", (App, App))

    @m.action
    def start(a: App, b: App) -> None:
        require(channel.is_empty(), first.is_none())
        first.next = a
        channel.send(app=a, hops=0)
        with when(a != b):
            channel.send(app=b, hops=1)
        channel.send(app=b, hops=2)

    @m.action
    def pass_on(a: App) -> None:
        """The message comes back behind those that wait, with one hop more."""
        message = channel.receive(app=a)
        split = choose(bool)
        require(message.hops < 2)
        if conditional:
            with when(split):
                channel.send(app=a, hops=message.hops + 1)
            with when(~split):
                channel.send(app=a, hops=2)
        else:
            channel.send(app=a, hops=message.hops + 1)
            with when(split):
                channel.send(app=a, hops=2)

    @m.action
    def arrive(a: App) -> None:
        channel.receive(app=a, hops=2)
        for b in App:
            with when(first == b):
                seen.add((a, b))

    @m.action
    def over() -> None:
        require(channel.is_empty(), ~first.is_none())
        first.next = None
        seen.clear()

    @m.always
    def consistent() -> Expr:
        return channel.consistent()

    @m.terminal
    def stuck() -> Expr:
        return channel.is_full()

    return m


def broadcast(order: Order, nodes: int, capacity: int, *, to_all: bool = False) -> Machine:
    """A channel for each node: one step sends to all of them, or to one."""
    m = Machine("broadcast")
    m.sort(App, 2, symmetric=True)
    m.sort(Node, nodes, symmetric=True)
    inbox = m.channel("inbox", record(kind=Kind, app=App), capacity, order, over=Node, blocking=True, lossy=True)
    known = m.set("known", App, over=Node)

    @m.action
    def tell(a: App, n: Node) -> None:
        if to_all:
            for k in Node:
                inbox[k].send(kind=Kind.ASK, app=a)
        else:
            inbox[n].send(kind=Kind.ASK, app=a)

    @m.action
    def hear(a: App, n: Node) -> None:
        inbox[n].receive(app=a)
        known[n].add(a)

    @m.always
    def consistent() -> Expr:
        return all_(inbox[n].consistent() for n in Node)

    @m.always
    def nothing_else() -> Expr:
        return all_(inbox[n].count(kind=Kind.RELEASE) == 0 for n in Node)

    return m

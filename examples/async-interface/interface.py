"""A shim and a core that talk through messages: gangs are asked for, allocated and released asynchronously.

Kubernetes schedulers that keep a core of their own (YuniKorn, for one) have two halves with a queue of messages
between them. Each half is right by itself; what holds of both depends on how messages arrive.
"""

from __future__ import annotations

import enum

from model.language import Expr, Machine, Order, Sort, all_, any_, implies, record, require, when


class App(Sort):
    """An application; its gang is reserved as a whole."""


class Phase(enum.Enum):
    """What the shim knows of an application."""

    NEW = 0
    WAITING = 1
    RUNNING = 2
    GONE = 3


class Kind(enum.Enum):
    """What the shim tells the core."""

    ASK = 0
    RELEASE = 1


def interface(
    apps: int = 2,
    quota: int = 1,
    capacity: int = 4,
    patience: int = 2,
    order: Order = Order.FIFO,
    duplicates: bool = False,
    lossy: bool = False,
) -> Machine:
    """Asks, allocations and releases between the shim and the core."""
    m = Machine("interface")
    m.sort(App, apps, symmetric=True)
    phase = m.variable("phase", App, Phase, init=Phase.NEW)
    asked = m.set("asked", App)
    held = m.set("held", App)
    ask = record(kind=Kind, app=App)
    to_core = m.channel("to_core", ask, capacity, order, duplicates=duplicates, lossy=lossy)
    to_shim = m.channel("to_shim", record(app=App), capacity, order)
    timeout = m.timer("timeout", App, most=patience)
    m.clock(timeout)

    @m.action
    def submit(a: App) -> None:
        """The shim asks for the gang of a, and waits for a while."""
        require(phase[a] == Phase.NEW)
        phase[a] = Phase.WAITING
        to_core.send(kind=Kind.ASK, app=a)
        timeout.start(a)

    @m.action
    def give_up(a: App) -> None:
        """The shim has waited long enough."""
        timeout.expire(a)
        phase[a] = Phase.GONE
        to_core.send(kind=Kind.RELEASE, app=a)

    @m.action
    def finish(a: App) -> None:
        """The application is done."""
        require(phase[a] == Phase.RUNNING)
        phase[a] = Phase.GONE
        to_core.send(kind=Kind.RELEASE, app=a)

    @m.action
    def on_ask(a: App) -> None:
        """The core hears of the gang."""
        to_core.receive(kind=Kind.ASK, app=a)
        asked.add(a)

    @m.action
    def on_release(a: App) -> None:
        """The core frees what a has, and forgets it."""
        to_core.receive(kind=Kind.RELEASE, app=a)
        asked.discard(a)
        held.discard(a)

    @m.action
    def allocate(a: App) -> None:
        """The core reserves the whole gang, and says so."""
        require(asked.contains(a), held.size() < quota)
        asked.discard(a)
        held.add(a)
        to_shim.send(app=a)

    @m.action
    def on_allocated(a: App) -> None:
        """The shim starts the application, unless it has given up."""
        to_shim.receive(app=a)
        with when(phase[a] == Phase.WAITING):
            phase[a] = Phase.RUNNING
            timeout.stop(a)

    @m.always
    def quota_never_exceeded() -> Expr:
        """No more gangs are reserved than the quota has room for."""
        return held.size() <= quota

    @m.always
    def nothing_is_left_behind() -> Expr:
        """The core keeps nothing for an application that is gone, once all that was said of it is heard."""
        return all_(
            implies(
                (phase[a] == Phase.GONE) & ~to_core.has(app=a),
                ~asked.contains(a) & ~held.contains(a),
            )
            for a in App
        )

    @m.always
    def nobody_asks_twice() -> Expr:
        """What is reserved is not asked for again."""
        return (asked & held).is_empty()

    @m.sometimes
    def one_runs_while_another_waits() -> Expr:
        """Applications do meet."""
        return any_(phase[a] == Phase.RUNNING for a in App) & any_(phase[a] == Phase.WAITING for a in App)

    @m.terminal
    def all_gone() -> Expr:
        """Every application is gone, and every message is heard."""
        return all_(phase[a] == Phase.GONE for a in App) & to_core.is_empty() & to_shim.is_empty()

    return m

"""All-or-nothing reservation through placeholders on capacitated nodes under one queue quota.

The benchmark model of this project: five actions that every gang scheduler has. Each application reserves ``size``
placeholders one by one; a partly reserved one may time out and lose all; a complete one replaces its placeholders by
real pods and finishes.
"""

from __future__ import annotations

import enum

from model.language import Expr, Machine, Sort, all_, among, implies, ite, require, sum_
from specs.parameters import check_product, check_size

MOST = 100


class App(Sort):
    """An application: one gang."""


class Node(Sort):
    """A node."""


class AppState(enum.Enum):
    """Life cycle of an application."""

    NEW = 0
    PENDING = 1
    RUNNING = 2
    FINISHED = 3
    KILLED = 4


def gang(apps: int = 2, size: int = 2, nodes: int = 2, capacity: int = 2, quota: int = 3) -> Machine:
    """All-or-nothing reservation through placeholders, under one queue quota.

    ``apps`` gangs of ``size`` members each; ``nodes`` nodes for ``capacity`` members each; ``quota`` members in all.
    ValueError for sizes that make no sense.
    """
    for name, value in (("apps", apps), ("size", size), ("nodes", nodes)):
        check_size(name, value, most=MOST)
    for name, value in (("capacity", capacity), ("quota", quota)):
        check_size(name, value)
    check_product({"apps": apps, "nodes": nodes}, MOST)
    m = Machine("gang")
    m.sort(App, apps, symmetric=True)
    m.sort(Node, nodes, symmetric=True)
    state = m.variable("state", App, AppState, init=AppState.NEW)
    placeholders = m.variable("placeholders", (App, Node), range(size + 1), init=0)
    reals = m.variable("reals", (App, Node), range(size + 1), init=0)

    def used(n: Node) -> Expr:
        return sum_(placeholders[a, n] + reals[a, n] for a in App)

    def total() -> Expr:
        return sum_(used(n) for n in Node)

    def reserved(a: App) -> Expr:
        return sum_(placeholders[a, n] for n in Node)

    def held(a: App) -> Expr:
        return sum_(placeholders[a, n] + reals[a, n] for n in Node)

    def clear(a: App) -> None:
        for n in Node:
            placeholders[a, n] = 0
            reals[a, n] = 0

    @m.action
    def submit(a: App) -> None:
        """The application asks for its placeholders (Y1)."""
        require(state[a] == AppState.NEW)
        state[a] = AppState.PENDING

    @m.action
    def allocate(a: App, n: Node) -> None:
        """The core binds the next placeholder of a to n; the last one lets the gang run (Y1)."""
        require(state[a] == AppState.PENDING, used(n) < capacity, total() < quota)
        state[a] = ite(reserved(a) + 1 == size, AppState.RUNNING, AppState.PENDING)
        placeholders[a, n] += 1

    @m.action
    def timeout(a: App) -> None:
        """A partly reserved gang gives up and loses all (Y23)."""
        require(state[a] == AppState.PENDING, reserved(a) > 0, reserved(a) < size)
        state[a] = AppState.KILLED
        clear(a)

    @m.action
    def replace(a: App, n: Node) -> None:
        """A real pod takes the place of a placeholder (Y16)."""
        require(state[a] == AppState.RUNNING, placeholders[a, n] > 0)
        placeholders[a, n] -= 1
        reals[a, n] += 1

    @m.action
    def finish(a: App) -> None:
        """All real pods are done (Y26)."""
        require(state[a] == AppState.RUNNING, reserved(a) == 0)
        state[a] = AppState.FINISHED
        clear(a)

    @m.always
    def node_capacity() -> Expr:
        """No node holds more than it can (Y3: placeholders are scheduled like any ask)."""
        return all_(used(n) <= capacity for n in Node)

    @m.always
    def quota_never_exceeded() -> Expr:
        """The queue never holds more than its quota (Y8)."""
        return total() <= quota

    @m.always
    def no_partial_gang_runs() -> Expr:
        """A running gang holds all of its members (Y1)."""
        return all_(implies(state[a] == AppState.RUNNING, held(a) == size) for a in App)

    @m.sometimes
    def every_app_finishes() -> Expr:
        """All applications can finish (Y1)."""
        return all_(state[a] == AppState.FINISHED for a in App)

    @m.terminal
    def all_done() -> Expr:
        """Every application is finished or killed."""
        return all_(among(state[a], AppState.FINISHED, AppState.KILLED) for a in App)

    return m

"""Sets, elements, channels and timers keep elements exchangeable: they are explored up to symmetry, exactly."""

from __future__ import annotations

import enum

import pytest
from symmetry_agreement import check_symmetric_agreement

from model.explore import explore
from model.language import Expr, Machine, Order, Sort, all_, any_, choose, record, require, when
from model.verdict import Outcome

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Kind(enum.Enum):
    ASK = 0
    RELEASE = 1


def mixed(order: Order, apps: int = 3, nodes: int = 2) -> Machine:
    """One of each construct, over two symmetric sorts."""
    m = Machine("mixed")
    m.sort(App, apps, symmetric=True)
    m.sort(Node, nodes, symmetric=True)
    place = m.element("place", Node, over=App)
    known = m.set("known", App, over=Node)
    inbox = m.channel("inbox", record(kind=Kind, app=App), 1, order, over=Node, blocking=True, lossy=True)
    line = m.channel("line", record(app=App), 2, order, blocking=True, duplicates=True)
    timer = m.timer("timer", App, most=1)
    m.clock(timer)

    @m.action
    def bind(a: App, n: Node) -> None:
        require(place[a].is_none(), timer.off(a))
        place[a] = n
        inbox[n].send(kind=choose(Kind, "kind"), app=a)
        timer.start(a)

    @m.action
    def hear(n: Node) -> None:
        message = inbox[n].receive()
        with when(message.kind == Kind.ASK):
            known[n].add(message.app)
        line.send(app=message.app)

    @m.action
    def leave(a: App) -> None:
        line.receive(app=a)
        place[a] = None
        for n in Node:
            known[n].discard(a)

    @m.action
    def ring(a: App) -> None:
        timer.expire(a)

    @m.always
    def consistent() -> Expr:
        return line.consistent() & all_(inbox[n].consistent() for n in Node) & all_(place[a].consistent() for a in App)

    @m.always
    def never_two_are_known() -> Expr:
        return ~any_(known[n].size() >= 2 for n in Node)

    return m


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize(("apps", "nodes"), [(2, 1), (1, 2), pytest.param(2, 2, marks=pytest.mark.slow)])
def test_orbits_are_exact(order: Order, apps: int, nodes: int) -> None:
    check_symmetric_agreement(mixed(order, apps, nodes))


@pytest.mark.parametrize("order", Order)
def test_three_apps_on_two_nodes_hold_and_break_what_the_whole_exploration_says(order: Order) -> None:
    whole, some = explore(mixed(order)), explore(mixed(order), symmetry=True)
    assert 6 < whole.coverage.distinct_states / some.coverage.distinct_states <= 12
    for p, q in zip(whole.properties, some.properties, strict=True):
        assert (p.name, p.outcome) == (q.name, q.outcome)
    assert some["never_two_are_known"].outcome is Outcome.VIOLATED

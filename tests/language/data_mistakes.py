"""A machine with one of each construct, to be used wrongly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mistakes import App, Color, Node, State

from model.language import Machine, Order, record


def rich() -> Any:
    """A machine with one of each construct."""
    m = Machine("rich")
    m.sort(App, 2)
    m.sort(Node, 3)
    timer = m.timer("timer", App, most=3)
    return SimpleNamespace(
        m=m,
        waiting=m.set("waiting", App),
        members=m.set("members", App, over=Node),
        pairs=m.set("pairs", (App, Node)),
        holder=m.element("holder", App),
        place=m.element("place", Node, over=App),
        pod=m.record("pod", App, record(state=State, tries=range(3), node=Node), init={"state": State.NEW, "tries": 0}),
        line=m.channel("line", record(color=Color, app=App, size=range(3)), 2),
        bag=m.channel("bag", record(color=Color, app=App), 2, Order.ANY),
        inbox=m.channel("inbox", record(app=App), 2, over=Node),
        timer=timer,
        tick=m.clock(timer),
    )

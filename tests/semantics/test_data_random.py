"""Random use of the constructs, step by step beside Python's own deque, Counter, set and dict."""

from __future__ import annotations

import enum
import functools
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.language import Machine, Order, Sort, choose, record, require
from model.semantics import Fault, Instance, Semantics, State
from model.trace import named_state

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Kind(enum.Enum):
    ASK = 0
    RELEASE = 1


CAPACITY = 3
NAMES = ("app1", "app2", "app3")


class Walk:
    """A random walk: each step is any enabled instance that hypothesis picks; ``after`` looks at what it did."""

    def __init__(self, semantics: Semantics, data: st.DataObject) -> None:
        self.semantics = semantics
        self.machine = semantics.machine
        self.state: State = self.semantics.initial_states()[0]
        self.data = data
        self.possible: list[Instance] = []
        self.look()

    def look(self) -> None:
        """Note what the state enables."""
        self.possible = [i for i in self.semantics.instances if self.semantics.is_enabled(i, self.state)]

    def step(self) -> tuple[str, dict[str, str], Fault | None]:
        """The action that was taken, its arguments, and its fault, after which the state is the one before."""
        chosen = self.data.draw(st.sampled_from(self.possible))
        result = self.semantics.fire(chosen, self.state)
        if not isinstance(result, Fault):
            self.state = result
            self.look()
        arguments = dict(self.semantics.arguments(chosen))
        return chosen.action.name, arguments, result if isinstance(result, Fault) else None

    def shown(self, name: str) -> Any:
        return named_state(self.machine, self.state)[name]

    def enabled(self, name: str) -> set[tuple[str, ...]]:
        """The arguments with which the action of this name can happen."""
        return {tuple(v for _, v in self.semantics.arguments(i)) for i in self.possible if i.action.name == name}


@functools.cache
def channel_machine(order: Order, duplicates: bool, lossy: bool, blocking: bool) -> Semantics:
    m = Machine("channel")
    m.sort(App, names=NAMES[:2])
    fields = record(kind=Kind, app=App, units=range(2))
    line = m.channel("line", fields, CAPACITY, order, duplicates=duplicates, lossy=lossy, blocking=blocking)

    @m.action
    def send(app: App) -> None:
        line.send(kind=choose(Kind, "kind"), app=app, units=choose(range(2), "units"))

    @m.action
    def receive(app: App) -> None:
        """By element and kind; the units are read from the message."""
        kind, expected = choose(Kind, "kind"), choose(range(2), "expected")
        message = line.receive(kind=kind, app=app)
        require(message.units == expected)

    @m.action
    def echo(app: App) -> None:
        """What is received goes back in."""
        message = line.receive(app=app)
        line.send(kind=message.kind, app=message.app, units=0)

    return Semantics(m)


Message = tuple[str, str, str]


@dataclass
class Line:
    """What a channel is, in Python: the queue, or the messages as a Counter would hold them."""

    order: Order
    messages: deque[Message] = field(default_factory=deque)

    def deliverable(self) -> set[Message]:
        return set(list(self.messages)[:1] if self.order is Order.FIFO else self.messages)

    def take(self, message: Message) -> None:
        if self.order is Order.FIFO:
            assert self.messages.popleft() == message
        else:
            self.messages.remove(message)

    def text(self) -> str:
        def one(m: Message) -> str:
            return f"{m[0]}({m[1]}, {m[2]})"

        if self.order is Order.FIFO:
            return f"[{', '.join(map(one, self.messages))}]"
        by_content = sorted(Counter(self.messages).items(), key=lambda each: (each[0][0], each[0][2], each[0][1]))
        return "{" + ", ".join(one(m) + (f" x{n}" if n > 1 else "") for m, n in by_content) + "}"


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("blocking", [False, True])
@settings(max_examples=40)
@given(data=st.data(), duplicates=st.booleans(), lossy=st.booleans())
def test_a_channel_beside_a_deque(
    order: Order, blocking: bool, data: st.DataObject, duplicates: bool, lossy: bool
) -> None:
    walk, line = Walk(channel_machine(order, duplicates, lossy, blocking), data), Line(order)
    for _ in range(data.draw(st.integers(1, 10))):
        kept = {m[:2] for m in line.deliverable()}
        assert {(app, kind) for app, kind, *_ in walk.enabled("receive")} == {(app, kind) for kind, app in kept}
        assert bool(walk.enabled("send")) == (not blocking or len(line.messages) < CAPACITY)
        echoes = {delivery for *_, delivery in walk.enabled("echo")} if duplicates else {"TAKEN"}
        if line.messages:
            has_room = not blocking or len(line.messages) < CAPACITY
            assert echoes == ({"TAKEN", "KEPT"} if duplicates and has_room else {"TAKEN"})
            assert walk.enabled("echo")
        name, a, fault = walk.step()
        full = len(line.messages) == CAPACITY
        stays = a.get("delivery") == "KEPT"
        match name:
            case "send":
                assert (fault is not None) == full
                if fault is None:
                    line.messages.append((a["kind"], a["app"], a["units"]))
            case "receive":
                taken = (a["kind"], a["app"], a["expected"])
                assert taken in line.deliverable()
                if not stays:
                    line.take(taken)
            case "echo":
                chosen = next(
                    m
                    for m in sorted(line.deliverable())
                    if m[1] == a["app"] and a.get("kind", m[0]) == m[0] and a.get("units", m[2]) == m[2]
                )
                assert (fault is not None) == (full and stays)
                if fault is None:
                    if not stays:
                        line.take(chosen)
                    line.messages.append((chosen[0], chosen[1], "0"))
            case "lose_line" if order is Order.FIFO:
                del line.messages[int(a["position"]) - 1]
            case "lose_line":
                line.messages.remove((a["kind"], a["app"], a["units"]))
            case other:
                raise AssertionError(other)
        assert walk.shown("line") == line.text()


@functools.cache
def sets_machine() -> Semantics:
    m = Machine("sets")
    m.sort(App, names=NAMES)
    m.sort(Node, 2)
    one = m.set("one", App)
    at = m.set("at", App, over=Node)
    place = m.element("place", Node, over=App)

    @m.action
    def add(app: App) -> None:
        one.add(app)

    @m.action
    def discard(app: App) -> None:
        one.discard(app)

    @m.action
    def put(app: App, node: Node) -> None:
        at[node].add(app)
        place[app] = node

    @m.action
    def union(node: Node) -> None:
        one.assign(one | at[node])

    @m.action
    def minus(node: Node) -> None:
        at[node].assign(at[node] - one)

    @m.action
    def meet(node: Node, other: Node) -> None:
        require(node != other, at[node] != at[other])
        at[node].assign(at[node] & at[other])

    @m.action
    def forget(app: App) -> None:
        require(~place[app].is_none(), one.contains(app))
        place[app] = None

    @m.action
    def follow(app: App, other: App) -> None:
        place[app] = place[other]

    @m.action
    def clear(node: Node) -> None:
        require(one.size() >= 2, at[node] <= one)
        at[node].clear()

    return Semantics(m)


@given(data=st.data())
def test_sets_beside_python_sets(data: st.DataObject) -> None:
    walk = Walk(sets_machine(), data)
    one: set[str] = set()
    at: dict[str, set[str]] = {"node1": set(), "node2": set()}
    place: dict[str, str | None] = dict.fromkeys(NAMES)
    for _ in range(data.draw(st.integers(1, 15))):
        guards: dict[str, Callable[[str], bool]] = {
            "clear": lambda node: len(one) >= 2 and at[node] <= one,
            "forget": lambda app: place[app] is not None and app in one,
        }
        for name, holds in guards.items():
            arguments = at if name == "clear" else NAMES
            assert walk.enabled(name) == {(each,) for each in arguments if holds(each)}
        name, a, fault = walk.step()
        assert fault is None
        match name:
            case "add":
                one |= {a["app"]}
            case "discard":
                one -= {a["app"]}
            case "put":
                at[a["node"]] |= {a["app"]}
                place[a["app"]] = a["node"]
            case "union":
                one |= at[a["node"]]
            case "minus":
                at[a["node"]] -= one
            case "meet":
                assert at["node1"] != at["node2"]
                at[a["node"]] &= at[a["other"]]
            case "forget":
                place[a["app"]] = None
            case "follow":
                place[a["app"]] = place[a["other"]]
            case "clear":
                at[a["node"]].clear()
        assert walk.shown("one") == "{" + ", ".join(sorted(one)) + "}"
        for node, members in at.items():
            assert walk.shown(f"at[{node}]") == "{" + ", ".join(sorted(members)) + "}"
        assert [walk.shown(f"place[{app}]") for app in NAMES] == [place[app] or "none" for app in NAMES]


MOST = 3


@functools.cache
def timers_machine(urgent: bool) -> Semantics:
    m = Machine("timers")
    m.sort(App, names=NAMES)
    timer = m.timer("timer", App, most=MOST, urgent=urgent)
    other = m.timer("other", most=2)
    m.clock(timer, other)

    @m.action
    def start(app: App) -> None:
        timer.start(app, units=choose(range(-1, MOST + 2), "units"))

    @m.action
    def stop(app: App) -> None:
        timer.stop(app)

    @m.action
    def ring(app: App) -> None:
        timer.expire(app)

    @m.action
    def wind() -> None:
        other.start()

    @m.action
    def end() -> None:
        other.expire()

    return Semantics(m)


@pytest.mark.parametrize("urgent", [False, True])
@given(data=st.data())
def test_timers_beside_deadlines(urgent: bool, data: st.DataObject) -> None:
    """In Python a timer is the moment at which it expires; now is a number that grows."""
    walk, now = Walk(timers_machine(urgent), data), 0
    due: dict[str, int] = {}
    for _ in range(data.draw(st.integers(1, 15))):
        may_wait = {k for k, t in due.items() if t <= now and k != "other" and not urgent}
        passes = any(t > now for t in due.values()) and all(t > now or k in may_wait for k, t in due.items())
        assert bool(walk.enabled("tick")) == passes
        assert walk.enabled("ring") == {(k,) for k, t in due.items() if t <= now and k != "other"}
        name, a, fault = walk.step()
        units = int(a.get("units", "0"))
        assert (fault is not None) == (not 0 <= units <= MOST)
        match name:
            case "tick":
                now += 1
            case "start" if fault is None:
                due[a["app"]] = now + units
            case "stop" | "ring":
                due.pop(a["app"], None)
            case "wind":
                due["other"] = now + 2
            case "end":
                del due["other"]

        def text(key: str) -> str:
            if key not in due:
                return "off"
            return f"{due[key] - now} left" if due[key] > now else "expired"

        assert [walk.shown(f"timer[{app}]") for app in NAMES] == [text(app) for app in NAMES]
        assert walk.shown("other") == text("other")

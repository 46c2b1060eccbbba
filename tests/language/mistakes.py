"""Specs with one mistake each, written as a user would, and what must be said about it: the words, and the line."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from model.language import Location, Machine, Sort, SpecError, require, sum_
from model.language.tracing import OPEN


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class Job(Sort):
    """A job; jobs have an order."""


class Ghost(Sort):
    """A sort that no machine declares."""


class State(enum.Enum):
    NEW = 0
    RUNNING = 1
    DONE = 2


class Color(enum.Enum):
    RED = 0
    GREEN = 1


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def small() -> Any:
    """A machine with one of each: sorts, variables over none, one and two sorts, scalars, tables."""
    m = Machine("small")
    m.sort(App, 2)
    m.sort(Node, 3)
    m.sort(Job, 2, ordered=True)
    return SimpleNamespace(
        m=m,
        state=m.variable("state", App, State, init=State.NEW),
        tasks=m.variable("tasks", App, range(4), init=0),
        held=m.variable("held", (App, Node), range(3), init=0),
        ready=m.variable("ready", App, bool, init=False),
        rank=m.variable("rank", Job, range(4), init=0),
        clock=m.scalar("clock", range(4), init=0),
        busy=m.scalar("busy", bool, init=False),
        mode=m.scalar("mode", Color, init=Color.RED),
        capacity=m.constant("capacity", Node, [1, 2, 3]),
        distance=m.constant("distance", (Node, Node), [[0, 1, 2], [1, 0, 1], [2, 1, 0]]),
    )


def a_sound_spec() -> Machine:
    """What must still be accepted after any mistake."""
    s = small()

    @s.m.action
    def start(a: App, n: Node) -> None:
        require(s.state[a] == State.NEW, sum_(s.held[b, n] for b in App) < 2)
        s.state[a] = State.RUNNING
        for k in Node:
            s.held[a, k] = 1

    machine: Machine = s.m
    return machine.finish()


Build = Callable[[], object]


class Mistakes(list[Any]):
    """Collects specs: ``@mistakes("words", ...)`` over a function with one line marked ``# ERR``."""

    def __call__(self, *words: str) -> Callable[[Build], Build]:
        def register(build: Build) -> Build:
            self.append(pytest.param(build, words, id=build.__name__))
            return build

        return register


def marked_line(build: Build) -> Location:
    lines, start = inspect.getsourcelines(build)
    (line,) = [start + i for i, text in enumerate(lines) if "# ERR" in text]
    return Location(build.__code__.co_filename, line)


def check_mistake(build: Build, words: tuple[str, ...]) -> None:
    with pytest.raises(SpecError) as caught:
        build()
    assert caught.value.at == marked_line(build), caught.value
    for each in words:
        assert each in caught.value.message
    assert str(caught.value) == f"{caught.value.at}: {caught.value.message}"
    # nothing of the broken body is left behind
    assert OPEN.recording is None
    assert OPEN.quantifiers == []
    assert [a.name for a in a_sound_spec().actions] == ["start"]

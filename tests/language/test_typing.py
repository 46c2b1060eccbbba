"""Type checkers understand specs: swapped indices and forgotten ones are errors before anything runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SPEC = '''
"""A spec as a user writes it."""

from __future__ import annotations

import enum

from model.language import Expr, Machine, Sort, Order, all_, choose, first, ite, record, require, sum_, when


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


class State(enum.Enum):
    NEW = 0
    DONE = 1


def toy(apps: int = 2) -> Machine:
    m = Machine("toy")
    m.sort(App, apps, ordered=True)
    m.sort(Node, 2)
    state = m.variable("state", App, State, init=State.NEW)
    held = m.variable("held", (App, Node), range(3), init=0)
    clock = m.scalar("clock", range(3), init=0)
    cost = m.constant("cost", Node, [1, 2])
    waiting = m.set("waiting", App)
    pairs = m.set("pairs", (App, Node))
    holder = m.element("holder", App)
    place = m.element("place", Node, over=App)
    inbox = m.channel("inbox", record(app=App, urgent=bool), 2, Order.ANY, over=Node)
    timer = m.timer("timer", App, most=2)
    m.clock(timer)

    def used(n: Node) -> Expr:
        return sum_(held[a, n] for a in App)

    @m.action
    def act(a: App, n: Node) -> None:
        target = choose(Node)
        require(state[a] == State.NEW, used(n) < cost[n], first(a, lambda b: state[b] == State.NEW))
        state[a] = ite(used(n) + 1 == 2, State.DONE, State.NEW)
        held[a, target] += 1
        with when(clock < 2):
            clock.next += 1
        for k in Node:
            held[a, k] = 0
        message = inbox[n].receive(app=a)
        require((waiting | waiting).contains(a), holder == a, place[a] == n, message.urgent, timer.off(a))
        waiting.add(a)
        pairs.add((a, n))
        place[a] = n
        holder.next = None
        timer.start(a, units=1)
{mistake}
    @m.always
    def within() -> Expr:
        return all_(used(n) <= cost[n] for n in Node) & m.enabled(act)

    return m
'''

MISTAKES = {
    "        held[n, a] = 1\n": r"error: Invalid index type",
    "        require(held[n, a] == 1)\n": r"error: Invalid index type",
    "        held[a] = 1\n": r"error: Invalid index type",
    "        require(cost[a] == 1)\n": r"error: Invalid index type",
    "        require(state == State.NEW)\n": r"error: Non-overlapping equality check",
    "        require(state[a] is State.NEW)\n": r"error: Non-overlapping identity check",
    "        require(used == 3)\n": r"error: Non-overlapping equality check",
    "        require(clock / 2 == 1)\n": r"error: Unsupported operand types",
    "        used(a)\n": r'error: Argument 1 to "used" has incompatible type "App"',
    "        clock.nxt = 1\n": r'error: "Scalar" has no attribute "nxt"',
    "        clock.next = 1.5\n": r"error: Incompatible types in assignment",
    "        state[a] = 'NEW'\n": r"error: Incompatible types in assignment",
    "        waiting.discard(n)\n": r'error: Argument 1 to "discard" of "BoundedSet" has incompatible type "Node"',
    "        pairs.discard((n, a))\n": r'error: Argument 1 to "discard" of "BoundedSet" has incompatible type',
    "        require((waiting | pairs).is_empty())\n": r"error: Unsupported operand types for \|",
    "        holder.next = n\n": r"error: Incompatible types in assignment",
    "        place[n] = n\n": r"error: Invalid index type",
    "        inbox[a].send(app=a, urgent=True)\n": r"error: Invalid index type",
    "        timer.stop(n)\n": r'error: Argument 1 to "stop" of "Timer" has incompatible type "Node"',
}


def mypy(folder: Path, files: list[Path]) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(folder / "cache")]
    environment = {**os.environ, "MYPYPATH": str(ROOT), "NO_COLOR": "1"}
    run = subprocess.run(
        [*command, *map(str, files)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert run.returncode in (0, 1), run.stderr
    return run.stdout


@pytest.mark.slow
def test_mypy_accepts_the_spec_and_sees_each_mistake(tmp_path: Path) -> None:
    sound = tmp_path / "sound.py"
    sound.write_text(SPEC.replace("{mistake}", ""), encoding="utf-8")
    files = [sound]
    for number, mistake in enumerate(MISTAKES):
        files.append(tmp_path / f"mistake{number}.py")
        files[-1].write_text(SPEC.replace("{mistake}", mistake), encoding="utf-8")
    said = mypy(tmp_path, files)
    assert "sound.py" not in said, said
    for number, (mistake, expected) in enumerate(MISTAKES.items()):
        text = files[number + 1].read_text(encoding="utf-8")
        line = text[: text.index(mistake)].count("\n") + 1
        assert re.search(rf"^mistake{number}\.py:{line}: {expected}", said, re.MULTILINE), (mistake, said)

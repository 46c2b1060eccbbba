"""`describe`: the text of a machine, which builds the machine again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from mistakes import App, Color, Job, Node, State, small

from model.language import Expr, Machine, Sort, all_, any_, choose, first, require, sum_, when
from model.language.describe import describe, describe_expression
from model.semantics import explore
from model.strategies import machines
from specs.gang import gang


def rebuilt(machine: Machine, folder: Path) -> Machine:
    """The machine that the text of ``machine`` builds."""
    file = folder / "described.py"
    text = describe(machine)
    file.write_text(text, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), names)  # noqa: S102
    (build,) = (v for k, v in names.items() if callable(v) and k == machine.name)
    made = build()
    assert isinstance(made, Machine)
    return made


def test_the_gang_spec_comes_back(tmp_path: Path) -> None:
    machine = gang(apps=2, size=2, nodes=1, capacity=3, quota=3)
    again = rebuilt(machine, tmp_path)
    assert describe(again) == describe(machine)
    assert explore(again) == explore(machine)
    assert again.actions[1].doc == machine.actions[1].doc


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(machines(60))
def test_random_machines_come_back(tmp_path: Path, machine: Machine) -> None:
    again = rebuilt(machine, tmp_path)
    assert explore(again) == explore(machine)
    assert [d.names for d in again.sorts.values()] == [d.names for d in machine.sorts.values()]
    # what Python computes while it reads the text (2 > 1) is a constant from then on
    once = describe(again)
    (tmp_path / "twice").mkdir(exist_ok=True)
    assert describe(rebuilt(again, tmp_path / "twice")) == once


def body_of(machine: Machine, name: str) -> list[str]:
    lines = describe(machine).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"    def {name}("))
    length = next(i for i, line in enumerate([*lines[start + 1 :], ""]) if not line.startswith("        "))
    return [line[4:] for line in lines[start : start + 1 + length]]


def test_what_was_read_before_a_write_is_read_before_it() -> None:
    s = small()

    @s.m.action
    def swap(a: App, b: App) -> None:
        mine, total = s.tasks[a], sum_(s.tasks[c] for c in App)
        s.tasks[a] = s.tasks[b]
        s.tasks[b] += mine
        s.clock.next = total - mine + 1

    assert body_of(s.m, "swap") == [
        "def swap(a: App, b: App) -> None:",
        "    before = tasks[a]",
        "    before2 = sum_(tasks[c] for c in App)",
        "    tasks[a] = tasks[b]",
        "    tasks[b] += before",
        "    clock.next = (before2 - before) + 1",
    ]


def test_loops_and_conditions_are_written_as_they_were() -> None:
    s = small()

    @s.m.action
    def act(a: App) -> None:
        require(s.ready[a])
        for n in Node:
            old = s.held[a, n]
            with when(old > 0):
                s.held[a, n] -= 1
            for b in App:
                with when((b != a) & (old == s.capacity[n])):
                    s.tasks[b] += old + 1
        s.clock.next = 0

    assert body_of(s.m, "act") == [
        "def act(a: App) -> None:",
        "    require(ready[a])",
        "    for n in Node:",
        "        before = held[a, n]",
        "        with when(before > 0):",
        "            held[a, n] -= 1",
        "        for b in App:",
        "            with when((b != a) & (before == capacity[n])):",
        "                tasks[b] += before + 1",
        "    clock.next = 0",
    ]


def test_names_do_not_clash() -> None:
    class state(Sort):
        """A sort that is named as a variable is."""

    m = Machine("class")
    m.sort(state, 2)
    m.sort(App, names=["x", "y"])
    a = m.variable("a", App, bool, init=False)
    act = m.scalar("act", range(3), init=0)
    choice = m.scalar("choice", range(3), init=0)

    @m.action
    def act1(a_: App) -> None:
        c = choose(range(3), "act")
        require(c > choice, any_(a[x] for x in App))
        a[a_] = all_(a[x] for x in App)
        act.next = c

    m.actions[0].parameters[0].name = "a"
    text = describe(m)
    names: dict[str, Any] = {}
    exec(compile(text, "<described>", "exec"), names)  # noqa: S102
    again = names["spec"]()
    assert [v.name for v in again.variables] == ["a", "act", "choice"]
    assert [s.name for s in again.actions[0].symbols] == ["a", "act"]
    assert explore(again) == explore(m)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (lambda s: s.clock + 1 < 3, "(clock + 1) < 3"),
        (lambda s: ~s.busy, "~busy"),
        (lambda s: -s.clock == -1, "(0 - clock) == (-1)"),
        (lambda s: s.mode == Color.RED, "mode == Color.RED"),
        (lambda s: all_(s.state[a] == State.NEW for a in App), "all_(state[a] == State.NEW for a in App)"),
        (lambda s: any_(s.capacity[n] > 1 for n in Node), "any_(capacity[n] > 1 for n in Node)"),
        (
            lambda s: any_(first(j, lambda k: s.rank[k] > 0) for j in Job),
            "any_((rank[j] > 0) & all_(implies(other < j, ~(rank[other] > 0)) for other in Job) for j in Job)",
        ),
    ],
)
def test_expressions(expression: Callable[[Any], Expr], text: str) -> None:
    s = small()

    @s.m.always
    def claim() -> Expr:
        return expression(s)

    assert describe_expression(s.m, s.m.properties[0].condition) in (text, f"({text})")
    assert f"        return {text}" in describe(s.m).splitlines()

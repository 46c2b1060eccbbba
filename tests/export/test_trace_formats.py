"""Traces as ITF and as Mermaid sequence diagrams: nothing is lost, and nothing breaks the syntax."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from model.explore import explore
from model.export.itf import itf, trace_of_itf
from model.export.sequence import sequence_diagram
from model.language import Expr, Machine, Sort, choose, require, weak
from model.semantics import Semantics
from model.strategies import live_machines, machines
from model.trace import Trace
from specs.loading import load_spec

CHANNELS = str(Path(__file__).resolve().parents[2] / "examples" / "async-interface" / "interface.py")
TWO_LEAVES = ["edition=seed", "queues=two_leaves"]
SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


class App(Sort):
    """An application."""


class Node(Sort):
    """A node."""


def odd_names() -> Machine:
    """Names that mean something to Mermaid, a choice, and a fault."""
    m = Machine("odd")
    m.sort(App, names=["end", "spark; driver #1"])
    m.sort(Node, names=["a->>b: c"])
    load = m.variable("load", (App, Node), range(3), init=0)
    clock = m.scalar("clock", range(-1, 3), init=-1)

    @m.action
    def end(a: App, n: Node) -> None:
        by = choose(range(1, 3), "by")
        load[a, n] += by

    @m.action
    def tick() -> None:
        require(clock < 2)
        clock.next += 1

    return m


def lasso(stay: bool) -> Machine:
    m = Machine("lasso")
    m.sort(App, 1)
    at = m.variable("at", App, range(4), init=0)

    @m.action
    def move(a: App) -> None:
        require(at[a] < 2)
        at[a] += 1

    @m.action
    def back(a: App) -> None:
        require(at[a] == 2)
        at[a] = 1

    @m.eventually(fairness=[] if stay else [weak(move), weak(back)])
    def arrives(a: App) -> Expr:
        return at[a] == 3

    return m


def traces(machine: Machine) -> list[Trace]:
    return [p.trace for p in explore(machine).properties if p.trace is not None]


@pytest.mark.parametrize(
    "machine",
    [
        odd_names(),
        lasso(True),
        lasso(False),
        load_spec("yunikorn", TWO_LEAVES),
        load_spec(CHANNELS),
    ],
)
def test_itf_reads_back(machine: Machine) -> None:
    found = traces(machine)
    assert found
    for trace in found:
        back = trace_of_itf(json.loads(json.dumps(itf(machine, trace))))
        assert back == trace
        assert Semantics(machine).replay(back) is None


@settings(max_examples=20, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(machines(200) | live_machines(100))
def test_itf_of_random_machines_reads_back(machine: Machine) -> None:
    for trace in traces(machine):
        assert trace_of_itf(json.loads(json.dumps(itf(machine, trace)))) == trace


def test_itf_says_what_apalache_asks_for() -> None:
    machine = lasso(False)
    (trace,) = traces(machine)
    whole = itf(machine, trace)
    assert whole["#meta"]["varTypes"] == {"at": "Str -> Int"}
    assert whole["vars"] == ["at"]
    assert [s["at"]["#map"] for s in whole["states"]] == [[["app1", {"#bigint": str(n)}]] for n in (0, 1, 2, 1)]
    assert whole["loop"] == 1
    pair = itf(odd_names(), traces(odd_names())[0])
    assert pair["#meta"]["varTypes"]["load"] == "<<Str, Str>> -> Int"
    assert pair["states"][0]["load"]["#map"][0][0] == {"#tup": ["end", "a->>b: c"]}


@pytest.mark.parametrize(
    "whole", [{}, {"vars": [], "states": []}, {"vars": ["x"], "states": [{"#meta": {}, "x": 1.5}]}]
)
def test_what_is_no_trace_is_refused(whole: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a trace"):
        trace_of_itf(whole)


LINE = re.compile(
    r"---|title: \"[^\n]*\"|sequenceDiagram|  autonumber|  participant p\d+ as [^;#]+"
    r"|  loop [^;#]+|  end"
    r"|(  |    )(p\d+(->>|-x)p\d+|Note over p\d+(,p\d+)?): (?P<text>[^\n]*)"
)


def well_formed(text: str) -> list[str]:
    """The lines of a diagram, each of which must be of a known shape, with character codes for what is syntax."""
    lines = text.splitlines()
    for line in lines:
        plain = re.sub(r"#\d+;", "", line)
        found = LINE.fullmatch(plain)
        assert found is not None, line
        assert not re.search(r"[;#]|\bend\b", found["text"] or "", re.IGNORECASE), line
    return lines


def test_a_sequence_diagram() -> None:
    machine = load_spec("yunikorn", TWO_LEAVES)
    trace = next(t for p in explore(machine).properties if p.name == "no_starving_gangs" and (t := p.trace) is not None)
    lines = well_formed(sequence_diagram(machine, trace, "why"))
    assert lines[:3] == ["---", 'title: "why"', "---"]
    assert "  participant p0 as App app1" in lines
    assert "  p1->>p3: allocate_placeholder" in lines
    assert "  Note over p1,p3: asks[app2]: 3 → 2<br/>placeholders[app2, node2]: 0 → 1" in lines
    assert sum("->>" in line for line in lines) == len(trace) == 6


def test_names_that_are_syntax_and_faults() -> None:
    machine = odd_names()
    trace = next(t for t in traces(machine) if any(s.fault for s in t.steps))
    lines = well_formed(sequence_diagram(machine, trace, 'a "title"'))
    assert any("-x" in line for line in lines)
    assert any("FAULT: load[" in line for line in lines)
    assert any("by = 2" in line for line in lines)


@pytest.mark.parametrize("stay", [True, False])
def test_a_run_without_end(stay: bool) -> None:
    machine = lasso(stay)
    (trace,) = traces(machine)
    lines = well_formed(sequence_diagram(machine, trace))
    assert ("  loop again and again, forever" in lines) is not stay
    assert any("stays so forever" in line for line in lines) is stay
    assert lines.count("  end") == (0 if stay else 1)
    inside = [line for line in lines if line.startswith("    ")]
    assert len(inside) == 2 * (len(trace) - (trace.loop_start or 0))

"""The example says what its README promises: each way of delivery breaks what its row names, by the trace it tells."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from model.explore import explore
from model.language import Machine
from model.language.mutation import disabled, mutated, without_guard, without_update
from model.semantics import Semantics
from model.semantics import explore as explore_slowly
from model.verdict import Outcome, Verdict
from specs.loading import load_spec

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "async-interface"
SPEC = str(FOLDER / "interface.py") + ":interface"
ROWS = {
    "": None,
    "order=any": "nothing_is_left_behind",
    "duplicates=true": "nobody_asks_twice",
    "lossy=true": "nothing_is_left_behind",
    "capacity=1": "values_in_range",
}


def machine(*assignments: str) -> Machine:
    return load_spec(SPEC, [a for a in assignments if a])


@functools.cache
def verdict(assignment: str) -> Verdict:
    return explore(machine(assignment))


@pytest.mark.parametrize(("assignment", "violated"), ROWS.items())
def test_each_row_of_the_readme(assignment: str, violated: str | None) -> None:
    answer = verdict(assignment)
    assert [p.name for p in answer.properties if p.outcome is Outcome.VIOLATED] == ([violated] if violated else [])
    assert answer.outcome is (Outcome.VIOLATED if violated else Outcome.HOLDS)
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `[^`]*{re.escape(assignment or 'interface.py')}` \| (.*) \|$", readme, re.MULTILINE)
    assert row.startswith(f"VIOLATED `{violated}`" if violated else "HOLDS")


@pytest.mark.parametrize("assignment", ROWS)
def test_the_interpreter_agrees(assignment: str) -> None:
    golden, found = explore_slowly(machine(assignment)), verdict(assignment)
    assert found.coverage.distinct_states == len(golden.distance)
    assert found.coverage.actions == golden.fired
    for p in found.properties:
        if p.outcome is Outcome.VIOLATED:
            assert p.trace is not None
            assert len(p.trace) == golden.violated[p.name]
            assert Semantics(machine(assignment)).replay(p.trace) is None


def test_a_trace_shows_what_is_under_way() -> None:
    trace = verdict("order=any")["nothing_is_left_behind"].trace
    assert trace is not None
    assert [step.call for step in trace.steps][-2:] == ["on_release(app1)", "on_ask(app1)"]
    assert dict(trace.steps[-3].state) == {
        "phase[app1]": "GONE",
        "phase[app2]": "NEW",
        "asked": "{}",
        "held": "{}",
        "to_core": "{ASK(app1), RELEASE(app1)}",
        "to_shim": "{}",
        "timeout[app1]": "off",
        "timeout[app2]": "off",
    }


def test_three_applications() -> None:
    assert explore(machine("apps=3", "capacity=6", "quota=2")).outcome is Outcome.HOLDS


MUTANTS = [
    (without_guard("allocate", "< 1"), "quota_never_exceeded"),
    (without_update("on_release", "asked"), "nothing_is_left_behind"),
    (without_update("on_release", "held"), "nothing_is_left_behind"),
    (without_update("allocate", "asked"), "nobody_asks_twice"),
    (disabled("on_ask"), "deadlock_free"),
    (without_update("give_up", "to_core_length"), "nothing_is_left_behind"),
]


@pytest.mark.parametrize(("edit", "broken"), MUTANTS)
def test_mutants_are_found(edit: object, broken: str) -> None:
    answer = explore(mutated(machine, edit))  # type: ignore[arg-type]
    assert answer[broken].outcome is Outcome.VIOLATED

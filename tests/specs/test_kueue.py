"""The kueue spec: its findings, which are violated without a fault and mended by a parameter, and its larger scopes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tables import assert_same_counts, load, violated

import specs.kueue
from model.explore import explore
from model.semantics import Semantics
from specs.loading import SpecLoadError, load_spec

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

FOLDER = Path(specs.kueue.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
FINDINGS = sorted((FOLDER / "findings").glob("*.md"))


def test_there_are_findings() -> None:
    assert len(FINDINGS) == 3


@pytest.mark.parametrize("file", FINDINGS, ids=lambda file: file.stem)
def test_todays_code_violates_it_without_a_fault_and_repaired_it_does_not(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    parameters = re.findall(r"`gangproof check kueue ([^`]+)`", text)[0]
    verdict = explore(load("kueue", parameters))
    assert violated(verdict)
    assert all(name in text for name in violated(verdict))
    told = re.findall(r"^ +\d+  (\w+)\(", text, re.MULTILINE)
    traces = [trace for name in violated(verdict) if (trace := verdict[name].trace)]
    assert told in [[step.action for step in trace.steps] for trace in traces]
    assert all(Semantics(load("kueue", parameters)).replay(trace) is None for trace in traces)
    assert violated(explore(load("kueue", f"{parameters} repaired=true"))) == {}
    assert f"(findings/{file.name})" in README


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param("(default)", marks=pytest.mark.slow),
        "nominal=0,0,2 weight=0,0,1 queue=0,1 size=2,2 priority=0,0 weightless_alike=true",
        pytest.param(
            "nominal=1,1,0 weight=1,1,1 queue=2,0,1 size=2,1,1 priority=0,0,0 preemptors=2", marks=pytest.mark.slow
        ),
    ],
)
def test_the_golden_interpreter_agrees(parameters: str) -> None:
    assert_same_counts(load("kueue", parameters))


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", re.findall(r"^\| (nominal=[^|]+) \| ([\d,]+) \| ([\d,]+) \| (\d+) \|$", README, re.MULTILINE)
)
def test_a_larger_scope_holds(row: tuple[str, ...]) -> None:
    verdict = explore(load("kueue", row[0]))
    c = verdict.coverage
    assert (f"{c.distinct_states:,}", f"{c.transitions:,}", f"{c.depth}") == row[1:]
    assert violated(verdict) == {}


def test_two_preemptors_at_most() -> None:
    with pytest.raises(SpecLoadError, match="preemptors is an integer from 1 to 2, found 3"):
        load_spec("kueue", ["preemptors=3"])

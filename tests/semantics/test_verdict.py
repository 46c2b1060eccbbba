"""Verdicts: which answer wins, what the command line exits with, and the JSON."""

from __future__ import annotations

import itertools
import json

import pytest
from runs import run

from model.trace import Trace
from model.verdict import Coverage, Outcome, PropertyVerdict, Verdict
from specs.gang import gang

HOLDS, VIOLATED, UNKNOWN, VACUOUS = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.VACUOUS


def verdict(
    *outcomes: Outcome, complete: bool = True, fired: int = 3, traces: tuple[Trace | None, ...] = ()
) -> Verdict:
    properties = tuple(
        PropertyVerdict(f"p{i}", "always", outcome, "because", trace)
        for i, (outcome, trace) in enumerate(itertools.zip_longest(outcomes, traces))
    )
    budget = None if complete else "state budget of 9 ran out"
    coverage = Coverage(9, 12, 2, {"submit": 1, "allocate": fired}, complete, budget, 0.12345, 0.5, 7.77)
    return Verdict("gang", {"apps": 2}, properties, coverage)


def test_exit_statuses() -> None:
    assert {o: o.exit_status for o in Outcome} == {HOLDS: 0, VIOLATED: 1, UNKNOWN: 3, VACUOUS: 4}


@pytest.mark.parametrize("outcomes", list(itertools.product(Outcome, repeat=3)))
def test_the_worst_answer_wins(outcomes: tuple[Outcome, ...]) -> None:
    worst = next(o for o in (VIOLATED, UNKNOWN, VACUOUS, HOLDS) if o in outcomes)
    assert verdict(*outcomes).outcome is worst


def test_no_property_holds() -> None:
    assert verdict().outcome is HOLDS


def test_an_action_that_never_fires_makes_it_vacuous() -> None:
    assert verdict(HOLDS, fired=0).never_fired == ("allocate",)
    assert verdict(HOLDS, fired=0).outcome is VACUOUS
    assert verdict(VIOLATED, fired=0).outcome is VIOLATED
    assert verdict(UNKNOWN, fired=0).outcome is UNKNOWN


def test_an_incomplete_exploration_is_unknown_and_says_nothing_of_actions() -> None:
    assert verdict(HOLDS, complete=False).outcome is UNKNOWN
    assert verdict(VACUOUS, complete=False).outcome is UNKNOWN
    assert verdict(VIOLATED, complete=False).outcome is VIOLATED
    unfinished = verdict(HOLDS, complete=False, fired=0)
    assert unfinished.outcome is UNKNOWN
    assert unfinished.to_json()["never_fired"] == []


def test_the_shortest_counterexample_is_shown() -> None:
    one, two = run(gang(), "submit(app1)"), run(gang(), "submit(app1)", "submit(app2)")
    found = verdict(VIOLATED, VIOLATED, VIOLATED, HOLDS, traces=(two, None, one, run(gang())))
    shown = found.first_violation
    assert shown is not None
    assert shown.name == "p2"
    data = found.to_json()
    assert data["trace_property"] == "p2"
    assert data["trace"] == one.to_json()
    assert [p["trace_length"] for p in data["properties"]] == [2, None, 1, 0]


def test_a_counterexample_without_steps_is_shown_too() -> None:
    found = verdict(VIOLATED, traces=(run(gang()),))
    data = found.to_json()
    assert data["trace_property"] == "p0"
    assert [row["step"] for row in data["trace"]] == [0]


def test_json() -> None:
    data = verdict(HOLDS, VACUOUS).to_json()
    assert data == {
        "spec": "gang",
        "parameters": {"apps": 2},
        "verdict": "vacuous",
        "properties": [
            {"name": "p0", "kind": "always", "verdict": "holds", "how": "because", "trace_length": None},
            {"name": "p1", "kind": "always", "verdict": "vacuous", "how": "because", "trace_length": None},
        ],
        "distinct_states": 9,
        "transitions": 12,
        "depth": 2,
        "symmetry": None,
        "complete": True,
        "budget": None,
        "actions": {"submit": 1, "allocate": 3},
        "never_fired": [],
        "coverage": None,
        "vacuity": None,
        "seconds": 0.123,
        "compile_seconds": 0.5,
        "bytes_per_state": 7.8,
        "warnings": [],
        "trace_property": None,
        "loop_start": None,
        "trace_note": None,
        "trace": [],
    }
    assert json.loads(json.dumps(data)) == data


def test_a_property_by_its_name() -> None:
    found = verdict(HOLDS, VIOLATED)
    assert found["p1"].outcome is VIOLATED
    with pytest.raises(KeyError, match="gang has no property 'p7'; it has p0, p1"):
        found["p7"]

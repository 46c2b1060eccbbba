"""The state tables are those that upstream's code has."""

from __future__ import annotations

import csv
import enum
from collections.abc import Mapping
from pathlib import Path

import pytest

from reference.schedulers.yunikorn.current.shim.states import (
    SHIM_TRANSITIONS,
    TASK_TRANSITIONS,
    ShimEvent,
    ShimState,
    TaskEvent,
    TaskState,
)
from reference.schedulers.yunikorn.current.states import TRANSITIONS, ApplicationEvent, ApplicationState

TABLE = Path(__file__).resolve().parents[2] / "data" / "yunikorn_transitions.csv"
ROWS = [
    (row["machine"], row["from"], row["event"], row["to"])
    for row in csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines())
]


@pytest.mark.parametrize(
    ("machine", "table", "states", "events"),
    [
        ("core.app", TRANSITIONS, ApplicationState, ApplicationEvent),
        ("shim.app", SHIM_TRANSITIONS, ShimState, ShimEvent),
        ("shim.task", TASK_TRANSITIONS, TaskState, TaskEvent),
    ],
)
def test_there_are_these_transitions_and_no_others(
    machine: str,
    table: Mapping[tuple[enum.Enum, enum.Enum], enum.Enum],
    states: type[enum.Enum],
    events: type[enum.Enum],
) -> None:
    listed = {(a, b, c) for name, a, b, c in ROWS if name == machine}
    assert {(a.value, b.value, c.value) for (a, b), c in table.items()} == listed
    assert {s.value for s in states} == {a for a, _, _ in listed} | {c for _, _, c in listed}
    assert {e.value for e in events} == {b for _, b, _ in listed}

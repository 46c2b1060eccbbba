"""The state tables are those that upstream's code has."""

from __future__ import annotations

import csv
from pathlib import Path

from reference.schedulers.yunikorn.current.states import TRANSITIONS, ApplicationEvent, ApplicationState

TABLE = Path(__file__).resolve().parents[2] / "data" / "yunikorn_transitions.csv"
ROWS = [
    (row["machine"], row["from"], row["event"], row["to"])
    for row in csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines())
]


def test_the_core_has_these_transitions_and_no_others() -> None:
    listed = {(a, b, c) for machine, a, b, c in ROWS if machine == "core.app"}
    assert {(a.value, b.value, c.value) for (a, b), c in TRANSITIONS.items()} == listed
    assert {s.value for s in ApplicationState} == {a for a, _, _ in listed} | {c for _, _, c in listed}
    assert {e.value for e in ApplicationEvent} == {b for _, b, _ in listed}

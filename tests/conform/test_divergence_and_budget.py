"""A budget that runs out after a record was refused: the log diverges all the same."""

from __future__ import annotations

import pytest

from model.conform import Ending, conform
from model.conform.candidates import BudgetSpent
from model.conform.conform import _Pass
from model.conform.jsonl import parse_log
from specs.gang.machine import gang


def test_a_divergence_is_told_when_time_runs_out_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(*_: object) -> None:
        raise BudgetSpent("time limit of 1 s ran out")

    monkeypatch.setattr(_Pass, "_broken", spent)
    submit = '{"action": "submit", "args": {"a": "job"}}'
    assert conform(gang(), parse_log([submit, submit], "log")).ending is Ending.DIVERGES
    assert conform(gang(), parse_log([submit], "log")).ending is Ending.UNKNOWN

"""What the READMEs say of the reports that were re-created: which property each breaks, and in how many steps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import specs
from specs.registry import SHIPPED, mutants
from specs.trials import run_trials

pytestmark = [pytest.mark.no_cover, pytest.mark.slow]

ROOT = Path(specs.__file__).parent
REPORTS = {(spec, m.name): m for spec in SHIPPED for m in mutants(spec) if m.report}
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for page in sorted(ROOT.glob("**/README.md"))
    for line in page.read_text(encoding="utf-8").splitlines()
    if line.startswith("|")
]


@pytest.mark.timeout(1200)
def test_every_length_is_told_as_it_is() -> None:
    """Rows that begin with a report's id and end with a number."""
    told = {row[0]: row for row in ROWS if len(row) > 2 and re.fullmatch(r"\d+", row[-1])}
    wrong = []
    compared = 0
    for trial in run_trials(list(REPORTS), workers=2):
        row = told.get(trial.report)
        if row is None:
            continue
        compared += 1
        if int(row[-1]) != trial.steps or trial.told.name not in " ".join(row):
            wrong.append((trial.report, trial.told.name, trial.steps, row))
    assert not wrong
    assert compared > 50

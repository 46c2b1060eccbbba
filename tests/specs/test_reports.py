"""What the READMEs say of the reports that were re-created: which property each breaks, and in how many steps."""

from __future__ import annotations

import re
from collections import defaultdict
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
    told = defaultdict(list)
    for row in ROWS:
        if len(row) > 2 and re.fullmatch(r"\d+", row[-1]):
            told[row[0]].append(row)
    wrong = []
    compared = 0
    for trial in run_trials(list(REPORTS), workers=2):
        rows = told.get(trial.report)
        if rows is None:
            continue
        compared += 1
        if not any(int(row[-1]) == trial.steps and trial.told.name in " ".join(row) for row in rows):
            wrong.append((trial.report, trial.told.name, trial.steps, rows))
    assert not wrong
    assert compared > 50

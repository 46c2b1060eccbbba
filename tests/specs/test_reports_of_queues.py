"""Every report on Volcano, Kueue and Koordinator that was looked at is in a table: made anew, a finding, or why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import specs
from specs.registry import SHIPPED, mutants

ROOT = Path(specs.__file__).parent
DATA = Path(__file__).parent / "data" / "reports-volcano-kueue.txt"
LISTED = [line for line in DATA.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
OURS = ("volcano", "kueue", "predicate_cache")


def told(folder: str) -> set[str]:
    """The reports that begin a row of a table in the READMEs of a folder."""
    lines = [line for page in ROOT.glob(f"{folder}/README.md") for line in page.read_text("utf-8").splitlines()]
    cells = [line.strip("| ").split(" | ")[0] for line in lines if line.startswith("| ")]
    return {report for cell in cells for report in re.findall(r"[\w-]+#\d+", cell)}


@pytest.mark.parametrize("report", LISTED)
def test_a_report_is_in_a_table(report: str) -> None:
    assert report in told("**")


def test_none_is_missing_in_the_list() -> None:
    assert len(set(LISTED)) == len(LISTED)
    assert set().union(*map(told, OURS)) <= set(LISTED)
    kinds = ("volcano#", "kueue#", "koordinator#")
    made = {m.report for spec in SHIPPED for m in mutants(spec) if m.report.startswith(kinds)}
    assert made <= set(LISTED)

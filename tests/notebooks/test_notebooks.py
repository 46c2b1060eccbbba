"""Every notebook runs from top to bottom, and shows what is stored in it."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import nbformat
import pytest
from executed import ROOT, executed, shown

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_is_one() -> None:
    assert NOTEBOOKS


@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_what_is_stored(path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    for number, (now, before) in enumerate(zip(shown(executed(stored)), shown(stored), strict=True), 1):
        assert now == before, f"code cell {number}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_whole_and_steady(path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        assert set(cell.metadata) == set()
        for output in cell.outputs:
            assert output.get("name") != "stderr"
            # times and addresses differ in every run
            assert not re.search(r"\d\.\d+ ?s\b|0x[0-9a-f]{6}", str(output))


def test_the_review_says_what_its_prose_builds_on() -> None:
    (path,) = [path for path in NOTEBOOKS if path.stem == "why_fair_is_rejected"]
    cells = shown(nbformat.read(path, as_version=4))
    lines = [line for cell in cells for part in cell if isinstance(part, tuple) for line in part[1].splitlines()]
    verdicts = {
        found[1]: found[2] for line in lines if (found := re.match(r"(\w.*?) {2,}([A-Z]+) +[\d,]+ states$", line))
    }
    assert verdicts == {
        "fifo": "HOLDS",
        "stateaware": "HOLDS",
        "fair, if it were accepted": "VIOLATED",
        "fair, as designed": "HOLDS",
        "fifo, two leaves, gate none": "VIOLATED",
        "fifo, two leaves, gate fits": "VIOLATED",
        "fifo, two leaves, gate reserves": "HOLDS",
        "fair, one leaf, gate reserves": "HOLDS",
        "fifo on instances": "HOLDS",
        "fair on instances": "VIOLATED",
        "fifo, instances may vanish": "VIOLATED",
    }
    assert lines.count(" " * 36 + "no_starving_gangs in 6 steps") == 3


def test_a_stale_output_is_seen() -> None:
    """Of the comparison above: streams are joined, another text differs."""
    cell = nbformat.v4.new_code_cell("print(1)")
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=t) for t in ("1", "\n")]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    other = copy.deepcopy(notebook)
    assert shown(notebook) == [[("stdout", "1\n")]]
    other.cells[0].outputs[0].text = "2"
    assert shown(other) != shown(notebook)

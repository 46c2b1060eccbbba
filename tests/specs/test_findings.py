"""Findings tell the trace that is printed, the upstream lines that they rest on, and what a run of the real program
printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from finding_traces import BLOCK, FOLDER, findings, rewritten

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

FINDINGS = {f"{path.parent.parent.name}-{path.stem}": path for path in findings()}
EVERY = sorted(FOLDER.rglob("findings/*.md"))
PRINTED = re.compile(r"^```\n.*?^```$|^ {4}.*?$", re.DOTALL | re.MULTILINE)
SCRIPTS = {
    path.stem: path for finding in FINDINGS.values() for path in finding.parent.glob(f"{finding.stem}_confirm.py")
}


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_has_the_trace_that_is_printed(name: str) -> None:
    text = FINDINGS[name].read_text(encoding="utf-8")
    assert BLOCK.search(text)
    assert rewritten(text) == text


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_names_upstream_lines_and_their_version(name: str) -> None:
    rests_on = FINDINGS[name].read_text(encoding="utf-8").split("## What it rests on")[1].split("\n## ")[0]
    assert re.search(r"`\w+[\w/]*\.(py|go):\d+", rests_on)
    assert re.search(r"commit `[0-9a-f]{7,40}`|v\d+\.\d+\.\d+", rests_on)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: str(path.relative_to(FOLDER).with_suffix("")))
def test_every_finding_names_a_file_and_its_lines(path: Path) -> None:
    """Of every spec, in words: what a trace or a program prints is not looked at."""
    words = PRINTED.sub("", path.read_text(encoding="utf-8"))
    assert re.search(r"^Confirmed: (yes|no)\b", words, re.MULTILINE)
    assert re.search(r"\w\.(go|py)(:\d+|[`,:(\s-]{1,8}lines? \d+)", words)


@pytest.mark.parametrize("name", [n for n, path in FINDINGS.items() if path.parent.parent.name == "ray"])
def test_what_is_confirmed_has_a_script_and_what_it_printed(name: str) -> None:
    text = FINDINGS[name].read_text(encoding="utf-8")
    script = f"{FINDINGS[name].stem}_confirm"
    assert ("Confirmed: yes" in text) == (script in SCRIPTS) == (f"{script}.py`" in text and "## Observed" in text)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_says_that_ray_is_missing(name: str, tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError('No module named ray')\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-B", str(SCRIPTS[name])],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 1
    assert "this runs the autoscaler of Ray 2.60 or later, which is not installed" in done.stderr

"""What docs/simulation.md shows is what the commands print, and what it says of files can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from console_blocks import ROOT, Command, blocks, run, steady

from gangproof.cli import run as gangproof

PAGE = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")


def test_every_command_prints_what_the_page_shows() -> None:
    steps = blocks(PAGE)
    commands = [step for step in steps if isinstance(step, Command)]
    assert len(commands) == 3
    for command, printed in zip(commands, run(steps), strict=True):
        assert steady(printed) == steady(command.printed), f"$ {command.line}\n{printed}"


def test_the_files_on_the_page_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, settings = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    node = {"name": "n1", "capacity": {"vcore": 8000}}
    cluster = {
        "gangproof": "cluster/v1",
        "nodes": [node],
        "queues": {"name": "root", "children": [{"name": "root.default"}]},
    }
    for name, text in (("trace", trace), ("settings", settings), ("cluster", json.dumps(cluster))):
        (tmp_path / f"{name}.json").write_text(text)
    arguments = [f"--{name}={tmp_path / f'{name}.json'}" for name in ("trace", "settings")]
    assert gangproof(["simulate", str(tmp_path / "cluster.json"), "--policy", "yunikorn", *arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["finished"], answer["restarts"]) == (1, 2)


def test_every_event_of_the_log_is_on_the_page() -> None:
    source = "".join((ROOT / "reference" / "simulation" / f).read_text() for f in ("gangs.py", "engine.py"))
    events = set(re.findall(r"_say\(\s*\"(\w+)\"", source)) | {"reject", "kill"}
    assert len(events) >= 14
    assert {event for event in events if f"`{event}`" not in PAGE} == set()

"""``gangproof slice``: what it tells, in text and in JSON."""

from __future__ import annotations

import re

import pytest
from command_line import answer

from gangproof.cli import run


def test_the_command_tells_of_a_slice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["slice", "volcano", "capacity=3"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        "A SLICE of volcano: volcano_slice queues=2 jobs=2 size=3 minimum=2 capacity=3\n  drains=0\n"
        "All 2,439 steps compared; 1,023 change nothing that the slice sees. 1,700\n  states, 61 for the slice.\n"
    )
    assert re.search(r"^pop_job +pop_job$", text, re.MULTILINE)
    assert re.search(r"^tried +a job may be popped as often as it likes$", text, re.MULTILINE)
    assert run(["slice", "gang"]) == 2
    assert "gang has no slice" in capsys.readouterr().err
    assert run(["slice", "volcano", "layout=case1"]) == 2
    assert "the slice of volcano is for layout=grid, found case1" in capsys.readouterr().err
    assert run(["slice", "volcano", "edition=current", "bind_failures=1"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("NO SLICE of volcano: volcano_slice queues=2")
    assert "\n    turn[queue2, job2]: true -> false\n" in text


def test_the_command_answers_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, told, _ = answer(capsys, "slice", "volcano", "edition=current", "bind_failures=1")
    assert (status, told["verdict"], told["first_bad"]["step"]) == (1, "no slice", 6)
    assert told["seen_as"]["allocate"] == ["allocate"]
    assert told["slice_parameters"]["jobs"] == 2

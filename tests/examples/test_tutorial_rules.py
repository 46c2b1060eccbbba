"""The table of README's tutorial: what Python would do silently is an error with its line, and what to write works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model.language import Machine, SpecError
from specs.loading import load_spec

SPEC = """
import enum
from model.language import *

class Job(Sort):
    "A job."

class Phase(enum.Enum):
    WAITING = 0
    RUNNING = 1
    DONE = 2

def toy(size: int = 2) -> Machine:
    m = Machine("toy")
    m.sort(Job, 2)
    phase = m.variable("phase", Job, Phase, init=Phase.WAITING)
    held = m.variable("held", Job, range(size + 1), init=0)

    @m.action
    def act(j: Job) -> None:
        {body}

    return m
"""
LINE = SPEC[: SPEC.index("{body}")].count("\n") + 1

WRONG = [
    "if held[j] < size: held[j] += 1",
    "require(held[j] < size and phase[j] == Phase.WAITING); held[j] += 1",
    "require(held[j] < size or phase[j] == Phase.WAITING); held[j] += 1",
    "require(not phase[j] == Phase.WAITING); held[j] += 1",
    "held[j] = held[j] + 1 if held[j] < size else 0",
    "require(0 < held[j] < size); held[j] += 1",
    "require(phase[j] in (Phase.WAITING, Phase.DONE)); held[j] += 1",
    "require(sum(held[k] for k in Job) < size); held[j] += 1",
    "require(max(held[k] for k in Job) < size); held[j] += 1",
    "require(held[j] < len(Job)); held[j] += 1",
    "require(sum_(held[k] for k in Job if phase[k] == Phase.WAITING) < size); held[j] += 1",
    "total = 0\n        for k in Job: total += held[k]\n        held[j] = total",
    "held[j] = 0; phase[j] = ite(held[j] == 0, Phase.DONE, Phase.WAITING)",
    "require(phase[j] is Phase.WAITING); held[j] += 1",
]
RIGHT = [
    "require(held[j] < size); held[j] += 1",
    "with when(held[j] < size): held[j] += 1",
    "require((held[j] < size) & (phase[j] == Phase.WAITING)); held[j] += 1",
    "require((held[j] < size) | ~(phase[j] == Phase.WAITING)); held[j] += 1",
    "held[j] = ite(held[j] < size, held[j] + 1, 0)",
    "require((0 < held[j]) & (held[j] < size)); held[j] += 1",
    "require(among(phase[j], Phase.WAITING, Phase.DONE)); held[j] = 0",
    "require(sum_(held[k] for k in Job) < max_(held[k] for k in Job)); held[j] += 1",
    "require(sum_(ite(phase[k] == Phase.WAITING, held[k], 0) for k in Job) < size); held[j] += 1",
    "for k in Job: held[k] = 0",
    "phase[j] = ite(held[j] == 0, Phase.DONE, Phase.WAITING); held[j] = 0",
    "held[j] = choose(range(3))",
]


def built(folder: Path, body: str) -> Machine:
    file = folder / "my_spec.py"
    file.write_text(SPEC.replace("{body}", body), encoding="utf-8")
    return load_spec(f"{file}:toy")


@pytest.mark.parametrize("body", WRONG)
def test_everyday_python_is_refused_with_its_line(tmp_path: Path, body: str) -> None:
    with pytest.raises(SpecError) as caught:
        built(tmp_path, body)
    found = re.match(r"(.*my_spec\.py):(\d+): ", str(caught.value))
    assert found is not None
    assert int(found[2]) in range(LINE, LINE + body.count("\n") + 1)


@pytest.mark.parametrize("body", RIGHT)
def test_what_the_table_says_instead_works(tmp_path: Path, body: str) -> None:
    assert [action.name for action in built(tmp_path, body).actions] == ["act"]

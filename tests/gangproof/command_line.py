"""Commands, run in this process, and a spec as a user writes it."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gangproof.cli import run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "spark-gangs"

TOY = """
from model.language import Expr, Machine, Sort, count_, require


class Job(Sort):
    "A job."


def toy(jobs: int = 2, slots: int = 1, leak: bool = False) -> Machine:
    "Jobs take slots."
    m = Machine("toy")
    m.sort(Job, jobs, symmetric=True)
    running = m.variable("running", Job, bool, init=False)

    @m.action
    def start(j: Job) -> None:
        require(~running[j], count_(running[k] for k in Job) < slots + leak)
        running[j] = True

    @m.action
    def stop(j: Job) -> None:
        require(running[j])
        running[j] = False

    @m.always
    def slots_suffice() -> Expr:
        return count_(running[j] for j in Job) <= slots

    return m
"""


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any, str]:
    """Exit status, parsed JSON and stderr of a command with ``--json``, held against its schema."""
    status = run([*arguments, "--json"])
    out = capsys.readouterr()
    parsed = json.loads(out.out)
    schema = json.loads((files("gangproof") / "schemas" / f"{arguments[0]}.json").read_text())
    jsonschema.validate(parsed, schema, cls=jsonschema.Draft202012Validator)
    return status, parsed, out.err

"""The reference against the scheduler of an installed Ray: the same launches, terminations, infeasible sets, and
places.

Skipped where Ray is absent: ``make peer-ray`` installs it apart, or GANGPROOF_RAY names a Python that has it
(GANGPROOF_RAY_SEED one with release 2.48).
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from ray_answers import answer, comparable
from ray_scenarios import CASES, summary

from reference.schedulers.ray import Edition
from reference.schedulers.ray.strategies import problems

ROOT = Path(__file__).resolve().parents[3]
PLACES = {Edition.CURRENT: ("GANGPROOF_RAY", "peer-ray"), Edition.SEED: ("GANGPROOF_RAY_SEED", "peer-ray-2.48")}
Json = dict[str, Any]


def ask_ray(edition: Edition, questions: list[Json]) -> list[Json]:
    """Ray's answers."""
    variable, folder = PLACES[edition]
    python = os.environ.get(variable) or str(ROOT / ".venv" / folder / "bin" / "python")
    if not Path(python).exists():
        if variable in os.environ:
            pytest.fail(f"{variable} is {python!r}, which is not there")
        pytest.skip("Ray is not installed: make peer-ray")
    done = subprocess.run(
        [python, str(ROOT / "bench" / "ray_peer.py")],
        input="".join(json.dumps(each) + "\n" for each in questions),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(questions)
    assert all(each["ray_version"].startswith(edition.value) for each in answers)
    return answers


def drawn(count: int, edition: Edition, decimals: bool) -> list[Json]:
    """That many random problems; release 2.48 does not know one of the states."""
    made: list[Json] = []

    @settings(max_examples=count, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(problems(decimals=decimals))
    def collect(problem: Json) -> None:
        made.append(problem)

    collect()
    if edition is Edition.SEED:
        for problem in made:
            for each in problem["instances"]:
                each["status"] = each["status"].replace("ALLOCATION_TIMEOUT", "TERMINATED")
    return made


def compare(edition: Edition, questions: list[Json]) -> None:
    for problem, theirs in zip(questions, ask_ray(edition, questions), strict=True):
        assert comparable(answer(problem, edition)) == comparable(theirs), json.dumps(problem)


def test_the_table_is_what_ray_answers() -> None:
    for (name, (_, wanted)), theirs in zip(
        CASES.items(), ask_ray(Edition.CURRENT, [problem for problem, _ in CASES.values()]), strict=True
    ):
        assert summary(theirs) == wanted, name


def test_random_problems() -> None:
    compare(Edition.CURRENT, drawn(60, Edition.CURRENT, decimals=True))


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [False, True])
@pytest.mark.parametrize("edition", list(Edition), ids=lambda edition: edition.value)
def test_many_random_problems(edition: Edition, decimals: bool) -> None:
    compare(edition, drawn(2500, edition, decimals))

"""The reference against the scheduler of an installed Ray: the same launches, terminations, infeasible sets, and
places; and against its autoscaler: the same changes of instances, loop by loop.

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
from ray_answers import FILES, answer, comparable, scenarios

from reference.manifests.document import json_field
from reference.schedulers.ray import Edition
from reference.schedulers.ray.script import play
from reference.schedulers.ray.script_strategies import scripts
from reference.schedulers.ray.strategies import problems

ROOT = Path(__file__).resolve().parents[3]
PLACES = {Edition.CURRENT: ("GANGPROOF_RAY", "peer-ray"), Edition.SEED: ("GANGPROOF_RAY_SEED", "peer-ray-2.48")}
Json = dict[str, Any]


def ask_ray(edition: Edition, questions: list[Json], peer: str = "ray_peer.py") -> list[Json]:
    """Ray's answers."""
    variable, folder = PLACES[edition]
    python = os.environ.get(variable) or str(ROOT / ".venv" / folder / "bin" / "python")
    if not Path(python).exists():
        if variable in os.environ:
            pytest.fail(f"{variable} is {python!r}, which is not there")
        pytest.skip("Ray is not installed: make peer-ray")
    done = subprocess.run(
        [python, str(ROOT / "bench" / peer)],
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


def plain(value: Any) -> Any:
    """JSON without decimals."""
    return json.loads(json.dumps(value, default=float))


def test_decisions_of_the_scenarios_are_what_ray_answers() -> None:
    problems: dict[Edition, list[Json]] = {edition: [] for edition in Edition}
    for scenario in map(plain, (field.mapping() for field in scenarios(FILES[0]))):
        for step in scenario["steps"]:
            if step["op"] == "schedule":
                problem = {**scenario["cluster"], **step}
                del problem["op"]
                problems[Edition(scenario.get("edition", "2.60"))].append(problem)
    for edition, questions in problems.items():
        compare(edition, questions)


def compare_loops(edition: Edition, questions: list[Json]) -> None:
    for script, theirs in zip(questions, ask_ray(edition, questions, "ray_loop_peer.py"), strict=True):
        ours = play(json_field(json.dumps(script), "script"), edition)
        for number, (mine, its) in enumerate(zip(ours, theirs["loops"], strict=True)):
            assert mine == its, f"loop {number} of {json.dumps(script)}"


def test_loops_of_the_scenarios_are_what_ray_does() -> None:
    found = [plain(field.mapping()) for field in scenarios(FILES[1])]
    for edition in Edition:
        of_it = [each for each in found if each.get("edition", "2.60") == edition.value]
        scripts = [[step for step in each["steps"] if step["op"] != "expect"] for each in of_it]
        compare_loops(edition, [{"cluster": e["cluster"], "steps": s} for e, s in zip(of_it, scripts, strict=True)])


def drawn_scripts(count: int, edition: Edition) -> list[Json]:
    """That many random scripts."""
    made: list[Json] = []

    @settings(max_examples=count, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(scripts(edition))
    def collect(script: Json) -> None:
        made.append(script)

    collect()
    return made


def test_random_scripts() -> None:
    compare_loops(Edition.CURRENT, drawn_scripts(20, Edition.CURRENT))


@pytest.mark.slow
@pytest.mark.parametrize("edition", list(Edition), ids=lambda edition: edition.value)
def test_many_random_scripts(edition: Edition) -> None:
    compare_loops(edition, drawn_scripts(500, edition))


def test_random_problems() -> None:
    compare(Edition.CURRENT, drawn(60, Edition.CURRENT, decimals=True))


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [False, True])
@pytest.mark.parametrize("edition", list(Edition), ids=lambda edition: edition.value)
def test_many_random_problems(edition: Edition, decimals: bool) -> None:
    compare(edition, drawn(2500, edition, decimals))

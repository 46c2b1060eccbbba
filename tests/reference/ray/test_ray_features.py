"""Random problems use every feature of Ray's scheduler: each decides often enough, so agreement says something."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from ray_answers import known

from reference.schedulers.ray.features import FEATURES, deciding, without
from reference.schedulers.ray.strategies import problems

PROBLEMS = 2000


@pytest.mark.parametrize(
    ("scenario", "feature"),
    [
        ("priority breaks ties", "priority"),
        ("a type that failed of late comes last", "recoverable availability"),
        ("a label", "label selectors"),
        ("labels with a second choice", "fallback selectors"),
        ("another launch configuration", "config check"),
        ("rather another accelerator than a GPU", "GPU nodes are conserved"),
        ("gangs packed and spread", "gangs"),
    ],
)
def test_a_problem_without_its_feature_has_another_answer(scenario: str, feature: str) -> None:
    problem = known(scenario)
    if feature == "fallback selectors":
        problem["requests"][0]["label_selectors"].reverse()
        problem["node_types"].pop("gpu_node")
    assert feature in deciding(problem)


def test_a_feature_that_is_not_there_is_not_missed() -> None:
    problem = known("a fragment is of no use")
    assert without(problem, "priority") == problem
    assert set(deciding(problem)) == {"requests", "what is in use"}


@pytest.mark.slow
def test_every_feature_decides_often() -> None:
    counts: Counter[str] = Counter()
    drawn: list[dict[str, Any]] = []

    @settings(max_examples=PROBLEMS, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(problems())
    def collect(problem: dict[str, Any]) -> None:
        drawn.append(problem)

    collect()
    for problem in drawn:
        counts.update(deciding(problem))
    for feature in FEATURES:
        print(f"{100 * counts[feature] / len(drawn):5.1f} % {feature}")
    assert min(counts[feature] for feature in FEATURES) >= len(drawn) / 20

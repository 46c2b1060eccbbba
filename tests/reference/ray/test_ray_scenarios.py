"""Single decisions of Ray's scheduler with known answers: upstream's tests, where greedy is not optimal, and scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ray_answers import answer, comparable, read
from ray_scenarios import CASES, summary

from reference.schedulers.ray import EXACT, Edition, NodeTypeConfig, ResourceRequest, SchedulingNode, schedule
from reference.schedulers.ray.node import Need, Source, try_schedule

SUBOPTIMAL = json.loads((Path(__file__).parent / "ray_suboptimal.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_a_known_answer(name: str) -> None:
    problem, wanted = CASES[name]
    assert summary(answer(problem)) == wanted


@pytest.mark.parametrize("known", SUBOPTIMAL, ids=lambda known: known["name"])
def test_where_greedy_is_not_optimal(known: Any) -> None:
    assert comparable(answer(known["problem"])) == comparable(known["answer"])


@pytest.mark.parametrize(
    ("total", "asked", "score"),
    [
        ({"GPU": 4}, {"GPU": 2}, (0, True, 1, 0.5, 0.5)),
        ({"GPU": 2}, {"GPU": 2}, (0, True, 1, 2, 2)),
        ({"GPU": 2, "TPU": 1}, {"GPU": 2}, (0, True, 1, 0, 1)),
        ({"CPU": 64}, {"CPU": 32}, (0, True, 1, 8, 8)),
        ({"CPU": 64}, {"CPU": 64}, (0, True, 1, 64, 64)),
        ({"CPU": 1, "GPU": 1}, {"CPU": 1}, (0, False, 1, 0, 0.5)),
        ({"CPU": 1, "GPU": 1}, {"CPU": 1, "GPU": 0}, (0, True, 1, 0, 0.5)),
    ],
)
def test_the_cubic_score(total: dict[str, float], asked: dict[str, float], score: tuple[Any, ...]) -> None:
    node = SchedulingNode.from_config(NodeTypeConfig("A", total, 1))
    need = Need.of(ResourceRequest(tuple(sorted(asked.items()))), 1)
    fill = try_schedule(node, Source.PENDING_DEMAND, [need], [1], [0], True, 1)
    assert fill is not None
    assert fill.score == score


def test_counted_exactly_the_third_fits() -> None:
    problem, wanted = CASES["doubles drift: the third does not fit"]
    assert wanted["infeasible"] == 1
    assert answer(problem, arithmetic=EXACT)["infeasible_requests"] == []


def test_in_release_2_48_twins_take_each_others_requests() -> None:
    """New nodes of a minimum are one object there: the node that is chosen leaves with what all places took."""
    problem = {
        "node_types": {"A": {"resources": {"CPU": 2}, "min": 2, "max": 2}},
        "requests": [{"resources": {"CPU": 1}, "count": 1}],
    }
    twice = [[{"CPU": 1.0}, {"CPU": 1.0}], []]
    once = [[{"CPU": 1.0}], []]
    for edition, demand in ((Edition.SEED, twice), (Edition.CURRENT, once)):
        assert [node["demand"] for node in answer(problem, edition)["placement"]] == demand


def test_in_release_2_48_labels_bind_nobody() -> None:
    problem, _ = CASES["a label that nothing has"]
    assert answer(problem, Edition.SEED)["to_launch"] == {"cpu_node": 1}


def test_a_reply_tells_in_which_order_types_were_chosen() -> None:
    problem, _ = CASES["large and small"]
    assert list(schedule(read(problem)).to_launch) == ["m4.16xlarge", "m4.4xlarge"]

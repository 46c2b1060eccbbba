"""Scenarios with known answers: upstream's tests as data, and decisions where greedy is not optimal."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from ray_answers import FILES, answer, comparable, known, read, scenarios

from reference.errors import InputError
from reference.manifests.document import Field
from reference.schedulers.ray import EXACT, Edition, schedule
from reference.schedulers.ray.scenario import run

Json = dict[str, Any]
SUBOPTIMAL = json.loads((Path(__file__).parent / "ray_suboptimal.json").read_text())


SCENARIOS = [each for name in FILES for each in scenarios(name)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: str(scenario.value["id"]))
def test_a_scenario(scenario: Field) -> None:
    assert run(scenario.mapping()) == ()


@pytest.mark.parametrize("scenario", SCENARIOS[::7], ids=lambda scenario: str(scenario.value["id"]))
def test_a_scenario_that_expects_something_else_fails(scenario: Field) -> None:
    changed = copy.deepcopy(scenario.mapping())
    wrong: Json = {"op": "expect", "to_launch": {"nothing": 1}}
    for step in changed["steps"]:
        if step["op"] == "score":
            wrong = {"op": "expect", "left": 77}
        if step["op"] == "loop":
            wrong = {"op": "expect", "events": [["nobody", "QUEUED"]]}
    changed["steps"].append(wrong)
    assert any(f"steps[{len(changed['steps']) - 1}]" in line for line in run(changed))


@pytest.mark.parametrize(
    ("steps", "where", "expected"),
    [
        ([{"op": "expect"}], "steps[0]", "a decision, a score or a loop"),
        ([{"op": "bang"}], "steps[0].op", "one of"),
        ([{"op": "ray_node"}], "steps[0].id", "a name"),
        ([{"op": "loop"}, {"op": "expect", "to_launch": {}}], "steps[1].to_launch", "one of op, events"),
        ([{"op": "schedule"}, {"op": "expect", "events": []}], "steps[1].events", "one of op, to_launch"),
        ([{"op": "instance", "id": "i", "history": [["QUEUED"]]}], "steps[0].history[0]", "a status and seconds"),
        ([{"op": "instance", "id": "i", "history": []}], "steps[0].history", "at least one status"),
        ([{"op": "ray_node", "id": "n", "available": {"CPU": 3}, "total": {"CPU": 2}}], "available.CPU", "at most"),
        ([{"op": "configure", "speed": 2}], "steps[0].speed", "one of"),
        ([{"op": "loop"}, {"op": "expect"}], "steps[1]", "what is expected"),
        ([{"op": "cloud_instance_gone", "id": "c"}], "steps[0].id", "an instance the cloud lists: there is none"),
        (
            [{"op": "cloud_instance", "id": "c", "type": "A"}, *[{"op": "cloud_instance_gone", "id": "c"}] * 2],
            "steps[2].id",
            "an instance the cloud lists",
        ),
        ([{"op": "ray_node_gone", "id": "n"}], "steps[0].id", "a node that the GCS reports"),
        (
            [{"op": "ray_node", "id": "n"}, {"op": "refuse_drains", "nodes": ["n", "m"]}],
            "steps[1].nodes[1]",
            "a node that there is or was: n",
        ),
        ([{"op": "terminate_error", "cloud_instance": "c"}], "steps[0].cloud_instance", "that there is or was"),
        ([{"op": "fail_installs", "cloud_instance": "c"}], "steps[0].cloud_instance", "that there is or was"),
        ([{"op": "launch_error", "launch": "r1", "type": "A"}], "steps[0].launch", "a launch that there is or was"),
    ],
)
def test_a_scenario_that_cannot_be_read(steps: list[Json], where: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        run({"id": "x", "upstream": "y", "cluster": {"node_types": {}}, "steps": steps})
    assert where in caught.value.where
    assert expected in caught.value.expected


@pytest.mark.parametrize(
    ("expected", "passes"),
    [
        ({"to_launch": {"A": 1}}, True),
        ({"to_launch": {"A": 1.0}}, True),
        ({"to_launch": {"A": True}}, False),
        ({"to_launch": {"A": 1}, "infeasible_requests": False}, False),
        ({"to_launch": {"A": "1"}}, False),
    ],
)
def test_true_is_not_one(expected: Json, passes: bool) -> None:
    steps = [{"op": "schedule", "requests": [{"resources": {"CPU": 1}}]}, {"op": "expect", **expected}]
    cluster = {"node_types": {"A": {"resources": {"CPU": 1}, "max": 1}}}
    assert (run({"id": "x", "upstream": "y", "cluster": cluster, "steps": steps}) == ()) is passes


@pytest.mark.parametrize("case", SUBOPTIMAL, ids=lambda case: case["name"])
def test_where_greedy_is_not_optimal(case: Json) -> None:
    assert comparable(answer(case["problem"])) == comparable(case["answer"])


def test_counted_exactly_the_third_fits() -> None:
    problem = known("doubles drift: the third does not fit")
    assert answer(problem)["infeasible_requests"] != []
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


def test_a_reply_tells_in_which_order_types_were_chosen() -> None:
    problem = known("types that tie take turns")
    assert list(schedule(read(problem)).to_launch) == ["A", "B"]

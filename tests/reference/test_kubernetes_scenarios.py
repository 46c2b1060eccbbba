"""Upstream's tests of PodGroups, and the rules of the documentation page, as scenarios."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reference.errors import InputError
from reference.schedulers.kubernetes.scenario import run

DATA = Path(__file__).resolve().parents[1] / "data" / "scenarios"


def scenarios() -> dict[str, dict[str, Any]]:
    found = {}
    for path in sorted(DATA.glob("kubernetes*.json")):
        file = json.loads(path.read_text())
        for each in file["scenarios"]:
            found[f"{path.stem}: {each['id']}"] = {"edition": file["edition"], **each}
    return found


ALL = scenarios()


@pytest.mark.parametrize("name", ALL)
def test_scenario_passes(name: str) -> None:
    assert run(ALL[name]) == ()


@pytest.mark.parametrize("name", ALL)
def test_the_answer_does_not_depend_on_the_order_of_nodes_or_on_the_index(name: str) -> None:
    scenario = json.loads(json.dumps(ALL[name]))
    scenario["cluster"]["nodes"].reverse()
    assert run(scenario) == ()
    scenario["cluster"]["options"] = {**scenario["cluster"].get("options", {}), "indexed": False}
    assert run(scenario) == ()


def test_a_difference_is_told_with_its_place() -> None:
    scenario = json.loads(json.dumps(ALL["kubernetes: K1"]))
    scenario["steps"][-1] |= {"scheduled": ["p1"], "conditions": {"pg1": "Unschedulable"}}
    assert run(scenario) == (
        "steps[3].scheduled: found p1, p2, p3, expected p1",
        "steps[3].conditions: found {'pg1': 'Scheduled'}, expected {'pg1': 'Unschedulable'}",
    )


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"op": "dance"}, r"steps\[0\].op: found 'dance', expected an operation"),
        ({"op": "create_pods", "names": "p1"}, r"steps\[0\].names: found 'p1', expected a list of names"),
        ({"op": "create_pods", "names": ["p"], "requests": {"cpu": "much"}}, r"steps\[0\].requests.cpu: found"),
        ({"op": "expect", "bound": []}, r"steps\[0\]: found the unknown key 'bound'|steps\[0\].bound: found"),
        ({"op": "create_pod_group", "name": "g", "minCount": 0}, r"steps\[0\].minCount: found 0, expected"),
        ({"op": "expect"}, r"steps\[0\]: found nothing, expected what is expected"),
        ({"op": "expect", "nodes": {"p9": None}}, r"steps\[0\].nodes.p9: found 'p9', expected a pod or a group"),
        ({"op": "expect", "count": {"g9": 0}}, r"steps\[0\].count.g9: found 'g9', expected a pod or a group"),
        ({"op": "expect", "count": {"g9": False}}, r"steps\[0\].count.g9: found false, expected"),
        ({"op": "expect", "refused": 1}, r"steps\[0\].refused: found 1, expected"),
    ],
)
def test_a_malformed_scenario_is_refused_with_its_place(edit: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run({"id": "x", "cluster": {"nodes": []}, "steps": [edit]})


def test_a_bad_option_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r"cluster.options: found option seed: -1, expected an integer"):
        run({"id": "x", "cluster": {"nodes": [], "options": {"seed": -1}}, "steps": []})


def test_a_refusal_that_nothing_expects_is_a_difference() -> None:
    gone = {"op": "delete_pods", "names": ["p9"]}
    expected = {"op": "expect", "refused": True}
    for steps, told in (
        ([gone], ["steps[0]"]),
        ([gone, {"op": "run"}, expected], ["steps[0]"]),
        ([gone, {"op": "expect", "scheduled": []}], ["steps[0]"]),
        ([gone, expected], []),
    ):
        found = run({"id": "x", "cluster": {"nodes": []}, "steps": steps})
        assert [line.partition(":")[0] for line in found] == told

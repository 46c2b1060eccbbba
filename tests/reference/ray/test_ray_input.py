"""The JSON of ``gangproof schedule --policy ray``: what is refused, with place, found and expected; and the command."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ray_answers import read

from gangproof.cli import run
from reference.errors import InputError
from reference.schedulers.ray import EXACT, Instance, LabelConstraint, Operator, ResourceRequest

A = {"resources": {"CPU": 2, "GPU": 1}, "max": 3}
RUNS = {"id": "i1", "type": "A"}


def problem(**more: Any) -> dict[str, Any]:
    return {"node_types": {"A": A}, **more}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "node_types: found nothing"),
        (problem(instance=[]), "the unknown key 'instance', expected one of node_types, instances,"),
        ({"node_types": {"A": {"max": 1}}}, "node_types.A.resources: found nothing"),
        ({"node_types": {"A": {"resources": {}}}}, "node_types.A.max: found nothing, expected how many nodes"),
        ({"node_types": {"A": {**A, "min": 4}}}, "min: found 4, expected a whole number, at most max (3)"),
        ({"node_types": {"A": {**A, "max": 1.5}}}, "max: found 1.5"),
        ({"node_types": {"A": {**A, "resources": {"CPU": -1}}}}, "resources.CPU: found -1, expected a number from 0"),
        ({"node_types": {"A": {**A, "resources": {"CPU": "1"}}}}, "resources.CPU: found '1'"),
        ({"node_types": {"A": {**A, "resources": {"CPU": True}}}}, "resources.CPU: found true"),
        ({"node_types": {"A": {**A, "idle_timeout_s": -1}}}, "idle_timeout_s: found -1, expected seconds, 0 or more"),
        (problem(max_num_nodes=-1), "max_num_nodes: found -1"),
        (problem(cloud_resource_availabilities={"A": 2}), "availabilities.A: found 2, expected a number from 0 to 1"),
        (problem(instances=[{"type": "A", "status": "RUNNING"}]), "status: found 'RUNNING', expected one of UNKNOWN"),
        (problem(instances=[{"type": "B"}]), "type: found 'B', expected one of node_types"),
        (problem(instances=[{"type": "B"}], disable_launch_config_check=False), "total: found nothing"),
        (
            problem(instances=[{"type": "B", "total": {"CPU": 1}, "head": True}], disable_launch_config_check=False),
            "type: found 'B', expected one of node_types",
        ),
        (
            problem(instances=[{**RUNS, "available": {"CPU": 3}}]),
            "available.CPU: found 3, expected at most the total, 2",
        ),
        (problem(instances=[RUNS, RUNS]), "instances[1]: found the id 'i1' again"),
        (problem(instances=[{"type": "A", "head": True}] * 2), "instances[1]: found a second head"),
        (problem(requests=[{"resources": {"CPU": 1}, "count": -1}]), "requests[0].count: found -1"),
        (problem(requests=[{"resources": {}, "label_selectors": [[["zone", "in"]]]}]), "found a list of 2"),
        (
            problem(requests=[{"resources": {}, "label_selectors": [[["zone", "is", []]]]}]),
            "expected one of in, not_in",
        ),
        (problem(gangs=[{"strategy": "STRICT", "bundles": []}]), "strategy: found 'STRICT', expected one of PACK"),
        (problem(gangs=[{"id": "g", "strategy": "PACK", "bundles": []}] * 2), "gangs[1]: found the id 'g' again"),
        (
            problem(gangs=[{"strategy": "PACK", "bundles": [{}, {}], "bundle_selectors": [None]}]),
            "found a list of 1, expected one for each of the 2 bundles",
        ),
        (
            problem(
                gangs=[{"id": "g", "strategy": "STRICT_SPREAD", "bundles": [{}]}],
                instances=[{**RUNS, "dynamic_labels": {"_PG_g": "x"}}],
            ),
            "instances[0].dynamic_labels._PG_g: found 'x', expected an empty text",
        ),
    ],
)
def test_what_cannot_be_used_is_told_with_its_place(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as error:
        read(given)
    assert told in str(error.value)
    assert str(error.value).startswith("problem.json:1")


def test_more_than_four_decimals_are_refused_where_amounts_are_exact() -> None:
    given = problem(requests=[{"resources": {"CPU": 0.00005}}])
    assert read(given).requests[0][0].bundle == (("CPU", 0.00005),)
    with pytest.raises(InputError, match="at most four decimals"):
        read(given, EXACT)


def test_what_is_read() -> None:
    request = read(
        problem(
            instances=[{"type": "A", "available": {"CPU": 1}}],
            requests=[{"resources": {"GPU": 1, "CPU": 0}, "label_selectors": [[["zone", "not_in", ["b", "a"]]], []]}],
            gangs=[{"strategy": "STRICT_PACK", "bundles": [{"CPU": 1}]}],
            max_num_nodes=None,
        )
    )
    whole = {"CPU": 2.0, "GPU": 1.0}
    assert request.instances == (Instance("i0", "A", total=whole, available={"CPU": 1.0}),)
    selectors = ((LabelConstraint("zone", Operator.NOT_IN, ("a", "b")),), ())
    assert request.requests == ((ResourceRequest((("CPU", 0.0), ("GPU", 1.0)), selectors), 1),)
    assert request.gangs[0].requests[0].affinity == "_PG_0"
    assert request.gangs[0].details == "0:STRICT_PACK"


EVERYTHING = problem(
    instances=[RUNS, {"id": "i2", "type": "A", "idle_ms": 5000, "available": {"CPU": 0, "GPU": 1}}],
    requests=[{"resources": {"GPU": 1}, "count": 4}],
    gangs=[{"id": "g", "strategy": "STRICT_PACK", "bundles": [{"CPU": 2}, {"CPU": 2}]}],
    constraints=[{"resources": {"TPU": 1}}],
    max_num_nodes=3,
    idle_timeout_s=1,
)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "ray.json"
    file.write_text(json.dumps(EVERYTHING))
    assert run(["schedule", "--policy", "ray", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, json.loads((files("gangproof") / "schemas" / "schedule_ray.json").read_text()))
    assert told["to_launch"] == {"A": 1}
    assert told["infeasible_requests"] == [{"resources": {"GPU": 1.0}, "count": 1}]
    assert (told["infeasible_gangs"], told["infeasible_constraints"]) == (["g:STRICT_PACK"], 1)
    assert run(["schedule", "--policy", "ray", str(file)]) == 0
    text = capsys.readouterr().out
    assert "1 to launch, 0 to terminate" in text
    assert "1 x {GPU: 1}" in text
    assert "g:STRICT_PACK" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_mistake_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schedule", "--policy", "ray", "no-such.json"]) == 2
    assert "no-such.json" in capsys.readouterr().err

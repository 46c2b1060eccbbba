"""Upstream's own tests of Volcano, and the tables of its design, as data; and that such data can fail."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from reference.errors import InputError
from reference.scenarios import load
from reference.schedulers.volcano.scenario import run

FILES = sorted((Path(__file__).parents[2] / "data" / "scenarios").glob("volcano*.json"))
SCENARIOS = {s.id: s for file in FILES for s in load(file, ("volcano",))}


def test_all_parts_are_there() -> None:
    assert len(SCENARIOS) == 60


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str) -> None:
    assert run(SCENARIOS[name].content) == ()


def _raw(name: str) -> dict[str, Any]:
    (found,) = (s for file in FILES for s in json.loads(file.read_text())["scenarios"] if s["id"].startswith(name))
    return copy.deepcopy(found)


@pytest.mark.parametrize(
    ("name", "expectation", "told"),
    [
        ("VA1 ", {"binds": {"p1": "n1"}}, "steps[1] (expect): binds: expected {'p1': 'n1'}, found {'p2': 'n1'}"),
        ("VR1 ", {"evicted": []}, "steps[1] (expect): evicted: expected [], found ['preemptee2']"),
        ("VP3 ", {"pipelined": {}}, "steps[1] (expect): pipelined: expected {}, found {'pg2': ['n1']}"),
        ("VH1 ", {"allocated": {"pg1": {"cpu": 4}}}, "expected {'vcore': 4000}, found {'vcore': 5000}"),
        ("VT1 ", {"one_of": {"pg1": ["s0", "s1"]}}, "pg1 lies within one of s0, s1: expected True, found False"),
        ("VC7 ", {"phase_counts": {"Pending": 2}}, "found {'Running': 1, 'Pending': 1}"),
        ("NF1 ", {"namespaces": {"q1": {"ns1": {"cpu": 5}}}}, "expected {'vcore': 5000}, found {'vcore': 4000}"),
    ],
)
def test_a_wrong_expectation_is_a_difference(name: str, expectation: dict[str, Any], told: str) -> None:
    scenario = _raw(name)
    scenario["steps"][1] = {"op": "expect", **expectation}
    (difference,) = run(scenario)
    assert told in difference


def test_an_event_that_is_refused_is_a_difference_and_no_crash() -> None:
    scenario = _raw("VA4 ")
    scenario["steps"] = [{"op": "remove_node", "node": "n7"}]
    assert run(scenario) == ("steps[0] (remove_node): refused (no node has that name): expected False, found True",)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda s: s["steps"][0].update(op="sleep"), "steps[0].op: found 'sleep', expected one of add_job"),
        (lambda s: s["queues"]["c1"].update(wight=1), "queues.c1.wight"),
        (lambda s: s["jobs"]["pg1"].update(min_available=-1), "jobs.pg1.min_available"),
        (lambda s: s["jobs"]["pg1"]["tasks"]["p1"].update(node="n9"), "jobs.pg1: found no node is named 'n9'"),
        (lambda s: s["configuration"].update(actions=["alocate"]), "action 'alocate'"),
        (lambda s: s["configuration"].update(tiers=[["gnag"]]), "configuration.tiers[0][0]: found 'gnag'"),
        (lambda s: s["steps"][1].update(bind={}), "steps[1].bind"),
        (lambda s: s["steps"].append({"op": "expect"}), "steps[2]: found nothing, expected what is expected"),
        (lambda s: s["steps"][1].update(queues={"q9": {"cpu": 0}}), "steps[1].queues.q9: found 'q9'"),
        (lambda s: s["steps"][1].update(allocated={"pg9": {"cpu": 0}}), "steps[1].allocated.pg9: found 'pg9'"),
        (lambda s: s["steps"][1].update(allocated={"pg1": {}}), "steps[1].allocated.pg1: found"),
        (lambda s: s["steps"][1].update(namespaces={"c1": {"ns9": {"cpu": 0}}}), "namespaces.c1.ns9: found 'ns9'"),
        (lambda s: s["steps"][1].update(namespaces={"c9": {"ns": {"cpu": 0}}}), "namespaces.c9.ns: found 'ns'"),
        (lambda s: s["steps"][1].update(allocated={"pg1": None}), "steps[1].allocated.pg1: found"),
        (lambda s: s["steps"].append({"op": "fail_bind", "task": "p9"}), "steps[2].task: found 'p9'"),
        (lambda s: s["steps"].append({"op": "run_session", "task": "p1"}), "steps[2].task"),
        (lambda s: s["nodes"]["n1"]["resources"].update(cpu="2x"), "nodes.n1.resources.cpu"),
        (lambda s: s.update(edition="next"), "edition: found 'next', expected one of seed, shipped, current"),
    ],
)
def test_a_malformed_scenario_is_told_with_its_path(change: Any, told: str) -> None:
    scenario = _raw("VA4 ")
    change(scenario)
    with pytest.raises(InputError) as error:
        run(scenario)
    assert told in str(error.value)

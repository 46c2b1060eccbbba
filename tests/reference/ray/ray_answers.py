"""Answers of the reference to problems given as JSON, answers made comparable, and the scenarios in tests/data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from reference.manifests.document import Field, json_field
from reference.schedulers.ray import DOUBLES, Arithmetic, Edition, SchedulingRequest, read_problem, reply_json, schedule

Json = dict[str, Any]
DATA = Path(__file__).resolve().parents[2] / "data" / "scenarios"
FILES = ("ray_scheduler.json", "ray_reconciler.json")


def read(problem: Json, arithmetic: Arithmetic = DOUBLES) -> SchedulingRequest:
    return read_problem(json_field(json.dumps(problem), "problem.json"), arithmetic)


def answer(problem: Json, edition: Edition = Edition.CURRENT, arithmetic: Arithmetic = DOUBLES) -> Json:
    return reply_json(schedule(read(problem, arithmetic), edition))


def comparable(found: Json) -> Json:
    """An answer without what tells nothing: how infeasible requests of one bundle are split into groups."""
    infeasible: Counter[str] = Counter()
    for each in found["infeasible_requests"]:
        infeasible[json.dumps(each["resources"], sort_keys=True)] += each["count"]
    kept = ("to_terminate", "infeasible_gangs", "infeasible_constraints", "placement")
    return {
        "to_launch": list(found["to_launch"].items()),
        "infeasible_requests": dict(infeasible),
        **{key: found[key] for key in kept},
    }


def scenarios(name: str) -> list[Field]:
    """The scenarios of a file in tests/data."""
    return json_field((DATA / name).read_text(), name).list_of("scenarios")


def known(scenario: str) -> Json:
    """The first problem of a scenario about decisions."""
    for each in json.loads((DATA / FILES[0]).read_text())["scenarios"]:
        if each["id"] == scenario:
            step = next(step for step in each["steps"] if step["op"] == "schedule")
            return {**each["cluster"], **{key: value for key, value in step.items() if key != "op"}}
    raise KeyError(scenario)

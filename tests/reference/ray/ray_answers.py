"""Answers of the reference to problems given as JSON, and answers made comparable."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from reference.manifests.document import json_field
from reference.schedulers.ray import DOUBLES, Arithmetic, Edition, SchedulingRequest, read_problem, reply_json, schedule

Json = dict[str, Any]


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

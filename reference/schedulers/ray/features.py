"""What a problem is made of, feature by feature, and the same problem without it: so that random problems can be held
to using every feature.

A feature counts where the answer is another one without it. ``make features-ray`` prints how often that is.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from reference.manifests.document import json_field
from reference.schedulers.ray.read import read_problem
from reference.schedulers.ray.reply import reply_json
from reference.schedulers.ray.scheduler import schedule

Json = dict[str, Any]
Without = Callable[[Json], None]
"""Takes a feature out of a problem, in place."""


def without(problem: Json, feature: str) -> Json:
    """A copy of the problem that lacks a feature."""
    changed = copy.deepcopy(problem)
    FEATURES[feature](changed)
    return changed


def _drop(*keys: str) -> Without:
    def take(problem: Json) -> None:
        for key in keys:
            problem.pop(key, None)

    return take


def _of_types(**values: Any) -> Without:
    """Sets these of every node type; None drops them."""

    def take(problem: Json) -> None:
        for each in problem["node_types"].values():
            _put(each, values)

    return take


def _of_instances(**values: Any) -> Without:
    def take(problem: Json) -> None:
        for each in problem.get("instances", []):
            _put(each, values)

    return take


def _put(each: Json, values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if value is None:
            each.pop(key, None)
        else:
            each[key] = value


def _strategy(name: str, plain: str) -> Without:
    """Placement groups that insist only wish."""

    def take(problem: Json) -> None:
        for gang in problem.get("gangs", []):
            if gang["strategy"] == name:
                gang["strategy"] = plain

    return take


def _selectors(change: Callable[[Any], Any]) -> Without:
    def take(problem: Json) -> None:
        for request in problem.get("requests", []):
            if "label_selectors" in request:
                request["label_selectors"] = change(request["label_selectors"])
        for gang in problem.get("gangs", []):
            if "bundle_selectors" in gang:
                gang["bundle_selectors"] = [change(each) if each else each for each in gang["bundle_selectors"]]

    return take


def _idle_timeouts(problem: Json) -> None:
    problem.pop("idle_timeout_s", None)
    _of_types(idle_timeout_s=None)(problem)


def _waiting(problem: Json) -> None:
    """Instances that do not run Ray yet."""
    problem["instances"] = [i for i in problem.get("instances", []) if i.get("status", "RAY_RUNNING") == "RAY_RUNNING"]


def _implicit(problem: Json) -> None:
    for request in problem.get("requests", []):
        request["resources"] = {key: v for key, v in request["resources"].items() if not key.startswith("node:")}


def _config_check(problem: Json) -> None:
    """Where a running node's type is gone, Ray cannot do without the check: its hash only."""
    running = [i for i in problem.get("instances", []) if i.get("status", "RAY_RUNNING") == "RAY_RUNNING"]
    if all(each["type"] in problem["node_types"] for each in running):
        problem["disable_launch_config_check"] = True
    _of_types(launch_config_hash=None)(problem)


FEATURES: Final[Mapping[str, Without]] = MappingProxyType(
    {
        "requests": _drop("requests"),
        "gangs": _drop("gangs"),
        "STRICT_SPREAD": _strategy("STRICT_SPREAD", "SPREAD"),
        "STRICT_PACK": _strategy("STRICT_PACK", "PACK"),
        "constraints": _drop("constraints"),
        "label selectors": _selectors(lambda _: []),
        "fallback selectors": _selectors(lambda selectors: selectors[:1]),
        "labels of node types": _of_types(labels=None),
        "labels of nodes": _of_instances(labels=None),
        "minimum": _of_types(min=None),
        "maximum of a type": _of_types(max=50),
        "maximum of all nodes": _drop("max_num_nodes"),
        "priority": _of_types(priority=None),
        "cloud availability": _drop("cloud_resource_availabilities"),
        "recoverable availability": _drop("recoverable_resource_availabilities"),
        "idle time out": _idle_timeouts,
        "idle time out of a type": _of_types(idle_timeout_s=None),
        "config check": _config_check,
        "what is in use": _of_instances(available=None),
        "instances that wait": _waiting,
        "head": _of_instances(head=None),
        "implicit resource": _implicit,
        "GPU nodes are conserved": lambda problem: problem.update(conserve_gpu_nodes=False),
    }
)


def deciding(problem: Json) -> list[str]:
    """The features without which the decision of 2.60 is another one."""
    decided = _decision(problem)
    changed = ((name, without(problem, name)) for name in FEATURES)
    return [name for name, other in changed if other != problem and _decision(other) != decided]


def _decision(problem: Json) -> Json:
    return reply_json(schedule(read_problem(json_field(json.dumps(problem), "problem"))))

"""Objects of Kubernetes as a log: runs of the reference conform, a binding too many or a latch undone is refused."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest

from model.conform import Conformance, Ending, conform
from model.errors import FileError
from model.language import Machine
from specs.kubernetes.binding import Follower, Subject
from specs.kubernetes.log import read
from specs.loading import build_spec

START = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
REASON = {"SCHEDULED": "Scheduled", "UNSCHEDULABLE": "Unschedulable", "SCHEDULER_ERROR": "SchedulerError"}


def machine() -> Machine:
    return build_spec("kubernetes", {"pods": 2, "nodes": 2, "misfits": 0})


def pod(name: str, group: str | None) -> dict[str, Any]:
    spec = {} if group is None else {"schedulingGroup": {"podGroupName": group}}
    return {"kind": "Pod", "metadata": {"namespace": "ns", "name": name}, "spec": spec}


def bound(name: str, node: str, second: int) -> dict[str, Any]:
    at = (START + timedelta(seconds=second)).isoformat()
    message = f"Successfully assigned ns/{name} to {node}"
    return {"kind": "Event", "metadata": {}, "reason": "Scheduled", "message": message, "firstTimestamp": at}


def group(name: str, condition: str, second: int) -> dict[str, Any]:
    at = (START + timedelta(seconds=second)).isoformat()
    told = {"type": "PodGroupInitiallyScheduled", "status": str(condition == "SCHEDULED"), "reason": REASON[condition]}
    metadata = {"namespace": "ns", "name": name}
    return {"kind": "PodGroup", "metadata": metadata, "status": {"conditions": [told | {"lastTransitionTime": at}]}}


def objects_of(seed: int, steps: int) -> list[dict[str, Any]]:
    """A random run of the reference; three events a second."""
    random = Random(seed)
    subject, follower = Subject(machine()), Follower(machine())
    objects: list[dict[str, Any]] = []
    for number in range(steps):
        events = subject.events()
        if not events:
            break
        lasting = [event for event in events if event[0] != "finish"]
        event = random.choice(lasting if lasting and random.random() > 0.2 else events)
        before = follower.shown()
        for name, arguments in follower.follow(subject, event, subject.apply(event)):
            if name == "bind":
                objects += [pod(f"p{number}", arguments[0]), bound(f"p{number}", arguments[1], number // 3)]
        for cell, value in follower.shown().items():
            if cell.startswith("condition[") and value != before[cell]:
                objects.append(group(cell.removeprefix("condition[").removesuffix("]"), str(value), number // 3))
    return objects


def run(objects: list[dict[str, Any]]) -> Conformance:
    return conform(machine(), read(machine(), [json.dumps({"kind": "List", "items": objects})], "objects.json"))


@pytest.mark.parametrize("seed", [1, 2])
def test_runs_of_the_reference_conform(seed: int) -> None:
    objects = objects_of(seed, 40)
    found = run(objects)
    assert found.ending is Ending.CONFORMS, found.divergence
    assert found.matched > 4
    assert found.broken == ()


@pytest.mark.slow
def test_many_runs_of_the_reference_conform() -> None:
    for seed in range(40):
        objects = objects_of(seed, 80)
        assert not objects or run(objects).ending is Ending.CONFORMS, seed


def test_half_a_gang_is_refused() -> None:
    """minCount is two: after one binding the second comes first, or a failure, and the group is not bound again."""
    pods = [pod("a", "g"), pod("b", "g"), pod("c", "g"), pod("x", None)]
    both = [bound("a", "n1", 0), bound("b", "n2", 0)]
    found = run([*pods, *both, bound("x", "n1", 0), group("g", "SCHEDULED", 0)])
    assert (found.ending, found.records) == (Ending.CONFORMS, 3)
    assert run([*pods, *both, bound("c", "n1", 1)]).ending is Ending.DIVERGES  # its node is full
    undone = [*pods, *both, group("g", "SCHEDULED", 0), group("g", "UNSCHEDULABLE", 1)]
    refused = run(undone)
    assert refused.divergence is not None
    assert refused.divergence.seen == {"condition[ns/g]": ("SCHEDULED",)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "object 1: found no kind"),
        ('{"kind": "Pod"}{', "line 1: not JSON"),
        ('{"kind": "Pod"}', "nothing tells of a group"),
        (json.dumps(bound("a", "n", 0)), "ns/a is bound, and the file does not have the pod"),
        (
            json.dumps([pod("a", "g"), bound("a", "n", 0) | {"firstTimestamp": "noon"}]),
            "object 2: found 'noon', expected",
        ),
        (
            json.dumps(group("g", "SCHEDULED", 0)).replace('"Scheduled"', '"Ready"'),
            "reason is 'Ready', expected one of",
        ),
        (
            json.dumps(group("g", "SCHEDULED", 0)).replace('"Scheduled"', "[]"),
            r"reason is \[\], expected one of",
        ),
        ('{"kind": "Event", "x": ' + "1" * 5000 + "}", "line 1: a number of 5,000 digits"),
        ('{"kind": "Event", "x": "\\ud800"}', "line 1: .* has half of a character"),
    ],
)
def test_mistakes(text: str, expected: str) -> None:
    with pytest.raises(FileError, match=expected):
        read(machine(), [text], "objects.json")

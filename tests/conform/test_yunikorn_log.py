"""Events of YuniKorn's core: runs of the reference conform, spoilt ones are refused, a broken property is seen."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from yunikorn_events import app_event, events_of

from model.conform import Conformance, Ending, conform
from model.errors import FileError
from model.language import Machine
from specs.loading import build_spec
from specs.logs import read as read_file
from specs.yunikorn import Edition, Queues, Timers
from specs.yunikorn.log import read

SCOPES: dict[str, dict[str, Any]] = {
    "default": {},
    "deletions": {"reals": 2, "deletions": 1},
    "free timers": {"reals": 2, "timers": Timers.FREE},
    "other sizes": {"placeholder": 2, "capacity": 4, "reals": 2, "preemptions": 1},
    "two queues": {"apps": 2, "queues": Queues.TWO_LEAVES, "quota": 3, "leaf_quota": 2, "timers": Timers.FREE},
    "removals": {"apps": 2, "size": 2, "nodes": 2, "capacity": 2, "app_removals": 1},
}
STATES = (204, 206, 207, 208, 211)


@functools.cache
def machine_for(name: str) -> Machine:
    return build_spec("yunikorn", {"edition": Edition.CURRENT, **SCOPES[name]})


def run(name: str, events: list[dict[str, Any]]) -> Conformance:
    machine = machine_for(name)
    return conform(machine, read(machine, [json.dumps({"EventRecords": events})], "events.json"))


def spoilt(events: list[dict[str, Any]], how: str, chance: Random) -> list[dict[str, Any]]:
    """One record of an application dropped, swapped with the next of another kind, doubled, or altered."""
    events = [e for e in events if e["type"] == 2]
    at = chance.randrange(len(events) - 1)
    if how == "dropped":
        del events[at]
    elif how == "swapped":
        at = next(
            i for i in range(len(events) - 1) if events[i]["eventChangeDetail"] != events[i + 1]["eventChangeDetail"]
        )
        events[at : at + 2] = reversed(events[at : at + 2])
    elif how == "doubled":
        events.insert(at, events[at])
    else:
        at = chance.choice([i for i, e in enumerate(events) if e["eventChangeType"] == 1])
        other = chance.choice([s for s in STATES if s != events[at]["eventChangeDetail"]])
        events[at] = {**events[at], "eventChangeDetail": other}
    return events


@pytest.mark.parametrize("name", ["default", "free timers"])
def test_runs_of_the_reference_conform(name: str) -> None:
    found = run(name, events_of(machine_for(name), Random(1), 40))
    assert found.ending is Ending.CONFORMS, found.divergence
    assert found.matched > 10
    assert found.broken == ()


@pytest.mark.slow
@pytest.mark.parametrize("name", SCOPES)
def test_long_runs_of_the_reference_conform(name: str) -> None:
    for seed in range(10):
        found = run(name, events_of(machine_for(name), Random(seed), 80))
        assert found.ending is Ending.CONFORMS, (seed, found.divergence)


@pytest.mark.slow
def test_how_many_spoilt_runs_are_refused() -> None:
    refused: Counter[str] = Counter()
    for seed in range(30):
        chance = Random(seed)
        events = events_of(machine_for("free timers"), chance, 40)
        for how in ("dropped", "swapped", "doubled", "altered"):
            refused[how] += run("free timers", spoilt(events, how, chance)).ending is Ending.DIVERGES
    assert refused == {"dropped": 30, "swapped": 30, "doubled": 30, "altered": 30}


def test_a_log_that_breaks_a_property_says_so() -> None:
    """A placeholder's pod is deleted while the core allocates it: the group's counters are wrong from then on."""
    found = run("deletions", events_of(machine_for("deletions"), Random(0), 40))
    assert found.ending is Ending.CONFORMS
    assert [b.property for b in found.broken] == ["group_counters_add_up"]


def test_a_gap_and_a_new_core(tmp_path: Path) -> None:
    """Batches that do not join, or of another instance of the core, have a gap between them."""
    asked = [app_event(2, 201, "app1", "p1"), app_event(2, 201, "app1", "p2"), app_event(1, 204, "app1")]
    rest = [app_event(1, 207, "app1")]
    path = tmp_path / "events.json"
    for uuid, low, conforms in (("u", 3, False), ("u", 9, True), ("v", 0, True)):
        batches = [
            {"InstanceUUID": "u", "LowestID": 0, "HighestID": 2, "EventRecords": asked},
            {"InstanceUUID": uuid, "LowestID": low, "HighestID": low, "EventRecords": rest},
        ]
        path.write_text("\n".join(map(json.dumps, batches)))
        found = conform(machine_for("default"), read_file(machine_for("default"), path))
        assert (found.ending is Ending.CONFORMS) is conforms, (uuid, low)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"EventRecords": 3}', "object 1: EventRecords: found 3, expected a list"),
        ('{"EventRecords": [3]}', "record 1: found 3, expected an object"),
        ('{"EventRecords": [{"type": "APP"}]}', "record 1: type: found 'APP', expected a whole number"),
        ('{"EventRecords": []}\n{', "line 2: not JSON"),
        ("[4]", "object 1: found 4, expected a batch or a record of events"),
    ],
)
def test_mistakes(text: str, expected: str) -> None:
    with pytest.raises(FileError, match=expected.replace("(", r"\(")):
        read(machine_for("default"), [text], "events.json")


def test_events_are_of_todays_core() -> None:
    with pytest.raises(FileError, match="edition=current"):
        read(build_spec("yunikorn", {}), ["[]"], "events.json")

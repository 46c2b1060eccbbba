"""Upstream's tests as data, and that each value in them counts."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.errors import InputError
from reference.scenarios import load, run, systems
from reference.schedulers.yunikorn import scenario as yunikorn

DATA = Path(__file__).resolve().parents[2] / "data" / "scenarios"
FILES = sorted(DATA.glob("yunikorn*.json"))
SCENARIOS = [scenario for path in FILES for scenario in load(path, systems())]

EXPECTED = ("want", "accepted", "released", "confirmed", "sizes", "marked", "node", "ignored")
"""What is expected of a step that is not ``expect``; ``node`` only of a cycle."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
def test_the_reference_does_what_upstream_expects(scenario: Any) -> None:
    assert run(scenario).differences == ()


def expected_values(steps: list[dict[str, Any]]) -> Iterator[tuple[Any, Any]]:
    """Container and key of each value that a scenario expects."""

    def leaves(value: Any, container: Any, key: Any) -> Iterator[tuple[Any, Any]]:
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        yield container, key
        for k, v in list(inside):
            yield from leaves(v, value, k)

    for step in steps:
        cycles = step["op"] in ("alloc", "phalloc", "ralloc", "cycle")
        for key, value in list(step.items()):
            if (step["op"] == "expect" and key != "op") or (key in EXPECTED and (key != "node" or cycles)):
                yield from leaves(value, step, key)


def other(value: Any) -> Any:
    """A value of the same kind that is not this one."""
    if value is None or isinstance(value, str):
        return "Expired" if value in ("Accepted", "Running") else f"{value or 'key'}-2"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return [*value, "more"] if isinstance(value, list) else {**value, "more": 7}


def unnoticed(every: int) -> tuple[list[str], int]:
    """Expected values that may be changed by themselves without a difference; and how many were tried."""
    found: list[str] = []
    total = 0
    for scenario in SCENARIOS:
        content = copy.deepcopy(dict(scenario.content))
        for container, key in list(expected_values(content["steps"])):
            total += 1
            if total % every:
                continue
            before = container[key]
            container[key] = other(before)
            try:
                if not yunikorn.run(content):
                    found.append(f"{scenario.id}: {key} {json.dumps(before)}")
            except InputError:
                pass  # it cannot be read any more, which a user notices
            container[key] = before
    return found, total


def test_expected_values_count() -> None:
    """Changed by itself, each is a difference."""
    found, total = unnoticed(every=9)
    assert (found, total > 1200) == ([], True)


@pytest.mark.slow
def test_each_expected_value_counts() -> None:
    assert unnoticed(every=1)[0] == []


@pytest.mark.parametrize(
    ("step", "where", "expected"),
    [
        ({"op": "dance"}, "steps[1].op", "one of queue, set, node"),
        ({"op": "node", "id": "n"}, "steps[1].res", "amounts"),
        ({"op": "node", "id": "n", "res": {"vcore": "1"}}, "steps[1].res.vcore", "a whole number"),
        ({"op": "alloc", "wants": "x"}, "steps[1].wants", "one of op, want, node"),
        ({"op": "expect", "state": {"a": "Running"}}, "steps[1].state.a", "an application that the core has accepted"),
        ({"op": "expect", "node": {"n9": {}}}, "steps[1].node.n9", "one of"),
        ({"op": "expect"}, "steps[1]", "what is expected: pd, total"),
        ({"op": "expect", "state": None}, "steps[1].state", "what is expected"),
        ({"op": "expect", "total": False}, "steps[1].total", "a whole number"),
        ({"op": "predicate_fail", "node": "n9"}, "steps[1].node", "one of"),
        ({"op": "queue", "name": "root.a.b"}, "steps[1].name", "root first"),
        ({"op": "confirm", "key": "x", "type": "BORED"}, "steps[1].type", "one of UNKNOWN, STOPPED_BY_RM"),
        ({"op": "set", "name": "root.x", "maxapps": 1}, "steps[1].name", "one of root"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_path(step: dict[str, Any], where: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        yunikorn.run({"steps": [{"op": "queue", "name": "root"}, step]})
    assert (caught.value.where, expected in caught.value.expected) == (where, True)


REPLACEMENTS: list[Any] = [None, True, 0, -1, "", "root", [], {}, {"a": 1}, {"vcore": -5}, "fair"]


@given(st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_a_damaged_scenario_is_played_or_told(random: Random) -> None:
    """Steps dropped, moved and changed: what upstream refuses is a difference, what cannot be read an InputError."""
    content = copy.deepcopy(dict(random.choice(SCENARIOS).content))
    steps = content["steps"]
    assert isinstance(steps, list)
    for _ in range(random.randint(1, 3)):
        step = random.choice(steps)
        if random.random() < 0.3:
            steps.remove(step)
            steps.insert(random.randint(0, len(steps)), step)
        elif random.random() < 0.3 and len(steps) > 1:
            steps.remove(step)
        else:
            step[random.choice(list(step))] = random.choice(REPLACEMENTS)
    with contextlib.suppress(InputError):
        assert isinstance(yunikorn.run(content), tuple)


BEGIN = [
    {"op": "queue", "name": "root"},
    {"op": "queue", "name": "root.q"},
    {"op": "node", "id": "n", "res": {"vcore": 1}},
    {"op": "app", "id": "a", "queue": "root.q"},
]


@pytest.mark.parametrize(
    "step",
    [
        {"op": "remove_node", "id": "m"},
        {"op": "remove_app", "id": "b"},
        {"op": "remove_ask", "app": "a", "key": "k"},
        {"op": "remove_ask", "app": "b", "key": "k"},
        {"op": "confirm", "app": "a", "key": "k", "type": "STOPPED_BY_RM"},
        {"op": "confirm", "app": "b", "key": "", "type": "TIMEOUT"},
        {"op": "pod_gone", "key": "k"},
    ],
    ids=lambda step: str(step["op"]),
)
def test_what_the_core_ignores_is_told(step: dict[str, Any]) -> None:
    [told] = yunikorn.run({"id": "x", "steps": [*BEGIN, step]})
    assert told == f"steps[4] ({step['op']}): ignored, as unknown: expected false, found true"
    assert yunikorn.run({"id": "x", "steps": [*BEGIN, {**step, "ignored": True}]}) == ()


def test_what_the_core_heeds_is_not_ignored() -> None:
    [told] = yunikorn.run({"id": "x", "steps": [*BEGIN, {"op": "remove_node", "id": "n", "ignored": True}]})
    assert "expected true, found false" in told

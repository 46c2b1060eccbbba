"""Runs of the reference's core as the events that YuniKorn's core sends."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from model.language import Machine
from specs.walking import Call
from specs.yunikorn.current.binding import Follower

_DETAIL = {
    "REJECTED": 202,
    "ACCEPTED": 204,
    "RUNNING": 206,
    "COMPLETING": 207,
    "COMPLETED": 208,
    "FAILING": 209,
    "FAILED": 210,
    "RESUMING": 211,
}


@dataclass(frozen=True)
class Seen:
    """What a partition has: states of applications, asks, and allocations with their nodes."""

    states: dict[str, str]
    asks: set[tuple[str, str]]
    allocations: dict[tuple[str, str], str]


def seen(follower: Follower) -> Seen:
    applications = follower.subject.applications
    return Seen(
        {a: app.state.value.upper() for a, app in applications.items()},
        {(a, r.key) for a, app in applications.items() for r in app.waiting},
        {(a, r.key): r.node for a, app in applications.items() for r in app.allocations.values()},
    )


def app_event(change: int, detail: int, app: str, key: str = "") -> dict[str, Any]:
    return {"type": 2, "objectID": app, "eventChangeType": change, "eventChangeDetail": detail, "referenceID": key}


def between(before: Seen, after: Seen, call: Call | None) -> list[dict[str, Any]]:
    """The events of what changed. ``call``: what happened, if it was no cycle."""
    replaces = call is not None and call[0] in ("confirm_on_same_node", "confirm_on_other_node")
    events: list[dict[str, Any]] = []
    for app, key in sorted(after.asks - before.asks - before.allocations.keys()):
        events.append(app_event(2, 201, app, key))
    for app, key in sorted(before.allocations.keys() - after.allocations.keys()):
        events.append(app_event(3, 503 if replaces else 502, app, key))
    for app, key in sorted(before.asks - after.asks - after.allocations.keys()):
        if "/real" not in key:
            events.append(app_event(3, 102, app, key))
    for app, state in sorted(after.states.items()):
        if before.states.get(app, "NEW") != state:
            events.append(app_event(1, _DETAIL[state], app))
    for app, key in sorted(after.allocations.keys() - before.allocations.keys()):
        events.append(app_event(2, 200, app, key))
        node = after.allocations[app, key]
        if not (replaces and call is not None and call[0] == "confirm_on_same_node"):
            on_node = {"type": 3, "objectID": node, "eventChangeType": 2, "eventChangeDetail": 303, "referenceID": key}
            events.append(on_node)
    if call is not None and call[0] == "remove_application":
        events.append(app_event(3, 0, call[1][0]))
    if call is not None and call[0] == "expire":
        events.append(app_event(1, 212, call[1][0]))
    return events


def events_of(machine: Machine, random: Random, steps: int) -> list[dict[str, Any]]:
    """The events of a random run, until nothing can happen."""
    follower = Follower(machine)
    events: list[dict[str, Any]] = []
    for _ in range(steps):
        before = seen(follower)
        options = list(follower.options())
        call = None
        if not ((random.random() < 0.4 or not options) and follower.cycle()):
            if not options:
                break
            slow = [c for c in options if not c[0].endswith("timeout") and c[0] not in ("expire", "remove_application")]
            call = random.choice(slow if slow and random.random() < 0.95 else options)
            follower.happen(call)
        events += between(before, seen(follower), call)
    return events

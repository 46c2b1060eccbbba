"""YuniKorn's events, as its core tells them: answers of ``/ws/v1/events/batch``, or the records of ``events/stream``,
one after the other. A log of changes, for today's edition.

Records tell of application states, of asks, of allocations and of nodes. They do not say what is a placeholder: in an
application with task groups that is what is asked for first, before it runs or resumes, as the shim holds back its real
pods until then. On which node an application's allocation is, the node's own record says; where a real
pod takes the place of a placeholder on the same node there is none, and it is the placeholder's node. Where records are
missing, or the core was started anew, there is a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from model.conform import Log, Record
from model.conform.log import Told
from model.conform.stream import values
from model.errors import FileError
from model.language import Machine
from specs.yunikorn.current.state import Member
from specs.yunikorn.parameters import Edition

OBSERVED: Final = ("core", "removed", "placeholder", "placed", "reals")
_APP, _NODE = 2, 3
_SET, _ADD, _REMOVE = 1, 2, 3
_STATES: Final = {
    202: "REJECTED",
    204: "ACCEPTED",
    206: "RUNNING",
    207: "COMPLETING",
    208: "COMPLETED",
    209: "FAILING",
    210: "FAILED",
    211: "RESUMING",
    212: "EXPIRED",
}
_ALLOCATION, _ASK, _ON_NODE, _REPLACED = 200, 201, 303, 503
_REMOVED_ASKS: Final = (100, 102)
_REMOVED_ALLOCATIONS: Final = (500, 501, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Event:
    """One record. ``where`` says which of the file."""

    where: str
    type: int
    change: int
    detail: int
    subject: str
    key: str

    def __str__(self) -> str:
        kind = {_APP: "APP", _NODE: "NODE"}[self.type]
        change = {_SET: "SET", _ADD: "ADD", _REMOVE: "REMOVE"}.get(self.change, str(self.change))
        state = f" {_STATES[self.detail]}" if self.detail in _STATES else ""
        return f"{kind} {change} {self.detail}{state} {self.subject} {self.key}".rstrip()


@dataclass(slots=True)
class _Application:
    """What the records have told of one: which keys are placeholders, and which of the spec's ``members`` each is, in
    the order in which they were asked for, as members are alike; where they and the real pods are; ``left``: the node
    of a placeholder that was just replaced."""

    members: tuple[str, ...]
    reserves: bool = True
    placeholders: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    reals: dict[str, int] = field(default_factory=dict)
    left: str | None = None


def looks_like(text: str) -> bool:
    """Whether ``text``, a piece of a file, has such records."""
    return '"EventRecords"' in text or '"eventChangeDetail"' in text


def read(machine: Machine, lines: Iterable[str], name: str) -> Log:
    """The log in ``lines``; ``name`` is what messages call the file. FileError for what has no such records."""
    if Edition(machine.parameters["edition"]) is not Edition.CURRENT:
        raise FileError(f"{name}: events are those of today's YuniKorn: say edition=current")
    told = list(_told("".join(lines), name))
    nodes: dict[str, str] = {}
    for event in told:
        if isinstance(event, Event) and (event.type, event.change, event.detail) == (_NODE, _ADD, _ON_NODE):
            nodes.setdefault(event.key, event.subject)
    if machine.parameters["groups"] > 1:
        raise FileError(f"{name}: events do not say of which task group a pod is: say groups=1")
    return Log(tuple(_records(told, nodes, machine.sorts[Member].names)), observed=OBSERVED)


def _told(text: str, name: str) -> Iterator[Event | str]:
    """The events of applications and nodes; for a gap, where it is."""
    expected: tuple[str, int] | None = None
    number = 0
    for batch, where in _values(text, name):
        records = batch.get("EventRecords", [batch] if "type" in batch else [])
        if not isinstance(records, list):
            raise FileError(f"{name}: {where}: EventRecords: found {records!r}, expected a list")
        if "EventRecords" in batch:
            here = str(batch.get("InstanceUUID", "")), _integer(batch, "LowestID", f"{name}: {where}")
            if expected is not None and (here[0] != expected[0] or here[1] > expected[1]):
                yield where
            expected = here[0], _integer(batch, "HighestID", f"{name}: {where}") + 1
        for record in records:
            number += 1
            place = f"record {number}"
            if not isinstance(record, dict):
                raise FileError(f"{name}: {place}: found {record!r}, expected an object")
            kind = _integer(record, "type", f"{name}: {place}")
            if kind in (_APP, _NODE):
                change, detail = (
                    _integer(record, key, f"{name}: {place}") for key in ("eventChangeType", "eventChangeDetail")
                )
                yield Event(
                    place, kind, change, detail, str(record.get("objectID", "")), str(record.get("referenceID", ""))
                )


def _values(text: str, name: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The JSON objects of the file, one after the other, or those of one list."""
    count = 0
    for value in values(text, name):
        for each in value if isinstance(value, list) else [value]:
            count += 1
            if not isinstance(each, dict):
                raise FileError(f"{name}: object {count}: found {each!r}, expected a batch or a record of events")
            yield each, f"object {count}"


def _integer(told: Mapping[str, Any], key: str, where: str) -> int:
    """An enum or a number; absent is zero, as Go writes it."""
    value = told.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise FileError(f"{where}: {key}: found {value!r}, expected a whole number")
    return value


def _records(told: Iterable[Event | str], nodes: Mapping[str, str], members: tuple[str, ...]) -> Iterator[Record]:
    applications: dict[str, _Application] = {}
    for event in told:
        if isinstance(event, str):
            yield Record(event, gap=True)
        elif event.type == _APP:
            state = _state(event, nodes, applications.setdefault(event.subject, _Application(members)))
            if state:
                yield Record(event.where, state=state, told=str(event))


def _state(event: Event, nodes: Mapping[str, str], app: _Application) -> dict[str, Told]:
    """The cells that an application's event tells of; none for those that the spec does not have."""
    a, key = event.subject, event.key
    if event.change == _SET and event.detail in _STATES:
        state = _STATES[event.detail]
        app.reserves = app.reserves and state in ("ACCEPTED", "COMPLETING")
        return {f"core[{a}]": state}
    if event.change == _ADD and event.detail == _ASK:
        if key not in app.placeholders:
            if not app.reserves or len(app.placeholders) == len(app.members):
                return {}
            app.placeholders[key] = app.members[len(app.placeholders)]
        return {f"placeholder[{a}, {app.placeholders[key]}]": "PENDING"}
    if event.change == _ADD and event.detail == _ALLOCATION:
        return _allocated(a, key, nodes, app)
    if event.change == _REMOVE and (p := app.placeholders.get(key)) is not None:
        if event.detail in _REMOVED_ASKS:
            return {f"placeholder[{a}, {p}]": "GONE"}
        if event.detail in _REMOVED_ALLOCATIONS:
            node = app.nodes.pop(key, None)
            app.left = node if event.detail == _REPLACED else None
            placed: dict[str, Told] = {} if node is None else {f"placed[{a}, {p}, {node}]": False}
            return {f"placeholder[{a}, {p}]": "GONE", **placed}
    if event.change == _REMOVE and event.detail in _REMOVED_ALLOCATIONS and key in app.nodes:
        return _counted(a, app.nodes.pop(key), app, -1)
    if event.change == _REMOVE and event.detail == 0:
        return {f"removed[{a}]": True, f"core[{a}]": None}
    return {}


def _allocated(a: str, key: str, nodes: Mapping[str, str], app: _Application) -> dict[str, Told]:
    if (p := app.placeholders.get(key)) is not None:
        placed: dict[str, Told] = {}
        if key in nodes:
            app.nodes[key] = nodes[key]
            placed = {f"placed[{a}, {p}, {nodes[key]}]": True}
        return {f"placeholder[{a}, {p}]": "ALLOCATED", **placed}
    node = nodes.get(key, app.left)
    app.left = None
    if node is None:
        return {}
    app.nodes[key] = node
    return _counted(a, node, app, 1)


def _counted(a: str, node: str, app: _Application, more: int) -> dict[str, Told]:
    app.reals[node] = app.reals.get(node, 0) + more
    return {f"reals[{a}, {node}]": app.reals[node]}


__all__ = ["OBSERVED", "looks_like", "read"]

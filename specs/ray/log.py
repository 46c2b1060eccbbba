"""Ray's instance manager, as it logs: each change of an instance is a line of monitor.log, or of the autoscaler's
container, at level INFO.

A line tells of a step of the spec that sets the status of this row to that value; which action it is, the spec knows.
What no line says: the loop's phases, the world around, and where a loop begins; these steps are unobserved. A record
may stand twice, once for each of Ray's two log handlers. A line is written before the change is checked, and a batch
of changes takes effect as a whole: in a loop that failed, nobody can tell which lines did, so these are a gap. Ray's
head node is an instance that the spec does not have: it is the one that the first loop finds, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from model.conform import Log, Pattern, Record
from model.errors import FileError
from model.language import Machine
from specs.ray.state import Instance

_CHANGE: Final = re.compile(
    r"(?:New instance (?P<new>\w+)|Update instance (?P<source>\w+)->(?P<target>\w+)) "
    r"\(id=(?P<id>[^,]*), type=(?P<type>[^,]*), cloud_instance_id=(?P<cloud>[^,]*), ray_id=(?P<ray>[^)]*)\): "
)
_TIME: Final = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})")
_BEGINS: Final = re.compile(r"Calculating hashes for file mounts")
_FAILS: Final = re.compile(r"Invalid status transition from|AssertionError|No autoscaling state to report")
_PAUSE: Final = timedelta(seconds=2)
"""Loops are five seconds apart; within one, lines follow each other at once."""
_CONSOLE: Final = " - INFO - "
_OVER: Final = frozenset({"TERMINATED", "ALLOCATION_FAILED"})
"""An instance that has come to one of these stays there, and its row is free from the next loop on."""


@dataclass(frozen=True, slots=True)
class Change:
    """One line: the instance's change, and where it stands."""

    line: int
    at: datetime
    source: str | None
    target: str
    instance: str
    adopted: bool
    text: str
    console: bool


@dataclass(slots=True)
class Loop:
    """The lines of one loop, and whether it failed."""

    changes: list[Change]
    failed_at: int | None = None


def looks_like(text: str) -> bool:
    """Whether ``text``, a piece of a file, has such lines."""
    return _CHANGE.search(text) is not None


def read(machine: Machine, lines: Iterable[str], name: str) -> Log:
    """The log in ``lines``; ``name`` is what messages call the file. FileError where no line tells of an instance, or
    one that does has no time."""
    loops = list(_loops(lines, name))
    changes = [change for loop in loops for change in loop.changes]
    if not changes:
        raise FileError(f"{name}: no line tells of an instance; expected 'New instance ...', 'Update instance ...'")
    heads = {c.instance for c in changes if c.adopted and c.at - changes[0].at < _PAUSE}
    observed = list(_observed(machine))
    told = {p.action for p in observed}
    silent = tuple(Pattern(a.name) for a in machine.actions if a.name not in told)
    return Log(tuple(_records(loops, heads, observed)), silent)


def _loops(lines: Iterable[str], name: str) -> Iterator[Loop]:
    found = Loop([])
    for change in _once(_told(lines, name)):
        if isinstance(change, Change):
            if found.changes and change.at - found.changes[-1].at > _PAUSE:
                yield found
                found = Loop([])
            found.changes.append(change)
        elif change < 0:
            found.failed_at = -change
        elif found.changes or found.failed_at is not None:
            yield found
            found = Loop([])
    yield found


def _told(lines: Iterable[str], name: str) -> Iterator[Change | int]:
    """Changes; the number of a line with which a loop begins; minus that of one that says that the loop failed."""
    for number, text in enumerate(lines, 1):
        found = _CHANGE.search(text)
        if found is None:
            if _FAILS.search(text):
                yield -number
            elif _BEGINS.search(text):
                yield number
            continue
        time = _TIME.match(text)
        if time is None:
            raise FileError(
                f"{name}: line {number}: found {text[:40]!r}, expected a time, as in 2001-09-09 01:46:45,088"
            )
        try:
            at = datetime.strptime(time[1], "%Y-%m-%d %H:%M:%S") + timedelta(milliseconds=int(time[2]))
        except ValueError:
            raise FileError(f"{name}: line {number}: found {time[0]!r}, expected a time") from None
        adopted = "allocated unmanaged" in text
        target = found["new"] or found["target"]
        yield Change(number, at, found["source"], target, found["id"], adopted, found[0], _CONSOLE in text)


def _once(told: Iterable[Change | int]) -> list[Change | int]:
    """Without what one of two handlers repeats."""
    some = list(told)
    kinds = {c.console for c in some if isinstance(c, Change)}
    return some if len(kinds) < 2 else [c for c in some if not (isinstance(c, Change) and c.console)]


def _records(loops: Iterable[Loop], heads: set[str], observed: Sequence[Pattern]) -> Iterator[Record]:
    gone: list[str] = []
    for loop in loops:
        if gone:
            yield Record(f"line {loop.changes[0].line}" if loop.changes else "the end", forget=tuple(gone))
            gone = []
        for change in loop.changes:
            if change.instance in heads:
                continue
            if change.target in _OVER:
                gone.append(change.instance)
            if loop.failed_at is None:
                name, where = change.instance, f"line {change.line}"
                patterns = tuple(Pattern(p.action, dict.fromkeys(p.arguments, (name,))) for p in observed)
                yield Record(where, patterns, {f"status[{name}]": change.target}, told=change.text)
        if loop.failed_at is not None:
            yield Record(f"line {loop.failed_at}", gap=True)


def _observed(machine: Machine) -> Iterator[Pattern]:
    """Actions that set the status of a row, with the parameter that says of which."""
    for action in machine.actions:
        rows = [s.name for s in action.parameters if s.domain is Instance]
        if rows and any(u.variable.name == "status" for u in action.updates):
            yield Pattern(action.name, {rows[0]: ()})


__all__ = ["looks_like", "read"]

"""The log of a run, as JSON lines: everything that happened, enough to compute every metric again.

``docs/simulation.md`` documents it. The first line is a head (format, policy, seed, unit of time); each other line
is one ``Entry``. Entries ``by`` the simulation tell of nodes, gangs and pods in words that all schedulers share;
entries by a scheduler are its own events, named as in its reference and, through ``specs/<system>/binding.py``, in its
spec.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

FORMAT = "log/v1"
SIMULATION = "simulation"


@dataclass(frozen=True, slots=True)
class Entry:
    """Line ``number`` (from 1) of a log: at ``time`` (ms), ``by`` whom, what, with the event's own fields."""

    number: int
    time: int
    by: str
    event: str
    fields: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The line as a mapping; the event's own fields come last."""
        return {"number": self.number, "time": self.time, "by": self.by, "event": self.event, **self.fields}


class Log:
    """Entries in the order in which they happened."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, time: int, by: str, event: str, fields: Mapping[str, Any]) -> None:
        """One more entry."""
        self.entries.append(Entry(len(self.entries) + 1, time, by, event, fields))


def lines(head: Mapping[str, Any], entries: Iterable[Entry]) -> Iterator[str]:
    """The lines of a log file, without line ends."""
    yield json.dumps({"gangproof": FORMAT, "time_unit": "ms", **head}, ensure_ascii=False)
    for entry in entries:
        yield json.dumps(entry.to_json(), ensure_ascii=False)

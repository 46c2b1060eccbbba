"""The answer of a conformance check: whether a log is a run of a spec, and where it stops to be one."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.trace import NamedState, Trace


class Ending(enum.Enum):
    """The verdict. UNKNOWN: a budget ran out. VACUOUS: the log tells of nothing that could have been refused."""

    CONFORMS = "conforms"
    DIVERGES = "diverges"
    UNKNOWN = "unknown"
    VACUOUS = "vacuous"


@dataclass(frozen=True, slots=True)
class Broken:
    """A property that every run which explains the log up to ``where`` violates."""

    property: str
    where: str
    record: str


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first record that no run explains.

    ``record`` is number ``number`` of the log, from 1; ``tied`` says how many records of the same time were tried in
    every order. ``expected``: observed steps that the spec enables there, in the log's names, in order of their names;
    ``seen``: where a step fits and the state told after it does not, the values that the cell has instead. ``fault``: a
    step that fits leaves a domain or writes a cell twice, so the spec calls it a violation.
    ``nearest``: a step that the record tells of and the state where the fewest conjuncts of its guard fail. ``run``: of
    the runs that explain all records before, one of the shortest; ``states``: how many states they end in.
    """

    number: int
    where: str
    record: str
    tied: int
    expected: tuple[str, ...]
    seen: Mapping[str, tuple[str, ...]]
    fault: str | None
    nearest: tuple[str, tuple[int, ...]] | None
    run: Trace
    states: int

    def to_json(self) -> dict[str, Any]:
        """The same as JSON, without the run."""
        return {
            "number": self.number,
            "where": self.where,
            "record": self.record,
            "tied": self.tied,
            "expected": list(self.expected),
            "seen": {cell: list(values) for cell, values in self.seen.items()},
            "fault": self.fault,
            "nearest": None if self.nearest is None else self.nearest[0],
        }


@dataclass(frozen=True, slots=True)
class Conformance:
    """``matched`` of ``records`` records are explained. ``candidates``: states that the spec may be in after them.

    ``names`` says which element each name of the log stands for, where all candidates agree. ``run`` explains what is
    matched; ``budget`` says what ran out. ``most``: candidates at the widest place.
    """

    ending: Ending
    matched: int
    records: int
    candidates: int
    most: int
    names: Mapping[str, str]
    divergence: Divergence | None
    broken: tuple[Broken, ...]
    run: Trace | None
    samples: tuple[NamedState, ...]
    budget: str | None = None


__all__ = ["Broken", "Conformance", "Divergence", "Ending"]

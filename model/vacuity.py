"""Which mutants break which property: one that none breaks may hold because it says nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Broken:
    """A property, and the mutant that broke it first. ``trace_length``: None for a goal that is not reached then."""

    property: str
    mutant: str
    trace_length: int | None


@dataclass(frozen=True, slots=True)
class Vacuity:
    """What the mutants of one machine's actions break.

    ``unbroken``: properties that none of all mutants breaks. ``undecided``: those that none had broken when ``budget``
    ran out, be it that of all mutants or that of some, which were not explored to the end. ``not_asked``: those that
    do not hold without a fault. ``unchanged``: mutants with the states of the machine itself and as many steps of each
    action; what they drop or change seems to decide nothing. Of ``mutants`` in all ``tried`` were explored: the rest
    was not needed, or is no spec.
    """

    mutants: int
    tried: int
    broken: tuple[Broken, ...]
    unbroken: tuple[str, ...]
    undecided: tuple[str, ...]
    not_asked: tuple[str, ...]
    unchanged: tuple[str, ...]
    budget: str | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The ``vacuity`` object of ``gangproof check --json``."""
        return {
            "mutants": self.mutants,
            "tried": self.tried,
            "broken": [
                {"property": b.property, "mutant": b.mutant, "trace_length": b.trace_length} for b in self.broken
            ],
            "unbroken": list(self.unbroken),
            "undecided": list(self.undecided),
            "not_asked": list(self.not_asked),
            "unchanged": list(self.unchanged),
            "budget": self.budget,
            "seconds": round(self.seconds, 3),
        }


__all__ = ["Broken", "Vacuity"]

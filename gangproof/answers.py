"""The JSON of placements: what ``schedule``, ``place`` and ``compare`` share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from reference.cluster import Placement
from reference.validate import Violation


def placement_json(placement: Placement) -> dict[str, Any]:
    """``placements[]``, ``admitted_gangs`` (how many), ``admitted[]``, ``pending[gang, reason]``."""
    return {
        "placements": [
            {"application": a.application, "task_group": a.task_group, "node": a.node, "count": a.count}
            for a in placement.assignments
        ],
        "admitted_gangs": len(placement.admitted),
        "admitted": list(placement.admitted),
        "pending": [{"gang": gang, "reason": reason} for gang, reason in placement.pending.items()],
    }


def refusals_json(refusals: Sequence[Violation]) -> list[dict[str, str]]:
    """What the judge found, empty for a good placement."""
    return [{"rule": v.rule.value, "where": v.where, "message": v.message} for v in refusals]


def fraction_json(value: Fraction) -> float:
    """A fraction for people and programs to read; nothing is decided on it."""
    return round(float(value), 6)


def percent(value: Fraction) -> str:
    """``12.5 %``; ``< 0.1 %`` rather than a rounded zero."""
    if 0 < value < Fraction(1, 1000):
        return "< 0.1 %"
    return f"{float(value * 100):.1f} %"

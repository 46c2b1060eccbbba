"""The answer of a simulation: what random walks saw. It never says that a claim about all states holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.coverage import Taken, values_json
from model.verdict import Outcome, PropertyVerdict, properties_json, property_named, trace_json


@dataclass(frozen=True, slots=True)
class Seen:
    """What the walks saw.

    ``steps`` were taken in all, ``actions`` says by which action; ``depth`` is the longest walk's; ``dead_ends`` walks
    came to a state without a step. ``distinct_states`` is exact or, as ``exact`` says, an estimate within about one
    percent. ``values`` has an entry for each variable.
    """

    walks: int
    steps: int
    depth: int
    dead_ends: int
    distinct_states: int
    exact: bool
    actions: Mapping[str, int]
    values: tuple[Taken, ...]
    seconds: float = 0.0
    compile_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Simulation:
    """The answer about one machine. ``walks`` and ``steps`` are what was asked for; ``stopped`` says why there were
    fewer."""

    spec: str
    parameters: Mapping[str, Any]
    properties: tuple[PropertyVerdict, ...]
    walks: int
    steps: int
    seed: int
    seen: Seen
    stopped: str | None = None

    @property
    def outcome(self) -> Outcome:
        """VIOLATED or UNKNOWN."""
        violated = any(p.outcome is Outcome.VIOLATED for p in self.properties)
        return Outcome.VIOLATED if violated else Outcome.UNKNOWN

    @property
    def first_violation(self) -> PropertyVerdict | None:
        """The violated property with the shortest trace."""
        violated = [p for p in self.properties if p.outcome is Outcome.VIOLATED and p.trace is not None]
        return min(violated, key=lambda p: len(p.trace or ()), default=None)

    def __getitem__(self, name: str) -> PropertyVerdict:
        """The answer for one property. KeyError if there is none of that name."""
        return property_named(self.spec, self.properties, name)

    def to_json(self, shown: str | None = None) -> dict[str, Any]:
        """The JSON of ``gangproof simulate``; ``trace`` is of ``trace_property``: ``shown`` or the first violated."""
        told, seen = self.first_violation if shown is None else self[shown], self.seen
        return {
            "spec": self.spec,
            "parameters": dict(self.parameters),
            "verdict": self.outcome.value,
            "properties": properties_json(self.properties),
            "seed": self.seed,
            "walks": seen.walks,
            "walks_asked": self.walks,
            "steps": seen.steps,
            "most_steps": self.steps,
            "stopped": self.stopped,
            "depth": seen.depth,
            "dead_ends": seen.dead_ends,
            "distinct_states": seen.distinct_states,
            "distinct_states_exact": seen.exact,
            "actions": dict(seen.actions),
            "values": [values_json(each) for each in seen.values],
            "seconds": round(seen.seconds, 3),
            "compile_seconds": round(seen.compile_seconds, 3),
            **trace_json(told),
        }


__all__ = ["Seen", "Simulation"]

"""The one answer type: what was asked, what holds, what is violated and how, what is not known and why."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from model.coverage import Unseen
from model.trace import Trace
from model.vacuity import Vacuity


class Outcome(enum.Enum):
    """HOLDS, VIOLATED and UNKNOWN; VACUOUS is a holding claim that says nothing, or a goal that is never reached."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    VACUOUS = "vacuous"

    @property
    def exit_status(self) -> int:
        """What the command line exits with."""
        return {Outcome.HOLDS: 0, Outcome.VIOLATED: 1, Outcome.UNKNOWN: 3, Outcome.VACUOUS: 4}[self]


_WORST_FIRST = (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.VACUOUS)


@dataclass(frozen=True, slots=True)
class PropertyVerdict:
    """One property's answer.

    ``how`` is the ground in words: "all 1,037 states", "state budget of 10,000 ran out", "premise never true".
    ``trace`` is a shortest trace to the violation, or to the state where a `sometimes` holds; for a liveness property,
    a shortest way to a loop, and the loop: the shortest of those that fairness allows there, as far as few demands, or
    a small part of the states, let that be found, else a short one. Of several shortest ones it is one that changes few
    cells; ``note`` says where no such was looked for, and why.
    """

    name: str
    kind: str
    outcome: Outcome
    how: str
    trace: Trace | None = None
    note: str | None = None


def property_named(spec: str, properties: Sequence[PropertyVerdict], name: str) -> PropertyVerdict:
    """The answer for property ``name``. KeyError if there is none of that name."""
    for each in properties:
        if each.name == name:
            return each
    raise KeyError(f"{spec} has no property {name!r}; it has {', '.join(p.name for p in properties)}")


def properties_json(properties: Sequence[PropertyVerdict]) -> list[dict[str, Any]]:
    """Name, kind, verdict, reason and length of the trace of each."""
    return [
        {
            "name": p.name,
            "kind": p.kind,
            "verdict": p.outcome.value,
            "how": p.how,
            "trace_length": None if p.trace is None else len(p.trace),
        }
        for p in properties
    ]


def typed(value: object) -> str:
    """A parameter's value as it is typed on the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def trace_json(told: PropertyVerdict | None) -> dict[str, Any]:
    """``trace_property`` and its ``trace``: null and empty where there is none."""
    if told is None or told.trace is None:
        return {"trace_property": None, "trace": []}
    return {"trace_property": told.name, "trace": told.trace.to_json()}


@dataclass(frozen=True, slots=True)
class Coverage:
    """What an exploration covered. ``complete`` is false when a budget ran out; ``budget`` says which, in words.

    ``transitions`` counts enabled action instances over all expanded states; ``depth`` is the steps to the farthest
    state; ``bytes_per_state`` is all memory of the exploration over the states; times in seconds. ``symmetry``: which
    elements were exchanged ("5 App x 3 Node"); one state of each orbit is then counted, with its steps.
    """

    distinct_states: int
    transitions: int
    depth: int
    actions: Mapping[str, int]
    complete: bool
    budget: str | None = None
    seconds: float = 0.0
    compile_seconds: float = 0.0
    bytes_per_state: float = 0.0
    symmetry: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer about one machine. ``parameters`` are the spec function's, as JSON values.

    ``unseen``: what was not seen, if that was asked for; ``vacuity``: which mutants break what, the same. ``strict``:
    whether a value that is never taken, or a step that changes nothing, is vacuous too.
    """

    spec: str
    parameters: Mapping[str, Any]
    properties: tuple[PropertyVerdict, ...]
    coverage: Coverage
    warnings: tuple[str, ...] = field(default=())
    unseen: Unseen | None = None
    vacuity: Vacuity | None = None
    strict: bool = False

    @property
    def never_fired(self) -> tuple[str, ...]:
        """Actions that no reachable state enables; only meaningful when the exploration is complete."""
        return tuple(name for name, fired in self.coverage.actions.items() if fired == 0)

    @property
    def loose_ends(self) -> tuple[str, ...]:
        """If ``strict``, what was not seen that the spec speaks of, in words."""
        if not self.strict or self.unseen is None:
            return ()
        never, idle = self.unseen.never_taken, tuple(each.action for each in self.unseen.idle)
        words = (("values never taken of", never), ("steps that change nothing by", idle))
        return tuple(f"{what} {', '.join(names)}" for what, names in words if names)

    @property
    def outcome(self) -> Outcome:
        """The worst of all: violated, unknown, vacuous, holds."""
        found = {p.outcome for p in self.properties}
        if not self.coverage.complete or (self.vacuity is not None and self.vacuity.undecided):
            found.add(Outcome.UNKNOWN)
        if self.coverage.complete and (self.never_fired or self.loose_ends):
            found.add(Outcome.VACUOUS)
        if self.strict and self.unseen is not None and self.unseen.unfinished is not None:
            found.add(Outcome.UNKNOWN)
        return next((o for o in _WORST_FIRST if o in found), Outcome.HOLDS)

    @property
    def first_violation(self) -> PropertyVerdict | None:
        """The violated property to show first: the shortest trace, but a bad state or step before what never happens.

        The trace of a `possible` ends where its goal is lost, which by itself shows nothing bad yet; that of a liveness
        property shows a run without end.
        """
        later = ("possible", "eventually", "leads_to")
        violated = [p for p in self.properties if p.outcome is Outcome.VIOLATED and p.trace is not None]
        return min(violated, key=lambda p: (p.kind in later, len(p.trace or ())), default=None)

    def __getitem__(self, name: str) -> PropertyVerdict:
        """The answer for one property. KeyError if there is none of that name."""
        return property_named(self.spec, self.properties, name)

    def to_json(self, shown: str | None = None) -> dict[str, Any]:
        """What ``gangproof check`` answers in JSON, but for its checkpoint.

        ``trace`` is that of the property ``shown``, else the shortest counterexample; empty if there is none.
        ``loop_start`` is null, or the step after which the trace goes round forever. ``trace_note`` is null, or says
        why a simpler trace of this length was not looked for.
        """
        told = self.first_violation if shown is None else self[shown]
        return {
            "spec": self.spec,
            "parameters": dict(self.parameters),
            "verdict": self.outcome.value,
            "properties": properties_json(self.properties),
            "distinct_states": self.coverage.distinct_states,
            "transitions": self.coverage.transitions,
            "depth": self.coverage.depth,
            "symmetry": self.coverage.symmetry,
            "complete": self.coverage.complete,
            "budget": self.coverage.budget,
            "actions": dict(self.coverage.actions),
            "never_fired": list(self.never_fired) if self.coverage.complete else [],
            "coverage": None if self.unseen is None else self.unseen.to_json(),
            "vacuity": None if self.vacuity is None else self.vacuity.to_json(),
            "seconds": round(self.coverage.seconds, 3),
            "compile_seconds": round(self.coverage.compile_seconds, 3),
            "bytes_per_state": round(self.coverage.bytes_per_state, 1),
            "warnings": list(self.warnings),
            "loop_start": told.trace.loop_start if told is not None and told.trace is not None else None,
            "trace_note": told.note if told is not None else None,
            **trace_json(told),
        }

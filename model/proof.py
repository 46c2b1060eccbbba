"""The answer of a proof: which claims hold at every depth and why, which are violated, and what blocks the others."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from model.lowering.ground import Node
from model.trace import NamedState
from model.verdict import Outcome, PropertyVerdict, property_named, trace_json

if TYPE_CHECKING:
    from model.prove.strengthen.schema import Schema


class Method(enum.Enum):
    """How an answer was found."""

    INDUCTION = "k-induction"
    LEMMAS = "induction with lemmas"
    SPACER = "Spacer"
    BOUNDED = "bounded model checking"
    EXPLORED = "exploration"
    ANY_SIZE = "induction for any size"


@dataclass(frozen=True, slots=True)
class Lemma:
    """One that a proof rests on: true in every state that can be reached. ``atoms``: comparisons in it, each of which
    is counted once where it speaks of all elements. ``clauses``: for each, expressions over the cells of a state, of
    which one holds; none where it speaks of any number of elements. ``schema``: of what those clauses are instances."""

    text: str
    atoms: int
    clauses: tuple[tuple[Node, ...], ...] = field(default=(), repr=False, compare=False)
    schema: Schema | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Blocked:
    """Why an induction over ``k`` steps fails: from ``state``, which claims and lemmas allow, ``call`` leads to a
    violation, or is one. Runs may never come to that state."""

    k: int
    state: NamedState
    call: str | None


@dataclass(frozen=True, slots=True)
class Claimed:
    """The answer about one property. ``k`` and ``lemmas`` are those of the proof; ``helped_by``: other properties that
    it rests on, which hold by it too, and have ``helping`` comparisons together. ``seconds`` from the start of all
    until the answer was known."""

    verdict: PropertyVerdict
    method: Method | None = None
    k: int | None = None
    lemmas: tuple[Lemma, ...] = ()
    helped_by: tuple[str, ...] = ()
    blocked: Blocked | None = None
    seconds: float = 0.0
    helping: int = 0

    @property
    def atoms(self) -> int:
        """Comparisons in all that is added to the claim to make it inductive: lemmas, and properties that help."""
        return sum(lemma.atoms for lemma in self.lemmas) + self.helping

    def to_json(self) -> dict[str, Any]:
        """As ``gangproof prove`` answers."""
        v, blocked = self.verdict, self.blocked
        return {
            "name": v.name,
            "kind": v.kind,
            "verdict": v.outcome.value,
            "how": v.how,
            "method": None if self.method is None else self.method.value,
            "k": self.k,
            "lemmas": [lemma.text for lemma in self.lemmas],
            "atoms": self.atoms,
            "helped_by": list(self.helped_by),
            "trace_length": None if v.trace is None else len(v.trace),
            "blocked_by": None
            if blocked is None
            else {"k": blocked.k, "call": blocked.call, "state": dict(blocked.state)},
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class AnySize:
    """What a proof for any size speaks of, and rests on.

    ``sorts``: those of which there may be any number, and for each the parameters that say how many, none if it is
    always the same. ``compared``: at so many sizes the spec's text was the same, but for actions that it does not have
    at the sizes ``fewer``, in words; what every step keeps, fewer steps keep. ``counters``: sums that were followed.
    ``changes``: so many changes of them were proved equal to the change of what they sum. ``explored``: at so many
    states of small sizes, told by size, lemmas were looked for.
    """

    sorts: Mapping[str, tuple[str, ...]]
    fewer: tuple[str, ...]
    compared: int
    counters: int
    changes: int
    explored: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """As ``gangproof prove --any-size`` answers."""
        return {
            "sorts": {sort: list(names) for sort, names in self.sorts.items()},
            "fewer": list(self.fewer),
            "compared": self.compared,
            "counters": self.counters,
            "changes": self.changes,
            "explored": dict(self.explored),
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """The answer about one machine. ``left_out``: properties that are about runs, or goals, which induction does not
    speak of. ``length``: runs of so many steps were all looked at. ``any_size``: of a proof for any size, what it
    rests on; ``parameters`` that decide sizes are then those at which violations and lemmas were looked for."""

    spec: str
    parameters: Mapping[str, Any]
    claimed: tuple[Claimed, ...]
    left_out: tuple[str, ...]
    length: int
    seconds: float
    any_size: AnySize | None = None

    @property
    def properties(self) -> tuple[PropertyVerdict, ...]:
        """The verdicts alone."""
        return tuple(each.verdict for each in self.claimed)

    @property
    def outcome(self) -> Outcome:
        """VIOLATED if anything is, else UNKNOWN if anything is, else VACUOUS if anything is, else HOLDS."""
        found = {v.outcome for v in self.properties}
        return next((o for o in (Outcome.VIOLATED, Outcome.UNKNOWN, Outcome.VACUOUS) if o in found), Outcome.HOLDS)

    @property
    def first_violation(self) -> PropertyVerdict | None:
        """The violated property with the shortest trace."""
        violated = [v for v in self.properties if v.outcome is Outcome.VIOLATED and v.trace is not None]
        return min(violated, key=lambda v: len(v.trace or ()), default=None)

    def __getitem__(self, name: str) -> Claimed:
        """The answer for one property. KeyError if there is none of that name."""
        property_named(self.spec, self.properties, name)
        return next(each for each in self.claimed if each.verdict.name == name)

    def to_json(self) -> dict[str, Any]:
        """The JSON of ``gangproof prove``."""
        return {
            "spec": self.spec,
            "parameters": dict(self.parameters),
            "verdict": self.outcome.value,
            "properties": [each.to_json() for each in self.claimed],
            "left_out": list(self.left_out),
            "length": self.length,
            "seconds": round(self.seconds, 3),
            "any_size": None if self.any_size is None else self.any_size.to_json(),
            **trace_json(self.first_violation),
        }


__all__ = ["AnySize", "Blocked", "Claimed", "Lemma", "Method", "Proof"]

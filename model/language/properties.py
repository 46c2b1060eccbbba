"""Properties of a machine, and the premises whose reachability keeps them from being vacuous."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from model.language.errors import Location
from model.language.expressions import Expr, Op, Quantified, Symbol
from model.language.fairness import Fairness
from model.language.types import BOOL

BUILT_IN = ("deadlock_free", "values_in_range", "one_write_per_cell")
"""Properties that every machine has: no state without a step but the terminal ones, no value outside its domain, and no
cell written twice in a step."""


class PropertyKind(enum.Enum):
    """What a property claims; see the decorators of `Machine`."""

    ALWAYS = "always"
    STEP = "step"
    SOMETIMES = "sometimes"
    POSSIBLE = "possible"
    EVENTUALLY = "eventually"
    LEADS_TO = "leads_to"
    TERMINAL = "terminal"
    INITIALLY = "initially"

    @property
    def is_universal(self) -> bool:
        """Whether it claims something of all states or steps, so that it can be vacuous."""
        return self in (PropertyKind.ALWAYS, PropertyKind.STEP)

    @property
    def is_liveness(self) -> bool:
        """Whether it claims that something happens at last, so that only an endless run can violate it."""
        return self in (PropertyKind.EVENTUALLY, PropertyKind.LEADS_TO)


@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """A named claim. ``premises``: conditions that must hold somewhere, else the claim says nothing.

    Of a liveness property, ``condition`` is what must happen at last: in every fair run, or after ``trigger`` held. It
    is claimed for all values of ``parameters``.
    """

    name: str
    doc: str
    kind: PropertyKind
    condition: Expr
    premises: tuple[Expr, ...]
    at: Location
    parameters: tuple[Symbol, ...] = ()
    trigger: Expr | None = None
    fairness: tuple[Fairness, ...] = ()


def premises(expr: Expr) -> tuple[Expr, ...]:
    """The premises of the implications that ``expr`` is made of, each closed under its quantifiers."""
    match expr:
        case Op(op="=>", args=(premise, conclusion)):
            return (premise, *(Op("&", BOOL, premise, inner) for inner in premises(conclusion)))
        case Op(op="&", args=(left, right)):
            return premises(left) + premises(right)
        case Quantified(kind="all", symbols=symbols, body=body):
            return tuple(Quantified("any", symbols, p) for p in premises(body))
        case _:
            return ()

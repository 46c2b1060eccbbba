"""Properties of a machine, and the premises whose reachability keeps them from being vacuous."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from model.language.errors import Location
from model.language.expressions import Expr, Op, Quantified

BUILT_IN = ("deadlock_free", "values_in_range", "one_write_per_cell")
"""Properties that every machine has: no state without a step but the terminal ones, no value outside its domain, and no
cell written twice in a step."""


class PropertyKind(enum.Enum):
    """What a property claims; see the decorators of `Machine`."""

    ALWAYS = "always"
    STEP = "step"
    SOMETIMES = "sometimes"
    POSSIBLE = "possible"
    TERMINAL = "terminal"
    INITIALLY = "initially"

    @property
    def is_universal(self) -> bool:
        """Whether it claims something of all states or steps, so that it can be vacuous."""
        return self in (PropertyKind.ALWAYS, PropertyKind.STEP)


@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """A named claim. ``premises``: conditions that must hold somewhere, else the claim says nothing."""

    name: str
    doc: str
    kind: PropertyKind
    condition: Expr
    premises: tuple[Expr, ...]
    at: Location


def premises(expr: Expr) -> tuple[Expr, ...]:
    """The premises of the implications that ``expr`` is made of, each closed under its quantifiers."""
    match expr:
        case Op(op="=>", args=(premise, _)):
            return (premise,)
        case Op(op="&", args=(left, right)):
            return premises(left) + premises(right)
        case Quantified(kind="all", symbols=symbols, body=body):
            return tuple(Quantified("any", symbols, p) for p in premises(body))
        case _:
            return ()

"""Statements of an action's body, beside plain writes: ``require``, ``when``, ``choose``; and ``after`` of step properties."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, overload

from model.language.errors import SpecError, where
from model.language.expressions import After, Expr, Operand, Symbol, boolean, lift
from model.language.sorts import Sort, is_sort
from model.language.tracing import Guard, Kind, recording
from model.language.types import check_value_domain

S = TypeVar("S", bound=Sort)


def require(*conditions: Operand) -> None:
    """The action fires only where all ``conditions`` hold."""
    current = recording("require()", Kind.ACTION)
    if current.loops or current.conditions:
        raise SpecError("require() inside a for statement or a when block; use all_() or implies() in one require()", where())
    for condition in conditions:
        current.guards.append(Guard(boolean(condition, "require()"), where()))


@contextmanager
def when(condition: Operand) -> Iterator[None]:
    """``with when(c):`` the writes inside happen only where ``c`` holds, before the step. Blocks nest."""
    current = recording("when()", Kind.ACTION)
    current.conditions.append(boolean(condition, "when()"))
    try:
        yield
    finally:
        current.conditions.pop()


@overload
def choose(domain: type[S], name: str = ...) -> S: ...
@overload
def choose(domain: type[enum.Enum] | range | type[bool], name: str = ...) -> Expr: ...
def choose(domain: Any, name: str = "choice") -> Expr:
    """Any value of ``domain``: the action has an instance for each. ``name`` is what traces call it."""
    current = recording("choose()", Kind.ACTION)
    if current.loops or current.conditions:
        raise SpecError("choose() inside a for statement or a when block; choose once, before it", where())
    taken = {s.name for s in current.choices}
    unique = next(n for n in (name, *(f"{name}{i}" for i in range(2, 99))) if n not in taken)
    symbol: Symbol = domain(unique) if is_sort(domain) else Symbol(unique, check_value_domain(domain, "choose()"))
    current.choices.append(symbol)
    return symbol


def after(value: Operand) -> Expr:
    """``value`` read in the state after the step; only in step properties."""
    recording("after()", Kind.STEP)
    return After(lift(value))

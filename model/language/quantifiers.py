"""``sum_ count_ all_ any_ min_ max_`` close a generator over sorts; ``first`` is for ordered ones."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import GeneratorType
from typing import Any, TypeVar

from model.language.errors import SpecError, where
from model.language.expressions import (
    Expr,
    Operand,
    Quantified,
    boolean,
    implies,
    integer,
    logic,
)
from model.language.sorts import Sort
from model.language.tracing import OPEN, Quantifier

S = TypeVar("S", bound=Sort)
F = TypeVar("F", bound=Callable[..., Expr])

_OF_TWO = {
    "sum_": "the sum of two values is a + b",
    "count_": "how many of two conditions hold is ite(a, 1, 0) + ite(b, 1, 0)",
    "all_": "both conditions are a & b",
    "any_": "either condition is a | b",
    "min_": "the smaller of two values is ite(a < b, a, b)",
    "max_": "the larger of two values is ite(a < b, b, a)",
}


def _of_one_generator(quantifier: F) -> F:
    """``quantifier``, which tells a call with several values what to write instead."""

    @functools.wraps(quantifier)
    def checked(*values: Any) -> Expr:
        if len(values) != 1:
            name = quantifier.__name__
            raise SpecError(
                f"{name} takes one generator over sorts, as in {name}(x[a] for a in App), found {len(values)} values; "
                f"{_OF_TWO[name]}",
                where(),
            )
        return quantifier(*values)

    return checked  # type: ignore[return-value]


def _close(kind: str, generator: object, check: Callable[[object, str], Expr]) -> Expr:
    at = where()
    if not isinstance(generator, GeneratorType) or generator.gi_frame is None:
        raise SpecError(f"{kind}_ takes one generator over sorts, as in {kind}_(x[a] for a in App)", at)
    frame = generator.gi_frame
    OPEN.quantifiers.append(Quantifier(frame))
    try:
        bodies = list(generator)
    finally:
        symbols = OPEN.quantifiers.pop().symbols if OPEN.quantifiers else []
    if len(bodies) != 1 or not symbols:
        raise SpecError(
            f"{kind}_ takes one generator over sorts, as in {kind}_(x[a] for a in App); this one gives {len(bodies)} "
            f"values over {len(symbols)} sorts (Python values are combined with + & |)",
            at,
        )
    return Quantified(kind, tuple(symbols), check(bodies[0], f"{kind}_"))


@_of_one_generator
def sum_(values: Iterable[Operand]) -> Expr:
    """The sum over all elements."""
    return _close("sum", values, integer)


@_of_one_generator
def count_(conditions: Iterable[Operand]) -> Expr:
    """For how many elements the condition holds."""
    return _close("count", conditions, boolean)


@_of_one_generator
def all_(conditions: Iterable[Operand]) -> Expr:
    """Whether the condition holds for every element."""
    return _close("all", conditions, boolean)


@_of_one_generator
def any_(conditions: Iterable[Operand]) -> Expr:
    """Whether the condition holds for some element."""
    return _close("any", conditions, boolean)


@_of_one_generator
def min_(values: Iterable[Operand]) -> Expr:
    """The least value over all elements."""
    return _close("min", values, integer)


@_of_one_generator
def max_(values: Iterable[Operand]) -> Expr:
    """The greatest value over all elements."""
    return _close("max", values, integer)


def first(element: S, condition: Callable[[S], Operand]) -> Expr:
    """Whether ``element`` is the first of its (ordered) sort for which ``condition`` holds."""
    if not isinstance(element, Sort):
        raise SpecError(f"first() takes an element of an ordered sort, found {element!r}", where())
    mine = boolean(condition(element), "first()'s condition")
    return logic("&", mine, _none_before(element, condition))


def _none_before(element: S, condition: Callable[[S], Operand]) -> Expr:
    sort = type(element)
    return all_(implies(other < element, logic("~", condition(other))) for other in sort)

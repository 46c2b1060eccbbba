"""Sums over sorts of any size, as linear combinations of sums that cannot be taken apart further: the ghost counters.

What a sum is after a step is *computed* here from what it is before. Four laws are used, of finite sums over any set:

- linearity: the sum of ``c * f + d * g`` is ``c`` times that of ``f`` plus ``d`` times that of ``g``;
- one point: the sum over b of ``(f if b == p else 0)`` is ``f`` at p, whatever the set that p is in;
- Fubini: a sum over a of a sum over b is one over both;
- a condition that no summed element occurs in can be asked outside.

Each computation leaves an `Obligation`: that the summand is, for every element, what the parts say that it is. Z3
proves it (`obligations`), so that of this module nothing is trusted but the laws.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from model.language import Const, Expr, Ite, Lookup, Quantified, Sort, Symbol
from model.language.types import BOOL
from model.language.walking import children, free_symbols
from model.prove.any_size.linear import linear
from model.prove.any_size.terms import (
    ONE,
    TRUE,
    ZERO,
    Unreadable,
    both,
    decided,
    either,
    equalities,
    is_const,
    ite_of,
    key_of,
    minus,
    no,
    plus,
    rebuilt,
    replaced,
    times,
    with_value,
)

_MOST_VALUES = 64


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a sum: ``coefficient`` times the sum of ``atom`` over ``rest``, where ``condition`` holds. Each pair
    of ``fixed`` is an element that was summed over and what it equals in this part."""

    coefficient: int
    condition: Expr
    fixed: tuple[tuple[Symbol, Symbol], ...]
    rest: tuple[Symbol, ...]
    atom: Expr


@dataclass(frozen=True, slots=True)
class Obligation:
    """For all elements ``bound``, and all others: ``summand`` is the sum of ``pieces``, each but where its elements are
    the fixed ones and its condition holds."""

    bound: tuple[Symbol, ...]
    summand: Expr
    pieces: tuple[Piece, ...]


Prove = Callable[[Obligation], None]


class Sums:
    """Normal forms: every sum and count in them is a ghost counter, `Quantified` of kind sum whose body is one read,
    one condition, or what else is not linear. ``prove`` is given each obligation, and raises if it does not hold."""

    def __init__(self, prove: Prove) -> None:
        self._prove: Final = prove
        self._known: Final[dict[int, tuple[Expr, Expr]]] = {}
        self._sums: Final[dict[str, Expr]] = {}

    def normal(self, expr: Expr) -> Expr:
        """``expr`` in normal form. Unreadable for what is summed over too many values of no sort."""
        if id(expr) not in self._known:
            found = self._normal(expr)
            self._known[id(expr)] = (expr, found)
            self._known[id(found)] = (found, found)
        return self._known[id(expr)][1]

    def _normal(self, expr: Expr) -> Expr:
        if isinstance(expr, Quantified):
            plain = next((s for s in expr.symbols if not isinstance(s, Sort)), None)
            if plain is not None:
                return self.normal(_over_values(expr, plain))
            body = self.normal(expr.body)
            if expr.kind == "count":
                return self.sum_of(expr.symbols, ite_of(body, ONE, ZERO))
            if expr.kind == "sum":
                return self.sum_of(expr.symbols, body)
            # No sort is empty.
            return body if isinstance(body, Const) else rebuilt(expr, (body,))
        if isinstance(expr, Lookup):
            values = set(expr.table.values.values())
            if len(values) != 1:
                told = ", ".join(map(str, sorted(values)))
                raise Unreadable(
                    f"{expr.table.name} is {told}, by element: what other elements have, of which there may be any "
                    f"number, is not said. Where all have the same it can be read; without --any-size it can as it is",
                    expr.at,
                )
            return Const(values.pop())
        below = children(expr)
        parts = [self.normal(each) for each in below]
        return expr if all(a is b for a, b in zip(below, parts, strict=True)) else rebuilt(expr, parts)

    def sum_of(self, bound: tuple[Symbol, ...], summand: Expr) -> Expr:
        """The sum of ``summand``, which is in normal form, over ``bound``."""
        key = f"{[s.uid for s in bound]} {key_of(summand)}"
        if key not in self._sums:
            pieces = tuple(_pieces(bound, summand))
            for piece in pieces:
                _assert_apart(bound, piece)
            self._prove(Obligation(bound, summand, pieces))
            found: Expr = ZERO
            for piece in pieces:
                value = ite_of(piece.condition, self._value(piece), ZERO)
                c = piece.coefficient
                found = minus(found, times(-c, value)) if c < 0 else plus(found, times(c, value))
            self._sums[key] = found
        return self._sums[key]

    def _value(self, piece: Piece) -> Expr:
        if not piece.rest:
            return piece.atom
        if isinstance(piece.atom, Quantified) and piece.atom.kind == "sum":
            inner = piece.atom
            return self.sum_of((*piece.rest, *inner.symbols), inner.body)
        return ghost(piece.rest, piece.atom)


def _assert_apart(bound: tuple[Symbol, ...], piece: Piece) -> None:
    """What the laws need and no obligation says: each element of ``bound`` is either summed over or fixed in ``piece``,
    the condition speaks of none of them, and what is summed of no fixed one."""
    fixed = [b for b, _ in piece.fixed]
    assert sorted(s.uid for s in (*piece.rest, *fixed)) == sorted(s.uid for s in bound), f"elements are lost: {piece}"
    asked = _uids(free_symbols(piece.condition)) & _uids(bound)
    assert not asked, f"the condition is asked outside of the sum, and speaks of its elements: {piece}"
    assert not _uids(free_symbols(piece.atom)) & _uids(fixed), f"what is summed speaks of a fixed element: {piece}"


def _uids(symbols: Iterable[Symbol]) -> set[int]:
    return {s.uid for s in symbols}


def ghost(bound: Sequence[Symbol], atom: Expr) -> Quantified:
    """The sum of ``atom`` as a counter: over which sorts in which order does not matter, so that is by first use."""
    used = [s for s in free_symbols(atom) if any(s is b for b in bound)]
    others = sorted((s for s in bound if not any(s is u for u in used)), key=lambda s: str(s.type))
    return Quantified("sum", (*used, *others), atom)


def _over_values(expr: Quantified, symbol: Symbol) -> Expr:
    """``expr`` with the cases of ``symbol``, which has few values, written out: choices that ``enabled`` asks about."""
    domain = symbol.domain
    values: list[int | bool | enum.Enum] = [False, True]
    if domain is not bool:
        values = list(domain) if isinstance(domain, (range, enum.EnumType)) else []
    if len(values) > _MOST_VALUES:
        raise Unreadable(f"{symbol.name} has {len(values)} values, and is quantified over", expr.at)
    others = tuple(s for s in expr.symbols if s is not symbol)
    cases = [replaced(expr.body, {symbol.uid: Const(value)}) for value in values]
    if expr.kind not in _JOINED:
        raise Unreadable(f"{expr.kind}_ over the values of {symbol.name}", expr.at)
    inner = [Quantified(expr.kind, others, each) if others else _single(expr.kind, each) for each in cases]
    return functools.reduce(_JOINED[expr.kind], inner)


def _single(kind: str, expr: Expr) -> Expr:
    return ite_of(expr, ONE, ZERO) if kind == "count" else expr


_JOINED: Final = {"all": both, "any": either, "sum": plus, "count": plus}


def _pieces(bound: tuple[Symbol, ...], summand: Expr) -> Iterator[Piece]:
    """``summand`` over ``bound``, by linearity."""
    if not bound:
        if not is_const(summand, 0):
            yield Piece(1, TRUE, (), (), summand)
        return
    for coefficient, atom in linear(summand):
        for piece in _of_atom(bound, atom):
            yield replace(piece, coefficient=coefficient * piece.coefficient)


def _of_atom(bound: tuple[Symbol, ...], atom: Expr) -> Iterator[Piece]:
    uids = _uids(bound)
    pair = next((p for p in equalities(atom) if p[0].uid in uids or p[1].uid in uids), None)
    if pair is not None:
        yield from _at_one_point(bound, atom, *(pair if pair[0].uid in uids else pair[::-1]))
        return
    outside = _condition(atom, uids)
    if outside is not None:
        key = key_of(outside)
        for condition, value in ((outside, True), (no(outside), False)):
            for piece in _pieces(bound, with_value(atom, key, value)):
                yield replace(piece, condition=both(condition, piece.condition))
        return
    if not isinstance(atom, Ite):
        yield Piece(1, TRUE, (), bound, atom)
    elif not is_const(atom.otherwise, 0):
        yield from _pieces(bound, atom.otherwise)
        yield from _pieces(bound, ite_of(atom.condition, minus(atom.then, atom.otherwise), ZERO))
    else:
        yield from _where(bound, atom.condition, atom.then)


def _at_one_point(bound: tuple[Symbol, ...], atom: Expr, b: Symbol, p: Symbol) -> Iterator[Piece]:
    """Where b is p, and where it is not."""
    rest = tuple(s for s in bound if s is not b)
    there = {b.uid: p}
    differs = decided(atom, b, p, False)
    yield from _pieces(bound, differs)
    at_p = minus(replaced(decided(atom, b, p, True), there), replaced(differs, there))
    for piece in _pieces(rest, linear(at_p).expr()):
        yield replace(piece, fixed=((b, p), *piece.fixed))


def _where(bound: tuple[Symbol, ...], condition: Expr, then: Expr) -> Iterator[Piece]:
    """``then`` where ``condition``, which is about the elements ``bound``, holds."""
    for coefficient, part in linear(then):
        if isinstance(part, Ite):
            rest = minus(part.then, part.otherwise)
            if not is_const(part.otherwise, 0):
                for piece in _where(bound, condition, part.otherwise):
                    yield replace(piece, coefficient=coefficient * piece.coefficient)
            for piece in _where(bound, both(condition, part.condition), linear(rest).expr()):
                yield replace(piece, coefficient=coefficient * piece.coefficient)
        else:
            yield Piece(coefficient, TRUE, (), bound, ite_of(condition, part, ZERO))


def _condition(atom: Expr, uids: set[int]) -> Expr | None:
    """A condition in ``atom`` in which none of the elements occurs."""
    if isinstance(atom, Quantified):
        return None
    for each in children(atom):
        if each.type == BOOL and not isinstance(each, Const) and not any(s.uid in uids for s in free_symbols(each)):
            return each
        if (found := _condition(each, uids)) is not None:
            return found
    return None


def ghosts(expr: Expr) -> Iterator[Quantified]:
    """The counters in ``expr``, which is in normal form."""
    if isinstance(expr, Quantified) and expr.kind == "sum":
        yield expr
    for each in children(expr):
        yield from ghosts(each)


__all__ = ["Obligation", "Piece", "Sums", "ghost", "ghosts"]

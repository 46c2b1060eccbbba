"""Lemmas that might help, in the words of the spec: what all states of small machines of the family have in common.

A template is a condition, a number and a bound: where an application is pending, the sum of its pods over all nodes is
at most 0. Conditions and numbers are read off the spec, bounds off the states; whether it holds for any size is not
for this module to say.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from model.export.columns import Column, Columns
from model.language import Const, Expr, Machine, Op, Quantified, Read, Sort
from model.language.types import BOOL, INT, EnumType
from model.language.walking import children, free_symbols, walk
from model.prove.any_size.invariant import Candidate
from model.prove.any_size.linear import linear
from model.prove.any_size.terms import (
    TRUE,
    all_of,
    both,
    either,
    key_of,
    minus,
    name_of,
    no,
    op_of,
    plus,
    replaced,
    same,
)

_MOST_ATOMS = 12
_MOST_SYMBOLS = 3

Samples = Sequence[tuple[Machine, Column]]
"""States of some machines: raw values, shape (states, cells)."""

Scope = tuple[Sort, ...]


def variables_in(expr: Expr) -> frozenset[str]:
    """The names of the variables that ``expr`` reads."""
    return frozenset(e.variable.name for e in walk(expr) if isinstance(e, Read))


class Vocabulary:
    """Numbers and conditions of a spec, each for elements that stand for any: by the elements that they speak of."""

    def __init__(self, exprs: Iterable[Expr]) -> None:
        self._symbols: Final[dict[tuple[type[Sort], int], Sort]] = {}
        self.atoms: Final[dict[Scope, dict[str, Expr]]] = {}
        self.terms: Final[dict[Scope, dict[str, Expr]]] = {}
        self.members: Final[dict[Scope, dict[str, Expr]]] = {}
        self.flags: Final[dict[Scope, dict[str, Expr]]] = {}
        for expr in exprs:
            self._learn(expr)

    def _learn(self, expr: Expr) -> None:
        if isinstance(expr, Read):
            if expr.type == BOOL:
                self._add(self.flags, expr)
            else:
                self._add(self.members if isinstance(expr.type, EnumType) else self.atoms, expr)
        elif isinstance(expr, Quantified) and expr.kind == "sum":
            self._add(self.atoms, expr)
        elif isinstance(expr, Op) and expr.type == BOOL and expr.args[0].type == INT:
            self._compared(minus(*expr.args))
        for each in children(expr):
            self._learn(each)

    def _compared(self, difference: Expr) -> None:
        form = linear(difference)
        form.constant = 0
        atoms = [atom for _, atom in form]
        if 2 <= len(atoms) <= _MOST_ATOMS and all(_is_atom(a) for a in atoms):
            first = next(iter(form))[0]
            if first < 0:
                form.parts = {key: (-c, atom) for key, (c, atom) in form.parts.items()}
            self._add(self.terms, form.expr())

    def _add(self, into: dict[Scope, dict[str, Expr]], expr: Expr) -> None:
        free = list(free_symbols(expr))
        if len(free) > _MOST_SYMBOLS or not all(isinstance(s, Sort) for s in free):
            return
        counted: dict[type[Sort], int] = {}
        by: dict[int, Expr] = {}
        scope: list[Sort] = []
        for symbol in free:
            sort = type(symbol)
            assert issubclass(sort, Sort)
            number = counted.get(sort, 0)
            counted[sort] = number + 1
            by[symbol.uid] = mine = self.symbol(sort, number, symbol.name)
            scope.append(mine)
        scope.sort(key=lambda s: s.uid)
        renamed = replaced(expr, by)
        into.setdefault(tuple(scope), {}).setdefault(key_of(renamed), renamed)

    def symbol(self, sort: type[Sort], number: int, name: str = "") -> Sort:
        """The element of this number of ``sort``; ``name`` is what it is called if it is new."""
        if (sort, number) not in self._symbols:
            used = {s.name for s in self._symbols.values()}
            wanted = name or sort.__name__.lower()
            free = next(
                n for n in itertools.chain([wanted], (f"{wanted}{i}" for i in itertools.count(2))) if n not in used
            )
            self._symbols[sort, number] = sort(free)
        return self._symbols[sort, number]

    @property
    def scopes(self) -> list[Scope]:
        """All of them, and the empty one."""
        return list(dict.fromkeys([(), *self.atoms, *self.terms, *self.members, *self.flags]))

    def within(self, of: dict[Scope, dict[str, Expr]], scope: Scope) -> list[Expr]:
        """What speaks of elements of ``scope`` only."""
        return [e for other, found in of.items() if set(other) <= set(scope) for e in found.values()]


def _is_atom(expr: Expr) -> bool:
    return isinstance(expr, Read) or (isinstance(expr, Quantified) and expr.kind == "sum")


def candidates(vocabulary: Vocabulary, samples: Samples) -> list[Candidate]:
    """Templates that are true in all ``samples``."""
    found: dict[str, Candidate] = {}
    for scope in vocabulary.scopes:
        for body in _InScope(vocabulary, scope, samples).bodies():
            symbols = tuple(s for s in scope if any(s is f for f in free_symbols(body)))
            found.setdefault(name_of(body).text + str(len(symbols)), Candidate(symbols, body, None, variables_in(body)))
    for body, symbols in _alone(vocabulary, samples):
        found.setdefault(name_of(body).text, Candidate(symbols, body, None, variables_in(body)))
    return list(found.values())


class _InScope:
    """Templates over the elements of one scope."""

    def __init__(self, vocabulary: Vocabulary, scope: Scope, samples: Samples) -> None:
        self._vocabulary: Final = vocabulary
        self._scope: Final = scope
        self._samples: Final = samples
        self._columns: Final[dict[int, Column]] = {}
        self._kept: Final[list[Expr]] = []

    def bodies(self) -> Iterator[Expr]:
        """Each as a condition over the elements of the scope."""
        v, scope = self._vocabulary, self._scope
        atoms = list(v.atoms.get(scope, {}).values())[:_MOST_ATOMS]
        pairs = [e for a, b in itertools.combinations(atoms, 2) for e in (plus(a, b), minus(a, b))]
        terms = [*v.terms.get(scope, {}).values(), *pairs]
        plain = [*atoms, *v.within(v.atoms, scope)] if scope else atoms
        members = v.within(v.members, scope)
        cases = [TRUE, *_cases(members), *_flags(v.within(v.flags, scope))]
        counts = [
            c for a in v.within(v.atoms, scope)[:_MOST_ATOMS] for c in (same(a, _ZERO), op_of(">", BOOL, a, _ZERO))
        ]
        for term in {key_of(t): t for t in [*plain, *terms]}.values():
            yield from self._bounded(term, cases)
        for term in atoms:
            yield from self._bounded(term, [TRUE, *counts], equal_only=True)
        for member in v.members.get(scope, {}).values():
            yield from self._among(member, [*cases, *counts])
        for flag in v.flags.get(scope, {}).values():
            yield from self._one_way(flag, [*cases, *counts])

    def _values(self, expr: Expr) -> Column:
        if id(expr) not in self._columns:
            self._kept.append(expr)
            self._columns[id(expr)] = values_in(expr, self._scope, self._samples)
        return self._columns[id(expr)]

    def _bounded(self, term: Expr, cases: Sequence[Expr], equal_only: bool = False) -> Iterator[Expr]:
        values = self._values(term)
        low, high = int(values.min()), int(values.max())
        for case in cases:
            there = values[self._values(case) != 0] if case is not TRUE else values
            if not len(there):
                yield no(case)
                continue
            least, most = int(there.min()), int(there.max())
            if least == most and (case is TRUE or least != low or most != high):
                yield _where(case, same(term, Const(least)))
            elif not equal_only:
                if case is TRUE or least != low:
                    yield _where(case, op_of(">=", BOOL, term, Const(least)))
                if case is TRUE or most != high:
                    yield _where(case, op_of("<=", BOOL, term, Const(most)))

    def _among(self, member: Expr, cases: Sequence[Expr]) -> Iterator[Expr]:
        values = self._values(member)
        every = set(np.unique(values).tolist())
        for case in cases:
            there = set(np.unique(values[self._values(case) != 0]).tolist())
            if there and there < every:
                yield _where(case, _one_of(member, there))

    def _one_way(self, flag: Expr, cases: Sequence[Expr]) -> Iterator[Expr]:
        values = self._values(flag)
        for case in cases:
            there = values[self._values(case) != 0]
            if len(there) and there.min() == there.max() and case is not flag and case is not TRUE:
                yield _where(case, flag if there[0] else no(flag))


_ZERO: Final = Const(0)


def _where(case: Expr, then: Expr) -> Expr:
    return then if case is TRUE else op_of("=>", BOOL, case, then)


def _cases(members: Iterable[Expr]) -> Iterator[Expr]:
    for member in members:
        assert isinstance(member.type, EnumType)
        for value in member.type.members:
            yield same(member, Const(value))
        if len(member.type.members) > 2:
            for value in member.type.members:
                yield op_of("!=", BOOL, member, Const(value))


def _flags(flags: Iterable[Expr]) -> Iterator[Expr]:
    for flag in flags:
        yield from (flag, no(flag))


def _one_of(member: Expr, raws: set[int]) -> Expr:
    assert isinstance(member.type, EnumType)
    values: list[enum.Enum] = [member.type.members[raw] for raw in sorted(raws)]
    found = same(member, Const(values[0]))
    for value in values[1:]:
        found = either(found, same(member, Const(value)))
    return found


def _alone(vocabulary: Vocabulary, samples: Samples) -> Iterator[tuple[Expr, Scope]]:
    """At most one element, or one pair of them, has a flag or is in a case."""
    of_one = [*vocabulary.flags.items()]
    cases = [(scope, {key_of(c): c for c in _cases(found.values())}) for scope, found in vocabulary.members.items()]
    for scope, found in [*of_one, *cases]:
        if not scope or len({type(s) for s in scope}) < len(scope):
            continue
        others = tuple(vocabulary.symbol(type(s), 1) for s in scope)
        by: dict[int, Expr] = {s.uid: o for s, o in zip(scope, others, strict=True)}
        for each in found.values():
            if isinstance(each, Op) and each.op == "!=":
                continue
            equal = all_of(same(s, o) for s, o in zip(scope, others, strict=True))
            body = op_of("=>", BOOL, both(each, replaced(each, by)), equal)
            if values_in(body, (*scope, *others), samples).all():
                yield body, (*scope, *others)


def values_in(expr: Expr, scope: Scope, samples: Samples) -> Column:
    """What ``expr`` is in all states, for all elements of ``scope``."""
    parts = []
    for machine, states in samples:
        columns = Columns(machine)
        for positions in itertools.product(*(machine.values(s.domain) for s in scope)):
            env = {s.uid: p for s, p in zip(scope, positions, strict=True)}
            parts.append(columns.value(expr, states, env))
    return np.concatenate(parts)


__all__ = ["Samples", "Scope", "Vocabulary", "candidates", "values_in", "variables_in"]

"""From a spec's expressions to terms: symbols become elements, quantifiers are written out.

This is apart from what the explorer does with a spec on purpose: Spin shall contradict it where it is wrong.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping

from model.export.after import without_after
from model.export.promela import terms
from model.export.promela.terms import Term
from model.language import After, Const, Expr, Ite, Lookup, Machine, Op, Quantified, Read, SpecError, Symbol
from model.language.types import BOOL, EnumType, domain_type
from model.language.walking import children, operands, walk

Environment = Mapping[int, int]
MOST = 2**31 - 1
"""Spin's integers have 32 bits."""
_LONGEST = 1_000_000


class Grounder:
    """Of one machine. ``cells``: how each cell is written; ``members``: the names of enum members, by class."""

    def __init__(self, machine: Machine, cells: list[str], members: Mapping[type, list[str]]) -> None:
        self.machine = machine
        self.members = members
        self.index = {(c.variable.name, c.indices): i for i, c in enumerate(machine.cells())}
        self.cells = [self._cell(n, text) for n, text in enumerate(cells)]
        self._free: dict[int, tuple[Expr, tuple[int, ...]]] = {}
        self._known: dict[tuple[int, tuple[int, ...]], Term] = {}

    def _cell(self, number: int, text: str) -> Term:
        values = self.machine.values(self.machine.cells()[number].variable.domain)
        return terms.cell(text, number, values.start, values.stop - 1)

    def bindings(self, symbols: tuple[Symbol, ...], env: Environment) -> Iterator[Environment]:
        """``env`` extended by every combination of values of ``symbols``."""
        for values in itertools.product(*(self.machine.values(s.domain) for s in symbols)):
            yield {**env, **{s.uid: v for s, v in zip(symbols, values, strict=True)}}

    def ground(self, expr: Expr, env: Environment) -> Term:
        """``expr`` before the step."""
        key = (id(expr), tuple(env[uid] for uid in self.free(expr)))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._checked(self._build(expr, env, None), expr)
        return found

    def after(self, expr: Expr, env: Environment, new: Mapping[int, Term]) -> Term:
        """``expr``, in which ``after`` reads the cells of ``new`` as they are there, and others as they are."""
        if not any(isinstance(part, After) for part in walk(expr)):
            return self.ground(expr, env)
        return self._checked(self._build(expr, env, new), expr)

    def _checked(self, term: Term, expr: Expr) -> Term:
        if not -MOST <= term.low <= term.high <= MOST:
            raise SpecError(
                f"Spin has integers of 32 bits, this may take values from {term.low} to {term.high}", expr.at
            )
        if len(term.text) > _LONGEST:
            raise SpecError(f"written out for every element this has more than {_LONGEST:,} characters", expr.at)
        return term

    def free(self, expr: Expr) -> tuple[int, ...]:
        """The uids of the symbols that ``expr`` depends on."""
        known = self._free.get(id(expr))
        if known is None:
            own = {expr.uid} if isinstance(expr, Symbol) else {u for c in children(expr) for u in self.free(c)}
            if isinstance(expr, Quantified):
                own -= {s.uid for s in expr.symbols}
            known = self._free[id(expr)] = (expr, tuple(sorted(own)))
        return known[1]

    def position(self, indices: tuple[Expr, ...], env: Environment) -> tuple[int, ...]:
        """The elements that ``indices``, which are symbols, stand for."""
        return tuple(env[i.uid] for i in indices if isinstance(i, Symbol))

    def _build(self, expr: Expr, env: Environment, new: Mapping[int, Term] | None) -> Term:
        def part(each: Expr, inner: Environment = env) -> Term:
            return self.ground(each, inner) if new is None else self.after(each, inner, new)

        match expr:
            case Const(raw=raw):
                return self.value(expr.type, raw)
            case Symbol(uid=uid):
                return self.value(expr.type, env[uid])
            case Read(variable=variable, indices=indices):
                return self.cells[self.index[variable.name, self.position(indices, env)]]
            case Lookup(table=table, indices=indices):
                return terms.number(table.values[self.position(indices, env)])
            case After(body=body):
                assert new is not None, "after() outside a step property"
                return self._read_after(body, env, new)
            case Ite(condition=c, then=t, otherwise=e):
                return terms.choice(part(c), part(t), part(e))
            case Quantified(kind=kind, symbols=symbols, body=body):
                return _fold(kind, [part(body, inner) for inner in self.bindings(symbols, env)])
            case Op(op="&" | "|" | "+" as op):
                return _chain(op, [part(each) for each in operands(expr, op)])
            case Op(op=op, args=args):
                return _apply(op, [part(each) for each in args])
        raise TypeError(f"not an expression: {type(expr).__name__}")

    def _read_after(self, expr: Expr, env: Environment, new: Mapping[int, Term]) -> Term:
        """All of ``expr`` in the state after the step."""
        before, known = self.cells, self._known
        self.cells, self._known = [new.get(n, each) for n, each in enumerate(before)], {}
        try:
            return self._build(without_after(expr), env, None)
        finally:
            self.cells, self._known = before, known

    def value(self, kind: object, raw: int) -> Term:
        """A constant, by name where it has one."""
        if isinstance(kind, EnumType):
            return terms.number(raw, self.members[kind.cls][raw])
        return terms.truth(bool(raw)) if kind == BOOL else terms.number(raw)

    def value_in(self, cell: int, raw: int) -> Term:
        """``raw`` as a value of a cell."""
        return self.value(domain_type(self.machine.cells()[cell].variable.domain), raw)


def _chain(op: str, parts: list[Term]) -> Term:
    if op == "+":
        return functools.reduce(terms.add, parts)
    return terms.both(parts) if op == "&" else terms.either(parts)


def _fold(kind: str, parts: list[Term]) -> Term:
    match kind:
        case "all":
            return terms.both(parts)
        case "any":
            return terms.either(parts)
        case "min":
            return functools.reduce(terms.least, parts)
        case "max":
            return functools.reduce(terms.greatest, parts)
    return functools.reduce(terms.add, map(_as_number, parts))


def _as_number(part: Term) -> Term:
    """A truth value is 0 or 1 in Promela; only constants are written another way."""
    return terms.number(part.low) if part.text in ("true", "false") else part


def _apply(op: str, x: list[Term]) -> Term:
    match op:
        case "-":
            return terms.subtract(*x)
        case "*":
            return terms.multiply(*x)
        case "//":
            return terms.divide(x[0], x[1].low)
        case "%":
            return terms.modulo(x[0], x[1].low)
        case "==":
            return terms.equal(*x)
        case "!=":
            return terms.different(*x)
        case "<":
            return terms.less(*x)
        case "<=":
            return terms.at_most(*x)
        case ">":
            return terms.less(x[1], x[0])
        case ">=":
            return terms.at_most(x[1], x[0])
        case "=>":
            return terms.either([terms.negation(x[0]), x[1]])
        case "~":
            return terms.negation(x[0])
    raise ValueError(f"unknown operator {op!r}")


__all__ = ["MOST", "Environment", "Grounder"]

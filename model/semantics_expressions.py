"""What an expression means: a function of a state. A part of `model.semantics`, as plain.

The function is put together once from those of the expression's parts. Whatever is asked of all parts is asked of all
of them: neither ``&`` nor ``all`` stops early, so a part that has no meaning is never passed over. Only ``ite`` looks
at one of its branches alone.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from model.language import After, Const, Expr, Ite, Lookup, Machine, Op, Quantified, Read, Symbol

State: TypeAlias = tuple[int, ...]
Environment: TypeAlias = dict[int, int]
"""The raw values of parameters and bound variables, by the symbol's uid."""
Meaning: TypeAlias = Callable[[State, Environment, State | None], int]
"""The raw value in a state, with the values of symbols, and with the state after the step, which `After` reads."""


class Meanings:
    """The meanings of the expressions of one machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._cells: dict[str, dict[tuple[int, ...], int]] = {}
        for number, cell in enumerate(machine.cells()):
            self._cells.setdefault(cell.variable.name, {})[cell.indices] = number
        # By identity. The expression is kept as well, or another one might lie where it lay.
        self._known: dict[int, tuple[Expr, Meaning]] = {}
        self._bindings: dict[tuple[Symbol, ...], list[Environment]] = {}

    def of(self, expr: Expr) -> Meaning:
        """What ``expr`` means."""
        found = self._known.get(id(expr))
        if found is None:
            found = self._known[id(expr)] = (expr, self._of(expr))
        return found[1]

    def _of(self, expr: Expr) -> Meaning:
        match expr:
            case Const(raw=raw):
                return lambda state, env, after: raw
            case Symbol(uid=uid):
                return lambda state, env, after: env[uid]
            case Read(variable=variable, indices=indices):
                cells, position = self._cells[variable.name], self._position(indices)
                return lambda state, env, after: state[cells[position(state, env, after)]]
            case Lookup(table=table, indices=indices):
                values, position = table.values, self._position(indices)
                return lambda state, env, after: values[position(state, env, after)]
            case After(body=body):
                return _after(self.of(body))
            case Ite(condition=c, then=t, otherwise=e):
                holds, then, otherwise = self.of(c), self.of(t), self.of(e)
                return lambda state, env, after: (then if holds(state, env, after) else otherwise)(state, env, after)
            case Op(op=op, args=(x,)):
                one, only = _UNARY[op], self.of(x)
                return lambda state, env, after: one(only(state, env, after))
            case Op(op=op, args=(x, y)):
                two, left, right = _BINARY[op], self.of(x), self.of(y)
                return lambda state, env, after: two(left(state, env, after), right(state, env, after))
            case Quantified(kind=kind, symbols=symbols, body=body):
                fold, each, bindings = _FOLD[kind], self.of(body), self.bindings(symbols)
                return lambda state, env, after: fold([each(state, {**env, **inner}, after) for inner in bindings])
        raise TypeError(f"not an expression: {expr!r}")

    def _position(self, indices: tuple[Expr, ...]) -> Callable[[State, Environment, State | None], tuple[int, ...]]:
        """The raw values of ``indices``, together."""
        match [self.of(i) for i in indices]:
            case []:
                return lambda state, env, after: ()
            case [only]:
                return lambda state, env, after: (only(state, env, after),)
            case parts:
                return lambda state, env, after: tuple([part(state, env, after) for part in parts])

    def bindings(self, symbols: tuple[Symbol, ...]) -> list[Environment]:
        """Every combination of values of ``symbols``, by uid."""
        found = self._bindings.get(symbols)
        if found is None:
            every = itertools.product(*(self._machine.values(s.domain) for s in symbols))
            found = [{s.uid: v for s, v in zip(symbols, values, strict=True)} for values in every]
            self._bindings[symbols] = found
        return found


def _after(body: Meaning) -> Meaning:
    def meaning(state: State, env: Environment, after: State | None) -> int:
        assert after is not None, "after() outside a step property"
        return body(after, env, after)

    return meaning


_UNARY: Final[Mapping[str, Callable[[int], int]]] = {"~": lambda x: 1 - x}

_BINARY: Final[Mapping[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "==": lambda x, y: int(x == y),
    "!=": lambda x, y: int(x != y),
    "<": lambda x, y: int(x < y),
    "<=": lambda x, y: int(x <= y),
    ">": lambda x, y: int(x > y),
    ">=": lambda x, y: int(x >= y),
    "&": operator.and_,
    "|": operator.or_,
    "=>": lambda x, y: (1 - x) | y,
}

_FOLD: Final[Mapping[str, Callable[[list[int]], int]]] = {
    "sum": sum,
    "count": sum,
    "all": lambda v: int(all(v)),
    "any": lambda v: int(any(v)),
    "min": min,
    "max": max,
}


__all__ = ["Environment", "Meaning", "Meanings", "State"]

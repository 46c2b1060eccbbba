"""The value of an expression in many states at once, with numpy; what it means is said by `model.semantics`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.language import Const, Expr, Ite, Lookup, Machine, Op, Quantified, Read, Symbol

Column = NDArray[np.int64]

_OPERATORS: Final[Mapping[str, Callable[[Column, Column], NDArray[np.generic]]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "//": np.floor_divide,
    "%": np.mod,
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "=>": np.less_equal,
}
_FOLDS: Final[Mapping[str, Callable[[Column, Column], NDArray[np.generic]]]] = {
    "sum": np.add,
    "count": np.add,
    "all": np.bitwise_and,
    "any": np.bitwise_or,
    "min": np.minimum,
    "max": np.maximum,
}


class Columns:
    """Evaluates expressions of one machine on raw states of shape (n, cells), cells as in ``machine.cells()``."""

    def __init__(self, machine: Machine) -> None:
        self._machine: Final = machine
        self._index: Final = {(c.variable.name, c.indices): i for i, c in enumerate(machine.cells())}

    def value(self, expr: Expr, states: Column, env: Mapping[int, int]) -> Column:
        """The raw value in each state: shape (n,). ``env`` has the raw values of free symbols by uid."""
        match expr:
            case Const(raw=raw):
                return np.full(len(states), raw, np.int64)
            case Symbol(uid=uid):
                return np.full(len(states), env[uid], np.int64)
            case Read(variable=variable, indices=indices):
                return states[:, self._index[variable.name, self._position(indices, env)]]
            case Lookup(table=table, indices=indices):
                return np.full(len(states), table.values[self._position(indices, env)], np.int64)
            case Ite(condition=c, then=t, otherwise=e):
                test, then, otherwise = (self.value(x, states, env) for x in (c, t, e))
                return np.where(test != 0, then, otherwise)
            case Op(op="~", args=(arg,)):
                return 1 - self.value(arg, states, env)
            case Op(op=op, args=(left, right)):
                return _OPERATORS[op](self.value(left, states, env), self.value(right, states, env)).astype(np.int64)
            case Quantified(kind=kind, symbols=symbols, body=body):
                ranges = (self._machine.values(s.domain) for s in symbols)
                uids = [s.uid for s in symbols]
                parts = (
                    self.value(body, states, {**env, **dict(zip(uids, values, strict=True))})
                    for values in itertools.product(*ranges)
                )
                return functools.reduce(lambda a, b: _FOLDS[kind](a, b).astype(np.int64), parts)
        raise TypeError(f"not an expression over one state: {expr!r}")

    @staticmethod
    def _position(indices: tuple[Expr, ...], env: Mapping[int, int]) -> tuple[int, ...]:
        return tuple(env[i.uid] for i in indices if isinstance(i, Symbol))


__all__ = ["Column", "Columns"]

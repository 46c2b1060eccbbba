"""What formulas for any size are made of: sorts that z3 does not interpret, functions for variables and counters."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final

import z3

from model.language import Expr, Machine, Quantified, Sort, Symbol
from model.language.types import BOOL
from model.language.walking import free_symbols
from model.prove.any_size.terms import Name, name_of
from model.prove.arithmetic import Formula, Integers
from model.prove.solving import Deadline


class Words:
    """The functions of z3 that formulas of one machine are made of."""

    def __init__(self, machine: Machine, deadline: Deadline | None = None) -> None:
        """``deadline``: formulas that take longer to write raise OutOfTime."""
        self.machine: Final = machine
        self.deadline: Final = deadline or Deadline(None)
        self.terms: Final = Integers()
        self.sorts: Final = {sort: z3.DeclareSort(sort.__name__, self.terms.context) for sort in machine.sorts}
        self._functions: Final[dict[str, Formula]] = {}
        self._names: Final[dict[int, tuple[Expr, Name]]] = {}
        self._free: Final[dict[int, tuple[Expr, tuple[int, ...]]]] = {}
        self._called: Final[dict[int, str]] = {}
        self.fresh: Final = itertools.count()
        """Numbers for what needs a name."""
        self.never_negative: Callable[[Quantified], bool] = lambda _: False
        """Of a counter: whether nothing that it sums is negative."""

    def function(self, name: str, arguments: list[Formula], boolean: bool) -> Formula:
        """``name`` of ``arguments``, a number or a truth value."""
        if name not in self._functions:
            context = self.terms.context
            result = z3.BoolSort(context) if boolean else z3.IntSort(context)
            self._functions[name] = z3.Function(name, *(a.sort() for a in arguments), result)
        return self._functions[name](*arguments)

    def name(self, expr: Expr) -> Name:
        """`name_of`, kept."""
        if id(expr) not in self._names:
            self._names[id(expr)] = (expr, name_of(expr))
        return self._names[id(expr)][1]

    def free(self, expr: Expr) -> tuple[int, ...]:
        """The uids of the free symbols of ``expr``, kept."""
        if id(expr) not in self._free:
            self._free[id(expr)] = (expr, tuple(s.uid for s in free_symbols(expr)))
        return self._free[id(expr)][1]

    def element(self, name: str, sort: type[Sort]) -> Formula:
        """An element."""
        return z3.Const(name, self.sorts[sort])

    def called(self, symbol: Symbol) -> str:
        """What the unknown for ``symbol`` is called: numbered by first use, as a uid counts all symbols that there ever
        were, and what z3 answers depends on names."""
        return self._called.setdefault(symbol.uid, f"{symbol.name}#{len(self._called)}")

    def value(self, symbol: Symbol) -> tuple[Formula, Formula]:
        """An unknown for a symbol that stands for a value, and that it is in its domain."""
        name = self.called(symbol)
        if symbol.type == BOOL:
            return self.terms.condition(name), self.terms.truth(True)
        unknown, values = self.terms.variable(name), self.machine.values(symbol.domain)
        return unknown, z3.And(values.start <= unknown, unknown < values.stop)


__all__ = ["Words"]

"""Expressions: what a spec's guards, updates and properties are made of.

An expression is data. It has a type (`types`) and no truth value (`refused`), and the operators of Python build larger
ones. Engines walk these classes and no others:

``Const Symbol Read Lookup Op Ite Quantified After``
"""

from __future__ import annotations

import enum
import itertools
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from model.language.errors import Location, SpecError, where
from model.language.refused import NoPythonValue
from model.language.types import BOOL, INT, Domain, EnumType, SortType, Type, domain_type

if TYPE_CHECKING:
    from model.language.variables import Table, VariableBase

Operand: TypeAlias = "Expr | int | bool | enum.Enum"


class Expr(NoPythonValue):
    """Base of all expressions. ``at`` is the user's line that built it."""

    __slots__ = ("at", "type")

    type: Type
    at: Location

    def __init__(self, type_: Type) -> None:
        self.type = type_
        self.at = where()

    def operand(self) -> Expr:
        """The expression to use where this one is an operand (scalars note the read here)."""
        return self

    __hash__ = NoPythonValue.__hash__  # a class with __eq__ would have none

    def __add__(self, other: Operand) -> Expr:
        return arithmetic("+", self, other)

    def __radd__(self, other: Operand) -> Expr:
        return arithmetic("+", other, self)

    def __sub__(self, other: Operand) -> Expr:
        return arithmetic("-", self, other)

    def __rsub__(self, other: Operand) -> Expr:
        return arithmetic("-", other, self)

    def __mul__(self, other: Operand) -> Expr:
        return arithmetic("*", self, other)

    def __rmul__(self, other: Operand) -> Expr:
        return arithmetic("*", other, self)

    def __floordiv__(self, other: int) -> Expr:
        return divide("//", self, other)

    def __mod__(self, other: int) -> Expr:
        return divide("%", self, other)

    def __neg__(self) -> Expr:
        return arithmetic("-", 0, self)

    def __lt__(self, other: Operand) -> Expr:
        return compare("<", self, other)

    def __le__(self, other: Operand) -> Expr:
        return compare("<=", self, other)

    def __gt__(self, other: Operand) -> Expr:
        return compare(">", self, other)

    def __ge__(self, other: Operand) -> Expr:
        return compare(">=", self, other)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return compare("==", self, other)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return compare("!=", self, other)

    def __and__(self, other: Operand) -> Expr:
        return logic("&", self, other)

    def __rand__(self, other: Operand) -> Expr:
        return logic("&", other, self)

    def __or__(self, other: Operand) -> Expr:
        return logic("|", self, other)

    def __ror__(self, other: Operand) -> Expr:
        return logic("|", other, self)

    def __invert__(self) -> Expr:
        return logic("~", self)


class Const(Expr):
    """A literal: an int, a bool or an enum member. ``raw`` is its integer form (bools 0/1, enums their position)."""

    __slots__ = ("raw", "value")

    def __init__(self, value: int | bool | enum.Enum) -> None:
        if isinstance(value, enum.Enum):
            super().__init__(EnumType(type(value)))
            self.raw = EnumType(type(value)).members.index(value)
        elif isinstance(value, bool):
            super().__init__(BOOL)
            self.raw = int(value)
        else:
            super().__init__(INT)
            self.raw = value
        self.value = value

    def __repr__(self) -> str:
        return str(self.value)


_symbol_numbers = itertools.count()


class Symbol(Expr):
    """A name that stands for one value of a domain: an action's parameter, a choice, or a bound variable."""

    __slots__ = ("domain", "name", "uid")

    def __init__(self, name: str, domain: Domain) -> None:
        super().__init__(domain_type(domain))
        self.name = name
        self.domain: Final = domain
        self.uid = next(_symbol_numbers)

    def __repr__(self) -> str:
        return self.name


class Read(Expr):
    """The value of one cell of a variable, before the step."""

    __slots__ = ("indices", "variable")

    def __init__(self, variable: VariableBase, indices: tuple[Expr, ...]) -> None:
        super().__init__(domain_type(variable.domain))
        self.variable = variable
        self.indices = indices

    def __repr__(self) -> str:
        return self.variable.name + (f"[{', '.join(map(repr, self.indices))}]" if self.indices else "")

    def __iadd__(self, amount: Operand) -> Any:
        from model.language.variables import Addition

        return Addition(self, integer(amount, "+="))

    def __isub__(self, amount: Operand) -> Any:
        from model.language.variables import Addition

        less = integer(amount, "-=")
        return Addition(self, Const(-less.raw) if isinstance(less, Const) else arithmetic("-", 0, less))


class Lookup(Expr):
    """An entry of a constant table."""

    __slots__ = ("indices", "table")

    def __init__(self, table: Table[Any], indices: tuple[Expr, ...]) -> None:
        super().__init__(INT)
        self.table = table
        self.indices = indices

    def __repr__(self) -> str:
        return f"{self.table.name}[{', '.join(map(repr, self.indices))}]"


class Op(Expr):
    """An operator on one or two operands.

    ``op`` is one of ``+ - *`` and ``// %`` (by a positive constant) on integers; ``== != < <= > >=``; ``& | ~`` and
    ``=>`` on booleans. Symbols of one sort compare by their position.
    """

    __slots__ = ("args", "op")

    def __init__(self, op: str, type_: Type, *args: Expr) -> None:
        super().__init__(type_)
        self.op = op
        self.args = args

    def __repr__(self) -> str:
        if len(self.args) == 1:
            return f"{self.op}{self.args[0]!r}"
        return f"({self.args[0]!r} {self.op} {self.args[1]!r})"


class Ite(Expr):
    """``then`` where ``condition`` holds, else ``otherwise``."""

    __slots__ = ("condition", "otherwise", "then")

    def __init__(self, condition: Expr, then: Expr, otherwise: Expr) -> None:
        super().__init__(then.type)
        self.condition = condition
        self.then = then
        self.otherwise = otherwise

    def __repr__(self) -> str:
        return f"ite({self.condition!r}, {self.then!r}, {self.otherwise!r})"


class Quantified(Expr):
    """``kind`` (sum, all, any, count, min or max) of ``body`` over every value of ``symbols``."""

    __slots__ = ("body", "kind", "symbols")

    def __init__(self, kind: str, symbols: tuple[Symbol, ...], body: Expr) -> None:
        super().__init__(BOOL if kind in ("all", "any") else INT)
        self.kind = kind
        self.symbols = symbols
        self.body = body

    def __repr__(self) -> str:
        over = " ".join(f"for {s!r} in {getattr(s.domain, '__name__', s.domain)}" for s in self.symbols)
        return f"{self.kind}_({self.body!r} {over})"


class After(Expr):
    """``body`` read in the state after the step; only in step properties."""

    __slots__ = ("body",)

    def __init__(self, body: Expr) -> None:
        super().__init__(body.type)
        self.body = body

    def __repr__(self) -> str:
        return f"after({self.body!r})"


def lift(value: object) -> Expr:
    """``value`` as an expression. SpecError for what a spec cannot hold (floats, strings, ...)."""
    if isinstance(value, Expr):
        return value.operand()
    if isinstance(value, (bool, int, enum.Enum)):
        return Const(value)
    raise SpecError(f"expected an expression, an int, a bool or an enum member, found {value!r}", where())


def _expect(value: object, type_: Type, use: str) -> Expr:
    expr = lift(value)
    if expr.type != type_:
        raise SpecError(f"{use} takes {type_}, found {expr!r}, which is {expr.type}", where())
    return expr


def boolean(value: object, use: str) -> Expr:
    """``value`` as a boolean expression, or SpecError that names ``use``."""
    return _expect(value, BOOL, use)


def integer(value: object, use: str) -> Expr:
    """``value`` as an integer expression, or SpecError that names ``use``."""
    return _expect(value, INT, use)


def arithmetic(op: str, left: object, right: object) -> Expr:
    """``left op right`` on integers."""
    return Op(op, INT, integer(left, f"'{op}'"), integer(right, f"'{op}'"))


def divide(op: str, left: object, right: object) -> Expr:
    """Floor division or remainder by a positive constant."""
    if not isinstance(right, int) or isinstance(right, bool) or right <= 0:
        raise SpecError(f"'{op}' divides by a positive constant, found {right!r}", where())
    return Op(op, INT, integer(left, f"'{op}'"), Const(right))


def compare(op: str, left: object, right: object) -> Expr:
    """``left op right``: integers; equality of booleans and of one enum; positions of one sort."""
    a, b = lift(left), lift(right)
    if a.type != b.type:
        raise SpecError(f"'{op}' compares {a!r}, which is {a.type}, with {b!r}, which is {b.type}", where())
    if op not in ("==", "!=") and a.type != INT and not isinstance(a.type, SortType):
        raise SpecError(
            f"'{op}' orders integers or elements of an ordered sort, found {a!r}, which is {a.type}", where()
        )
    return Op(op, BOOL, a, b)


def logic(op: str, *operands: object) -> Expr:
    """A boolean operator: ``& | ~ =>``."""
    return Op(op, BOOL, *(boolean(x, f"'{op}'") for x in operands))


def ite(condition: Operand, then: Operand, otherwise: Operand) -> Expr:
    """``then`` if ``condition`` else ``otherwise``, as an expression."""
    c, t, e = boolean(condition, "ite's condition"), lift(then), lift(otherwise)
    if t.type != e.type:
        raise SpecError(f"ite's branches differ in type: {t!r} is {t.type}, {e!r} is {e.type}", where())
    return Ite(c, t, e)


def implies(premise: Operand, conclusion: Operand) -> Expr:
    """Where ``premise`` holds, ``conclusion`` does. A property whose premise never holds is reported as vacuous."""
    return logic("=>", premise, conclusion)


def among(value: Expr, *options: Operand) -> Expr:
    """Whether ``value`` equals one of ``options``: what ``in`` would say."""
    if not options:
        raise SpecError("among() takes at least one option", where())
    result = compare("==", value, options[0])
    for option in options[1:]:
        result = logic("|", result, compare("==", value, option))
    return result

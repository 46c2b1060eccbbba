"""Random expressions over what a random machine has declared.

A term is drawn first and built later: drawing knows names and types only; building (``Term``, called with the symbols
in scope) goes through the public language, inside the body that the language reads.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from model.language import (
    Expr,
    Machine,
    Operand,
    Sort,
    Symbol,
    Table,
    after,
    all_,
    among,
    any_,
    count_,
    first,
    implies,
    ite,
    max_,
    min_,
    sum_,
)

T = TypeVar("T")
Symbols: TypeAlias = Mapping[str, Any]
Term: TypeAlias = Callable[[Symbols], Any]
Names: TypeAlias = Mapping[str, type[Sort]]
"""Symbols in scope while a term is drawn: name to sort."""

_LOOP_NAMES = ("u", "v", "w", "u2", "v2", "w2", "u3", "v3", "w3")


@dataclass(frozen=True, eq=False)
class Declared:
    """A variable, and what drawing needs to know of it."""

    handle: Any
    name: str
    sorts: tuple[type[Sort], ...]
    domain: Any

    def read(self, symbols: Symbols, names: Sequence[str]) -> Any:
        """The cell that the symbols of these names tell."""
        return self.handle.now if not names else self.handle[_index(symbols, names)]

    def write(self, symbols: Symbols, names: Sequence[str], value: Operand) -> None:
        """``x[...] = value``, or ``x.next = value``."""
        if names:
            self.handle[_index(symbols, names)] = value
        else:
            self.handle.next = value

    def add(self, symbols: Symbols, names: Sequence[str], value: Operand, minus: bool = False) -> None:
        """``x[...] += value``, or ``-=``."""
        if names and minus:
            self.handle[_index(symbols, names)] -= value
        elif names:
            self.handle[_index(symbols, names)] += value
        elif minus:
            self.handle.next -= value
        else:
            self.handle.next += value


def _index(symbols: Symbols, names: Sequence[str]) -> Any:
    return symbols[names[0]] if len(names) == 1 else tuple(symbols[n] for n in names)


_PERCENT = st.integers(0, 99)


@functools.cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


@dataclass(frozen=True, eq=False)
class Scope:
    """What a term may speak of: the machine's declarations, and the symbols of sorts and of ranges in scope."""

    draw: DrawFn
    machine: Machine
    variables: tuple[Declared, ...]
    tables: tuple[Table[Any], ...]
    names: Names = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    actions: tuple[Callable[..., Any], ...] = ()
    in_step: bool = False
    one_way: bool = False
    """Whether actions only move cells onwards, so that the machine comes to an end."""

    @property
    def sorts(self) -> list[type[Sort]]:
        """The machine's sorts, in order of declaration."""
        return list(self.machine.sorts)

    def pick(self, options: Sequence[T]) -> T:
        """One of ``options``; earlier ones are simpler."""
        return options[self.draw(_below(len(options)))]

    def chance(self, percent: int) -> bool:
        """True for about ``percent`` in a hundred; False is simpler."""
        return self.draw(_PERCENT) >= 100 - percent

    def span(self, make: Callable[[], T]) -> T:
        """What ``make`` draws, marked as one piece: Hypothesis shrinks a list of pieces by leaving some out."""
        return self.draw(st.builds(make))

    def fresh(self) -> str:
        """A name for a bound variable."""
        return next(n for n in _LOOP_NAMES if n not in self.names)

    def inside(self, name: str, sort: type[Sort]) -> Scope:
        """The scope under a binder."""
        return replace(self, names={**self.names, name: sort})

    def named(self, sort: type[Sort]) -> list[str]:
        """Names of symbols of ``sort`` in scope."""
        return [name for name, s in self.names.items() if s is sort]

    def readable(self, kind: type | None) -> list[Declared]:
        """Variables of ``kind`` (range, bool, enum.Enum) whose indices can be filled from the scope."""
        return [v for v in self.variables if is_kind(v.domain, kind) and all(self.named(s) for s in v.sorts)]

    def indices(self, sorts: Sequence[type[Sort]]) -> tuple[str, ...]:
        """A name for each of ``sorts``."""
        return tuple(self.pick(self.named(s)) for s in sorts)


def is_kind(domain: Any, kind: type | None) -> bool:
    """Whether ``domain`` is a range, bool or an enum, as ``kind`` says; None is any."""
    if kind is range:
        return isinstance(domain, range)
    if kind is bool:
        return domain is bool
    return kind is None or (isinstance(domain, type) and issubclass(domain, enum.Enum))


# ---- integers


def integer(scope: Scope, depth: int) -> Term:
    """A random integer term."""
    makers = [_constant]
    if scope.numbers:
        makers.append(_number)
    if scope.readable(range):
        makers += [_read_integer] * 4
    if [t for t in scope.tables if all(scope.named(s) for s in t.sorts)]:
        makers.append(_lookup)
    if depth > 0:
        makers += [_arithmetic, _ite]
        if scope.sorts:
            makers += [_aggregate] * 2
    return scope.pick(makers)(scope, depth - 1)


def _constant(scope: Scope, depth: int) -> Term:
    value = scope.draw(st.integers(-1, 3))
    return lambda _: value


def _number(scope: Scope, depth: int) -> Term:
    name = scope.pick(scope.numbers)
    return lambda symbols: symbols[name]


def _read_integer(scope: Scope, depth: int) -> Term:
    return read_of(scope, scope.pick(scope.readable(range)))


def read_of(scope: Scope, variable: Declared) -> Term:
    """A random cell of ``variable``."""
    names = scope.indices(variable.sorts)
    if scope.in_step and scope.chance(40):
        return lambda symbols: after(variable.read(symbols, names))
    return lambda symbols: variable.read(symbols, names)


def _lookup(scope: Scope, depth: int) -> Term:
    table = scope.pick([t for t in scope.tables if all(scope.named(s) for s in t.sorts)])
    names = scope.indices(table.sorts)
    return lambda symbols: table[_index(symbols, names)]


def _arithmetic(scope: Scope, depth: int) -> Term:
    operator = scope.pick("+-*/%")
    left = integer(scope, depth)
    if operator in "/%":
        divisor = scope.draw(st.integers(1, 3))
        if operator == "/":
            return lambda symbols: left(symbols) // divisor
        return lambda symbols: left(symbols) % divisor
    right = integer(scope, depth)
    if operator == "+":
        return lambda symbols: left(symbols) + right(symbols)
    if operator == "-":
        return lambda symbols: left(symbols) - right(symbols)
    return lambda symbols: left(symbols) * right(symbols)


def _ite(scope: Scope, depth: int) -> Term:
    condition, then, otherwise = boolean(scope, depth), integer(scope, depth), integer(scope, depth)
    return lambda symbols: ite(condition(symbols), then(symbols), otherwise(symbols))


def _aggregate(scope: Scope, depth: int) -> Term:
    kind = scope.pick(("sum", "count", "min", "max"))
    sort, name = scope.pick(scope.sorts), scope.fresh()
    inner = scope.inside(name, sort)
    close = {"sum": sum_, "count": count_, "min": min_, "max": max_}[kind]
    if scope.chance(15):
        other, second = scope.pick(scope.sorts), inner.fresh()
        inner = inner.inside(second, other)
        body = boolean(inner, depth) if kind == "count" else integer(inner, depth)
        return lambda symbols: close(body({**symbols, name: x, second: y}) for x in sort for y in other)
    body = boolean(inner, depth) if kind == "count" else integer(inner, depth)
    return lambda symbols: close(body({**symbols, name: x}) for x in sort)


# ---- booleans


def boolean(scope: Scope, depth: int) -> Term:
    """A random boolean term."""
    makers = [_compare] * 2
    if scope.readable(bool):
        makers += [_read_boolean] * 3
    if scope.readable(enum.Enum):
        makers += [_is_member] * 3
    if any(len(scope.named(s)) > 1 for s in scope.sorts):
        makers.append(_compare_elements)
    if depth > 0:
        makers += [_connective] * 2
        if scope.sorts:
            makers += [_quantified] * 2
        if any(scope.machine.sorts[s].ordered for s in scope.names.values()):
            makers.append(_first)
        if scope.actions:
            makers.append(_enabled)
    return scope.pick(makers)(scope, depth - 1)


def _compare(scope: Scope, depth: int) -> Term:
    operator = scope.pick(("==", "<", "<=", ">", ">=", "!="))
    left, right = integer(scope, max(depth, 0)), integer(scope, max(depth, 0))
    return lambda symbols: comparison(operator, left(symbols), right(symbols))


def comparison(operator: str, left: Any, right: Any) -> Any:
    """``left operator right`` as Python would have it."""
    match operator:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
    return left >= right


def _read_boolean(scope: Scope, depth: int) -> Term:
    read = read_of(scope, scope.pick(scope.readable(bool)))
    return read if scope.draw(st.booleans()) else lambda symbols: ~read(symbols)


def _is_member(scope: Scope, depth: int) -> Term:
    variable = scope.pick(scope.readable(enum.Enum))
    read, members = read_of(scope, variable), list(variable.domain)
    if scope.chance(20):
        chosen = scope.draw(st.lists(st.sampled_from(members), min_size=1, max_size=2, unique=True))
        return lambda symbols: among(read(symbols), *chosen)
    member = scope.pick(members)
    operator = scope.pick(("==", "==", "!="))
    return lambda symbols: comparison(operator, read(symbols), member)


def _compare_elements(scope: Scope, depth: int) -> Term:
    sort = scope.pick([s for s in scope.sorts if len(scope.named(s)) > 1])
    left, right = scope.draw(st.permutations(scope.named(sort)))[:2]
    operators = ("==", "!=", "<", "<=", ">", ">=") if scope.machine.sorts[sort].ordered else ("==", "!=")
    operator = scope.pick(operators)
    return lambda symbols: comparison(operator, symbols[left], symbols[right])


def _connective(scope: Scope, depth: int) -> Term:
    kind = scope.pick("&|~>")
    left = boolean(scope, depth)
    if kind == "~":
        return lambda symbols: negation(left(symbols))
    right = boolean(scope, depth)
    if kind == "&":
        return lambda symbols: left(symbols) & right(symbols)
    if kind == "|":
        return lambda symbols: left(symbols) | right(symbols)
    return lambda symbols: implies(left(symbols), right(symbols))


def negation(value: Any) -> Any:
    """``~value``; two constants that were compared gave a Python bool, and ``~`` of that is a number."""
    return ~value if isinstance(value, Expr) else not value


def _quantified(scope: Scope, depth: int) -> Term:
    close = scope.pick((all_, any_))
    sort, name = scope.pick(scope.sorts), scope.fresh()
    body = boolean(scope.inside(name, sort), depth)
    return lambda symbols: close(body({**symbols, name: x}) for x in sort)


def _first(scope: Scope, depth: int) -> Term:
    name = scope.pick([n for n, s in scope.names.items() if scope.machine.sorts[s].ordered])
    bound = scope.fresh()
    body = boolean(scope.inside(bound, scope.names[name]), depth)
    return lambda symbols: first(symbols[name], lambda x: body({**symbols, bound: x}))


def _enabled(scope: Scope, depth: int) -> Term:
    action = scope.pick(scope.actions)
    wanted = [type(p) for p in _parameters(scope, action) if isinstance(p, Sort)]
    machine = scope.machine
    if wanted and all(scope.named(s) for s in wanted) and scope.draw(st.booleans()):
        names = scope.indices(wanted)
        return lambda symbols: machine.enabled(action, *(symbols[n] for n in names))
    return lambda _: machine.enabled(action)


def _parameters(scope: Scope, action: Callable[..., Any]) -> tuple[Symbol, ...]:
    return next(a.parameters for a in scope.machine.actions if a.name == action.__name__)

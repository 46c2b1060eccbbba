"""What a spec computes in several places, as definitions with names: ``used(n)``, ``total``.

A spec's helper functions leave no trace in a machine but the lines on which their expressions were built. Expressions
that are the same but for the symbols in them become one definition, which is called after the function that built it.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from model.export.tla.names import Naming
from model.language import After, Const, Expr, Ite, Location, Lookup, Machine, Op, Quantified, Read, Symbol
from model.language.types import INT
from model.language.walking import children, operands, walk

Key: TypeAlias = tuple[Any, ...]
_SMALL = 8
_WORTH = 24
_VALUES = ("sum", "count", "min", "max")


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """``name(parameters) == body``."""

    name: str
    parameters: tuple[Symbol, ...]
    body: Expr


class Derived:
    """The definitions of a machine, in an order in which each follows what it needs."""

    def __init__(self, machine: Machine, naming: Naming) -> None:
        self._keys: dict[int, tuple[Expr, Key, tuple[Symbol, ...]]] = {}
        self._found: dict[Key, Definition] = {}
        counts: dict[Key, int] = {}
        examples: dict[Key, Expr] = {}
        for expr in expressions(machine):
            self._count(expr, counts, examples)
        own = {a.name for a in machine.actions} | {p.name for p in _claims(machine)}
        worth = [k for k, n in counts.items() if self._is_worth_a_name(examples[k], n, own)]
        largest_first = sorted(worth, key=lambda k: -_size(examples[k]))
        names = {key: naming.fresh(_name(examples[key], own)) for key in largest_first}
        for key in reversed(largest_first):
            self._found[key] = Definition(names[key], self._key(examples[key])[1], examples[key])

    @property
    def definitions(self) -> list[Definition]:
        """All of them."""
        return list(self._found.values())

    def use(self, expr: Expr) -> tuple[Definition, tuple[Symbol, ...]] | None:
        """The definition that ``expr`` is an instance of, and its arguments."""
        if not isinstance(expr, (Op, Ite, Quantified)):
            return None
        key, free = self._key(expr)
        found = self._found.get(key)
        return None if found is None else (found, free)

    def _count(self, expr: Expr, counts: dict[Key, int], examples: dict[Key, Expr]) -> None:
        """References to each expression, what is below a repeated one counted once."""
        todo = [expr]
        while todo:
            each = todo.pop()
            if not isinstance(each, (Op, Ite, Quantified, After)):
                continue
            key, _ = self._key(each)
            counts[key] = counts.get(key, 0) + 1
            if counts[key] == 1:
                examples[key] = each
                todo += reversed(_below(each))

    def _is_worth_a_name(self, expr: Expr, count: int, own: set[str]) -> bool:
        if count < 2 or isinstance(expr, After) or any(isinstance(e, After) for e in walk(expr)):
            return False
        if isinstance(expr, Quantified) and expr.kind in _VALUES:
            return True
        size = _size(expr)
        worth = _WORTH if _helper(expr, own) else 2 * _WORTH
        return size >= _SMALL and size * (count - 1) >= worth

    def _key(self, expr: Expr) -> tuple[Key, tuple[Symbol, ...]]:
        """What ``expr`` is apart from the symbols in it; and these, in the order in which they come."""
        known = self._keys.get(id(expr))
        if known is None:
            free: dict[int, Symbol] = {}
            known = expr, _key(expr, {}, free), tuple(free.values())
            self._keys[id(expr)] = known
        return known[1], known[2]


def expressions(machine: Machine) -> Iterator[Expr]:
    """Every expression of ``machine``, in the order in which they are written."""
    for action in machine.actions:
        yield from (g.condition for g in action.guards)
        for update in action.updates:
            yield from (update.condition, update.value)
    for claim in _claims(machine):
        yield from ((claim.condition,) if claim.trigger is None else (claim.trigger, claim.condition))


def _claims(machine: Machine) -> list[Any]:
    return [*machine.properties, *machine.terminals, *machine.initial_constraints]


def _below(expr: Expr) -> Sequence[Expr]:
    """What ``expr`` is made of; a chain of one operator is one expression."""
    if isinstance(expr, Op) and expr.op in ("&", "|", "+"):
        return operands(expr, expr.op)
    return children(expr)


def _key(expr: Expr, bound: dict[int, int], free: dict[int, Symbol]) -> Key:
    match expr:
        case Const(raw=raw):
            return ("const", expr.type, raw)
        case Symbol(uid=uid):
            if uid in bound:
                return ("bound", bound[uid])
            free.setdefault(uid, expr)
            return ("free", list(free).index(uid))
        case Read(variable=variable, indices=indices):
            return ("read", id(variable), *(_key(i, bound, free) for i in indices))
        case Lookup(table=table, indices=indices):
            return ("lookup", id(table), *(_key(i, bound, free) for i in indices))
        case Quantified(kind=kind, symbols=symbols, body=body):
            inner = bound | {s.uid: len(bound) + i for i, s in enumerate(symbols)}
            domains = tuple(s.domain for s in symbols)
            return (kind, domains, _key(body, inner, free))
        case Op(op=op) if op in ("&", "|"):
            return (op, *(_key(each, bound, free) for each in operands(expr, op)))
        case Op(op=op, args=args):
            return (op, *(_key(each, bound, free) for each in args))
        case _:
            return (type(expr).__name__, *(_key(each, bound, free) for each in children(expr)))


def same(one: Expr, other: Expr) -> bool:
    """Whether both are written alike, with the same symbols."""
    symbols: dict[int, Symbol] = {}
    return _key(one, {}, symbols) == _key(other, {}, symbols)


def _size(expr: Expr) -> int:
    """How many operators, cells and constants it takes to write it down."""
    return sum(1 for _ in _tree(expr))


def _tree(expr: Expr) -> Iterator[Expr]:
    todo = [expr]
    while todo:
        each = todo.pop()
        yield each
        if not isinstance(each, (Read, Lookup)):
            todo += children(each)


def _helper(expr: Expr, own: set[str]) -> str | None:
    """The function that built it, if that is no action or property (``own``) itself."""
    name = _function_at(expr.at)
    return None if name is None or name in own or name.startswith("__") else name.strip("_") or name


def _name(expr: Expr, own: set[str]) -> str:
    """What it is called: as the function that built it, or after what it is made of."""
    helper = _helper(expr, own)
    if helper is not None:
        return helper
    read = dict.fromkeys(e.variable.name for e in walk(expr) if isinstance(e, Read))
    kind = expr.kind if isinstance(expr, Quantified) else "value" if expr.type == INT else "condition"
    return "_".join([kind, "of", *list(read)[:3]])


def _function_at(at: Location) -> str | None:
    """The innermost function that line ``at`` is in."""
    found = [f for f in _functions(at.file) if f[1] <= at.line <= f[2]]
    return min(found, key=lambda f: f[2] - f[1])[0] if found else None


@functools.lru_cache(maxsize=64)
def _functions(file: str) -> tuple[tuple[str, int, int], ...]:
    """Name, first and last line of every function in ``file``."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ()
    return tuple(
        (node.name, node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    )


__all__ = ["Definition", "Derived", "expressions", "same"]

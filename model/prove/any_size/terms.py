"""Expressions taken apart and put together again, simplified: what the other modules of this folder compute with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from model.language import After, Const, Expr, Ite, Location, Lookup, Op, Quantified, Read, Sort, Symbol
from model.language.types import BOOL, INT, Type
from model.language.walking import children

TRUE, FALSE, ZERO, ONE = Const(True), Const(False), Const(0), Const(1)


class Unreadable(Exception):
    """Something in a spec about which nothing can be proved for any size; the message says what, and where."""

    def __init__(self, message: str, at: Location | None = None) -> None:
        super().__init__(f"{at}: {message}" if at else message)


def is_const(expr: Expr, raw: int) -> bool:
    """Whether ``expr`` is the literal of this raw value."""
    return isinstance(expr, Const) and expr.raw == raw


def rebuilt(expr: Expr, parts: Sequence[Expr]) -> Expr:
    """``expr`` with other children, simplified."""
    match expr:
        case Read(variable=variable):
            return Read(variable, tuple(parts))
        case Lookup(table=table):
            return Lookup(table, tuple(parts))
        case Op(op=op):
            return op_of(op, expr.type, *parts)
        case Ite():
            return ite_of(*parts)
        case Quantified(kind=kind, symbols=symbols):
            return Quantified(kind, symbols, parts[0])
        case After():
            return After(parts[0])
    return expr


def op_of(op: str, type_: Type, *args: Expr) -> Expr:
    """An operator, with constants worked out."""
    if op == "~":
        return no(args[0])
    left, right = args
    if type_ == BOOL and op in ("&", "|", "=>"):
        return _logic(op, left, right)
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(_WORKED_OUT[op](left.raw, right.raw))
    if op in ("==", "!=") and isinstance(left, Symbol) and isinstance(right, Symbol) and left.uid == right.uid:
        return Const(op == "==")
    if (op in ("+", "-") and is_const(right, 0)) or (op == "*" and is_const(right, 1)):
        return left
    if (op == "+" and is_const(left, 0)) or (op == "*" and is_const(left, 1)):
        return right
    return Op(op, type_, left, right)


def _logic(op: str, left: Expr, right: Expr) -> Expr:
    if op == "=>":
        return (
            either(no(left), right) if isinstance(left, Const) or isinstance(right, Const) else _plain(op, left, right)
        )
    return both(left, right) if op == "&" else either(left, right)


def _plain(op: str, left: Expr, right: Expr) -> Expr:
    return Op(op, BOOL, left, right)


_WORKED_OUT = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def no(a: Expr) -> Expr:
    """What ``a`` is not."""
    if isinstance(a, Const):
        return Const(not a.raw)
    return a.args[0] if isinstance(a, Op) and a.op == "~" else Op("~", BOOL, a)


def both(a: Expr, b: Expr) -> Expr:
    """``a`` and ``b``."""
    if is_const(a, 0) or is_const(b, 1) or a is b:
        return a
    return b if is_const(a, 1) or is_const(b, 0) else _plain("&", a, b)


def either(a: Expr, b: Expr) -> Expr:
    """``a`` or ``b``."""
    if is_const(a, 1) or is_const(b, 0) or a is b:
        return a
    return b if is_const(a, 0) or is_const(b, 1) else _plain("|", a, b)


def all_of(parts: Iterable[Expr]) -> Expr:
    """All of ``parts``."""
    found: Expr = TRUE
    for each in parts:
        found = both(found, each)
    return found


def ite_of(c: Expr, t: Expr, e: Expr) -> Expr:
    """``t`` where ``c`` holds, else ``e``."""
    if isinstance(c, Const):
        return t if c.raw else e
    return t if t is e or (isinstance(t, Const) and is_const(e, t.raw)) else Ite(c, t, e)


def plus(a: Expr, b: Expr) -> Expr:
    """``a + b``."""
    return op_of("+", INT, a, b)


def minus(a: Expr, b: Expr) -> Expr:
    """``a - b``."""
    return op_of("-", INT, a, b)


def times(coefficient: int, a: Expr) -> Expr:
    """``coefficient * a``."""
    return ZERO if coefficient == 0 else op_of("*", INT, Const(coefficient), a)


def same(a: Expr, b: Expr) -> Expr:
    """``a == b``."""
    return op_of("==", BOOL, a, b)


def replaced(expr: Expr, by: Mapping[int, Expr]) -> Expr:
    """``expr`` with the symbols of these uids replaced, simplified."""
    if not by:
        return expr
    if isinstance(expr, Symbol):
        return by.get(expr.uid, expr)
    below = children(expr)
    parts = [replaced(each, by) for each in below]
    return expr if all(a is b for a, b in zip(below, parts, strict=True)) else rebuilt(expr, parts)


def elements(symbols: Iterable[Symbol]) -> tuple[Sort, ...]:
    """Those of ``symbols`` that stand for elements."""
    return tuple(s for s in symbols if isinstance(s, Sort))


@dataclass(frozen=True, slots=True)
class Name:
    """What an expression is, whatever its symbols are called: its text with symbols numbered, and the free ones."""

    text: str
    free: tuple[Symbol, ...]


def name_of(expr: Expr) -> Name:
    """The name of ``expr``: bound symbols are numbered, and so are free ones, each by first use."""
    free: dict[int, tuple[int, Symbol]] = {}
    text = _text(expr, {}, free)
    return Name(text, tuple(s for _, s in free.values()))


def _text(expr: Expr, bound: Mapping[int, str], free: dict[int, tuple[int, Symbol]]) -> str:
    match expr:
        case Const(value=value, raw=raw):
            return str(value) if isinstance(value, (bool, int)) else f"{value}={raw}"
        case Symbol(uid=uid):
            if uid in bound:
                return bound[uid]
            number, _ = free.setdefault(uid, (len(free), expr))
            return f"${number}:{_sort(expr)}"
        case Read(variable=variable, indices=indices):
            return f"{variable.name}[{','.join(_text(i, bound, free) for i in indices)}]"
        case Lookup(table=table, indices=indices):
            return f"{table.name}[{','.join(_text(i, bound, free) for i in indices)}]"
        case Quantified(kind=kind, symbols=symbols, body=body):
            inner = {**bound, **{s.uid: f"%{len(bound) + i}:{_sort(s)}" for i, s in enumerate(symbols)}}
            return f"{kind}<{','.join(inner[s.uid] for s in symbols)}>({_text(body, inner, free)})"
        case Op(op=op, args=args):
            return f"({op} {' '.join(_text(a, bound, free) for a in args)})"
    return f"{type(expr).__name__}({' '.join(_text(c, bound, free) for c in children(expr))})"


def _sort(symbol: Symbol) -> str:
    return type(symbol).__name__ if isinstance(symbol, Sort) else repr(symbol.domain)


def equalities(expr: Expr) -> Iterable[tuple[Symbol, Symbol]]:
    """Pairs of elements that ``expr`` compares, outside of sums, and that no quantifier in it binds."""
    if isinstance(expr, Quantified) and expr.type == BOOL:
        inside = {s.uid for s in expr.symbols}
        yield from (pair for pair in equalities(expr.body) if not inside & {s.uid for s in pair})
    elif isinstance(expr, Op) and expr.op in ("==", "!=") and isinstance(expr.args[0], Sort):
        left, right = expr.args
        assert isinstance(left, Symbol)
        assert isinstance(right, Symbol)
        yield left, right
    elif not isinstance(expr, Quantified):
        for each in children(expr):
            yield from equalities(each)


def decided(expr: Expr, left: Symbol, right: Symbol, equal: bool) -> Expr:
    """``expr`` where the two elements are the same, or are not."""
    if isinstance(expr, Quantified) and expr.type != BOOL:
        return expr
    if isinstance(expr, Op) and expr.op in ("==", "!=") and isinstance(expr.args[0], Sort):
        uids = {s.uid for s in expr.args if isinstance(s, Symbol)}
        return Const(equal == (expr.op == "==")) if uids == {left.uid, right.uid} else expr
    below = children(expr)
    parts = [decided(each, left, right, equal) for each in below]
    return expr if all(a is b for a, b in zip(below, parts, strict=True)) else rebuilt(expr, parts)


def with_value(expr: Expr, part: str, value: bool) -> Expr:
    """``expr`` where each boolean of the text ``part`` (`key_of`) has ``value``."""
    if isinstance(expr, Quantified) and expr.type != BOOL:
        return expr
    if expr.type == BOOL and not isinstance(expr, Const) and key_of(expr) == part:
        return Const(value)
    if isinstance(expr, Quantified):
        return expr
    below = children(expr)
    parts = [with_value(each, part, value) for each in below]
    return expr if all(a is b for a, b in zip(below, parts, strict=True)) else rebuilt(expr, parts)


def key_of(expr: Expr) -> str:
    """The text of ``expr`` with its free symbols told apart: equal for equal expressions."""
    name = name_of(expr)
    return f"{name.text} @ {','.join(str(s.uid) for s in name.free)}"


def freshened(expr: Expr) -> Expr:
    """``expr`` with bound symbols of its own: those of ``enabled`` are the parameters of the action it asks about."""
    if isinstance(expr, Quantified):
        new = tuple(type(s)(s.name) if isinstance(s, Sort) else Symbol(s.name, s.domain) for s in expr.symbols)
        body = replaced(expr.body, {s.uid: n for s, n in zip(expr.symbols, new, strict=True)})
        return Quantified(expr.kind, new, freshened(body))
    below = children(expr)
    parts = [freshened(each) for each in below]
    return expr if all(a is b for a, b in zip(below, parts, strict=True)) else rebuilt(expr, parts)

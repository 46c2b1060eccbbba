"""Walking over expressions: what stands below one, its free symbols, its depth; and building one of many parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.language.expressions import After, Const, Expr, Ite, Lookup, Op, Quantified, Read, Symbol
from model.language.types import BOOL


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions of ``expr``."""
    match expr:
        case Read(indices=indices) | Lookup(indices=indices):
            return indices
        case Op(args=args):
            return args
        case Ite(condition=c, then=t, otherwise=e):
            return (c, t, e)
        case Quantified(body=body) | After(body=body):
            return (body,)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """``expr`` and everything below it, parents first; what is used in several places comes once."""
    seen: set[int] = set()
    todo = [expr]
    while todo:
        each = todo.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            todo.extend(reversed(children(each)))


def free_symbols(expr: Expr, bound: frozenset[int] = frozenset()) -> Iterator[Symbol]:
    """The symbols in ``expr`` that no quantifier inside it binds and that are not in ``bound`` (by uid); each once."""
    seen: set[tuple[int, frozenset[int]]] = set()
    todo = [(expr, bound)]
    while todo:
        each, inside = todo.pop()
        if (id(each), inside) in seen:
            continue
        seen.add((id(each), inside))
        if isinstance(each, Symbol) and each.uid not in inside:
            yield each
        if isinstance(each, Quantified):
            inside = inside | {s.uid for s in each.symbols}
        todo.extend((child, inside) for child in reversed(children(each)))


def substitute(expr: Expr, by: dict[int, Expr]) -> Expr:
    """``expr`` with the symbols of these uids replaced."""
    if not by:
        return expr
    match expr:
        case Symbol(uid=uid):
            return by.get(uid, expr)
        case Read(variable=variable, indices=indices):
            return Read(variable, tuple(substitute(i, by) for i in indices))
        case Lookup(table=table, indices=indices):
            return Lookup(table, tuple(substitute(i, by) for i in indices))
        case Op(op=op, args=args):
            return Op(op, expr.type, *(substitute(x, by) for x in args))
        case Ite(condition=c, then=t, otherwise=e):
            return Ite(substitute(c, by), substitute(t, by), substitute(e, by))
        case Quantified(kind=kind, symbols=symbols, body=body):
            return Quantified(kind, symbols, substitute(body, by))
        case After(body=body):
            return After(substitute(body, by))
        case _:
            return expr


def operands(expr: Expr, op: str) -> list[Expr]:
    """The operands of a chain of ``op``, left to right, without recursion: chains written by machines grow long."""
    found: list[Expr] = []
    todo = [expr]
    while todo:
        each = todo.pop()
        if isinstance(each, Op) and each.op == op:
            todo.extend(reversed(each.args))
        else:
            found.append(each)
    return found


def in_text(expr: Expr) -> str:
    """``expr`` as people read it, without the outermost parentheses."""
    text = repr(expr)
    return text[1:-1] if isinstance(expr, Op) and len(expr.args) == 2 else text


def conjunction(parts: tuple[Expr, ...]) -> Expr:
    """All of ``parts``; TRUE for none."""
    return _joined("&", parts) if parts else Const(True)


def disjunction(parts: Sequence[Expr]) -> Expr:
    """Any of ``parts``; FALSE for none."""
    return _joined("|", parts) if parts else Const(False)


def _joined(op: str, parts: Sequence[Expr]) -> Expr:
    """``parts`` under one operator, in halves: thousands of them stay a dozen levels deep."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return Op(op, BOOL, _joined(op, parts[:half]), _joined(op, parts[half:]))


def levels(expr: Expr) -> int:
    """How many expressions stand one inside the other, at the deepest place."""
    depth: dict[int, int] = {}
    todo = [expr]
    while todo:
        below = children(todo[-1])
        missing = [child for child in below if id(child) not in depth]
        if missing:
            todo += missing
        else:
            depth[id(todo.pop())] = 1 + max((depth[id(child)] for child in below), default=0)
    return depth[id(expr)]

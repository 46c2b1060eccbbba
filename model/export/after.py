"""What ``after`` means to targets that cannot nest it."""

from __future__ import annotations

from model.language import After, Expr, Ite, Op, Quantified
from model.language.walking import walk


def without_after(expr: Expr) -> Expr:
    """``expr``, which is read in the state after: it is the same with ``after`` inside, and primes do not nest."""
    if not any(isinstance(part, After) for part in walk(expr)):
        return expr
    match expr:
        case After(body=body):
            return without_after(body)
        case Op(op=op, args=args):
            return Op(op, expr.type, *map(without_after, args))
        case Ite(condition=c, then=t, otherwise=e):
            return Ite(*map(without_after, (c, t, e)))
        case Quantified(kind=kind, symbols=symbols, body=body):
            return Quantified(kind, symbols, without_after(body))
        case _:
            return expr

"""Expressions in words: with the elements that an action's arguments name, and no more parentheses than needed.

What is written here `model.query` can read, where elements have plain names.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.language import After, Const, Expr, Ite, Lookup, Machine, Op, Quantified, Read, Symbol
from model.language.types import BOOL, EnumType

_STRENGTH = {
    "|": 1,
    "&": 2,
    "~": 3,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 4),
    "+": 5,
    "-": 5,
    **dict.fromkeys(("*", "//", "%"), 6),
}
_WORDS = {"|": "or", "&": "and"}
_COMPARISON = 4
_ATOM = 8


class Wording:
    """Writes expressions of one machine as a person would read them aloud from the spec."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def text(self, expr: Expr, env: Mapping[int, int]) -> str:
        """``expr`` with the values of the symbols in ``env`` (raw, by uid); other symbols by their names."""
        return self._text(expr, env)[0]

    def value(self, expr: Expr, raw: int) -> int | bool | str:
        """``raw`` as a value of the type of ``expr``."""
        if isinstance(expr.type, EnumType):
            return expr.type.members[raw].name
        return bool(raw) if expr.type == BOOL else raw

    def _text(self, expr: Expr, env: Mapping[int, int]) -> tuple[str, int]:
        """The text, and how strongly it holds together."""
        match expr:
            case Const(value=value):
                shown = getattr(value, "name", None) or (str(value).lower() if isinstance(value, bool) else str(value))
                return str(shown), _ATOM
            case Symbol(uid=uid, name=name, domain=domain):
                return (self._machine.show(domain, env[uid]) if uid in env else name), _ATOM
            case Read(variable=variable, indices=indices):
                return self._indexed(variable.name, indices, env), _ATOM
            case Lookup(table=table, indices=indices):
                return self._indexed(table.name, indices, env), _ATOM
            case After(body=body):
                return f"after({self.text(body, env)})", _ATOM
            case Ite(condition=c, then=t, otherwise=e):
                return f"ite({', '.join(self.text(x, env) for x in (c, t, e))})", _ATOM
            case Op(op="=>", args=args):
                return f"implies({', '.join(self.text(x, env) for x in args)})", _ATOM
            case Op(op="~", args=(arg,)):
                return f"not {self._within(arg, env, _COMPARISON)}", _STRENGTH["~"]
            case Op(op=op, args=(left, right)):
                strength = _STRENGTH[op]
                # A comparison of a comparison would read as a chain.
                first = self._within(left, env, strength + (strength == _COMPARISON))
                return f"{first} {_WORDS.get(op, op)} {self._within(right, env, strength + 1)}", strength
            case Quantified(kind=kind, symbols=symbols, body=body):
                loops = " ".join(f"for {s.name} in {self._domain(s)}" for s in symbols)
                return f"{kind}({self.text(body, env)} {loops})", _ATOM
        raise TypeError(f"not an expression: {expr!r}")

    def _within(self, expr: Expr, env: Mapping[int, int], strength: int) -> str:
        text, own = self._text(expr, env)
        return text if own >= strength else f"({text})"

    def _indexed(self, name: str, indices: tuple[Expr, ...], env: Mapping[int, int]) -> str:
        return name + (f"[{', '.join(self.text(i, env) for i in indices)}]" if indices else "")

    def _domain(self, symbol: Symbol) -> str:
        domain = symbol.domain
        return f"{domain.start}..{domain.stop - 1}" if isinstance(domain, range) else domain.__name__


__all__ = ["Wording"]

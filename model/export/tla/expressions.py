"""Expressions in TLA+: on one line where they fit, else over several, as people lay them out."""

from __future__ import annotations

import textwrap

from model.export.after import without_after
from model.export.tla.derived import Derived, same
from model.export.tla.names import Names, Naming, integer, quoted, sort_of
from model.language import After, Const, Expr, Ite, Lookup, Op, Quantified, Read, Symbol
from model.language.types import INT, EnumType
from model.language.walking import operands

WIDTH = 100
MOST = 2**31 - 1
"""TLC's integers have 32 bits."""

_SIGNS = {sign: sign for sign in ("=>", "<", "<=", ">", ">=", "+", "-", "*", "%")}
_SIGNS |= {"&": "/\\", "|": "\\/", "==": "=", "!=": "#", "//": "\\div"}
_LEVELS = {"=>": 1, "&": 3, "|": 3, "~": 4, "+": 10, "-": 11, "*": 13, "//": 13, "%": 13}
_LEVELS |= dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 5)
_REMAINDER = 6  # TLA+ does not say whether it or + comes first: whatever is computed from it has it in parentheses
_OPEN = 0
_ATOM = 20
"""How tightly what is written binds: that of an operator, of ``IF`` and quantifiers, of what needs no parentheses."""


class Writer:
    """Writes expressions; notes which helper operators they need."""

    def __init__(self, naming: Naming, derived: Derived) -> None:
        self.naming = naming
        self.derived = derived
        self.helpers = {name: naming.fresh(name) for name in ("Sum", "Min", "Max")}
        self.positions: dict[type, str] = {}
        self.needed: set[str] = set()

    # ---- on one line

    def flat(self, expr: Expr, names: Names, above: int = _OPEN, *, definition: bool = False) -> str:
        """``expr`` on one line, in parentheses if what stands around it binds more tightly than it does.

        ``definition``: it is the body of a definition, whose name does not stand for it.
        """
        text, level = self._flat(expr, names, definition)
        return f"({text})" if level < above else text

    def _flat(self, expr: Expr, names: Names, definition: bool) -> tuple[str, int]:
        if not definition and (found := self.derived.use(expr)) is not None:
            return self.call(found[0].name, [names[s.uid] for s in found[1]]), _ATOM
        match expr:
            case Const(raw=raw):
                return self._constant(expr, raw), _ATOM
            case Symbol(uid=uid):
                return names[uid], _ATOM
            case Read(variable=array, indices=indices):
                return self.cell(self.naming.of(array), [self.flat(i, names) for i in indices]), _ATOM
            case Lookup(table=array, indices=indices):
                return self.cell(self.naming.of(array), [self.flat(i, names) for i in indices]), _ATOM
            case After(body=body):
                return f"({self.flat(without_after(body), names)})'", _ATOM
            case Ite(condition=c, then=t, otherwise=e):
                parts = [self.flat(x, names) for x in (c, t, e)]
                return "IF {} THEN {} ELSE {}".format(*parts), _OPEN
            case Quantified():
                return self._quantified(expr, names)
            case Op(op="~", args=(Op(op="~", args=(arg,)),)):
                return self._flat(arg, names, False)
            case Op(op="~", args=(arg,)):
                return f"~{self.flat(arg, names, _ATOM)}", _LEVELS["~"]
            case Op():
                return self._operator(expr, names)
        raise TypeError(f"not an expression: {type(expr).__name__}")

    def _constant(self, expr: Const, raw: int) -> str:
        if expr.type == INT:
            return integer(raw)
        return quoted(expr.value.name) if isinstance(expr.type, EnumType) else ("FALSE", "TRUE")[raw]  # type: ignore[union-attr]

    def _operator(self, expr: Op, names: Names) -> tuple[str, int]:
        options = _options(expr)
        if options is not None:
            what, values = options
            return f"{self.flat(what, names, 6)} \\in {{{', '.join(self.flat(v, names) for v in values)}}}", 5
        level, sign = _LEVELS[expr.op], _SIGNS[expr.op]
        if expr.op in ("&", "|", "+"):
            every = operands(expr, expr.op)
            return f" {sign} ".join(self.flat(each, names, level + 1) for each in every), level
        left, right = expr.args
        if (sort := sort_of(left) if isinstance(left, Symbol) else None) and expr.op not in ("==", "!="):
            order = self.position(sort)
            return f"{order}[{self.flat(left, names)}] {sign} {order}[{self.flat(right, names)}]", level
        text = f"{self.flat(left, names, level + 1)} {sign} {self.flat(right, names, level + 1)}"
        return text, _REMAINDER if expr.op == "%" else level

    def position(self, sort: type) -> str:
        """The function from the elements of an ordered sort to their places."""
        if sort not in self.positions:
            self.positions[sort] = self.naming.fresh(f"{sort.__name__}Place")
        return self.positions[sort]

    def helper(self, name: str) -> str:
        """The name of one of the module's own operators, which it then defines."""
        self.needed.add(name)
        return self.helpers[name]

    def _quantified(self, expr: Quantified, names: Names) -> tuple[str, int]:
        inner = self.naming.bind(expr.symbols, names)
        opening, closing, level = self._around(expr, inner)
        return f"{opening}{self.flat(expr.body, inner)}{closing}", level

    def _around(self, expr: Quantified, inner: Names) -> tuple[str, str, int]:
        """What stands before and after the body of a quantifier, and how tightly the whole binds."""
        bounds = self.bounds(expr.symbols, inner)
        match expr.kind:
            case "all":
                return f"\\A {bounds} : ", "", _OPEN
            case "any":
                return f"\\E {bounds} : ", "", _OPEN
            case "sum":
                return f"{self.helper('Sum')}([{bounds} |-> ", "])", _ATOM
            case "count":
                return f"Cardinality({{{self.member(expr.symbols, inner)} : ", "})", _ATOM
        # The bounds of a set of values come after them.
        return f"{self.helper(expr.kind.capitalize())}({{", f" : {bounds}}})", _ATOM

    # ---- over several lines

    def block(self, expr: Expr, names: Names, room: int = WIDTH, *, definition: bool = False) -> list[str]:
        """``expr`` as lines of at most ``room`` columns where that can be."""
        flat = self.flat(expr, names, definition=definition)
        if len(flat) <= room or (not definition and self.derived.use(expr) is not None):
            return [flat]
        match expr:
            case Op(op="&" | "|" as op) if _options(expr) is None:
                return [
                    line
                    for each in operands(expr, op)
                    for line in hanging(f"{_SIGNS[op]} ", self.block(each, names, room - 3))
                ]
            case Op(op="=>", args=(premise, conclusion)):
                return [*self._premise(premise, names, room), *indented(self._inner(conclusion, names, room - 2))]
            case Op(op="~", args=(arg,)):
                return hanging("~", self._inner(arg, names, room - 1))
            case Op(op=op) if op in _SIGNS and _options(expr) is None and not _orders(expr):
                first, *rest = operands(expr, op) if op == "+" else list(expr.args)
                lines = self._inner(first, names, room - 1, _LEVELS[op])
                for each in rest:
                    lines += hanging(f"  {_SIGNS[op]} ", self._inner(each, names, room - 4, _LEVELS[op]))
                return lines
            case Ite(condition=c, then=t, otherwise=e):
                return [
                    *hanging("IF ", self.block(c, names, room - 3)),
                    *hanging("  THEN ", self.block(t, names, room - 7)),
                    *hanging("  ELSE ", self.block(e, names, room - 7)),
                ]
            case Quantified(symbols=symbols, body=body):
                inner = self.naming.bind(symbols, names)
                opening, closing, _ = self._around(expr, inner)
                lines = [opening.rstrip(), *indented(self.block(body, inner, room - 2))]
                return [*lines[:-1], lines[-1] + closing]
            case After(body=body):
                lines = hanging("(", self.block(without_after(body), names, room - 1))
                return [*lines[:-1], lines[-1] + ")'"]
        return [flat]

    def _premise(self, premise: Expr, names: Names, room: int) -> list[str]:
        lines = self._inner(premise, names, room - 3)
        return [*lines[:-1], f"{lines[-1]} =>"]

    def _inner(self, expr: Expr, names: Names, room: int, level: int = 1) -> list[str]:
        """A block that can stand beside an operator of ``level``."""
        flat = self.flat(expr, names, level + 1)
        if len(flat) <= room:
            return [flat]
        lines = hanging("(", self.block(expr, names, room - 2))
        return [*lines[:-1], lines[-1] + ")"]

    # ---- pieces

    def bounds(self, symbols: tuple[Symbol, ...], names: Names) -> str:
        """``a \\in App, n \\in Node``."""
        return ", ".join(f"{names[s.uid]} \\in {self.naming.domain(s.domain)}" for s in symbols)

    def member(self, symbols: tuple[Symbol, ...], names: Names) -> str:
        """``a \\in App``, and of several ``<<a, n>> \\in App \\X Node``."""
        if len(symbols) == 1:
            return self.bounds(symbols, names)
        tuple_ = ", ".join(names[s.uid] for s in symbols)
        return f"<<{tuple_}>> \\in {self.product(s.domain for s in symbols)}"

    def product(self, domains: object) -> str:
        """``App \\X Node``."""
        sets = [self.naming.domain(d) for d in domains]  # type: ignore[attr-defined]
        return " \\X ".join(f"({s})" if ".." in s and len(sets) > 1 else s for s in sets)

    def call(self, name: str, arguments: list[str]) -> str:
        """``used(n)``, ``total``."""
        return f"{name}({', '.join(arguments)})" if arguments else name

    def cell(self, name: str, indices: list[str]) -> str:
        """``state[a]``."""
        return f"{name}[{', '.join(indices)}]" if indices else name


def _options(expr: Op) -> tuple[Expr, list[Expr]] | None:
    """``x == A | x == B`` as ``x`` and the values."""
    if expr.op != "|":
        return None
    every = operands(expr, "|")
    pairs = [e.args for e in every if isinstance(e, Op) and e.op == "==" and isinstance(e.args[1], Const)]
    if len(pairs) < len(every) or not all(same(left, pairs[0][0]) for left, _ in pairs):
        return None
    return pairs[0][0], [value for _, value in pairs]


def _orders(expr: Op) -> bool:
    return any(isinstance(a, Symbol) and sort_of(a) is not None for a in expr.args)


def comment(text: str) -> list[str]:
    """``text`` as a comment, paragraph by paragraph."""
    paragraphs = [" ".join(p.split()) for p in text.strip().split("\n\n") if p]
    return [
        f"\\* {line}".rstrip()
        for paragraph in paragraphs
        for line in textwrap.wrap(paragraph, WIDTH - 3, break_long_words=False) or [""]
    ]


def indented(lines: list[str]) -> list[str]:
    """``lines``, two columns further right."""
    return ["  " + line for line in lines]


def hanging(prefix: str, lines: list[str]) -> list[str]:
    """``lines`` after ``prefix``: the others stand under the first."""
    return [(prefix if i == 0 else " " * len(prefix)) + line for i, line in enumerate(lines)]


__all__ = ["MOST", "WIDTH", "Writer", "comment", "hanging", "indented"]

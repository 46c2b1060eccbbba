"""Ground expressions as SMT-LIB terms over the integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from model.lowering.ground import Node, parts
from model.prove.certificate.cells import CellNames
from model.prove.certificate.syntax import SExpr, number

_LEAST_SHARED = 16
_MOST_DEEP = 25
_MOST_CASES = 16
_OPERATORS = {"+": "+", "-": "-", "==": "=", "same": "=", "<": "<", "and": "and", "or": "or"}


class Terms:
    """Writes expressions in state ``state`` of a run. ``named``: symbols for expressions that are defined already."""

    def __init__(self, cells: CellNames, state: int, named: Mapping[int, str] | None = None) -> None:
        self._cells: Final = cells
        self._state: Final = state
        self._named: Final = named or {}
        self._known: Final[dict[int, SExpr]] = {}

    def of(self, node: Node) -> SExpr:
        """``node``, by its name if it has one."""
        return self._named[node.number] if node.number in self._named else self.written_out(node)

    def written_out(self, node: Node) -> SExpr:
        """``node``; what it is made of, by name where that has one."""
        found = self._known.get(node.number)
        if found is None:
            found = self._known[node.number] = self._write(node)
        return found

    def _write(self, node: Node) -> SExpr:
        match node.op:
            case "const":
                return ("false", "true")[node.value] if node.boolean else number(node.value)
            case "cell":
                return self._cells.cell(node.value, self._state)
            case "next":
                return self._cells.cell(node.value, self._state + 1)
            case "not":
                return self._not(node.args[0])
            case "//" | "%":
                # Of a positive divisor SMT-LIB says what Python does: rounded down, never negative.
                return ("div" if node.op == "//" else "mod", self.of(node.args[0]), number(node.value))
            case "*":
                return self._product(*node.args)
            case "int":
                return ("ite", self.of(node.args[0]), "1", "0")
            case "min" | "max":
                a, b = map(self.of, node.args)
                return ("ite", ("<=" if node.op == "min" else ">=", a, b), a, b)
            case "==" if node.args[0].op in ("cell", "next") and node.args[1].op == "const":
                return ("=", self.of(node.args[0]), self._cells.value(node.args[0].value, node.args[1].value))
            case "ite":
                return ("ite", *map(self.of, node.args))
        return (_OPERATORS[node.op], *map(self.of, node.args))

    def _not(self, node: Node) -> SExpr:
        if node.number not in self._named:
            if node.op in ("and", "or"):
                return ("or" if node.op == "and" else "and", *map(self._negated, node.args))
            if node.op == "<":
                return (">=", *map(self.of, node.args))
        return ("not", self.of(node))

    def _negated(self, node: Node) -> SExpr:
        return self.of(node.args[0]) if node.op == "not" else self._not(node)

    def _product(self, a: Node, b: Node) -> SExpr:
        """Linear where it can be: by the cases of the factor that has fewer values."""
        if a.high - a.low < b.high - b.low:
            a, b = b, a
        factor, other = self.of(b), self.of(a)
        if b.low == b.high or b.high - b.low >= _MOST_CASES:
            return ("*", factor, other)
        found: SExpr = ("*", number(b.high), other)
        for value in range(b.high - 1, b.low - 1, -1):
            found = ("ite", ("=", factor, number(value)), ("*", number(value), other), found)
        return found


def is_linear(nodes: Iterable[Node]) -> bool:
    """Whether no product stays one of two unknowns."""
    return all(n.op != "*" or min(a.high - a.low for a in n.args) < _MOST_CASES for n in nodes)


def shared(roots: list[Node]) -> list[Node]:
    """What deserves a name, operands first: it is long and used more than once, or would nest too deeply."""
    nodes = parts(roots)
    uses = Counter(a.number for n in nodes for a in n.args)
    uses.update(n.number for n in roots)
    size: dict[int, int] = {}
    depth: dict[int, int] = {}
    found = []
    for node in nodes:
        size[node.number] = 1 + sum(size[a.number] for a in node.args)
        depth[node.number] = 1 + max((depth[a.number] for a in node.args), default=0)
        if (uses[node.number] > 1 and size[node.number] >= _LEAST_SHARED) or depth[node.number] > _MOST_DEEP:
            found.append(node)
            size[node.number] = depth[node.number] = 1
    return found


__all__ = ["Terms", "is_linear", "parts", "shared"]

"""Ground expressions: no symbols and no quantifiers, each distinct one built once.

A `Graph` hands out `Node`s. Equal nodes are the same object (hash-consing), so what guards, updates and properties
share is computed once per state. Building folds constants and what intervals decide: every integer node carries the
least and the greatest value it can take, and one that could leave 64 bits is refused. All operators are total, so a
node may be computed earlier than where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from model.language import Location, SpecError

LEAST: Final = -(2**63)
GREATEST: Final = 2**63 - 1


class Node:
    """One ground expression.

    ``op``: ``const cell next`` (``value`` is the constant or the number of the cell; ``next`` reads the state after
    the step), ``+ - * // % min max`` and ``int`` (of a boolean) on integers, ``== <`` on integers, ``and or not
    same`` on booleans (``same``: both equal), ``ite`` on either. ``low`` and ``high`` bound the value; ``number``
    orders nodes so that operands come first.
    """

    __slots__ = ("args", "boolean", "high", "low", "number", "op", "value")

    def __init__(
        self, op: str, args: tuple[Node, ...], value: int, boolean: bool, low: int, high: int, number: int
    ) -> None:
        self.op = op
        self.args = args
        self.value = value
        self.boolean = boolean
        self.low = low
        self.high = high
        self.number = number

    def __repr__(self) -> str:
        if self.op in ("const", "cell", "next"):
            return f"{self.op}:{self.value}"
        return f"({self.op} {' '.join(map(repr, self.args))})"


class Graph:
    """All ground expressions of one machine. ``at`` is the spec's line that is being lowered, for messages."""

    def __init__(self) -> None:
        self.at: Location | None = None
        self.nodes: list[Node] = []
        self._known: dict[tuple[str, tuple[int, ...], int, bool], Node] = {}
        self.true: Final = self._node("const", (), 1, True, 1, 1)
        self.false: Final = self._node("const", (), 0, True, 0, 0)

    def _node(self, op: str, args: tuple[Node, ...], value: int, boolean: bool, low: int, high: int) -> Node:
        key = (op, tuple(a.number for a in args), value, boolean)
        found = self._known.get(key)
        if found is None:
            if low < LEAST or high > GREATEST:
                raise SpecError(f"an expression may take values from {low} to {high}, which leaves 64 bits", self.at)
            found = Node(op, args, value, boolean, low, high, len(self.nodes))
            self.nodes.append(found)
            self._known[key] = found
        return found

    # ---- leaves

    def const(self, value: int) -> Node:
        """An integer."""
        return self._node("const", (), value, False, value, value)

    def truth(self, value: bool) -> Node:
        """TRUE or FALSE."""
        return self.true if value else self.false

    def cell(self, number: int, values: range, boolean: bool, after: bool = False) -> Node:
        """The value of a cell in the state, or in the state ``after`` the step."""
        low, high = values.start, values.stop - 1
        if low == high:
            return self.truth(bool(low)) if boolean else self.const(low)
        return self._node("next" if after else "cell", (), number, boolean, low, high)

    # ---- integers

    def add(self, a: Node, b: Node) -> Node:
        """``a + b``."""
        if a.op == "const":
            a, b = b, a
        if b.op == "const":
            if a.op == "const":
                return self.const(a.value + b.value)
            if b.value == 0:
                return a
            if a.op == "+" and a.args[1].op == "const":
                return self.add(a.args[0], self.const(a.args[1].value + b.value))
        return self._node("+", (a, b), 0, False, a.low + b.low, a.high + b.high)

    def sub(self, a: Node, b: Node) -> Node:
        """``a - b``."""
        if b.op == "const":
            return self.add(a, self.const(-b.value))
        if a is b:
            return self.const(0)
        return self._node("-", (a, b), 0, False, a.low - b.high, a.high - b.low)

    def mul(self, a: Node, b: Node) -> Node:
        """``a * b``."""
        if a.op == "const":
            a, b = b, a
        if b.op == "const":
            if a.op == "const" or b.value == 0:
                return self.const(a.value * b.value if a.op == "const" else 0)
            if b.value == 1:
                return a
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return self._node("*", (a, b), 0, False, min(corners), max(corners))

    def div(self, a: Node, by: int) -> Node:
        """``a // by``, rounded down; ``by`` is positive."""
        if by == 1:
            return a
        low, high = a.low // by, a.high // by
        return self.const(low) if low == high else self._node("//", (a,), by, False, low, high)

    def mod(self, a: Node, by: int) -> Node:
        """``a - (a // by) * by``, never negative; ``by`` is positive."""
        if a.low // by == a.high // by:
            return self.add(a, self.const(-(a.low // by) * by))
        return self._node("%", (a,), by, False, 0, by - 1)

    def least(self, a: Node, b: Node) -> Node:
        """The smaller of two."""
        if a is b or a.high <= b.low:
            return a
        return b if b.high <= a.low else self._node("min", (a, b), 0, False, min(a.low, b.low), min(a.high, b.high))

    def greatest(self, a: Node, b: Node) -> Node:
        """The larger of two."""
        if a is b or a.low >= b.high:
            return a
        return b if b.low >= a.high else self._node("max", (a, b), 0, False, max(a.low, b.low), max(a.high, b.high))

    def integer(self, a: Node) -> Node:
        """A boolean as 0 or 1."""
        return self.const(a.value) if a.op == "const" else self._node("int", (a,), 0, False, 0, 1)

    def ite(self, condition: Node, then: Node, otherwise: Node) -> Node:
        """``then`` where ``condition`` holds, else ``otherwise``."""
        if condition.op == "const":
            return then if condition.value else otherwise
        if then is otherwise:
            return then
        if condition.op == "not":
            return self.ite(condition.args[0], otherwise, then)
        if then.boolean:
            if then.op == "const":
                return self.either([condition, otherwise]) if then.value else self.both([self.no(condition), otherwise])
            if otherwise.op == "const":
                return self.either([self.no(condition), then]) if otherwise.value else self.both([condition, then])
        low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
        return self._node("ite", (condition, then, otherwise), 0, then.boolean, low, high)

    # ---- comparisons

    def equal(self, a: Node, b: Node) -> Node:
        """``a == b``, of two integers or two booleans."""
        if a is b:
            return self.true
        if a.boolean:
            return self._same(a, b)
        if a.high < b.low or b.high < a.low:
            return self.false
        if a.op == "const":
            a, b = b, a
        if b.op == "const":
            if a.op == "const":
                return self.truth(a.value == b.value)
            if a.op == "+" and a.args[1].op == "const":
                return self.equal(a.args[0], self.const(b.value - a.args[1].value))
            if a.op == "ite" and any(x.op == "const" for x in a.args[1:]):
                condition, then, otherwise = a.args
                return self.ite(condition, self.equal(then, b), self.equal(otherwise, b))
            if a.op == "int":
                return a.args[0] if b.value else self.no(a.args[0])
        elif a.number > b.number:
            a, b = b, a
        return self._node("==", (a, b), 0, True, 0, 1)

    def _same(self, a: Node, b: Node) -> Node:
        if a.op == "const":
            a, b = b, a
        if b.op == "const":
            return a if b.value else self.no(a)
        if a is self.no(b):
            return self.false
        if a.number > b.number:
            a, b = b, a
        return self._node("same", (a, b), 0, True, 0, 1)

    def less(self, a: Node, b: Node) -> Node:
        """``a < b``."""
        if a is b or a.low >= b.high:
            return self.false
        if a.high < b.low:
            return self.true
        if b.op == "const" and a.op == "+" and a.args[1].op == "const":
            return self.less(a.args[0], self.const(b.value - a.args[1].value))
        if a.op == "const" and b.op == "+" and b.args[1].op == "const":
            return self.less(self.const(a.value - b.args[1].value), b.args[0])
        # At the edge of its interval an inequality is an equality, on which successors can be switched.
        if b.op == "const" and b.value == a.low + 1:
            return self.equal(a, self.const(a.low))
        if a.op == "const" and a.value == b.high - 1:
            return self.equal(b, self.const(b.high))
        return self._node("<", (a, b), 0, True, 0, 1)

    # ---- booleans

    def no(self, a: Node) -> Node:
        """``not a``."""
        if a.op == "const":
            return self.truth(not a.value)
        return a.args[0] if a.op == "not" else self._node("not", (a,), 0, True, 0, 1)

    def both(self, parts: Iterable[Node]) -> Node:
        """All of ``parts``."""
        return self._chain("and", parts, self.true, self.false)

    def either(self, parts: Iterable[Node]) -> Node:
        """Any of ``parts``."""
        return self._chain("or", parts, self.false, self.true)

    def _chain(self, op: str, parts: Iterable[Node], neutral: Node, absorbing: Node) -> Node:
        kept: dict[int, Node] = {}
        fixed: dict[int, int] = {}
        for part in parts:
            if part is absorbing or self.no(part).number in kept:
                return absorbing
            if part is neutral:
                continue
            if op == "and" and (known := equality(part)) is not None:
                subject, value = known
                if fixed.setdefault(subject.number, value) != value:
                    return absorbing
            kept[part.number] = part
        if not kept:
            return neutral
        args = tuple(kept[number] for number in sorted(kept))
        return args[0] if len(args) == 1 else self._node(op, args, 0, True, 0, 1)

    def rebuild(self, node: Node, args: Sequence[Node]) -> Node:
        """``node`` with other operands, folded again."""
        match node.op:
            case "and":
                return self.both(args)
            case "or":
                return self.either(args)
            case "//":
                return self.div(args[0], node.value)
            case "%":
                return self.mod(args[0], node.value)
            case "const" | "cell" | "next":
                return node
        build: dict[str, Callable[..., Node]] = {
            "+": self.add,
            "-": self.sub,
            "*": self.mul,
            "min": self.least,
            "max": self.greatest,
            "int": self.integer,
            "==": self.equal,
            "same": self.equal,
            "<": self.less,
            "not": self.no,
            "ite": self.ite,
        }
        return build[node.op](*args)

    def fold(self, step: Callable[[Node, Node], Node], parts: Sequence[Node]) -> Node:
        """``step`` over one or more ``parts``, as a balanced tree: the machine computes its branches side by side."""
        while len(parts) > 1:
            paired = [step(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = paired + ([parts[-1]] if len(parts) % 2 else [])
        return parts[0]


def equality(node: Node) -> tuple[Node, int] | None:
    """``(x, c)`` if ``node`` says that x equals the constant c; a boolean cell equals 1, its negation 0."""
    if node.op == "==" and node.args[1].op == "const":
        return node.args[0], node.args[1].value
    if node.op == "cell" and node.boolean:
        return node, 1
    if node.op == "not" and node.args[0].op == "cell":
        return node.args[0], 0
    return None


def parts(roots: Iterable[Node]) -> list[Node]:
    """``roots`` and all that they are made of, operands first."""
    seen: dict[int, Node] = {}
    open_ = list(roots)
    while open_:
        node = open_.pop()
        if node.number not in seen:
            seen[node.number] = node
            open_ += node.args
    return [seen[n] for n in sorted(seen)]


__all__ = ["Graph", "Node", "equality", "parts"]

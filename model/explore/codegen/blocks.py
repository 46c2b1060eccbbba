"""LLVM text for ground expressions: every value is computed once, in the innermost place that all its uses share.

A function's body is a tree of `Region`s, each a chain of basic blocks that dominates the regions inside it. First
every use of a node is told (`Placement.use`), then `Placement.settle` finds for each node the lowest region that
contains all its uses, then text is written; a node's text goes to the end of the open block of its region when it is
first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.explore.layout import Layout
from model.lowering.ground import Graph, Node

_CHEAP = ("==", "<", "+", "not", "int")


class Region:
    """A chain of basic blocks; ``lines`` is the text of the open one, ``names`` are of values that only it uses."""

    __slots__ = ("depth", "lines", "names", "parent")

    def __init__(self, parent: Region | None) -> None:
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.lines: list[str] = []
        self.names: dict[int, str] = {}

    def meet(self, other: Region) -> Region:
        """The innermost region that contains both."""
        a: Region = self
        b: Region = other
        while a is not b:
            if a.depth >= b.depth and a.parent is not None:
                a = a.parent
            elif b.parent is not None:
                b = b.parent
        return a


class Placement:
    """Where each node is computed, and its name once it is. The root region has the state's words, ``%w0 %w1 ...``."""

    def __init__(self, graph: Graph, layout: Layout) -> None:
        self._graph = graph
        self._layout = layout
        self._place: dict[int, Region] = {}
        self._names: dict[int, str] = {}
        self._light: dict[int, bool] = {}
        self._count = 0

    def use(self, nodes: Iterable[Node], region: Region) -> None:
        """Say that ``nodes`` are used in ``region``."""
        for node in nodes:
            known = self._place.get(node.number)
            self._place[node.number] = region if known is None else known.meet(region)

    def settle(self) -> None:
        """Place what the used nodes are made of. Operands have lower numbers, so one pass from the top is enough."""
        open_ = dict(self._place)
        for number in range(max(open_, default=-1), -1, -1):
            region = self._place.get(number)
            if region is not None:
                self.use(self._graph.nodes[number].args, region)

    def value(self, node: Node, region: Region) -> str:
        """The name in ``region`` of ``node``'s value (i1 for booleans, else i64); its text is written if it has
        none."""
        if node.op == "const":
            return ("false", "true")[node.value] if node.boolean else str(node.value)
        light = self._is_light(node)
        names = region.names if light else self._names
        name = names.get(node.number)
        if name is None:
            place = region if light else self._place[node.number]
            args = [self.value(a, place) for a in node.args]
            self._count += light
            name = f"%v{node.number}.l{self._count}" if light else f"%v{node.number}"
            place.lines += self._text(node, name, args)
            names[node.number] = name
        return name

    def _is_light(self, node: Node) -> bool:
        """Whether to compute it again in each region: that is cheaper than to keep hundreds of such values at hand."""
        found = self._light.get(node.number)
        if found is None:
            found = node.op == "cell" or (
                node.op in _CHEAP
                and all(a.op == "const" or self._is_light(a) for a in node.args)
                and sum(a.op != "const" for a in node.args) == 1
            )
            self._light[node.number] = found
        return found

    def _text(self, node: Node, name: str, args: list[str]) -> list[str]:
        match node.op:
            case "cell":
                return self._cell(node, name)
            case "+" | "-" | "*" as op:
                word = {"+": "add", "-": "sub", "*": "mul"}[op]
                return [f"{name} = {word} nsw i64 {args[0]}, {args[1]}"]
            case "//" | "%":
                return _divide(node, name, args[0])
            case "min" | "max" as op:
                return [f"{name} = call i64 @llvm.s{op}.i64(i64 {args[0]}, i64 {args[1]})"]
            case "int":
                return [f"{name} = zext i1 {args[0]} to i64"]
            case "==":
                return [f"{name} = icmp eq i64 {args[0]}, {args[1]}"]
            case "same":
                return [f"{name} = icmp eq i1 {args[0]}, {args[1]}"]
            case "<":
                return [f"{name} = icmp slt i64 {args[0]}, {args[1]}"]
            case "not":
                return [f"{name} = xor i1 {args[0]}, true"]
            case "and" | "or" as op:
                names = [*(f"{name}.{i}" for i in range(1, len(args) - 1)), name]
                left = [args[0], *names]
                return [f"{n} = {op} i1 {a}, {b}" for n, a, b in zip(names, left, args[1:], strict=False)]
            case "ite":
                kind = "i1" if node.boolean else "i64"
                return [f"{name} = select i1 {args[0]}, {kind} {args[1]}, {kind} {args[2]}"]
        raise ValueError(f"no text for {node!r}")

    def _cell(self, node: Node, name: str) -> list[str]:
        field = self._layout.fields[node.value]
        low = (1 << field.bits) - 1
        if node.boolean:
            return [
                f"{name}.b = and i64 %w{field.word}, {signed(field.mask)}",
                f"{name} = icmp ne i64 {name}.b, 0",
            ]
        raw = name if field.start == 0 else f"{name}.r"
        lines = [f"{name}.s = lshr i64 %w{field.word}, {field.shift}", f"{raw} = and i64 {name}.s, {low}"]
        if field.start:
            lines.append(f"{name} = add nsw i64 {raw}, {field.start}")
        return lines


def _divide(node: Node, name: str, arg: str) -> list[str]:
    """Floor division and its remainder: LLVM's round towards zero, which differs for negative values."""
    by, low = node.value, node.args[0].low
    if low >= 0:
        return [f"{name} = {'udiv' if node.op == '//' else 'urem'} i64 {arg}, {by}"]
    lines = [f"{name}.m = srem i64 {arg}, {by}", f"{name}.n = icmp slt i64 {name}.m, 0"]
    if node.op == "%":
        return [*lines, f"{name}.f = select i1 {name}.n, i64 {by}, i64 0", f"{name} = add i64 {name}.m, {name}.f"]
    return [
        *lines,
        f"{name}.q = sdiv i64 {arg}, {by}",
        f"{name}.f = sext i1 {name}.n to i64",
        f"{name} = add i64 {name}.q, {name}.f",
    ]


def signed(word: int) -> int:
    """A 64-bit pattern as LLVM text wants it."""
    word &= 2**64 - 1
    return word - 2**64 if word >= 2**63 else word


__all__ = ["Placement", "Region", "signed"]

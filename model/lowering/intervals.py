"""What a guard says about values: bounds that spare range checks."""

from __future__ import annotations

from collections.abc import Iterable

from model.lowering.ground import Node

Interval = tuple[int, int]
_DEPTH = 6


class Facts:
    """Bounds that hold where all of ``conjuncts`` do."""

    def __init__(self, conjuncts: Iterable[Node]) -> None:
        self._known: dict[int, Interval] = {}
        for each in conjuncts:
            self._learn(each, True)

    def _learn(self, node: Node, holds: bool) -> None:
        if node.op == "not":
            self._learn(node.args[0], not holds)
        elif node.op == "==" and node.args[1].op == "const":
            subject, value = node.args[0], node.args[1].value
            if holds:
                self._narrow(subject, value, value)
            else:
                low, high = self.interval(subject)
                self._narrow(subject, low + (low == value), high - (high == value))
        elif node.op == "<":
            a, b = node.args
            if b.op == "const":
                self._narrow(a, *((a.low, b.value - 1) if holds else (b.value, a.high)))
            elif a.op == "const":
                self._narrow(b, *((a.value + 1, b.high) if holds else (b.low, a.value)))

    def _narrow(self, node: Node, low: int, high: int) -> None:
        before = self._known.get(node.number, (node.low, node.high))
        self._known[node.number] = max(before[0], low), min(before[1], high)

    def interval(self, node: Node, depth: int = _DEPTH) -> Interval:
        """Bounds of an integer ``node``; at most as wide as its own."""
        known = self._known.get(node.number, (node.low, node.high))
        if depth == 0 or node.op not in ("+", "-", "ite", "min", "max"):
            return known
        inner = [self.interval(a, depth - 1) for a in node.args if not a.boolean]
        (a, b), (c, d) = inner[0], inner[1]
        match node.op:
            case "+":
                found = a + c, b + d
            case "-":
                found = a - d, b - c
            case "ite":
                found = min(a, c), max(b, d)
            case "min":
                found = min(a, c), min(b, d)
            case _:
                found = max(a, c), max(b, d)
        return max(known[0], found[0]), min(known[1], found[1])


__all__ = ["Facts", "Interval"]

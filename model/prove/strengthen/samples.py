"""What ground expressions are in many states at once, as bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from model.lowering.ground import Node, parts

States = NDArray[np.int64]
Bits = NDArray[np.uint8]
_PART = 4096


def truth(nodes: Sequence[Node], states: States) -> Bits:
    """Of boolean ``nodes`` in ``states`` (raw values, shape (states, cells)): shape (nodes, bytes), a bit a state."""
    # Of no states at all there is one part, an empty one.
    parts = [_part(nodes, states[first : first + _PART]) for first in range(0, max(len(states), 1), _PART)]
    return np.packbits(np.concatenate(parts, axis=1), axis=1)


def numbers(nodes: Sequence[Node], states: States) -> NDArray[np.int64]:
    """Of ``nodes`` in ``states``, a boolean being 0 or 1: shape (states, nodes)."""
    return _values(nodes, states).T


def _part(nodes: Sequence[Node], states: States) -> NDArray[np.bool_]:
    return np.asarray(_values(nodes, states) != 0)


def _values(nodes: Sequence[Node], states: States) -> NDArray[np.int64]:
    known: dict[int, NDArray[np.int64]] = {}
    out = np.empty((len(nodes), len(states)), np.int64)
    for row, node in enumerate(nodes):
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [a for a in top.args if a.number not in known]
            if missing and top.number not in known:
                stack += missing
                continue
            if top.number not in known:
                known[top.number] = _of(top, [known[a.number] for a in top.args], states)
            stack.pop()
        out[row] = known[node.number]
    return out


def _of(node: Node, x: list[NDArray[np.int64]], states: States) -> NDArray[np.int64]:
    if node.op == "const":
        return np.full(len(states), node.value, np.int64)
    if node.op == "cell":
        return states[:, node.value]
    if node.op in ("//", "%"):
        return x[0] // node.value if node.op == "//" else x[0] % node.value
    return np.asarray(_APPLY[node.op](*x)).astype(np.int64)


_APPLY: dict[str, Callable[..., NDArray[np.int64] | NDArray[np.bool_]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "int": lambda x: x,
    "==": np.equal,
    "same": np.equal,
    "<": np.less,
    "and": lambda *x: np.bitwise_and.reduce(x),
    "or": lambda *x: np.bitwise_or.reduce(x),
    "not": lambda x: 1 - x,
    "ite": lambda c, a, b: np.asarray(np.where(c != 0, a, b)),
}


class Values:
    """Boolean ``nodes`` in one state after the other."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        order = parts(nodes)
        place = {node.number: i for i, node in enumerate(order)}
        self._program = [(node.op, node.value, [place[a.number] for a in node.args]) for node in order]
        self._wanted = np.array([place[n.number] for n in nodes], np.int64)

    def truth(self, state: Sequence[int]) -> NDArray[np.bool_]:
        """Which of the nodes hold in ``state``, of raw values."""
        known: list[int] = []
        for op, value, args in self._program:
            match op:
                case "const":
                    known.append(value)
                case "cell":
                    known.append(state[value])
                case "//":
                    known.append(known[args[0]] // value)
                case "%":
                    known.append(known[args[0]] % value)
                case _:
                    known.append(_OF_ONE[op](*[known[a] for a in args]))
        return np.asarray(np.array(known, np.int64)[self._wanted] != 0)


_OF_ONE: dict[str, Callable[..., int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "min": min,
    "max": max,
    "int": lambda a: a,
    "==": lambda a, b: int(a == b),
    "same": lambda a, b: int(a == b),
    "<": lambda a, b: int(a < b),
    "and": lambda *x: int(all(x)),
    "or": lambda *x: int(any(x)),
    "not": lambda a: 1 - a,
    "ite": lambda c, a, b: a if c else b,
}


__all__ = ["Bits", "States", "Values", "numbers", "truth"]

"""Strongly connected components of a large graph: Tarjan's algorithm without recursion, as LLVM text.

Ten arrays of one entry per node, three stacks among them, and two for the graph: see `strong_components`.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen.jit import compiled

NODE_BYTES: Final = 4 * 5 + 8
"""Memory that `strong_components` needs for each node, beside its arguments."""


def _at(name: str, array: str, index: str, kind: str = "i32") -> list[str]:
    """``%name.p`` points to ``array[index]``; ``%name`` is its value."""
    return [f"%{name}.p = getelementptr {kind}, ptr %{array}, i64 {index}", f"%{name} = load {kind}, ptr %{name}.p"]


def _put(name: str, array: str, index: str, value: str, kind: str = "i32") -> list[str]:
    return [f"%{name}.p = getelementptr {kind}, ptr %{array}, i64 {index}", f"store {kind} {value}, ptr %{name}.p"]


_ARRAYS = ("offsets", "targets", "label", "index", "low", "next", "calls", "stack", "component")
TEXT = "\n".join(
    [
        "declare i32 @llvm.smin.i32(i32, i32)",
        f"define i64 @components(i64 %n, {', '.join(f'ptr noalias %{a}' for a in _ARRAYS)}) {{",
        "entry:",
        *(f"%{v} = alloca i64" for v in ("visited", "height", "depth", "found")),
        *(f"store i64 0, ptr %{v}" for v in ("visited", "height", "depth", "found")),
        "br label %roots",
        "roots:",
        "%root = phi i64 [ 0, %entry ], [ %root.next, %root.done ]",
        "%more = icmp ult i64 %root, %n",
        "br i1 %more, label %root.test, label %exit",
        "root.test:",
        *_at("root.index", "index", "%root"),
        *_at("root.label", "label", "%root"),
        "%root.new = icmp eq i32 %root.index, 0",
        "%root.in = icmp sge i32 %root.label, 0",
        "%root.go = and i1 %root.new, %root.in",
        "br i1 %root.go, label %enter, label %root.done",
        "root.done:",
        "%root.next = add i64 %root, 1",
        "br label %roots",
        # A node is seen for the first time: it gets its number and goes onto both stacks.
        "enter:",
        "%v = phi i64 [ %root, %root.test ], [ %w, %fresh ]",
        "%v.32 = trunc i64 %v to i32",
        "%visited.old = load i64, ptr %visited",
        "%visited.new = add i64 %visited.old, 1",
        "store i64 %visited.new, ptr %visited",
        "%number = trunc i64 %visited.new to i32",
        *_put("v.index", "index", "%v", "%number"),
        *_put("v.low", "low", "%v", "%number"),
        *_at("v.first", "offsets", "%v", "i64"),
        *_put("v.next", "next", "%v", "%v.first", "i64"),
        "%height.old = load i64, ptr %height",
        *_put("v.stack", "stack", "%height.old", "%v.32"),
        "%height.new = add i64 %height.old, 1",
        "store i64 %height.new, ptr %height",
        "%depth.old = load i64, ptr %depth",
        *_put("v.call", "calls", "%depth.old", "%v.32"),
        "%depth.new = add i64 %depth.old, 1",
        "store i64 %depth.new, ptr %depth",
        "br label %loop",
        # The next edge of the node that was entered last.
        "loop:",
        "%depth.now = load i64, ptr %depth",
        "%top = sub i64 %depth.now, 1",
        *_at("u.32", "calls", "%top"),
        "%u = zext i32 %u.32 to i64",
        *_at("edge", "next", "%u", "i64"),
        "%u.after = add i64 %u, 1",
        *_at("end", "offsets", "%u.after", "i64"),
        "%left = icmp ult i64 %edge, %end",
        "br i1 %left, label %follow, label %leave",
        "follow:",
        "%edge.next = add i64 %edge, 1",
        "store i64 %edge.next, ptr %edge.p",
        *_at("w.32", "targets", "%edge"),
        "%w = zext i32 %w.32 to i64",
        *_at("w.label", "label", "%w"),
        *_at("u.label", "label", "%u"),
        "%same = icmp eq i32 %w.label, %u.label",
        "br i1 %same, label %visit, label %loop",
        "visit:",
        *_at("w.index", "index", "%w"),
        "%unseen = icmp eq i32 %w.index, 0",
        "br i1 %unseen, label %fresh, label %old",
        "fresh:",
        "br label %enter",
        "old:",
        *_at("w.component", "component", "%w"),
        "%open = icmp slt i32 %w.component, 0",
        "br i1 %open, label %lower, label %loop",
        "lower:",
        *_at("u.low", "low", "%u"),
        "%u.lower = call i32 @llvm.smin.i32(i32 %u.low, i32 %w.index)",
        "store i32 %u.lower, ptr %u.low.p",
        "br label %loop",
        # All its edges are done. If nothing older was reached, what lies above it on the stack is its component.
        "leave:",
        "store i64 %top, ptr %depth",
        *_at("last.low", "low", "%u"),
        *_at("last.index", "index", "%u"),
        "%is.root = icmp eq i32 %last.low, %last.index",
        "%found.now = load i64, ptr %found",
        "%found.32 = trunc i64 %found.now to i32",
        "br i1 %is.root, label %pop, label %unwind",
        "pop:",
        "%height.up = load i64, ptr %height",
        "%height.down = sub i64 %height.up, 1",
        "store i64 %height.down, ptr %height",
        *_at("x.32", "stack", "%height.down"),
        "%x = zext i32 %x.32 to i64",
        *_put("x.component", "component", "%x", "%found.32"),
        "%bottom = icmp eq i64 %x, %u",
        "br i1 %bottom, label %popped, label %pop",
        "popped:",
        "%found.next = add i64 %found.now, 1",
        "store i64 %found.next, ptr %found",
        "br label %unwind",
        "unwind:",
        "%done = icmp eq i64 %top, 0",
        "br i1 %done, label %root.done, label %caller",
        "caller:",
        "%below = sub i64 %top, 1",
        *_at("q.32", "calls", "%below"),
        "%q = zext i32 %q.32 to i64",
        *_at("q.low", "low", "%q"),
        "%q.lower = call i32 @llvm.smin.i32(i32 %q.low, i32 %last.low)",
        "store i32 %q.lower, ptr %q.low.p",
        "br label %loop",
        "exit:",
        "%result = load i64, ptr %found",
        "ret i64 %result",
        "}",
    ]
)


@functools.cache
def _kernel() -> Callable[..., int]:
    word = ctypes.c_uint64
    found: Callable[..., int] = compiled(TEXT, "components", word, *[word] * (1 + len(_ARRAYS)))
    return found


def strong_components(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], label: NDArray[np.int32]
) -> tuple[NDArray[np.int32], int]:
    """The component of each node, and how many there are.

    The edges of node v lead to ``targets[offsets[v]:offsets[v + 1]]``. Only edges between nodes of equal ``label``
    count; nodes with a negative one are left out and get component -1. ``label`` may go on behind the last node:
    targets there, whose labels are negative, stand for what is not in the graph.
    """
    n = len(offsets) - 1
    index, component = np.zeros(n, np.int32), np.full(len(label), -1, np.int32)
    low, calls, stack = (np.empty(n, np.int32) for _ in range(3))
    following = np.empty(n, np.int64)
    arrays = (offsets, targets, label, index, low, following, calls, stack, component)
    return component, _kernel()(n, *(a.ctypes.data for a in arrays))


__all__ = ["NODE_BYTES", "strong_components"]

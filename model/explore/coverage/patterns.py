"""How often each combination of conditions holds, counted by compiled code that reads each state once.

``patterns(states, count, out)`` computes, for each of several groups, the conditions of the group as bits of a number,
and adds one to the group's counter with that number.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Final

from model.explore.codegen.blocks import Placement, Region
from model.explore.codegen.each import each_state
from model.explore.codegen.jit import compiled
from model.explore.packing import PackedProgram
from model.lowering.ground import Node

MOST_BITS: Final = 12
"""A group has at most so many conditions: it has a counter for each combination."""


def counter_of(program: PackedProgram, groups: Sequence[Sequence[Node]]) -> Callable[[int, int, int], None]:
    """The compiled function for ``groups``. At ``out`` the counters lie group by group, 1 << size words for each."""
    word = ctypes.c_uint64
    return compiled(_text(program, groups), "patterns", None, word, word, word)


def _text(program: PackedProgram, groups: Sequence[Sequence[Node]]) -> str:
    layout = program.layout
    placement, root = Placement(program.graph, layout), Region(None)
    placement.use([node for group in groups for node in group], root)
    placement.settle()
    base = 0
    for g, group in enumerate(groups):
        number = "0"
        for bit, node in enumerate(group):
            name = f"%g{g}.{bit}"
            # Asking for a value may write text of its own.
            value = placement.value(node, root)
            root.lines += [
                f"{name}.z = zext i1 {value} to i64",
                f"{name}.s = shl i64 {name}.z, {bit}",
                f"{name} = or i64 {name}.s, {number}",
            ]
            number = name
        root.lines += [
            f"%g{g}.at = add i64 {number}, {base}",
            f"%g{g}.p = getelementptr i64, ptr %out, i64 %g{g}.at",
            f"%g{g}.o = load i64, ptr %g{g}.p",
            f"%g{g}.n = add i64 %g{g}.o, 1",
            f"store i64 %g{g}.n, ptr %g{g}.p",
        ]
        base += 1 << len(group)
    extremes = ["declare i64 @llvm.smin.i64(i64, i64)", "declare i64 @llvm.smax.i64(i64, i64)"]
    return "\n".join([*extremes, each_state("patterns", layout.words, root.lines)])


__all__ = ["MOST_BITS", "counter_of"]

"""Initial states: every combination of the cells' initial values that the machine's constraints let through."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen.native import Native
from model.explore.packing import PackedProgram
from model.language import Const, SpecError

_CHUNK = 1 << 14


def initial_batches(program: PackedProgram, native: Native, most: int) -> Iterator[NDArray[np.uint64]]:
    """The packed initial states, in the order of `Semantics.initial_states`, at most ``most`` in an array of shape
    (n, words).

    SpecError if there is none.
    """
    machine, layout = program.machine, program.layout
    choices = [
        sorted({Const(value).raw for value in one_of.values})
        for variable in machine.variables
        for _, one_of in machine.initial_choices(variable)
    ]
    total = math.prod(map(len, choices))
    fixed = layout.pack([values[0] for values in choices])
    found = 0
    for start in range(0, total, _CHUNK):
        numbers = np.arange(start, min(start + _CHUNK, total), dtype=np.int64)
        states = np.empty((len(numbers), layout.words), np.uint64)
        states[:] = fixed
        stride = 1
        # The last cell changes fastest.
        for field, values in zip(reversed(layout.fields), reversed(choices), strict=True):
            if len(values) > 1:
                codes = np.array([(v - values[0]) % (1 << 64) for v in values], np.uint64)
                digit = (numbers // stride) % len(values)
                states[:, field.word] += codes[digit] << np.uint64(field.shift)
                stride *= len(values)
        bits = np.empty(len(states), np.uint64)
        native.predicates(states.ctypes.data, len(states), bits.ctypes.data)
        chosen = np.ascontiguousarray(states[(bits & np.uint64(1)) != 0])
        found += len(chosen)
        for first in range(0, len(chosen), most):
            yield chosen[first : first + most]
    if not found:
        constraints = machine.initial_constraints
        names = ", ".join(c.name for c in constraints)
        raise SpecError(f"{machine.name} has no initial state: no combination satisfies {names}", constraints[0].at)


__all__ = ["initial_batches"]

"""Runs that do not violate one property: which states and which steps they have."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen.native import Native
from model.explore.packing import PackedProgram
from model.explore.walks.stepper import Packed
from model.language import Property, PropertyKind
from model.lowering.lower import Event, EventKind
from model.semantics import Semantics


class Avoiding:
    """Keeps to ``wanted``, an always or a step property."""

    def __init__(self, program: PackedProgram, native: Native, semantics: Semantics, wanted: Property) -> None:
        self._program: Final = program
        self._semantics: Final = semantics
        self._property: Final = wanted
        self._violated = None
        if wanted.kind is PropertyKind.ALWAYS:
            number = program.events.index(Event(EventKind.ALWAYS, wanted.name))
            self._violated = native.predicates_of([dict(program.state_events)[number]])

    def states(self, states: Packed) -> NDArray[np.bool_]:
        """For each of the packed ``states`` whether a run may come to it."""
        if self._violated is None or not len(states):
            return np.ones(len(states), np.bool_)
        states = np.ascontiguousarray(states)
        bits = np.empty(len(states), np.uint64)
        self._violated(states.ctypes.data, len(states), bits.ctypes.data)
        return np.asarray(bits & np.uint64(1) == 0)

    def steps(self, sources: Packed, targets: Packed) -> NDArray[np.bool_]:
        """For each pair of a source and a target whether a run may take the step between them."""
        if self._property.kind is PropertyKind.ALWAYS:
            return self.states(targets)
        unpack, evaluate = self._program.layout.unpack, self._semantics.evaluate
        condition = self._property.condition
        pairs = zip(sources.tolist(), targets.tolist(), strict=True)
        holds = [bool(evaluate(condition, unpack(a), {}, unpack(b))) for a, b in pairs]
        return np.array(holds, np.bool_)


__all__ = ["Avoiding"]

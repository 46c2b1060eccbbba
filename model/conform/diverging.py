"""What is told of the record that no run explains: what the spec would have allowed there, and what comes nearest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from model.conform.answer import Divergence
from model.conform.candidates import History, Layer, Steps
from model.conform.log import Record
from model.conform.matching import States
from model.conform.matching import Steps as StepNumbers
from model.conform.naming import Naming, World
from model.explore.packing import PackedProgram
from model.explore.walks.stepper import Packed
from model.language.types import SortType, domain_type
from model.semantics import Fault, Instance, Semantics, State

_MOST_STATES: Final = 200
"""So many candidates are looked at, of those that came first, for what comes nearest."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a log stops to be a run: the candidates there with the observed steps from them, and the records of one
    time of which ``matched`` could be explained and no more."""

    closed: Layer
    steps: Steps
    group: tuple[Record, ...]
    matched: int
    worlds: Sequence[World]


class Teller:
    """Tells of one `Place`."""

    def __init__(
        self, program: PackedProgram, semantics: Semantics, naming: Naming, states: States, steps: StepNumbers
    ) -> None:
        self._program: Final = program
        self._semantics: Final = semantics
        self._naming: Final = naming
        self._states: Final = states
        self._steps: Final = steps

    def divergence(self, place: Place, number: int, history: History) -> Divergence:
        """Record ``number`` (from 1) could not be explained."""
        layer = place.closed
        best = int(layer.matched.tolist().index(max(layer.matched.tolist(), key=int.bit_count)))
        done = int(layer.matched[best])
        record = next(r for bit, r in enumerate(place.group) if not done >> bit & 1)
        unpack = self._program.layout.unpack
        first, instances = history.run(layer.first + best)
        near = list(self._near(place, record))
        fault = next((fault for fault, *_ in near if fault is not None), None)
        nearest = min((n for _, n in near), key=lambda n: n[0], default=None)
        return Divergence(
            number,
            record.where,
            str(record),
            len(place.group),
            self._expected(place),
            self._seen(place, record),
            fault,
            None if nearest is None else (nearest[1], nearest[2]),
            self._semantics.run(unpack(first.tolist()), instances),
            len({row.tobytes() for row in layer.states}),
        )

    def _expected(self, place: Place) -> tuple[str, ...]:
        worlds = place.closed.worlds[place.steps.rows].tolist()
        pairs = sorted(set(zip(place.steps.instances.tolist(), worlds, strict=True)))
        return tuple(sorted({self._call(self._semantics.instances[i], place.worlds[w]) for i, w in pairs}))

    def _call(self, instance: Instance, world: World) -> str:
        """``allocate(job-7, node2)``: with the log's names."""
        told = []
        for symbol, (_, shown), raw in zip(
            instance.action.symbols, self._semantics.arguments(instance), instance.values, strict=True
        ):
            kind = domain_type(symbol.domain)
            told.append(self._naming.shown(world, kind.sort, raw) if isinstance(kind, SortType) else shown)
        return f"{instance.action.name}({', '.join(told)})"

    def _seen(self, place: Place, record: Record) -> Mapping[str, tuple[str, ...]]:
        """What the told cells are instead, in the states where a step that fits leads to; the log's own cells."""
        if not record.state:
            return {}
        found: dict[str, set[str]] = {}
        for world in sorted(set(place.closed.worlds.tolist())):
            targets = self._targets(place, record, world)
            for cell in record.state:
                inner = self._naming.cell_in(place.worlds[world], cell, record.where)
                found.setdefault(cell, set()).update(self._states.shown(targets, inner))
        return {cell: tuple(sorted(values)) for cell, values in found.items() if values}

    def _targets(self, place: Place, record: Record, world: int) -> Packed:
        layer = place.closed
        if not record.patterns:
            here: Packed = layer.states[layer.worlds == world]
            return here
        fits = self._steps.fitting(record.patterns, place.worlds[world], record.where)
        taken = (layer.worlds[place.steps.rows] == world) & fits[place.steps.instances]
        fitting: Packed = place.steps.targets[taken]
        return fitting

    def _near(self, place: Place, record: Record) -> Iterator[tuple[str | None, tuple[int, str, State]]]:
        """For steps that the record tells of: what is wrong with one that is a fault, and how many conjuncts of its
        guard fail, its call and the state."""
        layer, unpack = place.closed, self._program.layout.unpack
        fitting = {
            world: np.flatnonzero(self._steps.fitting(record.patterns, place.worlds[world], record.where)).tolist()
            for world in sorted(set(layer.worlds.tolist()))
        }
        for row, world in list(zip(layer.states.tolist(), layer.worlds.tolist(), strict=True))[:_MOST_STATES]:
            state = unpack(row)
            for number in fitting[world]:
                instance = self._semantics.instances[number]
                env = instance.environment()
                failing = sum(not self._semantics.evaluate(g.condition, state, env) for g in instance.action.guards)
                fault = None if failing else self._semantics.fire(instance, state)
                call = self._semantics.call(instance)
                yield fault.message if isinstance(fault, Fault) else None, (failing, call, state)


__all__ = ["Place", "Teller"]

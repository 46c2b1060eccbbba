"""Where shortest runs into an event may end: all states, or all steps, at the least depth at which it occurs.

The search notes the first occurrence only. The others at its depth are found again: by its condition, compiled for this
question alone, among the states of one level; for the event of a step by the condition of each instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.search.search import Occurrence, Search
from model.explore.traces.changes import Changes
from model.explore.traces.steps import Numbers, Steps
from model.lowering.ground import Node
from model.lowering.lower import Event, EventKind, Instance

_STEP_KINDS = (EventKind.STEP, EventKind.RANGE, EventKind.WRITE)
_FAULTS = (EventKind.RANGE, EventKind.WRITE)
_MOST_INSTANCES = 512  # whose conditions are worth compiling
_WORD = 64
_PART = 1 << 16


@dataclass(frozen=True, slots=True)
class LastSteps:
    """Steps into an event: of each its source, its instance and the marks of the cells that it changes."""

    sources: Numbers
    instances: Numbers
    marks: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Endings:
    """The ``states``, ascending, of one ``depth`` at which runs end; or at which their last step, of ``steps``, starts.

    A faulty step has no state after it, so it changes nothing.
    """

    depth: int
    states: Numbers
    steps: LastSteps | None = None


class NoEndings(Exception):
    """All endings cannot be had, or are not worth it; the message says why."""


class Finder:
    """Finds the endings of runs of one finished search."""

    def __init__(self, search: Search, steps: Steps, changes: Changes) -> None:
        self._search: Final = search
        self._steps: Final = steps
        self._changes: Final = changes

    def endings(self, event: Event, first: Occurrence) -> Endings:
        """All occurrences of ``event`` at the depth of its ``first``. NoEndings if they cannot be had."""
        depth = self._search.depth_of(first.state)
        level = self._steps.at_depth(depth)
        if event.kind in _STEP_KINDS:
            return self._last_steps(event, depth, level)
        if event.kind is EventKind.DEADLOCK:
            level = self._without_steps(level)
        bits = np.concatenate(list(self._bits(level, [self._condition(event)])))
        return Endings(depth, level[bits != 0])

    def _condition(self, event: Event) -> Node:
        """Where a state's own event occurs; for a deadlock, where it does in a state without sound steps."""
        program = self._search.program
        graph = program.graph
        if event.kind is not EventKind.DEADLOCK:
            return dict(program.state_events)[program.events.index(event)]
        fault = {i.number: graph.either([i.write_fault, i.range_fault]) for i in program.instances}
        able = [i for i in program.instances if fault[i.number] is not graph.false]
        if len(able) > _MOST_INSTANCES:
            raise NoEndings("the steps that end one are of too many instances")
        return graph.no(graph.either([program.terminal, *(graph.both([*i.conjuncts, fault[i.number]]) for i in able)]))

    def _without_steps(self, level: Numbers) -> Numbers:
        able = [np.unique(batch.sources) for batch in self._steps.batches(level)]
        return np.setdiff1d(level, np.concatenate(able), assume_unique=True)

    def _bits(self, numbers: Numbers, conditions: Sequence[Node]) -> Iterator[NDArray[np.uint64]]:
        """For the states ``numbers``, part by part, at most 64 conditions as the bits of a word."""
        predicates = self._search.native.predicates_of(conditions)
        for first in range(0, len(numbers), _PART):
            states = self._steps.packed(numbers[first : first + _PART])
            bits = np.empty(len(states), np.uint64)
            predicates(states.ctypes.data, len(states), bits.ctypes.data)
            yield bits

    def _last_steps(self, event: Event, depth: int, level: Numbers) -> Endings:
        able = [(i.number, c) for i in self._search.program.instances if (c := self._occurs(event, i)) is not None]
        if len(able) > _MOST_INSTANCES:
            raise NoEndings("the steps that end one are of too many instances")
        rows: list[Numbers] = []
        instances: list[Numbers] = []
        for start in range(0, len(able), _WORD):
            some = able[start : start + _WORD]
            bits = np.concatenate(list(self._bits(level, [c for _, c in some])))
            for k, (number, _) in enumerate(some):
                hits = np.flatnonzero(bits >> np.uint64(k) & np.uint64(1))
                rows.append(hits)
                instances.append(np.full(len(hits), number, np.int64))
        sources, acting = level[np.concatenate(rows)], np.concatenate(instances)
        states = np.unique(sources)
        if event.kind in _FAULTS:
            marks = np.zeros((len(sources), self._search.program.layout.words), np.uint64)
            return Endings(depth, states, LastSteps(sources, acting, marks))
        return Endings(depth, states, self._with_targets(states, sources, acting))

    def _with_targets(self, states: Numbers, sources: Numbers, acting: Numbers) -> LastSteps:
        """The steps of the pairs ``sources``, ``acting``, with what they change."""
        most = int(acting.max()) + 1
        wanted = np.sort(sources * most + acting)
        found: list[LastSteps] = []
        for batch in self._steps.batches(states):
            low = batch.only(batch.instances < most)
            here = low.only(np.isin(low.sources * most + low.instances, wanted))
            if (here.targets >= self._steps.offsets[-1]).any():
                raise NoEndings("a state after the last step was dropped when the budget ran out")
            before, after = self._steps.packed(here.sources), self._steps.packed(here.targets)
            found.append(LastSteps(here.sources, here.instances, self._changes.marks(before, after)))
        return LastSteps(
            np.concatenate([f.sources for f in found]),
            np.concatenate([f.instances for f in found]),
            np.concatenate([f.marks for f in found]),
        )

    def _occurs(self, event: Event, instance: Instance) -> Node | None:
        """Where a step of ``instance`` is taken in which ``event`` occurs; None if nowhere."""
        program = self._search.program
        graph = program.graph
        match event.kind:
            case EventKind.WRITE:
                what = [instance.write_fault]
            case EventKind.RANGE:
                what = [graph.no(instance.write_fault), instance.range_fault]
            case _:
                number = program.events.index(event)
                says = [node for event_number, node in instance.events if event_number == number]
                if not says:
                    return None
                what = [graph.no(instance.write_fault), graph.no(instance.range_fault), *says]
        node = graph.both([*instance.conjuncts, *what])
        return None if node is graph.false else node


__all__ = ["Endings", "Finder", "LastSteps", "NoEndings"]

"""Traces: from state numbers back to a run in the spec's words."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen import context as c
from model.explore.lowering.lower import Event
from model.explore.search.initial import initial_batches
from model.explore.search.search import Found, Occurrence, Search
from model.explore.search.shard import instances_of, rows_of
from model.explore.symmetry.lift import Lift, Run
from model.explore.traces.endings import Endings
from model.explore.traces.simplest import MOST_STATES, Level, SimpleRun, Simplest
from model.explore.traces.steps import Steps
from model.semantics import Fault, Semantics, State
from model.trace import Step, Trace, named_state


class Recovery:
    """Shortest traces of one finished search."""

    def __init__(self, search: Search, most_states: int = MOST_STATES) -> None:
        self._search = search
        self._most_states = most_states
        self._machine = search.program.machine
        self._layout = search.program.layout
        self._semantics = Semantics(self._machine)
        self._blocks = search.scratch()
        self._starts: dict[Found, State] = {}

    def simple_trace(
        self, at: Occurrence, event: Event | None = None, most: int | None = None
    ) -> tuple[Trace, Fault | None, str | None]:
        """A shortest run to any first occurrence of ``event``, or to the state ``at``, that changes few cells.

        With the fault of its last step, if that is one; and, where no such run was looked for, why: the run is then a
        shortest one to ``at``.
        """
        if self._search.program.canonical is not None:
            found: SimpleRun | str = "canonical states say nothing of which cells a run changes"
        elif not self._most_states:
            found = "none was asked for"
        elif event is None:
            found = self._simplest.run_to(at.state)
        else:
            found = self._simplest.run(event, at, most)
        if isinstance(found, str):
            note = f"the first found, not one that changes the fewest cells: {found}"
            return *self._ending(self.path(at.state), at), note
        end = Occurrence(found.path[-1][0], found.last)
        return *self._ending(found.path, end), found.note

    def simple_way(self, steps: Steps, levels: Sequence[Level], states: int, endings: Endings) -> SimpleRun | str:
        """One of the runs through ``levels``, which have so many ``states``, that changes few cells; or why none is
        looked for."""
        if not self._most_states:
            return "none was asked for"
        return self._simplest.run_along(steps, levels, states, endings)

    @functools.cached_property
    def _simplest(self) -> Simplest:
        return Simplest(self._search, self._most_states)

    def trace(self, at: Occurrence) -> Trace:
        """A shortest run to the state ``at``; with an instance, that instance's step, faulty or not, is the last."""
        return self._ending(self.path(at.state), at)[0]

    def _ending(self, path: Sequence[tuple[Found, int | None]], at: Occurrence) -> tuple[Trace, Fault | None]:
        return self._follow(path if at.instance is None else [*path, (at.state, at.instance)])

    def along(self, path: Sequence[tuple[Found, int | None]], loop_start: int | None = None) -> Trace:
        """The run through the states of ``path``, each with the number of the instance that leads to it."""
        return self._follow(path, loop_start)[0]

    def _follow(
        self, path: Sequence[tuple[Found, int | None]], loop_start: int | None = None
    ) -> tuple[Trace, Fault | None]:
        """The run, and the fault of its last step, which leads nowhere, if it is one."""
        run = self._run(path[0][0])
        first = named_state(self._machine, run.state)
        taken = [run.step(instance) for _, instance in path[1:] if instance is not None]
        fault = taken[-1][2] if taken else None
        return Trace(first, tuple(self._step(*each) for each in taken), loop_start), fault

    def _run(self, first: Found) -> Run:
        """A run that starts in ``first``, or in an initial state for which that stands."""
        canonical = self._search.program.canonical
        if canonical is None:
            return Run(self._semantics, self._raw(first))
        if first not in self._starts:
            self._starts[first] = self._initial(first)
        return Lift(self._semantics, canonical, self._starts[first])

    def _initial(self, canonical: Found) -> State:
        """The first initial state for which this one stands."""
        search, block = self._search, self._blocks[0]
        wanted = search.shards[canonical.shard].states[canonical.number]

        def stands_for_one(states: NDArray[np.uint64]) -> bool:
            block.rewind()
            search.native.records(block.address, states.ctypes.data, len(states))
            return bool((block.records(canonical.shard)[:, :-1] == wanted).all(axis=1).any())

        for states in initial_batches(search.program, search.native, int(block.words[c.ROOM])):
            if stands_for_one(states):
                # Records don't say which state they are of.
                row = bisect.bisect_left(range(1, len(states)), True, key=lambda n: stands_for_one(states[:n]))
                return self._layout.unpack([int(word) for word in states[row]])
        raise AssertionError(f"{canonical} is the canonical state of no initial one")

    def _raw(self, state: Found) -> tuple[int, ...]:
        return self._layout.unpack([int(word) for word in self._search.shards[state.shard].states[state.number]])

    def _step(self, number: int, state: State, fault: Fault | None) -> Step:
        instance, message = self._semantics.instances[number], None if fault is None else fault.message
        arguments = self._semantics.arguments(instance)
        return Step(instance.action.name, arguments, named_state(self._machine, state), message)

    def path(self, state: Found) -> list[tuple[Found, int | None]]:
        """States from an initial one to ``state``, each with the number of the instance that leads to it."""
        found: list[tuple[Found, int | None]] = []
        while self._search.depth_of(state) > 0:
            parent, instance = self._predecessor(state)
            found.append((state, instance))
            state = parent
        found.append((state, None))
        return found[::-1]

    def _predecessor(self, state: Found) -> tuple[Found, int]:
        search = self._search
        wanted = search.shards[state.shard].states[state.number].copy()
        for shard, parents in enumerate(search.parents_of(state)):
            block, first = self._blocks[shard], parents.start
            while first < parents.stop:
                behind = search.native.expand(block.address, first, min(parents.stop, first + c.ROWS))
                records = block.records(state.shard)
                hits = np.flatnonzero((records[:, :-1] == wanted).all(axis=1))
                if len(hits):
                    hit = records[hits[:1]]
                    return Found(shard, first + int(rows_of(hit)[0])), int(instances_of(hit)[0])
                first = behind
        raise AssertionError(f"{state} has no predecessor")


__all__ = ["Recovery"]

"""Traces: from state numbers back to a run in the spec's words."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen import context as c
from model.explore.search.budget import Budget
from model.explore.search.initial import initial_batches
from model.explore.search.search import Found, Occurrence, Search
from model.explore.search.shard import instances_of, rows_of
from model.explore.symmetry.lift import Lift, Run
from model.explore.traces.endings import Endings
from model.explore.traces.simplest import MOST_STATES, Level, SimpleRun, Simplest
from model.explore.traces.steps import Steps
from model.lowering.lower import Event
from model.semantics import Fault, Semantics, State
from model.trace import Step, Trace, named_state

_MOST_KNOWN = 1 << 18
_LEVELS = 1 << 9
_WINDOW = 1 << 13


@dataclass(frozen=True, slots=True)
class _Followed:
    """A run that was followed: the instances' numbers, and for each of them the state after it and the step."""

    begin: State
    numbers: list[int]
    states: list[State]
    steps: list[Step]


def _common(some: Sequence[int], others: Sequence[int]) -> int:
    """How many are equal at the beginning."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(some), len(others)))


class Recovery:
    """Shortest traces of one finished search; where ``budget`` has no time left, the first found."""

    def __init__(self, search: Search, most_states: int = MOST_STATES, budget: Budget | None = None) -> None:
        self._search = search
        self._most_states = most_states
        self._budget = budget
        # Long runs into several violations are mostly the same.
        self._known: dict[Found, tuple[Found, int]] = {}
        self._last = _Followed((), [], [], [])
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
        elif self.time_out is not None:
            found = self.time_out
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

    def refusal(self, states: int, levels: int) -> str | None:
        """Account for a simple run through so many states; why none is looked for, if so."""
        if not self._most_states:
            return "none was asked for"
        return self.time_out or self._simplest.pay(states, levels)

    def simple_way(self, steps: Steps, levels: Sequence[Level], endings: Endings) -> SimpleRun | str:
        """One of the runs through ``levels`` that changes few cells; or why there is none."""
        return self._simplest.run_along(steps, levels, endings)

    @functools.cached_property
    def _simplest(self) -> Simplest:
        return Simplest(self._search, self._most_states, self._budget)

    @property
    def time_out(self) -> str | None:
        """Why there is no time left, None if there is some."""
        return None if self._budget is None else self._budget.time_out

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
        begin = run.state
        numbers = [instance for _, instance in path[1:] if instance is not None]
        states, steps = [], []
        if type(run) is Run and self._last.begin == begin:
            same = _common(numbers, self._last.numbers)
            states, steps = self._last.states[:same], self._last.steps[:same]
            run.state = states[-1] if states else begin
        fault = None
        for number in numbers[len(steps) :]:
            taken = run.step(number)
            fault = taken[2]
            steps.append(self._step(*taken))
            states.append(run.state)
        sound = len(steps) - (fault is not None)
        self._last = _Followed(begin, numbers[:sound], states[:sound], steps[:sound])
        return Trace(named_state(self._machine, begin), tuple(steps), loop_start), fault

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
        return self._semantics.step(self._semantics.instances[number], state, fault)

    def path(self, state: Found) -> list[tuple[Found, int | None]]:
        """States from an initial one to ``state``, each with the number of the instance that leads to it."""
        found: list[tuple[Found, int | None]] = []
        while self._search.depth_of(state) > 0:
            if state not in self._known:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                if not self._look_back(state):
                    self._known[state] = self._predecessor(state)
            parent, instance = self._known[state]
            found.append((state, instance))
            state = parent
        found.append((state, None))
        return found[::-1]

    def _look_back(self, state: Found) -> bool:
        """Note the states before ``state`` over many small levels, expanded together; whether there are such."""
        depth, starts = self._search.depth_of(state), self._search.starts
        low = depth - _LEVELS
        if low < 0 or sum(starts[depth]) - sum(starts[low]) > _WINDOW:
            return False
        offsets = self._steps.offsets.tolist()
        ranges = zip(offsets, starts[low], starts[depth], strict=False)
        nearer = np.concatenate([np.arange(at + first, at + last) for at, first, last in ranges])
        batches = list(self._steps.batches(nearer))
        targets = np.concatenate([b.targets for b in batches])
        order = np.argsort(targets, kind="stable")
        targets = targets[order]
        sources = np.concatenate([b.sources for b in batches])[order]
        instances = np.concatenate([b.instances for b in batches])[order]
        for level in range(depth - 1, low - 1, -1):
            number = offsets[state.shard] + state.number
            first, last = np.searchsorted(targets, [number, number + 1]).tolist()
            parents = ((self._steps.found(int(sources[i])), int(instances[i])) for i in range(first, last))
            parent = next((p, i) for p, i in parents if self._search.depth_of(p) == level)
            self._known[state] = parent
            state = parent[0]
        return True

    @functools.cached_property
    def _steps(self) -> Steps:
        return Steps(self._search)

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

"""`explore`: every reachable state of a machine, and what that says about its properties."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model.coverage import Unseen
from model.explore.codegen.native import Native
from model.explore.coverage.unseen import unseen
from model.explore.liveness.liveness import Liveness
from model.explore.packing import PackedProgram, pack
from model.explore.possible import first_stuck
from model.explore.search.budget import Budget, OutOfBudget
from model.explore.search.checkpoint import read
from model.explore.search.limits import Limits, Progress, workers
from model.explore.search.saving import Saving
from model.explore.search.search import Occurrence, Search
from model.explore.search.spill import Spill
from model.explore.traces.recover import Recovery
from model.explore.traces.simplest import MOST_BEFORE_GOAL, MOST_STATES
from model.language import Machine, Property, PropertyKind
from model.lowering.lower import BUILT_IN_EVENTS, Event, EventKind
from model.trace import in_steps
from model.verdict import Coverage, Outcome, PropertyVerdict, Verdict

_SHORT_RUN = 1_000  # steps that are looked up even where time is out


def explore(
    machine: Machine,
    *,
    max_states: int | None = None,
    max_memory: int | None = None,
    time_limit: float | None = None,
    stop_at_first: bool = False,
    threads: int | None = None,
    symmetry: bool = False,
    progress: Callable[[Progress], None] | None = None,
    coverage: bool = False,
    stop: Callable[[], bool] | None = None,
    saving: Saving | None = None,
    resume: Path | None = None,
    spill: Path | None = None,
) -> Verdict:
    """Explore ``machine`` exhaustively; see `Exploration` for the arguments. SpecError if it cannot be compiled.

    ``coverage``: also tell what was not seen, in ``unseen`` of the verdict.
    """
    exploration = Exploration(
        machine,
        max_states=max_states,
        max_memory=max_memory,
        time_limit=time_limit,
        stop_at_first=stop_at_first,
        threads=threads,
        symmetry=symmetry,
        progress=progress,
        stop=stop,
        saving=saving,
        resume=resume,
        spill=spill,
    )
    return exploration.with_coverage() if coverage else exploration.verdict


class Exploration:
    """An exploration that was run: its verdict, and the states that it found.

    ``max_states``, ``max_memory`` (bytes; by default a share of what is free) and ``time_limit`` (seconds of search)
    are budgets: where one runs out, what is not yet decided is UNKNOWN, with what was covered. States that were found
    are still checked when the state or the memory budget runs out; they are not when time does. What is told beyond
    verdicts ends with the time too, but violations have their traces. ``stop_at_first``: end at the first violation,
    leaving the rest UNKNOWN; else every property gets its own verdict and shortest trace.
    ``symmetry``: of states that differ by an exchange of elements of sorts declared symmetric one stands for all; then
    states and steps are counted up to such exchanges, and liveness properties are UNKNOWN.
    ``progress`` is called about ten times a second, and at the end.

    ``stop`` is asked between batches of up to 131,072 states, mostly milliseconds but up to some tenths of a second
    apart, whether to end now, which is then told like a budget that ran out; ``saving`` keeps a checkpoint.
    ``resume``: a checkpoint to go on from, with any number of threads; counts, verdicts and traces are those of a run
    that was not interrupted. CheckpointError if it cannot be used. ``spill``: a directory for states that memory has
    no room for; SpillError if it cannot be used. ``any_traces``: a shortest trace is enough, it need not be one that
    changes few cells.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        max_states: int | None = None,
        max_memory: int | None = None,
        time_limit: float | None = None,
        stop_at_first: bool = False,
        threads: int | None = None,
        symmetry: bool = False,
        progress: Callable[[Progress], None] | None = None,
        stop: Callable[[], bool] | None = None,
        saving: Saving | None = None,
        resume: Path | None = None,
        spill: Path | None = None,
        any_traces: bool = False,
    ) -> None:
        for name, value in (("max_states", max_states), ("max_memory", max_memory), ("time_limit", time_limit)):
            if value is not None and value < 0:
                raise ValueError(f"{name} is not negative, found {value}")
        together = workers(threads)
        started = time.perf_counter()
        self.program: PackedProgram = pack(machine, symmetry=symmetry)
        native = Native(self.program)
        compiled = time.perf_counter()
        limits = Limits(max_memory, max_states, time_limit, stop_at_first)
        disk = None if spill is None else Spill(spill, native.shards)
        self.search = Search(
            self.program, native, limits, progress, threads=together, stop=stop, saving=saving, spill=disk
        )
        if resume is not None:
            read(resume, self.search)
        self.search.run()
        self._budget = Budget(self.search)
        self._recovery = Recovery(self.search, 0 if any_traces else MOST_STATES, self._budget)
        properties = tuple(map(self._property, machine.properties)) + tuple(
            self._universal(event.name, event.kind.value, event.kind, []) for event in BUILT_IN_EVENTS
        )
        undecided = any(p.outcome is Outcome.UNKNOWN for p in properties)
        if saving is not None and self.search.complete and self.search.stopped and undecided:
            saving.at_end(self.search, interrupted=True)
        warnings = (*native.problems, *(saving.warnings if saving is not None else ()))
        self.verdict = self._verdict(properties, compiled - started, time.perf_counter() - compiled, warnings)

    # ---- the states, for tests and analyses

    @property
    def states(self) -> NDArray[np.int64]:
        """Raw values of all states, nearest first: shape (states, cells), cells as in ``machine.cells()``."""
        return np.concatenate([self.program.layout.unpack_all(s.states) for s in self.search.shards])[self._order]

    @property
    def distances(self) -> NDArray[np.int64]:
        """Steps of a shortest path to each state."""
        return self._depths[self._order]

    @property
    def _depths(self) -> NDArray[np.int64]:
        """The distances shard by shard."""
        columns = zip(self.search.starts.columns, self.search.counts, strict=True)
        return np.concatenate([np.searchsorted(np.array(c), np.arange(n), side="right") - 1 for c, n in columns])

    @property
    def _order(self) -> NDArray[np.int64]:
        """States by distance, then by number, then by shard."""
        numbers = np.concatenate([np.arange(n) for n in self.search.counts])
        return np.lexsort((numbers, self._depths))

    def has_occurred(self, event: Event) -> bool:
        """Whether some state or step that was explored shows ``event``, of the machine's `Program`."""
        return self._first(event) is not None

    @functools.cached_property
    def unseen(self) -> Unseen:
        """What was not seen: why actions never fired, values that no state has, steps that change nothing."""
        return unseen(self.search, self._recovery, self._budget)

    def with_coverage(self) -> Verdict:
        """The verdict with what was not seen; `deadlock_free` then says in how many states nothing but idle steps is
        left, which it counts as steps."""
        started = time.perf_counter()
        found, verdict = self.unseen, self.verdict
        seconds = verdict.coverage.seconds + time.perf_counter() - started
        properties = verdict.properties
        if found.stuck is not None:
            aside = f"; in {found.stuck.states:,} every step changes nothing"
            properties = tuple(
                replace(p, how=p.how + aside) if p.kind == "deadlock" and p.outcome is Outcome.HOLDS else p
                for p in properties
            )
        return replace(
            verdict,
            properties=properties,
            coverage=replace(verdict.coverage, seconds=seconds),
            warnings=(*verdict.warnings, *found.warnings),
            unseen=found,
        )

    # ---- verdicts

    def _verdict(
        self,
        properties: tuple[PropertyVerdict, ...],
        compile_seconds: float,
        seconds: float,
        warnings: tuple[str, ...],
    ) -> Verdict:
        search, machine, canonical = self.search, self.program.machine, self.program.canonical
        coverage = Coverage(
            distinct_states=search.count,
            transitions=search.transitions,
            depth=search.depth,
            actions={a.name: n for a, n in zip(machine.actions, search.fired, strict=True)},
            complete=search.complete,
            budget=search.budget,
            seconds=seconds,
            compile_seconds=compile_seconds,
            bytes_per_state=search.memory / max(1, search.count),
            symmetry=None if canonical is None else canonical.symmetry.describe(machine),
        )
        return Verdict(machine.name, dict(machine.parameters), properties, coverage, warnings)

    def _property(self, p: Property) -> PropertyVerdict:
        if p.kind is PropertyKind.SOMETIMES:
            return self._sometimes(p)
        if p.kind is PropertyKind.POSSIBLE:
            return self._possible(p)
        if p.kind.is_liveness:
            if self.program.canonical is not None:
                how = "liveness is not explored up to symmetry: check it without --symmetry"
                return PropertyVerdict(p.name, p.kind.value, Outcome.UNKNOWN, how)
            return self._undecided(p.name, p.kind.value) or self._liveness.verdict(p)
        kind = EventKind.STEP if p.kind is PropertyKind.STEP else EventKind.ALWAYS
        return self._universal(p.name, p.kind.value, kind, list(enumerate(p.premises)))

    def _universal(self, name: str, kind: str, event: EventKind, premises: list[tuple[int, object]]) -> PropertyVerdict:
        """A claim about all states or steps."""
        found = self._first(Event(event, name))
        if found is not None:
            return self._violated(kind, found, Event(event, name))
        undecided = self._undecided(name, kind)
        if undecided is not None:
            return undecided
        for number, premise in premises:
            if self._first(Event(EventKind.PREMISE, name, number)) is None:
                return PropertyVerdict(name, kind, Outcome.VACUOUS, f"premise never true: {premise!r}")
        steps = event in (EventKind.STEP, EventKind.RANGE, EventKind.WRITE)
        return PropertyVerdict(name, kind, Outcome.HOLDS, self._all_transitions() if steps else self._all_states())

    @functools.cached_property
    def _liveness(self) -> Liveness:
        return Liveness(self.search, self._recovery, self._all_states(), self._budget)

    def _sometimes(self, p: Property) -> PropertyVerdict:
        found = self._first(Event(EventKind.SOMETIMES, p.name))
        if found is not None:
            depth = self.search.depth_of(found.state)
            how = f"reached after {in_steps(depth)}"
            out = self._recovery.time_out
            if out is not None and depth > _SHORT_RUN:
                unlooked = f"the run was not looked up: {out}"
                return PropertyVerdict(p.name, p.kind.value, Outcome.HOLDS, how, None, unlooked)
            trace, _, note = self._recovery.simple_trace(found, Event(EventKind.SOMETIMES, p.name), MOST_BEFORE_GOAL)
            return PropertyVerdict(p.name, p.kind.value, Outcome.HOLDS, how, trace, note)
        how = f"not reached in {self._all_states()}"
        return self._undecided(p.name, p.kind.value) or PropertyVerdict(p.name, p.kind.value, Outcome.VACUOUS, how)

    def _possible(self, p: Property) -> PropertyVerdict:
        kind = p.kind.value
        undecided = self._undecided(p.name, kind)
        if undecided is not None:
            return undecided
        # Predicate 0 is the initial constraint.
        bit = 1 + [name for name, _ in self.program.possible].index(p.name)
        try:
            stuck = first_stuck(self.search, bit, self._budget)
        except OutOfBudget as out:
            how = f"{out} while steps were followed backwards over {self._all_states()}"
            return PropertyVerdict(p.name, kind, Outcome.UNKNOWN, how)
        if stuck is None:
            return PropertyVerdict(p.name, kind, Outcome.HOLDS, f"from {self._all_states()}")
        trace, _, note = self._recovery.simple_trace(Occurrence(stuck, None))
        how = f"out of reach after {in_steps(len(trace))}"
        return PropertyVerdict(p.name, kind, Outcome.VIOLATED, how, trace, note)

    def _violated(self, kind: str, found: Occurrence, event: Event) -> PropertyVerdict:
        trace, fault, note = self._recovery.simple_trace(found, event)
        where = "" if fault is None else f", at {fault.at}: {fault.message}"
        how = f"violated after {in_steps(len(trace))}{where}"
        return PropertyVerdict(event.name, kind, Outcome.VIOLATED, how, trace, note)

    def _undecided(self, name: str, kind: str) -> PropertyVerdict | None:
        """The verdict of a claim that nothing decided, if there was no complete exploration of some states."""
        search = self.search
        if not search.complete:
            how = f"{search.budget}; {search.count:,} states found, all of those up to depth {search.complete_depth}"
            if search.complete_depth < 0:
                how = f"{search.budget} before all initial states were found"
            return PropertyVerdict(name, kind, Outcome.UNKNOWN, how)
        return None

    def _first(self, event: Event) -> Occurrence | None:
        return self.search.first.get(self.program.events.index(event))

    def _all_states(self) -> str:
        count = self.search.count
        words = "the only state" if count == 1 else f"all {count:,} states"
        return words + self._up_to() + self._beside_faults()

    def _up_to(self) -> str:
        return "" if self.program.canonical is None else " up to symmetry"

    def _all_transitions(self) -> str:
        count = self.search.transitions
        return (f"all {count:,} steps" if count != 1 else "the only step") + self._up_to()

    def _beside_faults(self) -> str:
        """A faulty step has no state after it, so a claim about all states does not speak of what it might lead to."""
        faulty = (Event(EventKind.RANGE, "values_in_range"), Event(EventKind.WRITE, "one_write_per_cell"))
        return " reached without a faulty step" if any(self._first(f) is not None for f in faulty) else ""


__all__ = ["Exploration", "explore"]

"""`simulate`: random walks over a machine, for models that are too big to explore.

The same claims are watched as by `explore`, but for those that only all states together can decide. Walks go on in
batches until all that were asked for are done, time runs out, or a batch sees a violation.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import numpy as np

from model.explore.codegen.native import Native
from model.explore.coverage.distinct import DistinctStates
from model.explore.packing import PackedProgram, pack
from model.explore.search.initial import initial_batches
from model.explore.search.limits import workers
from model.explore.walks.shorten import Shortener
from model.explore.walks.walks import BatchResult, Sighting, Walker, batch_size
from model.language import Machine, Property, PropertyKind
from model.lowering.lower import BUILT_IN_EVENTS, Event, EventKind
from model.semantics import Semantics
from model.simulation import Seen, Simulation
from model.trace import Trace, in_steps
from model.verdict import Outcome, PropertyVerdict

_IMPROVE: Final = 2_000_000  # steps, asked for, that are worth compiling well
_INITIAL: Final = 1 << 14


def simulate(
    machine: Machine,
    *,
    walks: int = 1_000,
    steps: int = 100,
    seed: int = 0,
    time_limit: float | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """``walks`` random walks of at most ``steps`` steps. Each begins in any initial state, then takes any enabled step.

    The answer depends on ``seed``, not on ``threads``; a ``time_limit`` (seconds) that runs out cuts it short.
    ``progress`` is called with the walks and the steps done. SpecError if the machine cannot be compiled.
    """
    if walks < 1 or steps < 1 or seed < 0:
        raise ValueError(f"walks and steps are positive, a seed is not negative: found {walks}, {steps}, {seed}")
    together = workers(threads)
    started = time.perf_counter()
    program = pack(machine)
    native = Native(program)
    if walks * steps >= _IMPROVE:
        native.improve()
    compiled = time.perf_counter()
    deadline = None if time_limit is None else compiled + time_limit
    initial = np.concatenate(list(initial_batches(program, native, _INITIAL)))
    walker = Walker(program, native, initial, steps, seed, deadline)
    total = _Total(program, walker)
    stopped: str | None = None
    for result in _in_order(walker, walks, batch_size(steps), together):
        total.add(result)
        if progress is not None:
            progress(total.walks, int(total.steps.sum()))
        late = deadline is not None and total.walks < walks and time.perf_counter() > deadline
        if total.violated and total.walks < walks:
            stopped = "a violation was found"
        elif late or not result.in_time:
            stopped = f"time limit of {time_limit:g} s ran out"
        if stopped is not None:
            break
    judge = _Judge(program, native, total)
    properties = judge.properties()
    seconds = time.perf_counter() - compiled
    return Simulation(
        machine.name,
        dict(machine.parameters),
        properties,
        walks,
        steps,
        seed,
        total.seen(seconds, compiled - started),
        stopped,
    )


def _in_order(walker: Walker, walks: int, size: int, threads: int) -> Iterator[BatchResult]:
    """The batches in order of their number, some of them computed ahead in other threads."""
    jobs = ((number, min(size, walks - number * size)) for number in range(-(-walks // size)))
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[BatchResult]] = deque()
        try:
            for number, count in jobs:
                ahead.append(pool.submit(walker.batch, number, count))
                if len(ahead) > threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            walker.stop()
            for job in ahead:
                job.cancel()


class _Total:
    """What all batches saw together."""

    def __init__(self, program: PackedProgram, walker: Walker) -> None:
        self._program: Final = program
        self._values: Final = walker.values
        self._distinct: Final = DistinctStates(program.layout.words)
        self.walks = 0
        self.steps = np.zeros(program.actions, np.int64)
        self._longest = 0
        self._dead_ends = 0
        self.first: Final[dict[int, Sighting]] = {}

    def add(self, result: BatchResult) -> None:
        """Add a batch; of the sightings of an event the one after the fewest steps counts, then the earlier walk."""
        self.walks += result.walks
        self.steps += result.steps
        self._longest = max(self._longest, result.longest)
        self._dead_ends += result.dead_ends
        for states in result.states:
            self._distinct.add(states)
        self._values.merge(result.values)
        for sighting in result.sightings:
            known = self.first.get(sighting.event)
            if known is None or sighting.length < known.length:
                self.first[sighting.event] = sighting

    @property
    def violated(self) -> bool:
        """Whether any claim is."""
        return any(self._program.events[event].is_violation for event in self.first)

    def seen(self, seconds: float, compile_seconds: float) -> Seen:
        """The statistics."""
        count, exact = self._distinct.count()
        actions = self._program.machine.actions
        return Seen(
            self.walks,
            int(self.steps.sum()),
            self._longest,
            self._dead_ends,
            count,
            exact,
            {a.name: int(n) for a, n in zip(actions, self.steps, strict=True)},
            self._values.taken(),
            seconds,
            compile_seconds,
        )


class _Judge:
    """The properties' verdicts, with shortened traces."""

    def __init__(self, program: PackedProgram, native: Native, total: _Total) -> None:
        self._program: Final = program
        self._machine: Final = program.machine
        self._total: Final = total
        self._semantics: Final = Semantics(program.machine)
        self._shortener: Final = Shortener(program, native)
        walks = total.walks
        self._walks: Final = "the only walk" if walks == 1 else f"{walks:,} walks"

    def properties(self) -> tuple[PropertyVerdict, ...]:
        """One for each property of the machine, then the built-in ones."""
        built_in = (self._universal(event, event.kind.value) for event in BUILT_IN_EVENTS)
        return (*map(self._property, self._machine.properties), *built_in)

    def _property(self, p: Property) -> PropertyVerdict:
        kind = p.kind.value
        if p.kind is PropertyKind.SOMETIMES:
            trace = self._trace(Event(EventKind.SOMETIMES, p.name))
            if trace is None:
                return PropertyVerdict(p.name, kind, Outcome.UNKNOWN, f"not reached in {self._walks}")
            return PropertyVerdict(p.name, kind, Outcome.HOLDS, f"reached{self._after(trace)}", trace)
        if p.kind in (PropertyKind.ALWAYS, PropertyKind.STEP):
            event = Event(EventKind.STEP if p.kind is PropertyKind.STEP else EventKind.ALWAYS, p.name)
            premises = [self._number(Event(EventKind.PREMISE, p.name, i)) for i in range(len(p.premises))]
            idle = any(number not in self._total.first for number in premises)
            return self._universal(event, kind, "; its premise was never true" if idle else "")
        return PropertyVerdict(p.name, kind, Outcome.UNKNOWN, "walks cannot judge it")

    def _universal(self, event: Event, kind: str, aside: str = "") -> PropertyVerdict:
        trace = self._trace(event)
        if trace is None:
            how = f"no violation in {self._walks}{aside}"
            return PropertyVerdict(event.name, kind, Outcome.UNKNOWN, how)
        fault = trace.steps[-1].fault if trace.steps else None
        how = f"violated{self._after(trace)}" + (f": {fault}" if fault is not None else "")
        return PropertyVerdict(event.name, kind, Outcome.VIOLATED, how, trace)

    def _number(self, event: Event) -> int:
        return self._program.events.index(event)

    @staticmethod
    def _after(trace: Trace) -> str:
        return f" after {in_steps(len(trace))}"

    def _trace(self, event: Event) -> Trace | None:
        """A run to ``event``, shortened; None if no walk came to it."""
        number = self._number(event)
        sighting = self._total.first.get(number)
        if sighting is None:
            return None
        run = self._shortener.shorten(number, sighting.start, sighting.instances)
        start = self._program.layout.unpack(run.states[0])
        return self._semantics.run(start, (*run.instances, *(() if run.last is None else (run.last,))))


__all__ = ["simulate"]

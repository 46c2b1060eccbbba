"""Explores mutants of a machine until each property is broken by one, or all were tried.

Mutants that touch what an unbroken property speaks of come first, in turn of the actions, and of one action's those
that break most. What no single fault breaks may be held twice, so at last two conjuncts of a guard are dropped
together. A mutant is explored for the unbroken properties only, and not much farther than the machine itself: what it
does beyond that is not known, so what it may still break stays undecided.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from model.explore.coverage.distinct import distinct
from model.explore.explorer import Exploration
from model.explore.search.search import INTERRUPTED
from model.language import Const, Expr, Machine, Property, PropertyKind, Read, SpecError
from model.language.generic_mutants import GenericMutant, generic_mutants, paired_guards
from model.language.mutation import mutated
from model.language.walking import walk
from model.vacuity import Broken, Vacuity
from model.verdict import Outcome, Verdict

_DEADLOCK = "deadlock_free"
_TIMES, _MORE = 4, 50_000


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What the mutants may take: see `vacuity`."""

    time_limit: float | None
    started: float
    stop: Callable[[], bool] | None
    max_memory: int | None
    threads: int | None

    def left(self) -> float | None:
        """Seconds that are left."""
        return None if self.time_limit is None else max(0.0, self.time_limit - (time.perf_counter() - self.started))

    def over(self) -> str | None:
        """Which bound ends it now, in words."""
        if self.stop is not None and self.stop():
            return INTERRUPTED
        return f"time limit of {self.time_limit:g} s ran out" if self.left() == 0.0 else None

    def explore(self, machine: Machine, most_states: int) -> Exploration:
        """An exploration within what is left."""
        return Exploration(
            machine,
            max_states=most_states,
            max_memory=self.max_memory,
            time_limit=self.left(),
            threads=self.threads,
            stop=self.stop,
            any_traces=True,
        )


def with_vacuity(verdict: Verdict, found: Vacuity) -> Verdict:
    """``verdict`` with what the mutants break: a property that none of them does becomes VACUOUS."""
    aside = f"; none of {found.tried:,} mutants breaks it"
    properties = tuple(
        replace(p, outcome=Outcome.VACUOUS, how=p.how + aside) if p.name in found.unbroken else p
        for p in verdict.properties
    )
    return replace(verdict, properties=properties, vacuity=found)


def vacuity(
    build: Callable[[], Machine],
    verdict: Verdict,
    *,
    time_limit: float | None = None,
    stop: Callable[[], bool] | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Vacuity:
    """What mutants break of the properties that hold in ``verdict``, of the machine that ``build`` makes at each call.

    ``time_limit`` (seconds) includes those that ``verdict`` took; ``stop`` is asked whether to end now, as by
    `Exploration`; ``max_memory`` (bytes) is for each exploration. What they leave open is undecided. ``progress`` is
    called with the number of mutants tried and of properties left.
    """
    started = time.perf_counter()
    bounds = _Bounds(time_limit, started - verdict.coverage.seconds, stop, max_memory, threads)
    machine = build()
    singles, pairs = generic_mutants(machine), paired_guards(machine)
    asked = _asked(machine, verdict)
    most_states = _TIMES * verdict.coverage.distinct_states + _MORE
    states = _states(bounds.explore(machine, most_states)) if asked and bounds.over() is None else None
    speaks = {p.name: _variables(p) for p in machine.properties}
    speaks[_DEADLOCK] = frozenset(v.name for v in machine.variables)
    left = list(asked)
    pending = list(enumerate(singles))
    mutants = len(singles)
    taken = Counter[str]()
    broken: dict[str, Broken] = {}
    # Of properties that some mutant left open: how many did, and why the first one.
    opened: dict[str, tuple[int, str]] = {}
    unchanged: list[str] = []
    tried, budget, paired = 0, None, False
    while left and (pending or pairs):
        if not pending:
            pending, pairs = list(enumerate(pairs)), ()
            mutants += len(pending)
            paired = True
        budget = bounds.over()
        if budget is not None:
            break
        spoken = frozenset[str]().union(*(speaks[name] for name in left))
        chosen = min(pending, key=lambda each: _rank(each[0], each[1], spoken, taken))
        pending.remove(chosen)
        mutant = chosen[1]
        taken[mutant.edit.action] += 1
        exploration = _explored(build, mutant, left, most_states, bounds)
        if exploration is None:
            continue
        tried += 1
        told = exploration.verdict
        breaks = [name for name in left if _breaks(told, name)]
        for name in breaks:
            trace = told[name].trace
            broken[name] = Broken(name, mutant.edit.what, None if trace is None else len(trace))
            left.remove(name)
        for name in left:
            if told[name].outcome is Outcome.UNKNOWN:
                times, why = opened.get(name, (0, told.coverage.budget or told[name].how))
                opened[name] = times + 1, why
        if not breaks and not paired and _steps(told) == _steps(verdict) and _states(exploration) == states:
            unchanged.append(mutant.edit.what)
        if progress is not None:
            progress(tried, len(left))
    undecided = left if budget is not None else [name for name in left if name in opened]
    if budget is None and undecided:
        # The last mutants may have been cut short by a bound of all of them.
        budget = bounds.over() or _cut_short(max(opened[name] for name in undecided))
    names = [p.name for p in verdict.properties if p.name in speaks]
    return Vacuity(
        mutants,
        tried,
        tuple(broken[name] for name in asked if name in broken),
        tuple(name for name in left if name not in undecided),
        tuple(undecided),
        tuple(name for name in names if name not in asked),
        tuple(unchanged),
        budget,
        time.perf_counter() - started,
    )


def _cut_short(opened: tuple[int, str]) -> str:
    times, why = opened
    return f"{times:,} mutant{' was' if times == 1 else 's were'} not explored to the end: {why}"


def _asked(machine: Machine, verdict: Verdict) -> list[str]:
    """The properties that hold, and that can be broken at all: a machine may declare that it may end anywhere."""
    names = [p.name for p in machine.properties]
    if not any(isinstance(t.condition, Const) and t.condition.raw for t in machine.terminals):
        names.append(_DEADLOCK)
    return [name for name in names if verdict[name].outcome is Outcome.HOLDS]


def _variables(p: Property) -> frozenset[str]:
    exprs: list[Expr] = [p.condition, *([] if p.trigger is None else [p.trigger])]
    for fairness in p.fairness:
        exprs += [g.condition for action in fairness.actions for g in action.guards]
    return frozenset(part.variable.name for expr in exprs for part in walk(expr) if isinstance(part, Read))


def _rank(
    number: int, mutant: GenericMutant, spoken: frozenset[str], taken: Counter[str]
) -> tuple[bool, int, int, int]:
    return not mutant.touches & spoken, taken[mutant.edit.action], mutant.order, number


def _explored(
    build: Callable[[], Machine], mutant: GenericMutant, left: list[str], most_states: int, bounds: _Bounds
) -> Exploration | None:
    """The mutant, explored for the properties ``left``; None if it is no spec."""
    try:
        machine = mutated(build, mutant.edit)
        machine.properties = [p for p in machine.properties if p.name in left]
        return bounds.explore(machine, most_states)
    except SpecError:
        return None


def _breaks(told: Verdict, name: str) -> bool:
    found = told[name]
    if found.kind == PropertyKind.SOMETIMES.value:
        return found.outcome is Outcome.VACUOUS
    return found.outcome is Outcome.VIOLATED


def _steps(verdict: Verdict) -> tuple[bool, dict[str, int]]:
    """How often each action fired."""
    return verdict.coverage.complete, dict(verdict.coverage.actions)


def _states(exploration: Exploration) -> bytes:
    """A digest of all packed states, in an order that depends on nothing but which they are."""
    states = distinct(np.concatenate([shard.states for shard in exploration.search.shards]))
    return hashlib.sha256(states.tobytes()).digest()


__all__ = ["vacuity", "with_vacuity"]

"""Mutants on trial: whether each breaks what it is meant to, in a scope where the spec itself holds.

A mutant is caught if the named property holds without the fault and is violated with it. One that tells a real report
must break nothing else, but for the consequences that it lists: it is that fault, and not a larger one. Nothing at all
may be violated without it, or what it leads to might be another fault's.
"""

from __future__ import annotations

import enum
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from model.explore import explore
from model.language import PropertyKind
from model.verdict import Outcome, PropertyVerdict, Verdict
from specs.mutant import Mutant
from specs.registry import mutants

_WATCH_SECONDS = 0.5


class Fate(enum.Enum):
    """What became of a mutant."""

    CAUGHT = "caught"
    SURVIVES = "survives"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutant and what the explorer found of the named property: ``told``, with the fault, and its trace, if any.

    ``also`` are properties that break besides it; ``because`` says why the mutant is not caught. ``states`` and
    ``seconds`` are of the faulty spec, all in.
    """

    spec: str
    name: str
    report: str
    source: str
    what: str
    lines: int
    told: PropertyVerdict
    also: tuple[str, ...]
    fate: Fate
    because: str
    states: int
    seconds: float

    @property
    def steps(self) -> int | None:
        """Length of the shortest trace; none where the property has none, as what is never reached."""
        return None if self.told.trace is None else len(self.told.trace)

    def to_json(self, *, trace: bool = False) -> dict[str, Any]:
        """An entry of ``gangproof mutants --json``; with its ``trace`` as well, empty where there is none."""
        run = {"trace": [] if self.told.trace is None else self.told.trace.to_json()} if trace else {}
        return {
            "spec": self.spec,
            "name": self.name,
            "report": self.report or None,
            "source": self.source,
            "what": self.what,
            "lines": self.lines,
            "property": self.told.name,
            "also": list(self.also),
            "verdict": self.told.outcome.value,
            "fate": self.fate.value,
            "because": self.because or None,
            "trace_length": self.steps,
            "distinct_states": self.states,
            "seconds": round(self.seconds, 3),
            **run,
        }


def tried(spec: str, mutant: Mutant, base: Verdict, time_limit: float | None = None, threads: int = 1) -> Trial:
    """``mutant`` of ``spec``, explored; ``base`` is the verdict on the spec without its fault."""
    before = time.perf_counter()
    verdict = explore(mutant.make(), time_limit=time_limit, threads=threads)
    seconds = time.perf_counter() - before
    fate, because = _judged(mutant, base, verdict)
    return Trial(
        spec,
        mutant.name,
        mutant.report,
        mutant.source,
        mutant.what,
        mutant.lines,
        verdict[mutant.violated],
        tuple(sorted(_broken(verdict) - _broken(base) - _undecided(base) - {mutant.violated})),
        fate,
        because,
        verdict.coverage.distinct_states,
        seconds,
    )


def _broken(verdict: Verdict) -> set[str]:
    """The properties that do not hold: violated, or, for a `sometimes`, never reached."""
    sometimes = PropertyKind.SOMETIMES.value
    return {
        p.name
        for p in verdict.properties
        if p.outcome is Outcome.VIOLATED or (p.kind == sometimes and p.outcome is Outcome.VACUOUS)
    }


def _undecided(verdict: Verdict) -> set[str]:
    return {p.name for p in verdict.properties if p.outcome is Outcome.UNKNOWN}


def _judged(mutant: Mutant, base: Verdict, verdict: Verdict) -> tuple[Fate, str]:
    """What is decided counts before what is not: a budget that ran out makes nothing caught, and hides no survivor."""
    name = mutant.violated
    if base[name].outcome not in (Outcome.HOLDS, Outcome.UNKNOWN):
        return Fate.SURVIVES, f"without the fault too {name} is {base[name].outcome.value}"
    others = [p.name for p in base.properties if p.outcome is Outcome.VIOLATED]
    if mutant.report and others:
        return Fate.SURVIVES, f"without the fault too {', '.join(sorted(others))} is violated"
    before, after = _broken(base), _broken(verdict)
    undecided = _undecided(base) | _undecided(verdict)
    if name not in after and name not in undecided:
        return Fate.SURVIVES, f"{name} {_STILL[verdict[name].outcome]}"
    if mutant.report:
        listed = {name, *mutant.consequences}
        more = after - before - listed - undecided
        if more:
            return Fate.SURVIVES, f"it breaks {', '.join(sorted(more))} too, which it does not list"
        kept = listed - after - undecided
        if kept:
            return Fate.SURVIVES, f"it lists {', '.join(sorted(kept))}, which it does not break"
    needed = undecided if mutant.report else undecided & {name}
    if needed:
        return Fate.UNKNOWN, f"undecided: {', '.join(sorted(needed))}; {_budget(base, verdict)}"
    return Fate.CAUGHT, ""


_STILL = {Outcome.HOLDS: "holds with the fault", Outcome.VACUOUS: "is vacuous with the fault"}


def _budget(base: Verdict, verdict: Verdict) -> str:
    if _undecided(base):
        return f"without the fault {base.coverage.budget or 'a budget ran out'}"
    return verdict.coverage.budget or "a budget ran out"


Scope = tuple[str, tuple[str, ...]]
"""A spec, and the names of the mutants that share one scope of it."""


def scopes(chosen: Sequence[tuple[str, str]]) -> list[Scope]:
    """Pairs of spec and mutant, put together by the scope that they are tried in."""
    found: dict[tuple[str, str], list[str]] = {}
    for spec in dict.fromkeys(spec for spec, _ in chosen):
        wanted = {name for other, name in chosen if other == spec}
        for mutant in mutants(spec):
            if mutant.name in wanted:
                found.setdefault((spec, repr(dict(mutant.parameters))), []).append(mutant.name)
    return [(spec, tuple(names)) for (spec, _), names in found.items()]


def trials_of(scope: Scope, time_limit: float | None = None, threads: int = 1) -> list[Trial]:
    """All trials of one scope, in which the spec without a fault is explored once."""
    spec, names = scope
    some = [m for m in mutants(spec) if m.name in names]
    base = explore(some[0].base(), time_limit=time_limit, threads=threads)
    return [tried(spec, mutant, base, time_limit, threads) for mutant in some]


def run_trials(
    chosen: Sequence[tuple[str, str]], *, workers: int = 1, time_limit: float | None = None
) -> Iterator[Trial]:
    """The trials of pairs of spec and mutant, as they end; each scope in one of ``workers`` processes.

    ``time_limit`` seconds for each exploration.
    """
    work = scopes(chosen)
    if workers <= 1 or len(work) <= 1:
        for scope in work:
            yield from trials_of(scope, time_limit, max(1, workers))
        return
    # Mutants hold functions, which do not travel: a process is told their names.
    context = multiprocessing.get_context("spawn")
    some = min(workers, len(work))
    with ProcessPoolExecutor(some, context, initializer=_end_with, initargs=(os.getpid(),)) as pool:
        pending = [pool.submit(trials_of, scope, time_limit) for scope in work]
        try:
            for done in as_completed(pending):
                yield from done.result()
        finally:
            for each in pending:
                each.cancel()


def _end_with(parent: int) -> None:
    """End this process when process ``parent`` is gone, however it ended: nobody waits for what is worked out here."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


__all__ = ["Fate", "Trial", "run_trials", "scopes", "tried", "trials_of"]

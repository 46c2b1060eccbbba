"""Mutants on trial: whether each breaks what it is meant to, in a scope where the spec itself holds.

A mutant is caught if the named property holds without the fault and is violated with it. One that tells a real report
must break nothing else, but for the consequences that it lists: it is that fault, and not a larger one.
"""

from __future__ import annotations

import enum
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from model.explore import explore
from model.language import PropertyKind
from model.trace import Trace
from model.verdict import Outcome, Verdict
from specs.mutant import Mutant
from specs.registry import mutants


class Fate(enum.Enum):
    """What became of a mutant."""

    CAUGHT = "caught"
    SURVIVES = "survives"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutant and what the explorer found. ``trace`` is the shortest; what is never reached has none.

    ``verdict`` is that of the named property with the fault, ``also`` what breaks besides it; ``because`` says why the
    mutant is not caught. ``states`` and ``seconds`` are of the faulty spec, all in.
    """

    spec: str
    name: str
    report: str
    source: str
    what: str
    lines: int
    violated: str
    also: tuple[str, ...]
    verdict: Outcome
    fate: Fate
    because: str
    trace: Trace | None
    states: int
    seconds: float

    @property
    def steps(self) -> int | None:
        """Length of the trace."""
        return None if self.trace is None else len(self.trace)

    def to_json(self) -> dict[str, Any]:
        """An entry of ``gangproof mutants --json``."""
        return {
            "spec": self.spec,
            "name": self.name,
            "report": self.report or None,
            "source": self.source,
            "what": self.what,
            "lines": self.lines,
            "property": self.violated,
            "also": list(self.also),
            "verdict": self.verdict.value,
            "fate": self.fate.value,
            "because": self.because or None,
            "trace_length": self.steps,
            "distinct_states": self.states,
            "seconds": round(self.seconds, 3),
        }


def broken(verdict: Verdict) -> set[str]:
    """The properties that do not hold: violated, or, for a `sometimes`, never reached."""
    sometimes = PropertyKind.SOMETIMES.value
    return {
        p.name
        for p in verdict.properties
        if p.outcome is Outcome.VIOLATED or (p.kind == sometimes and p.outcome is Outcome.VACUOUS)
    }


def tried(spec: str, mutant: Mutant, base: Verdict, time_limit: float | None = None, threads: int = 1) -> Trial:
    """``mutant`` of ``spec``, explored; ``base`` is the verdict on the spec without its fault."""
    before = time.perf_counter()
    verdict = explore(mutant.make(), time_limit=time_limit, threads=threads)
    seconds = time.perf_counter() - before
    told = verdict[mutant.violated]
    fate, because = _judged(mutant, base, verdict)
    return Trial(
        spec,
        mutant.name,
        mutant.report,
        mutant.source,
        mutant.what,
        mutant.lines,
        mutant.violated,
        tuple(sorted(broken(verdict) - broken(base) - {mutant.violated})),
        told.outcome,
        fate,
        because,
        told.trace,
        verdict.coverage.distinct_states,
        seconds,
    )


def _judged(mutant: Mutant, base: Verdict, verdict: Verdict) -> tuple[Fate, str]:
    before, after = broken(base), broken(verdict)
    if mutant.violated in before:
        return Fate.SURVIVES, f"{mutant.violated} is broken without the fault too"
    if base[mutant.violated].outcome is Outcome.UNKNOWN:
        return Fate.UNKNOWN, f"without the fault: {base[mutant.violated].how}"
    if mutant.violated not in after:
        if verdict[mutant.violated].outcome is Outcome.UNKNOWN:
            return Fate.UNKNOWN, f"with the fault: {verdict[mutant.violated].how}"
        return Fate.SURVIVES, f"{mutant.violated} is {verdict[mutant.violated].outcome.value} with the fault"
    others = after - before - {mutant.violated, *mutant.consequences}
    if others and mutant.report:
        return Fate.SURVIVES, f"it breaks {', '.join(sorted(others))} too, which it does not list"
    kept = set(mutant.consequences) - after
    if kept and mutant.report:
        return Fate.SURVIVES, f"it lists {', '.join(sorted(kept))}, which it does not break"
    return Fate.CAUGHT, ""


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
    with ProcessPoolExecutor(min(workers, len(work)), mp_context=context) as pool:
        pending = [pool.submit(trials_of, scope, time_limit) for scope in work]
        try:
            for done in as_completed(pending):
                yield from done.result()
        finally:
            for each in pending:
                each.cancel()


__all__ = ["Fate", "Trial", "broken", "run_trials", "scopes", "tried", "trials_of"]

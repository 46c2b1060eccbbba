"""Minimal sets over an oracle: which constraints block, and which liftings help.

The oracle says whether the gang fits with some constraints lifted; lifting more never hurts. A blocking set is minimal
if it blocks with all else lifted, and no part of it does. A correction is minimal if the gang fits with it lifted, and
with no part of it. Each correction hits every blocking set, and the other way round: the search asks for a smallest
set that hits all blocking sets known so far; it is a correction, or what it leaves contains one more blocking set
(Reiter 1987; Liffiton and Sakallah 2008). So corrections come smallest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from solver_placement.explain.fit import Fit

Numbers = frozenset[int]
Oracle = Callable[[Numbers], Fit]
"""Whether the gang fits with these constraints lifted."""


class Memory:
    """An oracle that remembers: what fits still fits with more lifted, what does not does not with less."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._yes: list[Numbers] = []
        self._no: list[Numbers] = []
        self.asked = 0

    def __call__(self, lifted: Numbers) -> Fit:
        if any(known <= lifted for known in self._yes):
            return Fit.YES
        if any(lifted <= known for known in self._no):
            return Fit.NO
        self.asked += 1
        fit = self._oracle(lifted)
        if fit is not Fit.UNKNOWN:
            (self._yes if fit is Fit.YES else self._no).append(lifted)
        return fit


def blocking_set(everything: Numbers, lifted: Numbers, oracle: Oracle) -> tuple[Numbers, bool]:
    """A deletion-minimal blocking set outside of ``lifted``, with which the gang does not fit.

    Also whether it is known to be minimal: where the oracle does not know, a constraint is kept. Constraints of higher
    number are dropped first.
    """
    kept, minimal = everything - lifted, True

    def drop(candidates: list[int]) -> None:
        nonlocal kept, minimal
        fit = oracle(everything - (kept - set(candidates)))
        if fit is Fit.NO:
            kept -= set(candidates)
        elif len(candidates) == 1:
            minimal = minimal and fit is Fit.YES
        else:
            half = len(candidates) // 2
            drop(candidates[:half])
            drop(candidates[half:])

    drop(sorted(kept, reverse=True))
    return kept, minimal


@dataclass
class Found:
    """``blocking``: the blocking sets met, in the order found; ``corrections``: smallest first. ``complete``: these are
    all there are of both. ``minimal``: every one of them is known to be minimal. ``in_time``: the oracle knew
    everything, and the clock ended nothing."""

    blocking: list[Numbers] = field(default_factory=list)
    corrections: list[Numbers] = field(default_factory=list)
    complete: bool = False
    minimal: bool = True
    in_time: bool = True


def explore(everything: Numbers, oracle: Oracle, most: int, in_time: Callable[[], bool]) -> Found:
    """Blocking sets and corrections of a gang that does not fit, up to ``most`` of each, while ``in_time``.

    ``oracle`` must say YES with everything lifted, and NO with nothing lifted. There is always a blocking set.
    """
    found = Found()
    hitting: set[Numbers] = {frozenset()}
    undecided: set[Numbers] = set()
    while waiting := hitting - set(found.corrections) - undecided:
        if max(len(found.corrections), len(found.blocking)) >= most:
            break
        if found.blocking and not in_time():
            found.in_time = False
            break
        candidate = min(waiting, key=lambda s: (len(s), sorted(s)))
        fit = oracle(candidate)
        if fit is Fit.YES:
            found.corrections.append(candidate)
        elif fit is Fit.UNKNOWN:
            undecided.add(candidate)
        else:
            core, minimal = blocking_set(everything, candidate, oracle)
            found.minimal = found.minimal and minimal
            found.blocking.append(core)
            hitting = _hit(hitting, core)
    found.in_time = found.in_time and found.minimal and not undecided
    found.complete = found.in_time and not waiting
    return found


def _hit(hitting: Iterable[Numbers], core: Numbers) -> set[Numbers]:
    """The minimal sets that hit what ``hitting`` hits, and ``core`` too (Berge)."""
    candidates = {each if each & core else each | {c} for each in hitting for c in core}
    return {each for each in candidates if not any(other < each for other in candidates)}

"""``eventually`` and ``leads_to``: is there a fair run that goes on forever without what is claimed?

A run goes round in the cycles of the state graph (`core`, found once for all claims) or stays somewhere. For each
property and each combination of its arguments: where fair runs can do that without the goal (`fair`), the nearest such
place that a run can come to (`region`), the shortest loop there (`shortest`), and a simple way to it (`stems`). What
fairness and violation mean is said by `model.semantics_liveness`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from model.explore.liveness.core import Bits, Core, Demanded, Flags, Masks, demanded_of, smallest
from model.explore.liveness.fair import FairParts, enabled_in
from model.explore.liveness.region import Region
from model.explore.liveness.shortest import loops_of
from model.explore.liveness.stems import simple_way
from model.explore.search.budget import Budget, OutOfBudget
from model.explore.search.search import Search
from model.explore.traces.recover import Recovery
from model.explore.traces.steps import Steps
from model.language import Property
from model.lowering.lower import LiveClaim
from model.semantics import Semantics
from model.semantics_liveness import demands
from model.trace import Trace, in_steps
from model.verdict import Outcome, PropertyVerdict

_MOST_CLAIMS = 32  # two conditions each, in one word


@dataclass(frozen=True, slots=True)
class _Violation:
    """A run that violates a claim: its trace, the steps before its loop, the claim's arguments in words, why no simpler
    way to the loop was looked for, and why a run with as short a way may have a shorter loop, if that is so."""

    trace: Trace
    stem: int
    shown: str
    note: str | None
    doubt: str | None

    @property
    def size(self) -> tuple[int, int]:
        """Steps before the loop, and on it: the smaller, the better."""
        return self.stem, len(self.trace) - self.stem


class Liveness:
    """Answers for the liveness properties of a complete ``search``, at most 64; ``of`` are its states in words: "all 12
    states"."""

    def __init__(self, search: Search, recovery: Recovery, of: str, budget: Budget) -> None:
        self._search: Final = search
        self._recovery: Final = recovery
        self._of: Final = of
        self._steps: Final = Steps(search)
        machine = search.program.machine
        instances = Semantics(machine).instances
        self._properties: Final = [p for p in machine.properties if p.kind.is_liveness]
        self._demanded: Final[list[Demanded]] = [
            demanded_of(demands(machine, instances, p.fairness), len(instances)) for p in self._properties
        ]
        self._budget: Final = budget
        self._core: Core | None = None

    def verdict(self, p: Property) -> PropertyVerdict:
        """The answer for ``p``."""
        try:
            return self._verdict(p)
        except OutOfBudget as out:
            how = f"{out} while fair runs were looked for in {self._of}"
            return PropertyVerdict(p.name, p.kind.value, Outcome.UNKNOWN, how)

    def _verdict(self, p: Property) -> PropertyVerdict:
        self._budget.check_time()
        if self._core is None:
            self._core = Core(self._steps, self._search.transitions, self._demanded, self._budget)
        number = self._properties.index(p)
        budget = self._budget.part()
        enabled = enabled_in(self._core, self._demanded[number], budget)
        claims = [c for c in self._search.program.live if c.property is p]
        worst: _Violation | None = None
        doubts: list[tuple[int, str]] = []
        triggered, at_once = False, True
        for first in range(0, len(claims), _MOST_CLAIMS):
            some = claims[first : first + _MOST_CLAIMS]
            part = budget.part()
            inside, starts = self._where(some, part)
            triggered |= bool(starts.any())
            at_once &= not (inside & starts).any()
            for i, claim in enumerate(some):
                found = self._violation(claim, number, _bit(inside, i), _bit(starts, i), enabled, part.part())
                if found is not None and found.doubt is not None:
                    doubts.append((found.stem, found.doubt))
                if found is not None and (worst is None or found.size < worst.size):
                    worst = found
        kind = p.kind.value
        if worst is not None:
            return PropertyVerdict(p.name, kind, Outcome.VIOLATED, _told(worst), worst.trace, _note(worst, doubts))
        if p.trigger is not None and not triggered:
            return PropertyVerdict(p.name, kind, Outcome.VACUOUS, f"premise never true: {p.premises[0]!r}")
        how = f"in every fair run through {self._of}"
        if at_once:
            how += ", at once" if p.trigger is None else ", at once whenever the premise holds"
        return PropertyVerdict(p.name, kind, Outcome.HOLDS, how)

    def _where(self, claims: Sequence[LiveClaim], budget: Budget) -> tuple[Bits, Bits]:
        """For each state and claim: whether the goal does not hold, and whether a run that violates it may start."""
        k, graph, count = len(claims), self._search.program.graph, self._steps.count
        nodes = [c.goal for c in claims] + [graph.true if c.trigger is None else c.trigger for c in claims]
        inside, starts = np.zeros(count, smallest(k)), np.zeros(count, smallest(k))
        # And the flags of the claim at hand.
        budget.take(2 * inside.nbytes + 3 * count)
        every = np.uint64((1 << k) - 1)
        for first, words in self._steps.word_of(self._search.native.predicates_of(nodes)):
            budget.check_time()
            inside[first : first + len(words)] = ~words & every
            starts[first : first + len(words)] = (words >> np.uint64(k)) & every
        if claims[0].trigger is None:
            later = np.ones(count, np.bool_)
            later[self._steps.at_depth(0)] = False
            starts[later] = 0
        return inside, starts

    def _violation(
        self, claim: LiveClaim, number: int, inside: Flags, starts: Flags, enabled: Masks, budget: Budget
    ) -> _Violation | None:
        assert self._core is not None
        stays = _bit(self._core.stays, number) & inside
        parts = FairParts(self._core, self._demanded[number], enabled, inside, budget)
        wanted = stays.copy()
        wanted[parts.states] = 1
        if not (wanted.any() and (starts & inside).any()):
            return None
        region = Region(self._steps, inside, starts, wanted, budget)
        if not len(region.found):
            return None
        # To stay is the simplest loop.
        ends, loops, doubt = region.found[stays[region.found] != 0], None, None
        if not len(ends):
            loops, doubt = loops_of(parts, region.found, budget)
            ends = np.array(sorted(loops), np.int64)
        path, note = simple_way(self._search, self._recovery, region, ends, at_start=claim.trigger is None)
        stem = len(path) - 1
        if loops is not None:
            end = path[-1][0]
            edges = loops[int(self._steps.offsets[end.shard]) + end.number]
            path += [(self._steps.found(int(self._core.states[e.target])), e.instance) for e in edges]
        return _Violation(self._recovery.along(path, stem), stem, claim.shown, note, doubt)


def _bit(bits: Bits, number: int) -> Flags:
    return ((bits >> number) & 1).astype(np.uint8)


def _note(found: _Violation, doubts: Sequence[tuple[int, str]]) -> str | None:
    """In which ways the run may not be the simplest. The loop may be a longer one than that of other arguments of the
    claim, as far as that is in ``doubts``: steps before a loop, and why it may be longer than need be."""
    loop = len(found.trace) - found.stem
    reason = next((why for stem, why in doubts if stem == found.stem), None) if loop > 1 else None
    parts = [] if found.note is None else [found.note]
    if reason is not None:
        parts.append(f"the loop may be longer than need be: {reason}")
    return "; ".join(parts) or None


def _told(found: _Violation) -> str:
    """Where the run goes round, in words."""
    about = f" for {found.shown}" if found.shown else ""
    loop = len(found.trace) - found.stem
    stays = f"stays forever in a state reached after {in_steps(found.stem)}"
    rounds = f"goes round {in_steps(loop)} forever, after {in_steps(found.stem)}"
    return f"a fair run{about} {rounds if loop else stays}"


__all__ = ["Liveness"]

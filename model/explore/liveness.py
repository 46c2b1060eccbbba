"""``eventually`` and ``leads_to``: is there a fair run that goes on forever without what is claimed?

For each combination of the property's arguments: the region where such a run can be (`region`), the parts of it where
a fair run can go round forever (`fair`), the nearest of these to the start, and a loop in it (`lasso`). What fairness
and violation mean is said by `model.semantics_liveness`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from model.explore.budget import Budget, OutOfMemory, OutOfTime
from model.explore.fair import FairGraph
from model.explore.ground import Node
from model.explore.lasso import Loop
from model.explore.lower import LiveClaim
from model.explore.recover import Recovery
from model.explore.region import Demanded, Flags, Masks, Region
from model.explore.search import Found, Search
from model.explore.steps import Numbers, Steps
from model.language import Property
from model.semantics import Semantics
from model.semantics_liveness import Demand, demands
from model.trace import Trace
from model.verdict import Outcome, PropertyVerdict

_MOST_CONDITIONS = 64
_WORD = 64


@dataclass(frozen=True, slots=True)
class _Violation:
    """A run that violates a claim, and its arguments in words."""

    trace: Trace
    shown: str

    @property
    def stem(self) -> int:
        """Steps before the loop."""
        return self.trace.loop_start if self.trace.loop_start is not None else len(self.trace)


def liveness(search: Search, recovery: Recovery, p: Property, of: str) -> PropertyVerdict:
    """The answer for a liveness property of a complete ``search``; ``of`` are the states in words: "all 12 states"."""
    return _Liveness(search, recovery).verdict(p, of)


class _Liveness:
    def __init__(self, search: Search, recovery: Recovery) -> None:
        self._search: Final = search
        self._recovery: Final = recovery
        self._steps: Final = Steps(search)
        self._semantics: Final = Semantics(search.program.machine)

    def verdict(self, p: Property, of: str) -> PropertyVerdict:
        kind = p.kind.value
        claims = [c for c in self._search.program.live if c.property is p]
        asked = demands(self._search.program.machine, self._semantics.instances, p.fairness)
        demanded = demanded_of(asked, len(self._semantics.instances))
        worst: _Violation | None = None
        triggered, at_once = False, True
        try:
            budget = Budget(self._search)
            for claim, inside, starts, any_trigger in self._conditions(claims):
                triggered |= any_trigger
                at_once &= not (inside & starts).any()
                found = self._violation(claim, inside, starts, demanded, budget.part())
                if found is not None and (worst is None or found.stem < worst.stem):
                    worst = found
        except OutOfMemory:
            how = f"memory ran out while fair runs were looked for in {of}"
            return PropertyVerdict(p.name, kind, Outcome.UNKNOWN, how)
        except OutOfTime:
            limit = self._search.limits.seconds
            how = f"time limit of {limit:g} s ran out while fair runs were looked for in {of}"
            return PropertyVerdict(p.name, kind, Outcome.UNKNOWN, how)
        if worst is not None:
            return PropertyVerdict(p.name, kind, Outcome.VIOLATED, _told(worst), worst.trace)
        if p.trigger is not None and not triggered:
            return PropertyVerdict(p.name, kind, Outcome.VACUOUS, f"premise never true: {p.premises[0]!r}")
        how = f"in every fair run through {of}"
        if at_once:
            how += ", at once" if p.trigger is None else ", at once whenever the premise holds"
        return PropertyVerdict(p.name, kind, Outcome.HOLDS, how)

    def _conditions(self, claims: Sequence[LiveClaim]) -> Iterator[tuple[LiveClaim, Flags, Flags, bool]]:
        """For each claim: where its goal does not hold; where a violation may start; whether its trigger ever holds."""
        graph = self._search.program.graph
        initial = np.zeros(self._steps.count, np.uint8)
        initial[self._steps.at_depth(0)] = 1
        for first in range(0, len(claims), _MOST_CONDITIONS // 2):
            some = claims[first : first + _MOST_CONDITIONS // 2]
            nodes: list[Node] = []
            for claim in some:
                nodes += [claim.goal, graph.true if claim.trigger is None else claim.trigger]
            predicates = self._search.native.predicates_of(nodes)
            for i, claim in enumerate(some):
                goal, trigger = self._flags(predicates, 2 * i), self._flags(predicates, 2 * i + 1)
                starts = initial if claim.trigger is None else trigger
                yield claim, 1 - goal, starts, bool(trigger.any())

    def _flags(self, predicates: Callable[[int, int, int], None], bit: int) -> Flags:
        flags = np.zeros(self._steps.count, np.uint8)
        for first, words in self._steps.word_of(predicates):
            flags[first : first + len(words)] = (words >> np.uint64(bit)) & np.uint64(1)
        return flags

    def _violation(
        self, claim: LiveClaim, inside: Flags, starts: Flags, demanded: Demanded, budget: Budget
    ) -> _Violation | None:
        budget.take(3 * self._steps.count)
        region = Region(self._steps, inside, starts, claim.trigger is None, demanded, budget)
        depth = next((d for d, level in enumerate(region.levels) if len(level)), None)
        if depth is None:
            return None
        stay = region.stay
        if stay is not None and stay[0] == depth:
            return _Violation(self._run(region, starts, *stay), claim.shown)
        graph = FairGraph(region, region.circling(), budget)
        last = len(region.levels) if stay is None else stay[0]
        for d in range(depth, last):
            state = next(graph.fair_among(region.levels[d]), None)
            if state is not None:
                loop = Loop(graph, graph.node(state))
                return _Violation(self._run(region, starts, d, state, graph, loop), claim.shown)
        return None if stay is None else _Violation(self._run(region, starts, *stay), claim.shown)

    # ---- the run

    def _run(
        self,
        region: Region,
        starts: Flags,
        level: int,
        state: int,
        graph: FairGraph | None = None,
        loop: Loop | None = None,
    ) -> Trace:
        """The run to ``state``, first reached at ``level`` of the region, and on along the ``loop``."""
        path = self._stem(region, starts, level, state)
        start = len(path) - 1
        if graph is not None and loop is not None:
            for edge in loop.edges:
                source, target = int(graph.states[edge.source]), int(graph.states[edge.target])
                path.append((self._steps.found(target), self._instance(source, target, graph.masks[edge.kind], region)))
        return self._recovery.along(path, start)

    def _stem(self, region: Region, starts: Flags, level: int, state: int) -> list[tuple[Found, int | None]]:
        steps, back = self._steps, []
        while not (starts[state] and steps.depth_of(state) == level):
            parent, instance = self._predecessor(region.levels[level - 1], state)
            back.append((steps.found(state), instance))
            state, level = parent, level - 1
        path = self._recovery.path(steps.found(state))
        return [*path, *back[::-1]]

    def _predecessor(self, level: Numbers, state: int) -> tuple[int, int]:
        for batch in self._steps.batches(level):
            hits = np.flatnonzero(batch.targets == state)
            if len(hits):
                return int(batch.sources[hits[0]]), int(batch.instances[hits[0]])
        raise AssertionError(f"state {state} has no predecessor in its region")

    def _instance(self, source: int, target: int, mask: Masks, region: Region) -> int:
        """The first instance that leads from ``source`` to ``target`` and takes ``mask``."""
        for batch in self._steps.batches(np.array([source])):
            right = (batch.targets == target) & (region.demanded.of[batch.instances] == mask).all(axis=1)
            return int(batch.instances[right].min())
        raise AssertionError("no step")


def demanded_of(asked: Sequence[Demand], instances: int) -> Demanded:
    """The demands as bits, one for each."""
    words = max(1, -(-len(asked) // _WORD))
    of = np.zeros((instances, words), np.uint64)
    kinds = np.zeros((2, words), np.uint64)
    for i, demand in enumerate(asked):
        word, bit = i // _WORD, np.uint64(1 << (i % _WORD))
        of[sorted(demand.instances), word] |= bit
        kinds[int(demand.strong), word] |= bit
    return Demanded(of, kinds[0], kinds[1])


def _told(found: _Violation) -> str:
    """Where the run goes round, in words."""
    about = f" for {found.shown}" if found.shown else ""
    loop = len(found.trace) - found.stem
    stays = f"stays forever in a state reached after {_steps(found.stem)}"
    rounds = f"goes round {_steps(loop)} forever, after {_steps(found.stem)}"
    return f"a fair run{about} {rounds if loop else stays}"


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"


__all__ = ["demanded_of", "liveness"]

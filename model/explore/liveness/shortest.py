"""Short loops: of the places where a run may go round, those with the shortest loop, and that loop.

A loop meets what fairness demands step by step, so a shortest one is found breadth first over pairs of a node and what
was met on the way there. That is exact, for any closed way from the start, but the pairs are many where the demands
are: a component takes part while its nodes times its combinations of demands met are at most `_MOST_PAIRS`, and while
what all starts together cost is bounded. Elsewhere the greedy loop of `lasso` stands, from a few starts. The first
start has its greedy loop in any case: what is found is never longer. Whether the loop is a shortest one is told.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.liveness.core import edges_of
from model.explore.liveness.fair import FairParts
from model.explore.liveness.lasso import Edge, Loop, edge_of
from model.explore.search.budget import Budget, OutOfMemory, OutOfTime
from model.explore.traces.steps import Numbers

_MOST_PAIRS = 1 << 25
_MOST_WORK = 1 << 22  # edges that are followed for all starts together
_LEVEL = 1 << 8  # what a level costs besides its edges
_GREEDY_STARTS = 8


class ShortLoops:
    """The shortest loops in ``parts`` from any of ``starts``, nodes in order.

    ``found`` has the loop of each start with a loop of the least length that was found; ``doubt`` says why there may be
    shorter ones, None if there are none.
    """

    def __init__(self, parts: FairParts, starts: Sequence[int], budget: Budget) -> None:
        self._parts: Final = parts
        self._budget: Final = budget
        self._work = _MOST_WORK
        self.found: dict[int, list[Edge]] = {}
        self.doubt: str | None = None
        self._greedy(starts[0])
        try:
            self._look(starts)
        except (OutOfMemory, OutOfTime) as out:
            # The loop that there is will do.
            self.doubt = str(out)
        if self._least == 1:
            self.doubt = None

    @property
    def _least(self) -> int:
        return min(map(len, self.found.values()))

    def _look(self, starts: Sequence[int]) -> None:
        group = self._parts.group
        self._budget.take(16 * len(group))
        order = np.argsort(group, kind="stable")
        ordered = group[order]
        by_group: dict[int, list[int]] = {}
        for start in starts:
            by_group.setdefault(int(group[start]), []).append(start)
        greedy = 0
        for number, some in by_group.items():
            low, high = np.searchsorted(ordered, [number, number + 1])
            rounds = _rounds(self._parts, order[low:high], self._budget)
            self._work -= int(high - low)
            for start in some:
                self._budget.check_time()
                if self._work < 0:
                    self.doubt = "there are too many steps to follow"
                    return
                if rounds is not None:
                    loop, cost = rounds.shortest(start, self._least)
                    self._work -= cost
                    if loop is not None:
                        self._keep(start, loop)
                    continue
                self.doubt = "there are too many combinations of what fairness demands"
                if greedy < _GREEDY_STARTS:
                    greedy += 1
                    self._greedy(start)

    def _greedy(self, start: int) -> None:
        loop = Loop(self._parts, start)
        self._work -= loop.work
        self._keep(start, loop.edges)

    def _keep(self, start: int, loop: list[Edge]) -> None:
        least = self._least if self.found else len(loop)
        if len(loop) < least:
            self.found.clear()
        if len(loop) <= least and len(loop) < len(self.found.get(start, [*loop, None])):
            self.found[start] = loop


def _rounds(parts: FairParts, nodes: Numbers, budget: Budget) -> _Rounds | None:
    """The component ``nodes`` with what is met where; None where the pairs are too many."""
    demanded = parts.demanded
    ever = np.bitwise_or.reduce(parts.enabled[nodes], axis=0)
    weak, strong = _bits(ever & demanded.weak), _bits(ever & demanded.strong)
    width = len(weak) + 2 * len(strong)
    if width > 30 or len(nodes) << width > _MOST_PAIRS:
        return None
    # A page is taken only where something is written; and what each node and each instance adds.
    budget.part().take((len(nodes) << width) + 8 * (len(nodes) + len(demanded.of)))
    at, by = np.zeros(len(nodes), np.int64), np.zeros(len(demanded.of), np.int64)
    for bit, (word, shift) in enumerate(weak):
        at |= (~_column(parts.enabled[nodes], word, shift) & 1) << bit
        by |= _column(demanded.of, word, shift) << bit
    asked = len(weak) + len(strong)
    for bit, (word, shift) in enumerate(strong, len(weak)):
        at |= _column(parts.enabled[nodes], word, shift) << bit
        by |= _column(demanded.of, word, shift) << (bit + len(strong))
    return _Rounds(parts, nodes, at, by, len(weak), asked, width)


def _bits(words: NDArray[np.uint64]) -> list[tuple[int, int]]:
    """Word and place of each bit that is set."""
    return [(i, k) for i, word in enumerate(words.tolist()) for k in range(64) if word >> k & 1]


def _column(masks: NDArray[np.uint64], word: int, shift: int) -> Numbers:
    return ((masks[:, word] >> np.uint64(shift)) & np.uint64(1)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Reached:
    """The pairs first reached after some steps: of each its key, the row of the one before, the edge from there."""

    keys: Numbers
    before: Numbers
    edges: Numbers


class _Rounds:
    """Loops in one component. What was met on the way is a number whose bits only ever get set: for a weak demand that
    it is met; for a strong one that it was enabled, and, further up, that it was taken.

    ``at``: what each node sets, ``by``: what each instance sets; ``weak`` bits of the first kind, ``asked`` of the
    first two, ``width`` of all.
    """

    def __init__(
        self, parts: FairParts, nodes: Numbers, at: Numbers, by: Numbers, weak: int, asked: int, width: int
    ) -> None:
        self._parts: Final = parts
        self._nodes: Final = nodes
        self._at: Final = at
        self._by: Final = by
        self._met: Final = (1 << weak) - 1
        self._weak: Final = weak
        self._strong: Final = asked - weak
        self._width: Final = width
        self._group: Final = int(parts.group[nodes[0]])
        self._seen: Final = np.zeros(len(nodes) << width, np.uint8)

    def shortest(self, start: int, most: int) -> tuple[list[Edge] | None, int]:
        """A shortest loop from ``start``, None if it has more than ``most`` edges; and what it cost to look."""
        core, width = self._parts.core, self._width
        home = int(np.searchsorted(self._nodes, start))
        first = np.array([home << width | int(self._at[home])])
        none = np.zeros(1, np.int64)
        levels = [_Reached(first, none, none)]
        self._seen[first] = 1
        cost, loop = 0, None
        while len(levels) <= most and loop is None:
            here = levels[-1].keys
            nodes = self._nodes[here >> width]
            edges = edges_of(core.offsets, nodes)
            rows = np.repeat(np.arange(len(nodes)), core.offsets[nodes + 1] - core.offsets[nodes])
            cost += _LEVEL + len(edges)
            inner = self._parts.group[core.targets[edges]] == self._group
            edges, rows = edges[inner], rows[inner]
            target = np.searchsorted(self._nodes, core.targets[edges])
            met = (here[rows] & ((1 << width) - 1)) | self._by[core.instances[edges]] | self._at[target]
            closing = np.flatnonzero((target == home) & self._is_fair(met))
            if len(closing):
                loop = self._way(levels, int(rows[closing[0]]), int(edges[closing[0]]))
                break
            keys = target << width | met
            fresh = np.flatnonzero(self._seen[keys] == 0)
            keys, chosen = np.unique(keys[fresh], return_index=True)
            if not len(keys):
                break
            self._seen[keys] = 1
            levels.append(_Reached(keys, rows[fresh[chosen]], edges[fresh[chosen]]))
        for level in levels:
            self._seen[level.keys] = 0
        return loop, cost

    def _is_fair(self, met: Numbers) -> NDArray[np.bool_]:
        """Whether a loop on which ``met`` was met is fair."""
        enabled = met >> self._weak & ((1 << self._strong) - 1)
        taken = met >> (self._weak + self._strong)
        return np.asarray(((met & self._met) == self._met) & ((enabled & ~taken) == 0), np.bool_)

    def _way(self, levels: list[_Reached], row: int, last: int) -> list[Edge]:
        edges = [edge_of(self._parts.core, last)]
        for level in levels[:0:-1]:
            edges.append(edge_of(self._parts.core, int(level.edges[row])))
            row = int(level.before[row])
        assert all(a.target == b.source for a, b in itertools.pairwise(edges[::-1]))
        return edges[::-1]


def loops_of(parts: FairParts, states: Numbers, budget: Budget) -> tuple[Mapping[int, list[Edge]], str | None]:
    """The shortest loops from any of ``states``, ascending: of each state with a loop of the least length found. And
    why there may be shorter ones, None if there are none."""
    nodes = np.searchsorted(parts.core.states, states).tolist()
    short = ShortLoops(parts, nodes, budget)
    return {int(parts.core.states[node]): loop for node, loop in short.found.items()}, short.doubt


__all__ = ["ShortLoops", "loops_of"]

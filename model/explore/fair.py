"""Where fair runs can go round: strongly connected parts of a region in which every demand of fairness can be met.

A component in which a weakly fair action is enabled everywhere and never taken holds no fair run, and neither does any
part of it. One in which a strongly fair action is enabled somewhere and never taken holds fair runs only among its
other states: what is left is taken apart again. (This is emptiness of Streett automata.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from model.explore.budget import Budget
from model.explore.components import NODE_BYTES, strong_components
from model.explore.region import Demanded, Flags, Masks, Region, any_bit
from model.explore.steps import Numbers

_CHUNK = 1 << 16


class FairGraph:
    """The states of a region that may lie on cycles, and the steps between them, with what is enabled where.

    Nodes are numbered from 0; ``states`` has their states' numbers, ascending. The edges of node v are ``targets`` and
    ``kinds`` from ``offsets[v]`` to ``offsets[v + 1]``; ``masks[kinds[e]]`` is what edge e takes. ``group[v]`` is the
    fair component of node v, -1 if it lies in none.
    """

    def __init__(self, region: Region, alive: Flags, budget: Budget) -> None:
        self.demanded: Final[Demanded] = region.demanded
        self._budget = budget
        self.states: Final[Numbers] = np.flatnonzero(alive)
        n = len(self.states)
        self.masks, kind_of = np.unique(region.demanded.of, axis=0, return_inverse=True)
        self._kind_of = kind_of.reshape(-1).astype(np.uint16 if len(self.masks) < 1 << 16 else np.uint32)
        budget.take(n * (8 + 8 + 8 * region.demanded.words) + 4 * region.steps.count)
        self.enabled: Final[Masks] = np.zeros((n, region.demanded.words), np.uint64)
        self.offsets: Final[Numbers] = np.zeros(n + 1, np.int64)
        self.targets, self.kinds = self._collect(region, alive)
        self.group: Final = np.full(n, -1, np.int32)
        self._groups = 0
        self._refine()

    def _collect(self, region: Region, alive: Flags) -> tuple[NDArray[np.int32], NDArray[Any]]:
        node_of = np.full(region.steps.count, -1, np.int32)
        node_of[self.states] = np.arange(len(self.states), dtype=np.int32)
        targets: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
        kinds: list[NDArray[Any]] = [self._kind_of[:0]]
        for batch in region.steps.batches(self.states):
            self._budget.check_time()
            ordered = batch.only(batch.targets != batch.sources).by_row()
            first, last = int(node_of[batch.states[0]]), int(node_of[batch.states[-1]]) + 1
            firsts = np.flatnonzero(np.diff(ordered.rows, prepend=-1))
            if len(firsts):
                enabled = np.bitwise_or.reduceat(self.demanded.of[ordered.instances], firsts, axis=0)
                self.enabled[first + ordered.rows[firsts]] = enabled
            inner = ordered.only(alive[ordered.targets] != 0)
            self.offsets[first + 1 : last + 1] = np.bincount(inner.rows, minlength=last - first)
            targets.append(node_of[inner.targets])
            kinds.append(self._kind_of[inner.instances])
            # Twice: once more when all are put together.
            self._budget.take(2 * (targets[-1].nbytes + kinds[-1].nbytes))
        np.cumsum(self.offsets, out=self.offsets)
        return np.concatenate(targets), np.concatenate(kinds)

    # ---- fair components

    def _refine(self) -> None:
        n = len(self.states)
        self._budget.take(n * (NODE_BYTES + 4 + 8 * self.demanded.words + 16))
        label = np.zeros(n, np.int32)
        while n and (label >= 0).any():
            self._budget.check_time()
            component, count = strong_components(self.offsets, self.targets, label)
            label = self._judge(component, count)

    def _judge(self, component: NDArray[np.int32], count: int) -> NDArray[np.int32]:
        """Note the components that are fair. New labels: for what is left of those to be taken apart; -1 elsewhere."""
        taken = self._taken(component)
        order = np.argsort(component, kind="stable")
        order = order[np.searchsorted(component[order], 0) :]
        of = component[order]
        firsts = np.searchsorted(of, np.arange(count))
        always = np.bitwise_and.reduceat(self.enabled[order], firsts, axis=0)
        ever = np.bitwise_or.reduceat(self.enabled[order], firsts, axis=0)
        done = np.bitwise_or.reduceat(taken[order], firsts, axis=0)
        hopeless = any_bit(always & ~done & self.demanded.weak)
        avoided = ever & ~done & self.demanded.strong
        apart = any_bit(avoided) & ~hopeless
        fair = ~hopeless & ~apart
        chosen = fair[of]
        self.group[order[chosen]] = (np.cumsum(fair) - 1 + self._groups)[of[chosen]]
        self._groups += int(np.count_nonzero(fair))
        label = np.full(len(component), -1, np.int32)
        rest = order[apart[of]]
        stays = ~any_bit(self.enabled[rest] & avoided[component[rest]])
        label[rest[stays]] = component[rest[stays]]
        return label

    def _taken(self, component: NDArray[np.int32]) -> Masks:
        """For each node what is taken by its edges inside its component."""
        taken = np.zeros_like(self.enabled)
        for first in range(0, len(taken), _CHUNK):
            last = min(first + _CHUNK, len(taken))
            low, high = int(self.offsets[first]), int(self.offsets[last])
            counts = np.diff(self.offsets[first : last + 1])
            sources = np.repeat(np.arange(first, last), counts)
            inner = (component[sources] >= 0) & (component[sources] == component[self.targets[low:high]])
            sources = sources[inner]
            firsts = np.flatnonzero(np.diff(sources, prepend=-1))
            if len(firsts):
                done = np.bitwise_or.reduceat(self.masks[self.kinds[low:high][inner]], firsts, axis=0)
                taken[sources[firsts]] = done
        return taken

    # ---- for building loops

    def node(self, state: int) -> int:
        """The node of a state; -1 if it has none."""
        at = int(np.searchsorted(self.states, state))
        return at if at < len(self.states) and self.states[at] == state else -1

    def fair_among(self, states: Numbers) -> Iterator[int]:
        """Those of ``states``, which ascend, that lie in fair components."""
        at = np.searchsorted(self.states, states)
        known = at < len(self.states)
        known[known] = self.states[at[known]] == states[known]
        known[known] = self.group[at[known]] >= 0
        yield from states[known].tolist()


__all__ = ["FairGraph"]

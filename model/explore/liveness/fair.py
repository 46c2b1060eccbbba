"""Where fair runs can go round: strongly connected parts of the core in which every demand of fairness can be met.

A component in which a weakly fair action is enabled everywhere and never taken holds no fair run, and neither does any
part of it. One in which a strongly fair action is enabled somewhere and never taken holds fair runs only among its
other states: what is left is taken apart again. (This is emptiness of Streett automata.)
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.liveness.components import NODE_BYTES, strong_components
from model.explore.liveness.core import Core, Demanded, Flags, Masks, any_bit
from model.explore.search.budget import Budget
from model.explore.traces.steps import Numbers

_CHUNK = 1 << 16


def enabled_in(core: Core, demanded: Demanded, budget: Budget) -> Masks:
    """What is enabled of what is demanded, for each node of the core."""
    enabled = np.zeros((len(core.states), demanded.words), np.uint64)
    budget.take(enabled.nbytes)
    for first in range(0, len(enabled), _CHUNK):
        last = min(first + _CHUNK, len(enabled))
        starts = core.offsets[first:last]
        edges = core.instances[starts[0] : core.offsets[last]]
        # Every node of the core has an edge.
        enabled[first:last] = np.bitwise_or.reduceat(demanded.of[edges], starts - starts[0], axis=0)
    return enabled


class FairParts:
    """The fair components among the nodes where ``inside`` is 1. ``group[v]`` is that of node v, -1 if it has none."""

    def __init__(self, core: Core, demanded: Demanded, enabled: Masks, inside: Flags, budget: Budget) -> None:
        self.core: Final = core
        self.demanded: Final = demanded
        self.enabled: Final = enabled
        self._groups = 0
        n = len(core.states)
        budget.take(n * (NODE_BYTES + 4 + 4 + 8 * demanded.words + 16))
        # The node behind the last stands for all that is outside.
        self.group: Final = np.full(n + 1, -1, np.int32)
        label = np.full(n + 1, -1, np.int32)
        label[:n][inside[core.states] != 0] = 0
        while (label >= 0).any():
            budget.check_time()
            component, count = strong_components(core.offsets, core.targets, label)
            label = self._judge(component, count)

    @property
    def states(self) -> Numbers:
        """The states that lie in fair components."""
        return self.core.states[self.group[:-1] >= 0]

    def _judge(self, component: NDArray[np.int32], count: int) -> NDArray[np.int32]:
        """Note the components that are fair. New labels: for what is left of those to be taken apart; -1 elsewhere."""
        taken = self._taken(component)
        order = np.argsort(component[:-1], kind="stable")
        order = order[np.searchsorted(component[order], 0) :]
        of = component[order]
        firsts = np.searchsorted(of, np.arange(count))
        always = np.bitwise_and.reduceat(self.enabled[order], firsts, axis=0)
        ever = np.bitwise_or.reduceat(self.enabled[order], firsts, axis=0)
        done = np.bitwise_or.reduceat(taken[order], firsts, axis=0)
        alone = np.diff(np.r_[firsts, len(of)]) == 1  # a run can only stay there, which is told by Core.stays
        hopeless = any_bit(always & ~done & self.demanded.weak) | alone
        avoided = ever & ~done & self.demanded.strong
        apart = any_bit(avoided) & ~hopeless
        fair = ~hopeless & ~apart
        chosen = fair[of]
        self.group[order[chosen]] = (np.cumsum(fair) - 1 + self._groups)[of[chosen]]
        self._groups += int(np.count_nonzero(fair))
        label = np.full(len(component), -1, np.int32)
        rest = order[apart[of]]
        stays = rest[~any_bit(self.enabled[rest] & avoided[component[rest]])]
        label[stays] = component[stays]
        return label

    def _taken(self, component: NDArray[np.int32]) -> Masks:
        """For each node what is taken by its edges inside its component."""
        taken, core = np.zeros_like(self.enabled), self.core
        for first in range(0, len(taken), _CHUNK):
            last = min(first + _CHUNK, len(taken))
            low, high = int(core.offsets[first]), int(core.offsets[last])
            sources = np.repeat(np.arange(first, last), np.diff(core.offsets[first : last + 1]))
            inner = (component[sources] >= 0) & (component[sources] == component[core.targets[low:high]])
            sources = sources[inner]
            firsts = np.flatnonzero(np.diff(sources, prepend=-1))
            if len(firsts):
                done = np.bitwise_or.reduceat(self.demanded.of[core.instances[low:high][inner]], firsts, axis=0)
                taken[sources[firsts]] = done
        return taken


__all__ = ["FairParts", "enabled_in"]

"""A first answer in a moment: gangs in several orders, each placed first-fit or not at all.

It is the start and the floor of the exact methods, and a method of its own. Orders: most weight for the scarcest
resource first; largest pods first (first-fit decreasing, which packs well where everything fits); most weight
first; fewest pods first.
"""

# float: shares order the gangs; what fits is decided on integers
from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from solver_placement.devices import DeviceState
from solver_placement.problem import Packing, Pattern, Problem, better, packing_of

Amounts = npt.NDArray[np.int64]


class Bins:
    """Every node's free capacity as one matrix (nodes x resources), and what was put on each node."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.slots = [c for c, n in enumerate(problem.nodes) for _ in range(n.count)]
        slots, kinds, width = len(self.slots), len(problem.pods), len(problem.resources)
        self.free: Amounts = np.array([problem.nodes[c].free for c in self.slots], np.int64).reshape(slots, width)
        self.fits: Amounts = np.array([problem.nodes[c].fits for c in self.slots], np.int64).reshape(slots, kinds)
        self.requests: Amounts = np.array([p.request for p in problem.pods], np.int64).reshape(kinds, width)
        self.held: list[dict[int, int]] = [{} for _ in self.slots]
        self.stock = [0] * len(problem.pods)
        self.devices = DeviceState(problem, self.slots)

    def _put(self, s: int, t: int, k: int) -> None:
        """``k`` more pods of class ``t`` on slot ``s``; fewer where ``k`` is negative."""
        self.free[s] -= self.requests[t] * k
        if k > 0:
            self.devices.take(s, t, k)
        else:
            self.devices.give(s, t, -k)
        self.held[s][t] = self.held[s].get(t, 0) + k

    def prepare(self, nodes: Sequence[Sequence[Pattern]]) -> None:
        """Put patterns on empty nodes ahead of any gang; their pods are stock that gangs then take."""
        waiting = [list(patterns) for patterns in nodes]
        for s, c in enumerate(self.slots):
            pattern = waiting[c].pop() if waiting[c] else ()
            if self.devices:
                # largest first, or shares may lie in the way of whole devices
                pattern = tuple(sorted(pattern, key=lambda tk: self.problem.pods[tk[0]].request, reverse=True))
            for t, k in pattern:
                room = self.devices.room(t)
                count = k if room is None else min(k, int(room[s]))
                self._put(s, t, count)
                self.stock[t] += count

    def clear_stock(self) -> None:
        """Take away what no gang took, from the nodes that hold least first."""
        for s in sorted(range(len(self.slots)), key=lambda s: (sum(self.held[s].values()), s)):
            for t, k in list(self.held[s].items()):
                if (gone := min(k, self.stock[t])) > 0:
                    self._put(s, t, -gone)
                    self.stock[t] -= gone

    def place(self, pods: Pattern) -> bool:
        """Put all of ``pods`` on the first nodes that take them, stock first, large pods first; or change nothing."""
        undo: list[tuple[int, int, int]] = []
        taken_from_stock: list[tuple[int, int]] = []
        for t, wanted in sorted(pods, key=lambda tk: self.problem.pods[tk[0]].request, reverse=True):
            stocked = min(wanted, self.stock[t])
            self.stock[t] -= stocked
            taken_from_stock.append((t, stocked))
            count = wanted - stocked
            if not count:
                continue
            asked = self.requests[t] > 0
            room = (self.free[:, asked] // self.requests[t, asked]).min(axis=1, initial=count)
            room = np.minimum(room, self.fits[:, t])
            if (by_device := self.devices.room(t)) is not None:
                room = np.minimum(room, by_device)
            taken = np.minimum(np.maximum(count - (np.cumsum(room) - room), 0), room)
            if int(taken.sum()) < count:
                for s, kind, k in undo:
                    self._put(s, kind, -k)
                for kind, k in taken_from_stock:
                    self.stock[kind] += k
                return False
            for s in np.flatnonzero(taken).tolist():
                self._put(s, t, int(taken[s]))
                undo.append((s, t, int(taken[s])))
        return True

    def packing(self, gangs: list[int]) -> Packing:
        """The answer so far."""
        slots: list[list[dict[int, int]]] = [[] for _ in self.problem.nodes]
        for c, held in zip(self.slots, self.held, strict=True):
            slots[c].append(held)
        return packing_of(gangs, slots)


class FirstFit:
    """Gangs one after the other, each as often as it fits under the queue rows and on the nodes."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.bins = Bins(problem)
        self.gangs = [0] * len(problem.gangs)
        self._room = [row.limit for row in problem.limits]
        self._rows: list[list[tuple[int, int]]] = [[] for _ in problem.gangs]
        for i, row in enumerate(problem.limits):
            for g, n in row.uses.items():
                self._rows[g].append((i, n))

    def admit(self, order: Sequence[int], most: Sequence[int]) -> None:
        """Bring each gang class of ``order`` up to ``most[g]`` gangs, or as near as it gets."""
        for g in order:
            while self.gangs[g] < most[g]:
                if any(self._room[i] < n for i, n in self._rows[g]) or not self.bins.place(self.problem.gangs[g].pods):
                    break
                self.gangs[g] += 1
                for i, n in self._rows[g]:
                    self._room[i] -= n

    def packing(self) -> Packing:
        """The answer so far."""
        return self.bins.packing(self.gangs)


def round_off(problem: Problem, gangs: Sequence[int], nodes: Sequence[Sequence[Pattern]]) -> Packing:
    """A packing near a fractional one: its whole gangs and whole patterns first, then whatever still fits."""
    best = problem.empty()
    for order in orders(problem)[:2]:
        fit = FirstFit(problem)
        fit.bins.prepare(nodes)
        fit.admit(order, gangs)
        fit.admit(order, [gang.count for gang in problem.gangs])
        fit.bins.clear_stock()
        fit.admit(order, [gang.count for gang in problem.gangs])
        best = better(problem, fit.packing(), best)
    return best


def greedy_start(problem: Problem) -> Packing:
    """The best of the orders, by weight, then by fewest nodes."""
    best = problem.empty()
    for order in orders(problem):
        fit = FirstFit(problem)
        fit.admit(order, [gang.count for gang in problem.gangs])
        best = better(problem, fit.packing(), best)
    return best


def orders(problem: Problem) -> list[list[int]]:
    """Gang classes by weight per share, by the share of one pod, by weight, and by fewest pods.

    A share is the largest of any resource. Shares are scores that order; nothing is decided on them.
    """
    supply = [sum(n.free[r] * n.count for n in problem.nodes) for r in range(len(problem.resources))]

    def share(used: Sequence[int]) -> float:
        return max((u / s if s else float("inf") for u, s in zip(used, supply, strict=True) if u), default=0.0)

    pod = [share(p.request) for p in problem.pods]
    density: list[float] = []
    for gang in problem.gangs:
        used = [sum(k * problem.pods[t].request[r] for t, k in gang.pods) for r in range(len(supply))]
        of_all = share(used)
        density.append(gang.weight / of_all if of_all else float("inf"))
    largest = [max(pod[t] for t, _ in gang.pods) for gang in problem.gangs]
    keys: list[Callable[[int], float]] = [
        lambda g: -density[g],
        lambda g: -largest[g],
        lambda g: -problem.gangs[g].weight,
        lambda g: sum(k for _, k in problem.gangs[g].pods),
    ]
    return [sorted(range(len(problem.gangs)), key=lambda g: (key(g), g)) for key in keys]

"""A first answer in a moment: gangs in several orders, each placed first-fit or not at all.

It is the start and the floor of the exact methods, and a method of its own. Orders: most weight for the scarcest
resource first, most weight first, fewest pods first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from solver_placement.problem import Packing, Pattern, Problem, packing_of

Amounts = npt.NDArray[np.int64]


class Bins:
    """Every node's free capacity as one matrix (nodes x resources), and what was put on each node."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.slots = [c for c, n in enumerate(problem.nodes) for _ in range(n.count)]
        width = len(problem.resources)
        self.free: Amounts = np.array([problem.nodes[c].free for c in self.slots], np.int64).reshape(-1, width)
        fits = [problem.nodes[c].fits for c in self.slots]
        self.fits: Amounts = np.array(fits, np.int64).reshape(len(self.slots), -1)
        self.requests: Amounts = np.array([p.request for p in problem.pods], np.int64).reshape(-1, width)
        self.held: list[dict[int, int]] = [{} for _ in self.slots]

    def place(self, pods: Pattern) -> bool:
        """Put all of ``pods`` on the first nodes that take them, large pods first; or change nothing."""
        undo: list[tuple[int, int, int]] = []
        for t, count in sorted(pods, key=lambda tk: self.problem.pods[tk[0]].request, reverse=True):
            asked = self.requests[t] > 0
            room = (self.free[:, asked] // self.requests[t, asked]).min(axis=1, initial=count)
            room = np.minimum(room, self.fits[:, t])
            taken = np.minimum(np.maximum(count - (np.cumsum(room) - room), 0), room)
            if int(taken.sum()) < count:
                for s, kind, k in undo:
                    self.free[s] += self.requests[kind] * k
                    self.held[s][kind] -= k
                return False
            for s in np.flatnonzero(taken).tolist():
                k = int(taken[s])
                self.free[s] -= self.requests[t] * k
                self.held[s][t] = self.held[s].get(t, 0) + k
                undo.append((s, t, k))
        return True

    def packing(self, gangs: list[int]) -> Packing:
        """The answer so far."""
        slots: list[list[dict[int, int]]] = [[] for _ in self.problem.nodes]
        for c, held in zip(self.slots, self.held, strict=True):
            slots[c].append(held)
        return packing_of(gangs, slots)


def first_fit(problem: Problem, order: list[int]) -> Packing:
    """All gangs of each class in ``order``, as many as fit under the queue rows and on the nodes."""
    bins = Bins(problem)
    room = [row.limit for row in problem.limits]
    rows: list[list[tuple[int, int]]] = [[] for _ in problem.gangs]
    for i, row in enumerate(problem.limits):
        for g, n in row.uses.items():
            rows[g].append((i, n))
    gangs = [0] * len(problem.gangs)
    for g in order:
        for _ in range(problem.gangs[g].count):
            if any(room[i] < n for i, n in rows[g]) or not bins.place(problem.gangs[g].pods):
                break
            gangs[g] += 1
            for i, n in rows[g]:
                room[i] -= n
    return bins.packing(gangs)


def greedy_start(problem: Problem) -> Packing:
    """The best of the orders, by weight, then by fewest nodes."""
    supply = [sum(n.free[r] * n.count for n in problem.nodes) for r in range(len(problem.resources))]
    asks = [problem.demand([int(i == g) for i in range(len(problem.gangs))]) for g in range(len(problem.gangs))]

    def share(g: int) -> float:
        """The gang's largest share of any resource; a score that orders, nothing is decided on it."""
        used = [sum(k * p.request[r] for k, p in zip(asks[g], problem.pods, strict=True)) for r in range(len(supply))]
        return max(u / s if s else float("inf") for u, s in zip(used, supply, strict=True) if u)

    keys: list[Callable[[int], float]] = [
        lambda g: -problem.gangs[g].weight / share(g),
        lambda g: -problem.gangs[g].weight,
        lambda g: sum(k for _, k in problem.gangs[g].pods),
    ]
    orders = [sorted(range(len(problem.gangs)), key=lambda g: (key(g), g)) for key in keys]
    answers = [problem.empty()] + [first_fit(problem, order) for order in orders]
    return max(answers, key=lambda a: (problem.weight(a), -a.nodes_used()))

"""Diving: a packing from the linear master, by fixing a few patterns at a time and pricing again after each.

What is fixed leaves a smaller problem, for which new patterns are generated; so the last nodes get patterns that are
made for what is left. Afterwards the gangs are chosen exactly for the pods that the patterns hold, and a first-fit
fills what still fits. Later dives keep a random part of the best packing and fill the rest anew: a neighbourhood search
whose neighbourhoods are hundreds of nodes.
"""

# float: seconds, and a linear program whose solution is only rounded; every packing is checked on integers
from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from solver_placement.columns import Master
from solver_placement.engine import Effort, run
from solver_placement.greedy_start import round_off
from solver_placement.model_cpsat import add_gangs, demand_of, weight_of
from solver_placement.problem import Packing, Pattern, Problem, better

KEPT = (0.5, 0.7, 0.8, 0.9)
"""Shares of the best packing's nodes that a later dive keeps."""

PRICED = 60
"""Steps of one dive that look for new patterns."""


def dive(master: Master, fixed: Counter[tuple[int, Pattern]], share: int, effort: Effort) -> list[list[Pattern]] | None:
    """Whole patterns per node class, ``fixed`` among them; None where no solution has them or the time is up.

    In each step one of ``share`` fractional patterns is rounded up, the nearest to whole first.
    """
    for c, pattern, use in master.used:
        use.SetLb(fixed[c, pattern])
    try:
        for step in range(10**6):
            if effort.left() <= 0 or master.lp.Solve() != pywraplp.Solver.OPTIMAL:
                return None
            values = [use.solution_value() for _, _, use in master.used]
            if step < PRICED and master.price():
                continue
            if not _round(master, values, share):
                return _fixed(master)
    finally:
        for _, _, use in master.used:
            use.SetLb(0)
    return None


def _round(master: Master, values: list[float], share: int) -> bool:
    """Fix the whole part of every pattern, and one in ``share`` of the others at one more; False where none is left."""
    taken = [0] * len(master.problem.nodes)
    parts: list[tuple[float, int]] = []
    for i, (value, (c, _, use)) in enumerate(zip(values, master.used, strict=False)):
        whole = math.floor(value + 1e-6)
        taken[c] += whole
        if whole > use.lb():
            use.SetLb(whole)
        if value - whole > 1e-6:
            parts.append((value - whole, i))
    left = max(1, len(parts) // share)
    rounded = False
    for part, i in sorted(parts, key=lambda each: (-each[0], each[1])):
        c, _, use = master.used[i]
        if left and taken[c] < master.problem.nodes[c].count:
            use.SetLb(round(values[i] - part) + 1)
            taken[c] += 1
            left -= 1
            rounded = True
    return rounded


def _fixed(master: Master) -> list[list[Pattern]]:
    nodes: list[list[Pattern]] = [[] for _ in master.problem.nodes]
    for c, pattern, use in master.used:
        nodes[c] += [pattern] * round(use.lb())
    return nodes


def packing_from(problem: Problem, nodes: list[list[Pattern]], effort: Effort) -> Packing:
    """The gangs of most weight whose pods the patterns hold, and then whatever else still fits."""
    supply: Counter[int] = Counter()
    for patterns in nodes:
        for pattern in patterns:
            supply.update(dict(pattern))
    model = cp_model.CpModel()
    gangs = add_gangs(model, problem)
    for t, need in enumerate(demand_of(problem, gangs)):
        model.add(need <= supply[t])
    model.maximize(weight_of(problem, gangs))
    found = run(model, replace(effort, workers=1, patience=0.5), maximise=True)
    counts = [found.values[z.index] for z in gangs] if found.values else [0] * len(gangs)
    return round_off(problem, counts, nodes)


class Diver:
    """Dives from one master, the first two from nothing, the others from the best packing so far."""

    def __init__(self, master: Master, seed: int) -> None:
        self.master = master
        self._chance = random.Random(seed)
        self._dives = 0

    def improve(self, best: Packing, effort: Effort) -> Packing:
        """The better of ``best`` and what one dive finds."""
        fixed: Counter[tuple[int, Pattern]] = Counter()
        if self._dives >= 2:
            kept = self._chance.choice(KEPT)
            for c, patterns in enumerate(best.nodes):
                for pattern in patterns:
                    if self._chance.random() < kept:
                        fixed[c, pattern] += 1
            for c, pattern in fixed:
                self.master.add(c, pattern)
        share = 4 if self._dives % 2 == 0 else 8
        self._dives += 1
        nodes = dive(self.master, fixed, share, effort)
        if nodes is None:
            return best
        problem = self.master.problem
        return better(problem, packing_from(problem, nodes, effort), best)

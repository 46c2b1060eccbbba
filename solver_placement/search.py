"""Large inputs: a bound from column generation, a start from its patterns, then re-solving a few nodes at a time.

Large neighbourhood search: some nodes are emptied, everything else stays, and CP-SAT fills them as well as can be
done together with the choice of gangs. It stops when the bound is reached, which on large clusters it usually is: the
linear bound over whole patterns, rounded down, is nearly always the optimum.
"""

# float: seconds, and prices that guide the search; every packing is checked on integers
from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from solver_placement.bound import nodes_bound, weight_bound
from solver_placement.columns import Columns, Master
from solver_placement.dive import Diver
from solver_placement.engine import Effort, run
from solver_placement.exact import Found
from solver_placement.greedy_start import round_off
from solver_placement.integer_master import integer_master
from solver_placement.model_cpsat import NodeModel
from solver_placement.model_patterns import PatternModel
from solver_placement.problem import Packing, Problem, better, packing_of

NEIGHBOURHOOD = 20
"""Nodes emptied at once, at first; the search adapts it."""

STEP_SECONDS = 4.0
"""Wall-clock cap on one neighbourhood, above its deterministic budget: a loaded machine must still move on."""

DIVES = 4
"""Dives for each neighbourhood that is solved exactly."""

ROUNDS = 20
"""Perturbations of the prices that are tried for more columns; more columns make the integer master slow."""


def search(problem: Problem, best: Packing, effort: Effort) -> Found:
    """The most weight, then the fewest nodes, from the start ``best``; proofs where the bounds are reached."""
    phase = effort.until((0.75 if effort.fewest_nodes else 1.0) * effort.left())
    bound = problem.everything
    if problem.looser is not None and problem.looser.gangs:
        proven = Master(Columns(problem.looser), None).generate(phase.until(0.2 * phase.left()))
        bound = bound if proven is None else min(bound, proven)
    columns = Columns(problem)
    columns.add_packing(best)  # so that the linear master has a solution
    master = Master(columns, None)
    proven = master.generate(phase.until(0.3 * phase.left()))
    bound = bound if proven is None else min(bound, proven)
    best = better(problem, round_off(problem, *master.rounded_down()), best)
    if problem.weight(best) < bound and proven is None:
        bound = min(bound, weight_bound(problem, phase.until(0.15 * phase.left())))
    if problem.weight(best) < bound == problem.everything:
        # The prices of the weight say nothing where nodes are plenty; those of the fewest nodes for that weight do.
        master = Master(columns, bound)
        master.generate(phase.until(0.3 * phase.left()))
        best = better(problem, round_off(problem, *master.rounded_down()), best)
    if problem.weight(best) < bound:
        best = _improve(problem, master, best, bound, phase)
    if not effort.fewest_nodes:
        return Found(best, bound, 0)
    weight = problem.weight(best)
    fewest = nodes_bound(problem, best, effort.until(0.15 * effort.left()))
    if best.nodes_used() > fewest:
        columns.add_packing(best)
        master = Master(columns, weight)
        proven = master.generate(effort.until(0.3 * effort.left()))
        fewest = fewest if proven is None else max(fewest, proven)
        best = better(problem, round_off(problem, *master.rounded_down()), best)
        diver = Diver(master, effort.seed)
        for _ in range(2 * DIVES):
            if best.nodes_used() > fewest:
                best = diver.improve(best, effort.until(0.2 * effort.left()))
        if best.nodes_used() > fewest:
            _perturb(columns, master, effort.until(0.2 * effort.left()))
            best = _from_patterns(problem, columns, best, fewest, weight, effort.until(0.3 * effort.left()))
        best = Neighbourhoods(problem, best, effort, weight).improve(fewest)
    return Found(best, bound, fewest)


def _improve(problem: Problem, master: Master, best: Packing, bound: int, effort: Effort) -> Packing:
    """Dives and neighbourhoods in turn, until ``bound`` is reached or the time is up; the integer master once.

    A neighbourhood in which nothing is found doubles the number of dives before the next one.
    """
    diver, near = Diver(master, effort.seed), Neighbourhoods(problem, best, effort, None)
    dives, tried = DIVES, False
    while problem.weight(best) < bound and effort.left() > 0.1:
        for _ in range(dives):
            if problem.weight(best) < bound and effort.left() > 0.1:
                best = diver.improve(best, effort)
                effort.watch.tell(problem.weight(best), bound)
        if not tried and problem.weight(best) < bound:
            best, tried = integer_master(master, best, bound, effort.until(min(0.4 * effort.left(), 30))), True
            continue
        near.best = best
        if near.step(bound):
            break
        dives = DIVES if problem.weight(near.best) > problem.weight(best) else 2 * dives
        best = near.best
    return best


def _perturb(columns: Columns, master: Master, effort: Effort) -> None:
    """More columns from prices a little off: the integer master needs neighbours of the linear one's patterns."""
    prices = np.array(master.last.pods, float)
    generator = np.random.default_rng(effort.seed)
    for _ in range(ROUNDS):
        shaken = prices * generator.uniform(0.85, 1.15, len(prices))
        shaken += (generator.random(len(prices)) < 0.3) * generator.uniform(0, 0.02, len(prices)) * prices.max()
        for c, patterns in enumerate(columns.fill(shaken.tolist())):
            if effort.left() > 0:
                patterns += columns.knapsack(c, shaken.astype(np.int64).tolist(), effort)[1][:1]
            for pattern in patterns:
                columns.add(c, pattern)


def _from_patterns(
    problem: Problem, columns: Columns, best: Packing, bound: int, weight: int | None, effort: Effort
) -> Packing:
    """The best packing over the pool of patterns, or ``best``."""
    columns.add_packing(best)
    model = PatternModel(problem, columns.pool)
    model.hint(best)
    if weight is None:
        model.model.add(model.weight() <= bound)
        model.model.maximize(model.weight())
    else:
        model.model.add(model.weight() >= weight)
        model.model.add(model.nodes_used() >= bound)
        model.model.minimize(model.nodes_used())
    found = run(model.model, effort, maximise=weight is None)
    return better(problem, model.read(found.values), best) if found.values else best


@dataclass
class Neighbourhoods:
    """The search's state: pods per node. ``weight`` is what to keep in the second phase, None in the first."""

    problem: Problem
    best: Packing
    effort: Effort
    weight: int | None
    _size: int = NEIGHBOURHOOD
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.effort.seed)

    def improve(self, bound: int) -> Packing:
        """Re-solve neighbourhoods until ``bound`` is reached or the effort is spent."""
        while self._value(self.best) != bound and self.effort.left() > 0.1:
            if self.step(bound):
                break
        return self.best

    def step(self, bound: int) -> bool:
        """Re-solve one neighbourhood; whether it was all nodes and nothing better was found."""
        slots = [(c, i) for c, node in enumerate(self.problem.nodes) for i in range(node.count)]
        chosen = sorted(self._chance.sample(slots, min(self._size, len(slots))))
        before = self._value(self.best)
        proven = self._resolve(chosen, bound)
        if self._value(self.best) == before and proven:
            if self._size >= len(slots):
                return True
            self._size = min(self._size + 1, 200)
        elif not proven:
            self._size = max(self._size - 3, 6)
        return False

    def _value(self, packing: Packing) -> int:
        return self.problem.weight(packing) if self.weight is None else packing.nodes_used()

    def _resolve(self, chosen: list[tuple[int, int]], bound: int) -> bool:
        """Empty the ``chosen`` nodes and fill them anew; whether the neighbourhood was searched to the end."""
        problem = self.problem
        emptied = set(chosen)
        elsewhere: Counter[int] = Counter()
        kept: list[list[dict[int, int]]] = [[] for _ in problem.nodes]
        inside: list[list[tuple[tuple[int, int], ...]]] = [[] for _ in problem.nodes]
        for c, patterns in enumerate(self.best.nodes):
            for i, pattern in enumerate(patterns):
                if (c, i) in emptied:
                    inside[c].append(pattern)
                else:
                    kept[c].append(dict(pattern))
                    elsewhere.update(dict(pattern))
        model = NodeModel(problem, [c for c, _ in chosen], [elsewhere[t] for t in range(len(problem.pods))])
        if self.weight is None:
            model.model.add(model.weight() <= bound)
            model.model.maximize(model.weight())
        else:
            model.model.add(model.weight() >= self.weight)
            model.model.minimize(model.nodes_used())
        model.hint(Packing(self.best.gangs, tuple(map(tuple, inside))))
        step = replace(self.effort.until(STEP_SECONDS), workers=1, patience=0.2)
        found = run(model.model, step, maximise=self.weight is None)
        if not found.values:
            return False
        gangs, pods = model.counts(found.values)
        for c, here in zip(model.slots, pods, strict=True):
            kept[c].append(here)
        self.best = better(problem, problem.trim(packing_of(gangs, kept)), self.best)
        return found.outcome.value == "optimal"

"""Column generation: the patterns worth having, and the sharpest bound that is cheap to prove.

The linear master chooses how often each known pattern of each node class is used; its prices (duals) say which new
patterns would pay. The linear program runs on floats, and nothing is believed of it: prices are rounded to integers,
and the bound is the Lagrangian one, computed on integers from knapsacks solved exactly; any prices give a valid
bound, good prices give a sharp one. (Gilmore and Gomory 1961 for the patterns, Farley 1990 for bounds from any dual
prices.)
"""

# float: prices and the linear master only guide; bounds are computed on integers, packings are checked on integers
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from solver_placement.devices import DeviceState, cut_to_fit, device_rows
from solver_placement.engine import Effort, Outcome, run
from solver_placement.model_cpsat import LinearExpr
from solver_placement.problem import LARGEST, Packing, Pattern, Problem

FINEST = 1 << 24
"""Prices are multiples of 1 / scale, and no scale is finer than this."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Integer prices in 1 / scale: per pod class, per queue row, and for the weight demanded (0 in the first phase)."""

    pods: tuple[int, ...]
    limits: tuple[int, ...]
    weight: int


class Columns:
    """The pool of patterns per node class, and the knapsacks that find more. Both phases share one pool.

    ``problem`` must have gangs and nodes.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.pool: list[list[Pattern]] = [[] for _ in problem.nodes]
        self._known: list[set[Pattern]] = [set() for _ in problem.nodes]
        self._rows: dict[int, list[tuple[dict[int, int], int]]] = {}
        width = len(problem.resources)
        self._requests = np.array([p.request for p in problem.pods], np.int64).reshape(-1, width)
        self._free = np.array([n.free for n in problem.nodes], np.int64).reshape(-1, width)
        self._fits = np.array([n.fits for n in problem.nodes], np.int64).reshape(len(problem.nodes), -1)
        supply = self._free.T @ np.array([n.count for n in problem.nodes], np.int64)
        share = self._requests / np.maximum(supply, 1)
        # sizes only order pods by price per size; no capacity is decided on them
        mixed = [share.sum(axis=1), share.max(axis=1)]
        self._sizes = [size + 1e-12 for size in (*mixed, *(share[:, r] + 0.05 * mixed[0] for r in range(width)))]

    def add(self, c: int, pattern: Pattern) -> bool:
        """Whether ``pattern`` was new to node class ``c``."""
        if not pattern or pattern in self._known[c]:
            return False
        self._known[c].add(pattern)
        self.pool[c].append(pattern)
        return True

    def add_packing(self, packing: Packing) -> None:
        """Every pattern that ``packing`` uses."""
        for c, patterns in enumerate(packing.nodes):
            for pattern in patterns:
                self.add(c, pattern)

    def fill(self, prices: Sequence[float]) -> list[list[Pattern]]:
        """Per node class, one pattern for each way to measure size: pods by price per size, as many as fit."""
        value = np.asarray(prices, float)
        patterns: list[list[Pattern]] = [[] for _ in self.problem.nodes]
        for size in self._sizes:
            free = self._free.copy()
            counts = np.zeros_like(self._fits)
            devices = DeviceState(self.problem, range(len(self.problem.nodes)))
            for t in np.argsort(-value / size, kind="stable").tolist():
                if value[t] <= 0:
                    break
                asked = self._requests[t] > 0
                room = (free[:, asked] // self._requests[t, asked]).min(axis=1)
                k = np.minimum(room, self._fits[:, t])
                if (by_device := devices.room(t)) is not None:
                    k = np.minimum(k, by_device)
                    for c in np.flatnonzero(k).tolist():
                        devices.take(c, t, int(k[c]))
                counts[:, t] = k
                free -= k[:, None] * self._requests[t]
            for c, row in enumerate(counts):
                patterns[c].append(tuple((t, int(row[t])) for t in np.flatnonzero(row).tolist()))
        return patterns

    def knapsack(self, c: int, prices: Sequence[int], effort: Effort) -> tuple[int, list[Pattern]]:
        """An upper bound on the price of any pattern of node class ``c``, and good patterns, the best one first."""
        node, pods = self.problem.nodes[c], self.problem.pods
        useful = [t for t, fit in enumerate(node.fits) if fit and prices[t] > 0]
        ceiling = sum(prices[t] * node.fits[t] for t in useful)
        if not useful:
            return 0, []
        model = cp_model.CpModel()
        counts = {t: model.new_int_var(0, node.fits[t], "") for t in useful}
        for r, free in enumerate(node.free):
            asked = {t: pods[t].request[r] for t in useful if pods[t].request[r]}
            if sum(a * node.fits[t] for t, a in asked.items()) > free:
                model.add(LinearExpr.weighted_sum([counts[t] for t in asked], list(asked.values())) <= free)
        if c not in self._rows:
            self._rows[c] = list(device_rows(self.problem, node))
        for uses, most in self._rows[c]:
            row = {t: n for t, n in uses.items() if t in counts}
            if sum(n * node.fits[t] for t, n in row.items()) > most:
                model.add(LinearExpr.weighted_sum([counts[t] for t in row], list(row.values())) <= most)
        model.maximize(LinearExpr.weighted_sum(list(counts.values()), [prices[t] for t in useful]))
        found = run(model, replace(effort, workers=1, others=20), maximise=True)
        if found.outcome is Outcome.NOTHING:
            return ceiling, []
        solutions = dict.fromkeys((found.values, *found.others))
        patterns = [tuple((t, n) for t, v in counts.items() if (n := each[v.index])) for each in solutions]
        if any(node.devices):
            # the rows are necessary, not enough: what cannot be arranged on the devices is cut until it can
            patterns = [cut_to_fit(self.problem, node, pattern) for pattern in patterns]
        return (ceiling if found.bound is None else min(ceiling, found.bound)), patterns


class Master:
    """The linear master of one phase: the most weight, or the fewest nodes for at least ``weight``."""

    def __init__(self, columns: Columns, weight: int | None) -> None:
        self.columns, self.at_least = columns, weight
        self.problem = problem = columns.problem
        pods = sum(p.total for p in problem.pods)
        everything = problem.everything
        self.scale = max(1, min(FINEST, LARGEST // max(everything, 1))) if weight is None else FINEST
        # any prices are valid; capped ones keep every knapsack within the solver's integers
        self._dearest = LARGEST // max(pods, 1)
        self.lp = pywraplp.Solver.CreateSolver("GLOP")
        infinity = self.lp.infinity()
        self.pods = [self.lp.Constraint(0, infinity) for _ in problem.pods]
        self.nodes = [self.lp.Constraint(-infinity, n.count) for n in problem.nodes]
        self.limits = [self.lp.Constraint(-infinity, row.limit) for row in problem.limits]
        self.weight = self.lp.Constraint(-infinity if weight is None else weight, infinity)
        self.objective = self.lp.Objective()
        self.objective.SetMaximization()
        self.gangs = [self.lp.NumVar(0, gang.count, "") for gang in problem.gangs]
        self.used: list[tuple[int, Pattern, pywraplp.Variable]] = []
        for g, (gang, z) in enumerate(zip(problem.gangs, self.gangs, strict=True)):
            for t, k in gang.pods:
                self.pods[t].SetCoefficient(z, -k)
            for limit, row in zip(self.limits, problem.limits, strict=True):
                if g in row.uses:
                    limit.SetCoefficient(z, row.uses[g])
            self.weight.SetCoefficient(z, gang.weight)
            if weight is None:
                self.objective.SetCoefficient(z, gang.weight)
        self.last = Prices((0,) * len(problem.pods), (0,) * len(problem.limits), 0)
        for c, patterns in enumerate(columns.pool):
            for pattern in patterns:
                self._enter(c, pattern)

    def _enter(self, c: int, pattern: Pattern) -> None:
        y = self.lp.NumVar(0, self.lp.infinity(), "")
        for t, k in pattern:
            self.pods[t].SetCoefficient(y, k)
        self.nodes[c].SetCoefficient(y, 1)
        if self.at_least is not None:
            self.objective.SetCoefficient(y, -1)
        self.used.append((c, pattern, y))

    def add(self, c: int, pattern: Pattern) -> bool:
        """Whether ``pattern`` was new; it then is in the pool and in the master."""
        if not self.columns.add(c, pattern):
            return False
        self._enter(c, pattern)
        return True

    def rounded_down(self) -> tuple[list[int], list[list[Pattern]]]:
        """Whole gangs per class and whole nodes per pattern of a linear optimum; nothing where there is none."""
        if self.lp.Solve() != pywraplp.Solver.OPTIMAL:
            return [0] * len(self.gangs), [[] for _ in self.problem.nodes]
        gangs = [int(z.solution_value() + 1e-6) for z in self.gangs]
        nodes: list[list[Pattern]] = [[] for _ in self.problem.nodes]
        for c, pattern, y in self.used:
            nodes[c] += [pattern] * int(y.solution_value() + 1e-6)
        return gangs, [held[: node.count] for held, node in zip(nodes, self.problem.nodes, strict=True)]

    def generate(self, effort: Effort) -> int | None:
        """Generate columns until no pattern pays or the effort is spent; the best bound proven on the way.

        An upper bound on the weight, or a lower bound on the nodes; None where there was no time to prove one.
        """
        best: int | None = None
        while effort.left() > 0 and self.lp.Solve() == pywraplp.Solver.OPTIMAL:
            # read everything before the master grows: GLOP then forgets its solution
            value, prices, threshold = self.objective.Value(), self._prices(), self._threshold()
            self.last = prices
            if self._fill(prices, threshold):
                continue
            bound, grew = self._exact(prices, threshold, effort)
            if bound is not None:
                best = bound if best is None else (min if self.at_least is None else max)(best, bound)
                # more columns can only raise the linear optimum: no bound will be better than its rounding
                if best <= math.floor(value + 1e-6) if self.at_least is None else best >= math.ceil(-value - 1e-6):
                    break
            if not grew:
                break
        return best

    def price(self) -> bool:
        """Whether patterns that pay at the prices of the last solution were found in a moment, and added."""
        return self._fill(self._prices(), self._threshold())

    def _threshold(self) -> list[float]:
        """What a pattern of each node class has to be worth for it to pay."""
        entry = 0 if self.at_least is None else self.scale
        return [entry + abs(row.dual_value()) * self.scale + 1e-6 * self.scale for row in self.nodes]

    def _fill(self, prices: Prices, threshold: Sequence[float]) -> bool:
        grew = False
        for c, patterns in enumerate(self.columns.fill(prices.pods)):
            for pattern in patterns:
                if _worth(pattern, prices.pods) > threshold[c]:
                    grew |= self.add(c, pattern)
        return grew

    def _exact(self, prices: Prices, threshold: Sequence[float], effort: Effort) -> tuple[int | None, bool]:
        """The Lagrangian bound at ``prices``, and whether a new pattern pays."""
        worths: list[int] = []
        grew = False
        for c in range(len(self.problem.nodes)):
            if effort.left() <= 0:
                return None, grew
            worth, patterns = self.columns.knapsack(c, prices.pods, effort)
            worths.append(worth)
            for pattern in patterns:
                if _worth(pattern, prices.pods) > threshold[c]:
                    grew |= self.add(c, pattern)
        return self._lagrangian(prices, worths), grew

    def _lagrangian(self, prices: Prices, worths: Sequence[int]) -> int:
        """The bound at integer ``prices``, given an upper bound on the worth of a pattern per node class."""
        first = self.at_least is None
        total: int = sum(p * row.limit for p, row in zip(prices.limits, self.problem.limits, strict=True))
        for g, gang in enumerate(self.problem.gangs):
            gain = gang.weight * (self.scale if first else prices.weight) - _worth(gang.pods, prices.pods)
            gain -= sum(p * row.uses.get(g, 0) for p, row in zip(prices.limits, self.problem.limits, strict=True))
            total += max(gain, 0) * gang.count
        cost = 0 if first else self.scale
        total += sum(max(w - cost, 0) * node.count for w, node in zip(worths, self.problem.nodes, strict=True))
        if self.at_least is None:
            return total // self.scale
        return -((total - prices.weight * self.at_least) // self.scale)

    def _prices(self) -> Prices:
        def rounded(row: pywraplp.Constraint) -> int:
            return min(round(abs(float(row.dual_value())) * self.scale), self._dearest)

        weight = 0 if self.at_least is None else rounded(self.weight)
        return Prices(tuple(map(rounded, self.pods)), tuple(map(rounded, self.limits)), weight)


def _worth(pattern: Pattern, prices: Sequence[int]) -> int:
    return sum(k * prices[t] for t, k in pattern)

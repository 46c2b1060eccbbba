"""Bounds in seconds, at any size: pod classes against node classes, whole classes of nodes as one bin.

The relaxation forgets the walls between the nodes of a class; rounding cuts (Chvátal-Gomory: a row divided by
capacity / q and rounded down, valid for every single node and so for their sum) bring part of them back. It never
gives a placement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ortools.sat.python import cp_model

from solver_placement.devices import device_rows
from solver_placement.engine import Effort, Outcome, run, set_hint
from solver_placement.model_cpsat import LinearExpr, add_gangs, demand_of, weight_of
from solver_placement.problem import NodeClass, Packing, Problem, Unsound

DIVISORS = (2, 3, 4, 5, 6, 7, 8)


class Relaxation:
    """Pods of each class on each class of nodes, as one count; the last row counts used nodes when asked for."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.model = cp_model.CpModel()
        self.gangs = add_gangs(self.model, problem)
        self.nodes = [self.model.new_int_var(0, n.count, f"nodes{c}") for c, n in enumerate(problem.nodes)]
        self.pods: list[dict[int, cp_model.IntVar]] = []
        placed: list[list[cp_model.IntVar]] = [[] for _ in problem.pods]
        for c, node in enumerate(problem.nodes):
            here: dict[int, cp_model.IntVar] = {}
            for t, fit in enumerate(node.fits):
                if fit:
                    here[t] = self.model.new_int_var(0, min(fit * node.count, problem.pods[t].total), f"pods{c},{t}")
                    placed[t].append(here[t])
                    self.model.add(here[t] <= fit * self.nodes[c])
            self.pods.append(here)
            for uses, free in _rows(problem, node):
                row = LinearExpr.weighted_sum([here[t] for t in uses], list(uses.values()))
                self.model.add(row <= free * self.nodes[c])
        for counts, need in zip(placed, demand_of(problem, self.gangs), strict=True):
            self.model.add(LinearExpr.sum(counts) == need)

    def hint(self, packing: Packing) -> None:
        """A packing is a solution here: a run that stops early still has one, and with it a bound to be believed."""
        values = dict(zip(self.gangs, packing.gangs, strict=True))
        for count, here, patterns in zip(self.nodes, self.pods, packing.nodes, strict=True):
            values[count] = len(patterns)
            held: Counter[int] = Counter()
            for pattern in patterns:
                held.update(dict(pattern))
            values.update({v: held[t] for t, v in here.items()})
        set_hint(self.model, values)


def _rows(problem: Problem, node: NodeClass) -> Iterator[tuple[dict[int, int], int]]:
    """Rows that hold on each single node of the class: its capacities, and what rounding makes of them."""
    seen: set[tuple[tuple[tuple[int, int], ...], int]] = set()
    for r, free in enumerate(node.free):
        uses = {t: p.request[r] for t, p in enumerate(problem.pods) if node.fits[t] and p.request[r]}
        if sum(a * node.fits[t] for t, a in uses.items()) <= free:
            continue
        yield uses, free
        for q in DIVISORS:
            # multiplier q / (free + 1): the right side rounds down to q - 1
            cut = {t: n for t, a in uses.items() if (n := q * a // (free + 1))}
            key = (tuple(cut.items()), q)
            if cut and key not in seen:
                seen.add(key)
                yield cut, q * free // (free + 1)
    yield from device_rows(problem, node)


def weight_bound(problem: Problem, effort: Effort) -> int:
    """No placement admits more weight than this."""
    trivial = problem.everything
    if not problem.gangs:
        return 0
    relaxation = Relaxation(problem)
    relaxation.hint(problem.empty())
    relaxation.model.maximize(weight_of(problem, relaxation.gangs))
    found = run(relaxation.model, effort, maximise=True)
    return trivial if found.bound is None else min(trivial, found.bound)


def nodes_bound(problem: Problem, packing: Packing, effort: Effort) -> int:
    """No placement of at least the weight of ``packing`` uses fewer nodes than this."""
    weight = problem.weight(packing)
    if weight <= 0:
        return 0
    relaxation = Relaxation(problem)
    relaxation.hint(packing)
    relaxation.model.add(weight_of(problem, relaxation.gangs) >= weight)
    relaxation.model.minimize(LinearExpr.sum(relaxation.nodes))
    found = run(relaxation.model, effort, maximise=False)
    if found.outcome is Outcome.IMPOSSIBLE:
        raise Unsound(f"the relaxation refutes a weight of {weight}, which was placed")
    return 1 if found.bound is None else max(1, found.bound)

"""The exact model over patterns: how many nodes of each class hold each maximal pattern.

Nodes are counted, not named, so the model has no symmetry at all. It exists where the maximal patterns can be listed;
with surplus allowed, maximal patterns are all that is needed, for both objectives.
"""

from __future__ import annotations

from collections.abc import Sequence

from ortools.sat.python import cp_model

from solver_placement.arrange import GaveUp
from solver_placement.engine import set_hint
from solver_placement.model_cpsat import LinearExpr, add_gangs, demand_of, weight_of
from solver_placement.problem import NodeClass, Packing, Pattern, Problem, packing_of


def maximal_patterns(problem: Problem, node: NodeClass, most: int) -> list[Pattern] | None:
    """Every pattern of ``node`` to which no pod can be added; None when that takes more than ``most`` steps."""
    classes = [t for t, fit in enumerate(node.fits) if fit]
    # large pods first: the tree then narrows early
    classes.sort(key=lambda t: (node.fits[t], problem.pods[t].request))
    by_device = any(node.devices)
    found: list[Pattern] = []
    steps = 0

    def grow(i: int, free: tuple[int, ...], counts: tuple[int, ...]) -> bool:
        nonlocal steps
        steps += 1
        if steps > most:
            return False
        if i == len(classes):
            for t, k in zip(classes, counts, strict=True):
                if k < node.fits[t] and all(a <= f for a, f in zip(problem.pods[t].request, free, strict=True)):
                    held = dict(zip(classes, counts, strict=True)) | {t: k + 1}
                    if not by_device or problem.arranged(node, held.items()):
                        return True
            found.append(tuple(sorted((t, k) for t, k in zip(classes, counts, strict=True) if k)))
            return True
        request = problem.pods[classes[i]].request
        room = min(f // a for a, f in zip(request, free, strict=True) if a)
        for k in range(min(room, node.fits[classes[i]]), -1, -1):
            if by_device and not problem.arranged(node, list(zip(classes, (*counts, k), strict=False))):
                continue
            left = tuple(f - a * k for a, f in zip(request, free, strict=True))
            if not grow(i + 1, left, (*counts, k)):
                return False
        return True

    try:
        return found if grow(0, node.free, ()) else None
    except GaveUp:
        return None


def all_patterns(problem: Problem, most: int = 20_000) -> list[list[Pattern]] | None:
    """Maximal patterns per node class, or None where there are too many to list."""
    lists: list[list[Pattern]] = []
    for node in problem.nodes:
        patterns = maximal_patterns(problem, node, most)
        if patterns is None:
            return None
        most -= len(patterns)
        lists.append(patterns)
    return lists


class PatternModel:
    """``patterns[c]`` are the patterns that node class c may hold; with all maximal ones the model is exact."""

    def __init__(self, problem: Problem, patterns: Sequence[Sequence[Pattern]]) -> None:
        self.problem = problem
        self.patterns = patterns
        self.model = cp_model.CpModel()
        self.gangs = add_gangs(self.model, problem)
        self.counts: list[list[cp_model.IntVar]] = []
        supply: list[tuple[list[cp_model.IntVar], list[int]]] = [([], []) for _ in problem.pods]
        for c, (node, here) in enumerate(zip(problem.nodes, patterns, strict=True)):
            counts = [self.model.new_int_var(0, node.count, f"nodes{c},{p}") for p in range(len(here))]
            self.model.add(LinearExpr.sum(counts) <= node.count)
            for count, pattern in zip(counts, here, strict=True):
                for t, k in pattern:
                    supply[t][0].append(count)
                    supply[t][1].append(k)
            self.counts.append(counts)
        for (variables, amounts), need in zip(supply, demand_of(problem, self.gangs), strict=True):
            self.model.add(LinearExpr.weighted_sum(variables, amounts) >= need)

    def weight(self) -> cp_model.LinearExprT:
        """The weight of the admitted gangs."""
        return weight_of(self.problem, self.gangs)

    def nodes_used(self) -> cp_model.LinearExprT:
        """The number of nodes that hold a pattern."""
        return LinearExpr.sum([count for counts in self.counts for count in counts])

    def nodes_of(self, c: int) -> cp_model.LinearExprT:
        """The nodes of one class that hold a pattern."""
        return LinearExpr.sum(self.counts[c])

    def hint(self, packing: Packing) -> None:
        """Each pattern of ``packing`` counts for the first listed pattern that covers it."""
        values = dict(zip(self.gangs, packing.gangs, strict=True))
        for here, counts, held in zip(self.patterns, self.counts, packing.nodes, strict=True):
            times = [0] * len(here)
            tables = [dict(p) for p in here]
            for pattern in held:
                cover = (i for i, p in enumerate(tables) if all(p.get(t, 0) >= k for t, k in pattern))
                times[next(cover)] += 1
            values.update(zip(counts, times, strict=True))
        set_hint(self.model, values)

    def read(self, values: Sequence[int]) -> Packing:
        """The packing of a solution, trimmed."""
        gangs = [values[v.index] for v in self.gangs]
        slots = [
            [dict(pattern) for pattern, count in zip(here, counts, strict=True) for _ in range(values[count.index])]
            for here, counts in zip(self.patterns, self.counts, strict=True)
        ]
        return self.problem.trim(packing_of(gangs, slots))

"""The integer master: the best packing over the patterns that are worth something at the last prices, by HiGHS.

HiGHS computes in floats, so its answer is a proposal only: counts are rounded, gangs are chosen anew on integers for
the pods that the patterns hold, and the packing is checked like any other. No bound is taken from it.
"""

# float: a mixed-integer program whose solution is only rounded
from __future__ import annotations

import math
from datetime import timedelta

from ortools.linear_solver import pywraplp

from solver_placement.columns import Master
from solver_placement.dive import packing_from
from solver_placement.engine import Effort
from solver_placement.problem import Packing, Pattern, Problem, better

MOST_COLUMNS = 6_000
WORTH = 0.05
"""Patterns that cost more than this per node at the prices are left out, unless the best packing has them."""


def integer_master(master: Master, best: Packing, bound: int, effort: Effort) -> Packing:
    """The better of ``best`` and what is found among the patterns of ``master``, of weight ``bound`` at most."""
    if master.lp.Solve() != pywraplp.Solver.OPTIMAL:
        return best
    problem = master.problem
    held = {(c, pattern) for c, patterns in enumerate(best.nodes) for pattern in patterns}
    near = [(c, p) for c, p, use in master.used if abs(use.reduced_cost()) <= WORTH or (c, p) in held]
    if len(near) > MOST_COLUMNS:
        return best
    counts = _solve(problem, near, bound, effort)
    if counts is None:
        return best
    found: list[list[Pattern]] = [[] for _ in problem.nodes]
    for (c, pattern), count in zip(near, counts, strict=True):
        found[c] += [pattern] * min(count, problem.nodes[c].count - len(found[c]))
    return better(problem, packing_from(problem, found, effort), best)


def _solve(problem: Problem, patterns: list[tuple[int, Pattern]], bound: int, effort: Effort) -> list[int] | None:
    """How often each of ``patterns`` (node class, pattern) is used; None where nothing was found."""
    from ortools.math_opt.python import mathopt  # slow to import, and small clusters do without

    model = mathopt.Model()
    infinity = math.inf
    pods = [model.add_linear_constraint(lb=0, ub=infinity) for _ in problem.pods]
    nodes = [model.add_linear_constraint(lb=-infinity, ub=node.count) for node in problem.nodes]
    limits = [model.add_linear_constraint(lb=-infinity, ub=row.limit) for row in problem.limits]
    weight = model.add_linear_constraint(lb=-infinity, ub=bound)
    gangs = [model.add_integer_variable(lb=0, ub=gang.count) for gang in problem.gangs]
    for gang, z in zip(problem.gangs, gangs, strict=True):
        model.objective.set_linear_coefficient(z, gang.weight)
        weight.set_coefficient(z, gang.weight)
        for t, k in gang.pods:
            pods[t].set_coefficient(z, -k)
    for queue, row in zip(limits, problem.limits, strict=True):
        for g, n in row.uses.items():
            queue.set_coefficient(gangs[g], n)
    uses = [model.add_integer_variable(lb=0, ub=problem.nodes[c].count) for c, _ in patterns]
    for (c, pattern), use in zip(patterns, uses, strict=True):
        nodes[c].set_coefficient(use, 1)
        for t, k in pattern:
            pods[t].set_coefficient(use, k)
    model.objective.is_maximize = True
    limit_seconds = timedelta(seconds=max(effort.left(), 0.1))
    found = mathopt.solve(
        model,
        mathopt.SolverType.HIGHS,
        params=mathopt.SolveParameters(time_limit=limit_seconds, random_seed=effort.seed),
    )
    if not found.has_primal_feasible_solution():
        return None
    return [max(round(value), 0) for value in found.variable_values(uses)]

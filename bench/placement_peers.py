"""What others make of the same question: HiGHS on pod classes and nodes, CP-SAT on pods and nodes, both as they come.

HiGHS is the one that OR-Tools brings. The formulations are the textbook's: a whole number per pod class and node
(HiGHS), a boolean per pod and node (CP-SAT), no patterns, no column generation.
"""

from __future__ import annotations

import time
from typing import Any

from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from solver_placement.problem import Problem

ENGINES = ("highs", "cpsat")
MOST_VARIABLES = 1_000_000


def run(engine: str, problem: Problem, seconds: float) -> dict[str, Any]:
    """The objective and the bound that ``engine`` reaches, or how many variables were too many to try."""
    return (highs if engine == "highs" else cpsat)(problem, seconds)


def highs(problem: Problem, seconds: float) -> dict[str, Any]:
    """Pods of each class on each node."""
    began = time.monotonic()
    solver = pywraplp.Solver.CreateSolver("HIGHS")
    solver.SetTimeLimit(int(seconds * 1000))
    gangs = [solver.IntVar(0, gang.count, "") for gang in problem.gangs]
    need = [solver.Constraint(0, solver.infinity()) for _ in problem.pods]
    for gang, z in zip(problem.gangs, gangs, strict=True):
        for t, k in gang.pods:
            need[t].SetCoefficient(z, -k)
    for limit in problem.limits:
        row = solver.Constraint(-solver.infinity(), limit.limit)
        for g, n in limit.uses.items():
            row.SetCoefficient(gangs[g], n)
    variables = len(gangs)
    for node in problem.nodes:
        for _ in range(node.count):
            rows = [solver.Constraint(-solver.infinity(), free) for free in node.free]
            for t, fit in enumerate(node.fits):
                if fit:
                    x = solver.IntVar(0, fit, "")
                    variables += 1
                    need[t].SetCoefficient(x, 1)
                    for row, amount in zip(rows, problem.pods[t].request, strict=True):
                        row.SetCoefficient(x, amount)
    objective = solver.Objective()
    for gang, z in zip(problem.gangs, gangs, strict=True):
        objective.SetCoefficient(z, gang.weight)
    objective.SetMaximization()
    status = solver.Solve()
    found = status in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE)
    return {
        "objective": round(objective.Value()) if found else None,
        "bound": round(objective.BestBound(), 1),
        "variables": variables,
        "seconds": round(time.monotonic() - began, 1),
    }


def cpsat(problem: Problem, seconds: float) -> dict[str, Any]:
    """Each pod on each node."""
    gangs = [(gang, n) for gang in problem.gangs for n in range(gang.count)]
    pods = sum(k for gang, _ in gangs for _, k in gang.pods)
    variables = pods * sum(node.count for node in problem.nodes)
    if variables > MOST_VARIABLES:
        return {"objective": None, "bound": None, "variables": variables, "not built": "too many variables"}
    began = time.monotonic()
    model = cp_model.CpModel()
    nodes = [node for node in problem.nodes for _ in range(node.count)]
    loads: list[list[list[cp_model.LinearExprT]]] = [[[] for _ in problem.resources] for _ in nodes]
    admitted: dict[int, list[cp_model.IntVar]] = {}
    weights: list[cp_model.LinearExprT] = []
    for g, gang in enumerate(problem.gangs):
        for _ in range(gang.count):
            whole = model.new_bool_var("")
            admitted.setdefault(g, []).append(whole)
            weights.append(whole * gang.weight)
            for t, k in gang.pods:
                for _ in range(k):
                    here = []
                    for n, node in enumerate(nodes):
                        if node.fits[t]:
                            x = model.new_bool_var("")
                            here.append(x)
                            for r, amount in enumerate(problem.pods[t].request):
                                if amount:
                                    loads[n][r].append(x * amount)
                    model.add(sum(here) == whole)
    for node, by_resource in zip(nodes, loads, strict=True):
        for free, load in zip(node.free, by_resource, strict=True):
            model.add(sum(load) <= free)
    for limit in problem.limits:
        model.add(sum(z * n for g, n in limit.uses.items() for z in admitted[g]) <= limit.limit)
    model.maximize(sum(weights))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 2
    status = solver.solve(model)
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return {
        "objective": round(solver.objective_value) if found else None,
        "bound": round(solver.best_objective_bound, 1) if found else None,
        "variables": variables,
        "seconds": round(time.monotonic() - began, 1),
    }

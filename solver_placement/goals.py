"""Objectives by name, one after the other: each phase is solved with the values of those before it kept.

=============  ======================================================================================================
name           what
=============  ======================================================================================================
``admission``  the most weight of admitted gangs
``priority``   the same for each priority by itself, the highest first: many low ones do not make up for a high one
``fairness``   the least share of any queue is the most it can be: of the resource that the queue has most of (dominant
               share), over the queue's weight, running pods included, in ten-thousandths of the cluster
``cost``       the least price of the nodes that are launched beyond the minima of their types
``nodes``      the fewest nodes that hold a placed pod
=============  ======================================================================================================
"""

# float: shares of the time only
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from reference.cluster import PODS, Cluster
from solver_placement.answer import Phase
from solver_placement.engine import Effort, Outcome, run
from solver_placement.launches import Offer
from solver_placement.model_cpsat import Formulation, LinearExpr
from solver_placement.problem import Packing, Problem, ProblemTooLarge, Unsound

OBJECTIVES = ("admission", "priority", "fairness", "cost", "nodes")
SHARES = 10_000
"""A share of everything, as fairness counts."""

MOST = 2**60
"""Of amounts times ``SHARES``: CP-SAT adds them up in 64 bits."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One phase: ``value`` of a packing, ``express`` in a model, and ``limit``, which no packing can pass."""

    name: str
    maximise: bool
    value: Callable[[Packing], int]
    express: Callable[[Formulation], cp_model.LinearExprT]
    limit: int
    value_of_nothing: int = 0


def goals_of(names: Sequence[str], problem: Problem, offered: Offer) -> list[Goal]:
    """The phases of the objectives ``names``, all of ``OBJECTIVES``. Raises ProblemTooLarge."""
    cluster = offered.cluster
    made: list[Goal] = []
    for name in names:
        match name:
            case "admission":
                made.append(_weight(problem, "admission", range(len(problem.gangs))))
            case "priority":
                made += _priorities(problem, cluster)
            case "fairness":
                made.append(_fairness(problem, cluster))
            case "cost":
                made.append(_cost(problem, offered))
            case "nodes":
                made.append(Goal("nodes", False, Packing.nodes_used, lambda f: f.nodes_used(), 0))
            case _:
                raise AssertionError(f"no objective is named {name}")
    return made


def lexicographic(
    goals: Sequence[Goal], formulation: Formulation, start: Packing, effort: Effort
) -> tuple[Packing, tuple[Phase, ...]]:
    """The best packing by ``goals`` in their order, from ``start``, and what is known of each.

    A phase has half of the time that is left, the last one all of it. A bound is one on packings that are as good as
    the answer in the phases before.
    """
    best, phases = start, []
    for i, goal in enumerate(goals):
        expression = goal.express(formulation)
        formulation.hint(best)
        if goal.maximise:
            formulation.model.maximize(expression)
        else:
            formulation.model.minimize(expression)
        share = 1.0 if i == len(goals) - 1 else 0.5  # float: a share of the seconds that are left
        found = run(formulation.model, effort.until(share * effort.left()), maximise=goal.maximise)
        if found.outcome is Outcome.IMPOSSIBLE:
            raise Unsound(f"phase {goal.name}: a packing was found, yet the model has none")
        if found.values:
            candidate = formulation.read(found.values)
            ahead = goal.value(candidate) - goal.value(best)
            if (ahead if goal.maximise else -ahead) >= 0:
                best = candidate
        value = goal.value(best)
        bound = goal.limit if found.bound is None else found.bound
        phases.append(Phase(goal.name, "maximise" if goal.maximise else "minimise", value, bound))
        formulation.model.add(expression >= value if goal.maximise else expression <= value)
    return best, tuple(phases)


def _weight(problem: Problem, name: str, chosen: Sequence[int]) -> Goal:
    def value(packing: Packing) -> int:
        return sum(problem.gangs[g].weight * packing.gangs[g] for g in chosen)

    def express(formulation: Formulation) -> cp_model.LinearExprT:
        weights = [problem.gangs[g].weight for g in chosen]
        return LinearExpr.weighted_sum([formulation.gangs[g] for g in chosen], weights)

    most = sum({problem.gangs[g].family: problem.gangs[g].weight * problem.gangs[g].count for g in chosen}.values())
    return Goal(name, True, value, express, most)


def _priorities(problem: Problem, cluster: Cluster) -> list[Goal]:
    priority = {app.name: app.priority for app in cluster.applications}
    of_class = [priority[gang.members[0]] for gang in problem.gangs]
    return [
        _weight(problem, f"priority {each}", [g for g, found in enumerate(of_class) if found == each])
        for each in sorted(set(of_class), reverse=True)
    ]


def _cost(problem: Problem, offered: Offer) -> Goal:
    per_class = [offered.prices.get(node.members[0], 0) for node in problem.nodes]

    def value(packing: Packing) -> int:
        return sum(price * len(patterns) for price, patterns in zip(per_class, packing.nodes, strict=True))

    def express(formulation: Formulation) -> cp_model.LinearExprT:
        return LinearExpr.sum([formulation.nodes_of(c) * price for c, price in enumerate(per_class) if price])

    return Goal("cost", False, value, express, 0)


@dataclass(frozen=True, slots=True)
class _Share:
    """A queue's part of a resource: ``uses[g]`` for each gang of class g, ``held`` by running pods, of ``whole``."""

    uses: dict[int, int]
    held: int
    whole: int


def _fairness(problem: Problem, cluster: Cluster) -> Goal:
    queues = _shares(problem, cluster)

    def value(packing: Packing) -> int:
        return min((max(_part(s, packing) for s in shares) if shares else 0 for shares in queues), default=0)

    def express(formulation: Formulation) -> cp_model.LinearExprT:
        model = formulation.model
        least = model.new_int_var(0, SHARES if queues and all(queues) else 0, "least share")
        for shares in queues:
            choices = [model.new_bool_var("") for _ in shares]
            for share, chosen in zip(shares, choices, strict=True):
                gangs = [formulation.gangs[g] for g in share.uses]
                used = LinearExpr.weighted_sum(gangs, list(share.uses.values())) + share.held
                model.add(used * SHARES >= least * share.whole).only_enforce_if(chosen)
            if choices:
                model.add_bool_or(choices)
        return LinearExpr.sum([least])

    return Goal("fairness", True, value, express, SHARES, value(problem.empty()))


def _part(share: _Share, packing: Packing) -> int:
    used = share.held + sum(n * packing.gangs[g] for g, n in share.uses.items())
    return min(SHARES * used // share.whole, SHARES)


def _shares(problem: Problem, cluster: Cluster) -> list[list[_Share]]:
    """For each queue that has a gang waiting, its share of each resource that the cluster has."""
    names = sorted({name for node in cluster.nodes for name in node.capacity} - {PODS})
    total = {name: sum(node.available.amount(name) for node in cluster.nodes) for name in names}
    weights = {queue.name: max(queue.weight, 1) for queue in cluster.queues}
    at = {name: r for r, name in enumerate(problem.resources)}
    found: list[list[_Share]] = []
    for queue in sorted({app.queue for app in cluster.applications}):
        running = cluster.queue_usage(queue)
        shares: list[_Share] = []
        for name in (name for name in names if total[name] > 0):
            uses: dict[int, int] = {}
            for g, gang in enumerate(problem.gangs):
                if gang.queue == queue and name in at:
                    asked = sum(problem.pods[t].request[at[name]] * k for t, k in gang.pods) * problem.units[at[name]]
                    if asked:
                        uses[g] = asked
            whole, held = total[name] * weights[queue], running.amount(name)
            unit = math.gcd(whole, held, *uses.values())
            most = max(whole, held + sum(n * problem.gangs[g].count for g, n in uses.items())) // unit
            if most * SHARES > MOST:
                raise ProblemTooLarge(f"fairness: {name} of queue {queue} has too many digits to compare shares")
            shares.append(_Share({g: n // unit for g, n in uses.items()}, held // unit, whole // unit))
        found.append(shares)
    return found

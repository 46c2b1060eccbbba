"""``solve``: the optimal placement of a cluster's gangs, or the best found, with a bound.

Objective: the most weight of admitted gangs, then the fewest nodes. Every rule is exact: gangs are all or nothing,
nodes hold their pods in every resource, labels, taints, affinity and cordons, queue maxima and application counts at
every level.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

from reference.cluster import Cluster
from solver_placement.answer import Objective, Solution, Status
from solver_placement.bound import nodes_bound, weight_bound
from solver_placement.engine import Effort
from solver_placement.exact import Found, two_phases
from solver_placement.greedy_start import greedy_start
from solver_placement.model_cpsat import NodeModel
from solver_placement.model_patterns import PatternModel, all_patterns
from solver_placement.problem import Problem, reduce_cluster
from solver_placement.search import search

Method = Callable[[Problem, Effort], Found]

MOST_NODE_VARIABLES = 40_000


def by_patterns(problem: Problem, effort: Effort) -> Found:
    """All maximal patterns of every node class, counted. ValueError where they are too many to list."""
    patterns = all_patterns(problem)
    if patterns is None:
        raise ValueError("method patterns: the nodes have too many maximal patterns to list; use method nodes or auto")
    return two_phases(problem, PatternModel(problem, patterns), bounded_start(problem, effort), effort)


def by_nodes(problem: Problem, effort: Effort) -> Found:
    """Pods of each class on each node."""
    return two_phases(problem, NodeModel(problem), bounded_start(problem, effort), effort)


def by_greedy(problem: Problem, effort: Effort) -> Found:
    """The greedy start alone, with the bounds of the relaxation."""
    return bounded_start(problem, effort)


def auto(problem: Problem, effort: Effort) -> Found:
    """Patterns where they can be listed; else search, and single nodes for what it leaves open while those are few."""
    patterns = all_patterns(problem)
    if patterns is not None:
        return two_phases(problem, PatternModel(problem, patterns), bounded_start(problem, effort), effort)
    variables = sum(n.count * sum(1 for fit in n.fits if fit) for n in problem.nodes)
    if variables > MOST_NODE_VARIABLES:
        return search(problem, effort)
    found = search(problem, effort.until(0.5 * effort.left()))
    if problem.weight(found.packing) == found.bound and found.packing.nodes_used() == found.nodes_bound:
        return found
    return two_phases(problem, NodeModel(problem), found, effort)


def bounded_start(problem: Problem, effort: Effort) -> Found:
    """The greedy start, with the relaxation's bounds on weight and on the nodes for at least its weight."""
    start = greedy_start(problem)
    weight = problem.weight(start)
    bound = weight_bound(problem, effort.until(0.2 * effort.left()))
    nodes = nodes_bound(problem, weight, effort.until(0.1 * effort.left()))
    return Found(start, bound, nodes)


METHODS: Mapping[str, Method] = MappingProxyType(
    {"auto": auto, "patterns": by_patterns, "nodes": by_nodes, "search": search, "greedy": by_greedy}
)
"""What ``solve`` can do, by name; ``auto`` chooses."""


def solve(
    cluster: Cluster,
    *,
    time_limit: float = 60.0,
    method: str = "auto",
    workers: int = 2,
    seed: int = 0,
) -> Solution:
    """Place the waiting gangs of ``cluster`` beside its running pods.

    ``time_limit`` is in seconds and holds for the search; reading the problem and building a model come on top.
    Raises ValueError for a method that is unknown or cannot be used here, and ProblemTooLarge. The same input gives
    the same objective whenever the status is OPTIMAL, and the same placement when one worker proves it, as it does for
    everyday inputs.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; there are {', '.join(sorted(METHODS))}")
    began = time.monotonic()
    problem = reduce_cluster(cluster)
    if problem.gangs and problem.nodes:
        found = METHODS[method](problem, Effort(began + time_limit, workers, seed))
    else:
        found = Found(problem.empty(), 0, 0)
    weight, nodes = problem.weight(found.packing), found.packing.nodes_used()
    proven = weight == found.bound
    left_out = (
        "no placement holds it together with all admitted gangs" if proven else "left out of the best placement found"
    )
    return Solution(
        placement=problem.invert(found.packing, left_out),
        objective=Objective(weight, nodes),
        bound=found.bound,
        nodes_bound=found.nodes_bound,
        status=Status.OPTIMAL if proven and nodes == found.nodes_bound else Status.FEASIBLE,
        method=method,
        seconds=time.monotonic() - began,
    )

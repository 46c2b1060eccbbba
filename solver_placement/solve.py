"""``solve``: the optimal placement of a cluster's gangs, or the best found, with a bound.

Objective: the most weight of admitted gangs, then the fewest nodes. Every rule is exact: gangs are all or nothing,
nodes hold their pods in every resource, labels, taints, affinity and cordons, queue maxima and application counts at
every level.
"""

# float: seconds only
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from reference.cluster import Cluster, Placement
from reference.cluster.features import Feature, refuse
from solver_placement.answer import Objective, Solution, Status
from solver_placement.bound import nodes_bound, weight_bound
from solver_placement.engine import Effort
from solver_placement.exact import Found, two_phases
from solver_placement.greedy_start import greedy_start
from solver_placement.model_cpsat import NodeModel
from solver_placement.model_patterns import PatternModel, all_patterns
from solver_placement.problem import Packing, Problem, Unsound, better
from solver_placement.reduction import reduce_cluster
from solver_placement.search import search

Method = Callable[[Problem, Packing, Effort], Found]
"""From a problem and a packing to start from, never to a worse one."""

MOST_NODE_VARIABLES = 40_000

KNOWS = frozenset(
    {
        Feature.TOPOLOGY,
        Feature.ELASTIC,
        Feature.MIN_MEMBERS,
        Feature.COMPOSITE,
        Feature.RESERVED,
        Feature.DEVICES,
    }
)
"""What the models know of a cluster beyond plain gangs."""


def by_patterns(problem: Problem, start: Packing, effort: Effort) -> Found:
    """All maximal patterns of every node class, counted. ValueError where they are too many to list."""
    patterns = all_patterns(problem)
    if patterns is None:
        raise ValueError("method patterns: the nodes have too many maximal patterns to list; use method nodes or auto")
    return two_phases(problem, PatternModel(problem, patterns), bounded(problem, start, effort), effort)


def by_nodes(problem: Problem, start: Packing, effort: Effort) -> Found:
    """Pods of each class on each node."""
    return two_phases(problem, NodeModel(problem), bounded(problem, start, effort), effort)


def by_greedy(problem: Problem, start: Packing, effort: Effort) -> Found:
    """The greedy start alone, with the bounds of the relaxation."""
    return bounded(problem, start, effort)


def auto(problem: Problem, start: Packing, effort: Effort) -> Found:
    """Patterns where they can be listed; else search, and single nodes for what it leaves open while those are few."""
    patterns = all_patterns(problem)
    if patterns is not None:
        return two_phases(problem, PatternModel(problem, patterns), bounded(problem, start, effort), effort)
    variables = sum(n.count * sum(1 for fit in n.fits if fit) for n in problem.nodes)
    if variables > MOST_NODE_VARIABLES:
        return search(problem, start, effort)
    found = search(problem, start, effort.until(0.5 * effort.left()))
    if problem.weight(found.packing) == found.bound and found.packing.nodes_used() == found.nodes_bound:
        return found
    return two_phases(problem, NodeModel(problem), found, effort)


def bounded(problem: Problem, start: Packing, effort: Effort) -> Found:
    """``start`` with the relaxation's bounds on weight and on the nodes for at least its weight."""
    bound = weight_bound(problem, effort.until(0.2 * effort.left()))
    if not effort.fewest_nodes:
        return Found(start, bound, 0)
    return Found(start, bound, nodes_bound(problem, start, effort.until(0.1 * effort.left())))


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
    starts: Iterable[Placement] = (),
    fewest_nodes: bool = True,
) -> Solution:
    """Place the waiting gangs of ``cluster`` beside its running pods.

    ``time_limit`` is in seconds and holds for the search; reading the problem and building a model come on top. The
    answer is never worse than any of ``starts``, good placements of the same cluster. Without ``fewest_nodes`` the
    second phase is left out, and the status is OPTIMAL as soon as the weight is proven.

    The same input gives the same objective whenever the status is OPTIMAL, and the same placement when one worker
    proves it, as it does for everyday inputs. Raises ValueError for a method that is unknown or cannot be used here,
    ProblemTooLarge, and InputError for a cluster with rules that are not in ``KNOWS``.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; there are {', '.join(sorted(METHODS))}")
    refuse(cluster, KNOWS, "the solver")
    began = time.monotonic()
    problem = reduce_cluster(cluster)
    if problem.gangs and problem.nodes:
        start = greedy_start(problem)
        for placement in starts:
            start = better(problem, problem.pack(placement), start)
        effort = Effort(began + time_limit, workers, seed, fewest_nodes=fewest_nodes)
        found = METHODS[method](problem, start, effort)
    else:
        found = Found(problem.empty(), 0, 0)
    weight, nodes = problem.weight(found.packing), found.packing.nodes_used()
    if weight > found.bound:
        raise Unsound(f"a weight of {weight} was placed, yet the bound is {found.bound}")
    proven = weight == found.bound
    left_out = (
        "no placement holds it together with all admitted gangs" if proven else "left out of the best placement found"
    )
    return Solution(
        placement=problem.invert(found.packing, left_out),
        objective=Objective(weight, nodes),
        bound=found.bound,
        nodes_bound=found.nodes_bound,
        status=Status.OPTIMAL if proven and (nodes == found.nodes_bound or not fewest_nodes) else Status.FEASIBLE,
        method=method,
        seconds=time.monotonic() - began,
    )

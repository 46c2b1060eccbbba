"""``solve``: the optimal placement of a cluster's gangs, or the best found, with a bound.

Objective: the most weight of admitted gangs, then the fewest nodes, unless others are named. Every rule is exact:
gangs are all or nothing, nodes hold their pods in every resource and by device, labels, taints, affinity and cordons,
required topology, queue maxima, reserved amounts and application counts at every level.
"""

# float: seconds only
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from reference.cluster import Application, Cluster, Placement
from reference.cluster.features import Feature, refuse
from reference.errors import InputError
from solver_placement.answer import Objective, Phase, Solution, Status
from solver_placement.bound import nodes_bound, weight_bound
from solver_placement.engine import Effort, Watch
from solver_placement.exact import Found, two_phases
from solver_placement.goals import OBJECTIVES, Goal, goals_of, lexicographic
from solver_placement.greedy_start import greedy_start
from solver_placement.launches import offer
from solver_placement.model_cpsat import Formulation, NodeModel
from solver_placement.model_patterns import PatternModel, all_patterns
from solver_placement.problem import Packing, Problem, ProblemTooLarge, Unsound, better
from solver_placement.reduction import reduce_cluster
from solver_placement.search import search

Method = Callable[[Problem, Packing, Effort], Found]
"""From a problem and a packing to start from, never to a worse one."""

MOST_NODE_VARIABLES = 40_000
FEW_NODE_VARIABLES = 2_000
"""Above this, single nodes seldom prove what search leaves open, and get less of the time."""

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

KNOWS_LAUNCHES = KNOWS | {Feature.NODE_TYPES}
"""The same where nodes may be launched."""

READS: Mapping[str, Feature] = MappingProxyType({"priority": Feature.PRIORITY, "fairness": Feature.SHARES})
"""What only steers, and the objective that reads it."""

DEFAULT = ("admission", "nodes")
"""The objectives that every method knows."""

MOST_GOAL_VARIABLES = 400_000

TOO_MANY_PATTERNS = "method patterns: the nodes have too many maximal patterns to list; use method nodes or auto"


def by_patterns(problem: Problem, start: Packing, effort: Effort) -> Found:
    """All maximal patterns of every node class, counted. ProblemTooLarge where they are too many to list."""
    patterns = all_patterns(problem)
    if patterns is None:
        raise ProblemTooLarge(TOO_MANY_PATTERNS)
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
    share = 0.5 if variables <= FEW_NODE_VARIABLES else 0.85
    found = search(problem, start, effort.until(share * effort.left()))
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
    objectives: Sequence[str] = (),
    launch: bool = False,
    watch: Watch | None = None,
) -> Solution:
    """Place the waiting gangs of ``cluster`` beside its running pods.

    ``time_limit`` is in seconds and holds for the search; reading the problem and building a model come on top. The
    answer is never worse than any of ``starts``, good placements of the same cluster. Without ``fewest_nodes`` the
    second phase is left out, and the status is OPTIMAL as soon as the weight is proven. ``objectives`` names others
    (``goals.OBJECTIVES``), the first one first; they are for the exact methods only. With ``launch``, nodes of the
    cluster's node types may be launched, at the least price unless ``objectives`` says otherwise. ``watch`` is told of
    progress, and may ask for an end: the answer is then the best so far.

    The same input gives the same objective whenever the status is OPTIMAL, and the same placement when one worker
    proves it, as it does for everyday inputs. Raises ValueError for an unknown method, ProblemTooLarge where a method
    or an objective cannot be used here, and InputError for an unknown objective, one that the method does not know, or
    a cluster with rules that are not in ``KNOWS``.
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; there are {', '.join(sorted(METHODS))}")
    refuse(cluster, KNOWS_LAUNCHES if launch else KNOWS, "the solver")
    began = time.monotonic()
    offered = offer(cluster)
    names = _objectives(objectives, bool(offered.types))
    problem = reduce_cluster(offered.cluster, offered.prices, _priority if "priority" in names else None)
    effort = Effort(began + time_limit, workers, seed, fewest_nodes=fewest_nodes, watch=watch or Watch())
    packing, phases = problem.empty(), tuple(_settled(g) for g in goals_of(names, problem, offered))
    if problem.gangs and problem.nodes:
        start = greedy_start(problem)
        for placement in starts:
            start = better(problem, problem.pack(placement), start)
        if names == DEFAULT:
            packing, phases = _by_default(problem, METHODS[method](problem, start, effort), fewest_nodes)
        else:
            goals = goals_of(names, problem, offered)
            packing, phases = lexicographic(goals, _exact_model(problem, method), start, effort)
    weight, nodes = problem.weight(packing), packing.nodes_used()
    bound = next((phase.bound for phase in phases if phase.name == "admission"), problem.everything)
    if weight > bound:
        raise Unsound(f"a weight of {weight} was placed, yet the bound is {bound}")
    left_out = (
        "no placement holds it together with all admitted gangs"
        if weight == bound
        else "left out of the best placement found"
    )
    placement = problem.invert(packing, left_out)
    answered, launched = offered.launched(placement)
    return Solution(
        placement=placement,
        objective=Objective(weight, nodes),
        bound=bound,
        nodes_bound=next((phase.bound for phase in phases if phase.name == "nodes"), 0),
        status=Status.OPTIMAL if all(phase.proven for phase in phases) else Status.FEASIBLE,
        method=method,
        seconds=time.monotonic() - began,
        phases=phases,
        cluster=answered,
        launched=launched,
    )


def _objectives(names: Sequence[str], launching: bool) -> tuple[str, ...]:
    """The objectives to take, the default ones where none is named."""
    if unknown := sorted(set(names) - set(OBJECTIVES)):
        raise InputError(f"the objective {', '.join(unknown)}", f"some of {', '.join(OBJECTIVES)}")
    return tuple(names) or (("admission", "cost", "nodes") if launching else DEFAULT)


def _priority(app: Application) -> int:
    return app.priority


def _by_default(problem: Problem, found: Found, fewest_nodes: bool) -> tuple[Packing, tuple[Phase, ...]]:
    packing = found.packing
    phases = (
        Phase("admission", "maximise", problem.weight(packing), found.bound),
        Phase("nodes", "minimise", packing.nodes_used(), found.nodes_bound),
    )
    return packing, phases if fewest_nodes else phases[:1]


def _settled(goal: Goal) -> Phase:
    """A phase where there is nothing to place."""
    value = goal.value_of_nothing
    return Phase(goal.name, "maximise" if goal.maximise else "minimise", value, value)


def _exact_model(problem: Problem, method: str) -> Formulation:
    """The formulation for any objectives. Raises ValueError where none is exact and small enough."""
    if method not in ("auto", "patterns", "nodes"):
        raise InputError(f"method {method} with other objectives than admission, nodes", "auto, patterns or nodes")
    patterns = None if method == "nodes" else all_patterns(problem)
    if patterns is not None:
        return PatternModel(problem, patterns)
    if method == "patterns":
        raise ProblemTooLarge(TOO_MANY_PATTERNS)
    variables = sum(n.count * sum(1 for fit in n.fits if fit) for n in problem.nodes)
    if variables > MOST_GOAL_VARIABLES:
        raise ProblemTooLarge(
            f"too large for objectives other than admission, nodes: {variables} counts of pods on nodes, "
            f"at most {MOST_GOAL_VARIABLES}"
        )
    return NodeModel(problem)

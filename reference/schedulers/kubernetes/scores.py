"""The score plugins that look at one node: 0 to 100 in Go's integer arithmetic, which the order of nodes hangs on.

NodeResourcesBalancedAllocation computes in floats upstream, and so it does here.
"""
# float: upstream's balancedResourceScorer works on float fractions; only the order of nodes hangs on it

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from reference.cluster import MEMORY, VCORE, Node, TaintEffect, Toleration
from reference.schedulers.kubernetes.api import PodSpec
from reference.schedulers.kubernetes.nodeinfo import NodeInfo
from reference.schedulers.kubernetes.options import ScoringStrategy

MAX_SCORE = 100


def fit_score(strategy: ScoringStrategy, requested: Iterable[tuple[int, int]]) -> int:
    """LeastAllocated or MostAllocated of (requested, allocatable) of CPU and memory, each of weight 1.

    A type that the node does not have does not count. Requests that nobody named can add up to more than there is.
    """
    score = kinds = 0
    for amount, allocatable in requested:
        if allocatable == 0:
            continue
        kinds += 1
        if strategy is ScoringStrategy.MOST_ALLOCATED:
            score += min(amount, allocatable) * MAX_SCORE // allocatable
        elif amount <= allocatable:
            score += (allocatable - amount) * MAX_SCORE // allocatable
    return score // kinds if kinds else 0


def node_fit_score(strategy: ScoringStrategy, spec: PodSpec, info: NodeInfo) -> int:
    """NodeResourcesFit: what the node would be with the pod on it."""
    cpu, memory = spec.non_zero
    allocatable = info.allocatable
    pairs = (info.cpu + cpu, allocatable.get(VCORE, 0)), (info.memory + memory, allocatable.get(MEMORY, 0))
    return fit_score(strategy, pairs)


def balanced_score(spec: PodSpec, info: NodeInfo) -> int:
    """NodeResourcesBalancedAllocation: how even the shares of CPU and memory are with the pod, against without it.

    A pod that asks for neither is not scored.
    """
    cpu, memory = spec.request.get(VCORE, 0), spec.request.get(MEMORY, 0)
    if cpu == 0 and memory == 0:
        return 0
    cpus, memories = info.allocatable.get(VCORE, 0), info.allocatable.get(MEMORY, 0)
    if not cpus or not memories:
        return MAX_SCORE // 2 + MAX_SCORE // 4  # a single share is as even as before
    used_cpu, used_memory = info.requested.get(VCORE, 0), info.requested.get(MEMORY, 0)
    without = _evenness(used_cpu / cpus, used_memory / memories)
    with_pod = _evenness((used_cpu + cpu) / cpus, (used_memory + memory) / memories)
    return MAX_SCORE // 2 + (MAX_SCORE // 2 + with_pod - without) // 2


def _evenness(share: float, other: float) -> int:
    """100 less the standard deviation of the two shares, in hundredths; no share counts for more than the whole."""
    deviation = abs((min(share, 1.0) - min(other, 1.0)) / 2)
    return math.trunc((1 - deviation) * MAX_SCORE)


def intolerable_taints(tolerations: Sequence[Toleration], node: Node) -> int:
    """TaintToleration: PreferNoSchedule taints that the pod does not tolerate."""
    wishes = [taint for taint in node.taints if taint.effect is TaintEffect.PREFER_NO_SCHEDULE]
    return sum(not any(t.tolerates(taint) for t in tolerations) for taint in wishes)


def preferred_affinity(spec: PodSpec, node: Node) -> int:
    """NodeAffinity: the weights of the preferred terms that match."""
    return sum(
        term.weight
        for term in spec.preferred_node_affinity
        if term.requirements and all(r.matches(node.labels) for r in term.requirements)
    )


def normalised(raw: int, most: int, reverse: bool) -> int:
    """DefaultNormalizeScore: ``raw`` against the largest of all feasible nodes."""
    if most == 0:
        return MAX_SCORE if reverse else 0
    score = MAX_SCORE * raw // most
    return MAX_SCORE - score if reverse else score

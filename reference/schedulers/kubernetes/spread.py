"""PodTopologySpread: DoNotSchedule constraints as a filter, ScheduleAnyway ones as a score.

As by default upstream, nodes count that the pod's nodeSelector and required node affinity allow, whatever their taints
(``nodeAffinityPolicy`` Honor, ``nodeTaintsPolicy`` Ignore), and that have the labels of all constraints. Upstream's
built-in default constraints need an owner of the pod, which is not modelled.
"""
# float: upstream weighs the counts of ScheduleAnyway constraints by a logarithm; only the order of nodes hangs on it

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from reference.cluster import Node
from reference.schedulers.kubernetes.api import PodSpec, TopologySpreadConstraint, WhenUnsatisfiable, selects
from reference.schedulers.kubernetes.nodeinfo import NodeInfo

HOSTNAME = "kubernetes.io/hostname"
MAX_SCORE = 100


def allows(spec: PodSpec, node: Node) -> bool:
    """Whether the pod's nodeSelector and required node affinity match."""
    labels, constraints = node.labels, spec.constraints
    if any(labels.get(key) != value for key, value in constraints.node_selector):
        return False
    terms = constraints.affinity_terms
    return not terms or any(term and all(r.matches(labels) for r in term) for term in terms)


def _chosen(spec: PodSpec, kind: WhenUnsatisfiable) -> list[TopologySpreadConstraint]:
    return [c for c in spec.topology_spread_constraints if c.when_unsatisfiable is kind]


def _matching(info: NodeInfo, constraint: TopologySpreadConstraint) -> int:
    return sum(selects(constraint.selector, pod.spec.labels) for pod in info.pods.values())


def _has_labels(info: NodeInfo, constraints: Sequence[TopologySpreadConstraint]) -> bool:
    return all(constraint.topology_key in info.node.labels for constraint in constraints)


class SpreadFilter:
    """PreFilter and Filter for one pod: how many pods each domain has, for each constraint that forbids."""

    def __init__(self, spec: PodSpec, infos: Sequence[NodeInfo]) -> None:
        self.spec = spec
        self.constraints = _chosen(spec, WhenUnsatisfiable.DO_NOT_SCHEDULE)
        self.counts: list[Counter[str]] = [Counter() for _ in self.constraints]
        if self.constraints:
            for info in infos:
                if _has_labels(info, self.constraints) and allows(spec, info.node):
                    for counts, constraint in zip(self.counts, self.constraints, strict=True):
                        counts[info.node.labels[constraint.topology_key]] += _matching(info, constraint)

    def why_not(self, info: NodeInfo) -> str | None:
        """What keeps the pod off the node, or None."""
        for counts, constraint in zip(self.counts, self.constraints, strict=True):
            domain = info.node.labels.get(constraint.topology_key)
            if domain is None:
                return "node lacks a topology label of the spread constraints"
            fewest = min(counts.values(), default=0) if len(counts) >= constraint.min_domains else 0
            itself = selects(constraint.selector, self.spec.labels)
            if counts[domain] + itself - fewest > constraint.max_skew:
                return "node does not match the spread constraints"
        return None


def spread_scores(spec: PodSpec, infos: Sequence[NodeInfo], feasible: Sequence[NodeInfo]) -> list[int]:
    """PreScore, Score and NormalizeScore, 0 to 100 for each feasible node; emptier domains score higher."""
    constraints = _chosen(spec, WhenUnsatisfiable.SCHEDULE_ANYWAY)
    if not constraints:
        return [0] * len(feasible)
    scored = [info for info in feasible if _has_labels(info, constraints)]
    totals = dict.fromkeys((info.node.name for info in scored), 0.0)
    for constraint in constraints:
        key = constraint.topology_key
        domains = {info.node.labels[key] for info in scored}
        counts = Counter(dict.fromkeys(domains, 0))
        if key == HOSTNAME:
            size = len(scored)
            by_node = {info.node.name: _matching(info, constraint) for info in scored}
        else:
            size = len(domains)
            for info in infos:
                if _has_labels(info, constraints) and allows(spec, info.node) and info.node.labels[key] in domains:
                    counts[info.node.labels[key]] += _matching(info, constraint)
            by_node = {info.node.name: counts[info.node.labels[key]] for info in scored}
        weight = math.log(size + 2)
        for info in scored:
            totals[info.node.name] += by_node[info.node.name] * weight + (constraint.max_skew - 1)
    raw = {name: _rounded(total) for name, total in totals.items()}
    low, high = min(raw.values(), default=0), max(raw.values(), default=0)
    return [_normalised(raw.get(info.node.name), low, high) for info in feasible]


def _normalised(score: int | None, low: int, high: int) -> int:
    if score is None:
        return 0
    return MAX_SCORE if high == 0 else MAX_SCORE * (high + low - score) // high


def _rounded(value: float) -> int:
    """Go's math.Round: halves away from zero; Python's round takes them to even numbers."""
    return math.floor(value + 0.5)

"""InterPodAffinity: required terms as a filter, preferred ones as a score.

Both count pods by the value of a topology label, over the nodes of the placement that is tried. Upstream normalises the
score in floats; so does this file.
"""
# float: upstream's NormalizeScore of InterPodAffinity; nothing is decided on it but the order of nodes that fit

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reference.cluster.neighbours import PodAffinityTerm
from reference.schedulers.kubernetes.api import PodSpec, selects
from reference.schedulers.kubernetes.nodeinfo import NodeInfo

HARD_POD_AFFINITY_WEIGHT = 1
"""What a required affinity term of a pod that runs adds to the score (``hardPodAffinityWeight``)."""
MAX_SCORE = 100

Domain = tuple[str, str]
"""A topology key and its value on a node."""


class AffinityFilter:
    """PreFilter and Filter for one pod: which domains its terms, and those of the pods that run, allow."""

    def __init__(self, spec: PodSpec, infos: Sequence[NodeInfo]) -> None:
        self.affinity = spec.pod_affinity.required
        self.anti_affinity = spec.pod_anti_affinity.required
        self.forbidden: Counter[Domain] = Counter()
        self.wanted: Counter[Domain] = Counter()
        self.avoided: Counter[Domain] = Counter()
        for info in infos:
            if self.affinity or self.anti_affinity:
                for pod in info.pods.values():
                    # a pod counts for affinity only where it is selected by every term
                    if self.affinity and all(selects(term.selector, pod.spec.labels) for term in self.affinity):
                        _count(self.wanted, self.affinity, info)
                    for term in self.anti_affinity:
                        if selects(term.selector, pod.spec.labels):
                            _count(self.avoided, (term,), info)
            if info.with_affinity:
                for pod in info.pods.values():
                    theirs = [t for t in pod.spec.pod_anti_affinity.required if selects(t.selector, spec.labels)]
                    _count(self.forbidden, theirs, info)
        self.is_first_of_its_kind = not self.wanted and all(selects(t.selector, spec.labels) for t in self.affinity)
        """Its affinity is to pods like itself, and there are none yet: then any domain will do."""

    def why_not(self, info: NodeInfo) -> str | None:
        """What keeps the pod off the node, or None."""
        labels = info.node.labels
        if any(term.topology_key not in labels for term in self.affinity):
            return "node lacks a topology label of the pod affinity"
        if self.affinity and not self.is_first_of_its_kind:
            if not all(self.wanted[term.topology_key, labels[term.topology_key]] for term in self.affinity):
                return "node does not match the pod affinity"
        for term in self.anti_affinity:
            if term.topology_key in labels and self.avoided[term.topology_key, labels[term.topology_key]]:
                return "node does not match the pod anti-affinity"
        if self.forbidden and any(self.forbidden[domain] for domain in labels.items()):
            return "node does not match the anti-affinity of a pod that runs"
        return None


def _count(counts: Counter[Domain], terms: Sequence[PodAffinityTerm], info: NodeInfo) -> None:
    for term in terms:
        if term.topology_key in info.node.labels:
            counts[term.topology_key, info.node.labels[term.topology_key]] += 1


def affinity_scores(spec: PodSpec, infos: Sequence[NodeInfo], feasible: Sequence[NodeInfo]) -> list[int]:
    """PreScore, Score and NormalizeScore, 0 to 100 for each feasible node: what the pod prefers, and what pods that run
    prefer or need."""
    weights: Counter[Domain] = Counter()

    def weigh(term: PodAffinityTerm, other: PodSpec, info: NodeInfo, weight: int) -> None:
        if selects(term.selector, other.labels) and term.topology_key in info.node.labels:
            weights[term.topology_key, info.node.labels[term.topology_key]] += weight

    has_wishes = bool(spec.pod_affinity.preferred or spec.pod_anti_affinity.preferred)
    for info in infos:
        if not has_wishes and not info.with_affinity:
            continue
        for pod in info.pods.values():
            for wish in spec.pod_affinity.preferred:
                weigh(wish.term, pod.spec, info, wish.weight)
            for wish in spec.pod_anti_affinity.preferred:
                weigh(wish.term, pod.spec, info, -wish.weight)
            for term in pod.spec.pod_affinity.required:
                weigh(term, spec, info, HARD_POD_AFFINITY_WEIGHT)
            for wish in pod.spec.pod_affinity.preferred:
                weigh(wish.term, spec, info, wish.weight)
            for wish in pod.spec.pod_anti_affinity.preferred:
                weigh(wish.term, spec, info, -wish.weight)
    if not weights:
        return [0] * len(feasible)
    raw = [sum(weights[domain] for domain in info.node.labels.items()) for info in feasible]
    low, spread = min(raw), max(raw) - min(raw)
    return [int(MAX_SCORE * ((score - low) / spread)) if spread else 0 for score in raw]

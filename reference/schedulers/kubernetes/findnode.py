"""One pod, one node: the filters, the scores, and the best node. The plain rule, in the order of kube-scheduler.

``index.py`` gives the same answer faster for pods that do not mind where others are.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.schedulers.kubernetes.affinity import AffinityFilter, affinity_scores
from reference.schedulers.kubernetes.api import Pod
from reference.schedulers.kubernetes.nodeinfo import NodeInfo
from reference.schedulers.kubernetes.options import Options, Plugin
from reference.schedulers.kubernetes.scores import (
    balanced_score,
    intolerable_taints,
    node_fit_score,
    normalised,
    preferred_affinity,
)
from reference.schedulers.kubernetes.snapshot import Nominated, Snapshot
from reference.schedulers.kubernetes.spread import SpreadFilter, spread_scores

Placement = Sequence[NodeInfo]
"""Nodes that a group may use: a candidate placement, or the whole snapshot."""


class Filters:
    """PreFilter over a placement, and Filter for each of its nodes."""

    def __init__(self, snapshot: Snapshot, pod: Pod, nodes: Placement) -> None:
        self.spec = pod.spec
        minds = pod.spec.has_affinity or snapshot.with_affinity > 0
        self.affinity = AffinityFilter(pod.spec, nodes) if minds else None
        self.spread = SpreadFilter(pod.spec, nodes) if pod.spec.topology_spread_constraints else None

    def why_not(self, info: NodeInfo) -> str | None:
        """The first filter that keeps the pod off the node: NodeUnschedulable, NodeAffinity, TaintToleration,
        NodeResourcesFit, PodTopologySpread, InterPodAffinity; None where it may run."""
        reason = info.node.why_not(self.spec.constraints)
        if reason is not None:
            return reason
        if not info.has_room(self.spec):
            return f"insufficient {info.short_of(self.spec)}"
        reason = self.spread.why_not(info) if self.spread else None
        if reason is None and self.affinity is not None:
            reason = self.affinity.why_not(info)
        return reason


def feasible_nodes(snapshot: Snapshot, pod: Pod, root: str, nodes: Placement) -> list[NodeInfo]:
    """The nodes that pass all filters, also next to the pods that are nominated there."""
    filters = Filters(snapshot, pod, nodes)
    found = [info for info in nodes if filters.why_not(info) is None]
    return [
        i for i in found if i.node.name not in snapshot.nominated or _leaves_nominated(snapshot, pod, root, nodes, i)
    ]


def nominated_before(snapshot: Snapshot, pod: Pod, root: str, node: str) -> list[Nominated]:
    """Pods of other groups, of the same priority or a higher one, that wait for room on the node."""
    here = snapshot.nominated.get(node, [])
    return [n for n in here if n.root != root and n.pod.spec.priority >= pod.spec.priority]


def _leaves_nominated(snapshot: Snapshot, pod: Pod, root: str, nodes: Placement, info: NodeInfo) -> bool:
    """Whether the node passes with those pods on it, too."""
    mark = snapshot.mark()
    for each in nominated_before(snapshot, pod, root, info.node.name):
        if each.pod.name not in info.pods:
            snapshot.assume(each.pod, each.node)
    passes = Filters(snapshot, pod, nodes).why_not(info) is None
    snapshot.rollback(mark)
    return passes


def total_scores(snapshot: Snapshot, pod: Pod, nodes: Placement, feasible: Placement, options: Options) -> list[int]:
    """The weighted sum of all score plugins, for each feasible node."""
    spec, weights = pod.spec, options.weights
    taints = [intolerable_taints(spec.constraints.tolerations, info.node) for info in feasible]
    wishes = [preferred_affinity(spec, info.node) for info in feasible]
    most_taints, most_wishes = max(taints, default=0), max(wishes, default=0)
    parts = {
        Plugin.TAINT_TOLERATION: [normalised(n, most_taints, True) for n in taints],
        Plugin.NODE_AFFINITY: [normalised(n, most_wishes, False) for n in wishes],
        Plugin.NODE_RESOURCES_FIT: [node_fit_score(options.scoring_strategy, spec, info) for info in feasible],
        Plugin.BALANCED_ALLOCATION: [balanced_score(spec, info) for info in feasible],
    }
    if spec.topology_spread_constraints:
        parts[Plugin.POD_TOPOLOGY_SPREAD] = spread_scores(spec, nodes, feasible)
    if spec.has_affinity or snapshot.with_affinity:
        parts[Plugin.INTER_POD_AFFINITY] = affinity_scores(spec, nodes, feasible)
    return [sum(weights[plugin] * scores[i] for plugin, scores in parts.items()) for i in range(len(feasible))]


def find_node(snapshot: Snapshot, pod: Pod, root: str, nodes: Placement, options: Options) -> NodeInfo | None:
    """The node for ``pod``, which is scheduled as one with the group ``root``: the one it is nominated for if that
    passes, else of those that pass one with the highest score; None where none passes."""
    feasible = feasible_nodes(snapshot, pod, root, nodes)
    own = snapshot.nominated_node.get(pod.name)
    for info in feasible:
        if info.node.name == own:
            return info
    if not feasible:
        return None
    totals = total_scores(snapshot, pod, nodes, feasible, options)
    best = max(range(len(feasible)), key=lambda i: (totals[i], -feasible[i].rank))
    return feasible[best]


def why_unschedulable(snapshot: Snapshot, pod: Pod, nodes: Placement) -> str:
    """One line: how many nodes there are, and what keeps the pod off how many of them."""
    filters = Filters(snapshot, pod, nodes)
    counts: dict[str, int] = {}
    for info in nodes:
        reason = filters.why_not(info) or "room is kept for a nominated pod"
        counts[reason] = counts.get(reason, 0) + 1
    found = ", ".join(f"{n} {reason}" for reason, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return f"0/{len(nodes)} nodes are available" + (f": {found}" if found else "")

"""The best node for a pod without asking every node: what ``findnode.find_node`` answers, kept up to date.

Pods with the same request, constraints and node preferences get the same answers; for each such kind the index keeps
every node's score and asks a node again only after it has changed. Two parts of a score are relative to the other
feasible nodes, those of taints and of preferred node affinity; nodes that are alike in both form a bucket, a heap in
the order of the rest of the score. The best node is the best of the heads.

It does not answer where other pods matter (affinity, spreading, nominated pods), nor for a part of the nodes; then the
plain rule does.
"""

from __future__ import annotations

import heapq

from reference.schedulers.kubernetes.api import Pod, PodSpec
from reference.schedulers.kubernetes.nodeinfo import NodeInfo
from reference.schedulers.kubernetes.options import Options, Plugin
from reference.schedulers.kubernetes.scores import (
    balanced_score,
    intolerable_taints,
    node_fit_score,
    normalised,
    preferred_affinity,
)
from reference.schedulers.kubernetes.snapshot import Snapshot

Bucket = tuple[int, int]
"""Taints that are not tolerated, and the weight of the preferences that match."""


class Kind:
    """Scores of all nodes for pods of one kind. ``upto``: changes of the snapshot that it has seen; ``shape``: the
    nodes that it knows; ``known``: scores of nodes as they were once, for nodes that become alike."""

    __slots__ = ("buckets", "heaps", "known", "scores", "shape", "spec", "upto")

    def __init__(self, spec: PodSpec, snapshot: Snapshot, options: Options) -> None:
        self.spec = spec
        self.known: dict[str, int | None] = {}
        self.shape = snapshot.shape
        self.upto = snapshot.changes_dropped + len(snapshot.changes)
        self.buckets: list[Bucket | None] = []
        self.scores: list[int | None] = []
        self.heaps: dict[Bucket, list[tuple[int, int]]] = {}
        for info in snapshot.infos:
            bucket = None
            if info.node.admits(spec.constraints):
                tolerations = spec.constraints.tolerations
                bucket = intolerable_taints(tolerations, info.node), preferred_affinity(spec, info.node)
            self.buckets.append(bucket)
            self.scores.append(None)
            if bucket is not None:
                self.look_at(info, options)

    def look_at(self, info: NodeInfo, options: Options) -> None:
        """The node may have changed."""
        rank, amounts = info.rank, info.amounts
        bucket = self.buckets[rank]
        if bucket is None:
            return
        score = self.known[amounts] if amounts in self.known else self._score(info, options)
        if score == self.scores[rank]:
            return
        self.scores[rank] = score
        if score is not None:
            heap = self.heaps.setdefault(bucket, [])
            if len(heap) > 64 + 4 * len(self.scores):
                heap[:] = self._current(bucket)
                heapq.heapify(heap)
            else:
                heapq.heappush(heap, (-score, rank))

    def _score(self, info: NodeInfo, options: Options) -> int | None:
        """What the node scores by its amounts alone, which are new; None where there is no room."""
        score = None
        if info.has_room(self.spec):
            weights = options.weights
            score = weights[Plugin.NODE_RESOURCES_FIT] * node_fit_score(options.scoring_strategy, self.spec, info)
            score += weights[Plugin.BALANCED_ALLOCATION] * balanced_score(self.spec, info)
        if len(self.known) >= 4 * len(self.buckets) + 1024:
            self.known.clear()
        self.known[info.amounts] = score
        return score

    def _current(self, bucket: Bucket) -> list[tuple[int, int]]:
        here = enumerate(zip(self.buckets, self.scores, strict=True))
        return [(-score, rank) for rank, (own, score) in here if own == bucket and score is not None]

    def catch_up(self, snapshot: Snapshot, options: Options) -> bool:
        """Looks at what changed. False where that is not known any more."""
        if self.shape != snapshot.shape or self.upto < snapshot.changes_dropped:
            return False
        new = snapshot.changes[self.upto - snapshot.changes_dropped :]
        for rank in set(new) if len(new) > 1 else new:
            self.look_at(snapshot.infos[rank], options)
        self.upto += len(new)
        return True

    def best(self, options: Options) -> int | None:
        """The rank of the best node."""
        heads: list[tuple[Bucket, int, int]] = []
        for bucket, heap in self.heaps.items():
            while heap and self.scores[heap[0][1]] != -heap[0][0]:
                heapq.heappop(heap)
            if heap:
                heads.append((bucket, -heap[0][0], heap[0][1]))
        if not heads:
            return None
        most_taints, most_wishes = max(b[0] for b, _, _ in heads), max(b[1] for b, _, _ in heads)
        weights = options.weights

        def total(bucket: Bucket, score: int) -> int:
            taints = weights[Plugin.TAINT_TOLERATION] * normalised(bucket[0], most_taints, True)
            return score + taints + weights[Plugin.NODE_AFFINITY] * normalised(bucket[1], most_wishes, False)

        return -max((total(bucket, score), -rank) for bucket, score, rank in heads)[1]


class Index:
    """The kinds of pods that were asked for lately."""

    MOST_KINDS = 512

    def __init__(self, snapshot: Snapshot, options: Options) -> None:
        self.snapshot = snapshot
        self.options = options
        self.kinds: dict[object, Kind] = {}

    def answers(self, pod: Pod) -> bool:
        """Whether the index may be asked."""
        return not (pod.spec.minds_others or self.snapshot.with_affinity or self.snapshot.nominated)

    def find(self, pod: Pod) -> NodeInfo | None:
        """The node that the plain rule finds among all nodes of the snapshot."""
        spec = pod.spec
        key = (spec.request, spec.constraints, spec.preferred_node_affinity)
        kind = self.kinds.get(key)
        if kind is None or not kind.catch_up(self.snapshot, self.options):
            self.kinds.pop(key, None)
            if len(self.kinds) >= self.MOST_KINDS:
                del self.kinds[next(iter(self.kinds))]
            kind = self.kinds[key] = Kind(spec, self.snapshot, self.options)
        rank = kind.best(self.options)
        return None if rank is None else self.snapshot.infos[rank]

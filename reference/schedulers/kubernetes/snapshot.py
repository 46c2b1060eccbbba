"""What the scheduler believes about the cluster, and the copy of it that one scheduling cycle works on.

As in kube-scheduler, the cache takes every event at once, and the snapshot is brought up to date when a cycle begins,
only where something changed. What a cycle tries is written into a journal and taken back from its end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reference.cluster import Node
from reference.schedulers.kubernetes.api import Pod
from reference.schedulers.kubernetes.nodeinfo import NodeInfo


class Cache:
    """Nodes, and the pods that have one: bound, or assumed while their binding is under way."""

    def __init__(self) -> None:
        self.infos: dict[str, NodeInfo] = {}
        self.node_of: dict[str, str] = {}
        self.pods: dict[str, Pod] = {}
        self.scheduled: dict[str, dict[str, str]] = {}
        self.changed_nodes: set[str] = set()
        self.changed_groups: set[str] = set()
        self.nodes_changed = False

    def put_node(self, node: Node) -> None:
        """``node`` is new, or is now as given. Pods that ran on a node of that name count again."""
        info = NodeInfo(node)
        for name, where in self.node_of.items():
            if where == node.name:
                info.add(self.pods[name])
        self.infos[node.name] = info
        self.nodes_changed = True

    def remove_node(self, name: str) -> None:
        """The node is gone; its pods stay scheduled until they are deleted, as upstream has it."""
        del self.infos[name]
        self.nodes_changed = True

    def add(self, pod: Pod, node: str) -> None:
        """``pod`` has a node now."""
        self.pods[pod.name] = pod
        self.node_of[pod.name] = node
        if node in self.infos:
            self.infos[node].add(pod)
            self.changed_nodes.add(node)
        if pod.pod_group:
            self.scheduled.setdefault(pod.pod_group, {})[pod.name] = node
            self.changed_groups.add(pod.pod_group)

    def remove(self, name: str) -> str:
        """The pod is deleted, or forgotten; the node that it had."""
        pod, node = self.pods.pop(name), self.node_of.pop(name)
        if node in self.infos:
            self.infos[node].remove(pod)
            self.changed_nodes.add(node)
        if pod.pod_group:
            del self.scheduled[pod.pod_group][name]
            self.changed_groups.add(pod.pod_group)
        return node


@dataclass(frozen=True, slots=True)
class Nominated:
    """A pod that waits for victims to leave ``node``; ``root`` is the group that is scheduled as one with it."""

    pod: Pod
    node: str
    root: str


class Snapshot:
    """Nodes in the order of their ranks, the scheduled pods of each group, who is nominated where, and whether pods
    that a preemption asked to leave are still there (``leaving``).

    ``changes`` lists ranks of nodes that changed, the oldest first, ``changes_dropped`` of them are not kept any more;
    ``shape`` counts how often there were other nodes. Both are for the index.
    """

    MOST_CHANGES = 1 << 16

    def __init__(self, seed: int | None = None) -> None:
        self.seed = seed
        self.infos: list[NodeInfo] = []
        self.by_name: dict[str, NodeInfo] = {}
        self.scheduled: dict[str, dict[str, str]] = {}
        self.nominated: dict[str, list[Nominated]] = {}
        self.nominated_node: dict[str, str] = {}
        self.leaving = False
        self.with_affinity = 0
        self.shape = 0
        self.changes: list[int] = []
        self.changes_dropped = 0
        self._journal: list[tuple[bool, Pod, str]] = []

    # ---- a cycle begins

    def update(self, cache: Cache, leaving: bool = False) -> None:
        """As the cache is now. A cycle must have taken back what it tried."""
        assert not self._journal, "a cycle left something behind"
        if cache.nodes_changed:
            self._take_nodes(cache)
        else:
            for name in sorted(cache.changed_nodes):
                self._take(cache.infos[name])
        for group in cache.changed_groups:
            self.scheduled[group] = dict(cache.scheduled[group])
        cache.nodes_changed = False
        cache.changed_nodes.clear()
        cache.changed_groups.clear()
        self.leaving = leaving
        if len(self.changes) > self.MOST_CHANGES:
            self.changes_dropped += len(self.changes)
            self.changes = []

    def nominate(self, nominated: Iterable[Nominated]) -> None:
        """Who is nominated where. Upstream keeps that beside the snapshot, and Filter asks for what it is now: a
        nomination that is given up while a cycle runs holds no room any more (K4)."""
        self.nominated, self.nominated_node = {}, {}
        for each in nominated:
            self.nominated.setdefault(each.node, []).append(each)
            self.nominated_node[each.pod.name] = each.node

    def _take_nodes(self, cache: Cache) -> None:
        self.infos = [cache.infos[name].copy() for name in sorted(cache.infos, key=self.order_of)]
        for rank, info in enumerate(self.infos):
            info.rank = rank
        self.by_name = {info.node.name: info for info in self.infos}
        self.with_affinity = sum(info.with_affinity for info in self.infos)
        self.shape += 1

    def _take(self, original: NodeInfo) -> None:
        old = self.by_name[original.node.name]
        new = original.copy()
        new.rank = old.rank
        self.infos[old.rank] = self.by_name[new.node.name] = new
        self.with_affinity += new.with_affinity - old.with_affinity
        self.changes.append(new.rank)

    def order_of(self, name: str) -> tuple[str, str]:
        """Where names stand among each other when ties are broken."""
        if self.seed is None:
            return "", name
        return hashlib.sha256(f"{self.seed}:{name}".encode()).hexdigest(), name

    # ---- what a cycle tries

    def mark(self) -> int:
        """A point to roll back to."""
        return len(self._journal)

    def assume(self, pod: Pod, node: str) -> None:
        """As if ``pod`` ran on ``node``."""
        self._put(pod, node)
        self._journal.append((True, pod, node))

    def evict(self, pod: Pod, node: str) -> None:
        """As if ``pod`` had left ``node``."""
        self._drop(pod, node)
        self._journal.append((False, pod, node))

    def rollback(self, mark: int) -> None:
        """All that was tried since ``mark`` is undone, the last first."""
        while len(self._journal) > mark:
            added, pod, node = self._journal.pop()
            if added:
                self._drop(pod, node)
            else:
                self._put(pod, node)

    def _put(self, pod: Pod, node: str) -> None:
        info = self.by_name[node]
        info.add(pod)
        self.with_affinity += pod.spec.has_affinity
        self.changes.append(info.rank)
        if pod.pod_group:
            self.scheduled.setdefault(pod.pod_group, {})[pod.name] = node

    def _drop(self, pod: Pod, node: str) -> None:
        info = self.by_name[node]
        info.remove(pod)
        self.with_affinity -= pod.spec.has_affinity
        self.changes.append(info.rank)
        if pod.pod_group:
            del self.scheduled[pod.pod_group][pod.name]

    # ---- questions

    def scheduled_of(self, group: str) -> Mapping[str, str]:
        """The nodes of the pods of ``group`` that have one."""
        return self.scheduled.get(group, {})

    def state(self) -> tuple[object, ...]:
        """All that a rollback has to bring back; equal for equal snapshots."""
        groups = tuple((g, tuple(sorted(pods.items()))) for g, pods in sorted(self.scheduled.items()) if pods)
        return tuple(info.state() for info in self.infos), groups, self.with_affinity

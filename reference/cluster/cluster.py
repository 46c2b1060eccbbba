"""The whole input of a scheduling question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reference.cluster.gang import Application, TaskGroup
from reference.cluster.neighbours import ALONE, Neighbours
from reference.cluster.node import DEVICE, Node
from reference.cluster.node_type import NodeType
from reference.cluster.queue import QueueTree
from reference.cluster.resources import Resources, total
from reference.cluster.topology import Topology

MOST_LEVELS: Final = 50
"""Composite groups inside each other, beyond which a cluster is refused."""


@dataclass(frozen=True, slots=True)
class RunningPod:
    """A pod that is bound already: it holds ``resources`` (``pods`` included) of its node and of its queue's path.

    ``application`` and ``task_group`` say whose it is, "" where that is not known; that gang is not among the waiting
    ones. ``priority`` as in ``Application``.
    """

    name: str
    node: str
    queue: str
    resources: Resources
    application: str = ""
    task_group: str = ""
    priority: int = 0
    neighbours: Neighbours = ALONE


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes, queues, gangs that wait, and pods that run. Names are unique within each; references resolve.

    ``node_types`` are nodes that may be launched beside ``nodes``; ``topologies`` the levels that nodes are arranged
    in. ``reference.manifests`` builds a cluster from users' files and reports what does not hold; code that builds one
    by hand can call ``problems`` itself.
    """

    nodes: tuple[Node, ...]
    queues: QueueTree
    applications: tuple[Application, ...]
    running: tuple[RunningPod, ...] = ()
    node_types: tuple[NodeType, ...] = ()
    topologies: tuple[Topology, ...] = ()

    def free(self, node: Node) -> Resources:
        """What ``node`` has left beside its running pods; see ``Node.counted`` for nodes that do not list ``pods``."""
        return node.available - node.counted(total(pod.resources for pod in self.running if pod.node == node.name))

    def free_by_node(self) -> dict[str, Resources]:
        """``free`` of every node, in one pass over the running pods."""
        held: dict[str, list[Resources]] = {}
        for pod in self.running:
            held.setdefault(pod.node, []).append(pod.resources)
        return {node.name: node.available - node.counted(total(held.get(node.name, ()))) for node in self.nodes}

    def queue_usage(self, queue: str) -> Resources:
        """What the running pods in ``queue`` and below hold."""
        return total(p.resources for p in self.running if p.queue == queue or p.queue.startswith(queue + "."))

    def running_applications(self, queue: str) -> frozenset[str]:
        """The applications that have a pod running in ``queue`` or below: each counts against ``max_applications``.

        Pods that do not say whose they are count for none.
        """
        return frozenset(
            pod.application
            for pod in self.running
            if pod.application and (pod.queue == queue or pod.queue.startswith(queue + "."))
        )

    def problems(self) -> list[str]:
        """Every rule of this type that does not hold, one line each; empty for a good cluster."""
        found: list[str] = []
        for kind, names in (
            ("nodes", [n.name for n in self.nodes]),
            ("queues", [q.name for q in self.queues]),
            ("applications", [a.name for a in self.applications]),
            ("running pods", [p.name for p in self.running]),
            ("node types", [t.name for t in self.node_types]),
            ("topologies", [t.name for t in self.topologies]),
        ):
            found += [f"two {kind} are named {name!r}" for name in _repeated(names)]
        leaves = {q.name for q in self.queues.leaves()}
        found += [
            f"application {a.name!r}: {a.queue!r} is not a leaf queue"
            for a in self.applications
            if a.queue not in leaves
        ]
        for app in self.applications:
            found += [f"application {app.name!r}{problem}" for problem in _gang_problems(app)]
        nodes = {n.name for n in self.nodes}
        found += [f"pod {p.name!r} runs on unknown node {p.node!r}" for p in self.running if p.node not in nodes]
        types = {t.name for t in self.node_types}
        found += [
            f"node {n.name!r} is of unknown node type {n.node_type!r}"
            for n in self.nodes
            if n.node_type and n.node_type not in types
        ]
        return [*found, *self._device_problems()]

    def _device_problems(self) -> Iterator[str]:
        """Amounts of what is handed out by device are shares of one, or whole ones."""
        by_device = {name for node in self.nodes for name in node.devices}
        for node in self.nodes:
            for name in node.devices:
                for what, amounts in (("capacity", node.capacity), ("occupied", node.occupied)):
                    if amounts.amount(name) % DEVICE:
                        yield f"node {node.name!r}: {what} {name} {amounts.amount(name)} is not whole devices"
        asked = [(f"application {a.name!r}: task group {g.name!r}", g.pod_resource) for a, g in self._groups()]
        asked += [(f"pod {pod.name!r}", pod.resources) for pod in self.running]
        for where, amounts in asked if by_device else ():
            for name in sorted(by_device):
                if (amount := amounts.amount(name)) > DEVICE and amount % DEVICE:
                    yield f"{where}: {name} {amount} is neither a share of one device nor whole devices"

    def _groups(self) -> Iterator[tuple[Application, TaskGroup]]:
        return ((app, group) for app in self.applications for group in app.task_groups)


def _repeated(names: list[str]) -> list[str]:
    return [name for name, count in sorted(Counter(names).items()) if count > 1]


def _gang_problems(app: Application) -> Iterator[str]:
    groups = [g.name for g in app.task_groups]
    if not groups:
        yield " has no task group"
    for name in _repeated(groups):
        yield f": two task groups are named {name!r}"
    for group in app.task_groups:
        least = 1 if group.size is None else 0
        if group.min_member < least:
            yield f": task group {group.name!r}: minMember must be at least {least}, found {group.min_member}"
    may_be_empty = all(group.size is not None and group.min_member == 0 for group in app.task_groups)
    if groups and app.min_members is None and may_be_empty:
        yield " needs no pod: every task group has the minimum 0"
    yield from _composite_problems(app, set(groups))


def _composite_problems(app: Application, groups: set[str]) -> Iterator[str]:
    """Names, references, and that the composites form trees."""
    for name in _repeated([c.name for c in app.composites]):
        yield f": two composite groups are named {name!r}"
    parents: dict[str, str] = {}
    composites = {c.name for c in app.composites}
    for name in sorted(composites & groups):
        yield f": a task group and a composite group are named {name!r}"
    for composite in app.composites:
        for child in composite.children:
            if child not in groups | composites:
                yield f": composite group {composite.name!r} names the unknown group {child!r}"
            elif child in parents:
                yield f": group {child!r} is in composite groups {parents[child]!r} and {composite.name!r}"
            parents.setdefault(child, composite.name)
    for composite in app.composites:
        above, levels = composite.name, 1
        while above in parents and levels <= MOST_LEVELS:
            above, levels = parents[above], levels + 1
            if above == composite.name:
                yield f": composite group {composite.name!r} is inside itself"
                return
        if levels > MOST_LEVELS:
            yield f": composite group {composite.name!r} is more than {MOST_LEVELS} levels deep"
            return

"""The whole input of a scheduling question."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from reference.cluster.gang import Application
from reference.cluster.node import Node
from reference.cluster.queue import QueueTree
from reference.cluster.resources import Resources, total


@dataclass(frozen=True, slots=True)
class RunningPod:
    """A pod that is bound already: it holds ``resources`` (``pods`` included) of its node and of its queue's path."""

    name: str
    node: str
    queue: str
    resources: Resources


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes, queues, gangs that wait, and pods that run. Names are unique within each; references resolve.

    ``reference.manifests`` builds it from users' files and reports what does not hold; code that builds one by hand can
    call ``problems`` itself.
    """

    nodes: tuple[Node, ...]
    queues: QueueTree
    applications: tuple[Application, ...]
    running: tuple[RunningPod, ...] = ()

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

    def problems(self) -> list[str]:
        """Every rule of this type that does not hold, one line each; empty for a good cluster."""
        found: list[str] = []
        for kind, names in (
            ("node", [n.name for n in self.nodes]),
            ("queue", [q.name for q in self.queues]),
            ("application", [a.name for a in self.applications]),
        ):
            found += [f"two {kind}s are named {name!r}" for name, n in sorted(Counter(names).items()) if n > 1]
        leaves = {q.name for q in self.queues.leaves()}
        found += [
            f"application {a.name!r}: {a.queue!r} is not a leaf queue"
            for a in self.applications
            if a.queue not in leaves
        ]
        for app in self.applications:
            groups = [g.name for g in app.task_groups]
            if not groups:
                found.append(f"application {app.name!r} has no task group")
            found += [
                f"application {app.name!r}: two task groups are named {g!r}"
                for g in sorted({g for g in groups if groups.count(g) > 1})
            ]
            found += [
                f"application {app.name!r}: task group {g.name!r}: minMember must be at least 1, found {g.min_member}"
                for g in app.task_groups
                if g.min_member < 1
            ]
        nodes = {n.name for n in self.nodes}
        found += [f"pod {p.name!r} runs on unknown node {p.node!r}" for p in self.running if p.node not in nodes]
        return found

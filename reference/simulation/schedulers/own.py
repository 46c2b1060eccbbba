"""What the pods hold that INPUT says run already: they stay all along, whatever the jobs do."""

from __future__ import annotations

from dataclasses import replace

from reference.cluster import Cluster, Node, QueueTree, Resources
from reference.cluster import Queue as ClusterQueue


class OwnNodes:
    """The nodes that a cluster began with have its running pods on them, also when they come again."""

    def __init__(self, cluster: Cluster) -> None:
        free = cluster.free_by_node()
        self._start = {node.name: node for node in cluster.nodes}
        self._held = {node.name: node.available - free[node.name] for node in cluster.nodes}

    def with_pods(self, node: Node) -> Node:
        """``node`` with what they hold of it as occupied; any other node as it is."""
        if self._start.get(node.name) is not node:
            return node
        return replace(node, occupied=node.occupied + self._held[node.name])


def left_by_pods(cluster: Cluster) -> QueueTree:
    """The cluster's queues with what its running pods leave of their maxima and of what is guaranteed to them."""

    def left(amounts: Resources, used: Resources) -> Resources:
        return Resources({name: max(amount - used.amount(name), 0) for name, amount in amounts.items()})

    def of(queue: ClusterQueue) -> ClusterQueue:
        used = cluster.queue_usage(queue.name)
        return replace(
            queue,
            maximum=left(queue.maximum, used),
            guaranteed=left(queue.guaranteed, used),
            deserved=left(queue.deserved, used),
            children=tuple(of(child) for child in queue.children),
        )

    return QueueTree(of(cluster.queues.root))

"""A core whose nodes and applications come and go, which the design document leaves out.

A node that goes takes its pods with it: that is told as the release of each placeholder there (one that was not to be
released is marked first), and the end of each real pod. An application that is deleted is forgotten with all of its
asks and pods, whatever its state.
"""

from __future__ import annotations

from reference.cluster import Application, Cluster, Node
from reference.schedulers.yunikorn.core import Core
from reference.schedulers.yunikorn.events import Record
from reference.schedulers.yunikorn.options import Options
from reference.schedulers.yunikorn.queues import Queues
from reference.schedulers.yunikorn.state import ApplicationState


class ChangingCore(Core):
    """Begins with the queues of ``cluster`` and no node; applications are made known one by one."""

    def __init__(self, cluster: Cluster, options: Options | None = None) -> None:
        super().__init__(Cluster((), cluster.queues, ()), options)
        self.cluster = cluster
        self.queues = Queues(Cluster((), cluster.queues, (), cluster.running))
        free = cluster.free_by_node()
        self._start = {node.name: (node, free[node.name]) for node in cluster.nodes}
        self._there: dict[str, Node] = {}

    def know(self, application: Application) -> None:
        """``application`` may be submitted."""
        self._known[application.name] = application

    def add_node(self, node: Node) -> None:
        """``node`` takes pods; one that the cluster started with has its running pods on it again."""
        first, free = self._start.get(node.name, (None, None))
        self.nodes.add(node, free if first is node and free is not None else node.available)
        self.queues.resize(node.capacity, 1)
        self._there[node.name] = node
        self.epoch += 1

    def remove_node(self, node: str) -> list[tuple[Record, int]]:
        """The node is gone. The records of what that did to pods, each with the key of the real ask that was parked
        behind the pod, 0 for none."""
        self.nodes.remove(node)
        self.queues.resize(self._there.pop(node).capacity, -1)
        records = []
        for app in list(self.applications.values()):
            for pod in [pod for pod in app.allocations() if pod.node == node]:
                parked = pod.parked.key if pod.parked else 0
                if pod.placeholder:
                    pod.marked = True
                    records.append((self.confirm_release(app.name, pod.key), parked))
                else:
                    records.append((self.finish_pod(app.name, pod.key), 0))
        return records

    def remove_application(self, name: str) -> None:
        """The application is deleted."""
        app = self.applications.get(name)
        if app is None or app.state.is_terminal:
            return
        if app.begun:
            self.queues.owe(app.leaf, app.owed(), -1)
        for pod in list(app.allocations()):
            self._drop(app, pod)
        self._end(app, ApplicationState.KILLED)

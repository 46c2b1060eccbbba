"""Edits of a cluster, each of which lifts one constraint and changes nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reference.cluster import (
    PODS,
    Application,
    Cluster,
    Constraints,
    Node,
    Queue,
    QueueTree,
    Resources,
    RunningPod,
    Taint,
    TaskGroup,
)
from reference.cluster.topology import TopologyConstraint

Edit = Callable[[Cluster], Cluster]


def asked(app: Application) -> dict[str, int]:
    """What ``app`` asks for at its minimum, in name order; types of which no pod asks anything are left out.

    The minimum: all pods outside of composites, the minimum of the whole gang where it is larger counted in pods.
    """
    types = sorted({name for g in app.task_groups for name, amount in g.pod_resource.items() if amount > 0})
    least = app.placeholder_ask
    return {
        name: max(least.amount(name), app.min_members or 0) if name == PODS else least.amount(name) for name in types
    }


def groups_below(app: Application, name: str) -> tuple[str, ...]:
    """The task groups in the composite ``name``, at any depth; ``name`` itself where it is a task group."""
    inner = {each.name: each for each in app.composites}
    if name not in inner:
        return (name,)
    return tuple(group for child in inner[name].children for group in groups_below(app, child))


def bare(cluster: Cluster) -> Cluster:
    """The nodes without taints and cordons."""
    return replace(cluster, nodes=tuple(replace(node, taints=(), schedulable=True) for node in cluster.nodes))


def only_affinity(group: TaskGroup) -> Constraints:
    """The required node affinity of ``group``, and nothing else."""
    return Constraints(affinity_terms=group.constraints.affinity_terms)


def _queue(name: str, change: Callable[[Queue], Queue]) -> Edit:
    def visit(queue: Queue) -> Queue:
        if queue.name == name:
            return change(queue)
        return replace(queue, children=tuple(visit(child) for child in queue.children))

    return lambda cluster: replace(cluster, queues=QueueTree(visit(cluster.queues.root)))


def _without(amounts: Resources, name: str) -> Resources:
    return Resources({n: a for n, a in amounts.items() if n != name})


def without_maximum(queue: str, resource: str) -> Edit:
    """The queue has no maximum for the resource."""
    return _queue(queue, lambda q: replace(q, maximum=_without(q.maximum, resource)))


def without_max_applications(queue: str) -> Edit:
    """The queue takes any number of applications."""
    return _queue(queue, lambda q: replace(q, max_applications=None))


def without_reserved(queue: str, resource: str) -> Edit:
    """Others may use what the queue has reserved of the resource."""
    return _queue(queue, lambda q: replace(q, reserved=_without(q.reserved, resource)))


def _application(name: str, change: Callable[[Application], Application]) -> Edit:
    return lambda cluster: replace(
        cluster, applications=tuple(change(app) if app.name == name else app for app in cluster.applications)
    )


def _group(app: str, group: str, change: Callable[[TaskGroup], TaskGroup]) -> Edit:
    return _application(
        app, lambda a: replace(a, task_groups=tuple(change(g) if g.name == group else g for g in a.task_groups))
    )


def without_selector(app: str, group: str, key: str, value: str) -> Edit:
    """The task group does not ask for this label."""

    def change(g: TaskGroup) -> TaskGroup:
        kept = tuple(pair for pair in g.constraints.node_selector if pair != (key, value))
        return replace(g, constraints=replace(g.constraints, node_selector=kept))

    return _group(app, group, change)


def without_affinity(app: str, group: str) -> Edit:
    """The task group requires no node affinity."""
    return _group(app, group, lambda g: replace(g, constraints=replace(g.constraints, affinity_terms=())))


def without_topology(app: str, where: str, keys: tuple[str, ...]) -> Edit:
    """The gang ("") or this part of it need not be in one domain of ``keys``."""

    def kept(near: tuple[TopologyConstraint, ...]) -> tuple[TopologyConstraint, ...]:
        return tuple(each for each in near if not each.required or each.keys != keys)

    def change(a: Application) -> Application:
        if not where:
            return replace(a, topology=kept(a.topology))
        return replace(
            a,
            task_groups=tuple(replace(g, topology=kept(g.topology)) if g.name == where else g for g in a.task_groups),
            composites=tuple(replace(c, topology=kept(c.topology)) if c.name == where else c for c in a.composites),
        )

    return _application(app, change)


def _nodes(change: Callable[[Node], Node]) -> Edit:
    return lambda cluster: replace(cluster, nodes=tuple(change(node) for node in cluster.nodes))


def without_taint(taint: Taint) -> Edit:
    """No node has the taint."""
    return _nodes(lambda n: replace(n, taints=tuple(t for t in n.taints if t != taint)))


uncordoned: Edit = _nodes(lambda n: n if n.schedulable else replace(n, schedulable=True))
"""No node is cordoned."""


def without_running(owner: Callable[[RunningPod], tuple[str, str]], key: tuple[str, str]) -> Edit:
    """The running pods of one owner have ended."""
    return lambda cluster: replace(cluster, running=tuple(pod for pod in cluster.running if owner(pod) != key))


def roomy(app: Application, resource: str) -> Edit:
    """Every node has room for the whole gang, as far as ``resource`` goes."""
    most = sum(group.pod_resource.amount(resource) * group.most for group in app.task_groups)

    def edit(cluster: Cluster) -> Cluster:
        held: dict[str, int] = {}
        for pod in cluster.running:
            held[pod.node] = held.get(pod.node, 0) + pod.resources.amount(resource)

        def change(node: Node) -> Node:
            if resource == PODS and PODS not in node.capacity:
                return node
            enough = node.occupied.amount(resource) + held.get(node.name, 0) + most
            if node.capacity.amount(resource) >= enough:
                return node
            return replace(node, capacity=Resources({**node.capacity, resource: enough}))

        return replace(cluster, nodes=tuple(change(node) for node in cluster.nodes))

    return edit


def settled_pods(app: Application, group: TaskGroup, node: str, count: int) -> list[RunningPod]:
    """``count`` members of ``group`` that run on ``node`` now."""
    return [
        RunningPod(
            f"{app.name}/{group.name}@{node}/{i}",
            node,
            app.queue,
            group.pod_resource,
            app.name,
            group.name,
            app.priority,
        )
        for i in range(count)
    ]

"""What comes before and after the packing: nodes of old types, minima and maxima, idle nodes."""

# float: idle time outs are seconds, and decide no capacity

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.node import NodeStatus, SchedulingNode, Source, TerminationCause
from reference.schedulers.ray.request import Instance, InstanceStatus, NodeKind, SchedulingRequest

Nodes = list[SchedulingNode]


def initial_nodes(request: SchedulingRequest, edition: Edition) -> Nodes:
    """The nodes of the instances on which Ray runs or may come to run.

    A running one has what it reports. Any other, one that drains included, is taken for an empty node of its type;
    where that type is gone, it is terminated, or passed over where launch configurations are not checked.
    """
    nodes = []
    for instance in request.instances:
        if instance.status.may_run_ray:
            config = request.node_types.get(instance.node_type)
            if instance.status is InstanceStatus.RAY_RUNNING:
                nodes.append(_running(instance, config.priority if config else 0, edition))
            elif config is not None:
                node = SchedulingNode.from_config(config, NodeStatus.SCHEDULABLE)
                nodes.append(_of(node, instance))
            elif not request.disable_launch_config_check:
                node = SchedulingNode(instance.node_type, NodeStatus.SCHEDULABLE, {}, ({}, {}), {})
                nodes.append(replace(_of(node, instance), kind=NodeKind.WORKER).terminated(TerminationCause.OUTDATED))
    return nodes


def _running(instance: Instance, priority: int, edition: Edition) -> SchedulingNode:
    labels = {**instance.labels, **instance.dynamic_labels} if edition.has_labels else instance.dynamic_labels
    node = SchedulingNode(
        instance.node_type,
        NodeStatus.SCHEDULABLE,
        total=instance.total,
        available=(instance.available, instance.total),
        labels=labels,
        runs_ray=True,
        idle_ms=instance.idle_ms,
        launch_config_hash=instance.launch_config_hash,
        priority=priority,
    )
    return _of(node, instance)


def _of(node: SchedulingNode, instance: Instance) -> SchedulingNode:
    return replace(node, instance=instance.name, instance_status=instance.status, kind=instance.kind)


def terminate_outdated(nodes: Nodes, request: SchedulingRequest) -> Nodes:
    """Terminates nodes whose type is gone or was launched from another configuration, the head excepted."""
    if request.disable_launch_config_check:
        return nodes
    return [
        node.terminated(TerminationCause.OUTDATED)
        if node.status is NodeStatus.SCHEDULABLE and not node.is_head and _is_outdated(node, request)
        else node
        for node in nodes
    ]


def _is_outdated(node: SchedulingNode, request: SchedulingRequest) -> bool:
    config = request.node_types.get(node.node_type)
    return config is None or bool(config.launch_config_hash and config.launch_config_hash != node.launch_config_hash)


def launch_minimum(nodes: Nodes, request: SchedulingRequest) -> Nodes:
    """Launches what types lack of their minimum; the new nodes come first, those of one type as twins."""
    shape = count_by_type(nodes)
    new: Nodes = []
    for twin, config in enumerate(request.node_types.values(), 1):
        missing = config.min_workers - shape[config.name]
        if missing > 0:
            new += [SchedulingNode.from_config(config, twin=twin)] * missing
    return new + nodes


def count_by_type(nodes: Nodes) -> Counter[str]:
    """How many nodes of each type stay or come."""
    return Counter(node.node_type for node in nodes if node.status is not NodeStatus.TO_TERMINATE)


def terminate_beyond_type_maximum(nodes: Nodes, request: SchedulingRequest) -> Nodes:
    """Terminates what types have beyond their maximum, and puts the nodes in order of their types."""
    gone = [node for node in nodes if node.status is NodeStatus.TO_TERMINATE]
    by_type: dict[str, Nodes] = {}
    for node in nodes:
        if node.status is not NodeStatus.TO_TERMINATE:
            by_type.setdefault(node.node_type, []).append(node)
    kept: Nodes = []
    for node_type, members in by_type.items():
        extra = len(members) - request.node_types[node_type].max_workers
        terminated, remaining = _select(members, extra, TerminationCause.MAX_NUM_NODE_PER_TYPE)
        gone += terminated
        kept += remaining
    return gone + kept


def terminate_beyond_maximum(nodes: Nodes, request: SchedulingRequest) -> Nodes:
    """Terminates what the cluster has beyond ``max_num_nodes``; a maximum of 0 only keeps from launching."""
    gone = [node for node in nodes if node.status is NodeStatus.TO_TERMINATE]
    others = [node for node in nodes if node.status is not NodeStatus.TO_TERMINATE]
    extra = len(others) - request.max_num_nodes if request.max_num_nodes else 0
    if extra <= 0:
        return nodes
    terminated, remaining = _select(others, extra, TerminationCause.MAX_NUM_NODES)
    return gone + terminated + remaining


def _select(nodes: Nodes, extra: int, cause: TerminationCause) -> tuple[Nodes, Nodes]:
    """Terminates ``extra`` nodes in the order of termination. Gives those, and the rest, the head last, which is
    spared; of two, as after a restart of the head, the one that would go first.

    Where one of twins goes, all are marked: with a global maximum below the minima, Ray terminates, of the nodes that
    it meant to launch, also those for which there is room.
    """
    if extra <= 0:
        return [], nodes
    ordered = sorted(nodes, key=lambda node: node.termination_order)
    head = next((node for node in ordered if node.is_head), None)
    workers = [node for node in ordered if node is not head]
    marked = {node.twin for node in workers[:extra] if node.twin}
    terminated = [node.terminated(cause) for node in workers[:extra]]
    remaining = [node.terminated(cause) if node.twin in marked else node for node in workers[extra:]]
    return terminated, [*remaining, head] if head else remaining


def terminate_idle(nodes: Nodes, request: SchedulingRequest, edition: Edition) -> Nodes:
    """Terminates nodes that are idle for longer than their time out, that nothing was scheduled on, and that their
    type's minimum does not need. Their places in the list stay."""
    shape = count_by_type(nodes)
    order: Sequence[int] = range(len(nodes))
    if edition.idle_in_order:
        order = sorted(order, key=lambda place: nodes[place].termination_order)
    result = list(nodes)
    for place in order:
        node = nodes[place]
        config = request.node_types.get(node.node_type)
        if node.status is not NodeStatus.SCHEDULABLE or node.is_head or not _is_idle(node, request, edition):
            continue
        if node.scheduled[Source.PENDING_DEMAND] or node.scheduled[Source.CLUSTER_RESOURCE_CONSTRAINT]:
            continue
        if shape[node.node_type] > (config.min_workers if config else 0):
            shape[node.node_type] -= 1
            result[place] = node.terminated(TerminationCause.IDLE)
    return result


def _is_idle(node: SchedulingNode, request: SchedulingRequest, edition: Edition) -> bool:
    """Whether it is idle for too long. Nobody reports how long a node before Ray has been idle: not at all, unless
    ``PendingIdle`` knows better."""
    config = request.node_types.get(node.node_type)
    timeout = request.idle_timeout_s
    if config is not None and config.idle_timeout_s is not None:
        timeout = config.idle_timeout_s
    if edition.times_pending_out and node.instance_status is not None and node.instance_status.is_pending:
        timeout = request.pending_idle_timeout_s
    return timeout is not None and node.idle_ms > timeout * 1000

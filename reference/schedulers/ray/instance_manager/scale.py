"""The scheduler's decision, and what it means for instances: who is launched, cancelled, terminated or drained."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager.config import AutoscalingConfig
from reference.schedulers.ray.instance_manager.instance import (
    InstanceUpdateEvent,
    ManagedInstance,
    ReconcileError,
    TerminationRequest,
)
from reference.schedulers.ray.instance_manager.observed import Observed, RayNode
from reference.schedulers.ray.instance_manager.sync import Events, Instances
from reference.schedulers.ray.node import SchedulingNode
from reference.schedulers.ray.reply import SchedulingReply
from reference.schedulers.ray.request import Instance, InstanceStatus, NodeKind, SchedulingRequest

Availabilities = Mapping[str, float]


def scheduling_request(
    instances: Instances,
    seen: Observed,
    config: AutoscalingConfig,
    edition: Edition,
    cloud: Availabilities,
    recoverable: Availabilities,
) -> SchedulingRequest:
    """The question to the scheduler; ``cloud`` and ``recoverable`` say how available node types are.

    Raises ReconcileError where Ray's scheduler ends in an exception: on a node whose type is gone from the
    configuration and is not checked (a KeyError), and in 2.48 on one that the GCS has forgotten.
    """
    nodes = {node.id: node for node in seen.cluster.nodes}
    asked = []
    for each in instances:
        node = nodes.get(each.node_id)
        runs = each.status is InstanceStatus.RAY_RUNNING
        if runs and node is None:
            if edition.passes_over_lost_nodes:
                continue
            raise ReconcileError(f"{each.id} runs Ray, but the GCS does not know its node")
        spared = config.disable_launch_config_check or each.kind is NodeKind.HEAD
        if runs and spared and each.type not in config.node_types:
            raise ReconcileError(f"{each.id} runs, but its type {each.type!r} is not configured")
        asked.append(_instance(each, node if runs else None))
    return SchedulingRequest(
        node_types=config.node_types,
        instances=tuple(asked),
        requests=seen.cluster.requests,
        gangs=seen.cluster.gangs,
        constraints=seen.cluster.constraints,
        max_num_nodes=config.max_num_nodes,
        idle_timeout_s=config.idle_timeout_s,
        pending_idle_timeout_s=config.pending_idle_timeout_s,
        disable_launch_config_check=config.disable_launch_config_check,
        recoverable_availabilities=recoverable,
        cloud_availabilities=cloud,
    )


def _instance(each: ManagedInstance, node: RayNode | None) -> Instance:
    if node is None:
        return Instance(each.id, each.type, each.status, kind=each.kind)
    return Instance(
        each.id,
        each.type,
        each.status,
        total=node.total,
        available=node.available,
        labels=node.labels,
        dynamic_labels=node.dynamic_labels,
        idle_ms=node.idle_ms,
        kind=each.kind,
    )


def scaled(instances: Instances, reply: SchedulingReply, edition: Edition, new_id: Callable[[], str]) -> Events:
    """What the decision does to instances: first who goes, then who comes."""
    by_id = {each.id: each for each in instances}
    events = {node.instance: _gone(node, by_id.get(node.instance), edition) for node in reply.to_terminate}
    for node_type, count in reply.to_launch.items():
        for _ in range(count):
            name = new_id()
            events[name] = InstanceUpdateEvent(name, InstanceStatus.QUEUED, node_type, upsert=True)
    return list(events.values())


def _gone(node: SchedulingNode, each: ManagedInstance | None, edition: Edition) -> InstanceUpdateEvent:
    """Whoever runs Ray is asked to drain; so is everything else that neither waits in the queue nor has a cloud
    instance without Ray. A node that was never launched (``each`` is None) is told so too, and is no instance."""
    node_id = each.node_id if each is not None and node.runs_ray else ""
    assert node.cause is not None
    request = TerminationRequest(node.cause, node_id)
    if each is not None and node.instance_status in edition.cancels:
        return InstanceUpdateEvent(each.id, InstanceStatus.TERMINATED, termination=request)
    if each is not None and node.instance_status in edition.terminates_at_once:
        return InstanceUpdateEvent(
            each.id, InstanceStatus.TERMINATING, cloud_instance=each.cloud_instance, termination=request
        )
    return InstanceUpdateEvent(node.instance, InstanceStatus.RAY_STOP_REQUESTED, termination=request)

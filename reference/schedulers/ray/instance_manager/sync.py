"""The sync phases of a loop: instances follow what the cloud, the GCS and the subscribers say.

Each phase looks at all instances and gives the events to apply before the next phase.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager.config import AutoscalingConfig
from reference.schedulers.ray.instance_manager.instance import InstanceUpdateEvent, ManagedInstance, ReconcileError
from reference.schedulers.ray.instance_manager.life_cycle import OVER, reachable
from reference.schedulers.ray.instance_manager.observed import Observed, RayNode, RayNodeStatus
from reference.schedulers.ray.instance_manager.provider import LaunchNodeError, TerminateNodeError
from reference.schedulers.ray.request import InstanceStatus, NodeKind

Instances = Sequence[ManagedInstance]
Events = list[InstanceUpdateEvent]


def allocate(instances: Instances, seen: Observed, edition: Edition) -> Events:
    """What was requested is there, or has failed: those that were requested first get the cloud instances of their type
    that belong to nobody (the cloud's last first), then launch errors are counted off."""
    owned = {each.cloud_instance for each in instances if each.cloud_instance and each.status not in OVER}
    free: dict[str, list[str]] = {}
    for cloud in seen.cloud.values():
        if cloud.id not in owned:
            free.setdefault(cloud.type, []).append(cloud.id)
    fails = _launch_failures(seen, edition)
    requested = [each for each in instances if each.status is InstanceStatus.REQUESTED]
    events = []
    for each in sorted(requested, key=lambda each: each.times(InstanceStatus.REQUESTED)):
        if free.get(each.type):
            cloud = seen.cloud[free[each.type].pop()]
            events.append(
                InstanceUpdateEvent(
                    each.id, InstanceStatus.ALLOCATED, cloud.type, cloud_instance=cloud.id, kind=cloud.kind
                )
            )
        elif fails(each):
            events.append(InstanceUpdateEvent(each.id, InstanceStatus.ALLOCATION_FAILED))
    return events


def _launch_failures(seen: Observed, edition: Edition) -> Callable[[ManagedInstance], bool]:
    """Whether a launch has failed. In 2.60 an error speaks of as many as it counts; in 2.48 of all that its request
    asked of its type, and of two errors about one request only the last is heard."""
    errors = [error for error in seen.cloud_errors if isinstance(error, LaunchNodeError)]
    if not edition.counts_launch_errors:
        types = {error.launch_request: error.type for error in errors}
        return lambda each: types.get(each.launch_request) == each.type
    left: Counter[tuple[str, str]] = Counter()
    for error in errors:
        left[error.launch_request, error.type] += error.count

    def fails(each: ManagedInstance) -> bool:
        key = each.launch_request, each.type
        left[key] -= 1
        return left[key] >= 0

    return fails


def terminated(instances: Instances, seen: Observed) -> Events:
    """The cloud instance is gone, asked for or not. Of two instances on one cloud instance, the last is told."""
    on = {
        each.cloud_instance: each
        for each in instances
        if each.cloud_instance and each.status is not InstanceStatus.TERMINATED
    }
    return [
        InstanceUpdateEvent(each.id, InstanceStatus.TERMINATED, cloud_instance=cloud)
        for cloud, each in on.items()
        if cloud not in seen.cloud
    ]


def termination_failed(instances: Instances, seen: Observed) -> Events:
    """The cloud could not terminate what it was asked to."""
    terminating = {each.cloud_instance: each for each in instances if each.status is InstanceStatus.TERMINATING}
    failed = dict.fromkeys(e.cloud_instance for e in seen.cloud_errors if isinstance(e, TerminateNodeError))
    return [
        InstanceUpdateEvent(terminating[cloud].id, InstanceStatus.TERMINATION_FAILED)
        for cloud in failed
        if cloud in terminating
    ]


def adopt_from_ray(instances: Instances, seen: Observed, new_id: Callable[[], str]) -> Events:
    """A Ray node that nobody knows, on a cloud instance that is nobody's or has a Ray node already: as when Ray was
    restarted there, or the cloud instance is gone but the GCS has not noticed."""
    waiting = {
        each.cloud_instance
        for each in instances
        if each.cloud_instance and not each.node_id and each.status not in OVER
    }
    known = {each.node_id for each in instances}
    return [
        InstanceUpdateEvent(
            new_id(),
            InstanceStatus.ALLOCATED,
            node.type,
            cloud_instance=node.cloud_instance,
            node_id=node.id,
            kind=NodeKind.HEAD if node.is_head else NodeKind.WORKER,
            upsert=True,
        )
        for node in seen.cluster.nodes
        if node.cloud_instance and node.id not in known and node.cloud_instance not in waiting
    ]


def adopt_from_cloud(instances: Instances, seen: Observed, new_id: Callable[[], str]) -> Events:
    """A cloud instance that is nobody's: the head, what users started themselves, a launch that was given up."""
    owned = {each.cloud_instance for each in instances if each.status not in OVER}
    return [
        InstanceUpdateEvent(
            new_id(),
            InstanceStatus.ALLOCATED,
            cloud.type,
            cloud_instance=cloud.id,
            kind=cloud.kind,
            upsert=True,
        )
        for cloud in seen.cloud.values()
        if cloud.id not in owned
    ]


_FOLLOWS = {
    RayNodeStatus.RUNNING: InstanceStatus.RAY_RUNNING,
    RayNodeStatus.IDLE: InstanceStatus.RAY_RUNNING,
    RayNodeStatus.DRAINING: InstanceStatus.RAY_STOPPING,
    RayNodeStatus.DEAD: InstanceStatus.RAY_STOPPED,
}


def follow_ray(instances: Instances, seen: Observed, config: AutoscalingConfig, edition: Edition) -> Events:
    """An instance's Ray node runs, drains or is dead, and the instance is not that far yet."""
    by_cloud = {each.cloud_instance: each for each in instances if each.cloud_instance and each.status not in OVER}
    by_node = {each.node_id: each for each in instances if each.node_id}
    events = []
    for node in seen.cluster.nodes:
        cloud = node.id if config.read_only else node.cloud_instance
        each = by_node.get(node.id)
        if each is None and cloud:
            each = by_cloud.get(cloud)
            if each is None:
                raise ReconcileError(f"no instance is known for the Ray node {node.id}")
        if each is None:
            continue
        target = _FOLLOWS[node.status]
        if each.status is not target and each.status not in reachable(target, edition):
            events.append(InstanceUpdateEvent(each.id, target, each.type, node_id=node.id))
    return events


def install_failed(instances: Instances, seen: Observed) -> Events:
    """The installer has given up."""
    return [
        InstanceUpdateEvent(each.id, InstanceStatus.RAY_INSTALL_FAILED)
        for each in instances
        if each.status is InstanceStatus.RAY_INSTALLING and each.id in seen.install_errors
    ]


def stop_failed(instances: Instances, seen: Observed) -> Events:
    """The Ray node refused to drain: it runs on. Whoever refuses has to be there."""
    nodes: dict[str, RayNode] = {node.id: node for node in seen.cluster.nodes}
    events = []
    for each in instances:
        if each.status is InstanceStatus.RAY_STOP_REQUESTED and each.id in seen.stop_errors:
            node = nodes.get(each.node_id)
            if node is None or not node.status.is_up:
                raise ReconcileError(f"{each.id} could not be stopped, yet its Ray node does not run")
            events.append(InstanceUpdateEvent(each.id, InstanceStatus.RAY_RUNNING, node_id=each.node_id))
    return events

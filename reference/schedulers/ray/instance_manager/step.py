"""The step phases after scaling: terminate, launch, install."""

# float: launches per running node; rounded up, it limits how fast a cluster grows, not what fits

from __future__ import annotations

import math
from collections import Counter

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager.config import AutoscalingConfig
from reference.schedulers.ray.instance_manager.instance import InstanceUpdateEvent, ManagedInstance, ReconcileError
from reference.schedulers.ray.instance_manager.life_cycle import OVER
from reference.schedulers.ray.instance_manager.observed import Observed
from reference.schedulers.ray.instance_manager.sync import Events, Instances
from reference.schedulers.ray.request import InstanceStatus, NodeKind

TO_TERMINATE = frozenset(
    {
        InstanceStatus.RAY_STOPPED,
        InstanceStatus.ALLOCATION_TIMEOUT,
        InstanceStatus.RAY_INSTALL_FAILED,
        InstanceStatus.TERMINATION_FAILED,
    }
)
"""States in which every loop asks the cloud to terminate the instance."""


def terminate(instances: Instances, edition: Edition) -> Events:
    """Instances that are done for. In 2.60, where Ray has stopped but another instance lives on the same cloud
    instance, as after a restart of Ray, only the record ends."""
    inactive = TO_TERMINATE | OVER
    active = {each.cloud_instance for each in instances if each.cloud_instance and each.status not in inactive}
    events = []
    for each in instances:
        if each.status not in TO_TERMINATE:
            continue
        stale = each.status is InstanceStatus.RAY_STOPPED and each.cloud_instance in active
        if stale and edition.spares_restarted:
            events.append(InstanceUpdateEvent(each.id, InstanceStatus.TERMINATED))
        else:
            cloud = each.cloud_instance
            events.append(InstanceUpdateEvent(each.id, InstanceStatus.TERMINATING, cloud_instance=cloud))
    return events


def launch_limit(config: AutoscalingConfig, edition: Edition, running: int) -> int:
    """How many instances of a type one loop may request, of which ``running`` run."""
    base = max(running, 1) if edition.grows_from_one else running
    return max(1, math.ceil(config.upscaling_speed * base))


def launch(instances: Instances, config: AutoscalingConfig, edition: Edition, request: str) -> Events:
    """Queued instances are requested, type by type and the first queued first: as many as the speed allows, and no more
    of all types under way than ``max_concurrent_launches``. ``request`` names the launch; who is tried again keeps the
    name of the first."""
    under_way = sum(each.status is InstanceStatus.REQUESTED for each in instances)
    running = Counter(each.type for each in instances if each.status is InstanceStatus.RAY_RUNNING)
    queued: dict[str, list[ManagedInstance]] = {}
    for each in instances:
        if each.status is InstanceStatus.QUEUED:
            queued.setdefault(each.type, []).append(each)
    events = []
    for node_type, waiting in queued.items():
        room = min(config.max_concurrent_launches - under_way, launch_limit(config, edition, running[node_type]))
        chosen = sorted(waiting, key=lambda each: each.times(InstanceStatus.QUEUED))[: max(0, room)]
        under_way += len(chosen)
        events += [
            InstanceUpdateEvent(
                each.id, InstanceStatus.REQUESTED, node_type, launch_request=each.launch_request or request
            )
            for each in chosen
        ]
    return events


def install(instances: Instances, seen: Observed) -> Events:
    """Ray is installed where the cloud instance has booted."""
    events = []
    for each in instances:
        if each.status is InstanceStatus.ALLOCATED and each.kind is not NodeKind.HEAD:
            cloud = seen.cloud.get(each.cloud_instance)
            if cloud is None:
                raise ReconcileError(f"{each.id} is ALLOCATED, but its cloud instance {each.cloud_instance} is gone")
            if cloud.is_running:
                events.append(InstanceUpdateEvent(each.id, InstanceStatus.RAY_INSTALLING))
    return events

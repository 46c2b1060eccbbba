"""Instances that are stuck: what is done about them, and when."""

from __future__ import annotations

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager.config import ReconcileConfig
from reference.schedulers.ray.instance_manager.instance import InstanceUpdateEvent, ManagedInstance
from reference.schedulers.ray.instance_manager.observed import Observed
from reference.schedulers.ray.instance_manager.sync import Events, Instances
from reference.schedulers.ray.request import InstanceStatus as S
from reference.schedulers.ray.request import NodeKind


def ray_node_missing(instances: Instances, seen: Observed) -> Events:
    """The GCS no longer knows the Ray node of a worker: it has stopped. 2.48 does not look."""
    there = {node.id for node in seen.cluster.nodes}
    return [
        InstanceUpdateEvent(each.id, S.RAY_STOPPED, each.type, node_id=each.node_id)
        for each in instances
        if each.status in (S.RAY_RUNNING, S.RAY_STOP_REQUESTED, S.RAY_STOPPING)
        and each.kind is not NodeKind.HEAD
        and each.node_id
        and each.node_id not in there
    ]


def stuck(instances: Instances, config: ReconcileConfig, edition: Edition, now_ms: int) -> Events:
    """Those that have been too long in a state, state by state."""
    allocated = S.ALLOCATION_TIMEOUT if edition.marks_allocation_timeouts else S.TERMINATING
    rules = (
        (S.REQUESTED, config.request_status_timeout_s, S.QUEUED),
        (S.ALLOCATED, config.allocate_status_timeout_s, allocated),
        (S.RAY_INSTALLING, config.ray_install_status_timeout_s, S.RAY_INSTALL_FAILED),
        (S.TERMINATING, config.terminating_status_timeout_s, S.TERMINATION_FAILED),
        (S.RAY_STOP_REQUESTED, config.ray_stop_requested_status_timeout_s, S.RAY_RUNNING),
    )
    return [
        _event(each, then, config)
        for status, seconds, then in rules
        for each in instances
        if each.status is status and each.is_stuck(seconds, now_ms)
    ]


def _event(each: ManagedInstance, then: S, config: ReconcileConfig) -> InstanceUpdateEvent:
    if then is S.QUEUED and len(each.times(S.REQUESTED)) > config.max_num_retry_request_to_allocate:
        then = S.ALLOCATION_FAILED
    if then in (S.ALLOCATION_TIMEOUT, S.TERMINATING):
        return InstanceUpdateEvent(each.id, then, each.type, cloud_instance=each.cloud_instance)
    if then is S.RAY_RUNNING:
        return InstanceUpdateEvent(each.id, then, node_id=each.node_id)
    return InstanceUpdateEvent(each.id, then)

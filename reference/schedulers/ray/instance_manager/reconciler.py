"""One loop of the Reconciler: instances follow what was observed, then what is to be done is decided and ordered.

Each phase changes instances before the next looks at them, and subscribers carry out what a change asks for. An error
in any phase ends the loop; what the phases before it did stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager import step, stuck, sync
from reference.schedulers.ray.instance_manager.config import AutoscalingConfig
from reference.schedulers.ray.instance_manager.instance import InstanceUpdateEvent, ManagedInstance
from reference.schedulers.ray.instance_manager.manager import InstanceManager
from reference.schedulers.ray.instance_manager.observed import Observed
from reference.schedulers.ray.instance_manager.scale import scaled, scheduling_request
from reference.schedulers.ray.reply import SchedulingReply
from reference.schedulers.ray.request import InstanceStatus, NodeKind, SchedulingRequest

Phase = Callable[[tuple[ManagedInstance, ...]], Sequence[InstanceUpdateEvent]]


class Scheduler(Protocol):
    """Decides what to launch and what to terminate."""

    def schedule(self, request: SchedulingRequest, now_ms: int) -> SchedulingReply:
        """The decision at that time."""


class Availabilities(Protocol):
    """How available the cloud's node types are, from 0 to 1; 1 where a type is not named."""

    def cloud(self) -> Mapping[str, float]:
        """Held against each other: 0 where the last launch timed out most recently."""

    def recoverable(self, now_ms: int) -> Mapping[str, float]:
        """By the time since the last launch that timed out."""


class Reconciler:
    """Loops over the instances of ``manager``; ``launches`` counts launch requests, which are named r1, r2 and so
    on."""

    def __init__(
        self, manager: InstanceManager, scheduler: Scheduler, availabilities: Availabilities, edition: Edition
    ) -> None:
        self._manager, self._scheduler = manager, scheduler
        self._availabilities, self._edition = availabilities, edition
        self.launches = 0

    def reconcile(self, seen: Observed, config: AutoscalingConfig, now_ms: int) -> SchedulingReply:
        """One loop. Gives the scheduler's reply. Raises ReconcileError where the loop ends early, or whatever a
        subscriber raises."""
        manager, edition = self._manager, self._edition

        def apply(phase: Phase) -> None:
            manager.update(phase(manager.instances), now_ms)

        apply(lambda instances: sync.allocate(instances, seen, edition))
        apply(lambda instances: sync.terminated(instances, seen))
        apply(lambda instances: sync.termination_failed(instances, seen))
        apply(lambda instances: sync.adopt_from_ray(instances, seen, manager.new_id))
        apply(lambda instances: sync.adopt_from_cloud(instances, seen, manager.new_id))
        apply(lambda instances: sync.follow_ray(instances, seen, config, edition))
        apply(lambda instances: sync.install_failed(instances, seen))
        apply(lambda instances: sync.stop_failed(instances, seen))

        if edition.looks_for_missing_nodes:
            apply(lambda instances: stuck.ray_node_missing(instances, seen))
        apply(lambda instances: stuck.stuck(instances, config.reconcile, edition, now_ms))
        reply = self._decide(seen, config, now_ms)
        if self._head_runs() and not config.read_only:
            apply(lambda instances: scaled(instances, reply, edition, manager.new_id))
        if edition.terminates_first:
            apply(lambda instances: step.terminate(instances, edition))
        apply(lambda instances: self._launch(instances, config))
        if not edition.terminates_first:
            apply(lambda instances: step.terminate(instances, edition))
        if not config.disable_node_updaters:
            apply(lambda instances: step.install(instances, seen))
        return reply

    def _decide(self, seen: Observed, config: AutoscalingConfig, now_ms: int) -> SchedulingReply:
        available = self._availabilities
        cloud, recoverable = available.cloud(), available.recoverable(now_ms)
        instances = self._manager.instances
        request = scheduling_request(instances, seen, config, self._edition, cloud, recoverable)
        return self._scheduler.schedule(request, now_ms)

    def _head_runs(self) -> bool:
        """Before the head runs, nothing is scaled."""
        instances = self._manager.instances
        return any(e.kind is NodeKind.HEAD and e.status is InstanceStatus.RAY_RUNNING for e in instances)

    def _launch(self, instances: tuple[ManagedInstance, ...], config: AutoscalingConfig) -> sync.Events:
        request = f"r{self.launches + 1}"
        events = step.launch(instances, config, self._edition, request)
        self.launches += any(event.launch_request == request for event in events)
        return events

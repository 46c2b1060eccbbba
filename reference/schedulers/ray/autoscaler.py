"""The autoscaler: reads the cloud and the GCS, runs a loop of the reconciler, and has subscribers carry it out.

Nothing reads a clock: ``loop`` is told the time. Ray loops every five seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager.config import AutoscalingConfig
from reference.schedulers.ray.instance_manager.instance import InstanceUpdateEvent, ManagedInstance, ReconcileError
from reference.schedulers.ray.instance_manager.manager import InstanceManager
from reference.schedulers.ray.instance_manager.observed import ClusterState, Observed
from reference.schedulers.ray.instance_manager.provider import CloudProvider, CloudUnavailableError
from reference.schedulers.ray.instance_manager.reconciler import Reconciler
from reference.schedulers.ray.instance_manager.subscribers import (
    CloudInstanceUpdater,
    CloudResourceMonitor,
    Drains,
    Installs,
    RayInstaller,
    RayStopper,
)
from reference.schedulers.ray.reply import SchedulingReply
from reference.schedulers.ray.scheduler import ResourceDemandScheduler


class Gcs(Drains, Protocol):
    """Ray's view of the cluster."""

    def cluster_state(self) -> ClusterState:
        """Nodes, and what waits to run."""


@dataclass(frozen=True, slots=True)
class Loop:
    """What one loop did: every change of an instance, in order. ``error`` says why it ended early; there is no reply
    then."""

    events: tuple[InstanceUpdateEvent, ...]
    reply: SchedulingReply | None
    error: str = ""


class Autoscaler:
    """The autoscaler of one cluster. ``installs`` puts Ray on instances, where the configuration asks for that."""

    def __init__(
        self, provider: CloudProvider, gcs: Gcs, installs: Installs, edition: Edition = Edition.CURRENT
    ) -> None:
        self.manager = InstanceManager(edition)
        self._provider, self._gcs = provider, gcs
        self._stopper = RayStopper(gcs)
        self._installer = RayInstaller(installs, self.manager.get)
        monitor = CloudResourceMonitor()
        self._events: list[InstanceUpdateEvent] = []
        self.manager.subscribe(self)
        for each in (CloudInstanceUpdater(provider, edition), self._stopper, self._installer, monitor):
            self.manager.subscribe(each)
        self.reconciler = Reconciler(self.manager, ResourceDemandScheduler(edition), monitor, edition)

    @property
    def instances(self) -> tuple[ManagedInstance, ...]:
        """All instances that there have been."""
        return self.manager.instances

    def notify(self, events: Sequence[InstanceUpdateEvent], now_ms: int) -> None:
        """Keeps what happens, for the answer of ``loop``."""
        self._events += events

    def loop(self, config: AutoscalingConfig, now_ms: int) -> Loop:
        """One loop. Whatever goes wrong ends it, and the next one starts anew; but errors that subscribers and the
        cloud had reported are lost with it."""
        self._events = []
        stop_errors, self._stopper.errors = tuple(self._stopper.errors), []
        install_errors, self._installer.errors = tuple(self._installer.errors), []
        try:
            cluster, cloud = self._gcs.cluster_state(), self._provider.non_terminated()
            errors = tuple(self._provider.poll_errors())
            seen = Observed(cluster, cloud, errors, stop_errors, install_errors)
            reply = self.reconciler.reconcile(seen, config, now_ms)
        except (ReconcileError, CloudUnavailableError) as error:
            return Loop(tuple(self._events), None, str(error))
        return Loop(tuple(self._events), reply)

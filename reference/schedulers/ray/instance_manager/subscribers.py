"""Who acts on what has become of instances: the cloud is asked, Ray is stopped or installed, failures are
remembered."""

# float: availabilities are scores that break ties between node types

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager.instance import InstanceUpdateEvent, ManagedInstance
from reference.schedulers.ray.instance_manager.provider import CloudProvider
from reference.schedulers.ray.node import TerminationCause
from reference.schedulers.ray.request import InstanceStatus

INSTALL_ATTEMPTS: Final = 3
RECOVERY_S: Final = 600
"""Seconds after which a node type counts as available again whose launch has timed out."""
_FLOOR_S: Final = min(10, RECOVERY_S * 0.1)

Events = Sequence[InstanceUpdateEvent]


class CloudInstanceUpdater:
    """REQUESTED is a launch, TERMINATING a termination. In 2.48, what has two instances is terminated twice."""

    def __init__(self, provider: CloudProvider, edition: Edition) -> None:
        self._provider, self._edition = provider, edition

    def notify(self, events: Events, now_ms: int) -> None:
        """One call for each launch request, then one for all terminations."""
        shapes: dict[str, Counter[str]] = {}
        for event in events:
            if event.status is InstanceStatus.REQUESTED:
                shapes.setdefault(event.launch_request, Counter())[event.type] += 1
        for request, shape in shapes.items():
            self._provider.launch(dict(shape), request)
        gone = [event.cloud_instance for event in events if event.status is InstanceStatus.TERMINATING]
        if self._edition.spares_restarted:
            gone = list(dict.fromkeys(gone))
        if gone:
            self._provider.terminate(gone)


class Drains(Protocol):
    """Whoever can stop Ray on a node."""

    def drain(self, node_id: str, only_if_idle: bool) -> bool:
        """Asks the node to drain. Whether it will."""


class RayStopper:
    """RAY_STOP_REQUESTED is a drain: an idle node may refuse, as it may no longer be idle. ``errors`` are the instances
    of those that refused; whoever reads them empties the list."""

    def __init__(self, gcs: Drains) -> None:
        self._gcs = gcs
        self.errors: list[str] = []

    def notify(self, events: Events, now_ms: int) -> None:
        """Drains one by one."""
        for event in events:
            if event.status is InstanceStatus.RAY_STOP_REQUESTED and event.termination is not None:
                idle = event.termination.cause is TerminationCause.IDLE
                if not self._gcs.drain(event.termination.node_id, idle):
                    self.errors.append(event.instance)


class Installs(Protocol):
    """Whoever can install Ray on an instance."""

    def install(self, instance: ManagedInstance) -> bool:
        """One attempt. Whether Ray is installed."""


class RayInstaller:
    """RAY_INSTALLING is an installation, tried three times. ``errors`` as for ``RayStopper``. Ray installs in threads,
    and a loop or more passes meanwhile; here it is done at once."""

    def __init__(self, installs: Installs, instance: Callable[[str], ManagedInstance | None]) -> None:
        self._installs, self._instance = installs, instance
        self.errors: list[str] = []

    def notify(self, events: Events, now_ms: int) -> None:
        """Installs one by one."""
        for event in events:
            if event.status is InstanceStatus.RAY_INSTALLING:
                there = self._instance(event.instance)
                if there is not None and not any(self._installs.install(there) for _ in range(INSTALL_ATTEMPTS)):
                    self.errors.append(event.instance)


class CloudResourceMonitor:
    """Remembers which node types could not be allocated of late; the scheduler prefers others. 2.48 has none."""

    def __init__(self) -> None:
        self._unavailable_since: dict[str, float] = {}

    def notify(self, events: Events, now_ms: int) -> None:
        """ALLOCATION_TIMEOUT is held against the type, RAY_RUNNING clears it where the event names the type."""
        for event in events:
            if event.status is InstanceStatus.ALLOCATION_TIMEOUT:
                self._unavailable_since[event.type] = now_ms / 1000
            elif event.status is InstanceStatus.RAY_RUNNING:
                self._unavailable_since.pop(event.type, None)

    def cloud(self) -> Mapping[str, float]:
        """The less the later it failed; the last is 0."""
        last = max(self._unavailable_since.values(), default=0)
        return {name: 1 - at / last if last else 0 for name, at in self._unavailable_since.items()}

    def recoverable(self, now_ms: int) -> Mapping[str, float]:
        """0 for ten seconds, then the part of ten minutes that has passed."""
        return {name: _recovered(now_ms / 1000 - at) for name, at in self._unavailable_since.items()}


def _recovered(seconds: float) -> float:
    return 0 if seconds < _FLOOR_S else min(1, seconds / RECOVERY_S)

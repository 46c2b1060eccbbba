"""What a loop reads before it decides anything: the cloud, the GCS, and what subscribers have reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from reference.schedulers.ray.arithmetic import Amount
from reference.schedulers.ray.instance_manager.provider import CloudError, CloudInstance
from reference.schedulers.ray.request import Counted, GangResourceRequest

HEAD_RESOURCE = "node:__internal_head__"
"""The resource by which a Ray node is known as the head."""


class RayNodeStatus(Enum):
    """What the GCS says of a Ray node."""

    RUNNING = "RUNNING"
    IDLE = "IDLE"
    DRAINING = "DRAINING"
    DEAD = "DEAD"

    @property
    def is_up(self) -> bool:
        """Whether it takes work."""
        return self in (RayNodeStatus.RUNNING, RayNodeStatus.IDLE)


@dataclass(frozen=True, slots=True)
class RayNode:
    """A node as the GCS reports it; dead ones are reported for a while. One without ``cloud_instance`` is not the
    autoscaler's."""

    id: str
    cloud_instance: str
    type: str
    status: RayNodeStatus = RayNodeStatus.RUNNING
    total: Mapping[str, Amount] = field(default_factory=dict)
    available: Mapping[str, Amount] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    dynamic_labels: Mapping[str, str] = field(default_factory=dict)
    idle_ms: int = 0

    @property
    def is_head(self) -> bool:
        """Whether it is the head's."""
        return HEAD_RESOURCE in self.total


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The GCS's view: Ray nodes, and what waits to run. ``constraints`` is what ``request_resources`` asked for."""

    nodes: tuple[RayNode, ...] = ()
    requests: tuple[Counted, ...] = ()
    gangs: tuple[GangResourceRequest, ...] = ()
    constraints: tuple[Counted, ...] = ()


@dataclass(frozen=True, slots=True)
class Observed:
    """All inputs of one loop. ``stop_errors`` and ``install_errors`` are ids of instances."""

    cluster: ClusterState
    cloud: Mapping[str, CloudInstance]
    cloud_errors: tuple[CloudError, ...] = ()
    stop_errors: tuple[str, ...] = ()
    install_errors: tuple[str, ...] = ()

"""What users decide about the autoscaler, with Ray's defaults."""

# float: time outs, and launches per running node; neither decides what fits where

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.request import NodeTypeConfig


@dataclass(frozen=True, slots=True)
class ReconcileConfig:
    """When an instance counts as stuck, in seconds by the state it is in, and how often a launch is tried again."""

    request_status_timeout_s: float = 600
    allocate_status_timeout_s: float = 3600
    ray_install_status_timeout_s: float = 1800
    terminating_status_timeout_s: float = 300
    ray_stop_requested_status_timeout_s: float = 300
    max_num_retry_request_to_allocate: int = 3

    @staticmethod
    def of(edition: Edition) -> ReconcileConfig:
        """The defaults of a release: 2.48 waits five minutes for Ray to start, 2.60 an hour."""
        return ReconcileConfig() if edition is Edition.CURRENT else ReconcileConfig(allocate_status_timeout_s=300)


@dataclass(frozen=True, slots=True)
class AutoscalingConfig:
    """The cluster as configured. ``max_num_nodes`` counts the head.

    ``disable_node_updaters``: Ray comes with the image, nothing is installed. ``read_only``: nothing is launched or
    terminated, and cloud instances are named as their Ray nodes are.
    """

    node_types: Mapping[str, NodeTypeConfig]
    max_num_nodes: int | None = None
    upscaling_speed: float = 1.0
    max_concurrent_launches: int = 10
    idle_timeout_s: float | None = None
    pending_idle_timeout_s: float | None = None
    disable_launch_config_check: bool = True
    disable_node_updaters: bool = True
    read_only: bool = False
    reconcile: ReconcileConfig = field(default_factory=ReconcileConfig)

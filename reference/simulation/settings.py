"""What a run assumes of the world beside cluster and trace: failures, nodes that break, prices, an autoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reference.cluster import Node, Resources
from reference.simulation.clock import MS_PER_HOUR

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ONE = 1_000_000
"""Prices are in millionths of the currency's unit."""


@dataclass(frozen=True, slots=True)
class NodeTypeSettings:
    """Nodes that an autoscaler may launch: what each has (base units), how many there may be."""

    name: str
    resources: Resources
    most: int
    least: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    launch_ms: int = 60_000


@dataclass(frozen=True, slots=True)
class AutoscalerSettings:
    """An autoscaler that looks every ``interval_ms`` and terminates what was idle for ``idle_timeout_ms``."""

    node_types: tuple[NodeTypeSettings, ...]
    interval_ms: int = 5_000
    idle_timeout_ms: int = 300_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices that hold for a whole run; all times in milliseconds.

    ``pod_mtbf_ms`` and ``node_mtbf_ms`` are the mean times between failures of one pod that runs and of one node,
    exponentially distributed, None for no failures. A node of the cluster is back after ``node_repair_ms``; one that
    an autoscaler launched is not. A gang that loses a pod comes again, with all of its work, until it had
    ``attempts``.

    ``prices`` are millionths per node-hour by node type: the node's label ``type_label``, or the type that an
    autoscaler launched; a type that is not listed costs 1. ``patience_ms``: when for so long nothing happened but nodes
    that come and go, what waits is taken to wait for ever and the run ends.
    """

    seed: int = 0
    pod_mtbf_ms: int | None = None
    node_mtbf_ms: int | None = None
    node_repair_ms: int = 600_000
    attempts: int = 3
    prices: Mapping[str, int] = field(default_factory=dict)
    type_label: str = INSTANCE_TYPE
    patience_ms: int = 24 * MS_PER_HOUR
    autoscaler: AutoscalerSettings | None = None

    def node_type(self, node: Node) -> str:
        """The type that ``node`` is charged as; ``node`` for one without the label."""
        return node.labels.get(self.type_label, "node")

    def price(self, node_type: str) -> int:
        """Millionths for an hour of one node of that type."""
        return self.prices.get(node_type, ONE)

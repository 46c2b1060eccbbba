"""Nodes that are not there but may be launched: an autoscaler's worker groups and node types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reference.cluster.node import Node, Taint
from reference.cluster.resources import Resources


@dataclass(frozen=True, slots=True)
class NodeType:
    """A kind of node of which ``minimum`` to ``maximum`` may be there at a time (None: any number).

    ``Cluster.nodes`` that are of it carry its name in ``Node.node_type`` and count. ``price`` is what one node costs,
    in any one unit; ``priority`` orders types, the greater the sooner (Ray). Raises ValueError for limits that exclude
    each other and for a negative price.
    """

    name: str
    capacity: Resources
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    minimum: int = 0
    maximum: int | None = None
    price: int = 0
    priority: int = 0

    def __post_init__(self) -> None:
        if self.minimum < 0 or (self.maximum is not None and self.maximum < self.minimum):
            raise ValueError(f"node type {self.name!r}: from {self.minimum} to {self.maximum} nodes")
        if self.price < 0:
            raise ValueError(f"node type {self.name!r}: the price {self.price} is below 0")

    def node(self, name: str) -> Node:
        """One node of this type."""
        return Node(name, self.capacity, self.labels, self.taints, node_type=self.name)

"""The plugins, by name. A session opens a new one of each that its tiers list."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from reference.schedulers.volcano.plugins.capacity import Capacity
from reference.schedulers.volcano.plugins.conformance import Conformance
from reference.schedulers.volcano.plugins.drf import Drf
from reference.schedulers.volcano.plugins.gang import Gang
from reference.schedulers.volcano.plugins.network_topology import NetworkTopologyAware
from reference.schedulers.volcano.plugins.nodeorder import NodeOrder
from reference.schedulers.volcano.plugins.plugin import Plugin
from reference.schedulers.volcano.plugins.predicates import Predicates
from reference.schedulers.volcano.plugins.priority import Priority
from reference.schedulers.volcano.plugins.proportion import Proportion

PLUGINS: Final[Mapping[str, type[Plugin]]] = MappingProxyType(
    {
        "priority": Priority,
        "gang": Gang,
        "conformance": Conformance,
        "drf": Drf,
        "predicates": Predicates,
        "proportion": Proportion,
        "capacity": Capacity,
        "nodeorder": NodeOrder,
        "network-topology-aware": NetworkTopologyAware,
    }
)

__all__ = ["PLUGINS", "Plugin"]

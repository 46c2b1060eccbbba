"""Every policy that places whole clusters, by name: the reference schedulers, the heuristics of bin packing, and those
that see the devices of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from reference.cluster import Cluster, Placement
from reference.schedulers import POLICIES, schedule
from reference.schedulers.gpu_sharing import GpuRule, place_gangs
from reference.schedulers.heuristics import HEURISTICS


def _scheduler(name: str) -> Callable[[Cluster], Placement]:
    return lambda cluster: schedule(cluster, policy=name).placement


def _gpu(rule: GpuRule) -> Callable[[Cluster], Placement]:
    return lambda cluster: place_gangs(cluster, rule)


ALL_POLICIES: Final[Mapping[str, Callable[[Cluster], Placement]]] = MappingProxyType(
    {
        **{name: _scheduler(name) for name in POLICIES},
        **HEURISTICS,
        **{rule.value: _gpu(rule) for rule in GpuRule},
    }
)
"""From a cluster of plain gangs (``reference.cluster.features``) to a placement."""

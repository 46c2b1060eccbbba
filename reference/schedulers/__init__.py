"""The readable reference schedulers, by name.

``schedule(cluster, policy="yunikorn")`` gives a placement and a log. A scheduler is a package beside this module with a
function ``(cluster, **options) -> ScheduleResult``, entered in ``POLICIES``. ``ray`` is not one of them: an autoscaler
answers which nodes to have, not where pods go, and has types of its own (``reference.schedulers.ray``).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol

from reference.cluster import Cluster
from reference.cluster.features import Feature, refuse
from reference.errors import InputError
from reference.schedulers import kubernetes, volcano, yunikorn
from reference.schedulers.result import LogEntry, ScheduleResult


class Scheduler(Protocol):
    """A reference scheduler: places the cluster's gangs, none of which runs yet, beside the pods that do."""

    def __call__(self, cluster: Cluster, **options: object) -> ScheduleResult: ...


POLICIES: Final[Mapping[str, Scheduler]] = MappingProxyType(
    {"yunikorn": yunikorn.schedule, "volcano": volcano.schedule, "kubernetes": kubernetes.schedule}
)


KNOWS: Final[Mapping[str, frozenset[Feature]]] = MappingProxyType(
    {"yunikorn": frozenset(), "volcano": volcano.KNOWS, "kubernetes": kubernetes.KNOWS}
)
"""What each policy knows of a cluster beyond plain gangs."""


def schedule(cluster: Cluster, policy: str = "yunikorn", **options: object) -> ScheduleResult:
    """Run the reference scheduler ``policy`` on ``cluster`` until nothing more can be placed.

    Options are the scheduler's own (``Options`` of its package). Raises InputError for an unknown policy or a bad
    option, and for a cluster with rules that the policy does not know (``reference.cluster.features``).
    """
    if policy not in POLICIES:
        raise InputError(repr(policy), f"one of {', '.join(POLICIES)}", where="policy")
    refuse(cluster, KNOWS[policy], policy)
    return POLICIES[policy](cluster, **options)


__all__ = ["KNOWS", "POLICIES", "LogEntry", "ScheduleResult", "Scheduler", "schedule"]

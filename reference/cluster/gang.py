"""Applications and their gangs.

A gang is an application's task groups taken together: all minMember pods of all groups start, or none
(YuniKorn task-group annotations; facts on the format: the k8shim's task group parser).
"""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass

from reference.cluster.node import ANYWHERE, Constraints
from reference.cluster.resources import PODS, Resources, total


class GangStyle(enum.Enum):
    """What happens when placeholders time out: start without the guarantee (Soft) or fail (Hard)."""

    SOFT = "Soft"
    HARD = "Hard"


@functools.lru_cache(maxsize=4096)  # asked for again and again, of few different requests
def _with_one_pod(request: Resources) -> Resources:
    return request + Resources({PODS: 1})


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """``min_member`` identical pods of ``min_resource`` each (``min_resource`` without the ``pods`` count)."""

    name: str
    min_member: int
    min_resource: Resources
    constraints: Constraints = ANYWHERE

    @property
    def pod_resource(self) -> Resources:
        """What one member takes from node and queue: ``min_resource`` and one of ``pods``."""
        return _with_one_pod(self.min_resource)


@dataclass(frozen=True, slots=True)
class Application:
    """One gang. ``submitted`` orders applications (smaller first); ``weight`` is what admitting it is worth."""

    name: str
    queue: str
    task_groups: tuple[TaskGroup, ...]
    submitted: int = 0
    weight: int = 1
    style: GangStyle = GangStyle.SOFT
    placeholder_timeout_seconds: int = 900

    @property
    def members(self) -> int:
        """Pods in the whole gang."""
        return sum(group.min_member for group in self.task_groups)

    @property
    def placeholder_ask(self) -> Resources:
        """What the gang reserves in all: the sum of minMember x (minResource and 1 pod)."""
        return total(group.pod_resource * group.min_member for group in self.task_groups)

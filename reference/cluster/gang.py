"""Applications and their gangs.

A gang is an application's task groups taken together: all minMember pods of all groups start, or none
(YuniKorn task-group annotations; facts on the format: the k8shim's task group parser). Other systems say more: a group
may be larger than its minimum, the gang as a whole may have a minimum above those of its groups, pods may have to be
near each other, and of several groups a few may be enough.
"""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass

from reference.cluster.neighbours import ALONE, Neighbours
from reference.cluster.node import ANYWHERE, Constraints
from reference.cluster.resources import PODS, Resources, total
from reference.cluster.topology import TopologyConstraint


class GangStyle(enum.Enum):
    """What happens when placeholders time out: start without the guarantee (Soft) or fail (Hard)."""

    SOFT = "Soft"
    HARD = "Hard"


@functools.lru_cache(maxsize=4096)  # asked for again and again, of few different requests
def _with_one_pod(request: Resources) -> Resources:
    return request + Resources({PODS: 1})


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """``min_member`` identical pods of ``min_resource`` each (``min_resource`` without the ``pods`` count): a role.

    ``size`` is how many pods there are, where that is more than have to start: those beyond ``min_member`` may start
    with the gang or wait, each on its own (None: ``min_member``). With a size, ``min_member`` may be 0. ``topology`` is
    for the pods of this group together, ``neighbours`` what each of them demands of where other pods are. Raises
    ValueError for a size below 1 or below ``min_member``.
    """

    name: str
    min_member: int
    min_resource: Resources
    constraints: Constraints = ANYWHERE
    size: int | None = None
    topology: tuple[TopologyConstraint, ...] = ()
    neighbours: Neighbours = ALONE

    def __post_init__(self) -> None:
        if self.size is not None and (self.size < 1 or self.size < self.min_member):
            raise ValueError(f"task group {self.name!r}: size {self.size} with minMember {self.min_member}")

    @property
    def most(self) -> int:
        """The most pods that may run: ``size``, or ``min_member`` where the group is not elastic."""
        return self.min_member if self.size is None else self.size

    @property
    def pod_resource(self) -> Resources:
        """What one member takes from node and queue: ``min_resource`` and one of ``pods``."""
        return _with_one_pod(self.min_resource)


@dataclass(frozen=True, slots=True)
class CompositeGroup:
    """A group of groups: whole when at least ``min_children`` of ``children`` are (Kubernetes: minGroupCount).

    ``children`` are names of task groups and of other composites of the same application, each in one composite only. A
    task group is whole with ``min_member`` pods, and one that is not whole has no pod at all. ``topology`` is for all
    pods below it together. Raises ValueError for no child, a repeated one, or a minimum that they cannot reach.
    """

    name: str
    children: tuple[str, ...]
    min_children: int
    topology: tuple[TopologyConstraint, ...] = ()

    def __post_init__(self) -> None:
        if len(set(self.children)) != len(self.children):
            raise ValueError(f"composite group {self.name!r} names a child twice: {self.children!r}")
        if not 1 <= self.min_children <= len(self.children):
            raise ValueError(f"composite group {self.name!r}: {self.min_children} of {len(self.children)} children")


@dataclass(frozen=True, slots=True)
class Application:
    """One gang. ``submitted`` orders applications (smaller first); ``weight`` is what admitting it is worth.

    Every task group and composite that is in no composite has to be whole. ``min_members`` is how many pods have to run
    in all, where that is more than the minima of the groups come to (Volcano: minAvailable beside the roles' own).
    ``topology`` is for all pods of the gang together. ``priority``: the greater the sooner; ``namespace`` is whose it
    is, where that matters beside the queue. Raises ValueError for a ``min_members`` that the groups cannot reach.
    """

    name: str
    queue: str
    task_groups: tuple[TaskGroup, ...]
    submitted: int = 0
    weight: int = 1
    style: GangStyle = GangStyle.SOFT
    placeholder_timeout_seconds: int = 900
    min_members: int | None = None
    topology: tuple[TopologyConstraint, ...] = ()
    composites: tuple[CompositeGroup, ...] = ()
    priority: int = 0
    namespace: str = ""

    def __post_init__(self) -> None:
        most = sum(group.most for group in self.task_groups)
        if self.min_members is not None and not 1 <= self.min_members <= most:
            raise ValueError(f"application {self.name!r}: min_members {self.min_members} of {most} pods")

    @property
    def members(self) -> int:
        """Pods in the whole gang, at the minimum of every group."""
        return sum(group.min_member for group in self.task_groups)

    @property
    def placeholder_ask(self) -> Resources:
        """What the gang reserves in all: the sum of minMember x (minResource and 1 pod)."""
        return total(group.pod_resource * group.min_member for group in self.task_groups)

"""The parameters of the kubernetes spec, and what sizes make sense together."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from specs.parameters import check_each, check_size

MOST = 8


class Cycle(enum.Enum):
    """How kube-scheduler takes pods out of its queue."""

    POD_GROUP = "pod_group"
    """One cycle judges all pending pods of a PodGroup."""
    POD_BY_POD = "pod_by_pod"
    """One cycle a pod, as without the feature gate."""


class Edition(enum.Enum):
    """Which text the spec follows where the two differ."""

    SEED = "seed"
    """The documentation page of the PodGroup scheduling cycle."""
    CURRENT = "current"
    """The scheduler's code of mid 2026."""


@dataclass(frozen=True)
class Scope:
    """Checked sizes, and what can happen with them."""

    groups: int
    pods: int
    min_count: int
    nodes: int
    capacity: int
    failures: int
    misfits: int
    ranked: bool
    late: bool
    cycle: Cycle
    edition: Edition
    memory: int
    needs: tuple[int, ...]

    @property
    def room(self) -> int:
        """Pods that the cluster has room for, of the group that has the least room."""
        return self.nodes * min(self.capacity, self.memory // max(self.needs) if self.memory else self.capacity)

    @property
    def alike(self) -> bool:
        """Whether only names tell groups apart."""
        return not self.ranked and len(set(self.needs)) == 1

    @property
    def preempts(self) -> bool:
        """Whether some group is more important than another."""
        return self.ranked and self.groups > 1 and self.cycle is Cycle.POD_GROUP

    @property
    def permit(self) -> bool:
        """Whether Permit, which counts again, may find fewer pods than minCount: some go during the cycle, by a second
        failure or by an eviction, and room that is promised to nobody is left for another."""
        evicted = (
            self.preempts
            and self.nodes * self.capacity > self.min_count
            and (self.failures > 0 or self.pods > self.min_count)
        )
        lost = self.late and (self.failures > 1 or evicted)
        return self.edition is Edition.CURRENT and self.cycle is Cycle.POD_GROUP and self.min_count > 1 and lost

    @property
    def gate(self) -> int:
        """Pods that must have been seen before PreEnqueue lets a group into the queue."""
        return self.min_count if self.edition is Edition.CURRENT else 1


def scope(
    groups: int,
    pods: int,
    min_count: int,
    nodes: int,
    capacity: int,
    failures: int,
    misfits: int,
    ranked: bool,
    late: bool,
    cycle: Cycle,
    edition: Edition,
    memory: int,
    needs: int | tuple[int, ...],
) -> Scope:
    """The scope of a spec, or ValueError that names the parameter, what was found and what is possible."""
    for name, value in (("groups", groups), ("pods", pods), ("nodes", nodes), ("capacity", capacity)):
        check_size(name, value, most=MOST)
    check_size("min_count", min_count, most=pods)
    check_size("failures", failures, least=0, most=MOST)
    check_size("misfits", misfits, least=0, most=1)
    check_size("memory", memory, least=0, most=MOST)
    each = (needs,) * groups if isinstance(needs, int) else tuple(needs)
    check_each("needs", each, groups, "group", most=memory or 1)
    found = Scope(
        groups, pods, min_count, nodes, capacity, failures, misfits, ranked, late, cycle, edition, memory, each
    )
    if min_count > found.room:
        what = "nodes x capacity" if found.room == nodes * capacity else "the pods that nodes have memory for"
        raise ValueError(f"min_count is at most {what}, which is {found.room}; found {min_count}")
    return found

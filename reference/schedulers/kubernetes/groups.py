"""The hierarchy of groups that the scheduler has seen, and which of it is ready to be scheduled.

What is scheduled as one is a root: a CompositePodGroup or a PodGroup without a parent, or a pod without a group.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from reference.schedulers.kubernetes.api import (
    MOST_LEVELS,
    CompositePodGroup,
    Pod,
    PodGroup,
    PreemptionPolicy,
)
from reference.schedulers.kubernetes.options import Edition


class Phase(enum.Enum):
    """What has become of a pod that the scheduler has seen."""

    PENDING = "pending"
    ASSUMED = "assumed"
    """It was decided on; its binding is under way."""
    BOUND = "bound"


@dataclass(slots=True)
class TrackedPod:
    """A pod and its state. ``first_seen`` orders pods of one priority (time, then number); ``started``: when it was
    bound."""

    pod: Pod
    first_seen: tuple[int, int]
    phase: Phase = Phase.PENDING
    node: str = ""
    started: int = 0


@dataclass(slots=True)
class Group:
    """A group as a cycle sees it: its object, its children in the order in which they are judged, and for a PodGroup
    the pods that are pending, in the order in which they are."""

    name: str
    least: int
    topology_key: str
    children: tuple[Group, ...] = ()
    pods: tuple[Pod, ...] = ()
    is_composite: bool = False

    def leaves(self) -> Iterator[Group]:
        """The PodGroups below, or the group itself."""
        if not self.is_composite:
            yield self
        for child in self.children:
            yield from child.leaves()

    def walk(self) -> Iterator[Group]:
        """The group and all below, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


Shape = tuple[tuple[str, str], ...]
"""A hierarchy's groups and their parents, sorted: what a cycle compares with what the queue had."""


@dataclass(slots=True)
class Registry:
    """The objects that were created, by name, and the pods of each group.

    ``nominated``: the nodes that are kept for pods; ``terminating``: pods that a preemption asked to leave; ``lowest``:
    the lowest priority that any group or pod ever had.
    """

    groups: dict[str, PodGroup] = field(default_factory=dict)
    composites: dict[str, CompositePodGroup] = field(default_factory=dict)
    pods: dict[str, TrackedPod] = field(default_factory=dict)
    members: dict[str, dict[str, TrackedPod]] = field(default_factory=dict)
    children: dict[str, dict[str, None]] = field(default_factory=dict)
    nominated: dict[str, str] = field(default_factory=dict)
    terminating: set[str] = field(default_factory=set)
    lowest: int | None = None

    # ---- objects

    def add_group(self, group: PodGroup | CompositePodGroup) -> None:
        """The object of a group exists now."""
        if isinstance(group, PodGroup):
            self.groups[group.name] = group
        else:
            self.composites[group.name] = group
        if group.parent:
            self.children.setdefault(group.parent, {})[group.name] = None
        self._lower(group.priority)

    def remove_group(self, name: str) -> PodGroup | CompositePodGroup:
        """The object is gone."""
        group = self.groups.pop(name, None) or self.composites.pop(name)
        if group.parent:
            del self.children[group.parent][name]
        return group

    def add_pod(self, tracked: TrackedPod) -> None:
        """A pod is seen."""
        pod = tracked.pod
        self.pods[pod.name] = tracked
        if pod.pod_group:
            self.members.setdefault(pod.pod_group, {})[pod.name] = tracked
        self._lower(pod.spec.priority)

    def remove_pod(self, name: str) -> TrackedPod:
        """The pod is gone."""
        tracked = self.pods.pop(name)
        if tracked.pod.pod_group:
            del self.members[tracked.pod.pod_group][name]
        self.nominated.pop(name, None)
        self.terminating.discard(name)
        return tracked

    def _lower(self, priority: int) -> None:
        self.lowest = priority if self.lowest is None else min(self.lowest, priority)

    def would_contain_itself(self, group: PodGroup | CompositePodGroup) -> bool:
        """Whether a group is to be below itself."""
        above, seen = group.parent, {group.name}
        while above and above not in seen:
            seen.add(above)
            above = self.composites[above].parent if above in self.composites else ""
        return bool(above)

    # ---- roots

    def root_of(self, group: str) -> str | None:
        """The root above a PodGroup; None while an object on the way is missing, or the hierarchy is too deep."""
        if group not in self.groups:
            return None
        name, parent = group, self.groups[group].parent
        for _ in range(MOST_LEVELS):
            if not parent:
                return name
            if parent not in self.composites:
                return None
            name, parent = parent, self.composites[parent].parent
        return None

    def key_of(self, pod: Pod) -> str | None:
        """The root that ``pod`` is scheduled with: its own name where it has no group."""
        return self.root_of(pod.pod_group) if pod.pod_group else pod.name

    def leaves_of(self, root: str) -> list[str]:
        """The PodGroups below a root, in the order in which they are judged."""
        if root in self.groups:
            return [root]
        return [leaf for child in self.children_of(root) for leaf in self.leaves_of(child)]

    def children_of(self, composite: str) -> list[str]:
        """Its children, by name: the fixed order in which they are judged."""
        return sorted(self.children.get(composite, ()))

    # ---- readiness

    def seen(self, group: str) -> int:
        """Pods of a PodGroup that were seen and not deleted."""
        return len(self.members.get(group, ()))

    def pending(self, root: str) -> list[TrackedPod]:
        """Pods without a node, of all leaves, or the one pod."""
        if root in self.groups or root in self.composites:
            members = [p for leaf in self.leaves_of(root) for p in self.members.get(leaf, {}).values()]
        else:
            members = [self.pods[root]] if root in self.pods else []
        return [p for p in members if p.phase is Phase.PENDING]

    def is_ready(self, name: str, edition: Edition) -> bool:
        """PreEnqueue: the gang's pods, or enough ready children, were seen; in the seed one pod of a PodGroup."""
        if name in self.composites:
            ready = sum(self.is_ready(child, edition) for child in self.children_of(name))
            return ready >= self.composites[name].least
        if name in self.groups:
            least = self.groups[name].least if edition is Edition.CURRENT else 1
            return self.seen(name) >= least
        return name in self.pods

    def priority(self, root: str) -> int:
        """The priority that the queue goes by."""
        found = self.groups.get(root) or self.composites.get(root)
        return found.priority if found else self.pods[root].pod.spec.priority

    # ---- what a cycle takes

    def tree(self, root: str) -> Group:
        """The hierarchy as it is now, with its pending pods by priority and then by age (K3)."""
        if root in self.composites:
            composite = self.composites[root]
            children = tuple(self.tree(child) for child in self.children_of(root))
            return Group(root, composite.least, composite.topology_key, children, is_composite=True)
        if root in self.groups:
            group = self.groups[root]
            pods = sorted(
                (p for p in self.members.get(root, {}).values() if p.phase is Phase.PENDING),
                key=lambda p: (-p.pod.spec.priority, p.first_seen),
            )
            return Group(root, group.least, group.topology_key, pods=tuple(p.pod for p in pods))
        return Group(root, 1, "", pods=(self.pods[root].pod,))

    def shape(self, root: str) -> Shape:
        """The groups below a root, and under which parent each is."""
        if root not in self.composites:
            return ((root, ""),)
        below = [(child, root) for child in self.children_of(root)]
        deeper = [pair for child, _ in below if child in self.composites for pair in self.shape(child)]
        return tuple(sorted([*below, *deeper]))

    def why_invalid(self, root: str, edition: Edition) -> str | None:
        """What the pods of a root do not agree about, those that are scheduled included; None where they agree.

        The documentation asks for one schedulerName, and in a hierarchy for one priority; the code for both, and for
        one preemption policy, in any group.
        """
        if root not in self.groups and root not in self.composites:
            return None
        members = [p.pod.spec for leaf in self.leaves_of(root) for p in self.members.get(leaf, {}).values()]
        names = sorted({spec.scheduler_name for spec in members})
        if len(names) > 1:
            return f"pods have different schedulerNames: {', '.join(names)}"
        if edition is Edition.CURRENT or root in self.composites:
            priority = self.priority(root)
            odd = sorted({spec.priority for spec in members} - {priority})
            if odd:
                return f"pods have priority {odd[0]}, their group {priority}"
        if edition is Edition.CURRENT and len({spec.preemption_policy for spec in members}) > 1:
            return "pods have different preemption policies"
        return None

    def never_preempts(self, root: str) -> bool:
        """Whether preemptionPolicy says so."""
        found = self.groups.get(root) or self.composites.get(root)
        policy = found.preemption_policy if found else self.pods[root].pod.spec.preemption_policy
        return policy is PreemptionPolicy.NEVER

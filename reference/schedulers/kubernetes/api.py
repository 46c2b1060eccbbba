"""What the API server tells the scheduler: pods, PodGroups, CompositePodGroups (``scheduling.k8s.io``, 1.37).

Names are those of the API in snake case. One namespace is assumed; a pod is one container. Nodes, taints, tolerations,
node selectors and required node affinity are those of ``reference.cluster``.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from reference.cluster import ANYWHERE, MEMORY, PODS, VCORE, Constraints, PodAffinityTerm, Requirement, Resources
from reference.cluster.neighbours import Selector

DEFAULT_SCHEDULER = "default-scheduler"
MOST_LEVELS = 4
"""Levels that a hierarchy of groups may have (``WorkloadMaxTreeDepth``)."""
NON_ZERO_CPU, NON_ZERO_MEMORY = 100, 200 * 2**20
"""What a pod counts for in LeastAllocated and MostAllocated where it names no request (milli-cores, bytes)."""


def selects(selector: Selector, labels: Mapping[str, str]) -> bool:
    """Whether a pod with ``labels`` is one that ``selector`` is about."""
    return all(requirement.matches(labels) for requirement in selector)


@dataclass(frozen=True, slots=True)
class WeightedPodAffinityTerm:
    """A wish of weight 1 to 100."""

    weight: int
    term: PodAffinityTerm


@dataclass(frozen=True, slots=True)
class PodAffinity:
    """``required`` terms all hold, ``preferred`` ones score. The same type serves ``podAntiAffinity``."""

    required: tuple[PodAffinityTerm, ...] = ()
    preferred: tuple[WeightedPodAffinityTerm, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.required or self.preferred)


NO_AFFINITY = PodAffinity()


@dataclass(frozen=True, slots=True)
class PreferredSchedulingTerm:
    """Preferred node affinity: a wish of weight 1 to 100 for nodes on which all ``requirements`` hold."""

    weight: int
    requirements: tuple[Requirement, ...]


class WhenUnsatisfiable(enum.Enum):
    """What a topology spread constraint does to a node that would break it."""

    DO_NOT_SCHEDULE = "DoNotSchedule"
    SCHEDULE_ANYWAY = "ScheduleAnyway"


@dataclass(frozen=True, slots=True)
class TopologySpreadConstraint:
    """Pods that ``selector`` selects differ by at most ``max_skew`` between domains; fewer than ``min_domains`` domains
    count as if one were empty."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: WhenUnsatisfiable
    selector: Selector
    min_domains: int = 1


class PreemptionPolicy(enum.Enum):
    """Whether a group may preempt pods of lower priority."""

    PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"
    NEVER = "Never"


class DisruptionMode(enum.Enum):
    """What of a group is preempted: single pods, or all of them together."""

    SINGLE = "single"
    ALL = "all"


@dataclass(frozen=True)
class PodSpec:
    """What decides where a pod may run and who comes first. ``request`` does not list ``pods``."""

    request: Resources
    constraints: Constraints = ANYWHERE
    preferred_node_affinity: tuple[PreferredSchedulingTerm, ...] = ()
    pod_affinity: PodAffinity = NO_AFFINITY
    pod_anti_affinity: PodAffinity = NO_AFFINITY
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    priority: int = 0
    scheduler_name: str = DEFAULT_SCHEDULER
    preemption_policy: PreemptionPolicy = PreemptionPolicy.PREEMPT_LOWER_PRIORITY

    @cached_property
    def has_affinity(self) -> bool:
        """Whether it says something about other pods that holds for pods that come later, too."""
        return bool(self.pod_affinity or self.pod_anti_affinity)

    @cached_property
    def minds_others(self) -> bool:
        """Whether where it goes depends on which pods are where, beyond what they take."""
        return self.has_affinity or bool(self.topology_spread_constraints)

    @cached_property
    def amounts(self) -> tuple[tuple[str, int], ...]:
        """What it takes of a node: its request above 0, and one of ``pods``."""
        return (*((name, n) for name, n in self.request.items() if n > 0 and name != PODS), (PODS, 1))

    @cached_property
    def non_zero(self) -> tuple[int, int]:
        """CPU and memory as the scores count them: a request that is not named is not nothing."""
        return self.request.get(VCORE, NON_ZERO_CPU), self.request.get(MEMORY, NON_ZERO_MEMORY)


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod by name; ``pod_group`` is ``spec.schedulingGroup.podGroupName``, empty for a pod on its own."""

    name: str
    spec: PodSpec
    pod_group: str = ""


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A leaf group. ``min_count`` is that of policy ``gang``; None is policy ``basic``.

    ``topology_key``: the one key of ``schedulingConstraints.topology``, empty for none. ``parent``:
    ``parentCompositePodGroupName``.
    """

    name: str
    min_count: int | None = None
    priority: int = 0
    topology_key: str = ""
    parent: str = ""
    disruption_mode: DisruptionMode = DisruptionMode.SINGLE
    preemption_policy: PreemptionPolicy = PreemptionPolicy.PREEMPT_LOWER_PRIORITY

    @property
    def least(self) -> int:
        """Pods that must have a node for the group to be feasible; a basic group needs one."""
        return 1 if self.min_count is None else self.min_count


@dataclass(frozen=True, slots=True)
class CompositePodGroup:
    """A group of groups. ``min_group_count`` is that of policy ``gang``; None is policy ``basic``."""

    name: str
    min_group_count: int | None = None
    priority: int = 0
    topology_key: str = ""
    parent: str = ""
    disruption_mode: DisruptionMode = DisruptionMode.SINGLE
    preemption_policy: PreemptionPolicy = PreemptionPolicy.PREEMPT_LOWER_PRIORITY

    @property
    def least(self) -> int:
        """Children that must be feasible for it to be."""
        return 1 if self.min_group_count is None else self.min_group_count


class Reason(enum.Enum):
    """Why PodGroupInitiallyScheduled is what it is."""

    SCHEDULED = "Scheduled"
    UNSCHEDULABLE = "Unschedulable"
    SCHEDULER_ERROR = "SchedulerError"


@dataclass(frozen=True, slots=True)
class Condition:
    """``PodGroupInitiallyScheduled``: True with reason Scheduled, else False."""

    reason: Reason

    @property
    def status(self) -> bool:
        """Whether the group was scheduled once."""
        return self.reason is Reason.SCHEDULED

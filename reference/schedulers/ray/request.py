"""What one decision of the scheduler is asked: node types, instances, and what is to run. Values only, no rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from reference.schedulers.ray.arithmetic import DOUBLES, Amount, Arithmetic

IMPLICIT_PREFIX = "node:__internal_implicit_resource_"
"""Every node has one of each resource with a name that begins so."""
GPU = "GPU"


class Operator(Enum):
    """How a label's value is held against a list; a missing label is in no list."""

    IN = "in"
    NOT_IN = "not_in"


@dataclass(frozen=True, slots=True)
class LabelConstraint:
    """One condition on a node's label; ``values`` are sorted."""

    key: str
    operator: Operator
    values: tuple[str, ...]

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with ``labels`` meets it."""
        return (labels.get(self.key) in self.values) is (self.operator is Operator.IN)


LabelSelector = tuple[LabelConstraint, ...]
"""Conditions that all have to hold; one without any is met by every node."""


@dataclass(frozen=True)
class ResourceRequest:
    """Something to run in one place. ``bundle`` is sorted by name; amounts of zero count in it, and take nothing.

    ``label_selectors`` are alternatives, the best first. At most one of ``affinity`` and ``anti_affinity`` names the
    label that requests of one gang share or keep apart.
    """

    bundle: tuple[tuple[str, Amount], ...]
    label_selectors: tuple[LabelSelector, ...] = ()
    affinity: str = ""
    anti_affinity: str = ""

    @property
    def placement_constraints(self) -> int:
        """How many placement constraints it has: none or one."""
        return int(bool(self.affinity or self.anti_affinity))

    @cached_property
    def asked(self) -> frozenset[str]:
        """The resources that it takes something of."""
        return frozenset(name for name, amount in self.bundle if amount > 0)

    @cached_property
    def labels(self) -> frozenset[str]:
        """The labels of a node that it looks at."""
        kept_apart = frozenset({self.anti_affinity} if self.anti_affinity else ())
        return kept_apart.union(c.key for selector in self.label_selectors for c in selector)

    @cached_property
    def names_gpu(self) -> bool:
        """Whether it speaks of GPUs, be it of none."""
        return any(name == GPU for name, _ in self.bundle)

    def label_match(self, labels: Mapping[str, str]) -> int:
        """The rank of the first selector that ``labels`` meet, the first of n counting n and the last 1; else 0."""
        for behind, selector in enumerate(self.label_selectors):
            if all(constraint.holds(labels) for constraint in selector):
                return len(self.label_selectors) - behind
        return 0


Counted = tuple[ResourceRequest, int]
"""A request, and how many of it."""


class Strategy(Enum):
    """How a placement group spreads its bundles. PACK and SPREAD are wishes that the autoscaler does not hear."""

    PACK = "PACK"
    SPREAD = "SPREAD"
    STRICT_PACK = "STRICT_PACK"
    STRICT_SPREAD = "STRICT_SPREAD"


@dataclass(frozen=True, slots=True)
class GangResourceRequest:
    """A placement group that waits: all of its requests or none. ``requests`` carry the constraints of ``strategy``."""

    name: str
    strategy: Strategy
    requests: tuple[ResourceRequest, ...]

    @property
    def details(self) -> str:
        """How it is named where it is infeasible."""
        return f"{self.name}:{self.strategy.value}"


class InstanceStatus(Enum):
    """The states of an instance in the instance manager."""

    UNKNOWN = "UNKNOWN"
    QUEUED = "QUEUED"
    REQUESTED = "REQUESTED"
    ALLOCATED = "ALLOCATED"
    RAY_INSTALLING = "RAY_INSTALLING"
    RAY_RUNNING = "RAY_RUNNING"
    RAY_STOP_REQUESTED = "RAY_STOP_REQUESTED"
    RAY_STOPPING = "RAY_STOPPING"
    RAY_STOPPED = "RAY_STOPPED"
    TERMINATING = "TERMINATING"
    TERMINATED = "TERMINATED"
    ALLOCATION_FAILED = "ALLOCATION_FAILED"
    RAY_INSTALL_FAILED = "RAY_INSTALL_FAILED"
    TERMINATION_FAILED = "TERMINATION_FAILED"
    ALLOCATION_TIMEOUT = "ALLOCATION_TIMEOUT"

    @property
    def may_run_ray(self) -> bool:
        """Whether RAY_RUNNING can be reached from here; only such instances are looked at."""
        return self in _MAY_RUN_RAY

    @property
    def is_pending(self) -> bool:
        """Whether it can be given up before Ray runs on it; a launch that is under way (REQUESTED) cannot."""
        return self in _PENDING


_PENDING = frozenset({InstanceStatus.QUEUED, InstanceStatus.ALLOCATED, InstanceStatus.RAY_INSTALLING})
_MAY_RUN_RAY = _PENDING | {
    InstanceStatus.REQUESTED,
    InstanceStatus.RAY_RUNNING,
    InstanceStatus.RAY_STOP_REQUESTED,
}


class NodeKind(Enum):
    """What an instance is for. One that no cloud instance belongs to yet has no kind: ``UNMANAGED``."""

    UNMANAGED = "UNMANAGED"
    HEAD = "HEAD"
    WORKER = "WORKER"


@dataclass(frozen=True, slots=True)
class NodeTypeConfig:
    """A worker group: what each of its nodes has, and how many there may be."""

    name: str
    resources: Mapping[str, Amount]
    max_workers: int
    min_workers: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    priority: int = 0
    idle_timeout_s: float | None = None
    launch_config_hash: str = ""


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance that the autoscaler knows. ``total``, ``available`` and what follows are what its Ray node reports
    while it runs; before, its type's resources are taken."""

    name: str
    node_type: str
    status: InstanceStatus = InstanceStatus.RAY_RUNNING
    total: Mapping[str, Amount] = field(default_factory=dict)
    available: Mapping[str, Amount] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    dynamic_labels: Mapping[str, str] = field(default_factory=dict)
    idle_ms: int = 0
    kind: NodeKind = NodeKind.WORKER
    launch_config_hash: str = ""


@dataclass(frozen=True, slots=True)
class SchedulingRequest:
    """One question to the scheduler. The order of ``node_types`` counts: of types that score alike the first is
    launched.

    ``idle_timeout_s`` is that of nodes that run Ray, ``pending_idle_timeout_s`` that of nodes that wait for it.
    ``constraints`` is what ``request_resources`` asked for. Availabilities are scores of node types from 0 to 1 (1
    where a type is not in the map): low where launches have failed of late. ``max_num_nodes`` counts the head.
    """

    node_types: Mapping[str, NodeTypeConfig]
    instances: tuple[Instance, ...] = ()
    requests: tuple[Counted, ...] = ()
    gangs: tuple[GangResourceRequest, ...] = ()
    constraints: tuple[Counted, ...] = ()
    max_num_nodes: int | None = None
    idle_timeout_s: float | None = None
    pending_idle_timeout_s: float | None = None
    disable_launch_config_check: bool = True
    conserve_gpu_nodes: bool = True
    recoverable_availabilities: Mapping[str, float] = field(default_factory=dict)
    cloud_availabilities: Mapping[str, float] = field(default_factory=dict)
    arithmetic: Arithmetic = DOUBLES

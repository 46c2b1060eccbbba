"""A node as the scheduler sees it, and the one rule of packing: go through the requests in order, take what fits.

Nodes are values: filling one gives another, so a gang that does not fit is forgotten by forgetting its nodes.
"""

# float: scores are doubles, added up by resource name, where Ray takes the order of its maps; they break ties only

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from functools import cached_property

from reference.schedulers.ray.arithmetic import Amount
from reference.schedulers.ray.request import (
    GPU,
    IMPLICIT_PREFIX,
    Counted,
    InstanceStatus,
    NodeKind,
    NodeTypeConfig,
    ResourceRequest,
)


class NodeStatus(Enum):
    """What the decision does with a node; ``SCHEDULABLE`` is there and stays."""

    TO_LAUNCH = "TO_LAUNCH"
    SCHEDULABLE = "SCHEDULABLE"
    TO_TERMINATE = "TO_TERMINATE"


class TerminationCause(Enum):
    """Why a node is terminated."""

    OUTDATED = "OUTDATED"
    MAX_NUM_NODE_PER_TYPE = "MAX_NUM_NODE_PER_TYPE"
    MAX_NUM_NODES = "MAX_NUM_NODES"
    IDLE = "IDLE"


class Source(IntEnum):
    """Whose requests: waiting work takes what is available, ``request_resources`` is held against whole nodes."""

    PENDING_DEMAND = 0
    CLUSTER_RESOURCE_CONSTRAINT = 1


@dataclass(frozen=True)
class SchedulingNode:
    """A node. ``available`` and ``scheduled`` are by ``Source``; ``total`` is sorted by name.

    ``twin`` is 0, or what the nodes share that were launched together for the minimum of their type: Ray keeps one
    object for all of them, so that whatever is changed on it in place is changed for each.
    """

    node_type: str
    status: NodeStatus
    total: Mapping[str, Amount]
    available: tuple[Mapping[str, Amount], Mapping[str, Amount]]
    labels: Mapping[str, str]
    scheduled: tuple[tuple[Counted, ...], tuple[Counted, ...]] = ((), ())
    instance: str = ""
    instance_status: InstanceStatus | None = None
    runs_ray: bool = False
    idle_ms: int = 0
    kind: NodeKind = NodeKind.WORKER
    launch_config_hash: str = ""
    priority: int = 0
    twin: int = 0
    cause: TerminationCause | None = None

    @staticmethod
    def from_config(config: NodeTypeConfig, status: NodeStatus = NodeStatus.TO_LAUNCH, twin: int = 0) -> SchedulingNode:
        """A node of the type that does not run Ray yet."""
        return SchedulingNode(
            config.name,
            status,
            total=config.resources,
            available=(config.resources, config.resources),
            labels=config.labels,
            priority=config.priority,
            twin=twin,
        )

    def terminated(self, cause: TerminationCause) -> SchedulingNode:
        """This node, to be terminated."""
        return replace(self, status=NodeStatus.TO_TERMINATE, cause=cause)

    @property
    def is_head(self) -> bool:
        """Whether it is a head, which nothing but a maximum terminates, and that only where there is another."""
        return self.kind is NodeKind.HEAD

    @cached_property
    def termination_order(self) -> tuple[bool, int, float]:
        """The smallest goes first: before Ray runs, then the longest idle, then the least used."""
        free = self.available[Source.PENDING_DEMAND]
        used = [(total - free.get(name, 0)) / total for name, total in self.total.items() if total > 0]
        return self.runs_ray, -self.idle_ms, sum(used) / len(used) if used else 0

    @cached_property
    def _fixed(self) -> tuple[object, ...]:
        return self.node_type, self.kind, frozenset(self.total.items()), frozenset(self.labels.items())

    @cached_property
    def looks(self) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """By source, what nodes have in common that Ray takes for alike before it runs on them."""
        demand, constraint = (frozenset(free.items()) for free in self.available)
        return (self._fixed, demand), (self._fixed, constraint)

    @cached_property
    def holds(self) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """By source, all but labels that decides what a node would take and how that would score."""
        total = frozenset(self.total.items())
        demand, constraint = (frozenset(free.items()) for free in self.available)
        return (
            (self.node_type, total, demand, self.scheduled[Source.PENDING_DEMAND]),
            (self.node_type, total, constraint, self.scheduled[Source.CLUSTER_RESOURCE_CONSTRAINT]),
        )


@dataclass(frozen=True, slots=True)
class Need:
    """What a request takes of a node: name, amount, and what a node has that does not speak of it."""

    request: ResourceRequest
    parts: tuple[tuple[str, Amount, Amount], ...]

    @staticmethod
    def of(request: ResourceRequest, unit: int) -> Need:
        """The need of ``request``, where ``unit`` is the amount that is one."""
        return Need(
            request, tuple((n, v, unit if n.startswith(IMPLICIT_PREFIX) else 0) for n, v in request.bundle if v > 0)
        )

    def fits(self, free: Mapping[str, Amount]) -> bool:
        """Whether there is room for it."""
        # Not all(): this is the innermost loop of everything.
        for name, amount, absent in self.parts:  # noqa: SIM110
            if amount > free.get(name, absent):
                return False
        return True

    def take(self, most: int, free: dict[str, Amount]) -> int:
        """Takes it off ``free``, where it fits, up to ``most`` times; gives how many. One by one, as doubles want
        it."""
        if not self.parts:
            return most
        count = 0
        while True:
            for name, amount, absent in self.parts:
                free[name] = free.get(name, absent) - amount
            count += 1
            if count == most or not self.fits(free):
                return count


@dataclass(frozen=True, slots=True)
class Rules:
    """What scores depend on beside node and requests: ``unit`` is the amount that is one CPU or GPU.

    ``conserves_gpus``: who asks for no GPU gets a node with GPUs last (AUTOSCALER_CONSERVE_GPU_NODES in Ray's
    environment)."""

    has_labels: bool = True
    unit: int = 1
    conserves_gpus: bool = True


Score = tuple[int, bool, int, float, float]
"""Larger is better: how well labels match, whether no GPU is wasted, how many of the node's resource types are asked
for, the least and the mean of what is used of each."""


@dataclass(frozen=True, slots=True)
class Fill:
    """What a node would take: ``took`` is how many of the need at each index; the rest is the node's after that."""

    took: tuple[tuple[int, int], ...]
    free: Mapping[str, Amount]
    labels: Mapping[str, str]
    scheduled: tuple[Counted, ...]
    score: Score

    def onto(self, node: SchedulingNode, source: Source) -> SchedulingNode:
        """``node``, which is as the one that was tried, with what it takes."""
        available, scheduled = node.available, node.scheduled
        if source is Source.PENDING_DEMAND:
            available, scheduled = (self.free, available[1]), (self.scheduled, scheduled[1])
        else:
            available, scheduled = (available[0], self.free), (scheduled[0], self.scheduled)
        return replace(node, available=available, scheduled=scheduled, labels=self.labels, twin=0)


def try_schedule(
    node: SchedulingNode,
    source: Source,
    needs: Sequence[Need],
    remaining: Sequence[int],
    waiting: Iterable[int],
    rules: Rules,
) -> Fill | None:
    """What ``node`` takes of ``needs``, of which ``remaining`` are left at the indices ``waiting``; None for nothing.

    In order and without backtracking. A request that is kept apart from its kind is taken where no node label says
    so, and then leaves its own.
    """
    free = dict(node.available[source])
    labels = node.labels
    took: list[tuple[int, int]] = []
    for index in waiting:
        need = needs[index]
        if not need.fits(free):
            continue
        request, most = need.request, remaining[index]
        if rules.has_labels and request.label_selectors and not request.label_match(labels):
            continue
        if request.anti_affinity:
            if labels.get(request.anti_affinity) == "":
                continue
            labels, most = {**labels, request.anti_affinity: ""}, 1
        took.append((index, need.take(most, free)))
    if not took:
        return None
    scheduled = (*node.scheduled[source], *((needs[index].request, count) for index, count in took))
    return Fill(tuple(took), free, labels, scheduled, score(node, free, labels, scheduled, rules))


def score(
    node: SchedulingNode,
    free: Mapping[str, Amount],
    labels: Mapping[str, str],
    scheduled: Sequence[Counted],
    rules: Rules,
) -> Score:
    """How good a choice the node is, with what is scheduled on it and ``free`` after that.

    A resource counts v·u³ where v is how much of it the node has and u the part of it that is used. So the unit of a
    resource tells: bytes of memory outweigh any CPU.
    """
    asked: set[str] = set()
    for request, _ in scheduled:
        asked |= request.asked
    values = []
    for name, total in node.total.items():
        if total and name in free:
            used = (total - free[name]) / total
            values.append(total / rules.unit * used**3)
    has_no_gpu = not rules.conserves_gpus or node.total.get(GPU, 0) <= 0
    spares_gpu = has_no_gpu or any(request.names_gpu for request, _ in scheduled)
    match = 0
    if rules.has_labels:
        match = next((rank for request, _ in scheduled if (rank := request.label_match(labels))), 0)
    mean = sum(values) / len(values) if values else 0
    return match, spares_gpu, len(asked.intersection(node.total)), min(values, default=0), mean

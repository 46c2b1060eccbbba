"""A node and the pods on it, added up (kube-scheduler's NodeInfo)."""

from __future__ import annotations

import sys

from reference.cluster import MEMORY, PODS, VCORE, Node
from reference.schedulers.kubernetes.api import Pod, PodSpec


class NodeInfo:
    """What pods ask of ``node`` in all.

    ``requested`` is in the units of ``reference.cluster``, ``pods`` counted as a type of its own, and starts with what
    the node is occupied by; ``cpu`` and ``memory`` are the same sums with the defaults of ``PodSpec.non_zero``.
    ``rank`` breaks ties between nodes: the lowest wins. Nodes with the same ``amounts`` have the same in all
    and left.
    """

    __slots__ = (
        "_amounts",
        "_size",
        "allocatable",
        "cpu",
        "memory",
        "node",
        "pods",
        "rank",
        "requested",
        "with_affinity",
    )

    def __init__(self, node: Node, rank: int = 0) -> None:
        self.node = node
        self.rank = rank
        self.allocatable: dict[str, int] = dict(node.capacity.items())
        self._size = sys.intern(repr(sorted(self.allocatable.items())))
        self._amounts: str | None = None
        self.requested: dict[str, int] = dict(node.occupied.items())
        self.cpu = self.requested.get(VCORE, 0)
        self.memory = self.requested.get(MEMORY, 0)
        self.pods: dict[str, Pod] = {}
        self.with_affinity = 0

    def add(self, pod: Pod) -> None:
        """``pod`` is on the node now."""
        self.pods[pod.name] = pod
        self._change(pod.spec, 1)

    def remove(self, pod: Pod) -> None:
        """``pod`` is not on the node any more."""
        del self.pods[pod.name]
        self._change(pod.spec, -1)

    def _change(self, spec: PodSpec, sign: int) -> None:
        self._amounts = None
        requested = self.requested
        for name, amount in spec.amounts:
            requested[name] = requested.get(name, 0) + sign * amount
        cpu, memory = spec.non_zero
        self.cpu += sign * cpu
        self.memory += sign * memory
        if spec.has_affinity:
            self.with_affinity += sign

    @property
    def amounts(self) -> str:
        """Everything that a filter or score of amounts looks at, as a text, which is hashed once."""
        if self._amounts is None:
            told = (self._size, self.cpu, self.memory, *sorted(self.requested.items()))
            self._amounts = sys.intern(repr(told))
        return self._amounts

    def has_room(self, spec: PodSpec) -> bool:
        """NodeResourcesFit: every amount is there; a node that does not list ``pods`` does not limit them."""
        allocatable, requested = self.allocatable, self.requested
        for name, amount in spec.amounts:
            left = allocatable.get(name)
            if left is None:
                if name == PODS:
                    continue
                return False
            if amount > left - requested.get(name, 0):
                return False
        return True

    def short_of(self, spec: PodSpec) -> str | None:
        """The first type of which there is not enough, or None."""
        for name, amount in spec.amounts:
            if name == PODS and PODS not in self.allocatable:
                continue
            if amount > self.allocatable.get(name, 0) - self.requested.get(name, 0):
                return name
        return None

    def copy(self) -> NodeInfo:
        """One that changes on its own."""
        other = NodeInfo.__new__(NodeInfo)
        other.node, other.rank, other.allocatable = self.node, self.rank, self.allocatable
        other._size, other._amounts = self._size, self._amounts
        other.requested, other.pods = dict(self.requested), dict(self.pods)
        other.cpu, other.memory, other.with_affinity = self.cpu, self.memory, self.with_affinity
        return other

    def state(self) -> tuple[object, ...]:
        """All that a rollback has to bring back; equal for equal nodes."""
        sums = tuple(sorted((name, amount) for name, amount in self.requested.items() if amount))
        return self.node.name, sums, self.cpu, self.memory, self.with_affinity, tuple(sorted(self.pods))

"""How long nodes that do not run Ray yet have been needed by nothing: known from decision to decision, as nobody
reports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reference.schedulers.ray.node import NodeStatus, SchedulingNode, TerminationCause
from reference.schedulers.ray.request import InstanceStatus

_PROGRESS = (InstanceStatus.QUEUED, InstanceStatus.ALLOCATED, InstanceStatus.RAY_INSTALLING)
"""States of nodes that wait for Ray and can be given up; those that have come less far go first."""


class PendingIdle:
    """By node type, since when how many pending nodes have been unneeded (milliseconds, oldest first).

    Numbers are remembered, not nodes: which of several alike a request was put on is chance. So the k-th time is since
    when at least k nodes of the type have been unneeded at every decision.
    """

    def __init__(self) -> None:
        self._since: dict[str, list[int]] = {}

    def told(self, nodes: Sequence[SchedulingNode], now_ms: int) -> list[SchedulingNode]:
        """The nodes of a decision, those that are unneeded with how long they have been idle; the longest goes to who
        has come least far."""
        unneeded: dict[str, list[int]] = {}
        for place, node in enumerate(nodes):
            pending = node.instance_status in _PROGRESS
            if pending and node.status is NodeStatus.SCHEDULABLE and not node.is_head and not any(node.scheduled):
                unneeded.setdefault(node.node_type, []).append(place)
        since = {}
        result = list(nodes)
        for node_type, places in unneeded.items():
            before = self._since.get(node_type, [])[: len(places)]
            times = since[node_type] = before + [now_ms] * (len(places) - len(before))
            ordered = sorted(places, key=lambda place: _PROGRESS.index(nodes[place].instance_status or _PROGRESS[0]))
            for place, at in zip(ordered, times, strict=True):
                result[place] = replace(nodes[place], idle_ms=now_ms - at)
        self._since = since
        return result

    def forget(self, nodes: Sequence[SchedulingNode]) -> None:
        """Nodes that go as idle take their times with them, which are the oldest of their type."""
        for node in nodes:
            gone = node.cause is TerminationCause.IDLE and node.instance_status in _PROGRESS
            if gone and self._since.get(node.node_type):
                self._since[node.node_type].pop(0)

"""The answer of one decision, and its JSON."""

# float: amounts are shown in their resource's unit; nothing is decided here

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reference.schedulers.ray.arithmetic import DOUBLES, Amount, Arithmetic
from reference.schedulers.ray.node import NodeStatus, SchedulingNode, Source
from reference.schedulers.ray.request import Counted, GangResourceRequest


@dataclass(frozen=True, slots=True)
class SchedulingReply:
    """All nodes after the decision, in the scheduler's order, and what could not be placed.

    ``constraint_is_met`` is whether all of ``request_resources`` fits; where not, none of it was considered.
    """

    nodes: tuple[SchedulingNode, ...]
    infeasible_requests: tuple[Counted, ...]
    infeasible_gangs: tuple[GangResourceRequest, ...]
    constraint_is_met: bool
    arithmetic: Arithmetic = DOUBLES

    @property
    def to_launch(self) -> dict[str, int]:
        """How many nodes of each type to launch, in the order in which types were chosen first."""
        return dict(Counter(node.node_type for node in self.nodes if node.status is NodeStatus.TO_LAUNCH))

    @property
    def to_terminate(self) -> tuple[SchedulingNode, ...]:
        """The nodes to terminate; one without an instance was never launched."""
        return tuple(node for node in self.nodes if node.cause is not None)


def reply_json(reply: SchedulingReply) -> dict[str, Any]:
    """``to_launch``, ``to_terminate``, what is infeasible and ``placement``: which node each request was put on."""
    merged: Counter[Any] = Counter()
    for request, count in reply.infeasible_requests:
        merged[request] += count
    return {
        "to_launch": reply.to_launch,
        "to_terminate": [
            {"id": node.instance, "type": node.node_type, "cause": node.cause.value}
            for node in reply.to_terminate
            if node.cause
        ],
        "infeasible_requests": [
            {"resources": _shown(request.bundle, reply.arithmetic), "count": count} for request, count in merged.items()
        ],
        "infeasible_gangs": [gang.details for gang in reply.infeasible_gangs],
        "infeasible_constraints": int(not reply.constraint_is_met),
        "placement": [
            {
                "type": node.node_type,
                "status": node.status.value,
                "id": node.instance or None,
                "demand": _bundles(node.scheduled[Source.PENDING_DEMAND], reply.arithmetic),
                "constraint": _bundles(node.scheduled[Source.CLUSTER_RESOURCE_CONSTRAINT], reply.arithmetic),
            }
            for node in reply.nodes
        ],
    }


def _shown(bundle: Iterable[tuple[str, Amount]], arithmetic: Arithmetic) -> dict[str, float]:
    return {name: arithmetic.shown(amount) for name, amount in bundle}


def _bundles(scheduled: Iterable[Counted], arithmetic: Arithmetic) -> list[dict[str, float]]:
    return [_shown(request.bundle, arithmetic) for request, count in scheduled for _ in range(count)]

"""One decision of the ResourceDemandScheduler: what to launch and what to terminate.

1. Nodes of old configurations are terminated; minima launched; what is beyond a maximum terminated.
2. ``request_resources`` is held against whole nodes, as if nothing ran: all of it or none.
3. Placement groups, those with most constraints first, then the largest: each wholly or not at all.
4. Tasks and actors, as many as fit.
5. Idle nodes are terminated that none of this needed.

``ResourceDemandScheduler`` remembers between decisions how long nodes before Ray have been unneeded; ``schedule`` is
one decision for itself.

Steps 2 to 4 pack alike: existing nodes first, the best one at a time, then new nodes. A node that is to be terminated
still takes requests, and still counts for every maximum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from reference.schedulers.ray.arithmetic import Amount
from reference.schedulers.ray.candidates import Candidates, Demand
from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.limits import (
    Nodes,
    initial_nodes,
    launch_minimum,
    terminate_beyond_maximum,
    terminate_beyond_type_maximum,
    terminate_idle,
    terminate_outdated,
)
from reference.schedulers.ray.node import Need, Rules, SchedulingNode, Source
from reference.schedulers.ray.pending import PendingIdle
from reference.schedulers.ray.reply import SchedulingReply
from reference.schedulers.ray.request import (
    Counted,
    GangResourceRequest,
    InstanceStatus,
    ResourceRequest,
    SchedulingRequest,
    Strategy,
)


class ResourceDemandScheduler:
    """The scheduler of a running autoscaler."""

    def __init__(self, edition: Edition = Edition.CURRENT) -> None:
        self._edition, self._pending = edition, PendingIdle()

    def schedule(self, request: SchedulingRequest, now_ms: int) -> SchedulingReply:
        """The decision at that time."""
        return _decide(request, self._edition, self._pending, now_ms)


def schedule(request: SchedulingRequest, edition: Edition = Edition.CURRENT) -> SchedulingReply:
    """The decision. ``request`` is taken to be sound, as ``read_problem`` leaves it."""
    return _decide(request, edition, PendingIdle(), 0)


def _decide(request: SchedulingRequest, edition: Edition, pending: PendingIdle, now_ms: int) -> SchedulingReply:
    nodes = initial_nodes(request, edition)
    nodes = terminate_outdated(nodes, request)
    nodes = launch_minimum(nodes, request)
    nodes = terminate_beyond_type_maximum(nodes, request)
    nodes = terminate_beyond_maximum(nodes, request)
    constraint_is_met = True
    if request.constraints:
        packed, left = try_schedule(nodes, request.constraints, Source.CLUSTER_RESOURCE_CONSTRAINT, request, edition)
        constraint_is_met = not left
        nodes = packed if constraint_is_met else nodes
    infeasible_gangs = []
    for gang in sorted(request.gangs, key=gang_order, reverse=True):
        packed, left = try_schedule(nodes, merged_by_affinity(gang, edition), Source.PENDING_DEMAND, request, edition)
        if left:
            infeasible_gangs.append(gang)
        else:
            nodes = packed
    nodes, infeasible = try_schedule(nodes, request.requests, Source.PENDING_DEMAND, request, edition)
    times_pending_out = edition.times_pending_out and request.pending_idle_timeout_s is not None
    if times_pending_out:
        nodes = pending.told(nodes, now_ms)
    nodes = terminate_idle(nodes, request, edition)
    if times_pending_out:
        pending.forget(nodes)
    return SchedulingReply(
        tuple(nodes), tuple(infeasible), tuple(infeasible_gangs), constraint_is_met, request.arithmetic
    )


def gang_order(gang: GangResourceRequest) -> tuple[int, int]:
    """The largest gang goes first."""
    return sum(request.placement_constraints for request in gang.requests), len(gang.requests)


def merged_by_affinity(gang: GangResourceRequest, edition: Edition) -> tuple[Counted, ...]:
    """The requests of a gang, those of STRICT_PACK that have the same label selectors added up to one."""
    if gang.strategy is not Strategy.STRICT_PACK:
        return tuple((request, 1) for request in gang.requests)
    merged: dict[object, tuple[ResourceRequest, dict[str, Amount]]] = {}
    for request in gang.requests:
        key = request.label_selectors if edition.has_labels else None
        _, bundle = merged.setdefault(key, (request, {}))
        for name, amount in request.bundle:
            bundle[name] = bundle.get(name, 0) + amount
    return tuple((replace(first, bundle=tuple(sorted(bundle.items()))), 1) for first, bundle in merged.values())


def request_order(request: ResourceRequest, edition: Edition) -> tuple[object, ...]:
    """The largest request goes first: by constraints, conditions of its first selector, resources, their sum."""
    selectors = request.label_selectors if edition.has_labels else ()
    return (
        request.placement_constraints,
        len(selectors[0]) if selectors else 0,
        len(request.bundle),
        sum(amount for _, amount in request.bundle),
        request.bundle,
    )


def try_schedule(
    nodes: Nodes, requests: Sequence[Counted], source: Source, request: SchedulingRequest, edition: Edition
) -> tuple[Nodes, list[Counted]]:
    """Packs ``requests`` onto ``nodes`` and then onto new ones. Gives all nodes then, and the requests that are
    left."""
    unit = request.arithmetic.unit
    rules = Rules(edition.has_labels, unit, request.conserve_gpu_nodes)
    ordered = sorted(requests, key=lambda counted: request_order(counted[0], edition), reverse=True)
    demand = Demand([Need.of(each, unit) for each, _ in ordered], [count for _, count in ordered])
    if not demand.waiting:
        return nodes, []

    def ties(node_type: str) -> tuple[float, ...]:
        if not edition.breaks_ties:
            return ()
        config = request.node_types.get(node_type)
        recoverable = request.recoverable_availabilities.get(node_type, 1)
        return recoverable, config.priority if config else 0, request.cloud_availabilities.get(node_type, 1)

    def candidates() -> Candidates:
        return Candidates(demand, source, rules=rules, alike_once=edition.tries_alike_once, ties=ties)

    packed = _onto_existing(nodes, demand, source, candidates(), edition)
    _onto_new(packed, demand, candidates(), request)
    return packed, [(each, left) for (each, _), left in zip(ordered, demand.remaining, strict=True) if left]


def _onto_existing(nodes: Nodes, demand: Demand, source: Source, candidates: Candidates, edition: Edition) -> Nodes:
    """The nodes that took something, in the order in which they were chosen, then the others."""
    exhausted: Nodes = []
    if edition.sets_exhausted_aside:
        nodes, exhausted = _set_aside(nodes, demand, source)
    for node in nodes:
        candidates.add(node)
    packed: Nodes = []
    chosen = set()
    while demand.waiting and (best := candidates.take_best()):
        chosen.add(best[0])
        packed.append(best[1])
    return packed + [node for number, node in enumerate(nodes, 1) if number not in chosen] + exhausted


def _set_aside(nodes: Nodes, demand: Demand, source: Source) -> tuple[Nodes, Nodes]:
    """Nodes that may take something, and running nodes that have the resources for no request."""
    useful: Nodes = []
    exhausted: Nodes = []
    known: dict[object, bool] = {}
    for node in nodes:
        looks = node.looks[source]
        fits = node.instance_status is not InstanceStatus.RAY_RUNNING or known.get(looks)
        if fits is None:
            fits = known[looks] = demand.fits_somewhere_in(node, source)
        (useful if fits else exhausted).append(node)
    return useful, exhausted


def _onto_new(packed: Nodes, demand: Demand, candidates: Candidates, request: SchedulingRequest) -> None:
    """Launches nodes as long as they help: of each type that may have more, one waits to be chosen.

    A type that was chosen goes to the end of the line, so types that score alike take turns.
    """
    counts = Counter(node.node_type for node in packed)
    room = {name: config.max_workers - counts[name] for name, config in request.node_types.items()}
    new = {name: SchedulingNode.from_config(config) for name, config in request.node_types.items()}
    for name, left in room.items():
        if left > 0:
            candidates.add(new[name])
    while demand.waiting and (request.max_num_nodes is None or len(packed) < request.max_num_nodes):
        best = candidates.take_best()
        if best is None:
            return
        packed.append(best[1])
        node_type = best[1].node_type
        room[node_type] -= 1
        if room[node_type] > 0:
            candidates.add(new[node_type])

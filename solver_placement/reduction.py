"""Reduction: from a cluster's names to a problem's classes.

Grouped are pods with the same request that the same nodes admit, gangs with the same pods, weight and queue, and
nodes with the same free capacity that admit the same pods. Each resource is divided by the greatest common divisor of
what the pods ask of it, and capacities are rounded down to that unit, which loses nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from reference.cluster import Application, Cluster, Constraints, Queue
from solver_placement.hopeless import find_hopeless
from solver_placement.kinds import node_kinds
from solver_placement.problem import (
    LARGEST,
    LARGEST_WEIGHT,
    GangClass,
    Limit,
    NodeClass,
    Pattern,
    PodClass,
    Problem,
    ProblemTooLarge,
)


def reduce_cluster(cluster: Cluster) -> Problem:
    """Group ``cluster`` into classes.

    A node that does not list ``pods`` takes any number of pods; other types that it does not list are not there. Free
    capacity and queue head room below 0 count as 0. Raises ProblemTooLarge where sums leave the solver's integers.
    """
    kinds = node_kinds(cluster)
    hopeless = find_hopeless(cluster, kinds)
    apps = sorted((a for a in cluster.applications if a.name not in hopeless), key=lambda a: (a.submitted, a.name))
    groups = [(a, g, g.pod_resource) for a in apps for g in a.task_groups]

    asked: dict[str, list[tuple[int, int]]] = {}
    for _, group, resource in groups:
        for name, amount in resource.items():
            if amount > 0:
                asked.setdefault(name, []).append((amount, group.min_member))
    resources = tuple(sorted(asked))
    units = tuple(math.gcd(*(amount for amount, _ in asked[r])) for r in resources)
    most = tuple(sum(a // u * n for a, n in asked[r]) for r, u in zip(resources, units, strict=True))
    for name, amount in zip(resources, most, strict=True):
        if amount > LARGEST:
            raise ProblemTooLarge(f"the gangs ask {amount} units of {name} in all; at most {LARGEST} can be counted")

    # No node can hand out more than all gangs ask: the cap makes "unlimited" a number and more nodes identical.
    capacity = [
        tuple(
            top if (have := kind.free.get(r, 0)) is None else min(have // u, top)
            for r, u, top in zip(resources, units, most, strict=True)
        )
        for kind in kinds
    ]
    for r, name in enumerate(resources):
        room = sum(c[r] * len(kind.names) for c, kind in zip(capacity, kinds, strict=True))
        if room > (most_room := LARGEST * 256):
            raise ProblemTooLarge(f"the nodes have {room} units of {name} in all; at most {most_room} can be counted")

    class_of: dict[tuple[str, str], int] = {}
    keys: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    totals: list[int] = []
    rooms_of: dict[tuple[Constraints, tuple[int, ...]], tuple[int, ...]] = {}
    for app, group, resource in groups:
        request = tuple(max(resource.amount(r), 0) // u for r, u in zip(resources, units, strict=True))
        if (fits_here := rooms_of.get((group.constraints, request))) is None:
            fits = ((k.node.admits(group.constraints), _fit(request, c)) for k, c in zip(kinds, capacity, strict=True))
            fits_here = rooms_of[group.constraints, request] = tuple(fit if admitted else 0 for admitted, fit in fits)
        t = keys.setdefault((request, fits_here), len(keys))
        class_of[app.name, group.name] = t
        if t == len(totals):
            totals.append(0)
        totals[t] += group.min_member
    pods = tuple(PodClass(request, n) for (request, _), n in zip(keys, totals, strict=True))

    rooms = [room for _, room in keys]
    same: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for i, kind in enumerate(kinds):
        most_here = tuple(min(room[i], total) for room, total in zip(rooms, totals, strict=True))
        if any(most_here):
            same.setdefault((capacity[i], most_here), []).extend(kind.names)
    node_classes = tuple(NodeClass(c, fits, tuple(sorted(names))) for (c, fits), names in same.items())

    alike: dict[tuple[Pattern, int, str], list[str]] = {}
    for app in apps:
        content: Counter[int] = Counter()
        for group in app.task_groups:
            content[class_of[app.name, group.name]] += group.min_member
        alike.setdefault((tuple(sorted(content.items())), app.weight, app.queue), []).append(app.name)
    gangs = tuple(GangClass(p, w, q, tuple(names)) for (p, w, q), names in alike.items())
    if sum(g.weight * g.count for g in gangs) > LARGEST_WEIGHT:
        raise ProblemTooLarge(f"the weights of all gangs sum to more than {LARGEST_WEIGHT}")
    by_name = {a.name: a for a in cluster.applications}
    limits = _limits(cluster, gangs, by_name)
    return Problem(resources, units, pods, gangs, node_classes, limits, hopeless, by_name, class_of)


def _fit(request: tuple[int, ...], capacity: tuple[int, ...]) -> int:
    """How many pods of ``request`` one node of ``capacity`` holds; a request always asks one of ``pods``."""
    return min(have // want for want, have in zip(request, capacity, strict=True) if want)


def _limits(cluster: Cluster, gangs: tuple[GangClass, ...], apps: Mapping[str, Application]) -> tuple[Limit, ...]:
    """Rows of all queues that can bind, scaled by their common divisor."""
    asks = [apps[g.members[0]].placeholder_ask for g in gangs]
    rows: list[Limit] = []
    for queue in cluster.queues:
        below = [i for i, g in enumerate(gangs) if _is_below(g.queue, queue)]
        usage = cluster.queue_usage(queue.name) if queue.maximum else None
        wanted = {
            f"{queue.name}: {r}": ({g: asks[g].amount(r) for g in below}, m - usage.amount(r))
            for r, m in queue.maximum.items()
            if usage is not None
        }
        if queue.max_applications is not None:
            wanted[f"{queue.name}: applications"] = (dict.fromkeys(below, 1), queue.max_applications)
        for name, (uses, room) in wanted.items():
            uses = {g: n for g, n in uses.items() if n > 0}
            unit = math.gcd(*uses.values())
            room = max(room, 0)
            if sum(n * gangs[g].count for g, n in uses.items()) > room:
                rows.append(Limit(name, {g: n // unit for g, n in uses.items()}, room // unit))
    return tuple(rows)


def _is_below(name: str, queue: Queue) -> bool:
    return name == queue.name or name.startswith(queue.name + ".")

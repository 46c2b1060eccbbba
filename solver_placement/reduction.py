"""Reduction: from a cluster's names to a problem's classes.

Grouped are pods with the same request that the same nodes admit, gangs that can be whole in the same ways and have the
same weight and queue, and nodes with the same free capacity that admit the same pods. A gang class is one way of such
gangs; a row says that each is whole in one of them. Each resource is divided by the greatest common divisor of what the
pods ask of it, and capacities are rounded down to that unit, which loses nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reference.cluster import Application, Cluster, Constraints, Resources, total
from reference.cluster.features import Feature, reduce_to
from reference.cluster.node import DEVICE
from solver_placement.arrange import Devices
from solver_placement.devices import room_alone
from solver_placement.hopeless import find_hopeless, why_no_way
from solver_placement.kinds import NO_PRICES, NodeKind, node_kinds
from solver_placement.options import Domain, Part, Way, required_keys, ways
from solver_placement.problem import (
    LARGEST,
    LARGEST_WEIGHT,
    GangClass,
    Limit,
    NodeClass,
    Pattern,
    Piece,
    PodClass,
    Problem,
    ProblemTooLarge,
)
from solver_placement.queue_rows import queue_rows

Amounts = tuple[int, ...]


def reduce_cluster(
    cluster: Cluster, prices: Mapping[str, int] = NO_PRICES, apart: Callable[[Application], object] | None = None
) -> Problem:
    """Group ``cluster`` into classes; nodes that differ in ``prices``, or gangs in what ``apart`` says, are not alike.

    A node that does not list ``pods`` takes any number of pods; other types that it does not list are not there. Free
    capacity and queue head room below 0 count as 0. Raises ProblemTooLarge where sums leave the solver's integers, or a
    gang can be whole in too many ways.
    """
    kinds = node_kinds(cluster, prices)
    hopeless = find_hopeless(cluster, kinds)
    apps = sorted((a for a in cluster.applications if a.name not in hopeless), key=lambda a: (a.submitted, a.name))
    space = _Space(kinds, *_units(apps, kinds))
    families, classes, totals = _families(cluster, apps, space, hopeless, apart or (lambda app: None))
    pods = tuple(PodClass(request, totals[t]) for (request, _), t in classes.items())
    nodes = _node_classes(space, classes, totals)
    gangs = tuple(
        GangClass(pattern, family.weight, family.queue, tuple(family.members), f)
        for f, family in enumerate(families)
        for pattern in family.asks
    )
    if sum(f.weight * len(f.members) for f in families) > LARGEST_WEIGHT:
        raise ProblemTooLarge(f"the weights of all gangs sum to more than {LARGEST_WEIGHT}")
    asks = [ask for family in families for ask in family.asks.values()]
    limits = (*_one_way_each(gangs), *queue_rows(cluster, gangs, asks))
    pieces = {name: parts for family in families for name, parts in family.pieces.items()}
    by_name = {a.name: a for a in cluster.applications}
    looser = _looser(cluster, apps, hopeless)
    return Problem(space.resources, space.units, pods, gangs, nodes, limits, hopeless, by_name, pieces, looser)


def _looser(cluster: Cluster, apps: Sequence[Application], hopeless: Mapping[str, str]) -> Problem | None:
    """The problem of the gangs that are not hopeless, without their topology; None where they have none."""
    if not any(True for app in apps for _ in required_keys(app)):
        return None
    kept = tuple(app for app in apps if app.name not in hopeless)
    plain, _ = reduce_to(replace(cluster, applications=kept), frozenset(Feature) - {Feature.TOPOLOGY}, "")
    return reduce_cluster(plain)


def _units(apps: Sequence[Application], kinds: Sequence[NodeKind]) -> tuple[tuple[str, ...], Amounts, Amounts]:
    """The resources that are asked for, the unit of each, and how many units all gangs can ask for in all."""
    asked: dict[str, list[tuple[int, int]]] = {}
    for app in apps:
        for group in app.task_groups:
            for name, amount in group.pod_resource.items():
                if amount > 0:
                    asked.setdefault(name, []).append((amount, group.most))
    resources = tuple(sorted(asked))
    by_device = {name for kind in kinds for name in kind.held}
    held = {name: {a for kind in kinds for a in kind.held.get(name, ())} for name in by_device}
    units = tuple(
        math.gcd(*(amount for amount, _ in asked[r]), *((DEVICE, *held[r]) if r in by_device else ()))
        for r in resources
    )
    most = tuple(sum(a // u * n for a, n in asked[r]) for r, u in zip(resources, units, strict=True))
    for name, amount in zip(resources, most, strict=True):
        if amount > LARGEST:
            most_of_it = max(apps, key=lambda app: sum(g.pod_resource.amount(name) * g.most for g in app.task_groups))
            raise ProblemTooLarge(
                f"the gangs ask {amount} units of {name} in all, application {most_of_it.name!r} the most; "
                f"at most {LARGEST} can be counted"
            )
    return resources, units, most


class _Space:
    """Requests and capacities in units, and which pods the kinds of nodes take."""

    def __init__(self, kinds: Sequence[NodeKind], resources: tuple[str, ...], units: Amounts, most: Amounts) -> None:
        self.kinds, self.resources, self.units = kinds, resources, units
        # No node can hand out more than all gangs ask: the cap makes "unlimited" a number and more nodes identical.
        self.capacity = [
            tuple(
                top if (have := kind.free.get(r, 0)) is None else min(have // u, top)
                for r, u, top in zip(resources, units, most, strict=True)
            )
            for kind in kinds
        ]
        self.devices = [
            tuple(self._devices(kind, r, u, top) for r, u, top in zip(resources, units, most, strict=True))
            for kind in kinds
        ]
        for r, name in enumerate(resources):
            room = sum(c[r] * len(kind.names) for c, kind in zip(self.capacity, kinds, strict=True))
            if room > (most_room := LARGEST * 256):
                message = f"the nodes have {room} units of {name} in all; at most {most_room} can be counted"
                raise ProblemTooLarge(message)
        self._rooms: dict[tuple[Constraints, Amounts], Amounts] = {}
        self._inside: dict[frozenset[Domain], tuple[bool, ...]] = {}

    @staticmethod
    def _devices(kind: NodeKind, r: str, unit: int, most: int) -> Devices | None:
        if r not in kind.held or unit % DEVICE == 0:
            return None
        held = tuple(share // unit for share in kind.held[r])
        free = kind.free.get(r, 0)
        assert free is not None, "what is handed out by device is listed"
        size = DEVICE // unit
        # no more devices than there are pods for, and those that running shares are on
        return Devices(min((free // unit + sum(held)) // size, most + len(held)), size, held)

    def request(self, amounts: Resources) -> Amounts:
        """What one pod asks for, in units."""
        return tuple(max(amounts.amount(r), 0) // u for r, u in zip(self.resources, self.units, strict=True))

    def rooms(self, part: Part) -> tuple[Amounts, Amounts]:
        """The request of a part's pods, and how many of them one node of each kind holds alone."""
        request, constraints = self.request(part.group.pod_resource), part.group.constraints
        key = (constraints, request)
        if (rooms := self._rooms.get(key)) is None:
            rooms = self._rooms[key] = tuple(
                min(_fit(request, c), room_alone(request, d)) if kind.node.admits(constraints) else 0
                for kind, c, d in zip(self.kinds, self.capacity, self.devices, strict=True)
            )
        if part.within:
            if (inside := self._inside.get(part.within)) is None:
                inside = self._inside[part.within] = tuple(
                    all(tuple(k.node.labels.get(key) for key in keys) == values for keys, values in part.within)
                    for k in self.kinds
                )
            rooms = tuple(room if here else 0 for room, here in zip(rooms, inside, strict=True))
        return request, rooms

    def has_room(self, part: Part) -> bool:
        """Whether all nodes, with nothing else on them, hold the part."""
        _, rooms = self.rooms(part)
        return sum(room * len(kind.names) for room, kind in zip(rooms, self.kinds, strict=True)) >= part.count


@dataclass
class _Family:
    """Gangs that are alike; ``asks`` has what each of their ways takes, ``pieces`` each gang's parts of a way."""

    weight: int
    queue: str
    asks: dict[Pattern, Resources]
    members: list[str] = field(default_factory=list)
    pieces: dict[str, dict[Pattern, tuple[Piece, ...]]] = field(default_factory=dict)


Classes = dict[tuple[Amounts, Amounts], int]
"""Pod classes by the request, and by how many of them one node of each kind holds."""


def _families(
    cluster: Cluster,
    apps: Sequence[Application],
    space: _Space,
    hopeless: dict[str, str],
    apart: Callable[[Application], object],
) -> tuple[list[_Family], Classes, Counter[int]]:
    """Gangs that are alike, the classes of their pods, and the most pods of each class in all gangs."""
    domains = _all_domains(cluster, apps)
    classes: Classes = {}
    totals: Counter[int] = Counter()
    families: dict[object, _Family] = {}
    known: dict[object, tuple[dict[Pattern, tuple[Piece, ...]], dict[Pattern, Resources]]] = {}
    for app in apps:
        shape = (app.task_groups, app.topology, app.composites, app.min_members)
        if shape not in known:
            known[shape] = _patterns(ways(app, domains, space.has_room), space, classes)
        pieces, asks = known[shape]
        if not asks:
            hopeless[app.name] = why_no_way(app)
            continue
        key = (tuple(asks), tuple(asks.values()), app.weight, app.queue, apart(app))
        family = families.setdefault(key, _Family(app.weight, app.queue, asks))
        family.members.append(app.name)
        family.pieces[app.name] = pieces
        most: Counter[int] = Counter()
        for pattern in asks:
            most |= Counter(dict(pattern))
        totals.update(most)
    return list(families.values()), classes, totals


def _patterns(
    found: Sequence[Way], space: _Space, classes: Classes
) -> tuple[dict[Pattern, tuple[Piece, ...]], dict[Pattern, Resources]]:
    """What each way takes: the pods of each class, which group they are of, and the sum of the amounts."""
    pieces: dict[Pattern, tuple[Piece, ...]] = {}
    asks: dict[Pattern, Resources] = {}
    for way in found:
        parts = [Piece(p.group.name, classes.setdefault(space.rooms(p), len(classes)), p.count) for p in way]
        counts: Counter[int] = Counter()
        for part in parts:
            counts[part.pods] += part.count
        pattern = tuple(sorted(counts.items()))
        pieces.setdefault(pattern, tuple(parts))
        asks.setdefault(pattern, total(part.group.pod_resource * part.count for part in way))
    return pieces, dict(sorted(asks.items()))


def _node_classes(space: _Space, classes: Classes, totals: Counter[int]) -> tuple[NodeClass, ...]:
    same: dict[tuple[Amounts, Amounts, tuple[Devices | None, ...], int | None], list[str]] = {}
    for i, kind in enumerate(space.kinds):
        most_here = tuple(min(rooms[i], totals[t]) for (_, rooms), t in classes.items())
        if any(most_here):
            same.setdefault((space.capacity[i], most_here, space.devices[i], kind.price), []).extend(kind.names)
    return tuple(NodeClass(c, fits, tuple(sorted(names)), devices) for (c, fits, devices, _), names in same.items())


def _one_way_each(gangs: Sequence[GangClass]) -> Iterator[Limit]:
    """A gang is whole in one way: of the classes of one family, no more gangs than it has."""
    families: dict[int, list[int]] = {}
    for g, gang in enumerate(gangs):
        families.setdefault(gang.family, []).append(g)
    for several in families.values():
        if len(several) > 1:
            first = gangs[several[0]]
            yield Limit(f"{first.members[0]} and those like it: one way each", dict.fromkeys(several, 1), first.count)


def _all_domains(cluster: Cluster, apps: Sequence[Application]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """The domains that nodes are in, for the labels of every required constraint."""
    return {
        keys: sorted({tuple(n.labels[k] for k in keys) for n in cluster.nodes if all(k in n.labels for k in keys)})
        for keys in {keys for app in apps for keys in required_keys(app)}
    }


def _fit(request: Amounts, capacity: Amounts) -> int:
    """How many pods of ``request`` one node of ``capacity`` holds; a request always asks one of ``pods``."""
    return min(have // want for want, have in zip(request, capacity, strict=True) if want)

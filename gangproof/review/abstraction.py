"""From a user's cluster to an instance of the yunikorn spec, its seed edition, that can be explored to the end.

The spec counts units: every member of a gang takes one, nodes and quotas have so many. A cluster has amounts of several
resources. What is kept: which sets of the chosen gangs fit their common quota together, which gang is larger than the
quota, in which leaf queue each stands and how that is sorted, and, as nearly as the scale allows, how much the nodes
hold. Whatever else is lost is listed in ``dropped``, in words, for the reader of the review.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from gangproof.review.contests import Contest, contests
from gangproof.review.pictures import show_amount
from model.language import Machine
from model.verdict import typed
from reference.cluster import Cluster, SortPolicy
from specs.loading import build_spec
from specs.yunikorn import Edition, Queues
from specs.yunikorn.seed import App, Node, Policy

MOST_UNITS = 4
"""Units of the largest gang; three are needed for two gangs to starve each other by halves."""


@dataclass(frozen=True, slots=True)
class Abstraction:
    """An instance of the spec for one contest.

    ``title`` names the quota, ``covers`` says how many of the gangs that compete for it are here and ``gangs`` which,
    ``mapping`` pairs what stands in the cluster with what stands in the instance, ``dropped`` says what is left out.
    """

    title: str
    covers: str
    gangs: tuple[str, ...]
    machine: Machine
    command: str
    mapping: tuple[tuple[str, str], ...]
    dropped: tuple[str, ...]


def abstractions(cluster: Cluster, stuck: Collection[str] = ()) -> list[Abstraction]:
    """An instance for each contest of ``cluster``, the tightest first; ``stuck`` as in `contests`."""
    return [_abstract(cluster, contest) for contest in contests(cluster, stuck)]


def _abstract(cluster: Cluster, contest: Contest) -> Abstraction:
    resource = contest.resource
    asks = [a.placeholder_ask.amount(resource) for a in contest.gangs]
    sizes, quota, exact = _scale(asks, contest.limit)
    room = sum(max(0, cluster.free(n).amount(resource)) for n in cluster.nodes if n.schedulable)
    unit = Fraction(max(asks), max(sizes)) if max(asks) else Fraction(1)
    capacities = _capacities(int(room / unit), quota, len(cluster.nodes))
    policy = _policy(cluster, contest)
    queues = Queues.TWO_LEAVES if contest.hierarchy else Queues.ONE_LEAF
    apps, nodes = len(sizes), len(capacities)
    machine = build_spec(
        "yunikorn",
        {
            "edition": Edition.SEED,
            "apps": apps,
            "size": sizes if len(set(sizes)) > 1 else sizes[0],
            "nodes": nodes,
            "capacity": capacities if len(set(capacities)) > 1 else capacities[0],
            "quota": quota,
            "policy": policy,
            "queues": queues,
        },
    )
    machine.rename(App, _element_names(a.name for a in contest.gangs))
    machine.rename(Node, [f"nodes{i + 1}" for i in range(nodes)] if nodes > 1 else ["nodes"])
    mapping = [
        (f"gang {a.name}: {resource} {show_amount(resource, ask)} in {a.members} members, {a.queue}", f"size {size}")
        for a, ask, size in zip(contest.gangs, asks, sizes, strict=True)
    ]
    mapping.append((f"{contest.name}: {resource} {show_amount(resource, contest.limit)} for gangs", f"quota {quota}"))
    mapping.append(
        (
            f"{len(cluster.nodes)} nodes with {resource} {show_amount(resource, room)} free",
            f"capacity {_shown(capacities)}",
        )
    )
    mapping.append((f"sort policy {policy.value}", f"policy {policy.value}, queues {queues.value}"))
    return Abstraction(
        f"{contest.name}, {resource}",
        f"{len(contest.gangs)} of {contest.of} gangs",
        tuple(a.name for a in contest.gangs),
        machine,
        _command(machine),
        tuple(mapping),
        tuple(_dropped(cluster, contest, resource, unit, exact)),
    )


def _element_names(names: Iterable[str]) -> list[str]:
    """``names`` as a spec can print them: the characters of its notation become ``_``, and doubles get a number."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^\w.:@/+-]", "_", name) or "_"
        plain = "none_" if plain == "none" else plain  # which a spec prints for no element
        tried = itertools.chain([plain], (f"{plain}.{i}" for i in itertools.count(2)))
        found.append(next(t for t in tried if t not in found))
    return found


def _command(machine: Machine) -> str:
    """The edition and what is not its default, as one types it after ``gangproof check yunikorn``."""
    defaults = build_spec("yunikorn", {"edition": Edition.SEED}).parameters
    own = [f"{k}={typed(v)}" for k, v in machine.parameters.items() if v != defaults[k]]
    return " ".join([f"edition={Edition.SEED.value}", *own])


def _shown(values: tuple[int, ...]) -> str:
    return str(values[0]) if len(set(values)) == 1 else ",".join(map(str, values))


def _scale(asks: list[int], limit: int) -> tuple[tuple[int, ...], int, bool]:
    """Small sizes and a quota for which the same sets of gangs fit together; and whether all ratios are exact.

    Exact ratios are taken where few units allow them: rounding keeps which gangs fit, but not whether one still fits
    beside a part of another. Otherwise three units for the largest gang: with fewer, two gangs cannot starve each other
    by halves.
    """
    largest = max(max(asks), 1)
    rounded: list[tuple[tuple[int, ...], int, bool]] = []
    for most in (3, MOST_UNITS, 2, 1):
        sizes = tuple(max(1, -(-ask * most // largest)) for ask in asks)
        quota = _quota(asks, limit, sizes)
        if quota is not None:
            exact = all(Fraction(s, most) == Fraction(a, largest) for s, a in zip(sizes, asks, strict=True))
            if exact and Fraction(quota, most) == Fraction(limit, largest):
                return sizes, quota, True
            rounded.append((sizes, quota, False))
    if rounded:
        return rounded[0]
    sizes = tuple(max(1, -(-ask * 3 // largest)) for ask in asks)
    return sizes, max(1, limit * 3 // largest), False


def _quota(asks: list[int], limit: int, sizes: tuple[int, ...]) -> int | None:
    """A quota that lets the same sets of gangs through as ``limit`` does, as near to scale as that allows; or None."""
    sets = [s for n in range(1, len(asks) + 1) for s in itertools.combinations(range(len(asks)), n)]
    fitting = [sum(sizes[i] for i in s) for s in sets if sum(asks[i] for i in s) <= limit]
    others = [sum(sizes[i] for i in s) for s in sets if sum(asks[i] for i in s) > limit]
    least = max([1, *fitting])
    most = min(others) - 1 if others else max(sum(sizes), least)
    if most < least:
        return None
    scaled = limit * max(sizes) // max(max(asks), 1)
    return min(max(scaled, least), most)


def _capacities(room: int, quota: int, nodes: int) -> tuple[int, ...]:
    """Two nodes (one where the cluster has one) that hold ``room`` units together, or the quota where there is more
    room."""
    units = max(1, min(room, quota))
    if nodes == 1 or units == 1:
        return (units,)
    return (-(-units // 2),) * 2 if room >= quota else (-(-units // 2), units // 2)


def _policy(cluster: Cluster, contest: Contest) -> Policy:
    queue = cluster.queues.find(contest.gangs[0].queue)
    assert queue is not None
    return {
        SortPolicy.FIFO: Policy.FIFO,
        SortPolicy.STATE_AWARE: Policy.STATEAWARE,
        SortPolicy.FAIR: Policy.FAIR,
    }[queue.sort_policy]


def _dropped(cluster: Cluster, contest: Contest, resource: str, unit: Fraction, exact: bool) -> Iterator[str]:
    yield from contest.notes
    others = sorted({r for a in contest.gangs for r in a.placeholder_ask} - {resource})
    if others:
        yield f"resources {', '.join(others)}: {resource} is the tightest against the quota and is counted"
    if exact:
        yield f"scale: one unit is {resource} {_amount(resource, unit)}; all ratios are exact"
    else:
        yield (
            f"scale: one unit is about {resource} {_amount(resource, unit)}; sizes are rounded so that the same "
            "sets of gangs fit the quota together"
        )
    if any(len(a.task_groups) > 1 for a in contest.gangs):
        yield "task groups: each gang is one group of equal members"
    yield f"node boundaries: {len(cluster.nodes)} nodes become at most two that hold as much together, up to the quota"
    if any(n.taints or n.labels for n in cluster.nodes):
        yield "labels, selectors, taints: any member may run on any node of the instance"
    if any(q.max_applications is not None for q in cluster.queues):
        yield "maxapplications"
    yield "guaranteed amounts, priorities, preemption: the design document has none of them"


def _amount(resource: str, unit: Fraction) -> str:
    return show_amount(resource, int(unit)) if unit.denominator == 1 else show_amount(resource, round(unit))

"""From a user's cluster to an instance of the yunikorn spec that can be explored to the end.

The spec counts units: every member of a gang takes one, nodes and quotas have so many. A cluster has amounts of several
resources. What is kept: which sets of the chosen gangs fit their common quota together, which gang is larger than the
quota, in which leaf queue each stands and how that is sorted, and, as nearly as the scale allows, how much the nodes
hold. Whatever else is lost is listed in ``dropped``, in words, for the reader of the review.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from gangproof.review.pictures import show_amount
from gangproof.verdict_text import typed
from model.language import Machine
from reference.cluster import PODS, Application, Cluster, Queue, Resources, SortPolicy, total
from specs.loading import build_spec
from specs.yunikorn import App, Node, Policy, Queues

MOST_GANGS = 3
"""Four gangs of size three take minutes; three take seconds."""
MOST_UNITS = 4
"""Units of the largest gang; three are needed for two gangs to starve each other by halves."""


@dataclass(frozen=True, slots=True)
class Abstraction:
    """An instance of the spec: how it came about (``mapping``: here and there), and what it leaves out."""

    title: str
    machine: Machine
    command: str
    mapping: tuple[tuple[str, str], ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Scope:
    """Gangs under one quota. ``limit`` may be the cluster itself, where no queue has a maximum."""

    title: str
    gangs: tuple[Application, ...]
    limit: Resources
    limit_name: str
    hierarchy: bool
    notes: tuple[str, ...]


def abstractions(cluster: Cluster) -> list[Abstraction]:
    """One instance for each part of the queue tree whose gangs share a quota, in file order."""
    return [_abstract(cluster, scope) for scope in _scopes(cluster)]


def _scopes(cluster: Cluster) -> Iterator[_Scope]:
    ordered = sorted(cluster.applications, key=lambda a: (a.submitted, a.name))
    for top in cluster.queues.root.children or (cluster.queues.root,):
        below = [a for a in ordered if top.name in {q.name for q in cluster.queues.path(a.queue)}]
        if below:
            yield _scope(cluster, top, below)


def _scope(cluster: Cluster, top: Queue, below: list[Application]) -> _Scope:
    notes: list[str] = []
    leaves = list(dict.fromkeys(a.queue for a in below))
    common = _common_quota(cluster, top, leaves)
    if len(leaves) > 1 and common is not None:
        demand = {leaf: sum(a.members for a in below if a.queue == leaf) for leaf in leaves}
        kept = sorted(leaves, key=lambda leaf: (-demand[leaf], leaves.index(leaf)))[:2]
        notes += [f"leaf queue {leaf} and its gangs" for leaf in leaves if leaf not in kept]
        limit, limit_name, hierarchy = common.maximum, common.name, True
    else:
        busiest = max(leaves, key=lambda leaf: (sum(a.members for a in below if a.queue == leaf), -leaves.index(leaf)))
        kept = [busiest]
        notes += [f"leaf queue {leaf} and its gangs: no quota above both" for leaf in leaves if leaf != busiest]
        limit, limit_name, hierarchy = cluster.queues.effective_maximum(busiest), busiest, False
    usage = cluster.queue_usage(limit_name)
    if not usage.is_zero():
        notes.append(f"the pods that already run in {limit_name}: their use is taken off its quota")
        limit = Resources({name: max(0, amount - usage.amount(name)) for name, amount in limit.items()})
    if not limit:
        limit = total(cluster.free(n) for n in cluster.nodes)
        limit_name = "the nodes together, as no queue has a maximum"
    gangs = (
        _take_turns([[a for a in below if a.queue == leaf] for leaf in kept]) if hierarchy else below_of(below, kept)
    )
    left_out = [a.name for a in below if a.queue in kept and a not in gangs]
    if left_out:
        why = f"at most {MOST_GANGS} gangs are modelled" + (", taken from both leaves in turn" if hierarchy else "")
        notes.append(f"gangs {', '.join(left_out)}: {why}")
    return _Scope(
        top.name, tuple(gangs), limit, limit_name, hierarchy and len({a.queue for a in gangs}) > 1, tuple(notes)
    )


def below_of(below: list[Application], kept: list[str]) -> list[Application]:
    """The first gangs of the one leaf that is kept, in order of submission."""
    return [a for a in below if a.queue in kept][:MOST_GANGS]


def _common_quota(cluster: Cluster, top: Queue, leaves: list[str]) -> Queue | None:
    """The lowest queue with a maximum above all of ``leaves``, at or below ``top``."""
    paths = [cluster.queues.path(leaf) for leaf in leaves]
    shared = [q for q in paths[0] if all(q in p for p in paths) and q.name not in leaves]
    within = [q for q in shared if q.maximum and (q.name == top.name or q.name.startswith(top.name + "."))]
    return within[-1] if within else None


def _take_turns(queues: list[list[Application]]) -> list[Application]:
    """First of the first leaf, first of the second, second of the first, ...: the spec's applications take turns
    too."""
    turns: list[Application] = []
    for i in range(MOST_GANGS):
        leaf, place = i % len(queues), i // len(queues)
        if place >= len(queues[leaf]):
            break
        turns.append(queues[leaf][place])
    return turns


def _abstract(cluster: Cluster, scope: _Scope) -> Abstraction:
    resource = _tightest(scope)
    asks = [a.placeholder_ask.amount(resource) for a in scope.gangs]
    sizes, quota, exact = _scale(asks, scope.limit[resource])
    room = sum(max(0, cluster.free(n).amount(resource)) for n in cluster.nodes if n.schedulable)
    unit = Fraction(max(asks), max(sizes)) if max(asks) else Fraction(1)
    capacities = _capacities(int(room / unit), quota, len(cluster.nodes))
    policy = _policy(cluster, scope)
    queues = Queues.TWO_LEAVES if scope.hierarchy else Queues.ONE_LEAF
    apps, nodes = len(sizes), len(capacities)
    machine = build_spec(
        "yunikorn",
        {
            "apps": apps,
            "size": sizes if len(set(sizes)) > 1 else sizes[0],
            "nodes": nodes,
            "capacity": capacities if len(set(capacities)) > 1 else capacities[0],
            "quota": quota,
            "policy": policy,
            "queues": queues,
        },
    )
    machine.rename(App, _element_names(a.name for a in scope.gangs))
    machine.rename(Node, [f"nodes{i + 1}" for i in range(nodes)] if nodes > 1 else ["nodes"])
    mapping = [
        (f"gang {a.name}: {resource} {show_amount(resource, ask)} in {a.members} members, {a.queue}", f"size {size}")
        for a, ask, size in zip(scope.gangs, asks, sizes, strict=True)
    ]
    mapping.append((f"{scope.limit_name}: {resource} {show_amount(resource, scope.limit[resource])}", f"quota {quota}"))
    mapping.append(
        (
            f"{len(cluster.nodes)} nodes with {resource} {show_amount(resource, room)} free",
            f"capacity {_shown(capacities)}",
        )
    )
    mapping.append((f"sort policy {policy.value}", f"policy {policy.value}, queues {queues.value}"))
    return Abstraction(
        scope.title,
        machine,
        _command(machine),
        tuple(mapping),
        tuple(_dropped(cluster, scope, resource, unit, exact)),
    )


def _element_names(names: Iterable[str]) -> list[str]:
    """``names`` as a spec can print them: the characters of its notation become ``_``, and doubles get a number."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^\w.:@/+-]", "_", name) or "_"
        tried = itertools.chain([plain], (f"{plain}.{i}" for i in itertools.count(2)))
        found.append(next(t for t in tried if t not in found))
    return found


def _command(machine: Machine) -> str:
    """The parameters that are not the spec's defaults, as one types them after ``gangproof check yunikorn``."""
    defaults = build_spec("yunikorn", {}).parameters
    return " ".join(f"{k}={typed(v)}" for k, v in machine.parameters.items() if v != defaults[k])


def _shown(values: tuple[int, ...]) -> str:
    return str(values[0]) if len(set(values)) == 1 else ",".join(map(str, values))


def _tightest(scope: _Scope) -> str:
    """The limited resource that the gangs ask most of, measured against the limit; of equals the first by name."""

    def pressure(resource: str) -> Fraction:
        asked = sum(a.placeholder_ask.amount(resource) for a in scope.gangs)
        return Fraction(asked, max(1, scope.limit[resource]))

    asked = [r for r in scope.limit if any(a.placeholder_ask.amount(r) > 0 for a in scope.gangs)]
    preferred = [r for r in asked if r != PODS] or asked
    return max(preferred or list(scope.limit), key=lambda r: (pressure(r), [-ord(c) for c in r]))


def _scale(asks: list[int], limit: int) -> tuple[tuple[int, ...], int, bool]:
    """Small sizes and a quota for which the same sets of gangs fit together; and whether all ratios are exact.

    Three units for the largest gang are tried first: with fewer, two gangs cannot starve each other by halves.
    """
    largest = max(max(asks), 1)
    for most in (3, 4, 2, 1):
        sizes = tuple(max(1, -(-ask * most // largest)) for ask in asks)
        quota = _quota(asks, limit, sizes)
        if quota is not None and most <= MOST_UNITS:
            exact = all(Fraction(s, most) == Fraction(a, largest) for s, a in zip(sizes, asks, strict=True))
            return sizes, quota, exact and Fraction(quota, most) == Fraction(limit, largest)
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


def _policy(cluster: Cluster, scope: _Scope) -> Policy:
    queue = cluster.queues.find(scope.gangs[0].queue)
    assert queue is not None
    return {
        SortPolicy.FIFO: Policy.FIFO,
        SortPolicy.STATE_AWARE: Policy.STATEAWARE,
        SortPolicy.FAIR: Policy.FAIR,
    }[queue.sort_policy]


def _dropped(cluster: Cluster, scope: _Scope, resource: str, unit: Fraction, exact: bool) -> Iterator[str]:
    yield from scope.notes
    others = sorted({r for a in scope.gangs for r in a.placeholder_ask} - {resource})
    if others:
        yield f"resources {', '.join(others)}: {resource} is the tightest against the quota and is counted"
    if exact:
        yield f"scale: one unit is {resource} {_amount(resource, unit)}; all ratios are exact"
    else:
        yield (
            f"scale: one unit is about {resource} {_amount(resource, unit)}; sizes are rounded so that the same "
            "sets of gangs fit the quota together"
        )
    if any(len(a.task_groups) > 1 for a in scope.gangs):
        yield "task groups: each gang is one group of equal members"
    yield f"node boundaries: {len(cluster.nodes)} nodes become at most two that hold as much together, up to the quota"
    if any(n.taints or n.labels for n in cluster.nodes):
        yield "labels, selectors, taints: any member may run on any node of the instance"
    if any(q.max_applications is not None for q in cluster.queues):
        yield "maxapplications"
    yield "guaranteed amounts, priorities, preemption: the design document has none of them"


def _amount(resource: str, unit: Fraction) -> str:
    return show_amount(resource, int(unit)) if unit.denominator == 1 else show_amount(resource, round(unit))

"""From a cluster to a counted problem and back: the reduction that the whole solver stands on.

``reduce_cluster`` groups what is identical: pods with the same request that the same nodes admit, gangs with the same
pods, weight and queue, nodes with the same free capacity that admit the same pods. The solver then counts class
members and never names them, so no two names can be exchanged to give the same answer again. ``Problem.invert`` gives
names back, in one fixed order. ``Problem.check`` is the reduction's own soundness check: every answer passes it
before it is inverted.

The shape (apply, then invert) follows CVXPY's reductions. All arithmetic is on integers; each resource is divided by
the greatest common divisor of what the pods ask of it, and capacities are rounded down to that unit, which loses
nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reference.cluster import Application, Assignment, Cluster, Constraints, Placement, Queue
from solver_placement.hopeless import find_hopeless, free_of

Pattern = tuple[tuple[int, int], ...]
"""What one node holds: (pod class, count), by pod class, counts at least 1. ``()`` is an empty node."""

LARGEST = 2**53
"""Above this, sums are refused: up to here integers pass through every solver interface unchanged."""


class ProblemTooLarge(ValueError):
    """Amounts or weights whose sums do not fit the solver's integers."""


class Unsound(AssertionError):
    """An answer that breaks the rules of its own problem: a fault in the solver, never in the input."""


@dataclass(frozen=True, slots=True)
class PodClass:
    """Identical pods: ``request`` per resource of the problem, in scaled units; ``total`` pods in all gangs."""

    request: tuple[int, ...]
    total: int


@dataclass(frozen=True, slots=True)
class GangClass:
    """Identical gangs: ``pods`` as (pod class, count) by class; ``members`` in order of submission, then name."""

    pods: Pattern
    weight: int
    queue: str
    members: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many gangs are in the class."""
        return len(self.members)


@dataclass(frozen=True, slots=True)
class NodeClass:
    """Identical nodes: ``free`` per resource; ``fits[t]`` is the most pods of class t that one of them holds alone."""

    free: tuple[int, ...]
    fits: tuple[int, ...]
    members: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many nodes are in the class."""
        return len(self.members)


@dataclass(frozen=True, slots=True)
class Limit:
    """A queue's row: the sum over gang classes of ``uses[g]`` x admitted gangs of g is at most ``limit``."""

    name: str
    uses: Mapping[int, int]
    limit: int


@dataclass(frozen=True, slots=True)
class Packing:
    """A class-level answer: ``gangs[g]`` admitted of gang class g; ``nodes[c]`` the patterns of node class c in use."""

    gangs: tuple[int, ...]
    nodes: tuple[tuple[Pattern, ...], ...]

    def nodes_used(self) -> int:
        """How many nodes hold a pod."""
        return sum(1 for patterns in self.nodes for pattern in patterns if pattern)


@dataclass(frozen=True, slots=True)
class Problem:
    """The counted problem. ``hopeless`` gangs can never be admitted, with the reason; they are in no gang class."""

    resources: tuple[str, ...]
    units: tuple[int, ...]
    pods: tuple[PodClass, ...]
    gangs: tuple[GangClass, ...]
    nodes: tuple[NodeClass, ...]
    limits: tuple[Limit, ...]
    hopeless: Mapping[str, str]
    _applications: Mapping[str, Application] = field(repr=False)
    _class_of: Mapping[tuple[str, str], int] = field(repr=False)

    def weight(self, packing: Packing) -> int:
        """The weight of the gangs that ``packing`` admits."""
        return sum(gang.weight * n for gang, n in zip(self.gangs, packing.gangs, strict=True))

    def demand(self, gangs: Sequence[int]) -> list[int]:
        """Pods per pod class of ``gangs[g]`` gangs of each class."""
        need = [0] * len(self.pods)
        for gang, n in zip(self.gangs, gangs, strict=True):
            for t, k in gang.pods:
                need[t] += k * n
        return need

    def empty(self) -> Packing:
        """The answer that admits nothing; always feasible."""
        return Packing((0,) * len(self.gangs), ((),) * len(self.nodes))

    def trim(self, packing: Packing) -> Packing:
        """``packing`` without pods beyond what its gangs need; surplus leaves the emptiest patterns first."""
        have: Counter[int] = Counter()
        for patterns in packing.nodes:
            for pattern in patterns:
                have.update(dict(pattern))
        need = self.demand(packing.gangs)
        surplus = {t: n - need[t] for t, n in have.items()}
        slots = [(sum(k for _, k in p), c, i) for c, ps in enumerate(packing.nodes) for i, p in enumerate(ps)]
        trimmed = [[dict(pattern) for pattern in patterns] for patterns in packing.nodes]
        for _, c, i in sorted(slots):
            for t, k in list(trimmed[c][i].items()):
                drop = min(k, max(surplus[t], 0))
                surplus[t] -= drop
                trimmed[c][i][t] = k - drop
        return Packing(packing.gangs, tuple(tuple(_patterns(each)) for each in trimmed))

    def check(self, packing: Packing) -> None:
        """Raise Unsound unless ``packing`` keeps every rule of the problem and holds exactly its gangs' pods."""

        def hold(rule: bool, message: str) -> None:
            if not rule:
                raise Unsound(message)

        for gang, n in zip(self.gangs, packing.gangs, strict=True):
            hold(0 <= n <= gang.count, f"{n} of {gang.count} gangs admitted")
        have = [0] * len(self.pods)
        for c, (node, patterns) in enumerate(zip(self.nodes, packing.nodes, strict=True)):
            hold(len(patterns) <= node.count, f"node class {c}: {len(patterns)} of {node.count} nodes used")
            for pattern in patterns:
                for t, k in pattern:
                    hold(0 < k <= node.fits[t], f"node class {c}: {k} pods of class {t}")
                    have[t] += k
                for r, free in enumerate(node.free):
                    used = sum(self.pods[t].request[r] * k for t, k in pattern)
                    hold(used <= free, f"node class {c}: {self.resources[r]} {used} of {free}")
        hold(have == self.demand(packing.gangs), "the pods placed are not the pods of the admitted gangs")
        for row in self.limits:
            used = sum(row.uses.get(g, 0) * n for g, n in enumerate(packing.gangs))
            hold(used <= row.limit, f"{row.name}: {used} of {row.limit}")

    def invert(self, packing: Packing, left_out: str) -> Placement:
        """Names for ``packing``: earliest gangs of each class, nodes by name, fullest patterns first.

        ``left_out`` is the pending reason of gangs that could be admitted but are not.
        """
        self.check(packing)
        waiting: list[list[tuple[str, str, int]]] = [[] for _ in self.pods]
        admitted: list[str] = []
        for gang, n in zip(self.gangs, packing.gangs, strict=True):
            admitted += gang.members[:n]
        order = sorted(admitted, key=lambda name: (self._applications[name].submitted, name))
        for name in reversed(order):
            for group in sorted(self._applications[name].task_groups, key=lambda g: g.name, reverse=True):
                waiting[self._class_of[name, group.name]].append((name, group.name, group.min_member))
        counts: Counter[tuple[str, str, str]] = Counter()
        for node_class, patterns in zip(self.nodes, packing.nodes, strict=True):
            fullest = sorted(patterns, key=lambda p: (-sum(k for _, k in p), p))
            for node, pattern in zip(node_class.members, fullest, strict=False):
                for t, k in pattern:
                    while k:
                        app, group_name, left = waiting[t].pop()
                        taken = min(k, left)
                        counts[app, group_name, node] += taken
                        k -= taken
                        if left > taken:
                            waiting[t].append((app, group_name, left - taken))
        chosen = set(admitted)
        pending = {name: self.hopeless.get(name, left_out) for name in sorted(self._applications) if name not in chosen}
        assignments = tuple(Assignment(*key, n) for key, n in sorted(counts.items()))
        return Placement(assignments, tuple(sorted(admitted)), pending)


def _patterns(slots: Iterable[Mapping[int, int]]) -> list[Pattern]:
    """Sorted patterns of the slots that hold something."""
    patterns = (tuple(sorted((t, k) for t, k in slot.items() if k)) for slot in slots)
    return sorted(p for p in patterns if p)


def packing_of(gangs: Iterable[int], slots: Iterable[Iterable[Mapping[int, int]]]) -> Packing:
    """A ``Packing`` from counts per slot (pod class -> count) for each node class; empty slots are dropped."""
    return Packing(tuple(gangs), tuple(tuple(_patterns(each)) for each in slots))


def reduce_cluster(cluster: Cluster) -> Problem:
    """Group ``cluster`` into classes.

    A node that does not list ``pods`` takes any number of pods; other types that it does not list are not there. Free
    capacity and queue head room below 0 count as 0. Raises ProblemTooLarge where sums leave the solver's integers.
    """
    nodes = sorted(cluster.nodes, key=lambda n: n.name)
    used_on: dict[str, Counter[str]] = {n.name: Counter() for n in nodes}
    for pod in cluster.running:
        used_on[pod.node].update(pod.resources)
    free = [free_of(node, used_on[node.name]) for node in nodes]
    hopeless = find_hopeless(cluster, nodes, free)
    apps = sorted((a for a in cluster.applications if a.name not in hopeless), key=lambda a: (a.submitted, a.name))
    groups = [(a, g) for a in apps for g in a.task_groups]

    asked: dict[str, list[tuple[int, int]]] = {}
    for _, group in groups:
        for name, amount in group.pod_resource.items():
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
            top if (have := f.get(r, 0)) is None else min(have // u, top)
            for r, u, top in zip(resources, units, most, strict=True)
        )
        for f in free
    ]
    class_of: dict[tuple[str, str], int] = {}
    keys: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    totals: list[int] = []
    rooms_of: dict[tuple[Constraints, tuple[int, ...]], tuple[int, ...]] = {}
    for app, group in groups:
        request = tuple(max(group.pod_resource.amount(r), 0) // u for r, u in zip(resources, units, strict=True))
        if (room := rooms_of.get((group.constraints, request))) is None:
            fits = ((n.admits(group.constraints), _fit(request, c)) for n, c in zip(nodes, capacity, strict=True))
            room = rooms_of[group.constraints, request] = tuple(fit if admitted else 0 for admitted, fit in fits)
        t = keys.setdefault((request, room), len(keys))
        class_of[app.name, group.name] = t
        if t == len(totals):
            totals.append(0)
        totals[t] += group.min_member
    pods = tuple(PodClass(request, n) for (request, _), n in zip(keys, totals, strict=True))

    rooms = [room for _, room in keys]
    same: dict[tuple[tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for i, node in enumerate(nodes):
        most_here = tuple(min(room[i], total) for room, total in zip(rooms, totals, strict=True))
        if any(most_here):
            same.setdefault((capacity[i], most_here), []).append(node.name)
    node_classes = tuple(NodeClass(c, fits, tuple(names)) for (c, fits), names in same.items())

    alike: dict[tuple[Pattern, int, str], list[str]] = {}
    for app in apps:
        content: Counter[int] = Counter()
        for group in app.task_groups:
            content[class_of[app.name, group.name]] += group.min_member
        alike.setdefault((tuple(sorted(content.items())), app.weight, app.queue), []).append(app.name)
    gangs = tuple(GangClass(p, w, q, tuple(names)) for (p, w, q), names in alike.items())
    if sum(abs(g.weight) * g.count for g in gangs) > LARGEST:
        raise ProblemTooLarge(f"the weights of all gangs sum to more than {LARGEST}")
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
        wanted = {f"{queue.name}: {r}": ({g: asks[g].amount(r) for g in below}, m - usage.amount(r))
                  for r, m in queue.maximum.items() if usage is not None}
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

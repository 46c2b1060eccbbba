"""The counted problem that the solver works on, and the way back to names.

Identical pods, gangs and nodes are classes; the solver counts class members and never names them, so no two names can
be exchanged to give the same answer again. ``reduction`` makes a problem from a cluster, ``Problem.invert`` gives
names back, in one fixed order, and ``Problem.check`` is the reduction's own soundness check: every answer passes it
before it is inverted. The shape (apply, then invert) follows CVXPY's reductions. All arithmetic is on integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reference.cluster import Application, Assignment, Placement
from solver_placement.arrange import Devices, arrange

Pattern = tuple[tuple[int, int], ...]
"""What one node holds: (pod class, count), by pod class, counts at least 1. ``()`` is an empty node."""

LARGEST = 2**53
"""Above this, sums are refused: up to here integers pass through every solver interface unchanged."""

LARGEST_WEIGHT = 2**40
"""Above this, the sum of all weights is refused: bounds on it pass through floats, which must tell neighbours apart."""


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
    """One way of identical gangs: ``pods`` as (pod class, count); ``members`` in order of submission, then name.

    The classes of one ``family`` are ways of the same gangs: each of the members is in one of them at most, which is a
    row of its own among the problem's limits.
    """

    pods: Pattern
    weight: int
    queue: str
    members: tuple[str, ...]
    family: int

    @property
    def count(self) -> int:
        """How many gangs are in the class."""
        return len(self.members)


@dataclass(frozen=True, slots=True)
class Piece:
    """``count`` pods of a gang's task group ``group``, which are of class ``pods``."""

    group: str
    pods: int
    count: int


@dataclass(frozen=True, slots=True)
class NodeClass:
    """Identical nodes: ``free`` per resource; ``fits[t]`` is the most pods of class t that one of them holds alone.

    ``devices`` are those of each resource that is handed out by device and asked for in shares, None for the others.
    """

    free: tuple[int, ...]
    fits: tuple[int, ...]
    members: tuple[str, ...]
    devices: tuple[Devices | None, ...]

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
    """The counted problem. ``hopeless`` gangs can never be admitted, with the reason; they are in no gang class.

    ``looser`` is the same without topology, where there is one: far smaller, and a bound on it is one on this too.
    """

    resources: tuple[str, ...]
    units: tuple[int, ...]
    pods: tuple[PodClass, ...]
    gangs: tuple[GangClass, ...]
    nodes: tuple[NodeClass, ...]
    limits: tuple[Limit, ...]
    hopeless: Mapping[str, str]
    _applications: Mapping[str, Application] = field(repr=False)
    _pieces: Mapping[str, Mapping[Pattern, tuple[Piece, ...]]] = field(repr=False)
    looser: Problem | None = None

    def weight(self, packing: Packing) -> int:
        """The weight of the gangs that ``packing`` admits."""
        return sum(gang.weight * n for gang, n in zip(self.gangs, packing.gangs, strict=True))

    @property
    def everything(self) -> int:
        """The weight of all gangs in classes: no packing has more."""
        return sum({gang.family: gang.weight * gang.count for gang in self.gangs}.values())

    def demand(self, gangs: Sequence[int]) -> list[int]:
        """Pods per pod class of ``gangs[g]`` gangs of each class."""
        need = [0] * len(self.pods)
        for gang, n in zip(self.gangs, gangs, strict=True):
            for t, k in gang.pods:
                need[t] += k * n
        return need

    def split(self, pattern: Iterable[tuple[int, int]], r: int, size: int) -> tuple[list[tuple[int, int]], int]:
        """Of resource ``r``, in devices of ``size``: a (pod class, share) for each sharing pod, and whole devices."""
        asked = [(t, k, self.pods[t].request[r]) for t, k in pattern]
        shares = [(t, a) for t, k, a in asked for _ in range(k) if 0 < a < size]
        return shares, sum(k * (a // size) for _, k, a in asked if a >= size)

    def arranged(self, node: NodeClass, pattern: Iterable[tuple[int, int]]) -> bool:
        """Whether the devices of ``node`` can be arranged for ``pattern``, which it fits by sums. Raises GaveUp."""
        for r, devices in enumerate(node.devices):
            if devices is not None:
                shares, whole = self.split(pattern, r, devices.size)
                amounts = (*devices.held, *(a for _, a in shares))
                if arrange(amounts, devices.count - whole, devices.size) is None:
                    return False
        return True

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
                hold(self.arranged(node, pattern), f"node class {c}: {pattern} cannot be arranged on the devices")
        hold(have == self.demand(packing.gangs), "the pods placed are not the pods of the admitted gangs")
        for row in self.limits:
            used = sum(row.uses.get(g, 0) * n for g, n in enumerate(packing.gangs))
            hold(used <= row.limit, f"{row.name}: {used} of {row.limit}")

    def pack(self, placement: Placement) -> Packing:
        """The counts of ``placement``, which must be good.

        Gangs that are in no class (worth nothing) are left out, and so are pods beyond those that make a gang whole.
        """
        classes = {(g.family, g.pods): i for i, g in enumerate(self.gangs)}
        family_of = {name: g.family for g in self.gangs for name in g.members}
        node_of = {name: c for c, node in enumerate(self.nodes) for name in node.members}
        placed: dict[str, dict[str, Counter[str]]] = {}
        for a in placement.assignments:
            placed.setdefault(a.application, {}).setdefault(a.task_group, Counter())[a.node] += a.count
        gangs = [0] * len(self.gangs)
        held: dict[str, Counter[int]] = {}
        for name in placement.admitted:
            if name not in family_of:
                continue
            there = placed.get(name, {})
            pattern = next(p for p, parts in self._pieces[name].items() if self._is_way(parts, there, node_of))
            gangs[classes[family_of[name], pattern]] += 1
            for piece in self._pieces[name][pattern]:
                left = piece.count
                for node, count in sorted(there[piece.group].items(), key=lambda item: (-item[1], item[0])):
                    taken = min(left, count)
                    left -= taken
                    held.setdefault(node, Counter())[piece.pods] += taken
        slots: list[list[Counter[int]]] = [[] for _ in self.nodes]
        for node, counts in held.items():
            if node in node_of:
                slots[node_of[node]].append(counts)
        packing = packing_of(gangs, slots)
        self.check(packing)
        return packing

    def _is_way(
        self, parts: tuple[Piece, ...], there: Mapping[str, Mapping[str, int]], node_of: Mapping[str, int]
    ) -> bool:
        """Whether pods that are ``there`` (per group and node) make a gang whole by ``parts``."""
        for piece in parts:
            nodes = there.get(piece.group, {})
            fitting = all(name in node_of and self.nodes[node_of[name]].fits[piece.pods] for name in nodes)
            if not fitting or sum(nodes.values()) < piece.count:
                return False
        return True

    def invert(self, packing: Packing, left_out: str) -> Placement:
        """Names for ``packing``: earliest gangs of each class, nodes by name, fullest patterns first.

        ``left_out`` is the pending reason of gangs that could be admitted but are not.
        """
        self.check(packing)
        waiting: list[list[tuple[str, str, int]]] = [[] for _ in self.pods]
        way_of: dict[str, Pattern] = {}
        used: Counter[int] = Counter()
        for gang, n in zip(self.gangs, packing.gangs, strict=True):
            first = used[gang.family]
            way_of |= dict.fromkeys(gang.members[first : first + n], gang.pods)
            used[gang.family] += n
        order = sorted(way_of, key=lambda name: (self._applications[name].submitted, name))
        for name in reversed(order):
            for piece in sorted(self._pieces[name][way_of[name]], key=lambda p: p.group, reverse=True):
                waiting[piece.pods].append((name, piece.group, piece.count))
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
        pending = {name: self.hopeless.get(name, left_out) for name in sorted(self._applications) if name not in way_of}
        assignments = tuple(Assignment(*key, n) for key, n in sorted(counts.items()))
        return Placement(assignments, tuple(sorted(way_of)), pending)


def _patterns(slots: Iterable[Mapping[int, int]]) -> list[Pattern]:
    """Sorted patterns of the slots that hold something."""
    patterns = (tuple(sorted((t, k) for t, k in slot.items() if k)) for slot in slots)
    return sorted(p for p in patterns if p)


def packing_of(gangs: Iterable[int], slots: Iterable[Iterable[Mapping[int, int]]]) -> Packing:
    """A ``Packing`` from counts per slot (pod class -> count) for each node class; empty slots are dropped."""
    return Packing(tuple(gangs), tuple(tuple(_patterns(each)) for each in slots))


def better(problem: Problem, one: Packing, two: Packing) -> Packing:
    """The better of two packings; the first of equals, so that a search keeps moving."""
    first, second = ((problem.weight(p), -p.nodes_used()) for p in (one, two))
    return one if first >= second else two

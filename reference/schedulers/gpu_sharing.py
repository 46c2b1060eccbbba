"""Heuristics that see the devices of a node: FGD ("Beware of Fragmentation", ATC 2023) and those it is compared with.

A pod takes whole GPUs, and at most one part of a GPU, from single devices; so it is placed more strictly than an
amount of GPU for a whole node would have it. Of the devices that can give a part, the one with the least room gives it,
but for FGD, which looks at each, and random.

Rules, of all nodes with room the one with the least of:

- fgd: what the fragmentation of the node grows by (``reference.simulation.fragmentation``: the GPU that the pods of the
  workload cannot use there, weighted by how many pods are such);
- best-fit: what is left of the node, as a sum over types of shares of the largest node;
- dot-product: the sum over types of (the pod's share of the largest node) x (the free share of the largest node), the
  least as in FGD's paper; as a heuristic of bin packing (``first-fit`` and its like) dot-product takes the most;
- random: any, and any of its devices, by a seed.

Ties go to the first node. Nodes that look alike are judged once. Shares are whole millionths, which order nodes only.
"""

from __future__ import annotations

import enum
import heapq
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reference.cluster import PODS, Application, Assignment, Cluster, Constraints, Node, Placement, Resources
from reference.schedulers.yunikorn.queues import Queues
from reference.simulation.fragmentation import DEVICE, Devices, PodClass, gpu_resource, pod_classes, unusable

MILLION = 1_000_000


class GpuRule(enum.Enum):
    """Which of the nodes with room takes a pod."""

    FGD = "fgd"
    BEST_FIT = "gpu-best-fit"
    DOT_PRODUCT = "gpu-dot-product"
    RANDOM = "gpu-random"


@dataclass(frozen=True, slots=True)
class Ask:
    """What a pod takes: of every type but GPU, and thousandths of GPU."""

    others: tuple[int, ...]
    gpu: int
    constraints: Constraints


@dataclass(frozen=True, slots=True)
class Look:
    """Nodes that look alike: their kind (by number), what is free of each type but GPU, each device's free part."""

    kind: int
    free: tuple[int, ...]
    devices: tuple[int, ...]


class Fleet:
    """All nodes of a cluster beside its running pods, and where a pod goes by a rule."""

    def __init__(self, cluster: Cluster, classes: Iterable[PodClass], rule: GpuRule, seed: int = 0) -> None:
        self.rule, self.chance = rule, random.Random(seed)
        self.gpu = gpu_resource(cluster.nodes) or "gpu"
        names = {n for node in cluster.nodes for n in node.capacity} | {n for c in classes for n in c.request}
        self.types = tuple(sorted(names - {self.gpu}))
        self.nodes = cluster.nodes
        self.classes = [(self.ask(c.request, c.constraints), c.count) for c in classes]
        free = cluster.free_by_node()
        running: dict[str, list[int]] = {}
        for pod in cluster.running:
            running.setdefault(pod.node, []).append(pod.resources.amount(self.gpu))
        self.kinds: list[Node] = []
        numbers: dict[object, int] = {}
        self.look_of: list[Look] = []
        self.members: dict[Look, list[int]] = {}
        for n, node in enumerate(cluster.nodes):
            traits = (tuple(sorted(node.labels.items())), node.taints, node.schedulable)
            kind = numbers.setdefault(traits, len(numbers))
            if kind == len(self.kinds):
                self.kinds.append(node)
            devices = Devices(node.available.amount(self.gpu))
            for amount in running.get(node.name, ()):
                devices.take(min(amount, sum(devices.free)))
            unlimited = 2**62 if PODS not in node.capacity else free[node.name].amount(PODS)
            amounts = tuple(unlimited if t == PODS else max(free[node.name].amount(t), 0) for t in self.types)
            self._put(n, Look(kind, amounts, tuple(sorted(devices.free))))
        self.largest = [max((node.capacity.amount(t) for node in cluster.nodes), default=0) for t in self.types]
        self.most_gpu = max((node.capacity.amount(self.gpu) for node in cluster.nodes), default=0)
        self._admits: dict[tuple[int, Constraints], bool] = {}
        self._choice: dict[tuple[Look, Ask], tuple[int, Look] | None] = {}
        self._fragmented: dict[Look, int] = {}

    def ask(self, request: Resources, constraints: Constraints) -> Ask:
        """A request as amounts in the order of ``types``."""
        return Ask(tuple(request.amount(t) for t in self.types), request.amount(self.gpu), constraints)

    def place(self, ask: Ask) -> tuple[int, Look] | None:
        """The node that takes a pod, its room taken, and what it looked like before; None where none has room."""
        found = self._any(ask) if self.rule is GpuRule.RANDOM else self._best(ask)
        if found is None:
            return None
        node, after = found
        before = self.look_of[node]
        self.move(node, after)
        return node, before

    def _best(self, ask: Ask) -> tuple[int, Look] | None:
        best: tuple[int, int, Look] | None = None
        for look, members in self.members.items():
            choice = self._choose(look, ask)
            if choice is not None and (best is None or (choice[0], members[0]) < best[:2]):
                best = (choice[0], members[0], choice[1])
        return None if best is None else best[1:]

    def _any(self, ask: Ask) -> tuple[int, Look] | None:
        """Any node with room, and any of its devices."""
        looks = [look for look in self.members if self._choose(look, ask) is not None]
        if not looks:
            return None
        look = self.chance.choices(looks, [len(self.members[look]) for look in looks])[0]
        return self.chance.choice(self.members[look]), self.chance.choice(list(self._options(look, ask)))

    def move(self, node: int, look: Look) -> None:
        """``node`` looks like this now."""
        before = self.look_of[node]
        members = self.members[before]
        members.remove(node)
        heapq.heapify(members)
        if not members:
            del self.members[before]
        self._put(node, look)

    def _put(self, node: int, look: Look) -> None:
        if node == len(self.look_of):
            self.look_of.append(look)
        self.look_of[node] = look
        heapq.heappush(self.members.setdefault(look, []), node)

    def _choose(self, look: Look, ask: Ask) -> tuple[int, Look] | None:
        """The score of ``ask`` on a node of this look, and what it looks like then; None where there is no room."""
        key = (look, ask)
        if key not in self._choice:
            options = list(self._options(look, ask)) if self._fits(look, ask) else []
            self._choice[key] = min(((self._score(look, after, ask), after) for after in options),
                                    key=lambda each: (each[0], each[1].devices), default=None)  # fmt: skip
        return self._choice[key]

    def _fits(self, look: Look, ask: Ask) -> bool:
        if any(want > have for want, have in zip(ask.others, look.free, strict=True) if want > 0):
            return False
        key = (look.kind, ask.constraints)
        if key not in self._admits:
            self._admits[key] = self.kinds[look.kind].admits(ask.constraints)
        return self._admits[key]

    def _options(self, look: Look, ask: Ask) -> Iterator[Look]:
        """What the node may look like with the pod: one for each device that can give the part."""
        whole, part = divmod(ask.gpu, DEVICE)
        full = sum(free == DEVICE for free in look.devices)
        if full < whole:
            return
        free = tuple(have - want for have, want in zip(look.free, ask.others, strict=True))
        rest = [*look.devices[: len(look.devices) - whole], *[0] * whole]  # devices are sorted: the full ones are last
        if not part:
            yield Look(look.kind, free, tuple(sorted(rest)))
            return
        able = [i for i, device in enumerate(rest) if device >= part]
        one_each = {rest[i]: i for i in able}.values()
        every = {GpuRule.FGD: one_each, GpuRule.RANDOM: able}.get(self.rule, able[:1])
        for i in every:
            yield Look(look.kind, free, tuple(sorted((*rest[:i], rest[i] - part, *rest[i + 1 :]))))

    def _score(self, look: Look, after: Look, ask: Ask) -> int:
        match self.rule:
            case GpuRule.FGD:
                return self.fragmented(after) - self.fragmented(look)
            case GpuRule.BEST_FIT:
                return sum(share for _, share in self._shares(after, ask))
            case GpuRule.DOT_PRODUCT:
                return sum(want * share for want, share in self._shares(look, ask))
            case GpuRule.RANDOM:
                return 0

    def _shares(self, look: Look, ask: Ask) -> Iterator[tuple[int, int]]:
        """For each type but pods: what the pod asks and what is free, in millionths of the largest node."""
        for name, want, have, most in zip(self.types, ask.others, look.free, self.largest, strict=True):
            if name != PODS and most:
                yield want * MILLION // most, have * MILLION // most
        if self.most_gpu:
            yield ask.gpu * MILLION // self.most_gpu, sum(look.devices) * MILLION // self.most_gpu

    def fragmented(self, look: Look) -> int:
        """The sum over the classes of the workload of count x F_n(m), for one node of this look."""
        known = self._fragmented.get(look)
        if known is None:
            idle = sum(look.devices)
            usable: dict[int, int] = {}
            known = 0
            for ask, count in self.classes if idle else ():
                value = idle
                if ask.gpu and self._fits(look, ask):
                    if ask.gpu not in usable:
                        usable[ask.gpu] = unusable(ask.gpu, look.devices)
                    value = usable[ask.gpu]
                known += count * value
            self._fragmented[look] = known
        return known

    def fragmentation(self) -> int:
        """The sum of ``fragmented`` over all nodes; divided by the number of pods, FGD's expected fragmentation."""
        return sum(self.fragmented(look) * len(members) for look, members in self.members.items())


def place_gangs(cluster: Cluster, rule: GpuRule, seed: int = 0) -> Placement:
    """The gangs of ``cluster`` in the order of submission, each whole or not at all, pods by ``rule``."""
    fleet = Fleet(cluster, pod_classes(g for app in cluster.applications for g in app.task_groups), rule, seed)
    queues = Queues(cluster)
    cells: Counter[tuple[str, str, str]] = Counter()
    admitted: list[str] = []
    pending: dict[str, str] = {}
    for app in sorted(cluster.applications, key=lambda a: (a.submitted, a.name)):
        if queues.full_of_applications(app.queue) or not queues.fits(app.queue, app.placeholder_ask):
            pending[app.name] = "its queue is full"
            continue
        places = _place(fleet, app)
        if places is None:
            pending[app.name] = f"{rule.value} finds no room on devices"
            continue
        queues.take(app.queue, app.placeholder_ask)
        queues.count_begun(app.queue, 1)
        admitted.append(app.name)
        cells.update((app.name, group, cluster.nodes[n].name) for group, n in places)
    assignments = tuple(Assignment(*cell, count) for cell, count in sorted(cells.items()))
    return Placement(assignments, tuple(sorted(admitted)), dict(sorted(pending.items())))


def _place(fleet: Fleet, app: Application) -> list[tuple[str, int]] | None:
    """A node for each pod; None, and everything as before, where one finds none."""
    places: list[tuple[str, int]] = []
    before: list[tuple[int, Look]] = []
    for group in app.task_groups:
        ask = fleet.ask(group.pod_resource, group.constraints)
        for _ in range(group.min_member):
            found = fleet.place(ask)
            if found is None:
                for node, look in reversed(before):
                    fleet.move(node, look)
                return None
            before.append(found)
            places.append((group.name, found[0]))
    return places

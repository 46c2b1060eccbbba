"""Gangs one by one in an order, each pod on the first node by a rule: the heuristics of bin packing, online.

A gang starts whole or not at all: its pods are tried on a copy of the nodes' room, task group by task group, and
bound together if all find a place. Queue maxima and maxapplications hold at every level, labels and taints as for
Kubernetes.

Rules for the node, ties by the order in which nodes came:

- first-fit: the first with room;
- best-fit: the one that has the smallest sum of shares left, a share being the part of the node's own capacity that is
  free after the pod, in millionths;
- dot-product: the one with the largest sum over types of (the pod's share of the largest node) x (the free share of
  the largest node), both in millionths ("Heuristics for Vector Bin Packing", Panigrahy and others, 2011).

Shares are whole millionths, rounded down. They order nodes only; that a pod fits is decided on amounts.
"""

from __future__ import annotations

import bisect
import enum
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from reference.cluster import Application, Cluster, Node, TaskGroup
from reference.schedulers.yunikorn.queues import Queues
from reference.simulation.metrics import dominant_share
from reference.simulation.scheduler import Bound, Change, Closed, Ending, Released
from reference.simulation.schedulers.room import NodeRule, Room


class Order(enum.Enum):
    """Which gang is tried first: by submission; the largest dominant share of the cluster; the most weight for its
    dominant share."""

    FIFO = "fifo"
    SIZE = "size"
    DENSITY = "density"


@dataclass(slots=True, eq=False)
class _Gang:
    """A gang in the scheduler; ``pods`` maps the number of each that runs to its task group and node."""

    application: Application
    shape: int
    rank: tuple[Fraction | int, ...]
    pods: dict[int, tuple[TaskGroup, str]] = field(default_factory=dict)


class HeuristicScheduler:
    """One rule for nodes and one order of gangs. With ``strict`` a gang that finds no room holds up those behind it."""

    def __init__(self, cluster: Cluster, rule: NodeRule, order: Order = Order.FIFO, *, strict: bool = False) -> None:
        self._rule, self._order, self._strict = rule, order, strict
        self._room = Room(cluster)
        self._queues = Queues(cluster)
        self._gangs: dict[str, _Gang] = {}
        self._waiting: list[_Gang] = []
        self._changes: list[Change] = []
        self._arrivals, self._numbers = itertools.count(), itertools.count(1)
        self._shapes: dict[tuple[object, ...], int] = {}
        self._hopeless: set[int] = set()
        """Shapes for which there was no room since anything was given back."""

    @property
    def name(self) -> str:
        """The rule's name."""
        return self._rule.value

    def add_node(self, node: Node, now: int) -> None:
        """More room."""
        self._room.add(node)
        self._hopeless.clear()

    def remove_node(self, node: str, now: int) -> None:
        """The pods on it are lost."""
        for gang in self._gangs.values():
            for pod in [number for number, (_, place) in gang.pods.items() if place == node]:
                self._forget(gang, pod)
                self._changes.append(Released(gang.application.name, pod, "its node is gone"))
        self._room.remove(node)

    def submit(self, application: Application, now: int) -> None:
        """Takes its place among those that wait; one that no limit will ever let run is rejected."""
        shape = tuple(replace(group, name="") for group in application.task_groups)
        number = self._shapes.setdefault(shape, len(self._shapes))
        gang = _Gang(application, number, (*self._urgency(application), next(self._arrivals)))
        large = self._queues.too_large(application.queue, application.placeholder_ask)
        if large is not None:
            self._changes.append(Closed(application.name, Ending.REJECTED, f"larger than queue {large.queue} may be"))
            return
        self._gangs[application.name] = gang
        bisect.insort(self._waiting, gang, key=lambda other: other.rank)

    def withdraw(self, application: str, now: int) -> None:
        """Forgets the gang and its pods."""
        gang = self._gangs.get(application)
        if gang is None:
            return
        for pod in list(gang.pods):
            self._forget(gang, pod)
        self._end(gang)

    def pod_ended(self, application: str, pod: int, now: int) -> None:
        """Its room is free."""
        gang = self._gangs[application]
        self._forget(gang, pod)
        if not gang.pods:
            self._end(gang)

    def next_timer(self) -> int | None:
        """No timers."""
        return None

    def cycle(self, now: int) -> Sequence[Change]:
        """Every gang that has room starts, in order."""
        left: list[_Gang] = []
        for place, gang in enumerate(self._waiting):
            if not self._start(gang):
                left.append(gang)
                if self._strict:
                    left += self._waiting[place + 1 :]
                    break
        self._waiting = left
        changes, self._changes = self._changes, []
        return changes

    def _start(self, gang: _Gang) -> bool:
        application = gang.application
        if gang.shape in self._hopeless:
            return False
        asked = application.placeholder_ask
        if self._queues.full_of_applications(application.queue) or not self._queues.fits(application.queue, asked):
            return False  # not hopeless for the nodes: another gang of this shape may be asked for later
        places = self._places(gang)
        if places is None:
            self._hopeless.add(gang.shape)
            return False
        self._queues.take(application.queue, asked)
        self._queues.count_begun(application.queue, 1)
        for group, node in places:
            number = next(self._numbers)
            gang.pods[number] = group, node
            self._changes.append(Bound(application.name, group.name, number, node))
        return True

    def _places(self, gang: _Gang) -> list[tuple[TaskGroup, str]] | None:
        """A node for each member, their room taken; None, and nothing taken, where one finds none."""
        places: list[tuple[TaskGroup, str]] = []
        for group in gang.application.task_groups:
            for _ in range(group.min_member):
                node = self._room.best(self._rule, group)
                if node is None:
                    for taken, where in places:
                        self._room.give(where, taken)
                    return None
                self._room.take(node, group)
                places.append((group, node))
        return places

    def _forget(self, gang: _Gang, pod: int) -> None:
        group, node = gang.pods.pop(pod)
        self._room.give(node, group)
        self._queues.give(gang.application.queue, group.pod_resource)
        self._hopeless.clear()

    def _end(self, gang: _Gang) -> None:
        del self._gangs[gang.application.name]
        if gang in self._waiting:
            self._waiting.remove(gang)
        else:
            self._queues.count_begun(gang.application.queue, -1)

    def _urgency(self, application: Application) -> Iterator[Fraction | int]:
        """What goes before the arrival in the order of gangs; the smallest is first."""
        if self._order is Order.FIFO:
            return
        share = dominant_share(application.placeholder_ask, self._room.total())
        if self._order is Order.SIZE:
            yield -share
        else:
            # a gang that takes nothing that there is comes first
            yield -Fraction(application.weight, share) if share else Fraction(-(2**63))

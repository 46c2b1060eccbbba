"""What can be placed at all, by trying everything: the most gangs of a world that run together.

A placement counts where pods can come one after the other, in some order, each to a node that takes it at that moment.
Where pods do not mind each other the order is of no matter. Nothing is shared with schedulers or the solver.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

from solver_placement.small_scope.world import Gang, Group, Machine, Member, World

Spot = int
"""A node by number, or -1: not placed."""


def most_gangs(world: World) -> int:
    """How many gangs run at best."""
    for count in range(len(world.gangs), 0, -1):
        for chosen in itertools.combinations(world.gangs, count):
            asked = sum(member.asks[0] for gang in chosen for member in gang)
            if (not world.quota or asked <= world.quota) and fits(world.machines, chosen):
                return count
    return 0


def fits(machines: Sequence[Machine], gangs: Sequence[Gang]) -> bool:
    """Whether all of ``gangs`` can run together on ``machines``."""
    pods = [member for gang in gangs for member in gang]
    return _Search(machines, gangs, pods).run()


class _Search:
    def __init__(self, machines: Sequence[Machine], gangs: Sequence[Gang], pods: list[Member]) -> None:
        self.machines, self.gangs, self.pods = machines, gangs, pods
        self.any_order = any(pod.minds_others for pod in pods)
        self.near: list[list[tuple[str, int, int]]] = [[] for _ in pods]
        """For each pod, the topology keys it shares with the pods from one number to another."""
        number = 0
        for gang in gangs:
            first = number
            for group in gang.groups:
                last = number + len(group.members)
                for i in range(number, last):
                    if group.within:
                        self.near[i].append((group.within, number, last))
                    if gang.within:
                        self.near[i].append((gang.within, first, first + sum(1 for _ in gang)))
                number = last
        self.seen: set[tuple[Spot, ...]] = set()

    def run(self) -> bool:
        return self._from((-1,) * len(self.pods), 0)

    def _from(self, spots: tuple[Spot, ...], next_pod: int) -> bool:
        """Whether a goal can be reached from ``spots`` by placing more pods; in any order, or those from one on."""
        if self._is_goal(spots):
            return True
        if (spots in self.seen) if self.any_order else False:
            return False
        self.seen.add(spots)
        for pod in range(next_pod, len(self.pods)):
            if spots[pod] >= 0:
                continue
            for node in range(len(self.machines)):
                if self._passes(spots, pod, node):
                    after = (*spots[:pod], node, *spots[pod + 1 :])
                    if self._from(after, 0 if self.any_order else pod + 1):
                        return True
        return False

    def _is_goal(self, spots: tuple[Spot, ...]) -> bool:
        number = 0
        for gang in self.gangs:
            whole = 0
            for group in gang.groups:
                placed = sum(spot >= 0 for spot in spots[number : number + len(group.members)])
                number += len(group.members)
                if 0 < placed < group.least:
                    return False
                whole += _is_whole(group, placed)
            if whole < gang.least:
                return False
        return True

    def _passes(self, spots: tuple[Spot, ...], pod: int, node: int) -> bool:
        member, machine = self.pods[pod], self.machines[node]
        if member.kind and machine.kind != member.kind:
            return False
        here = [self.pods[i].asks for i, spot in enumerate(spots) if spot == node]
        if any(sum(asks) > room for *asks, room in zip(*here, member.asks, machine.room, strict=True)):
            return False
        for key, first, last in self.near[pod]:
            domain = self._domain(node, key)
            others = {self._domain(spot, key) for spot in spots[first:last] if spot >= 0}
            if not domain or not others <= {domain}:
                return False
        return self._minds(spots, pod, node)

    def _minds(self, spots: tuple[Spot, ...], pod: int, node: int) -> bool:
        """Affinity, anti-affinity in both directions, and spread, against the pods that are there."""
        member = self.pods[pod]
        there = [(self.pods[i], spot) for i, spot in enumerate(spots) if spot >= 0]
        for key, role in member.near:
            domain = self._domain(node, key)
            theirs = [self._domain(spot, key) for other, spot in there if other.role == role]
            is_first = not any(theirs) and member.role == role
            if not domain or (domain not in theirs and not is_first):
                return False
        for key, role in member.apart:
            if any(o.role == role and self._same(node, spot, key) for o, spot in there):
                return False
        for other, spot in there:
            if any(role == member.role and self._same(node, spot, key) for key, role in other.apart):
                return False
        for key, skew in member.spread:
            counts = Counter({domain: 0 for n in range(len(self.machines)) if (domain := self._domain(n, key))})
            counts.update(self._domain(spot, key) for o, spot in there if o.role == member.role)
            domain = self._domain(node, key)
            if not domain or counts[domain] + 1 - min(counts.values()) > skew:
                return False
        return True

    def _same(self, one: int, two: int, key: str) -> bool:
        domain = self._domain(one, key)
        return bool(domain) and domain == self._domain(two, key)

    def _domain(self, node: int, key: str) -> str:
        """The domain of a node; every node is one of its own by ``host``."""
        if key == "host":
            return str(node)
        domain: str = getattr(self.machines[node], key)
        return domain


def _is_whole(group: Group, placed: int) -> bool:
    return placed >= group.least

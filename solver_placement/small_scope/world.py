"""A small world: a few nodes, and gangs of a few pods. What is enumerated, placed, and kept as a witness."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class Machine:
    """A node: units of ``vcore``, or of ``vcore`` and ``memory``; its labels ``kind``, ``rack`` and ``zone``, "" where
    it has none."""

    room: tuple[int, ...]
    kind: str = ""
    rack: str = ""
    zone: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Member:
    """A pod. ``kind``: its nodeSelector. ``near`` and ``apart``: required pod affinity and anti-affinity to pods of a
    role in one domain, as (topology key, role). ``spread``: at most this skew of its role between domains of a key."""

    asks: tuple[int, ...]
    kind: str = ""
    role: str = ""
    near: tuple[tuple[str, str], ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    spread: tuple[tuple[str, int], ...] = ()

    @property
    def minds_others(self) -> bool:
        """Whether where it may go depends on where others are."""
        return bool(self.near or self.apart or self.spread)


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """A PodGroup: ``least`` of its members have to run, all in one domain of the topology key ``within`` if any."""

    members: tuple[Member, ...]
    least: int
    within: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Gang:
    """One group, or a composite of which ``least`` groups have to be whole, all in one domain of ``within``."""

    groups: tuple[Group, ...]
    least: int = 1
    within: str = ""

    @property
    def is_composite(self) -> bool:
        """Whether it is a CompositePodGroup."""
        return len(self.groups) > 1

    def __iter__(self) -> Iterator[Member]:
        return (member for group in self.groups for member in group.members)


@dataclass(frozen=True, slots=True, order=True)
class World:
    """Nodes and gangs, in the order of their names. ``quota``: of ``vcore`` for all gangs together, each in a leaf
    queue of its own; 0 for none."""

    machines: tuple[Machine, ...]
    gangs: tuple[Gang, ...]
    quota: int = field(default=0)

    @property
    def size(self) -> tuple[int, ...]:
        """What smaller means: pods, nodes, what the pods ask, what the nodes have."""
        members = [member for gang in self.gangs for member in gang]
        asked = sum(sum(member.asks) for member in members)
        return len(members), len(self.machines), asked, sum(sum(m.room) for m in self.machines)

    def arrangements(self) -> Iterator[Self]:
        """This world under every other order of nodes, of gangs, of groups and of pods; equal ones once.

        A scheduler goes by names and by age where nothing else tells two apart; here these are the orders.
        """
        for machines in distinct(self.machines):
            for gangs in distinct(self.gangs):
                for each in itertools.product(*(_gang_orders(gang) for gang in gangs)):
                    yield replace(self, machines=machines, gangs=each)

    def to_json(self) -> dict[str, Any]:
        """The world as plain data, without what is empty."""
        return {
            "nodes": [_plain(m) for m in self.machines],
            "gangs": [
                {
                    "groups": [
                        {"pods": [_plain(m) for m in group.members], "least": group.least, **_within(group.within)}
                        for group in gang.groups
                    ],
                    **({"least": gang.least} if gang.is_composite else {}),
                    **_within(gang.within),
                }
                for gang in self.gangs
            ],
            **({"quota": self.quota} if self.quota else {}),
        }

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Self:
        """What ``to_json`` wrote."""
        machines = tuple(Machine(**{**m, "room": tuple(m["room"])}) for m in data["nodes"])
        gangs = tuple(
            Gang(
                tuple(
                    Group(tuple(map(_member, group["pods"])), group["least"], group.get("within", ""))
                    for group in gang["groups"]
                ),
                gang.get("least", 1),
                gang.get("within", ""),
            )
            for gang in data["gangs"]
        )
        return cls(machines, gangs, data.get("quota", 0))


def _within(key: str) -> dict[str, str]:
    return {"within": key} if key else {}


def _plain(what: Machine | Member) -> dict[str, Any]:
    names = [name for name in type(what).__slots__ if getattr(what, name)]
    return {name: getattr(what, name) for name in names}


def _member(data: dict[str, Any]) -> Member:
    pairs: dict[str, Any] = {
        name: tuple(map(tuple, data[name])) for name in ("near", "apart", "spread") if name in data
    }
    return Member(**{**data, **pairs, "asks": tuple(data["asks"])})


def _gang_orders(gang: Gang) -> Iterator[Gang]:
    for groups in distinct(gang.groups):
        for each in itertools.product(*(distinct(group.members) for group in groups)):
            yield replace(gang, groups=tuple(replace(g, members=m) for g, m in zip(groups, each, strict=True)))


def distinct(items: Iterable[T]) -> list[tuple[T, ...]]:
    """The distinct orders of ``items``."""
    return list(dict.fromkeys(itertools.permutations(items)))

"""What is enumerated: every world up to a size, one for each that only names tell apart.

Nodes are a multiset, racks and zones are renamed, equal pods are counted. Units are small: schedulers compare amounts,
so what matters is how often a pod goes into a node, and what is left. Each scope varies one thing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from solver_placement.small_scope.play import PLAIN, POD_GROUPS, Play
from solver_placement.small_scope.world import Gang, Group, Machine, Member, World

SINGLE: Final = MappingProxyType(
    {
        **{name: play for name, play in PLAIN.items() if "-by-" not in name},
        "kubernetes, MostAllocated": POD_GROUPS["kubernetes, MostAllocated"],
    }
)
"""For one gang the order of gangs says nothing."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A family of worlds, and the policies that are asked. ``about`` says what is in it, completely."""

    name: str
    about: str
    plays: Mapping[str, Play]
    make: Callable[[], Iterator[World]]

    def worlds(self) -> list[World]:
        """All of it, smallest first."""
        return sorted(set(self.make()), key=lambda world: (world.size, world))


def machines(
    kinds: Sequence[Machine], most: int, renamings: Sequence[Mapping[str, str]] = ()
) -> list[tuple[Machine, ...]]:
    """The multisets of 1 to ``most`` of ``kinds``; of those that a renaming of racks and zones makes equal, one."""
    found = []
    for count in range(1, most + 1):
        for chosen in itertools.combinations_with_replacement(sorted(kinds), count):
            if all(chosen <= _renamed(chosen, names) for names in renamings):
                found.append(chosen)
    return found


def _renamed(chosen: Iterable[Machine], names: Mapping[str, str]) -> tuple[Machine, ...]:
    return tuple(sorted(replace(m, rack=names.get(m.rack, m.rack), zone=names.get(m.zone, m.zone)) for m in chosen))


def _cross(*parts: Iterable[int]) -> list[tuple[int, ...]]:
    return list(itertools.product(*parts))


def _plain(*members: Member) -> Group:
    return Group(members, len(members))


def _single(nodes: Iterable[tuple[Machine, ...]], gangs: Iterable[Gang]) -> Iterator[World]:
    known = list(gangs)
    return (World(each, (gang,)) for each in nodes for gang in known)


def _mixed(kinds: Sequence[Member], most: int) -> Iterator[Gang]:
    """Two kinds of pods, up to ``most`` in all, at least one of each."""
    for one, two in itertools.combinations(kinds, 2):
        for a in range(1, most):
            for b in range(1, most - a + 1):
                yield Gang((_plain(*[one] * a, *[two] * b),))


def _equal(kinds: Iterable[Member], most: int, within: str = "") -> Iterator[Gang]:
    for kind in kinds:
        for count in range(1, most + 1):
            yield Gang((Group((kind,) * count, count, within),))


ONE: Final = [Machine((room,)) for room in range(1, 6)]
TWO: Final = [Machine(room) for room in _cross((1, 2, 3), (1, 2, 3))]
RACKS: Final = [Machine((room,), rack=rack) for room in (1, 2, 3) for rack in ("r1", "r2")]
SWAP: Final = ({"r1": "r2", "r2": "r1"},)
ZONES: Final = [
    Machine((room,), rack=rack, zone=zone)
    for room in (1, 2)
    for zone, rack in (("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2"))
]
NESTED: Final = (
    {"a1": "a2", "a2": "a1"},
    {"b1": "b2", "b2": "b1"},
    {"a1": "a2", "a2": "a1", "b1": "b2", "b2": "b1"},
    {"a": "b", "b": "a", "a1": "b1", "b1": "a1", "a2": "b2", "b2": "a2"},
    {"a": "b", "b": "a", "a1": "b2", "b2": "a1", "a2": "b1", "b1": "a2"},
    {"a": "b", "b": "a", "a1": "b1", "b1": "a2", "a2": "b2", "b2": "a1"},
    {"a": "b", "b": "a", "a1": "b2", "b2": "a2", "a2": "b1", "b1": "a1"},
)


def _one(*asks: int, **more: object) -> list[Member]:
    return [Member((ask,), **more) for ask in asks]  # type: ignore[arg-type]


def _selectors() -> Iterator[World]:
    kinds = [Machine((room,), kind) for room in (1, 2, 3) for kind in ("", "a")]
    pods = [Member((ask,), kind) for ask in (1, 2) for kind in ("", "a")]
    return _single(machines(kinds, 3), _mixed(pods, 4))


def _min_count() -> Iterator[Gang]:
    for gang in (*_equal(_one(1, 2, 3), 4), *_mixed(_one(1, 2, 3), 4)):
        (group,) = gang.groups
        for least in range(1, group.least):
            yield replace(gang, groups=(replace(group, least=least),))


def _composites(within: str, child: str, kinds: Sequence[Member], size: int, groups: int) -> Iterator[Gang]:
    leaves = [Group((kind,) * n, n, child) for kind in kinds for n in range(1, size + 1)]
    for count in range(2, groups + 1):
        for chosen in itertools.combinations_with_replacement(leaves, count):
            for least in range(1, count + 1):
                yield Gang(chosen, least, within)


def _roles(**how: tuple[tuple[str, str], ...]) -> Iterator[Gang]:
    """Some pods of role b, and some of role a, which mind b."""
    for a, b in itertools.product((1, 2), (1, 2)):
        for one, two in itertools.product((1, 2), (1, 2)):
            followers = [Member((one,), role="a", **how)] * a  # type: ignore[arg-type]
            yield Gang((_plain(*followers, *[Member((two,), role="b")] * b),))


def _queues() -> Iterator[World]:
    gangs = list(_equal(_one(1, 2), 3))
    for nodes in machines([Machine((room,)) for room in (2, 3, 4)], 2):
        for chosen in itertools.combinations_with_replacement(gangs, 2):
            for quota in range(1, sum(member.asks[0] for gang in chosen for member in gang)):
                yield World(nodes, chosen, quota)


def _several() -> Iterator[World]:
    gangs = list(_equal(_one(1, 2), 3))
    for nodes in machines(ONE[:4], 2):
        for count in (2, 3):
            for chosen in itertools.combinations_with_replacement(gangs, count):
                yield World(nodes, chosen)


SCOPES: Final[Mapping[str, Scope]] = MappingProxyType(
    {
        scope.name: scope
        for scope in (
            Scope(
                "equal pods",
                "1 to 3 nodes of 1 to 3 vcore and 1 to 3 memory; 1 to 4 equal pods of 1 or 2 vcore and 0 to 2 memory",
                SINGLE,
                lambda: _single(machines(TWO, 3), _equal([Member(a) for a in _cross((1, 2), (0, 1, 2))], 4)),
            ),
            Scope(
                "two kinds of pods, one resource",
                "1 to 3 nodes of 1 to 5 vcore; 2 to 4 pods of two kinds of 1 to 4 vcore",
                SINGLE,
                lambda: _single(machines(ONE, 3), _mixed(_one(1, 2, 3, 4), 4)),
            ),
            Scope(
                "two kinds of pods, two resources",
                "1 or 2 nodes of 1 to 3 vcore and 1 to 3 memory; 2 to 4 pods of two kinds of 1 or 2 vcore "
                "and 0 to 2 memory",
                SINGLE,
                lambda: _single(machines(TWO, 2), _mixed([Member(a) for a in _cross((1, 2), (0, 1, 2))], 4)),
            ),
            Scope(
                "selectors",
                "1 to 3 nodes of 1 to 3 vcore, with a label or without; 2 to 4 pods of two kinds of 1 or "
                "2 vcore, each kind "
                "with a nodeSelector for the label or without",
                SINGLE,
                _selectors,
            ),
            Scope(
                "several gangs",
                "1 or 2 nodes of 1 to 4 vcore; 2 or 3 gangs in one queue, each of 1 to 3 equal pods of 1 or 2 vcore",
                PLAIN,
                _several,
            ),
            Scope(
                "queues under one quota",
                "1 or 2 nodes of 2 to 4 vcore; 2 gangs of 1 to 3 equal pods of 1 or 2 vcore, each in a "
                "queue of its own; a "
                "maximum of both queues together below what both ask",
                PLAIN,
                _queues,
            ),
            Scope(
                "minCount below the size",
                "1 to 3 nodes of 1 to 4 vcore; 2 to 4 pods of one or two kinds of 1 to 3 vcore; every minCount below",
                POD_GROUPS,
                lambda: _single(machines(ONE[:4], 3), _min_count()),
            ),
            Scope(
                "topology, equal pods",
                "1 to 4 nodes of 1 to 3 vcore in two racks; 1 to 4 equal pods of 1 or 2 vcore in one rack",
                POD_GROUPS,
                lambda: _single(machines(RACKS, 4, SWAP), _equal(_one(1, 2), 4, "rack")),
            ),
            Scope(
                "topology, two kinds of pods",
                "1 to 3 nodes of 1 to 3 vcore in two racks; 2 to 4 pods of two kinds of 1 to 3 vcore in one rack",
                POD_GROUPS,
                lambda: _single(
                    machines(RACKS, 3, SWAP),
                    (
                        replace(gang, groups=tuple(replace(g, within="rack") for g in gang.groups))
                        for gang in _mixed(_one(1, 2, 3), 4)
                    ),
                ),
            ),
            Scope(
                "affinity of equal pods",
                "1 to 3 nodes of 1 to 3 vcore in two racks; 1 to 4 equal pods of 1 or 2 vcore, each with "
                "affinity to the "
                "others by rack",
                POD_GROUPS,
                lambda: _single(machines(RACKS, 3, SWAP), _equal(_one(1, 2, role="a", near=(("rack", "a"),)), 4)),
            ),
            Scope(
                "anti-affinity of equal pods, by node",
                "1 to 4 nodes of 1 to 3 vcore; 1 to 4 equal pods of 1 or 2 vcore, no two on one node",
                POD_GROUPS,
                lambda: _single(machines(ONE[:3], 4), _equal(_one(1, 2, role="a", apart=(("host", "a"),)), 4)),
            ),
            Scope(
                "anti-affinity of equal pods, by rack",
                "1 to 4 nodes of 1 to 3 vcore in two racks; 1 to 4 equal pods of 1 or 2 vcore, no two in one rack",
                POD_GROUPS,
                lambda: _single(machines(RACKS, 4, SWAP), _equal(_one(1, 2, role="a", apart=(("rack", "a"),)), 4)),
            ),
            Scope(
                "spread of equal pods",
                "1 to 4 nodes of 1 to 3 vcore in two racks; 1 to 4 equal pods of 1 or 2 vcore, racks "
                "differ by at most 1",
                POD_GROUPS,
                lambda: _single(machines(RACKS, 4, SWAP), _equal(_one(1, 2, role="a", spread=(("rack", 1),)), 4)),
            ),
            Scope(
                "affinity to another role",
                "1 to 3 nodes of 1 to 3 vcore in two racks; 1 or 2 pods of role a, with affinity by rack "
                "to 1 or 2 pods of "
                "role b, of 1 or 2 vcore each",
                POD_GROUPS,
                lambda: _single(machines(RACKS, 3, SWAP), _roles(near=(("rack", "b"),))),
            ),
            Scope(
                "anti-affinity to another role",
                "the same with anti-affinity by rack",
                POD_GROUPS,
                lambda: _single(machines(RACKS, 3, SWAP), _roles(apart=(("rack", "b"),))),
            ),
            Scope(
                "composite of equal groups",
                "1 to 3 nodes of 1 to 4 vcore; 2 or 3 equal groups of 1 or 2 pods of 1 or 2 vcore; every minGroupCount",
                POD_GROUPS,
                lambda: _single(
                    machines(ONE[:4], 3),
                    (g for g in _composites("", "", _one(1, 2), 2, 3) if len(set(g.groups)) == 1),
                ),
            ),
            Scope(
                "composite of equal pods",
                "1 to 3 nodes of 1 to 4 vcore; 2 or 3 groups of 1 or 2 pods, all pods of 1 vcore or all of 2; every "
                "minGroupCount",
                POD_GROUPS,
                lambda: itertools.chain(
                    *(_single(machines(ONE[:4], 3), _composites("", "", _one(n), 2, 3)) for n in (1, 2))
                ),
            ),
            Scope(
                "composite of unequal groups",
                "1 to 3 nodes of 1 to 4 vcore; 2 groups of 1 or 2 equal pods of 1 to 3 vcore; every minGroupCount",
                POD_GROUPS,
                lambda: _single(machines(ONE[:4], 3), _composites("", "", _one(1, 2, 3), 2, 2)),
            ),
            Scope(
                "composite in one rack",
                "1 to 4 nodes of 1 to 3 vcore in two racks; 2 groups of 1 or 2 equal pods of 1 or 2 "
                "vcore, all in one rack; "
                "every minGroupCount",
                POD_GROUPS,
                lambda: _single(machines(RACKS, 4, SWAP), _composites("rack", "", _one(1, 2), 2, 2)),
            ),
            Scope(
                "composite, each group in one rack",
                "1 to 4 nodes of 1 to 3 vcore in two racks; 2 groups of 1 or 2 equal pods of 1 or 2 "
                "vcore, each group in "
                "one rack; every minGroupCount",
                POD_GROUPS,
                lambda: _single(machines(RACKS, 4, SWAP), _composites("", "rack", _one(1, 2), 2, 2)),
            ),
            Scope(
                "composite in one zone, each group in one rack",
                "1 to 4 nodes of 1 or 2 vcore in two zones of two racks; 2 groups of 1 or 2 equal pods of "
                "1 or 2 vcore, each "
                "group in one rack, all in one zone; every minGroupCount",
                POD_GROUPS,
                lambda: _single(machines(ZONES, 4, NESTED), _composites("zone", "rack", _one(1, 2), 2, 2)),
            ),
        )
    }
)
"""By name, in the order in which they are told."""

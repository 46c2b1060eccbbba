"""Amounts of resources as integers, and the two ways schedulers compare them.

Units are fixed by the resource's name, so that nothing is ever decided on a float:

====================================================  =======================
name                                                  unit
====================================================  =======================
``vcore`` (Kubernetes writes ``cpu``)                 thousandths of a core
``memory``, ``ephemeral-storage``, ``hugepages-*``    bytes
``gpu`` and names that end in ``/gpu``                thousandths of a device
everything else (``pods``, ...)                       a plain count
====================================================  =======================
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping
from typing import Final

VCORE: Final = "vcore"
MEMORY: Final = "memory"
PODS: Final = "pods"


class Resources(Mapping[str, int]):
    """An immutable amount per resource name; a name that is absent is 0 for requests and capacities.

    Zero amounts are kept: in a queue maximum, ``{"vcore": 0}`` (nothing allowed) and ``{}`` (no limit) differ.
    Iteration is in name order, so equal resources print and hash alike.
    """

    __slots__ = ("_amounts", "_hash")

    def __init__(self, amounts: Mapping[str, int] | None = None, /, **named: int) -> None:
        merged = {**(amounts or {}), **named}
        for name, amount in merged.items():
            if type(amount) is not int:
                raise TypeError(f"resource {name!r}: amount must be an int in its base unit, got {amount!r}")
        self._amounts: Final = dict(sorted(merged.items()))
        self._hash: Final = hash(tuple(self._amounts.items()))

    def __getitem__(self, name: str) -> int:
        return self._amounts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._amounts)

    def __len__(self) -> int:
        return len(self._amounts)

    def items(self) -> ItemsView[str, int]:
        """Names and amounts; the dictionary's own view, several times faster than the one that Mapping makes."""
        return self._amounts.items()

    def __contains__(self, name: object) -> bool:
        return name in self._amounts

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resources) and self._amounts == other._amounts

    def __repr__(self) -> str:
        return f"Resources({self._amounts!r})"

    def amount(self, name: str) -> int:
        """The amount of ``name``, 0 where it is not listed."""
        return self._amounts.get(name, 0)

    def __add__(self, other: Resources) -> Resources:
        return Resources({name: self.amount(name) + other.amount(name) for name in {*self, *other}})

    def __sub__(self, other: Resources) -> Resources:
        return Resources({name: self.amount(name) - other.amount(name) for name in {*self, *other}})

    def __mul__(self, count: int) -> Resources:
        return Resources({name: amount * count for name, amount in self.items()})

    def fits_in(self, free: Resources) -> bool:
        """Node rule: every amount asked for is there; a type that ``free`` does not list is not there."""
        return all(amount <= free.amount(name) for name, amount in self.items() if amount > 0)

    def fits_in_limit(self, limit: Resources) -> bool:
        """Queue rule: a type that ``limit`` does not list is unlimited; a negative limit counts as 0."""
        return all(amount <= max(limit[name], 0) for name, amount in self.items() if amount > 0 and name in limit)

    def min_limit(self, other: Resources) -> Resources:
        """The tighter of two limits per type; a type missing on one side is taken from the other."""
        return Resources({name: min(side[name] for side in (self, other) if name in side) for name in {*self, *other}})

    def is_zero(self) -> bool:
        """Whether no type has an amount other than 0."""
        return not any(self.values())


NOTHING: Final = Resources()


def total(amounts: Iterable[Resources]) -> Resources:
    """The sum of any number of resources, ``NOTHING`` for none."""
    result: dict[str, int] = {}
    for each in amounts:
        for name, amount in each.items():
            result[name] = result.get(name, 0) + amount
    return Resources(result)

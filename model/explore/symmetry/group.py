"""The group of a symmetry reduction: which elements are exchanged, and what that does to cells and instances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from model.language import Machine, Sort


@dataclass(frozen=True, slots=True)
class Class:
    """Elements of one sort, two or more, that may be exchanged for each other."""

    sort: type[Sort]
    elements: tuple[int, ...]

    @property
    def order(self) -> int:
        """Number of permutations."""
        return math.factorial(len(self.elements))


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Which elements are exchanged. Those of ``sorted`` classes are put in order by what is said of each; for those of
    ``permuted`` classes all permutations are tried.

    A sort can be sorted if no variable speaks of two of its elements, or of one and one of another sorted sort: then
    what is said of an element does not change when others are exchanged.
    """

    sorted: tuple[Class, ...]
    permuted: tuple[Class, ...]

    @property
    def classes(self) -> tuple[Class, ...]:
        """All of them."""
        return self.sorted + self.permuted

    @property
    def order(self) -> int:
        """Number of permutations of the whole group."""
        return math.prod(c.order for c in self.classes)

    def describe(self, machine: Machine) -> str:
        """``5 App x 3 Node``, with the elements' names where a class is not the whole sort."""
        parts = []
        for c in sorted(self.classes, key=lambda c: (list(machine.sorts).index(c.sort), c.elements)):
            names = machine.sorts[c.sort].names
            own = "" if len(c.elements) == len(names) else f" ({', '.join(names[e] for e in c.elements)})"
            parts.append(f"{len(c.elements)} {c.sort.__name__}{own}")
        return " x ".join(parts)


def swapped_cells(machine: Machine, sort: type[Sort], one: int, other: int) -> list[tuple[int, int]]:
    """The pairs of cells that exchanging ``one`` and ``other`` of ``sort`` exchanges."""
    cells = machine.cells()
    index = {(c.variable.name, c.indices): i for i, c in enumerate(cells)}
    exchange = {one: other, other: one}
    pairs = []
    for i, cell in enumerate(cells):
        image = tuple(
            exchange.get(e, e) if s is sort else e for s, e in zip(cell.variable.sorts, cell.indices, strict=True)
        )
        j = index[cell.variable.name, image]
        if i < j:
            pairs.append((i, j))
    return pairs


def moves(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Exchanges of neighbours that lead through all arrangements of several rows: (row, place), the shortest way.

    Each row's are those of Steinhaus, Johnson and Trotter; a row goes through all of its own between two moves of the
    rows after it.
    """
    if not sizes:
        return []
    own = [(0, place) for place in _neighbours(sizes[0])]
    found = list(own)
    for row, place in moves(sizes[1:]):
        found += [(row + 1, place), *own]
    return found


def _neighbours(size: int) -> list[int]:
    """Places p of exchanges of p and p + 1 that lead through all arrangements of ``size`` things."""
    if size <= 1:
        return []
    # The last one walks through a row of the others, which move by one between two walks.
    down = list(range(size - 2, -1, -1))
    found = list(down)
    at_left = True
    for place in _neighbours(size - 1):
        found.append(place + at_left)
        found += down[::-1] if at_left else down
        at_left = not at_left
    return found


__all__ = ["Class", "Symmetry", "moves", "swapped_cells"]

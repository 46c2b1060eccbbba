"""The composites between the root and the leaf groups of the composite spec."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from specs.parameters import check_size

MOST_LEVELS = 2
"""A hierarchy has at most four levels, those of the root and of the leaf groups among them."""


@dataclass(frozen=True)
class Levels:
    """``sizes``: how many composites each level has, from the top; ``least``: the ``minGroupCount`` of each of them.
    What a level has is dealt out in order to those of the level above; all of the first are the root's."""

    sizes: tuple[int, ...]
    least: tuple[int, ...]
    children: int
    min_groups: int

    def places(self) -> Iterator[tuple[int, int]]:
        """Every composite, as its level and its place there, from the top."""
        return ((level, place) for level, size in enumerate(self.sizes) for place in range(size))

    def above_child(self, child: int, level: int) -> int:
        """The place of the composite on a level that a leaf group is below."""
        return child // (self.children // self.sizes[level])

    def above(self, level: int, place: int) -> tuple[int, int] | None:
        """The composite right above one; None below the root."""
        return (level - 1, place // (self.sizes[level] // self.sizes[level - 1])) if level else None

    @property
    def spares(self) -> bool:
        """Whether the root can do without some composite."""
        below = [n // m for m, n in itertools.pairwise(self.sizes)]
        return any(
            n > least for n, least in zip((*self.sizes[:1], *below), (self.min_groups, *self.least), strict=False)
        )


def levels(children: int, min_groups: int, middles: int | tuple[int, ...], middle_min: int | tuple[int, ...]) -> Levels:
    """The composites that parameters ask for, or ValueError that names the parameter."""
    sizes = tuple(n for n in ((middles,) if isinstance(middles, int) else middles) if middles != 0)
    least = (middle_min,) * (len(sizes) or 1) if isinstance(middle_min, int) else tuple(middle_min)
    check_size("the number of levels in middles", len(sizes), least=0, most=MOST_LEVELS)
    if len(least) != (len(sizes) or 1):
        raise ValueError(
            f"middle_min has a number for each level of middles, of which there are {len(sizes)}; found {len(least)}"
        )
    for level, (size, below) in enumerate(itertools.pairwise((*sizes, children)), 1):
        check_size("middles", size, most=below)
        if below % size:
            what = "children" if level == len(sizes) else "the next level of middles"
            raise ValueError(f"middles divides {what}, which is {below}; found {size}")
    widths = [n // m for m, n in itertools.pairwise((*sizes, children))] or [1]
    for wanted, width in zip(least, widths, strict=True):
        check_size("middle_min", wanted, most=width)
    check_size("min_groups", min_groups, most=sizes[0] if sizes else children)
    return Levels(sizes, least, children, min_groups)

"""The state that stands for an orbit, in plain Python: of the states that permutations lead to, the least, as packed.

`codegen.canon` writes the same for the search. Here the permutation is told as well, which traces need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.explore.layout import Layout
from model.explore.symmetry.group import Class, Symmetry, moves, swapped_cells
from model.language import Machine, Sort

_WORD = 64


@dataclass(frozen=True, slots=True)
class Place:
    """Where what one cell says of an element lies in the element's key: ``bits`` of word ``word`` from ``shift``."""

    word: int
    shift: int
    bits: int


@dataclass(frozen=True, slots=True)
class Keys:
    """How the elements of a sorted class are compared: ``cells`` has, for each, the cells that speak of it, in the same
    order for all, and ``places`` where each lies in the key; a key is ``words`` words, the first counts most."""

    elements: tuple[int, ...]
    cells: tuple[tuple[int, ...], ...]
    places: tuple[Place, ...]
    words: int


def keys_of(machine: Machine, layout: Layout, of: Class) -> Keys:
    """The keys of a sorted class. Cells that take no bits say nothing and are left out."""
    cells = machine.cells()
    by_element = []
    for element in of.elements:
        by_element.append(
            tuple(
                i
                for i, cell in enumerate(cells)
                if layout.fields[i].bits
                and any(s is of.sort and e == element for s, e in zip(cell.variable.sorts, cell.indices, strict=True))
            )
        )
    places: list[Place] = []
    word, used = 0, 0
    for cell in by_element[0]:
        bits = layout.fields[cell].bits
        if used + bits > _WORD:
            word, used = word + 1, 0
        places.append(Place(word, used, bits))
        used += bits
    return Keys(of.elements, tuple(by_element), tuple(places), word + 1)


class Canonical:
    """The canonical states of one machine."""

    def __init__(self, machine: Machine, layout: Layout, symmetry: Symmetry) -> None:
        self.machine = machine
        self.layout = layout
        self.symmetry = symmetry
        self.keys = [keys_of(machine, layout, c) for c in symmetry.sorted]
        self.swaps = [
            [
                (c.sort, one, other, swapped_cells(machine, c.sort, one, other))
                for one, other in zip(c.elements, c.elements[1:], strict=False)
            ]
            for c in symmetry.permuted
        ]
        self.moves = moves([len(c.elements) for c in symmetry.permuted])

    def of(self, state: Sequence[int]) -> tuple[tuple[int, ...], dict[type[Sort], list[int]]]:
        """The canonical state of raw ``state``'s orbit, raw, and a permutation that leads from one to the other."""
        now = list(state)
        holds = {c.sort: list(range(self.machine.sorts[c.sort].size)) for c in self.symmetry.classes}
        best = self._sorted(now, holds)
        for row, place in self.moves:
            sort, one, other, pairs = self.swaps[row][place]
            for i, j in pairs:
                now[i], now[j] = now[j], now[i]
            held = holds[sort]
            held[one], held[other] = held[other], held[one]
            best = min(best, self._sorted(now, holds), key=lambda found: found[0])
        _, state_, holds_ = best
        images: dict[type[Sort], list[int]] = {}
        for sort, held in holds_.items():
            images[sort] = [0] * len(held)
            for place, element in enumerate(held):
                images[sort][element] = place
        return tuple(state_), images

    def _sorted(
        self, state: Sequence[int], holds: dict[type[Sort], list[int]]
    ) -> tuple[tuple[int, ...], list[int], dict[type[Sort], list[int]]]:
        """``state`` with every sorted class in order, packed and raw; ``holds``: which element is in which place."""
        new = list(state)
        now = {sort: list(held) for sort, held in holds.items()}
        for of, keys in zip(self.symmetry.sorted, self.keys, strict=True):
            ordered = sorted(range(len(keys.elements)), key=lambda at: self._key(state, keys, at))
            for to, at in enumerate(ordered):
                for target, source in zip(keys.cells[to], keys.cells[at], strict=True):
                    new[target] = state[source]
                now[of.sort][keys.elements[to]] = holds[of.sort][keys.elements[at]]
        return self.layout.pack(new), new, now

    def _key(self, state: Sequence[int], keys: Keys, at: int) -> tuple[int, ...]:
        words = [0] * keys.words
        for cell, place in zip(keys.cells[at], keys.places, strict=True):
            words[place.word] |= (state[cell] - self.layout.fields[cell].start) << place.shift
        return tuple(words)


__all__ = ["Canonical", "Keys", "Place", "keys_of"]

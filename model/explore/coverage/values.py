"""Which values the variables take in a set of packed states, found by compiled code that reads each state once.

For each variable, over all its cells, there are some words of memory: one bit for each value, or, of a domain that is
too large for that, the least and the greatest value seen.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.coverage import Taken
from model.explore.codegen.each import each_state
from model.explore.codegen.jit import compiled
from model.explore.layout import Field, Layout
from model.language import Machine, VariableBase, describe_domain

_MOST_BITS = 1 << 16
_ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the words of one variable lie: ``words`` of them from ``first``; its cells' ``fields``, all of one size."""

    variable: VariableBase
    fields: tuple[Field, ...]
    first: int

    @property
    def size(self) -> int:
        return self.fields[0].size

    @property
    def has_bits(self) -> bool:
        return self.size <= _MOST_BITS

    @property
    def words(self) -> int:
        return (self.size + 63) // 64 if self.has_bits else 2


class Values:
    """Collects the values in the states that it is shown. `merge` joins what another thread saw."""

    def __init__(self, machine: Machine, layout: Layout) -> None:
        self._machine: Final = machine
        self._layout: Final = layout
        self._places: Final = _places(machine, layout)
        self.words: Final = self.blank()
        word = ctypes.c_uint64
        self._look: Final = compiled(_text(layout, self._places), "values", None, word, word, word)

    def blank(self) -> NDArray[np.uint64]:
        """Memory in which no value was seen yet."""
        last = self._places[-1]
        words = np.zeros(last.first + last.words, np.uint64)
        for place in self._places:
            if not place.has_bits:
                words[place.first] = _ALL
        return words

    def look(self, states: NDArray[np.uint64]) -> None:
        """Add the values in ``states``, packed, of shape (n, words)."""
        self.look_into(states, self.words)

    def look_into(self, states: NDArray[np.uint64], words: NDArray[np.uint64]) -> None:
        """Add the values in ``states`` to ``words``, which `blank` made: each thread has its own."""
        states = np.ascontiguousarray(states)
        self._look(states.ctypes.data, len(states), words.ctypes.data)

    def merge(self, other: NDArray[np.uint64]) -> None:
        """Add what is in ``other``, which `blank` made."""
        for place in self._places:
            mine = self.words[place.first : place.first + place.words]
            theirs = other[place.first : place.first + place.words]
            if place.has_bits:
                mine |= theirs
            else:
                mine[0], mine[1] = min(mine[0], theirs[0]), max(mine[1], theirs[1])

    def taken(self) -> tuple[Taken, ...]:
        """For each variable, in order of declaration, what was seen; at least one state must have been."""
        return tuple(map(self._taken, self._places))

    def _taken(self, place: _Place) -> Taken:
        machine, domain, size = self._machine, place.variable.domain, place.size
        words = self.words[place.first : place.first + place.words]
        start = place.fields[0].start
        taken: int | None = None
        if place.has_bits:
            seen = np.unpackbits(words.view(np.uint8), bitorder="little")[:size].astype(bool)
            taken = int(seen.sum())
            missing = np.flatnonzero(~seen)
            breaks = np.flatnonzero(np.diff(missing) > 1) + 1
            runs = [(int(run[0]), int(run[-1])) for run in np.split(missing, breaks) if len(run)]
        else:
            least, greatest = int(words[0]), int(words[1])
            runs = [run for run in ((0, least - 1), (greatest + 1, size - 1)) if run[0] <= run[1]]
        if isinstance(domain, range):
            never = [f"{a + start}" if a == b else f"{a + start}..{b + start}" for a, b in runs]
        else:
            never = [machine.show(domain, value) for a, b in runs for value in range(a, b + 1)]
        return Taken(_words(machine, place.variable), describe_domain(domain), size, taken, tuple(never))


def _words(machine: Machine, variable: VariableBase) -> str:
    """What people call ``variable``."""
    words = [view.words[variable.name] for view in machine.views if variable.name in view.words]
    return words[0] if words else variable.label


def _places(machine: Machine, layout: Layout) -> list[_Place]:
    by_variable: dict[str, list[Field]] = {}
    for cell, field in zip(machine.cells(), layout.fields, strict=True):
        by_variable.setdefault(cell.variable.name, []).append(field)
    places: list[_Place] = []
    for variable in machine.variables:
        first = places[-1].first + places[-1].words if places else 0
        places.append(_Place(variable, tuple(by_variable[variable.name]), first))
    return places


def _text(layout: Layout, places: list[_Place]) -> str:
    """``values(states, count, out)``: adds the values in ``count`` states to the words at ``out``."""
    enter: list[str] = []
    each: list[str] = []
    leave: list[str] = []
    for v, place in enumerate(places):
        # One word stays in a register; more are a map in memory.
        kept = range(place.words) if place.words == 1 or not place.has_bits else range(0)
        for k in kept:
            enter += [
                f"%v{v}.{k} = alloca i64",
                f"%v{v}.{k}.p = getelementptr i64, ptr %out, i64 {place.first + k}",
                f"%v{v}.{k}.o = load i64, ptr %v{v}.{k}.p",
                f"store i64 %v{v}.{k}.o, ptr %v{v}.{k}",
            ]
            leave += [f"%v{v}.{k}.n = load i64, ptr %v{v}.{k}", f"store i64 %v{v}.{k}.n, ptr %v{v}.{k}.p"]
        for i, field in enumerate(place.fields):
            name = f"%c{v}.{i}"
            each += [
                f"{name}.s = lshr i64 %w{field.word}, {field.shift if field.bits else 0}",
                f"{name} = and i64 {name}.s, {(1 << field.bits) - 1}",
                *(_note_bit(name, v, place) if place.has_bits else _note_ends(name, v)),
            ]
    return each_state("values", layout.words, each, enter, leave)


def _note_bit(name: str, v: int, place: _Place) -> list[str]:
    target = f"%v{v}.0"
    lines = [f"{name}.r = and i64 {name}, 63"]
    if place.words > 1:
        target = f"{name}.p"
        lines += [
            f"{name}.q = lshr i64 {name}, 6",
            f"{name}.t = add i64 {name}.q, {place.first}",
            f"{target} = getelementptr i64, ptr %out, i64 {name}.t",
        ]
    return [
        *lines,
        f"{name}.b = shl i64 1, {name}.r",
        f"{name}.o = load i64, ptr {target}",
        f"{name}.n = or i64 {name}.o, {name}.b",
        f"store i64 {name}.n, ptr {target}",
    ]


def _note_ends(name: str, v: int) -> list[str]:
    lines = []
    for k, test in ((0, "ult"), (1, "ugt")):
        lines += [
            f"{name}.o{k} = load i64, ptr %v{v}.{k}",
            f"{name}.c{k} = icmp {test} i64 {name}, {name}.o{k}",
            f"{name}.n{k} = select i1 {name}.c{k}, i64 {name}, i64 {name}.o{k}",
            f"store i64 {name}.n{k}, ptr %v{v}.{k}",
        ]
    return lines


__all__ = ["Values"]

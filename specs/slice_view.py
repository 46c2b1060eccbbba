"""What a slice sees of its full machine: each of its cells as an expression there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.export.columns import Columns
from model.language import Expr, Machine, Read, Sort, describe_domain
from model.language.expressions import lift
from model.language.machine import Cell
from model.language.types import domain_type
from model.language.walking import walk
from model.semantics import State as Raw
from model.trace import NamedState, named_state
from specs.slicing import Slice, SliceError


def projection_of(slice_: Slice, full: Machine, small: Machine) -> Projection:
    """SliceError if something of ``full`` is neither seen by the slice nor removed, or both."""
    projection = Projection(slice_, full.finish(), small.finish())
    removed, mapped, reads = slice_.removed.keys(), slice_.actions.keys(), projection.reads
    variables = [v.name for v in full.variables]
    found = [
        *(f"variable {name} is neither seen nor removed" for name in variables if name not in reads | removed),
        *(f"variable {name} is removed, and yet seen" for name in variables if name in reads & removed),
        *(f"action {a.name} is neither mapped nor removed" for a in full.actions if a.name not in mapped | removed),
        *(f"action {a.name} is removed, and yet mapped" for a in full.actions if a.name in mapped & removed),
    ]
    if found:
        raise SliceError(f"{small.name} is no slice of {full.name}: " + "; ".join(found))
    return projection


class Projection:
    """From raw states of the full machine to raw states of the slice."""

    def __init__(self, slice_: Slice, full: Machine, small: Machine) -> None:
        self.small: Final = small
        self._columns: Final = Columns(full)
        self._cells: Final = small.cells()
        self._exprs: Final = list(cells_of(slice_, full, small))
        self.reads: Final = {e.variable.name for expr, _ in self._exprs for e in walk(expr) if isinstance(e, Read)}

    def of(self, raw: NDArray[np.int64]) -> NDArray[np.int64]:
        """Shape (n, cells of the slice), for states of shape (n, cells of the full machine)."""
        return np.stack([self._columns.value(expr, raw, env) for expr, env in self._exprs], axis=1)

    def outside(self, raw: Raw) -> str:
        """Which value the slice has no room for, if any."""
        for cell, value in self._both(raw):
            if value not in self.small.values(cell.variable.domain):
                return f"{self.small.show_cell(cell)} is {value}, outside {describe_domain(cell.variable.domain)}"
        return ""

    def named(self, raw: Raw) -> NamedState:
        """A state of the slice in its words, with a number where it has no room for the value."""
        inside = [v if v in (r := self.small.values(c.variable.domain)) else r.start for c, v in self._both(raw)]
        outside = {self.small.show_cell(c): v for (c, v), i in zip(self._both(raw), inside, strict=True) if v != i}
        return {**named_state(self.small, inside), **outside}

    def _both(self, raw: Raw) -> Iterator[tuple[Cell, int]]:
        return zip(self._cells, raw, strict=True)


def cells_of(slice_: Slice, full: Machine, small: Machine) -> Iterator[tuple[Expr, Mapping[int, int]]]:
    """For each cell of ``small`` its expression over ``full``, and the elements that its symbols stand for."""
    view, names = slice_.view(full), [v.name for v in small.variables]
    if differ := sorted(view.keys() ^ set(names)):
        raise SliceError(f"{small.name}: the view of {full.name} and the slice differ in {', '.join(differ)}")
    for cell in small.cells():
        elements = [
            pair
            for sort, position in zip(cell.variable.sorts, cell.indices, strict=True)
            for pair in _elements(slice_, full, small, sort, position)
        ]
        expr = lift(view[cell.variable.name](*(p if s is None else s for s, p in elements)))
        if expr.type != domain_type(cell.variable.domain):
            raise SliceError(f"{small.name}: the view of {cell.variable.name} is {expr.type}")
        yield expr, {s.uid: p for s, p in elements if s is not None}


def _elements(
    slice_: Slice, full: Machine, small: Machine, sort: type[Sort], position: int
) -> list[tuple[Sort | None, int]]:
    """The elements of ``full`` that an element of the slice stands for, each as a symbol and its number; or no symbol
    and its own number."""
    if sort not in slice_.elements and sort not in full.sorts:
        return [(None, position)]
    sorts = slice_.elements.get(sort, (sort,))
    every = list(itertools.product(*(range(full.sorts[s].size) for s in sorts)))
    if len(every) != small.sorts[sort].size:
        raise SliceError(f"{small.name} has {small.sorts[sort].size} {sort.__name__}, {full.name} has {len(every)}")
    return [(s(s.__name__.lower()), p) for s, p in zip(sorts, every[position], strict=True)]


__all__ = ["Projection", "cells_of", "projection_of"]

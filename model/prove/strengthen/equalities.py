"""Linear equalities that are true in all samples: what is asked for, placed and released adds up to the size of a gang.

Unknowns are the cells, and for a cell whose values are only told apart whether it has each of them. The coefficients
are the null space of the samples, found modulo a prime; what is small enough to be read is kept, and compared with the
samples as it is. Unknowns that appear later are told by earlier ones, so the equalities are about few of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.lowering.ground import Graph, Node
from model.lowering.lower import Program
from model.prove.strengthen.samples import States, numbers

_PRIME: Final = 2**31 - 1
_LARGEST: Final = 64
"""Coefficients beyond it are an accident of the samples."""
_MOST_UNKNOWNS: Final = 24
_FIRST: Final = 1024
_DENOMINATORS: Final = (1, 2, 3)


def equalities(program: Program, states: States, tick: Callable[[], None] = lambda: None) -> list[Node]:
    """Sums of cells that are equal in all ``states``, of shape (states, cells). ``tick`` is called time and again, and
    may raise what ends it."""
    unknowns = _unknowns(program)
    values = numbers(unknowns, states)
    found = (_equality(program.graph, unknowns, v.tolist()) for v in _vectors(values, tick))
    return [node for node in found if node.op != "const"]


def _vectors(values: NDArray[np.int64], tick: Callable[[], None]) -> list[NDArray[np.int64]]:
    """Coefficients of what is 0 in all rows of ``values``, of shape (states, unknowns)."""
    some = values[np.random.default_rng(0).permutation(len(values))[:_FIRST]]
    while True:
        tick()
        vectors = [v for v in map(_small, _null_space(_independent(some))) if v is not None]
        wrong = {int(np.argmax(off)) for off in ((values @ v) != 0 for v in vectors) if off.any()}
        if not wrong:
            return vectors
        # States in which one of them is wrong tell more.
        some = np.concatenate([some, values[sorted(wrong)]])


def _unknowns(program: Program) -> list[Node]:
    """1 first: a constant is in any equality."""
    graph, machine = program.graph, program.machine
    found = [graph.const(1)]
    told_apart = []
    for number, cell in enumerate(machine.cells()):
        domain = cell.variable.domain
        values = machine.values(domain)
        read = graph.cell(number, values, domain is bool)
        if isinstance(domain, range):
            found.append(read)
        elif domain is bool:
            told_apart.append(graph.integer(read))
        else:
            # The last of them is what is left.
            told_apart += [graph.integer(graph.equal(read, graph.const(value))) for value in values[:-1]]
    return [found[0], *told_apart, *found[1:]]


def _independent(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The samples as rows in echelon form, modulo the prime; shape (rank, unknowns)."""
    rows = np.unique(values, axis=0) % _PRIME
    echelon: list[NDArray[np.int64]] = []
    for column in range(rows.shape[1]):
        there = np.flatnonzero(rows[:, column])
        if not len(there):
            continue
        pivot = rows[there[0]] * pow(int(rows[there[0], column]), -1, _PRIME) % _PRIME
        for i, known in enumerate(echelon):
            echelon[i] = (known - known[column] * pivot) % _PRIME
        echelon.append(pivot)
        rows[there] = (rows[there] - rows[there, column, None] * pivot) % _PRIME
        rows = rows[rows.any(axis=1)]
        # Rows become equal as columns are done.
        if len(rows) > 4 * rows.shape[1]:
            rows = np.unique(rows, axis=0)
    return np.array(echelon, np.int64).reshape(-1, values.shape[1])


def _null_space(echelon: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """A vector for each unknown that others tell, modulo the prime."""
    pivots = [int(np.flatnonzero(row)[0]) for row in echelon]
    found = []
    for column in sorted(set(range(echelon.shape[1])) - set(pivots)):
        vector = np.zeros(echelon.shape[1], np.int64)
        vector[column] = 1
        vector[pivots] = -echelon[:, column] % _PRIME
        found.append(vector)
    return found


def _small(vector: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The integers that it stands for, if they are small and few."""
    if np.count_nonzero(vector) > _MOST_UNKNOWNS:
        return None
    for by in _DENOMINATORS:
        scaled = vector * by % _PRIME
        signed = np.where(scaled > _PRIME // 2, scaled - _PRIME, scaled)
        if np.abs(signed).max() <= _LARGEST:
            return np.asarray(signed)
    return None


def _equality(graph: Graph, unknowns: Sequence[Node], coefficients: Sequence[int]) -> Node:
    """What is added on one side, and what on the other."""
    sides = [graph.const(0), graph.const(0)]
    for unknown, coefficient in zip(unknowns, coefficients, strict=True):
        if coefficient:
            side = int(coefficient < 0)
            sides[side] = graph.add(sides[side], graph.mul(unknown, graph.const(abs(coefficient))))
    return graph.equal(*sides)


__all__ = ["equalities"]

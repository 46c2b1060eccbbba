"""Lemmas about all elements: what a clause says of some elements, said of all others of their sorts as well.

A clause that was learned from one state speaks of ``app1`` where it could as well speak of ``app2``. If it is true in
all samples with any elements in the place of its own, different ones for different ones, it is one lemma about all of
them: told once, counted once, and written once in a certificate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final, TypeAlias

from model.language import Machine, Sort
from model.language.types import SortType, domain_type
from model.lowering.ground import Node, parts
from model.lowering.lower import Program
from model.prove.strengthen.samples import States, truth

Clause: TypeAlias = tuple[Node, ...]
Element: TypeAlias = tuple[type[Sort], int]
MOST_INSTANCES: Final = 24
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Schema:
    """``clause`` with any elements in the place of some of its own, which are called as ``names`` says. ``cells``:
    those that it reads, in order; ``instances``: for each the cells in their place, the first of them itself."""

    clause: Clause
    names: Mapping[Element, str]
    cells: tuple[int, ...]
    instances: tuple[tuple[int, ...], ...]

    @property
    def of_all(self) -> str:
        """``for all a in App, n in Node``."""
        told = ", ".join(f"{name} in {sort.__name__}" for (sort, _), name in self.names.items())
        twins = [
            f"{a} != {b}"
            for ((one, _), a), ((other, _), b) in itertools.combinations(self.names.items(), 2)
            if one is other
        ]
        return f"for all {told}" + (f" with {', '.join(twins)}" if twins else "")


class Schemas:
    """Those of a machine that are true in ``states``."""

    def __init__(self, program: Program, states: States) -> None:
        self._program: Final = program
        self._machine: Final[Machine] = program.machine
        self._states: Final = states
        self._cells: Final = program.machine.cells()
        self._number: Final = {(c.variable.name, c.indices): n for n, c in enumerate(self._cells)}
        # Read before anything is put into the place of something: nodes by number of their cells.
        self._reads: Final[dict[int, Node]] = {n.value: n for n in program.graph.nodes if n.op == "cell"}

    def of(self, clause: Clause) -> tuple[Schema, tuple[Clause, ...]] | None:
        """``clause`` about all elements, and what it says of each; None if it is true of these only."""
        cells = _cells_of(clause)
        if any(isinstance(domain_type(self._cells[n].variable.domain), SortType) for n in cells):
            return None
        elements = {
            element: None
            for n in cells
            for element in zip(self._cells[n].variable.sorts, self._cells[n].indices, strict=True)
        }
        sorts = [s for s in self._machine.sorts if any(s is of for of, _ in elements)]
        found = None
        for count in range(1, len(sorts) + 1):
            for some in itertools.combinations(sorts, count):
                more = self._about(clause, cells, [e for e in elements if e[0] in some])
                # Of those that say the same, the one about the fewest elements.
                if more is not None and (found is None or len(more[1]) > len(found[1])):
                    found = more
        return found

    def _about(
        self, clause: Clause, cells: Sequence[int], elements: Sequence[Element]
    ) -> tuple[Schema, tuple[Clause, ...]] | None:
        instances, clauses, known = [tuple(cells)], [clause], {_told(clause)}
        for moved in self._moves(elements):
            if len(clauses) > MOST_INSTANCES:
                return None
            to = tuple(self._moved(n, moved) for n in cells)
            other = tuple(self._put(node, dict(zip(cells, to, strict=True))) for node in clause)
            told = _told(other)
            if told in known:
                continue
            known.add(told)
            if not self._is_true(other):
                return None
            instances.append(to)
            clauses.append(other)
        if len(clauses) == 1:
            return None
        names = _names(
            sorted(elements, key=lambda e: (list(self._machine.sorts).index(e[0]), e[1])),
            {name for declared in self._machine.sorts.values() for name in declared.names},
        )
        return Schema(clause, names, tuple(cells), tuple(instances)), tuple(clauses)

    def _moves(self, elements: Sequence[Element]) -> Iterator[Mapping[Element, int]]:
        """All ways to put different elements of the same sort in the place of ``elements``."""
        sorts = list(dict.fromkeys(sort for sort, _ in elements))
        own = [[e for e in elements if e[0] is sort] for sort in sorts]
        ways = [
            itertools.permutations(range(self._machine.sorts[sort].size), len(some))
            for sort, some in zip(sorts, own, strict=True)
        ]
        for chosen in itertools.product(*ways):
            yield {e: to for some, way in zip(own, chosen, strict=True) for e, to in zip(some, way, strict=True)}

    def _moved(self, number: int, moved: Mapping[Element, int]) -> int:
        cell = self._cells[number]
        places = tuple(moved.get(each, each[1]) for each in zip(cell.variable.sorts, cell.indices, strict=True))
        return self._number[cell.variable.name, places]

    def _put(self, node: Node, cells: Mapping[int, int]) -> Node:
        """``node`` with other cells."""
        graph, known = self._program.graph, dict[int, Node]()
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [a for a in top.args if a.number not in known]
            if missing:
                stack += missing
                continue
            known[top.number] = (
                self._cell(cells[top.value])
                if top.op == "cell"
                else graph.rebuild(top, [known[a.number] for a in top.args])
            )
            stack.pop()
        return known[node.number]

    def _cell(self, number: int) -> Node:
        if number not in self._reads:
            domain = self._cells[number].variable.domain
            self._reads[number] = self._program.graph.cell(number, self._machine.values(domain), domain is bool)
        return self._reads[number]

    def _is_true(self, clause: Clause) -> bool:
        either = self._program.graph.either(clause)
        return either.op == "const" or bool((~truth([self._program.graph.no(either)], self._states) == 0xFF).all())


def _cells_of(clause: Clause) -> list[int]:
    """The cells that it reads, in order."""
    return sorted(n.value for n in parts(clause) if n.op == "cell")


def _told(clause: Clause) -> frozenset[str]:
    """Equal for clauses that say the same, but for the order of what is added."""
    return frozenset(map(_flat, clause))


def _flat(node: Node) -> str:
    if node.op == "+":
        parts, open_ = [], [node]
        while open_:
            top = open_.pop()
            if top.op == "+":
                open_ += top.args
            else:
                parts.append(_flat(top))
        return f"(+ {' '.join(sorted(parts))})"
    if node.op in ("and", "or", "==", "same"):
        return f"({node.op} {' '.join(sorted(map(_flat, node.args)))})"
    return f"({node.op} {node.value} {' '.join(map(_flat, node.args))})"


def _names(elements: Sequence[Element], taken: Set[str]) -> dict[Element, str]:
    """A letter for each that is not ``taken``: that of its sort or one after it."""
    found: dict[Element, str] = {}
    for element in elements:
        first = max(_LETTERS.find(element[0].__name__[0].lower()), 0)
        free = (x for x in _LETTERS[first:] + _LETTERS[:first] if x not in taken and x not in found.values())
        found[element] = next(free, f"{element[0].__name__.lower()}_{len(found)}")
    return found


__all__ = ["MOST_INSTANCES", "Clause", "Schema", "Schemas"]

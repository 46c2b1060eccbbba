"""Of runs that end in the same way, or in the same way but for names, one that need be looked at.

Take of all such runs the one whose instances, as numbers, come first in the order of words. Two neighbouring steps of
which neither writes what the other reads or writes are in order there, as they could change places. And of elements
that may be exchanged, none is an argument before those that precede it were: exchanging it with the one before would
make the run smaller, as instances of an action are numbered by their arguments. So both can be demanded at once.

The last step of a run may be what violates a claim, so it does not change places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import z3

from model.explore.symmetry import Symmetry, symmetry_of
from model.language import Machine, SpecError
from model.language.types import SortType, domain_type
from model.lowering.ground import parts
from model.lowering.lower import Instance, Program
from model.prove.arithmetic import Formula
from model.prove.encoding import Encoding
from model.semantics import Semantics

MOST_PAIRS: Final = 20_000
"""Of instances that could change places; where there are more, none is demanded to."""


class Orderings:
    """What is demanded of the runs of ``encoding``'s machine, from their first state on."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding: Final = encoding
        self._program: Final[Program] = encoding.program
        self._independent: Final = _independent(self._program)
        self._before: Final = _before(self._program)

    def of(self, chosen: Sequence[Formula]) -> list[Formula]:
        """What the last of these choices adds: that its elements are in order, and that the two before it are."""
        found = [self._elements(chosen)] if self._before else []
        if len(chosen) > 2 and self._independent:
            first, second = chosen[-3:-1]
            found += [
                z3.Implies(self._is_one_of(second, [place]), z3.Not(self._is_one_of(first, others)))
                for place, others in self._independent.items()
            ]
        return found

    def _is_one_of(self, chosen: Formula, places: Sequence[int]) -> Formula:
        return self._encoding.words.some([self._encoding.is_chosen(chosen, place) for place in places])

    def _elements(self, chosen: Sequence[Formula]) -> Formula:
        """Each element that comes with the last step comes after those that it must come after."""
        parts = []
        for places, users in self._before:
            before = [self._is_one_of(c, users) for c in chosen[:-1]]
            parts.append(z3.Implies(self._is_one_of(chosen[-1], places), self._encoding.words.some(before)))
        return self._encoding.words.every(parts)


def _independent(program: Program) -> dict[int, list[int]]:
    """By place, the later places that could as well come after it."""
    writes = [frozenset(w.cell for w in i.writes) for i in program.instances]
    reads = [_reads(i) for i in program.instances]
    found: dict[int, list[int]] = {}
    for place in range(len(program.instances)):
        others = [
            other
            for other in range(place + 1, len(program.instances))
            if not writes[place] & (reads[other] | writes[other]) and not writes[other] & reads[place]
        ]
        if others:
            found[place] = others
    return found if sum(map(len, found.values())) <= MOST_PAIRS else {}


def _reads(instance: Instance) -> frozenset[int]:
    """The cells that decide whether and how the step is taken."""
    roots = (*instance.conjuncts, instance.write_fault, instance.range_fault, *(w.value for w in instance.writes))
    return frozenset(n.value for n in parts(roots) if n.op == "cell")


def _before(program: Program) -> list[tuple[list[int], list[int]]]:
    """Places whose instances bring an element that needs the one before it, and places that bring that one."""
    machine = program.machine
    symmetry = _symmetry(machine)
    if symmetry is None:
        return []
    instances = Semantics(machine).instances
    uses: list[list[tuple[object, int]]] = []
    for each in program.instances:
        action, environment = machine.actions[each.action], instances[each.number].environment()
        kinds = [(domain_type(s.domain), environment[s.uid]) for s in action.symbols]
        uses.append([(kind.sort, value) for kind, value in kinds if isinstance(kind, SortType)])
    found = []
    for c in symmetry.classes:
        for one, other in zip(c.elements, c.elements[1:], strict=False):
            places = []
            for place, used in enumerate(uses):
                own = [value for sort, value in used if sort is c.sort]
                if other in own and one not in own[: own.index(other)]:
                    places.append(place)
            users = [place for place, used in enumerate(uses) if (c.sort, one) in used]
            if places:
                found.append((places, users))
    return found


def _symmetry(machine: Machine) -> Symmetry | None:
    try:
        return symmetry_of(machine)
    except SpecError:  # it tells its elements apart, or has none to exchange
        return None


__all__ = ["MOST_PAIRS", "Orderings"]

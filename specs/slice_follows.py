"""Whether the properties that are said to follow from a slice's do, proved by z3 for all states of one size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import z3

from model.language import Machine, PropertyKind
from model.lowering.ground import Graph, Node
from model.lowering.grounding import Grounder
from model.lowering.lower import Program
from model.prove.arithmetic import Formula, words_for
from model.prove.encoding import Encoding, State, View
from model.prove.solving import Deadline, ask
from model.trace import named_state, summary
from specs.slice_view import cells_of, projection_of
from specs.slicing import Slice, SliceError


def check_follows(slice_: Slice, full: Machine, small: Machine, deadline: Deadline | None = None) -> tuple[str, ...]:
    """Prove what is said to follow, for all states of ``full``, reachable or not, and all pairs of them; and that a
    step which changes nothing that the slice sees keeps what is claimed of the slice's steps.

    Returns the names of the properties of ``full`` that were proved. SliceError for one that does not follow, or for
    names that are none; OutOfTime past ``deadline``.
    """
    projection_of(slice_, full, small)
    question = _Question(slice_, full, small, deadline or Deadline(None))
    names = [p.name for p in full.properties if p.name in slice_.follows]
    for name in names:
        question.follows(name, slice_.follows[name])
    return tuple(names)


class _Question:
    """Two states of the full machine, and what the slice sees of them."""

    def __init__(self, slice_: Slice, full: Machine, small: Machine, deadline: Deadline) -> None:
        self._deadline: Final = deadline
        self._full: Final = full
        self._kinds: Final = {p.name: p.kind for p in full.properties}
        self._small_kinds: Final = {p.name: p.kind for p in small.properties}
        theirs = Grounder(full)
        seen = [theirs.ground(expr, env) for expr, env in cells_of(slice_, full, small)]
        mine = Grounder(small, _Wide(seen))
        self._claims: Final = {p.name: theirs.ground(p.condition, {}) for p in full.properties if _is_read(p.kind)}
        self._premises: Final = {p.name: mine.ground(p.condition, {}) for p in small.properties if _is_read(p.kind)}
        domains = [m.values(c.variable.domain) for m in (full, small) for c in m.cells()]
        words = words_for([*theirs.graph.nodes, *mine.graph.nodes], domains)
        self._encoding: Final = Encoding(_without_steps(full, theirs.graph), words)
        self._slice: Final = Encoding(_without_steps(small, mine.graph), words)
        self._states: Final = [self._encoding.state(mark) for mark in ("before", "after")]
        self._seen: Final = [self._seen_in(state, seen) for state in self._states]
        self._room: Final = [self._encoding.in_domains(state) for state in self._states]

    def _seen_in(self, state: State, seen: Iterable[Node]) -> State:
        view = View(state)
        return [self._encoding.holds(node, view) for node in seen]

    def follows(self, name: str, premises: tuple[str, ...]) -> None:
        """SliceError if it does not."""
        of_step = self._kinds[name] is PropertyKind.STEP
        for premise in premises:
            if premise not in self._premises:
                raise SliceError(f"{name} is said to follow from {premise}, which the slice does not claim")
            if not of_step and self._small_kinds[premise] is PropertyKind.STEP:
                raise SliceError(f"{name} is about states, and {premise}, from which it is to follow, about steps")
        count = 2 if of_step else 1
        known = [*self._room[:count]]
        known += [self._premise(p, at, at) for p in premises if not self._of_step(p) for at in range(count)]
        stepwise = [p for p in premises if self._of_step(p)]
        for premise in stepwise:
            self._refuse([*known, z3.Not(self._premise(premise, 0, 0))], f"{premise} may fail where nothing changes")
        known += [self._premise(p, 0, 1) for p in stepwise]
        claim = self._encoding.holds(self._claims[name], View(self._states[0], self._states[1]))
        self._refuse([*known, z3.Not(claim)], f"{name} does not follow from {', '.join(premises)}")

    def _of_step(self, premise: str) -> bool:
        return self._small_kinds[premise] is PropertyKind.STEP

    def _premise(self, name: str, before: int, after: int) -> Formula:
        return self._slice.holds(self._premises[name], View(self._seen[before], self._seen[after]))

    def _refuse(self, formulas: list[Formula], why: str) -> None:
        """SliceError with a state if all the ``formulas`` can be true."""
        solver = self._encoding.words.solver()
        solver.add(*formulas)
        model = ask(solver, self._deadline)
        if model is not None:
            state = self._encoding.value(model, self._states[0])
            raise SliceError(f"{why}: {', '.join(summary(named_state(self._full, state)))}")


class _Wide(Graph):
    """Expressions of the slice in which a cell has the bounds of what is seen as it, even those beyond its domain."""

    def __init__(self, seen: Sequence[Node]) -> None:
        super().__init__()
        self._seen: Final = seen

    def cell(self, number: int, values: range, boolean: bool, after: bool = False) -> Node:
        """The value of a cell."""
        seen = self._seen[number]
        return super().cell(number, range(seen.low, seen.high + 1), boolean, after)


def _is_read(kind: PropertyKind) -> bool:
    return kind in (PropertyKind.ALWAYS, PropertyKind.STEP)


def _without_steps(machine: Machine, graph: Graph) -> Program:
    """A program that only has expressions."""
    return Program(machine, graph, (), (), (), graph.truth(True), graph.truth(True), (), ())


__all__ = ["check_follows"]

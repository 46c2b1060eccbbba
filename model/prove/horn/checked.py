"""Invariants that are not trusted: each conjunct is a lemma, which has to hold at the start and after every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import z3

from model.lowering.ground import Node
from model.prove.arithmetic import LOGIC, Formula
from model.prove.claims import Claim, violated_by, violated_in
from model.prove.encoding import Encoding, View
from model.prove.needs import all_below
from model.prove.solving import Deadline, ask_also

Name: TypeAlias = str | int
"""Of a claim, or the number of a lemma."""
Clause: TypeAlias = tuple[Node, ...]


class Invariants:
    """Lemmas and claims that are shown to hold in every state that can be reached. ``lemmas`` by number."""

    def __init__(self, encoding: Encoding) -> None:
        self.lemmas: Final[dict[int, Clause]] = {}
        self._needs: Final[dict[Name, tuple[Name, ...]]] = {}
        self._encoding: Final = encoding
        before, after = encoding.state("0"), encoding.state("1")
        self._view: Final = View(before, after)
        self._next: Final = View(after)
        self._chosen: Final = encoding.chosen("0")
        self._begin, self._step, self._state = (encoding.words.solver(LOGIC) for _ in range(3))
        for solver in (self._begin, self._step, self._state):
            solver.add(encoding.in_domains(before))
        self._begin.add(encoding.initial(before))
        self._step.add(encoding.in_domains(after), encoding.is_step(self._view, self._chosen))
        self._literals: Final[dict[Name, Formula]] = {}

    def prove(self, claim: Claim, clauses: Sequence[Clause], deadline: Deadline) -> bool:
        """Whether ``clauses`` with all that was proved before are inductive, and exclude a violation of ``claim``. If
        not, nothing is kept of them."""
        new = [len(self._literals) + each for each in range(len(clauses))]
        for number, clause in zip(new, clauses, strict=True):
            self.lemmas[number] = clause
            self._assume(number, self._holds(clause, self._view))
        proved = False
        try:
            proved = all(self._is_kept(number, deadline) for number in new) and self._excludes(claim, deadline)
        finally:
            if not proved:
                for number in new:
                    self.lemmas.pop(number)
                    self._needs.pop(number, None)
                    # The number stays taken: what was assumed by this literal is still in the solvers.
                    self._literals[number] = self._encoding.words.truth(True)
        if proved and not claim.of_steps:
            self._assume(claim.name, z3.Not(violated_in(self._encoding, claim, self._view)))
        return proved

    def rests_on(self, claim: str) -> set[Name]:
        """The claim, and the claims and lemmas that its proof rests on."""
        return all_below([claim], self._needs.__getitem__)

    def _assume(self, name: Name, holds: Formula) -> None:
        literal = self._literals[name] = self._encoding.words.condition(f"{name} is assumed")
        for solver in (self._step, self._state):
            solver.add(z3.Implies(literal, holds))

    def _holds(self, clause: Clause, view: View) -> Formula:
        return self._encoding.words.some([self._encoding.holds(node, view) for node in clause])

    def _is_kept(self, number: int, deadline: Deadline) -> bool:
        clause = self.lemmas[number]
        if self._core(self._begin, z3.Not(self._holds(clause, self._view)), deadline) is None:
            return False
        return self._note(number, self._step, z3.Not(self._holds(clause, self._next)), deadline)

    def _excludes(self, claim: Claim, deadline: Deadline) -> bool:
        if not claim.of_steps:
            return self._note(claim.name, self._state, violated_in(self._encoding, claim, self._view), deadline)
        solver = self._state if claim.leads_nowhere else self._step
        return self._note(claim.name, solver, violated_by(self._encoding, claim, self._view, self._chosen), deadline)

    def _note(self, name: Name, solver: z3.Solver, violated: Formula, deadline: Deadline) -> bool:
        core = self._core(solver, violated, deadline)
        if core is not None:
            self._needs[name] = core
        return core is not None

    def _core(self, solver: z3.Solver, violated: Formula, deadline: Deadline) -> tuple[Name, ...] | None:
        """What excludes ``violated``, of all that is assumed; None if nothing does."""
        names = {literal: name for name, literal in self._literals.items() if not z3.is_true(literal)}
        model, core = ask_also(solver, violated, deadline, tuple(names))
        return tuple(names[each] for each in core) if model is None else None


__all__ = ["Clause", "Invariants", "Name"]

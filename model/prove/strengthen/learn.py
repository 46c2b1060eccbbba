"""An inductive invariant, learned clause by clause.

What blocks an induction step is a state that the claims and lemmas allow and whose step leads to a violation. If no run
comes to it, some clause excludes it and is true in every state that runs do come to: that is the next lemma, which has
to be inductive itself. It ends when nothing blocks any more. That the lemmas are right is not trusted to the samples:
each is shown, like a claim, to hold at the start and after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final, TypeAlias

import z3

from model.lowering.ground import Node
from model.prove.arithmetic import LOGIC, Formula, some
from model.prove.claims import Claim, violated_by, violated_in
from model.prove.encoding import Encoding, View
from model.prove.solving import Deadline, OutOfTime, ask
from model.prove.strengthen.cover import Literal, Samples


@dataclass(frozen=True, slots=True)
class Lemma:
    """A clause: one of ``literals`` holds in every state that can be reached."""

    literals: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Learned:
    """What is inductive together, at k = 1: ``needs`` has, for each claim by name and each lemma by number, which
    others its step rests on. ``blocked``: claims for which no lemma was found, each with a state that blocks it."""

    lemmas: Mapping[int, Lemma]
    needs: Mapping[Name, tuple[Name, ...]]
    blocked: Mapping[str, tuple[int, ...]]

    def __post_init__(self) -> None:
        unproved = {each for on in self.needs.values() for each in on} - self.needs.keys()
        assert not unproved, f"a proof rests on {unproved}, which nothing proves"

    def lemmas_of(self, claim: str) -> tuple[Lemma, ...]:
        """All that the proof of ``claim`` rests on, lemmas of lemmas and of claims that help included."""
        return tuple(self.lemmas[each] for each in sorted(n for n in self.rests_on(claim) if isinstance(n, int)))

    def rests_on(self, claim: str) -> set[Name]:
        """The claim itself, and all claims and lemmas that its proof rests on."""
        found: set[Name] = set()
        open_: list[Name] = [claim]
        while open_:
            name = open_.pop()
            if name not in found:
                found.add(name)
                open_ += self.needs[name]
        return found


Name: TypeAlias = str | int


class Learner:
    """Makes ``claims`` inductive; none of them may be a goal, or be violated in a sample."""

    def __init__(self, encoding: Encoding, claims: Sequence[Claim], samples: Samples, deadline: Deadline) -> None:
        self._encoding: Final = encoding
        self._graph: Final = encoding.program.graph
        self._samples: Final = samples
        self._deadline = deadline
        self._claims: Final = {c.name: c for c in claims}
        self._lemmas: Final[dict[int, Lemma]] = {}
        before, after = encoding.state("0"), encoding.state("1")
        self._view: Final = View(before, after)
        self._next: Final = View(after)
        self._chosen: Final = encoding.chosen("0")
        self._step: Final = self._solver()
        self._step.add(encoding.in_domains(after), encoding.is_step(self._view, self._chosen))
        # Faults are steps that lead nowhere: nothing is said of the state after.
        self._fault: Final = self._solver()
        self._begin: Final = self._solver()
        self._begin.add(encoding.initial(before))
        self._literals: Final[dict[Name, Formula]] = {}
        self._known: Final[set[tuple[Literal, ...]]] = set()
        for claim in claims:
            if not claim.of_steps:
                self._assume(claim.name, z3.Not(violated_in(encoding, claim, self._view)))

    def _solver(self) -> z3.Solver:
        solver = z3.SolverFor(LOGIC)
        solver.add(self._encoding.in_domains(self._view.before))
        return solver

    def _assume(self, name: Name, holds: Formula) -> None:
        literal = self._literals[name] = z3.Bool(f"{name} is assumed")
        for solver in (self._step, self._fault):
            solver.add(z3.Implies(literal, holds))

    def learn(self, progress: Callable[[int, int], None] | None = None) -> Learned:
        """OutOfTime if the budget runs out. ``progress``: lemmas, and claims and lemmas not inductive yet."""
        open_: list[Name] = list(self._claims)
        needs: dict[Name, tuple[Name, ...]] = {}
        blocked: dict[str, tuple[int, ...]] = {}
        while open_:
            if progress is not None:
                progress(len(self._lemmas), len(open_))
            name = open_[-1]
            state, core = self._blocking(name)
            if state is None:
                needs[name] = core
                open_.pop()
                continue
            lemma = self._lemma(state)
            if lemma is not None:
                open_.append(lemma)
                continue
            # Nothing that is true in all samples excludes the state: what it blocks cannot be used either.
            if isinstance(name, str):
                blocked[name] = state
            else:
                self._lemmas.pop(name)
            self._literals.pop(name, None)
            open_ = [n for n in open_ if n != name]
            again = [n for n, on in needs.items() if name in on]
            open_ += again
            for each in again:
                needs.pop(each)
        return Learned(self._lemmas, needs, blocked)

    def shrink(self, learned: Learned, deadline: Deadline) -> Learned:
        """The same with fewer lemmas: of what a step could rest on, what the proof has already is tried first, then a
        part that cannot be made smaller by leaving one out. When the budget runs out, the rest stays as it is."""
        for solver in (self._step, self._fault):
            solver.set("core.minimize", True)
        self._deadline = deadline
        needs: dict[Name, tuple[Name, ...]] = {}
        chosen: set[Name] = set()
        open_: list[Name] = [name for name in learned.needs if isinstance(name, str)]
        while open_:
            name = open_.pop()
            if name in needs:
                continue
            needs[name] = core = self._small_core(name, chosen, learned.needs[name])
            chosen.update(core)
            open_ += core
        return Learned({n: self._lemmas[n] for n in needs if isinstance(n, int)}, needs, learned.blocked)

    def _small_core(self, name: Name, chosen: Set[Name], known: tuple[Name, ...]) -> tuple[Name, ...]:
        """What the step of ``name`` can rest on, of ``chosen`` or of all; what is ``known`` when time is out."""
        try:
            state, core = self._blocking(name, chosen | {name})
            return core if state is None else self._blocking(name)[1]
        except OutOfTime:
            return known

    def _lemma(self, state: tuple[int, ...]) -> int | None:
        """The number of a new lemma that excludes ``state``, None if there is none that was not refuted before."""
        clause = self._samples.clause(state)
        if clause is None or clause in self._known:
            return None
        number = len(self._known)
        self._known.add(clause)
        nodes = [self._samples.atoms[each.atom] for each in clause]
        signed = zip(nodes, clause, strict=True)
        lemma = Lemma(tuple(node if each.positive else self._graph.no(node) for node, each in signed))
        if not self._holds_at_start(lemma):
            return None
        self._lemmas[number] = lemma
        self._assume(number, self._holds(lemma, self._view))
        return number

    def _holds(self, lemma: Lemma, view: View) -> Formula:
        return some([self._encoding.holds(node, view) for node in lemma.literals])

    def _holds_at_start(self, lemma: Lemma) -> bool:
        self._begin.push()
        self._begin.add(z3.Not(self._holds(lemma, self._view)))
        wrong = ask(self._begin, self._deadline)
        self._begin.pop()
        return wrong is None

    def _blocking(self, name: Name, among: Set[Name] | None = None) -> tuple[tuple[int, ...] | None, tuple[Name, ...]]:
        """A state whose step leads to a violation of ``name``, or what it needs where there is none: ``among`` these,
        or all."""
        solver, violated = self._question(name)
        names = {literal: each for each, literal in self._literals.items() if among is None or each in among}
        solver.push()
        try:
            solver.add(violated)
            model = ask(solver, self._deadline, tuple(names))
            state = None if model is None else self._encoding.value(model, self._view.before)
            core = tuple(names[each] for each in solver.unsat_core()) if model is None else ()
        finally:  # also when time runs out: what is left of this question would make later ones unsatisfiable
            solver.pop()
        return state, core

    def _question(self, name: Name) -> tuple[z3.Solver, Formula]:
        if isinstance(name, int):
            return self._step, z3.Not(self._holds(self._lemmas[name], self._next))
        claim = self._claims[name]
        if claim.of_steps:
            solver = self._fault if claim.leads_nowhere else self._step
            return solver, violated_by(self._encoding, claim, self._view, self._chosen)
        return self._step, violated_in(self._encoding, claim, self._next)


__all__ = ["Learned", "Learner", "Lemma", "Name"]

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
from model.prove.claims import Claim, violated_in
from model.prove.encoding import Encoding, View
from model.prove.needs import all_below
from model.prove.solving import Deadline, OutOfTime, ask_also
from model.prove.strengthen.cover import Literal, Samples
from model.prove.strengthen.steps import Steps
from model.prove.words import atoms_of

Name: TypeAlias = str | int

_FIRST_SHARE: Final = 24
"""New lemmas."""


@dataclass(frozen=True, slots=True)
class Lemma:
    """A clause: one of ``literals`` holds in every state that can be reached."""

    literals: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Learned:
    """What is inductive together, at k = 1: ``needs`` has, for each claim by name and each lemma by number, which
    others its step rests on. ``blocked``: claims for which no lemma was found, each with a state that blocks it.
    ``why``: what ended it early."""

    lemmas: Mapping[int, Lemma]
    needs: Mapping[Name, tuple[Name, ...]]
    blocked: Mapping[str, tuple[int, ...]]
    why: str | None = None

    def __post_init__(self) -> None:
        unproved = {each for on in self.needs.values() for each in on} - self.needs.keys()
        assert not unproved, f"a proof rests on {unproved}, which nothing proves"

    def lemmas_of(self, claim: str) -> tuple[Lemma, ...]:
        """All that the proof of ``claim`` rests on, lemmas of lemmas and of claims that help included."""
        return tuple(self.lemmas[each] for each in sorted(n for n in self.rests_on(claim) if isinstance(n, int)))

    def rests_on(self, claim: str) -> set[Name]:
        """The claim itself, and all claims and lemmas that its proof rests on."""
        return all_below([claim], self.needs.__getitem__)


class Learner:
    """Makes ``claims`` inductive; none of them may be a goal, or be violated in a sample or in an initial state: of
    claims that is not asked here, of lemmas it is."""

    def __init__(self, encoding: Encoding, claims: Sequence[Claim], samples: Samples, deadline: Deadline) -> None:
        self._encoding: Final = encoding
        self._graph: Final = encoding.program.graph
        self._samples: Final = samples
        self._deadline = deadline
        self._claims: Final = {c.name: c for c in claims}
        self._lemmas: Final[dict[int, Lemma]] = {}
        self._steps: Final = Steps(encoding.program)
        self._view: Final = View(encoding.state("0"))
        self._step: Final = self._solver()
        self._begin: Final = self._solver()
        self._begin.add(encoding.initial(self._view.before))
        self._literals: Final[dict[Name, Formula]] = {}
        self._asked: Final[dict[Name, Formula]] = {}
        self._needs: Final[dict[Name, tuple[Name, ...]]] = {}
        self._blocked: Final[dict[str, tuple[int, ...]]] = {}
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
        self._step.add(z3.Implies(literal, holds))

    def learn(self, progress: Callable[[int, int], None] | None = None) -> Learned:
        """``progress``: lemmas, and claims and lemmas not inductive yet.

        Claims take turns, so that one that needs much does not eat the time of the others: who has had its share of new
        lemmas waits for the next round, which gives twice as many. When the budget runs out, what is proved by then and
        rests on nothing else is told.
        """
        waiting: list[list[Name]] = [[name] for name in self._claims]
        share = _FIRST_SHARE
        try:
            while waiting:
                for stack in waiting:
                    most = len(self._known) + share
                    while stack and len(self._known) < most:
                        if progress is not None:
                            progress(len(self._lemmas), sum(map(len, waiting)))
                        self._advance(stack)
                waiting = [stack for stack in waiting if stack]
                share *= 2
        except OutOfTime as out:
            return Learned(self._lemmas, self._closed(), self._blocked, str(out))
        return Learned(self._lemmas, self._needs, self._blocked)

    def _advance(self, stack: list[Name]) -> None:
        """Prove what is last in ``stack``, or add the lemma that it needs, or give it up."""
        name = stack[-1]
        state, core = self._blocking(name)
        if state is None:
            self._needs[name] = core
            stack.pop()
            return
        lemma = self._lemma(state)
        if lemma is not None:
            stack.append(lemma)
            return
        # Nothing that is true in all samples excludes the state: what it blocks cannot be used either.
        if isinstance(name, str):
            self._blocked[name] = state
        else:
            self._lemmas.pop(name)
        self._literals.pop(name, None)
        stack.pop()
        again = [n for n, on in self._needs.items() if name in on]
        stack += again
        for each in again:
            self._needs.pop(each)

    def _closed(self) -> dict[Name, tuple[Name, ...]]:
        """What is proved and rests on nothing that is not."""
        left = dict(self._needs)
        while open_ := [name for name, on in left.items() if not left.keys() >= set(on)]:
            for name in open_:
                left.pop(name)
        return left

    def shrink(self, learned: Learned, deadline: Deadline) -> Learned:
        """The same with fewer lemmas: of what a step could rest on, what the proof has already is tried first, then a
        part from which nothing can be left out. When the budget runs out, the rest stays as it is.

        z3 could make cores small itself, but recurs without end on some (5.4.1), and takes the process with it.
        """
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
        return Learned({n: self._lemmas[n] for n in needs if isinstance(n, int)}, needs, learned.blocked, learned.why)

    def _small_core(self, name: Name, chosen: Set[Name], known: tuple[Name, ...]) -> tuple[Name, ...]:
        """What the step of ``name`` can rest on, of ``chosen`` or of all; what is ``known`` when time is out."""
        try:
            state, core = self._blocking(name, chosen | {name})
            return self._small(name, core if state is None else self._blocking(name)[1], chosen)
        except OutOfTime:
            return known

    def _small(self, name: Name, core: tuple[Name, ...], chosen: Set[Name]) -> tuple[Name, ...]:
        """``core`` without what is not needed of it: first what is not ``chosen`` already, the longest lemmas first."""
        kept = set(core)
        for each in sorted(kept - {name}, key=lambda n: (n not in chosen, *self._atoms(n)), reverse=True):
            if each in kept:
                try:
                    state, smaller = self._blocking(name, kept - {each})
                except OutOfTime:
                    break
                if state is None:
                    kept = set(smaller)
        return tuple(each for each in core if each in kept)  # in an order that does not change from run to run

    def _atoms(self, name: Name) -> tuple[int, str]:
        return (atoms_of(self._lemmas[name].literals) if isinstance(name, int) else 0), str(name)

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
        return ask_also(self._begin, z3.Not(self._holds(lemma, self._view)), self._deadline)[0] is None

    def _blocking(self, name: Name, among: Set[Name] | None = None) -> tuple[tuple[int, ...] | None, tuple[Name, ...]]:
        """A state whose step leads to a violation of ``name``, or what it needs where there is none: ``among`` these,
        or all."""
        names = {literal: each for each, literal in self._literals.items() if among is None or each in among}
        if name not in self._asked:
            self._asked[name] = self._violated(name)
        model, core = ask_also(self._step, self._asked[name], self._deadline, tuple(names))
        state = None if model is None else self._encoding.value(model, self._view.before)
        return state, tuple(names[each] for each in core)

    def _violated(self, name: Name) -> Formula:
        """There is a step that violates ``name``, or that leads into a state that does."""
        return self._encoding.holds(self._graph.either(self._violations(name)), self._view)

    def _violations(self, name: Name) -> list[Node]:
        if isinstance(name, int):
            return self._steps.into(self._graph.no(self._graph.either(self._lemmas[name].literals)))
        claim = self._claims[name]
        return self._steps.violating(claim) if claim.state is None else self._steps.into(claim.state)


__all__ = ["Learned", "Learner", "Lemma", "Name"]

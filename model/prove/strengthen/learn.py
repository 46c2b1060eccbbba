"""An inductive invariant, learned lemma by lemma.

What blocks an induction step is a state that the claims and lemmas allow and whose step leads to a violation. If no run
comes to it, some condition excludes it and is true in every state that runs do come to: that is the next lemma, which
has to be inductive itself. Conditions on all elements come first, then clauses about some cells. It ends when nothing
blocks any more. That the lemmas are right is not trusted to the samples:
each is shown, like a claim, to hold at the start and after every step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

import z3

from model.lowering.ground import Node
from model.prove.arithmetic import LOGIC, Formula
from model.prove.claims import Claim, violated_in
from model.prove.encoding import Encoding, View
from model.prove.needs import all_below
from model.prove.solving import Deadline, OutOfTime, ask_also
from model.prove.strengthen.cover import Samples
from model.prove.strengthen.schema import Clause, Schema, Schemas
from model.prove.strengthen.shrink import Name, Shrinker
from model.prove.strengthen.steps import Steps
from model.prove.words import atoms_of

_FIRST_SHARE: Final = 24
"""New lemmas."""
_MOST_WORK: Final = 200_000_000
"""Of z3, in making proofs smaller, by its own count: some 30 seconds."""


@dataclass(frozen=True, slots=True)
class Lemma:
    """In every state that can be reached one of the literals holds of each of ``clauses``: one, or those that
    ``schema`` has of all elements."""

    clauses: tuple[Clause, ...]
    schema: Schema | None = None

    @property
    def atoms(self) -> int:
        """Comparisons: of a schema those that it is written with."""
        return atoms_of(self.clauses[0])


@dataclass(frozen=True, slots=True)
class Learned:
    """What is inductive together, at k = 1: ``needs`` has, for each claim by name and each lemma by number, which
    others its step rests on. ``blocked``: claims for which no lemma was found, each with a state that blocks it.
    ``why``: what ended it early. ``own``: for a claim a smaller part that is inductive with it."""

    lemmas: Mapping[int, Lemma]
    needs: Mapping[Name, tuple[Name, ...]]
    blocked: Mapping[str, tuple[int, ...]]
    why: str | None = None
    own: Mapping[str, frozenset[Name]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unproved = {each for on in self.needs.values() for each in on} - self.needs.keys()
        assert not unproved, f"a proof rests on {unproved}, which nothing proves"

    def lemmas_of(self, claim: str) -> tuple[Lemma, ...]:
        """All that the proof of ``claim`` rests on, lemmas of lemmas and of claims that help included."""
        return tuple(self.lemmas[each] for each in sorted(n for n in self.rests_on(claim) if isinstance(n, int)))

    def rests_on(self, claim: str) -> Set[Name]:
        """The claim itself, and all claims and lemmas that its proof rests on."""
        return self.own[claim] if claim in self.own else all_below([claim], self.needs.__getitem__)


class Learner:
    """Makes ``claims`` inductive; none of them may be a goal, or be violated in a sample or in an initial state: of
    claims that is not asked here, of lemmas it is."""

    def __init__(
        self, encoding: Encoding, claims: Sequence[Claim], samples: Samples, schemas: Schemas, deadline: Deadline
    ) -> None:
        self._encoding: Final = encoding
        self._graph: Final = encoding.program.graph
        self._samples: Final = samples
        self._schemas: Final = schemas
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
        self._known: Final[set[tuple[Clause, ...]]] = set()
        for claim in claims:
            if not claim.of_steps:
                self._assume(claim.name, z3.Not(violated_in(encoding, claim, self._view)))

    def _solver(self) -> z3.Solver:
        solver = self._encoding.words.solver(LOGIC)
        solver.add(self._encoding.in_domains(self._view.before))
        return solver

    def _assume(self, name: Name, holds: Formula) -> None:
        literal = self._literals[name] = self._encoding.words.condition(f"{name} is assumed")
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

    def shrink(self, learned: Learned, weigh: Callable[[str], int], deadline: Deadline) -> Learned:
        """The same with an invariant of its own for each claim, of fewer comparisons. ``weigh``: those of a claim that
        helps. When the solver has worked enough, or ``deadline`` is over, the rest stays as it is."""
        self._deadline = deadline

        def weight(names: Iterable[Name]) -> int:
            return sum(weigh(n) if isinstance(n, str) else self._lemmas[n].atoms for n in names)

        left = _MOST_WORK
        needs: dict[Name, frozenset[Name]] = {name: frozenset(on) for name, on in learned.needs.items()}
        goals = sorted((n for n in needs if isinstance(n, str)), key=lambda n: (weight(learned.rests_on(n)), n))
        found: list[dict[Name, frozenset[Name]]] = []
        own: dict[str, frozenset[Name]] = {}
        with contextlib.suppress(OutOfTime):
            # What nothing needs goes once, for all, before each claim is looked at.
            work = _Work(self._step, left // 2)
            needs = Shrinker(self._rests, lambda n: weight([n]), work.is_left).shrunk(goals, needs)
            left -= work.done
            for number, goal in enumerate(goals):
                work = _Work(self._step, left // (len(goals) - number))
                shrinker = Shrinker(self._rests, lambda n: weight([n]), work.is_left)
                # What another claim rests on may be enough for this one.
                known = [needs, *(each for each in found if goal in each)]
                start = min(known, key=lambda each: weight(all_below([goal], each.__getitem__)))
                found.append(shrinker.shrunk([goal], start))
                own[goal] = frozenset(found[-1])
                left -= work.done
        return Learned(self._lemmas, learned.needs, learned.blocked, learned.why, own)

    def _rests(self, name: Name, among: Set[Name]) -> tuple[Name, ...] | None:
        state, core = self._blocking(name, among | {name})
        return core if state is None else None

    def _lemma(self, state: tuple[int, ...]) -> int | None:
        """The number of a new lemma that excludes ``state``, None if there is none that was not refuted before."""
        found = self._samples.clause(state)
        if found is None:
            return None
        nodes = [self._samples.atoms[each.atom] for each in found]
        clause = tuple(n if each.positive else self._graph.no(n) for n, each in zip(nodes, found, strict=True))
        of_all = self._schemas.of(clause)
        # Where it is not inductive of all, it may be of these.
        lemmas = [Lemma((clause,))] if of_all is None else [Lemma(of_all[1], of_all[0]), Lemma((clause,))]
        for lemma in lemmas:
            if lemma.clauses not in self._known:
                self._known.add(lemma.clauses)
                if self._holds_at_start(lemma):
                    number = len(self._known)
                    self._lemmas[number] = lemma
                    self._assume(number, self._holds(lemma, self._view))
                    return number
        return None

    def _holds(self, lemma: Lemma, view: View) -> Formula:
        words = self._encoding.words
        return words.every([words.some([self._encoding.holds(n, view) for n in clause]) for clause in lemma.clauses])

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
            bad = [self._graph.no(self._graph.either(clause)) for clause in self._lemmas[name].clauses]
            return [into for each in bad for into in self._steps.into(each)]
        claim = self._claims[name]
        return self._steps.violating(claim) if claim.state is None else self._steps.into(claim.state)


class _Work:
    """What a solver may do, as it counts itself: at ``most`` so much."""

    def __init__(self, solver: z3.Solver, most: int) -> None:
        self._solver: Final = solver
        self._most: Final = most
        self._before: Final = self._count()

    def _count(self) -> int:
        return int(dict(list(self._solver.statistics())).get("rlimit count", 0))

    @property
    def done(self) -> int:
        """How much it did."""
        return self._count() - self._before

    def is_left(self) -> bool:
        """Whether it may do more."""
        return self.done < self._most


__all__ = ["Learned", "Learner", "Lemma", "Name"]

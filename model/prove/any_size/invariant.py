"""An inductive invariant for any size: of many candidates those that hold at the start and that every step keeps.

Houdini: all candidates are assumed before a step, and those that may not hold after it are dropped, until nothing is
dropped any more. What is left holds in every state that can be reached, whatever the sizes of the sorts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import z3

from model.language import Expr, Read, Sort
from model.prove.any_size.effects import Goal, Step, in_range
from model.prove.any_size.ground import Env, Ground
from model.prove.any_size.wording import state_of
from model.prove.any_size.words import Words
from model.prove.arithmetic import Formula
from model.prove.solving import Deadline, ask_also
from model.trace import NamedState


@dataclass(eq=False)
class Candidate:
    """A claim about states: for all ``symbols``, ``body``, in normal form. ``claims`` are the properties that it is a
    part of; without any it is a lemma, if it holds."""

    symbols: tuple[Sort, ...]
    body: Expr
    claim: str | None = None
    reads: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Blocking:
    """A state, as far as it was looked at, that all candidates allow and after which something is not kept: values by
    the name of the cell or counter."""

    step: Step
    state: NamedState


class Assumed:
    """Candidates written down for some elements of each sort: as many as any step or goal speaks of."""

    def __init__(self, words: Words, candidates: Sequence[Candidate], elements: Mapping[type[Sort], int]) -> None:
        self.words: Final = words
        self.candidates: Final = candidates
        self.ground: Final = Ground(words)
        self.literals: Final[dict[int, Formula]] = {}
        self.elements: Final = {
            sort: [self.ground.element(sort, f"{sort.__name__} {i + 1}") for i in range(elements.get(sort, 1))]
            for sort in words.sorts
        }
        for number, candidate in enumerate(candidates):
            self.literals[id(candidate)] = holds = words.terms.condition(f"candidate {number}")
            self.ground.holds_for_all(candidate.symbols, candidate.body, holds, {})
        self.ground.close()


def elements_for(
    steps: Sequence[Step], candidates: Sequence[Candidate], goals: Sequence[Mapping[str, Sequence[Goal]]]
) -> dict[type[Sort], int]:
    """How many elements of each sort some step, and what may fail after it, speak of."""
    asked = [c.symbols for c in candidates] + [g.symbols for each in goals for found in each.values() for g in found]
    most: Counter[type[Sort]] = Counter()
    for symbols in asked:
        most |= Counter(map(type, symbols))
    found: Counter[type[Sort]] = Counter()
    for step in steps:
        found |= Counter(type(s) for s in step.symbols if isinstance(s, Sort)) + most
    return dict(found)


class Keeping:
    """One step, and what it keeps of the candidates. ``goals`` are others that it has to keep, by
    the name of the claim."""

    def __init__(self, step: Step, assumed: Assumed, goals: Mapping[str, Sequence[Goal]]) -> None:
        self.step: Final = step
        words = assumed.words
        self._machine: Final = words.machine
        is_step = step.action is not None or step.is_start
        self._base: Final = Ground(words) if step.is_start else assumed.ground
        self._ground: Final = self._base.extended(witnesses=not is_step)
        self._assumed: Final = {} if step.is_start else assumed.literals
        self._failing: Final[dict[int, Formula]] = {}
        self._goals: Final[dict[str, list[Formula]]] = {}
        self._solver: Final = words.terms.solver()
        self._no_fault = words.terms.condition("no fault")
        self._left: Final = {sort: list(found) for sort, found in assumed.elements.items()}
        if step.is_start:
            self._ground.elements.update({s: [(e, 0) for e in found] for s, found in assumed.elements.items()})
        self._write(assumed.candidates, goals)

    def _write(self, candidates: Sequence[Candidate], goals: Mapping[str, Sequence[Goal]]) -> None:
        ground, step = self._ground, self.step
        env = {}
        for symbol in step.symbols:
            if isinstance(symbol, Sort):
                env[symbol.uid] = self._left[type(symbol)].pop(0)
            else:
                env[symbol.uid], inside = ground.words.value(symbol)
                ground.clauses.append(inside)
        for guard in step.guards:
            ground.clauses.append(ground.truth(guard, env))
        for symbols, body in step.known:
            ground.holds_for_all(symbols, body, ground.words.terms.truth(True), env)
        for candidate in candidates:
            # What reads nothing that is written stays as it is; but at the start it has to hold, whatever it reads.
            if step.is_start or candidate.reads & step.written:
                after = step.after(candidate.body)
                if step.is_start or after is not candidate.body:
                    inner = {**env, **self._elements(candidate.symbols)}
                    self._failing[id(candidate)] = z3.Not(ground.truth(after, inner, "-"))
        for name, wanted in goals.items():
            for goal in wanted:
                inner = {**env, **self._elements(goal.symbols)}
                wrong = z3.Not(ground.truth(goal.condition, inner, "-"))
                self._goals.setdefault(name, []).append(wrong)
        self._in_domains(env)
        ground.close()
        self._solver.add(*self._base.clauses, *ground.clauses)

    @property
    def counters(self) -> set[str]:
        """The counters that were looked at, by name."""
        return {term.decl().name() for term, _, _ in self._ground.counters.values()}

    def _elements(self, symbols: tuple[Sort, ...]) -> dict[int, Formula]:
        counted: Counter[type[Sort]] = Counter()
        found = {}
        # Which elements fail is the same question for all goals: those that are no arguments of the step.
        for symbol in symbols:
            found[symbol.uid] = self._left[type(symbol)][counted[type(symbol)]]
            counted[type(symbol)] += 1
        return found

    def _in_domains(self, env: Env) -> None:
        """A step that leads out of a domain is a fault, which leads nowhere: so what it leads to is in them all."""
        if self.step.action is None:
            return
        for variable in self._machine.variables:
            if variable.name in self.step.written and isinstance(variable.domain, range):
                symbols = tuple(s(s.__name__.lower()) for s in variable.sorts)
                after = in_range(self.step.after(Read(variable, symbols)), variable.domain)
                self._ground.holds_for_all(symbols, after, self._no_fault, env)

    def not_kept(
        self, holding: Sequence[Candidate], wanted: Sequence[Candidate], deadline: Deadline
    ) -> list[Candidate]:
        """Those of ``wanted`` that the step may break where ``holding`` hold."""
        assumed = [self._no_fault, *self._of(holding)]
        left = [c for c in wanted if id(c) in self._failing]
        found: list[Candidate] = []
        while left:
            one = self._base.words.terms.condition(f"one of {len(left)}")
            one_fails = z3.Implies(one, z3.Or([self._failing[id(c)] for c in left]))
            model, _ = ask_also(self._solver, one_fails, deadline, [*assumed, one])
            if model is None:
                break
            broken = [c for c in left if z3.is_true(model.eval(self._failing[id(c)], model_completion=True))]
            assert broken, "a model breaks nothing"
            found += broken
            left = [c for c in left if c not in broken]
        return found

    def _of(self, candidates: Sequence[Candidate]) -> list[Formula]:
        return [self._assumed[id(c)] for c in candidates if id(c) in self._assumed]

    def core(self, goal: Candidate | str, holding: Sequence[Candidate], deadline: Deadline) -> list[Candidate] | None:
        """Those of ``holding`` that the proof of ``goal`` rests on; None if there is none."""
        failing, assumed = self._question(goal)
        if failing is None:
            return []
        model, core = ask_also(self._solver, failing, deadline, [*assumed, *self._of(holding)])
        if model is not None:
            return None
        kept = self._small(failing, assumed, core, deadline)
        return [c for c in holding if id(c) in self._assumed and self._assumed[id(c)].get_id() in kept]

    def _small(
        self, failing: Formula, assumed: Sequence[Formula], core: Sequence[Formula], deadline: Deadline
    ) -> set[int]:
        """The ids of a part of ``core`` of which nothing can be left out. z3 could look for one itself, but recurs
        without end on some (5.4.1), and takes the process with it."""
        always = {f.get_id() for f in assumed}
        kept = {f.get_id(): f for f in core if f.get_id() not in always}
        for each in sorted(kept, reverse=True):
            if each in kept:
                rest = [f for number, f in kept.items() if number != each]
                model, smaller = ask_also(self._solver, failing, deadline, [*assumed, *rest])
                if model is None:
                    kept = {f.get_id(): f for f in smaller if f.get_id() not in always}
        return set(kept)

    def _question(self, goal: Candidate | str) -> tuple[Formula | None, list[Formula]]:
        if isinstance(goal, str):
            wrong = self._goals.get(goal, [])
            return (z3.Or(wrong) if wrong else None), [] if goal in FAULTS else [self._no_fault]
        return self._failing.get(id(goal)), [self._no_fault]

    def blocking(self, goal: Candidate | str, holding: Sequence[Candidate], deadline: Deadline) -> Blocking | None:
        """A state that blocks ``goal``."""
        failing, assumed = self._question(goal)
        if failing is None:
            return None
        model, _ = ask_also(self._solver, failing, deadline, [*assumed, *self._of(holding)])
        return None if model is None else Blocking(self.step, state_of(model, self._ground, self._machine))


FAULTS: Final = ("values_in_range", "one_write_per_cell")
"""Claims that no step is a fault: they may not assume it."""

Tell = Callable[[str], None]


def houdini(
    keeping: Sequence[Keeping], candidates: Sequence[Candidate], deadline: Deadline, tell: Tell
) -> list[Candidate]:
    """Those of ``candidates`` that are inductive together: the most that are."""
    left = list(candidates)
    again = True
    while again:
        again = False
        for each in keeping:
            dropped = each.not_kept(left, left, deadline)
            if dropped:
                gone = {id(c) for c in dropped}
                left = [c for c in left if id(c) not in gone]
                again = True
                tell(f"{len(left)} of {len(candidates)} candidates left")
    return left


__all__ = ["Blocking", "Candidate", "Keeping", "Tell", "houdini"]

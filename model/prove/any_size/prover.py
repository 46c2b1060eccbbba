"""`prove_any_size`: which claims of a spec hold for any number of elements of its sorts, in runs of any length."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from model.explore import Exploration
from model.export.columns import Column
from model.language import Expr, Machine, PropertyKind, Quantified, SpecError
from model.language.errors import standing_at
from model.language.properties import BUILT_IN, Property
from model.proof import AnySize, Blocked, Claimed, Lemma, Method, Proof
from model.prove.any_size.candidates import Vocabulary, candidates, variables_in
from model.prove.any_size.effects import Goal, Step, parts_of, range_goals, start_of, staying, step_of, write_goals
from model.prove.any_size.family import Build, Family, built, family_of, resized
from model.prove.any_size.invariant import Assumed, Candidate, Keeping, elements_for, houdini
from model.prove.any_size.obligations import Obligations
from model.prove.any_size.sums import Sums
from model.prove.any_size.support import Support
from model.prove.any_size.terms import Unreadable, all_of, either, freshened
from model.prove.any_size.wording import atoms_in, claim_text
from model.prove.any_size.words import Words
from model.prove.solving import Deadline, OutOfTime
from model.trace import in_steps
from model.verdict import Outcome, PropertyVerdict

SAMPLES: Final = 20_000
"""At each small size lemmas are looked for in so many states."""
_DEADLOCK: Final = "deadlock_free"
_SMALL: Final = (1, 2, 3)

Tell = Callable[[str], None]


def prove_any_size(
    build: Build,
    parameters: Mapping[str, Any],
    *,
    properties: Collection[str] = (),
    samples: int = SAMPLES,
    time_limit: float | None = None,
    progress: Tell | None = None,
    deadline: Deadline | None = None,
) -> Proof:
    """Prove the claims of the spec function ``build``, or those among ``properties`` only, for any number of elements.

    ``parameters`` are all that ``build`` takes; those that decide how many elements a sort has say only where to look
    for violations and for lemmas, the others stay as they are. UNKNOWN, with the reason, is what cannot be read or is
    not inductive, and what ``time_limit`` (seconds), or instead of it a ``deadline``, left open; VIOLATED
    is what a machine of the family violates. No claim is made that some size is enough. SpecError for a property that
    is about runs. KeyError for an unknown one.
    """
    deadline = deadline or Deadline(time_limit)
    return _Prover(build, parameters, properties, deadline, progress or (lambda _: None)).prove(samples)


@dataclass(eq=False)
class _Read:
    """A machine as steps and claims: ``candidates`` are parts of claims about states, ``goals`` has for each step
    others by name; ``unread`` are claims that could not be read, with the reason. ``some_step``: that a step is
    possible, or the state an end."""

    words: Words
    sums: Sums
    steps: list[Step]
    candidates: list[Candidate] = field(default_factory=list)
    goals: list[dict[str, list[Goal]]] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    some_step: Expr | None = None


class _Prover:
    def __init__(
        self,
        build: Build,
        parameters: Mapping[str, Any],
        properties: Collection[str],
        deadline: Deadline,
        tell: Tell,
    ) -> None:
        self._deadline: Final = deadline
        self._build: Final = build
        self._parameters: Final = dict(parameters)
        self._tell: Final = tell
        self._machine = build(**parameters).finish()
        self._shown: Final = self._machine.parameters or self._parameters
        self._wanted: Final = self._claims(properties)
        about_runs = [p.name for p in self._machine.properties if not p.kind.is_universal]
        # That some step is possible takes much longer than the rest, and follows from no step.
        self._left_out: Final = () if properties else (*about_runs, _DEADLOCK)
        self._answers: Final[dict[str, Claimed]] = {}
        self._explored: Final[dict[str, int]] = {}
        self._samples: Final[list[tuple[Machine, Column]]] = []
        self._family: Family | None = None
        self._obligations: Obligations | None = None
        self._counters = 0

    def _claims(self, properties: Collection[str]) -> dict[str, str]:
        """Names and kinds of the claims that are asked about."""
        kinds = {p.name: p.kind.value for p in self._machine.properties if p.kind.is_universal}
        kinds |= dict(zip(BUILT_IN, ("deadlock", "range", "write"), strict=True))
        for name in properties:
            about_runs = next((p for p in self._machine.properties if p.name == name), None)
            if about_runs is not None and name not in kinds:
                raise SpecError(f"{name} is of kind {about_runs.kind.value}: that is about runs", about_runs.at)
            if name not in kinds:
                raise KeyError(f"{self._machine.name} has no property {name!r}; it has {', '.join(kinds)}")
        return {n: kind for n, kind in kinds.items() if (n in properties if properties else n != _DEADLOCK)}

    # ---- the phases

    def prove(self, samples: int) -> Proof:
        """All phases, as far as time allows."""
        try:
            self._explore(self._parameters, samples)
            self._tell("building the spec at several sizes")
            self._family = family = family_of(self._build, self._parameters)
            self._machine = family.machine
            for size in _SMALL:
                self._explore({**self._parameters, **dict.fromkeys(family.sizes, size)}, samples)
            with standing_at(self._machine.actions[0].at):
                self._induction(self._read())
        except (Unreadable, OutOfTime) as why:
            self._all_unknown(str(why))
        return Proof(
            self._machine.name,
            self._shown,
            tuple(self._answers[name] for name in self._wanted),
            self._left_out,
            -1,
            self._deadline.spent,
            self._told(),
        )

    def _told(self) -> AnySize | None:
        if self._family is None:
            return None
        sizes = self._family.sizes
        sorts = {
            sort.__name__: tuple(name for name, found in sizes.items() if sort.__name__ in found)
            for sort in self._machine.sorts
        }
        changes = 0 if self._obligations is None else self._obligations.proved
        return AnySize(sorts, self._family.fewer, self._family.compared, self._counters, changes, self._explored)

    def _explore(self, values: Mapping[str, Any], samples: int) -> None:
        """States of the machine at ``values``: violations, and samples for lemmas."""
        machine = built(self._build, values)
        if machine is None:
            return
        size = ", ".join(f"{d.size} {sort.__name__}" for sort, d in machine.sorts.items())
        if size in self._explored:
            return
        self._deadline.check()
        self._tell(f"exploring up to {samples:,} states with {size}")
        found = Exploration(machine, max_states=samples, time_limit=self._deadline.left, stop=self._deadline.stop)
        self._explored[size] = len(found.states)
        for name, kind in self._wanted.items():
            verdict = found.verdict[name]
            if verdict.outcome is Outcome.VIOLATED and verdict.trace is not None and name not in self._answers:
                how = f"with {size} violated after {in_steps(len(verdict.trace))}"
                told = PropertyVerdict(name, kind, Outcome.VIOLATED, how, verdict.trace)
                self._answers[name] = Claimed(told, Method.EXPLORED, seconds=self._deadline.spent)
        self._samples.append((machine, found.states))

    def _all_unknown(self, why: str) -> None:
        for name in self._wanted:
            self._unknown(name, why)

    def _unknown(self, name: str, why: str, blocked: Blocked | None = None) -> None:
        told = PropertyVerdict(name, self._wanted[name], Outcome.UNKNOWN, why)
        self._answers.setdefault(name, Claimed(told, blocked=blocked, seconds=self._deadline.spent))

    # ---- reading

    def _read(self) -> _Read:
        """The machine's steps and claims. Unreadable if a step is not; a claim that is not is UNKNOWN."""
        machine = self._machine
        words = Words(machine, self._deadline)
        self._obligations = Obligations(words, self._deadline)
        sums = Sums(self._obligations.prove)
        self._tell("reading the steps")
        read = _Read(words, sums, [start_of(machine, sums), *(step_of(a, sums) for a in machine.actions)])
        read.goals = [{"values_in_range": range_goals(s), "one_write_per_cell": write_goals(s)} for s in read.steps]
        for p in machine.properties:
            if p.kind.is_universal:
                self._read_claim(read, p)
        try:
            if self._family is not None and self._family.fewer:
                raise Unreadable(f"at {self._family.fewer[0]} the spec has fewer actions")
            read.some_step = sums.normal(freshened(_some_step(machine)))
        except Unreadable as why:
            read.unread[_DEADLOCK] = str(why)
        return read

    def _read_claim(self, read: _Read, p: Property) -> None:
        parts = parts_of(freshened(p.condition))
        try:
            if p.kind is PropertyKind.ALWAYS:
                bodies = [(symbols, read.sums.normal(body)) for symbols, body in parts]
                read.candidates += [Candidate(s, body, p.name, variables_in(body)) for s, body in bodies]
                return
            for step, goals in zip(read.steps[1:], read.goals[1:], strict=True):
                goals[p.name] = [Goal(symbols, step.across(body), p.at) for symbols, body in parts]
        except Unreadable as why:
            read.unread[p.name] = str(why)

    # ---- induction

    def _induction(self, read: _Read) -> None:
        for name, why in read.unread.items():
            if name in self._wanted:
                self._unknown(name, why)
        usable = [c for c in read.candidates if c.claim not in self._answers or c.claim not in self._wanted]
        support = self._kept(read, usable)
        deadlock = _DEADLOCK in self._wanted and _DEADLOCK not in self._answers
        if deadlock or self._open(support, usable):
            vocabulary = Vocabulary(self._words_of(read, usable))
            support = self._kept(read, [*usable, *self._lemmas(vocabulary)])
            self._tell("looking for the lemmas that are needed")
            proved = [name for name in self._provable if support.of(name, usable) is not None]
            others = [name for name in proved if not any(c.claim == name for c in usable)]
            if len(proved) == len(self._provable) and not deadlock:
                support = Support(support.keeping, support.fewer(others), self._deadline)
        for name in self._provable:
            self._answer(name, support, usable)
        if deadlock and _DEADLOCK not in self._answers:
            self._deadlock(read, support, usable)

    def _open(self, support: Support, usable: Sequence[Candidate]) -> bool:
        return any(support.of(name, usable) is None for name in self._provable)

    @property
    def _provable(self) -> list[str]:
        """Claims that a step has to keep, and that are open."""
        return [name for name in self._wanted if name not in self._answers and name != _DEADLOCK]

    def _deadlock(self, read: _Read, support: Support, usable: Sequence[Candidate]) -> None:
        """No step has to keep that a step is possible: it follows, or does not, from what holds in every state. First
        from what the other proofs rest on."""
        assert read.some_step is not None
        self._tell("whether some step is possible")
        goals = {_DEADLOCK: [Goal((), read.some_step)]}
        step = staying(read.sums)
        for holding in (support.chosen, support.holding):
            assumed = Assumed(read.words, holding, elements_for([step], holding, [goals]))
            alone = Support([Keeping(step, assumed, goals)], holding, self._deadline)
            if (core := alone.of(_DEADLOCK, usable)) is not None:
                self._holds(_DEADLOCK, support.below(*core), "follows")
                return
        self._blocked_by(_DEADLOCK, alone, usable)

    def _words_of(self, read: _Read, usable: Iterable[Candidate]) -> list[Expr]:
        exprs = [c.body for c in usable]
        return [*exprs, *(g for step in read.steps for g in step.guards)]

    def _lemmas(self, vocabulary: Vocabulary) -> list[Candidate]:
        family = self._family
        assert family is not None
        self._tell("looking for lemmas")
        if self._machine.tables:
            return candidates(vocabulary, self._samples[:1])
        alike = [
            (resized(self._machine, {s.__name__: d.size for s, d in other.sorts.items()}), states)
            for other, states in self._samples
        ]
        return candidates(vocabulary, alike)

    def _kept(self, read: _Read, tried: Sequence[Candidate]) -> Support:
        """Of ``tried`` what is inductive."""
        self._tell(f"{len(tried)} claims and candidates for lemmas")
        assumed = Assumed(read.words, tried, elements_for(read.steps, tried, read.goals))
        keeping = [Keeping(step, assumed, goals) for step, goals in zip(read.steps, read.goals, strict=True)]
        left = houdini(keeping, tried, self._deadline, self._tell)
        self._counters = max(self._counters, len({name for k in keeping for name in k.counters}))
        return Support(keeping, left, self._deadline)

    def _answer(self, name: str, support: Support, usable: Sequence[Candidate]) -> None:
        rests_on = support.of(name, usable)
        if rests_on is None:
            self._blocked_by(name, support, usable)
        else:
            self._holds(name, rests_on)

    def _blocked_by(self, name: str, support: Support, usable: Sequence[Candidate]) -> None:
        blocking = support.blocking(name, usable)
        if blocking is None:
            self._unknown(name, "not inductive for any size")
            return
        how = f"not inductive for any size: {blocking.step.name} may break it"
        self._unknown(name, how, Blocked(1, blocking.state, blocking.step.name))

    def _holds(self, name: str, rests_on: Sequence[Candidate], why: str = "inductive") -> None:
        lemmas = tuple(Lemma(claim_text(c.symbols, c.body), atoms_in(c.body)) for c in rests_on if c.claim is None)
        helpers = tuple(dict.fromkeys(c.claim for c in rests_on if c.claim is not None and c.claim != name))
        count = "1 lemma" if len(lemmas) == 1 else f"{len(lemmas)} lemmas"
        how = f"{why} for any size" + (f", with {count}" if lemmas else "")
        if helpers and not lemmas:
            how += f", with {', '.join(helpers)}"
        told = PropertyVerdict(name, self._wanted[name], Outcome.HOLDS, how)
        self._answers[name] = Claimed(told, Method.ANY_SIZE, 1, lemmas, helpers, seconds=self._deadline.spent)


def _some_step(machine: Machine) -> Expr:
    """Some action can fire, or the state is an end."""
    options: list[Expr] = [t.condition for t in machine.terminals]
    for action in machine.actions:
        guard = all_of(g.condition for g in action.guards)
        options.append(Quantified("any", action.symbols, guard) if action.symbols else guard)
    found = options[0]
    for option in options[1:]:
        found = either(found, option)
    return found


__all__ = ["SAMPLES", "prove_any_size"]

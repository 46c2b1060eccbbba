"""`prove`: which claims of a machine hold at every depth.

First what is cheap: short runs are looked at, and what is inductive by itself over one or two steps is proved. For the
rest lemmas are learned from states that runs come to. Then longer inductions, and at last longer runs, are tried on
what is still open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final

import numpy as np

from model.explore import Exploration
from model.language import Machine, PropertyKind, SpecError
from model.language.properties import BUILT_IN
from model.lowering.lower import Event, EventKind, Program, lower
from model.proof import Blocked, Claimed, Lemma, Method, Proof
from model.proof_limits import LENGTH, MOST_K, SAMPLES
from model.prove.bounded import Search
from model.prove.claims import Claim, claims, premises
from model.prove.encoding import Encoding
from model.prove.horn.prove import LONGEST, TURNS, BySpacer
from model.prove.induction import Blocked as BlockedStep
from model.prove.induction import Induction, Inductive
from model.prove.needs import USUAL, Limits, claim_atoms
from model.prove.solving import Deadline, OutOfTime
from model.prove.strengthen.cover import Samples
from model.prove.strengthen.equalities import equalities
from model.prove.strengthen.learn import Learned, Learner
from model.prove.strengthen.schema import Schemas
from model.prove.strengthen.vocabulary import vocabulary
from model.prove.words import Words
from model.semantics import Semantics
from model.trace import Trace, in_steps, named_state
from model.verdict import Outcome, PropertyVerdict

_PREMISE_SECONDS = 10
_FIRST_K = 2
_FIRST_LENGTH = 2
"""Runs that are looked at before lemmas are learned; exploring looks at longer ones, and faster."""

Tell = Callable[[str], None]


def prove(
    machine: Machine,
    *,
    properties: Collection[str] = (),
    most_k: int = MOST_K,
    length: int = LENGTH,
    strengthen: bool = True,
    samples: int = SAMPLES,
    time_limit: float | None = None,
    progress: Tell | None = None,
    method: Method = Method.INDUCTION,
    stop: Callable[[], bool] | None = None,
    limits: Limits = USUAL,
) -> Proof:
    """Prove the claims of ``machine``, or those among ``properties`` only, for runs of any length.

    ``most_k``: inductions over up to so many steps. ``length``: runs of up to so many steps are searched for violations
    of what could not be proved. ``strengthen``: find lemmas, from at most ``samples`` states nearest to the start.
    ``time_limit`` in seconds: what is open when it runs out is UNKNOWN; so it is when ``stop``, asked between questions
    to the solver, says to stop, or Ctrl-C ends one of them. ``limits``: what counts as a proof; what is shown by more
    is UNKNOWN, with what it would take. ``method``: INDUCTION with all of this, or SPACER: an
    invariant from z3's engine for Horn clauses, for each claim. SpecError for a machine that cannot be lowered, or a
    property that is about runs. KeyError for an unknown property.
    """
    deadline = Deadline(time_limit, stop)
    try:
        prover = _Prover(machine, properties, deadline, progress or (lambda _: None), limits)
    except OutOfTime as out:
        return _not_begun(machine, properties, f"no runs were looked at; {out}", deadline)
    if method is Method.SPACER:
        return prover.prove_by(lambda: prover.by_spacer(length))
    return prover.prove(most_k, length, samples if strengthen else 0)


def _not_begun(machine: Machine, properties: Collection[str], why: str, deadline: Deadline) -> Proof:
    """Nothing is known, as time ran out when the machine was made ground."""
    kinds = {p.name: p.kind for p in machine.properties}
    about_states = (PropertyKind.ALWAYS, PropertyKind.STEP)
    names = [n for n, kind in kinds.items() if (n in properties if properties else kind in about_states)]
    shown = [(n, kinds[n].value) for n in names]
    built_in = zip(BUILT_IN, (EventKind.DEADLOCK, EventKind.RANGE, EventKind.WRITE), strict=True)
    shown += [(n, kind.value) for n, kind in built_in if not properties or n in properties]
    claimed = tuple(
        Claimed(PropertyVerdict(n, kind, Outcome.UNKNOWN, why), seconds=deadline.spent) for n, kind in shown
    )
    left_out = () if properties else tuple(n for n in kinds if n not in names)
    return Proof(machine.name, dict(machine.parameters), claimed, left_out, -1, deadline.spent)


class _Prover:
    def __init__(
        self, machine: Machine, properties: Collection[str], deadline: Deadline, tell: Tell, limits: Limits
    ) -> None:
        self._deadline: Final = deadline
        self._limits: Final = limits
        self._machine: Final = machine
        self._tell: Final = tell
        self._program: Final[Program] = lower(machine, deadline.check)
        every = claims(self._program)
        named = {c.name: c for c in every}
        for name in properties:
            if name not in named:
                self._refuse(name)
        self._claims: Final = [c for c in every if (c.name in properties if properties else not c.is_goal)]
        asked = {c.name for c in self._claims}
        self._left_out: Final = () if properties else tuple(p.name for p in machine.properties if p.name not in asked)
        self._open: Final = {c.name: c for c in self._claims}
        self._answers: Final[dict[str, Claimed]] = {}
        self._blocked: Final[dict[str, Blocked]] = {}
        self._unproved: Final[dict[str, str]] = {}
        self._semantics: Final = Semantics(machine)
        self._encoding: Final = Encoding(self._program)
        self._runs: Final = Search(self._encoding, self._claims, deadline)
        premises_ = premises(self._program)
        # Premises that were not seen to be true yet.
        self._premises: Final = {e: c for e, c in premises_.items() if e.name in self._open}
        self._never_true: set[Event] = set()
        self._looked: str | None = None
        self._length = -1
        self._why: str | None = None

    def _refuse(self, name: str) -> None:
        for p in self._machine.properties:
            if p.name == name:
                raise SpecError(f"{name} is of kind {p.kind.value}: that is about runs, which `check` decides", p.at)
        raise KeyError(
            f"{self._machine.name} has no property {name!r}; it has {', '.join(c.name for c in self._claims)}"
        )

    def prove(self, most_k: int, length: int, samples: int) -> Proof:
        """All phases, as far as time allows."""

        def phases() -> None:
            self._search(min(length, most_k, _FIRST_LENGTH))
            self._induction(range(1, min(_FIRST_K, most_k) + 1))
            if samples and (self._provable() or self._premises):
                self._strengthen(samples)
            if self._provable():
                self._search(min(length, most_k))
            self._induction(range(_FIRST_K + 1, most_k + 1))
            if self._open:
                self._search(length)

        return self.prove_by(phases)

    def prove_by(self, phases: Callable[[], None]) -> Proof:
        """What ``phases`` find until they end or time does."""
        try:
            phases()
            if self._looked is None:
                self._look_for_premises()
        except OutOfTime as out:
            self._why = str(out)
        for claim in list(self._open.values()):
            self._answers[claim.name] = self._unknown(claim)
        return Proof(
            self._machine.name,
            dict(self._machine.parameters),
            tuple(self._limits.judged(self._with_premises(self._answers[c.name])) for c in self._claims),
            self._left_out,
            self._length,
            self._deadline.spent,
        )

    def _provable(self) -> list[Claim]:
        return [c for c in self._open.values() if not c.is_goal]

    # ---- the phases

    def _search(self, length: int, among: Collection[Claim] | None = None) -> None:
        """Look at all runs of up to ``length`` steps for violations of what is open, or of those ``among`` it."""
        search = self._runs if among is None else Search(self._encoding, list(among), self._deadline)
        found = search.found
        search.run(length, lambda steps, left: self._tell(f"runs of {steps} steps  {left} claims open"))
        if among is None:
            self._length = max(self._length, length if found.ended else found.length)
        for name in [n for n in self._open if n in found.traces]:
            self._found(name, found.traces[name], Method.BOUNDED)
        if found.why is not None:
            raise OutOfTime(found.why)

    def _found(self, name: str, trace: Trace, method: Method) -> None:
        claim = self._open[name]
        fault = trace.steps[-1].fault if trace.steps else None
        what, outcome = ("reached", Outcome.HOLDS) if claim.is_goal else ("violated", Outcome.VIOLATED)
        how = f"{what} after {in_steps(len(trace))}" + (f": {fault}" if fault is not None else "")
        self._answer(Claimed(PropertyVerdict(name, claim.kind, outcome, how, trace), method))

    def _answer(self, claimed: Claimed) -> None:
        name = claimed.verdict.name
        self._runs.drop(self._open.pop(name))
        self._answers[name] = replace(claimed, seconds=self._deadline.spent)

    def _holding(self) -> list[Claim]:
        """Claims that are proved or may be: what can be assumed in an induction step."""
        return [
            c
            for c in self._claims
            if not c.is_goal and (c.name in self._open or self._answers[c.name].verdict.outcome is Outcome.HOLDS)
        ]

    def _induction(self, ks: range) -> None:
        """Claims that are inductive over k steps; runs that are shorter were looked at."""
        for k in ks:
            if k > self._length + 1 or not self._provable():
                return
            self._tell(f"induction over {k} steps  {len(self._open)} claims open")
            found, blocked = Induction(self._encoding, k, self._deadline).inductive(self._holding())
            for name, step in blocked.items():
                if name in self._open:
                    self._blocked[name] = self._named(step)
            for name, how in found.items():
                if name in self._open:
                    self._answer(self._inductive(self._open[name], how))

    def _inductive(self, claim: Claim, found: Inductive) -> Claimed:
        helped = f", with {', '.join(found.helped_by)}" if found.helped_by else ""
        verdict = PropertyVerdict(claim.name, claim.kind, Outcome.HOLDS, f"inductive at k = {found.k}{helped}")
        helping = sum(claim_atoms(self._machine, name) for name in found.helped_by)
        return Claimed(verdict, Method.INDUCTION, found.k, helped_by=found.helped_by, helping=helping)

    def _strengthen(self, most: int) -> None:
        """Learn lemmas from states that runs come to."""
        self._tell(f"exploring up to {most:,} states for lemmas")
        explored = Exploration(self._machine, max_states=most, time_limit=self._deadline.left, stop=self._deadline.stop)
        for name in [n for n in self._open if explored.verdict[n].outcome is Outcome.VIOLATED]:
            trace = explored.verdict[name].trace
            assert trace is not None
            self._found(name, trace, Method.EXPLORED)
        self._not_seen(f"{explored.verdict.coverage.distinct_states:,} states", explored.has_occurred)
        self._deadline.check()
        if not len(explored.states):
            return
        if self._premises:
            # That a premise never comes true is a claim like any other.
            within = self._deadline.within(_PREMISE_SECONDS)
            if self._looked_at_start(within):
                never = self._learner(list(self._premises.values()), explored, within).learn()
                self._never_true = {e for e, c in self._premises.items() if c.name in never.needs}
        if not self._provable():
            return
        learner = self._learner(self._holding(), explored, self._deadline)
        learned = learner.learn(
            lambda lemmas, left: self._tell(f"{lemmas} lemmas  {left} claims and lemmas not inductive yet")
        )
        self._tell(f"{len(learned.lemmas)} lemmas  looking for those that are needed")
        learned = learner.shrink(learned, lambda name: claim_atoms(self._machine, name), self._deadline)
        for name in [n for n in self._open if n in learned.needs]:
            self._answer(self._with_lemmas(self._open[name], learned))
        for name, raw in learned.blocked.items():
            if name in self._open:
                self._blocked[name] = Blocked(1, named_state(self._machine, raw), None)
        if learned.why is not None:
            raise OutOfTime(learned.why)

    def _looked_at_start(self, deadline: Deadline) -> bool:
        """Drop premises that are true in an initial state, of which samples have some only: the base of the induction
        by which they are never true. False if time ran out."""
        search = Search(self._encoding, list(self._premises.values()), deadline)
        search.run(0)
        for event in [e for e, c in self._premises.items() if c.name in search.found.traces]:
            self._premises.pop(event)
        return search.found.why is None

    def _look_for_premises(self) -> None:
        """In short runs, where no states were explored."""
        search = Search(self._encoding, list(self._premises.values()), self._deadline)
        length = max(self._length, _FIRST_LENGTH)  # Spacer may have answered before any run was looked at
        search.run(length)
        if search.found.why is None:
            self._not_seen(f"runs of up to {length} steps", lambda e: self._premises[e].name in search.found.traces)

    def _not_seen(self, where: str, seen: Callable[[Event], bool]) -> None:
        """Premises that were ``seen`` need no more; of the others it is told ``where`` they were looked for."""
        self._looked = where
        for event in [e for e in self._premises if seen(e)]:
            self._premises.pop(event)

    def _learner(self, claims: list[Claim], explored: Exploration, deadline: Deadline) -> Learner:
        cells = [self._machine.values(c.variable.domain) for c in self._machine.cells()]
        sizes = np.array([[each.start, each.stop - each.start] for each in cells], np.int64).reshape(-1, 2)
        states = explored.states
        tick = deadline.check
        sums = equalities(self._program, states, tick)
        known = Samples(vocabulary(self._program, claims, sums), states, sizes, tick)
        schemas = Schemas(self._program, states)
        # Words that are wide enough for what the lemmas add up.
        return Learner(Encoding(self._program), claims, known, schemas, deadline)

    def _with_lemmas(self, claim: Claim, learned: Learned) -> Claimed:
        rests = learned.rests_on(claim.name)
        lemmas = tuple(
            Lemma(Words(self._machine).lemma(each.clauses, each.schema), each.atoms, each.clauses, each.schema)
            for each in learned.lemmas_of(claim.name)
        )
        helped = tuple(c.name for c in self._claims if c.name in rests and c is not claim)
        helping = sum(claim_atoms(self._machine, name) for name in helped)
        atoms = sum(each.atoms for each in lemmas) + helping
        what = [_count(len(lemmas), "lemma")] if lemmas else []
        what += [f"{len(helped)} {'property' if len(helped) == 1 else 'properties'}"] if helped else []
        how = f"inductive at k = 1, with {' and '.join(what)} of {_count(atoms, 'atom')}"
        verdict = PropertyVerdict(claim.name, claim.kind, Outcome.HOLDS, how)
        return Claimed(verdict, Method.LEMMAS, 1, lemmas, helped, helping=helping)

    def by_spacer(self, length: int) -> None:
        """Ask Spacer for an invariant for each claim. A violation that it says can be reached is searched for;
        of claims for which it has no answer, in runs of up to ``length`` steps."""
        spacer = BySpacer(self._machine, self._encoding, self._deadline)
        for turn, claim in ((turn, claim) for turn in range(TURNS) for claim in self._provable()):
            self._tell(f"Spacer is asked about {claim.name}  {len(self._open)} claims open")
            found = spacer.ask(claim, turn)
            if isinstance(found, Claimed):
                self._answer(found)
                continue
            self._unproved[claim.name] = found.why
            if found.reachable:
                self._search(LONGEST, [claim])
        if self._open:
            self._search(length)

    def _with_premises(self, claimed: Claimed) -> Claimed:
        """What is proved but says nothing is VACUOUS; where a premise was only not seen, that is said."""
        verdict = claimed.verdict
        if verdict.outcome is not Outcome.HOLDS or self._looked is None:
            return claimed
        for event in self._premises:
            if event.name == verdict.name:
                premise = next(p for p in self._machine.properties if p.name == event.name).premises[event.premise]
                if event in self._never_true:
                    how = f"premise never true: {premise!r}; {verdict.how}"
                    return replace(claimed, verdict=replace(verdict, outcome=Outcome.VACUOUS, how=how))
                how = f"{verdict.how}; premise not seen to be true in {self._looked}: {premise!r}"
                return replace(claimed, verdict=replace(verdict, how=how))
        return claimed

    def _named(self, step: BlockedStep) -> Blocked:
        return Blocked(step.k, step.state, self._semantics.call(self._semantics.instances[step.instance]))

    def _unknown(self, claim: Claim) -> Claimed:
        looked = f"no violation in runs of up to {self._length} steps"
        if claim.is_goal:
            looked = f"not reached in runs of up to {self._length} steps"
        elif self._length < 0:
            looked = "no runs were looked at"
        how = f"{looked}; {self._why}" if self._why is not None else looked
        if claim.name in self._unproved:
            how += f"; {self._unproved[claim.name]}"
        blocked = self._blocked.get(claim.name)
        if blocked is not None and self._why is None:
            how += f"; not inductive at k = {blocked.k}"
        verdict = PropertyVerdict(claim.name, claim.kind, Outcome.UNKNOWN, how)
        return Claimed(verdict, blocked=blocked, seconds=self._deadline.spent)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + "s" * (number != 1)


__all__ = ["prove"]

"""k-induction: claims that hold in the first k states of every run, and after any k states in which they hold.

Claims help each other: all that are left are assumed together, those that then fail are dropped, and the rest is tried
again, until none fails. What is left holds at every depth, if bounded model checking found no violation in the runs
that are shorter. Lemmas are assumed in every state; they hold by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import z3

from model.prove.arithmetic import Formula
from model.prove.claims import Claim
from model.prove.encoding import Encoding, View
from model.prove.solving import Deadline, ask_also
from model.prove.unrolling import Unrolling
from model.trace import NamedState, named_state


@dataclass(frozen=True, slots=True)
class Blocked:
    """Why an induction step fails: after ``k`` states in which the claims hold, of which ``state`` is the last, the
    instance number ``instance`` leads to a violation. No run that is known comes to ``state``; it may be one that
    nothing reaches, and a lemma that excludes it is then what is missing."""

    k: int
    raw: tuple[int, ...]
    state: NamedState
    instance: int


@dataclass(frozen=True, slots=True)
class Inductive:
    """A claim is inductive at ``k``, with the help of the claims in ``helped_by``."""

    k: int
    helped_by: tuple[str, ...]


class _Run:
    """``steps`` steps of any run, in whose first ``held`` states claims can be assumed."""

    def __init__(self, encoding: Encoding, steps: int, held: int) -> None:
        self.unrolling: Final = Unrolling(encoding)
        for _ in range(steps):
            self.unrolling.step()
        self.held: Final = held
        self._assumed: Final[dict[str, Formula]] = {}

    def views(self) -> list[View]:
        """The states in which claims are assumed."""
        return [self.unrolling.view(number) for number in range(self.held)]

    def assumed(self, claim: Claim) -> Formula:
        """A literal by which ``claim`` holds there, and for the steps between."""
        known = self._assumed.get(claim.name)
        if known is None:
            words = self.unrolling.encoding.words
            known = self._assumed[claim.name] = words.condition(f"{claim.name} holds")
            # No step that is asserted is a fault.
            last = 0 if claim.leads_nowhere else self.held - claim.of_steps
            holds = [z3.Not(self.unrolling.violation(claim, number)) for number in range(last)]
            self.unrolling.solver.add(z3.Implies(known, words.every(holds)))
        return known


class Induction:
    """Induction over ``k`` steps. ``lemma`` writes what is known of every state that can be reached."""

    def __init__(
        self, encoding: Encoding, k: int, deadline: Deadline, lemma: Callable[[View], Formula] | None = None
    ) -> None:
        self._encoding: Final = encoding
        self._k: Final = k
        self._deadline: Final = deadline
        # A step is looked at where the claims hold before it; a fault is one that no run has.
        self._whole: Final = _Run(encoding, k, k)
        self._faults: Final = _Run(encoding, k - 1, k)
        if lemma is not None:
            for run in (self._whole, self._faults):
                run.unrolling.solver.add(*map(lemma, run.views()))

    def inductive(self, claims: Sequence[Claim]) -> tuple[dict[str, Inductive], dict[str, Blocked]]:
        """Which of ``claims`` are inductive together, and what blocks each of the others."""
        left = list(claims)
        blocked: dict[str, Blocked] = {}
        while True:
            found: dict[str, Inductive] = {}
            failing = []
            for claim in left:
                by = self._fails(claim, left)
                if isinstance(by, Blocked):
                    failing.append(claim)
                    blocked[claim.name] = by
                else:
                    found[claim.name] = Inductive(self._k, tuple(by))
            if not failing:
                return found, blocked
            left = [c for c in left if c not in failing]

    def _fails(self, claim: Claim, others: Sequence[Claim]) -> Blocked | list[str]:
        """What blocks ``claim`` where all ``others`` are assumed, or the names of those that it needs."""
        run = self._faults if claim.leads_nowhere else self._whole
        unrolling, last = run.unrolling, self._k - 1
        literals = {run.assumed(c): c.name for c in others}
        violated = unrolling.violation(claim, last if claim.of_steps else self._k)
        model, core = ask_also(unrolling.solver, violated, self._deadline, tuple(literals))
        if model is None:
            names = {literals[each] for each in core}
            return [c.name for c in others if c.name in names and c is not claim]
        raw, instance = unrolling.state(model, last), unrolling.instance(model, last)
        return Blocked(self._k, raw, named_state(self._encoding.machine, raw), instance)


__all__ = ["Blocked", "Induction", "Inductive"]

"""A machine as Horn clauses over integers: what can be reached is the least relation that has the initial states and is
closed under every instance of an action. Spacer is asked whether it has a state that violates a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import z3

from model.lowering.ground import Node
from model.lowering.lower import Program
from model.prove.arithmetic import Formula, Integers
from model.prove.claims import Claim, violated_in
from model.prove.encoding import Encoding, View
from model.prove.horn.answers import nodes_of
from model.prove.solving import Deadline, OutOfTime

_PLAIN = ("xform.slice", "xform.inline_linear", "xform.inline_eager")
"""Transformations after which the answer would be about other relations."""


class Horn:
    """The clauses of ``program``."""

    def __init__(self, program: Program) -> None:
        self.program: Final = program
        self._encoding: Final = Encoding(program, Integers())
        self._state: Final = self._encoding.state("horn")
        self._view: Final = View(self._state)
        sorts = [unknown.sort() for unknown in self._state]
        self._reached: Final = z3.Function("reached", *sorts, z3.BoolSort(self._encoding.words.context))

    def invariant(self, claim: Claim, known: Sequence[Node], seed: int, deadline: Deadline) -> list[Node] | None:
        """Conditions that hold together in every state that can be reached, and exclude a violation of ``claim``; None
        if Spacer says that one can be reached. ``known``: what holds in every such state. ``seed`` of its random
        choices. OutOfTime if it cannot tell."""
        deadline.check()
        engine = self._engine(known)
        engine.set("spacer.random_seed", seed)
        if deadline.left is not None:
            engine.set("timeout", max(1, int(deadline.left * 1000)))
        try:
            answer = engine.query(self._encoding.words.every([*self._somewhere(known), self._violated(claim)]))
        except z3.Z3Exception:
            answer = z3.unknown
        if answer == z3.sat:
            return None
        if answer == z3.unknown:
            deadline.check()
            raise OutOfTime(f"Spacer gave up after {deadline.spent:.1f} s")
        return nodes_of(self.program, engine.get_cover_delta(-1, self._reached))

    def _engine(self, known: Sequence[Node]) -> z3.Fixedpoint:
        engine = z3.Fixedpoint(ctx=self._encoding.words.context)
        engine.set(engine="spacer", **dict.fromkeys(_PLAIN, False))
        # Without equalities between unknowns its lemmas are bounds, and it finds them several times as fast.
        engine.set("spacer.eq_prop", False)
        engine.register_relation(self._reached)
        engine.declare_var(*self._state)
        e, view = self._encoding, self._view
        engine.rule(self._reached(*self._state), [e.in_domains(self._state), e.initial(self._state)])
        for instance in self.program.instances:
            writes = {w.cell: e.holds(w.value, view) for w in instance.writes}
            after = [writes.get(number, unknown) for number, unknown in enumerate(self._state)]
            body = [*self._somewhere(known), e.is_enabled(instance, view), *e.sound(instance, view)]
            engine.rule(self._reached(*after), body)
        return engine

    def _somewhere(self, known: Sequence[Node]) -> list[Formula]:
        """The state can be reached; what is known of such states is said again."""
        e = self._encoding
        return [self._reached(*self._state), e.in_domains(self._state), *(e.holds(n, self._view) for n in known)]

    def _violated(self, claim: Claim) -> Formula:
        """The state violates ``claim``, or a step from there does."""
        e, view = self._encoding, self._view
        if not claim.of_steps:
            return violated_in(e, claim, view)
        bad = []
        for place, condition in claim.steps:
            instance = self.program.instances[place]
            sound = [] if claim.leads_nowhere else e.sound(instance, view)
            bad.append(e.words.every([e.is_enabled(instance, view), *sound, e.holds(condition, view)]))
        return e.words.some(bad)


__all__ = ["Horn"]

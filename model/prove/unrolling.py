"""States 0, 1, 2, ... of one run as unknowns, with the steps between them, in one solver that keeps what it learns."""

from __future__ import annotations

from typing import Final

import z3

from model.prove.arithmetic import LOGIC, Formula
from model.prove.claims import Claim, violated_by, violated_in
from model.prove.encoding import Encoding, State, View
from model.prove.orderings import Orderings


class Unrolling:
    """``steps`` steps are asserted so far: states 0 to ``steps`` follow one another. Every state is in its domains."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding: Final = encoding
        self.solver: Final = encoding.words.solver(LOGIC)
        self._states: Final[list[State]] = []
        self._views: Final[list[View]] = []
        self._chosen: Final[list[Formula]] = []
        self._orderings: Orderings | None = None
        self._add_state()
        self._add_state()

    @property
    def steps(self) -> int:
        """How many steps are asserted."""
        return len(self._states) - 2

    def _add_state(self) -> None:
        state = self.encoding.state(str(len(self._states)))
        self.solver.add(self.encoding.in_domains(state))
        if self._states:
            self._views.append(View(self._states[-1], state))
            self._chosen.append(self.encoding.chosen(str(len(self._chosen))))
        self._states.append(state)

    def begin(self) -> None:
        """State 0 is an initial state. Of runs that end alike one need be looked at."""
        self.solver.add(self.encoding.initial(self._states[0]))
        self._orderings = Orderings(self.encoding)

    def step(self) -> None:
        """One more step."""
        self.solver.add(self.encoding.is_step(self._views[-1], self._chosen[-1]))
        if self._orderings is not None:
            self.solver.add(*self._orderings.of(self._chosen))
        self._add_state()

    def view(self, number: int) -> View:
        """State ``number`` and the one after it, which need not follow yet."""
        return self._views[number]

    def violation(self, claim: Claim, number: int) -> Formula:
        """``claim`` is violated in state ``number``, or by the step from it. That step must be asserted, unless the
        claim leads nowhere."""
        view = self._views[number]
        if claim.of_steps:
            return violated_by(self.encoding, claim, view, self._chosen[number])
        return violated_in(self.encoding, claim, view)

    def run(self, model: z3.ModelRef, steps: int) -> tuple[tuple[int, ...], list[int]]:
        """The raw values of state 0, and the numbers of the instances of the first ``steps`` steps."""
        return self.state(model, 0), [self.instance(model, number) for number in range(steps)]

    def state(self, model: z3.ModelRef, number: int) -> tuple[int, ...]:
        """The raw values of state ``number``."""
        return self.encoding.value(model, self._states[number])

    def instance(self, model: z3.ModelRef, number: int) -> int:
        """The number in `Semantics.instances` of the step from state ``number``."""
        return self.encoding.program.instances[self.encoding.place(model, self._chosen[number])].number


__all__ = ["Unrolling"]

"""Bounded model checking: is there a run of so many steps at whose end a claim is violated?

Lengths are tried one by one, so the first run found is a shortest. Runs are replayed by `model.semantics`, which
has to find the claim violated as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import z3

from model.prove.claims import Claim
from model.prove.encoding import Encoding
from model.prove.replayed import assert_violated
from model.prove.solving import Deadline, OutOfTime, ask, ask_also
from model.prove.unrolling import Unrolling
from model.semantics import Semantics
from model.trace import Trace


@dataclass(slots=True)
class Bounded:
    """What was found in runs of at most ``length`` steps, all of which were looked at: -1 if none were. ``why``: what
    ended it before the length asked for. ``ended``: no run is longer."""

    traces: dict[str, Trace] = field(default_factory=dict)
    length: int = -1
    why: str | None = None
    ended: bool = False


def bounded(
    encoding: Encoding,
    claims: Sequence[Claim],
    most: int,
    deadline: Deadline,
    progress: Callable[[int, int], None] | None = None,
) -> Bounded:
    """Look for violations of ``claims`` in all runs of at most ``most`` steps. ``progress``: length, claims left."""
    search = Search(encoding, claims, deadline)
    search.run(most, progress)
    return search.found


class Search:
    """A search that can go on where it ended: ``found`` so far, and the claims that are ``left``."""

    def __init__(self, encoding: Encoding, claims: Sequence[Claim], deadline: Deadline) -> None:
        self.found: Final = Bounded()
        self.left: Final = list(claims)
        self._semantics = Semantics(encoding.machine)
        self._deadline = deadline
        self._unrolling = Unrolling(encoding)
        self._unrolling.begin()

    def drop(self, claim: Claim) -> None:
        """``claim`` is decided, and need not be looked at any more."""
        if claim in self.left:
            self.left.remove(claim)

    def run(self, most: int, progress: Callable[[int, int], None] | None = None) -> None:
        """Look at all runs of at most ``most`` steps that were not looked at yet. Once time ran out it is over."""
        found = self.found
        assert found.why is None, "a length that was looked at in part cannot be gone on from"
        try:
            while found.length < most and self.left and not found.ended:
                if progress is not None:
                    progress(found.length + 1, len(self.left))
                if self._look(found.length + 1, found.traces):
                    found.length += 1
                else:
                    found.ended = True
        except OutOfTime as out:
            found.why = str(out)

    def _look(self, length: int, traces: dict[str, Trace]) -> bool:
        """Look at runs of ``length`` steps: at their last states, and at their last steps. False if there are none."""
        unrolling, last = self._unrolling, length - 1
        if length:
            # What ends in a fault is asked for before the step is asserted, as no fault.
            self._those([c for c in self.left if c.leads_nowhere], last, traces)
            unrolling.step()
            self._those([c for c in self.left if c.of_steps and not c.leads_nowhere], last, traces)
            if ask(unrolling.solver, self._deadline) is None:
                return False
        self._those([c for c in self.left if not c.of_steps], length, traces)
        return True

    def _those(self, claims: list[Claim], number: int, traces: dict[str, Trace]) -> None:
        """Look for violations of ``claims`` at ``number``; all at once first, as mostly there is none."""
        unrolling = self._unrolling
        while claims:
            violations = [unrolling.violation(c, number) for c in claims]
            model, _ = ask_also(unrolling.solver, unrolling.encoding.words.some(violations), self._deadline)
            if model is None:
                return
            start, instances = unrolling.run(model, number + claims[0].of_steps)
            trace = self._semantics.run(start, instances)
            for claim, violation in zip(list(claims), violations, strict=True):
                if z3.is_true(model.eval(violation, model_completion=True)):
                    assert_violated(self._semantics, claim, start, instances)
                    traces[claim.name] = trace
                    claims.remove(claim)
                    self.left.remove(claim)


__all__ = ["Bounded", "Search", "bounded"]

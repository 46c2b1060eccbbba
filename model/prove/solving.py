"""Questions to z3 within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import z3

from model.prove.arithmetic import Formula

_LEAST_MILLISECONDS = 1
INTERRUPTED: Final = "interrupted"


class OutOfTime(Exception):
    """The budget ran out, or the solver gave up; the message says which and after how many seconds."""


class Deadline:
    """Seconds that all questions together may take; None for no limit. ``stop``: whether to stop at once."""

    def __init__(self, seconds: float | None, stop: Callable[[], bool] | None = None) -> None:
        self.started: Final = time.perf_counter()
        self.seconds: Final = seconds
        self.stop: Final = stop or (lambda: False)

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float | None:
        """Seconds that are left, at least 0; None for no limit."""
        return None if self.seconds is None else max(0.0, self.seconds - self.spent)

    def check(self) -> None:
        """OutOfTime if nothing is left, or it is to stop."""
        if self.stop():
            raise OutOfTime(INTERRUPTED)
        if self.left == 0:
            raise OutOfTime(f"time limit of {self.seconds:g} s ran out")

    def within(self, seconds: float) -> Deadline:
        """One that ends after ``seconds``, or with this one."""
        return Deadline(seconds if self.left is None else min(seconds, self.left), self.stop)


def ask(solver: z3.Solver, deadline: Deadline, assumptions: Sequence[Formula] = ()) -> z3.ModelRef | None:
    """A model of what ``solver`` has, where ``assumptions`` hold; None if none. OutOfTime if z3 cannot tell."""
    deadline.check()
    left = deadline.left
    if left is not None:
        solver.set("timeout", max(_LEAST_MILLISECONDS, int(left * 1000)))
    answer = solver.check(*assumptions)
    if answer == z3.unknown:
        deadline.check()
        # Ctrl-C during a question z3 takes for itself, and only says so.
        if "interrupted" in solver.reason_unknown():
            raise OutOfTime(INTERRUPTED)
        raise OutOfTime(f"z3 gave up after {deadline.spent:.1f} s: {solver.reason_unknown()}")
    return solver.model() if answer == z3.sat else None


def ask_also(
    solver: z3.Solver, formula: Formula, deadline: Deadline, assumptions: Sequence[Formula] = ()
) -> tuple[z3.ModelRef | None, tuple[Formula, ...]]:
    """A model in which ``formula`` holds as well, as `ask` finds one; where there is none, which of ``assumptions``
    exclude it.

    Nothing of the question stays in ``solver``, also when time runs out: it would make later ones unsatisfiable.
    """
    solver.push()
    try:
        solver.add(formula)
        model = ask(solver, deadline, assumptions)
        return model, () if model is not None else tuple(solver.unsat_core())
    finally:
        solver.pop()


def is_refuted(solver: z3.Solver, deadline: Deadline) -> bool:
    """Whether what ``solver`` has cannot be; False too where z3 gives up. OutOfTime past ``deadline``, or by Ctrl-C."""
    try:
        return ask(solver, deadline) is None
    except OutOfTime as why:
        deadline.check()
        if str(why) == INTERRUPTED:
            raise
        return False


__all__ = ["INTERRUPTED", "Deadline", "OutOfTime", "ask", "ask_also", "is_refuted"]

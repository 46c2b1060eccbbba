"""One call to CP-SAT: budgets, workers, and a bound that can be believed.

Two workers need their linear-programming subsolvers named; left alone, CP-SAT gives two workers to searches that do
not prove anything on packing problems. A first attempt on one worker within a deterministic budget makes everyday
inputs repeatable to the last pod; only what it cannot prove goes to the parallel search, whose objective is
repeatable when it proves it, and whose placement may then differ between runs.
"""

# float: seconds only
from __future__ import annotations

import enum
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ortools.sat.python import cp_model


class Watch:
    """Somebody who looks on: is told of progress, and may ask for an end, from another thread.

    The best answer so far, with its bound, is then the answer.
    """

    def __init__(self, tell: Callable[[int, int], None] | None = None) -> None:
        self.stopped = False
        self._tell = tell
        self._running: cp_model.CpSolver | None = None

    def stop(self) -> None:
        """End what runs, and start nothing more."""
        self.stopped = True
        if (running := self._running) is not None:
            running.stop_search()

    def tell(self, weight: int, bound: int) -> None:
        """The best weight so far and its bound."""
        if self._tell is not None:
            self._tell(weight, bound)

    def solve(self, solver: cp_model.CpSolver, model: cp_model.CpModel) -> int:
        """Run ``solver``, so that ``stop`` can end it."""
        self._running = solver
        try:
            return int(solver.solve(model))
        finally:
            self._running = None


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to try.

    ``deadline`` is on the clock of ``time.monotonic``; ``patience`` is in CP-SAT's deterministic seconds;
    ``fewest_nodes`` is False where only the weight is of interest; ``others`` is how many solutions are wanted beside
    the best; ``watch`` looks on.
    """

    deadline: float
    workers: int = 2
    seed: int = 0
    patience: float = 2.0
    fewest_nodes: bool = True
    others: int = 0
    watch: Watch = field(default_factory=Watch)

    def left(self) -> float:
        """Seconds until the deadline, at least 0; 0 where somebody asked for an end."""
        return 0.0 if self.watch.stopped else max(0.0, self.deadline - time.monotonic())

    def until(self, seconds: float) -> Effort:
        """The same effort that ends ``seconds`` from now, if that is sooner."""
        return replace(self, deadline=min(self.deadline, time.monotonic() + seconds))


class Outcome(enum.Enum):
    """What a run ended with: a proven optimum, a solution, nothing, or a proof that there is none."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    NOTHING = "nothing"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True, slots=True)
class Run:
    """``values[i]`` of variable i where there is a solution. ``bound`` bounds the objective; None: nothing is known.

    ``others`` are more solutions that were met on the way, none where the effort asks for none.
    """

    outcome: Outcome
    objective: int
    bound: int | None
    values: tuple[int, ...]
    others: tuple[tuple[int, ...], ...] = ()


def run(model: cp_model.CpModel, effort: Effort, maximise: bool) -> Run:
    """Solve ``model`` until proven or until the effort is spent; the best of both attempts."""
    first = _attempt(model, effort, maximise, workers=1)
    if first.outcome in (Outcome.OPTIMAL, Outcome.IMPOSSIBLE) or effort.workers < 2 or effort.left() < 0.05:
        return first
    if first.values:
        set_hint(model, {model.get_int_var_from_proto_index(i): value for i, value in enumerate(first.values)})
    second = _attempt(model, effort, maximise, workers=effort.workers)
    return _best(first, second, maximise)


def _best(first: Run, second: Run, maximise: bool) -> Run:
    sharper = min if maximise else max
    bounds = [r.bound for r in (first, second) if r.bound is not None]
    bound = sharper(bounds) if bounds else None
    solved = [r for r in (second, first) if r.values]
    if not solved:
        return Run(second.outcome, 0, bound, ())
    best = (max if maximise else min)(solved, key=lambda r: r.objective)
    outcome = Outcome.OPTIMAL if best.objective == bound else Outcome.FEASIBLE
    return Run(outcome, best.objective, bound, best.values)


def _attempt(model: cp_model.CpModel, effort: Effort, maximise: bool, workers: int) -> Run:
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.max_time_in_seconds = effort.left()
    parameters.random_seed = effort.seed
    parameters.num_workers = workers
    if effort.others:
        parameters.fill_additional_solutions_in_response = True
        parameters.solution_pool_size = effort.others
    if workers == 1:
        parameters.max_deterministic_time = effort.patience
    elif workers == 2:
        parameters.subsolvers.extend(["max_lp", "reduced_costs"])
    # beside another thread, that one takes Ctrl-C, and stops this one by its watch
    parameters.catch_sigint_signal = threading.current_thread() is threading.main_thread()
    status = effort.watch.solve(solver, model)
    if status == cp_model.INFEASIBLE:
        return Run(Outcome.IMPOSSIBLE, 0, None, ())
    if status == cp_model.MODEL_INVALID:
        raise AssertionError(f"invalid CP-SAT model: {model.validate()}")
    if status == cp_model.UNKNOWN:
        # stopped before a first solution, perhaps in presolve: the bound in the answer may never have been set
        return Run(Outcome.NOTHING, 0, None, ())
    values = tuple(solver.response_proto.solution)
    objective, bound = _exactly(model, values, solver.response_proto.inner_objective_lower_bound, maximise)
    others = tuple(tuple(each.values) for each in solver.response_proto.additional_solutions)
    if status == cp_model.OPTIMAL:
        return Run(Outcome.OPTIMAL, objective, objective, values, others)
    believable = bound >= objective if maximise else bound <= objective
    return Run(Outcome.FEASIBLE, objective, bound if believable else None, values, others)


def _exactly(model: cp_model.CpModel, values: Sequence[int], inner_bound: int, maximise: bool) -> tuple[int, int]:
    """Objective and bound in integers: what CP-SAT tells as floats is rounded beyond 2**53. It minimises inside."""
    inner = model.proto.objective
    assert inner.offset == 0, "an objective here is a weighted sum without a constant"
    reached = sum(c * values[v] for v, c in zip(inner.vars, inner.coeffs, strict=True))
    return (-reached, -inner_bound) if maximise else (reached, inner_bound)


def set_hint(model: cp_model.CpModel, values: Mapping[cp_model.IntVar, int]) -> None:
    """Replace the hint of ``model``."""
    model.clear_hints()  # type: ignore[no-untyped-call]
    for variable, value in values.items():
        model.add_hint(variable, value)

"""Two phases on one formulation: the most weight, then, with that weight kept, the fewest nodes."""

# float: seconds only
from __future__ import annotations

from dataclasses import dataclass

from solver_placement.engine import Effort, Outcome, run
from solver_placement.model_cpsat import Formulation
from solver_placement.problem import Packing, Problem, Unsound, better


@dataclass(frozen=True, slots=True)
class Found:
    """A packing with what is known about better ones: see ``answer.Solution`` for the two bounds."""

    packing: Packing
    bound: int
    nodes_bound: int


def two_phases(problem: Problem, formulation: Formulation, start: Found, effort: Effort) -> Found:
    """Improve ``start`` by ``formulation``, which must be exact, until both phases are proven or the effort is spent.

    Three quarters of the time may go to the weight.
    """
    best, bound = start.packing, start.bound
    weight = formulation.weight()
    if problem.weight(best) < bound:
        formulation.hint(best)
        formulation.model.maximize(weight)
        first = run(formulation.model, effort.until(0.75 * effort.left()), maximise=True)
        if first.outcome is Outcome.IMPOSSIBLE:
            raise Unsound("admitting nothing is a placement, yet the model has none")
        if first.bound is not None:
            bound = min(bound, first.bound)
        if first.values:
            best = better(problem, formulation.read(first.values), best)
    # a bound on nodes for at least some weight is one for any greater weight too
    kept, fewest = problem.weight(best), start.nodes_bound
    if not effort.fewest_nodes:
        return Found(best, bound, fewest)
    if problem.weight(best) == bound and best.nodes_used() == fewest:
        return Found(best, bound, fewest)
    nodes = formulation.nodes_used()
    formulation.model.add(weight >= kept)
    formulation.hint(best)
    formulation.model.minimize(nodes)
    second = run(formulation.model, effort, maximise=False)
    if second.outcome is Outcome.IMPOSSIBLE:
        raise Unsound(f"a weight of {kept} was placed, yet the model has no placement of it")
    if second.bound is not None:
        fewest = max(fewest, second.bound)
    if second.values:
        best = better(problem, formulation.read(second.values), best)
    return Found(best, bound, fewest)

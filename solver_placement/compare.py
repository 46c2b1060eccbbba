"""Greedy versus optimal on one input: how much weight each policy leaves, and the smallest input on which one does.

Every placement, the solver's too, is judged by ``reference.validate``; one that it refuses has no place in a comparison
and is reported as refused.
"""

# float: seconds only
from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from reference.cluster import Cluster, Placement
from reference.placement_metrics import PlacementMetrics, measure
from reference.validate import validate
from solver_placement.answer import Objective, Solution, gap
from solver_placement.problem import Unsound
from solver_placement.solve import solve
from solver_placement.witness import Policy, Search, Witness, find_witness, weight_of

WITNESS_SHARE = 4
"""One part in this many of the time is kept for the witness."""


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """What one policy does with the input. ``refusals`` are the rules that its placement breaks, none for a good one.

    ``gap`` is what it leaves of the solver's bound on the weight, as a fraction of that bound. ``metrics`` are those of
    the field (``reference.placement_metrics``), None for a placement that is refused.
    """

    name: str
    placement: Placement
    objective: Objective
    gap: Fraction
    refusals: tuple[str, ...]
    seconds: float
    metrics: PlacementMetrics | None

    @property
    def admitted_gangs(self) -> int:
        """How many gangs the policy admits."""
        return len(self.placement.admitted)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Policies against the solver.

    ``witness`` is for the first policy that falls short; where there is none, ``witness_note`` says why.
    """

    policies: tuple[PolicyResult, ...]
    solution: Solution
    solution_refusals: tuple[str, ...]
    solution_metrics: PlacementMetrics
    witness: Witness | None
    witness_note: str

    @property
    def refused(self) -> bool:
        """Whether the judge refuses any placement of this comparison."""
        return bool(self.solution_refusals) or any(p.refusals for p in self.policies)


def compare(
    cluster: Cluster,
    policies: Mapping[str, Policy],
    time_limit: float = 60.0,
    *,
    method: str = "auto",
    seed: int = 0,
) -> Comparison:
    """Run each of ``policies`` (name -> scheduler) on ``cluster``, and the solver from the best of their placements.

    ``time_limit`` is in seconds, for everything; a policy is not interrupted, and the solver has at least a third of
    the time. Raises what ``solve`` raises, and Unsound where a good placement has more weight than the bound.
    """
    deadline = time.monotonic() + time_limit
    runs = {name: _run(cluster, policy) for name, policy in policies.items()}
    left = deadline - time.monotonic()
    solution = solve(
        cluster,
        time_limit=max(left - time_limit / WITNESS_SHARE, time_limit / 3),
        method=method,
        seed=seed,
        starts=[run.placement for run in runs.values() if not run.refusals],
    )
    results = tuple(
        PolicyResult(
            name,
            r.placement,
            r.objective,
            gap(r.objective.weight, solution.bound),
            r.refusals,
            r.seconds,
            None if r.refusals else measure(cluster, r.placement),
        )
        for name, r in runs.items()
    )
    for each in results:
        if not each.refusals and each.objective.weight > solution.bound:
            raise Unsound(
                f"{each.name} has weight {each.objective.weight}, which the judge accepts, "
                f"but the solver's bound is {solution.bound}"
            )
    refused = tuple(str(violation) for violation in validate(cluster, solution.placement))
    witness, note = _witness(cluster, policies, results, solution, max(deadline - time.monotonic(), 0.0), seed)
    return Comparison(results, solution, refused, measure(cluster, solution.placement), witness, note)


@dataclass(frozen=True, slots=True)
class _Run:
    placement: Placement
    objective: Objective
    refusals: tuple[str, ...]
    seconds: float


def _run(cluster: Cluster, policy: Policy) -> _Run:
    began = time.monotonic()
    placement = policy(cluster)
    seconds = time.monotonic() - began
    refusals = tuple(str(violation) for violation in validate(cluster, placement))
    return _Run(placement, Objective(weight_of(cluster, placement), placement.nodes_used()), refusals, seconds)


def _witness(
    cluster: Cluster,
    policies: Mapping[str, Policy],
    results: tuple[PolicyResult, ...],
    solution: Solution,
    seconds: float,
    seed: int,
) -> tuple[Witness | None, str]:
    """The witness for the first policy that certainly leaves weight, or the reason why there is none."""
    best = solution.objective.weight
    short = [r for r in results if not r.refusals and r.objective.weight < best]
    if not short:
        proven = all(r.objective.weight == solution.bound for r in results)
        return None, "every policy reaches the optimum" if proven else "nothing better than the policies was found"
    first = short[0]
    witness = find_witness(
        cluster,
        Search(first.name, policies[first.name], seconds, seed),
        proven=solution.weight_proven,
        cost=first.seconds + solution.seconds,
    )
    if witness is None:
        return None, f"no part of the input on which {first.name} provably falls short was found within {seconds:.0f} s"
    return witness, ""

"""Optimal gang placement with OR-Tools CP-SAT: bounds, proofs, and greedy versus optimal.

``solve(cluster)`` answers with a ``Solution``; ``compare(cluster, policies)`` with a ``Comparison``.
"""

from solver_placement.answer import Objective, Phase, Solution, Status
from solver_placement.compare import Comparison, PolicyResult, compare
from solver_placement.engine import Watch
from solver_placement.goals import OBJECTIVES
from solver_placement.problem import ProblemTooLarge
from solver_placement.solve import METHODS, solve
from solver_placement.witness import Witness

__all__ = [
    "METHODS",
    "OBJECTIVES",
    "Comparison",
    "Objective",
    "Phase",
    "PolicyResult",
    "ProblemTooLarge",
    "Solution",
    "Status",
    "Watch",
    "Witness",
    "compare",
    "solve",
]

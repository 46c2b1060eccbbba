"""Optimal gang placement with OR-Tools CP-SAT: bounds, proofs, and greedy versus optimal.

``solve(cluster)`` answers with a ``Solution``; ``compare(cluster, policies)`` with a ``Comparison``.
"""

from solver_placement.answer import Objective, Solution, Status
from solver_placement.compare import Comparison, PolicyResult, compare
from solver_placement.problem import ProblemTooLarge
from solver_placement.solve import METHODS, solve
from solver_placement.witness import Witness

__all__ = [
    "METHODS",
    "Comparison",
    "Objective",
    "PolicyResult",
    "ProblemTooLarge",
    "Solution",
    "Status",
    "Witness",
    "compare",
    "solve",
]

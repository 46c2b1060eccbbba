"""Optimal gang placement with OR-Tools CP-SAT: bounds, proofs, and greedy versus optimal.

``solve(cluster)`` answers with a ``Solution``.
"""

from solver_placement.answer import Objective, Solution, Status
from solver_placement.problem import ProblemTooLarge
from solver_placement.solve import METHODS, solve

__all__ = ["METHODS", "Objective", "ProblemTooLarge", "Solution", "Status", "solve"]

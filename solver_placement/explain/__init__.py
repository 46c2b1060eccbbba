"""Why a gang is pending: a minimal set of constraints that block it, and the minimal corrections.

A constraint is something that a user can name and change: the maximum of a queue for one resource, a selector, a taint,
a rack requirement, the room on nodes, running pods. Each is an edit of the cluster that lifts it, so what an answer
claims can be tried by anybody: lift these, and the gang fits.

Start reading at ``explain.py``; ``constraints.py`` has the constraints, ``fit.py`` decides one question, ``minimal.py``
asks for subsets.
"""

from solver_placement.explain.constraints import Constraint, Kind
from solver_placement.explain.explain import (
    KNOWS,
    Correction,
    Explanation,
    Status,
    explain_pending,
    settled,
    waiting_gang,
)

__all__ = [
    "KNOWS",
    "Constraint",
    "Correction",
    "Explanation",
    "Kind",
    "Status",
    "explain_pending",
    "settled",
    "waiting_gang",
]

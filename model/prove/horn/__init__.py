"""Invariants from Spacer, z3's engine for Horn clauses.

- `clauses`: a machine as Horn clauses, and the question whether a violation can be reached.
- `answers`: the invariant that Spacer answers, as ground expressions.
- `checked`: whether it is one, by the usual solver. What Spacer says is not trusted.
"""

"""What a scheduler or the solver answers: which pods of which gang go where, and why the others wait.

Pods of one task group are identical, so they are counted, not named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Assignment:
    """``count`` pods (at least 1) of one task group on one node."""

    application: str
    task_group: str
    node: str
    count: int


@dataclass(frozen=True, slots=True)
class Placement:
    """A complete answer for one cluster.

    ``assignments`` are sorted and list each (application, task group, node) once. ``admitted`` are the gangs that are
    whole, sorted. ``pending`` gives every other gang, by name in sorted order, and the reason in one line.
    """

    assignments: tuple[Assignment, ...]
    admitted: tuple[str, ...]
    pending: Mapping[str, str] = field(default_factory=dict)

    def nodes_used(self) -> int:
        """How many different nodes the assignments touch."""
        return len({a.node for a in self.assignments})

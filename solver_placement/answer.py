"""What the solver answers: a placement, what it is worth, and how much better any other could be."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from reference.cluster import Cluster, Placement


class Status(enum.Enum):
    """OPTIMAL: weight and nodes are both proven. FEASIBLE: not all of it was proven within the budget."""

    OPTIMAL = "OPTIMAL"
    FEASIBLE = "FEASIBLE"


@dataclass(frozen=True, slots=True)
class Objective:
    """First the weight of the admitted gangs (more is better), then the nodes in use (fewer is better)."""

    weight: int
    nodes: int

    def better_than(self, other: Objective) -> bool:
        """Whether this one is strictly better."""
        return (self.weight, -self.nodes) > (other.weight, -other.nodes)


@dataclass(frozen=True, slots=True)
class Phase:
    """One objective of several: its value, and the best it can be while those before it are as good as they are.

    ``sense`` is ``maximise`` or ``minimise``.
    """

    name: str
    sense: str
    value: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether nothing better is possible in this phase."""
        return self.value == self.bound


@dataclass(frozen=True, slots=True)
class Solution:
    """``bound``: no placement has more weight. ``nodes_bound``: none of at least this weight uses fewer nodes.

    Where other objectives come before, both are of placements that are as good in those.

    ``phases`` are the objectives in their order. ``launched`` counts the nodes to launch by type; ``cluster`` is the
    question with those nodes in it, which is what the placement is for.
    """

    placement: Placement
    objective: Objective
    bound: int
    nodes_bound: int
    status: Status
    method: str
    seconds: float
    phases: tuple[Phase, ...]
    cluster: Cluster
    launched: Mapping[str, int]

    @property
    def gap(self) -> Fraction:
        """(bound - weight) / bound; 0 where the bound is 0."""
        return gap(self.objective.weight, self.bound)

    @property
    def weight_proven(self) -> bool:
        """Whether no placement has more weight, whatever is known about the nodes."""
        return self.objective.weight == self.bound


def gap(weight: int, bound: int) -> Fraction:
    """What ``weight`` leaves of ``bound``, as a fraction of the bound."""
    return Fraction(bound - weight, bound) if bound else Fraction(0)

"""The smallest part of an input on which a policy provably falls short of the optimum.

Delta debugging (Zeller and Hildebrandt 2002): take something away, keep what still shows the difference, until
nothing can be taken away any more. Every step is judged anew: the policy runs on the smaller cluster,
``reference.validate`` judges its placement, and the solver proves the most weight. A large input is not shrunk from
the whole; samples of its nodes and gangs are tried first, small ones before larger ones.
"""

# float: seconds only
from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from reference.cluster import Application, Cluster, Placement
from reference.validate import validate
from solver_placement.answer import Solution
from solver_placement.shrink import passes, without_idle_queues
from solver_placement.solve import solve

Policy = Callable[[Cluster], Placement]

PATIENCE = 5.0
"""Seconds for one proof on the way."""

LARGEST_SAMPLE = 64
"""Nodes; a difference that takes more than that to show is not found by sampling."""


@dataclass(frozen=True, slots=True)
class Witness:
    """``cluster`` is part of the input; ``placement`` is the policy's, ``solution`` the proven best one.

    ``minimal``: nothing that the search knows to take away (a gang, a task group, a member, a node, a member and a
    node, a running pod, a limit, queues without gangs) can be taken away; otherwise the time ran out first.
    ``tried`` counts the clusters judged.
    """

    policy: str
    cluster: Cluster
    placement: Placement
    weight: int
    solution: Solution
    minimal: bool
    tried: int

    @property
    def sentence(self) -> str:
        """The witness in words."""
        gangs, nodes = _counted(len(self.cluster.applications), "gang"), _counted(len(self.cluster.nodes), "node")
        admitted = ", ".join(self.placement.admitted) or "no gang"
        end = "Nothing can be taken away from it." if self.minimal else "The time ran out before it was smallest."
        return (
            f"With {gangs} and {nodes}, {self.policy} admits {admitted} (weight {self.weight}); the best admits "
            f"{', '.join(self.solution.placement.admitted)} (weight {self.solution.objective.weight}). {end}"
        )


@dataclass
class Search:
    """One policy's search: its budget in seconds from now, and what it spent."""

    name: str
    policy: Policy
    seconds: float
    seed: int = 0
    tried: int = 0
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.seconds

    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self.deadline - time.monotonic())

    def falls_short(self, cluster: Cluster) -> bool:
        """Whether the policy's good placement of ``cluster`` has less than the proven most weight."""
        if not cluster.applications or not cluster.nodes:
            return False
        self.tried += 1
        placement = self.policy(cluster)
        weight = weight_of(cluster, placement)
        if weight == sum(app.weight for app in cluster.applications) or validate(cluster, placement):
            return False
        best = solve(cluster, time_limit=min(PATIENCE, self.left()), fewest_nodes=False, seed=self.seed)
        return best.weight_proven and weight < best.objective.weight


def find_witness(cluster: Cluster, search: Search, *, proven: bool, cost: float) -> Witness | None:
    """The smallest part of ``cluster`` that ``search`` finds in its time; None where it finds no part at all.

    ``proven`` says that the whole cluster is known to show the difference, ``cost`` what judging it takes in seconds.
    """
    whole = proven and cost * 20 < search.seconds
    start = cluster if whole else next((c for c in _samples(cluster, search) if search.falls_short(c)), None)
    if start is None:
        return None
    smallest, minimal = _shrink(start, search)
    placement = search.policy(smallest)
    solution = solve(smallest, time_limit=PATIENCE, seed=search.seed)
    return Witness(search.name, smallest, placement, weight_of(smallest, placement), solution, minimal, search.tried)


def _shrink(cluster: Cluster, search: Search) -> tuple[Cluster, bool]:
    """Apply all passes again and again until none changes anything; False where the time ran out before."""

    def judge(candidate: Cluster) -> bool:
        return search.left() > 0 and search.falls_short(candidate)

    while True:
        before = cluster
        for shrink in passes():
            cluster = shrink(cluster, judge)
            if search.left() <= 0:
                return cluster, False
        if cluster is before:
            return cluster, True


def _samples(cluster: Cluster, search: Search) -> Iterator[Cluster]:
    """Parts of ``cluster``: few nodes with gangs that contend for them, then more of both, until the time is up."""
    chance = random.Random(search.seed)
    size = 1
    while search.left() > 0:
        for _ in range(10):
            nodes = chance.sample(cluster.nodes, min(size, len(cluster.nodes)))
            names = {node.name for node in nodes}
            part = replace(
                cluster,
                nodes=tuple(n for n in cluster.nodes if n.name in names),
                running=tuple(p for p in cluster.running if p.node in names),
            )
            waiting = _contenders(part, chance, 4 + 2 * size)
            yield without_idle_queues(replace(part, applications=waiting))
            if search.left() <= 0:
                return
        if size >= min(len(cluster.nodes), LARGEST_SAMPLE):
            return
        size += max(1, size // 2)


def _contenders(part: Cluster, chance: random.Random, most: int) -> tuple[Application, ...]:
    """Up to ``most`` gangs, at random among those that fit ``part`` by their sum in every type."""
    room: dict[str, int] = {}
    for node in part.nodes:
        for name, amount in node.available.items():
            room[name] = room.get(name, 0) + amount
    fitting = [a for a in part.applications if all(n <= room.get(r, n) for r, n in a.placeholder_ask.items())]
    chosen = {a.name for a in chance.sample(fitting, min(most, len(fitting)))}
    return tuple(a for a in part.applications if a.name in chosen)


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def weight_of(cluster: Cluster, placement: Placement) -> int:
    """The weight of the gangs that ``placement`` admits."""
    admitted = set(placement.admitted)
    return sum(app.weight for app in cluster.applications if app.name in admitted)

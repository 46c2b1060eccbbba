"""Cell compaction: the fewest machines on which a policy still places what it places on all of them.

The nodes are brought into a random order, and the shortest beginning of it is looked for, by bisection, on which the
policy admits every gang that it admits on the whole cluster; repeated for several orders ("Large-scale cluster
management at Google with Borg", EuroSys 2015). Nodes with running pods come first, for these stay.
"""

from __future__ import annotations

import random
from dataclasses import replace

from reference.cluster import Cluster
from solver_placement.witness import Policy


def compaction(cluster: Cluster, policy: Policy, *, trials: int, seed: int = 0) -> tuple[int, ...]:
    """How many nodes were enough, for each of ``trials`` orders drawn from ``seed``, ascending.

    More nodes are taken to be enough where fewer were, as bisection has to: a greedy may break that.
    """
    admitted = set(policy(cluster).admitted)
    workload = replace(cluster, applications=tuple(a for a in cluster.applications if a.name in admitted))
    busy = {pod.node for pod in cluster.running}
    chance = random.Random(seed)

    def enough(count: int, order: list[str]) -> bool:
        kept = set(order[:count])
        part = replace(workload, nodes=tuple(node for node in cluster.nodes if node.name in kept))
        return set(policy(part).admitted) >= admitted

    found = []
    for _ in range(trials):
        idle = [node.name for node in cluster.nodes if node.name not in busy]
        chance.shuffle(idle)
        order = [*sorted(busy), *idle]
        low, high = len(busy), len(order)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle, order) else (middle + 1, high)
        found.append(low)
    return tuple(sorted(found))

"""The optimum by enumeration: every subset of gangs, every way to put each task group on the nodes.

Shares nothing with the solver. Only for tiny clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from reference.cluster import Application, Cluster, Resources, TaskGroup, total


def best(cluster: Cluster) -> tuple[int, int]:
    """The most weight that can be admitted, and the fewest nodes that it takes."""
    answers = [(0, 0)]
    for size in range(1, len(cluster.applications) + 1):
        for chosen in combinations(cluster.applications, size):
            if queues_allow(cluster, chosen):
                weight = sum(app.weight for app in chosen)
                answers += [(weight, -used) for used in nodes_used(cluster, chosen)]
    weight, used = max(answers)
    return weight, -used


def queues_allow(cluster: Cluster, chosen: tuple[Application, ...]) -> bool:
    """Whether all of ``chosen`` together keep every maximum and application count, running pods included."""
    for queue in cluster.queues:
        inside = [app for app in chosen if queue in cluster.queues.path(app.queue)]
        asked = total(app.placeholder_ask for app in inside)
        if not asked.fits_in_limit(queue.maximum - _listed(cluster.queue_usage(queue.name), queue.maximum)):
            return False
        there = len(inside) + len(cluster.running_applications(queue.name))
        if inside and queue.max_applications is not None and there > queue.max_applications:
            return False
    return True


def _listed(amounts: Resources, limit: Resources) -> Resources:
    return Resources({name: amounts.amount(name) for name in limit})


def nodes_used(cluster: Cluster, chosen: tuple[Application, ...]) -> set[int]:
    """The numbers of nodes with which ``chosen`` can be placed whole; empty where it cannot be placed."""
    # one entry per node: what is left, and whether a pod was put there
    states = {tuple((cluster.free(node), False) for node in cluster.nodes)}
    for app in chosen:
        for group in app.task_groups:
            states = {after for before in states for after in _placed(cluster, before, group)}
    return {sum(touched for _, touched in state) for state in states}


State = tuple[tuple[Resources, bool], ...]


def _placed(cluster: Cluster, state: State, group: TaskGroup) -> Iterator[State]:
    """Every state after all members of ``group`` are placed."""
    for counts in _splits(group.min_member, len(state)):
        after = list(state)
        for i, count in enumerate(counts):
            if count == 0:
                continue
            node, (free, _) = cluster.nodes[i], state[i]
            asked = node.counted(group.pod_resource * count)
            if not node.admits(group.constraints) or not asked.fits_in(free):
                break
            after[i] = (free - asked, True)
        else:
            yield tuple(after)


def _splits(total_count: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write ``total_count`` as a sum of ``parts`` counts."""
    if parts == 0:
        if total_count == 0:
            yield ()
        return
    for first in range(total_count + 1):
        for rest in _splits(total_count - first, parts - 1):
            yield (first, *rest)

"""Pods that ask for nothing that a node limits: any number of them fit, whichever gang is looked at first."""

from __future__ import annotations

import pytest

from reference.cluster import Application, Cluster, Node, Queue, QueueTree, Resources, TaskGroup
from reference.validate import validate
from solver_placement import ProblemTooLarge, solve


def cluster(*members: int, weight: int = 1) -> Cluster:
    """Gangs of so many members each, asking for nothing, on a node that does not limit its pods."""
    apps = tuple(
        Application(f"gang-{i}", "root", (TaskGroup("g", n, Resources()),), submitted=i, weight=weight)
        for i, n in enumerate(members)
    )
    return Cluster((Node("n1", Resources(vcore=1000)),), QueueTree(Queue("root")), apps)


@pytest.mark.parametrize("members", [(1, 2), (2, 1), (1, 3, 2), (3,)])
def test_every_gang_that_asks_for_nothing_is_admitted(members: tuple[int, ...]) -> None:
    solution = solve(cluster(*members), time_limit=10)
    assert solution.objective.weight == solution.bound == len(members)
    assert validate(cluster(*members), solution.placement) == []


def test_weights_whose_sum_floats_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(ProblemTooLarge, match="weights"):
        solve(cluster(1, 1, weight=3 * 10**15), time_limit=10)


def test_a_pod_that_asks_for_nothing_is_placed() -> None:
    """Where nodes do not list pods it takes nothing at all, and has no share of anything."""
    queue = Queue("root", children=(Queue("root.q"),))
    gangs = (
        Application("a", "root.q", (TaskGroup("g", 2, Resources()),)),
        Application("b", "root.q", (TaskGroup("g", 1, Resources({"vcore": 500})),)),
    )
    found = solve(Cluster((Node("n", Resources({"vcore": 1000})),), QueueTree(queue), gangs), method="auto")
    assert found.placement.admitted == ("a", "b")

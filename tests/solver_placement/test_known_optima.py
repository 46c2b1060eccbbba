"""Published optima: bin packing is placing single pods on equal nodes, all of them, on the fewest."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from reference.cluster import Application, Cluster, Node, Queue, QueueTree, Resources, TaskGroup
from reference.validate import validate
from solver_placement import Status, solve

DATA = json.loads((Path(__file__).parent / "data" / "bin_packing.json").read_text())


def bins(capacity: list[int], items: list[tuple[int, list[int]]], count: int) -> Cluster:
    """``count`` equal nodes, and one application per item; items are (how many, amount per dimension)."""
    names = [f"dimension{d}" for d in range(len(capacity))]
    sizes = [size for times, size in items for _ in range(times)]
    apps = (
        Application(f"item{i:03}", "root.a", (TaskGroup("g", 1, Resources(dict(zip(names, size, strict=True)))),), i)
        for i, size in enumerate(sizes)
    )
    node = Resources(dict(zip(names, capacity, strict=True)))
    tree = QueueTree(Queue("root", children=(Queue("root.a"),)))
    return Cluster(tuple(Node(f"bin{b:03}", node) for b in range(count)), tree, tuple(apps))


def known(name: str) -> dict[str, object]:
    return next(instance for instance in DATA["instances"] if instance["name"] == name)


# Triplets leave no room at all in any bin; that takes seconds, and minutes on a loaded machine.
SLOW = [pytest.param(i, marks=pytest.mark.slow) for i in DATA["instances"] if i["name"].startswith("classC")]
FAST = [i for i in DATA["instances"] if not i["name"].startswith("classC")]


@pytest.mark.parametrize("instance", [*FAST, *SLOW], ids=lambda i: i["name"])
def test_the_fewest_nodes_are_the_published_bins(instance: dict[str, object]) -> None:
    items = [(count, size) for count, *size in instance["items"]]  # type: ignore[attr-defined]
    cluster = bins(instance["capacity"], items, instance["bins"] + 2)  # type: ignore[arg-type, operator]
    answer = solve(cluster, time_limit=120)
    assert validate(cluster, answer.placement) == []
    assert answer.objective.weight == answer.bound == len(cluster.applications)
    assert answer.objective.nodes == answer.nodes_bound == instance["bins"]
    assert answer.status is Status.OPTIMAL


def test_with_one_node_less_something_stays_out() -> None:
    instance = known("class1_20_10_3")
    items = [(count, size) for count, *size in instance["items"]]  # type: ignore[attr-defined]
    cluster = bins(instance["capacity"], items, instance["bins"] - 1)  # type: ignore[arg-type, operator]
    answer = solve(cluster, time_limit=3)
    assert validate(cluster, answer.placement) == []
    assert answer.objective.weight < len(cluster.applications)
    assert answer.objective.weight <= answer.bound


@pytest.mark.slow
@pytest.mark.large_data
def test_the_whole_orlib_set(large_data: Path) -> None:
    tokens = iter((large_data / "orlib_bpp" / "orlib_binpack1.txt").read_text().split())
    proven = 0
    for _ in range(int(next(tokens))):
        name, capacity, count, published = next(tokens), *(int(t) for t in islice(tokens, 3))
        cluster = bins([capacity], [(1, [int(size)]) for size in islice(tokens, count)], published + 2)
        answer = solve(cluster, time_limit=20)
        assert validate(cluster, answer.placement) == []
        assert answer.objective.weight == count, name
        assert answer.nodes_bound <= published <= answer.objective.nodes, name
        proven += answer.status is Status.OPTIMAL
    assert proven >= 15

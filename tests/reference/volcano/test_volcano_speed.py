"""What a decision costs, counted in looks at nodes; and a production trace against the clock."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from reference.cluster import MEMORY, VCORE, Application, Cluster, Node, Queue, QueueTree, Resources, TaskGroup
from reference.schedulers import schedule
from reference.schedulers.volcano import Session
from reference.validate import validate

SHAPES = 5


def cluster(nodes: int, gangs: int) -> Cluster:
    """Gangs of three pods, of a few shapes in turn, with room for all."""
    return Cluster(
        tuple(Node(f"n{i:04}", Resources({VCORE: 64 + i % 3, MEMORY: 64})) for i in range(nodes)),
        QueueTree(Queue("root", children=(Queue("root.a"), Queue("root.b")))),
        tuple(
            Application(
                f"a{i:04}",
                f"root.{'ab'[i % 2]}",
                (TaskGroup("g", 3, Resources({VCORE: 1 + i % SHAPES, MEMORY: 1})),),
                submitted=i,
            )
            for i in range(gangs)
        ),
    )


@pytest.mark.parametrize("nodes", [50, 400])
def test_a_decision_looks_at_the_nodes_that_changed(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each shape looks at every node once; from then on a decision does not cost more with more nodes."""
    looks = 0
    rank = Session.rank

    def counted(self: Session, task, node):  # type: ignore[no-untyped-def]
        nonlocal looks
        looks += 1
        return rank(self, task, node)

    monkeypatch.setattr(Session, "rank", counted)
    made = cluster(nodes, 60)
    assert len(schedule(made, "volcano").placement.admitted) == 60
    assert looks <= SHAPES * nodes + 60 * 3 * (SHAPES + 1)


@pytest.mark.slow
@pytest.mark.large_data
def test_openb(large_data: Path) -> None:
    """A production GPU cluster: 8152 pods in gangs."""
    from reference.manifests import load

    files = [large_data / "openb" / name for name in ("openb_node_list_gpu_node.csv", "openb_pod_list_default.csv")]
    made = load(files).cluster
    started = time.process_time()
    result = schedule(made, "volcano")
    assert time.process_time() - started < 20  # a third of that on a quiet machine
    assert validate(made, result.placement) == []
    assert len(result.placement.admitted) > 0.9 * len(made.applications)


@pytest.mark.slow
def test_fifty_thousand_pods() -> None:
    """On five thousand nodes, in minutes."""
    made = cluster(5_000, 16_667)
    started = time.process_time()
    result = schedule(made, "volcano")
    assert time.process_time() - started < 120
    assert len(result.placement.admitted) == 16_667

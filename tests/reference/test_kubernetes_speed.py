"""What a decision of the Kubernetes reference costs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from reference.cluster import Application, Cluster, Node, Queue, QueueTree, Resources, TaskGroup
from reference.manifests import load
from reference.schedulers import schedule
from reference.schedulers.kubernetes.index import Kind
from reference.validate import validate


def looks(nodes: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a node is looked at while 120 gangs of one pod, of six kinds in turn, are placed."""
    count = 0
    look_at = Kind.look_at

    def counted(self: Kind, *arguments: object) -> None:
        nonlocal count
        count += 1
        look_at(self, *arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Kind, "look_at", counted)
        machines = tuple(Node(f"n{i}", Resources(vcore=8000, memory=8000)) for i in range(nodes))
        gangs = tuple(
            Application(f"g{i}", "root.a", (TaskGroup("p", 1, Resources(vcore=1 + i % 6, memory=1)),), i)
            for i in range(120)
        )
        queues = QueueTree(Queue("root", children=(Queue("root.a"),)))
        assert len(schedule(Cluster(machines, queues, gangs), "kubernetes").placement.admitted) == 120
    return count


def test_a_decision_looks_at_nodes_that_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = looks(50, monkeypatch), looks(100, monkeypatch)
    assert many - few == 6 * 50  # each kind looks once at every node
    assert many - 6 * 100 <= 120 * 6  # and then at what changed since it was asked last: here six nodes


@pytest.mark.slow
@pytest.mark.large_data
def test_openb_is_placed_in_ten_seconds(large_data: Path) -> None:
    files = [str(large_data / "openb" / f"openb_{name}.csv") for name in ("node_list_gpu_node", "pod_list_default")]
    cluster = load(files, gang_seed=1).cluster
    began = time.process_time()
    placement = schedule(cluster, "kubernetes").placement
    assert time.process_time() - began < 10
    assert validate(cluster, placement) == []

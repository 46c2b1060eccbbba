"""Whole public traces, where they are: every job ends, the judge accepts instants, and the run takes seconds."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from pathlib import Path

import pytest
from simulation_log import instants, parse

from reference.cluster import Cluster
from reference.manifests import load
from reference.simulation import Run, make, simulate
from reference.simulation.log import lines
from reference.simulation.traces import read_trace

pytestmark = [pytest.mark.slow, pytest.mark.large_data]


def of(data: Path, trace: str, policy: str, nodes: int | None = None) -> tuple[Cluster, Run, float]:
    whole = load([data / "openb" / "openb_node_list_gpu_node.csv"], require_applications=False).cluster
    cluster = Cluster(whole.nodes[:nodes], whole.queues, ())
    workload = read_trace(data / trace, cluster).workload
    started = time.process_time()
    run = simulate(cluster, workload, make(policy, cluster))
    return cluster, run, time.process_time() - started


@pytest.mark.parametrize("policy", ["first-fit", "yunikorn"])
@pytest.mark.parametrize(("name", "jobs"), [("philly_vc_0e4a51", 1181), ("philly_vc_ee9e8c", 2000)])
def test_all_jobs_of_a_philly_cluster_end(name: str, jobs: int, policy: str, large_data: Path) -> None:
    """On 60 nodes the 32 workers of the largest gangs have to wait for others."""
    cluster, run, _ = of(large_data, f"gavel/{name}.tsv", policy, 60)
    m = run.metrics
    assert m.submitted == jobs
    assert m.finished + m.killed == jobs
    if policy == "first-fit":
        assert m.killed == 0
    _, entries = parse(lines({}, run.log))
    room = {node.name: node.available for node in cluster.nodes}
    for _, world in itertools.islice(instants(entries), 0, None, 97):
        used = Counter[str]()
        for pod in world.pods.values():
            used[pod.node] += pod.resources["gpu"]
        assert all(amount <= room[node].amount("gpu") for node, amount in used.items())


@pytest.mark.parametrize("policy", ["first-fit", "best-fit", "dot-product", "yunikorn"])
def test_openb_in_seconds(policy: str, large_data: Path) -> None:
    """8,152 pods with their times over 1,213 nodes: all of them run, in less than a minute of a slow machine."""
    _, run, seconds = of(large_data, "openb/openb_pod_list_default.csv", policy)
    assert run.metrics.finished == 8152
    assert seconds < 60

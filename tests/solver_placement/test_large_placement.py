"""A production cluster's trace: an answer with a bound, in the time that was given."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from reference.cluster import Cluster, Placement
from reference.manifests import load
from reference.validate import validate
from solver_placement import compare, solve
from solver_placement.greedy_start import FirstFit
from solver_placement.reduction import reduce_cluster


@pytest.fixture(scope="module")
def openb(large_data: Path) -> Cluster:
    folder = large_data / "openb"
    files = [str(folder / name) for name in ("openb_node_list_gpu_node.csv", "openb_pod_list_default.csv")]
    return load(files, gang_seed=1).cluster


@pytest.mark.slow
@pytest.mark.large_data
def test_openb_is_placed_close_to_its_bound(openb: Cluster) -> None:
    began = time.monotonic()
    start = solve(openb, method="greedy", time_limit=20)
    answer = solve(openb, time_limit=30)
    assert time.monotonic() - began < 90
    assert validate(openb, answer.placement) == []
    assert answer.objective.weight >= start.objective.weight
    assert answer.gap <= start.gap
    assert answer.gap.numerator * 100 <= answer.gap.denominator


@pytest.mark.slow
@pytest.mark.large_data
def test_the_witness_for_openb_is_found_by_sampling(openb: Cluster) -> None:
    def in_order(cluster: Cluster) -> Placement:
        """Admits the first gangs by name for which the solver finds a place one by one."""
        problem = reduce_cluster(cluster)
        fit = FirstFit(problem)
        fit.admit(range(len(problem.gangs)), [gang.count for gang in problem.gangs])
        return problem.invert(fit.packing(), "came later")

    found = compare(openb, {"in order": in_order}, time_limit=40)
    assert not found.refused
    assert found.policies[0].objective.weight < found.solution.objective.weight
    assert found.witness is not None
    assert len(found.witness.cluster.nodes) <= 4
    assert found.witness.weight < found.witness.solution.objective.weight

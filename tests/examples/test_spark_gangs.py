"""The example says what its README promises: greedy admits one gang, the optimum two, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangproof.review.abstraction import abstractions
from model.explore import explore
from model.verdict import Outcome
from reference.cluster import Cluster
from reference.manifests import LoadResult, load
from reference.schedulers import schedule
from reference.validate import validate
from solver_placement import Status, solve
from specs.yunikorn.seed import Gate, Queues, yunikorn_seed

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "spark-gangs"


@pytest.fixture(scope="module")
def loaded() -> LoadResult:
    return load(FOLDER)


@pytest.fixture(scope="module")
def cluster(loaded: LoadResult) -> Cluster:
    return loaded.cluster


def test_the_files_are_read_without_a_remark(loaded: LoadResult) -> None:
    assert loaded.warnings == ()
    assert loaded.node_sort_policy == "fair"
    assert [Path(s).name for s in loaded.sources] == ["nodes.yaml", "pods.yaml", "queues.yaml"]


def test_the_cluster_is_the_one_of_the_readme(cluster: Cluster) -> None:
    assert [n.name for n in cluster.nodes] == [*(f"worker-{i}" for i in range(1, 6)), "gpu-1"]
    assert [n.name for n in cluster.nodes if n.taints] == ["gpu-1"]
    assert all(n.occupied["vcore"] == 100 for n in cluster.nodes)  # the DaemonSet's pod
    by_order = sorted(cluster.applications, key=lambda a: a.submitted)
    assert [(a.name, a.queue, a.members, a.placeholder_ask["vcore"]) for a in by_order] == [
        ("nightly-etl", "root.spark.pipelines", 6, 12_000),
        ("churn-features", "root.spark.analytics", 8, 16_000),
        ("hourly-report", "root.spark.pipelines", 4, 8_000),
    ]
    assert {q.name: q.maximum.get("vcore") for q in cluster.queues if q.maximum} == {"root.spark": 20_000}
    assert all(cluster.queues.find(leaf).guaranteed["vcore"] == 10_000 for leaf in {a.queue for a in by_order})  # type: ignore[union-attr]


def test_every_gang_fits_alone(cluster: Cluster) -> None:
    for app in cluster.applications:
        alone = Cluster(cluster.nodes, cluster.queues, (app,), cluster.running)
        placement = schedule(alone).placement
        assert placement.admitted == (app.name,)
        assert validate(alone, placement) == []


def test_greedy_starves_the_two_wide_gangs(cluster: Cluster) -> None:
    result = schedule(cluster)
    assert result.placement.admitted == ("hourly-report",)
    assert {gang: reason.split(";")[0] for gang, reason in result.placement.pending.items()} == {
        "nightly-etl": "placeholder timeout: 5 of 6 reserved",
        "churn-features": "placeholder timeout: 6 of 8 reserved",
    }
    assert validate(cluster, result.placement) == []


def test_optimal_admits_two_on_four_workers(cluster: Cluster) -> None:
    solution = solve(cluster)
    assert solution.status is Status.OPTIMAL
    assert (solution.objective.weight, solution.bound, solution.objective.nodes) == (2, 2, 4)
    assert solution.placement.admitted == ("hourly-report", "nightly-etl")
    assert validate(cluster, solution.placement) == []


def test_reserving_for_started_gangs_makes_greedy_optimal(cluster: Cluster) -> None:
    placement = schedule(cluster, gate="reserves").placement
    assert placement.admitted == ("hourly-report", "nightly-etl")
    assert validate(cluster, placement) == []


def test_the_design_check_finds_the_cause(cluster: Cluster) -> None:
    (instance,) = abstractions(cluster)
    assert [spec for _, spec in instance.mapping][:4] == ["size 3", "size 4", "size 2", "quota 5"]
    verdict = explore(instance.machine, stop_at_first=True)
    assert verdict.first_violation is not None
    assert verdict.first_violation.name == "no_starving_gangs"


@pytest.mark.slow
def test_reserving_for_started_gangs_starves_none() -> None:
    sizes = {"apps": 3, "size": (3, 4, 2), "capacity": 3, "quota": 5}
    verdict = explore(yunikorn_seed(**sizes, queues=Queues.TWO_LEAVES, gate=Gate.RESERVES))
    assert verdict.outcome is Outcome.HOLDS

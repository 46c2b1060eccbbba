"""The strategies: always valid, interesting often enough, and small when shrunk."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, event, find, given, settings

from reference.cluster import ANYWHERE, PODS, Application, Cluster, Node, QueueTree, SortPolicy, TaskGroup
from reference.schedulers import schedule
from reference.strategies import applications, clusters, nodes, queue_trees, task_groups

SAMPLES = 200
SHRINK = settings(
    derandomize=True, database=None, max_examples=1000, phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@given(clusters(policies=tuple(SortPolicy)))
def test_clusters_are_valid(cluster: Cluster) -> None:
    assert cluster.problems() == []
    for node in cluster.nodes:
        assert all(amount >= 0 for amount in cluster.free(node).values())
        assert cluster.free_by_node()[node.name] == cluster.free(node)
    for queue in cluster.queues:
        assert queue.guaranteed.fits_in_limit(queue.maximum)
    event("every gang fits" if not schedule(cluster, reject_fair=False).placement.pending else "some gang waits")


@given(clusters(max_nodes=2, max_apps=3, max_groups=1, max_members=2, running=False))
def test_sizes_are_kept(cluster: Cluster) -> None:
    assert 1 <= len(cluster.nodes) <= 2
    assert 1 <= len(cluster.applications) <= 3
    assert all(len(app.task_groups) == 1 and app.task_groups[0].min_member <= 2 for app in cluster.applications)
    assert cluster.running == ()


@given(nodes("x"), queue_trees(policies=[SortPolicy.FAIR]), task_groups("y"), applications("z", "root.b", submitted=7))
def test_parts(node: Node, tree: QueueTree, group: TaskGroup, app: Application) -> None:
    assert (node.name, group.name, app.name, app.queue, app.submitted) == ("x", "y", "z", "root.b", 7)
    assert {queue.sort_policy for queue in tree.leaves()} == {SortPolicy.FAIR}


@pytest.fixture(scope="module")
def seen() -> Counter[str]:
    """How many of SAMPLES clusters have each feature."""
    counts: Counter[str] = Counter()

    @settings(
        max_examples=SAMPLES, phases=[Phase.generate], database=None, derandomize=True, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(clusters())
    def sample(cluster: Cluster) -> None:
        groups = [group for app in cluster.applications for group in app.task_groups]
        result = schedule(cluster)
        counts.update(
            name
            for name, found in {
                "all": True,
                "some gang waits": bool(result.placement.pending),
                "some gang starts": bool(result.placement.admitted),
                "some wait, some start": bool(result.placement.pending) and bool(result.placement.admitted),
                "constraints": any(group.constraints != ANYWHERE for group in groups),
                "labels": any(node.labels for node in cluster.nodes),
                "taints": any(node.taints for node in cluster.nodes),
                "cordoned": any(not node.schedulable for node in cluster.nodes),
                "pods limited": any(PODS in node.capacity for node in cluster.nodes),
                "maxima": any(queue.maximum for queue in cluster.queues),
                "maxima above leaves": any(queue.maximum for queue in cluster.queues if queue.children),
                "maxapplications": any(queue.max_applications for queue in cluster.queues),
                "several task groups": any(len(app.task_groups) > 1 for app in cluster.applications),
                "several leaves in use": len({app.queue for app in cluster.applications}) > 1,
                "running pods": bool(cluster.running),
                "3 gangs or more": len(cluster.applications) >= 3,
            }.items()
            if found
        )

    sample()
    return counts


@pytest.mark.parametrize(
    ("feature", "least", "most"),
    [
        ("some gang waits", 35, 70),
        ("some gang starts", 55, 100),
        ("some wait, some start", 15, 100),
        ("constraints", 25, 80),
        ("labels", 20, 80),
        ("taints", 15, 80),
        ("cordoned", 3, 40),
        ("pods limited", 10, 80),
        ("maxima", 30, 90),
        ("maxima above leaves", 20, 80),
        ("maxapplications", 5, 60),
        ("several task groups", 25, 90),
        ("several leaves in use", 20, 80),
        ("running pods", 15, 70),
        ("3 gangs or more", 25, 80),
    ],
)
def test_distribution(seen: Counter[str], feature: str, least: int, most: int) -> None:
    """Percent of clusters with each feature; run with ``-rP`` to see them."""
    share = 100 * seen[feature] / SAMPLES
    print(f"{feature}: {share:.0f} %")
    assert seen["all"] >= SAMPLES * 0.9
    assert least <= share <= most


def test_shrinks_to_the_least_cluster_that_shows_it() -> None:
    """A gang that waits although it is alone: one node, one pod, no limits but the one that matters."""
    found = find(
        clusters(max_nodes=2, max_apps=2),
        lambda cluster: bool(schedule(cluster).placement.pending),
        settings=SHRINK,
    )
    assert len(found.nodes) == len(found.applications) == 1
    assert found.applications[0].members <= 2
    assert found.running == ()
    assert sum(1 for queue in found.queues if queue.maximum or queue.max_applications is not None) <= 1


def test_shrinks_lists_by_deletion() -> None:
    found = find(
        clusters(max_nodes=2, max_apps=2, max_groups=1),
        lambda cluster: len(cluster.applications) >= 2 and len(cluster.nodes) >= 2,
        settings=SHRINK,
    )
    assert [node.name for node in found.nodes] == ["n0", "n1"]
    assert all(app.members == 1 and app.task_groups[0].constraints == ANYWHERE for app in found.applications)
    assert all(not queue.maximum for queue in found.queues)

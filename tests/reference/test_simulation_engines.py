"""Volcano and kube-scheduler on the virtual clock: what they bind at one instant is what they bind in a snapshot, and
what each does about time, quotas, priorities and lost nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from simulation_log import instants, parse
from simulation_runs import Case, cases, crowded
from test_simulation_runs import compare, placed
from tiny_clusters import cluster as tiny
from tiny_clusters import gang, leaf, tree

from reference.cluster import Application, Cluster
from reference.schedulers import schedule
from reference.simulation import Job, NodeChange, PodFailure, Run, Settings, Workload, make, simulate
from reference.strategies import clusters
from reference.validate import validate

BOTH = ("volcano", "kubernetes")
QUEUE = tree(leaf("root.a"))
HOUR = 3_600_000


def job(app: Application, arrival: int, duration: int) -> Job:
    return Job(app, arrival, (duration,) * len(app.task_groups))


def run(policy: str, where: Cluster, *jobs: Job, changes: tuple[NodeChange, ...] = (), **more: object) -> Run:
    work = Workload(jobs, changes)
    return simulate(where, work, make(policy, where), Settings(patience_ms=20_000, **more))  # type: ignore[arg-type]


def started(found: Run) -> dict[str, int | None]:
    return {job.name: job.started for job in found.jobs}


def where_pods_are(found: Run) -> list[tuple[str, str, str]]:
    return sorted(
        (e.fields["application"], e.fields["task_group"], e.fields["node"]) for e in found.log if e.event == "allocate"
    )


@pytest.mark.parametrize("policy", BOTH)
@settings(max_examples=25)
@given(clusters(max_nodes=3, max_apps=4))
def test_at_one_instant_the_answer_is_that_of_a_snapshot(policy: str, question: Cluster) -> None:
    question = replace(question, running=())
    apps = sorted(question.applications, key=lambda app: (app.submitted, app.name))
    placement = schedule(question, policy).placement
    found = run(policy, question, *(job(app, 0, HOUR) for app in apps))
    if policy == "kubernetes" and placement.pending:
        return  # in a snapshot a gang that is unschedulable gives its quota back; here it waits, and keeps it
    expected = [(a.application, a.task_group, a.node) for a in placement.assignments for _ in range(a.count)]
    first = [e for e in found.log if e.event == "allocate" and e.time == 0]
    assert sorted((e.fields["application"], e.fields["task_group"], e.fields["node"]) for e in first) == expected


@pytest.mark.slow
@settings(max_examples=400)
@given(cases(BOTH) | crowded(BOTH))
def test_every_instant_of_either_is_valid_and_every_metric_is_that_of_the_log(case: Case) -> None:
    found = case.run()
    _, entries = parse(case.text(found))
    for _, world in instants(entries):
        assert validate(*placed(case, world)) == []
    compare(found.metrics, entries, world)


@pytest.mark.parametrize("policy", BOTH)
def test_a_gang_waits_for_the_room_of_another(policy: str) -> None:
    found = run(policy, tiny([2, 2], QUEUE), job(gang("a", "root.a", 3), 0, 5000), job(gang("b", "root.a", 2), 100, 9))
    assert started(found) == {"a": 0, "b": 5000}


@pytest.mark.parametrize("policy", BOTH)
def test_a_gang_that_waits_lets_others_pass(policy: str) -> None:
    jobs = job(gang("a", "root.a", 3), 0, 5000), job(gang("b", "root.a", 2), 1, 50), job(gang("c", "root.a", 1), 2, 50)
    assert started(run(policy, tiny([2, 2], QUEUE), *jobs)) == {"a": 0, "b": 5000, "c": 2}


@pytest.mark.parametrize("policy", BOTH)
def test_a_gang_that_loses_a_node_comes_again(policy: str) -> None:
    where = tiny([2, 2], QUEUE)
    back = NodeChange(4000, "n0", where.nodes[0])
    found = run(policy, where, job(gang("a", "root.a", 4), 0, 1500), changes=(NodeChange(1000, "n0"), back), attempts=2)
    assert found.metrics.restarts == 1
    assert [(e.time, e.event) for e in found.log if e.event in ("start", "fail", "finish")] == [
        (0, "start"),
        (1000, "fail"),
        (4000, "start"),
        (5500, "finish"),
    ]


@pytest.mark.parametrize("policy", BOTH)
def test_a_gang_of_which_a_pod_fails_starts_whole_again(policy: str) -> None:
    where = tiny([4], QUEUE)
    work = Workload((job(gang("a", "root.a", 2, 1), 0, 3000),), (), (PodFailure(1000, "a", "g0"),))
    found = simulate(where, work, make(policy, where), Settings(attempts=2))
    assert [(e.time, e.event) for e in found.log if e.event in ("start", "finish")] == [
        (0, "start"),
        (1000, "start"),
        (4000, "finish"),
    ]


@pytest.mark.parametrize("policy", BOTH)
def test_a_queue_keeps_its_maximum_beside_the_pods_that_run(policy: str) -> None:
    where = tiny([9], tree(leaf("root.a", 4), leaf("root.b")), gang("x", "root.b", 1))
    jobs = [job(gang(name, "root.a", 2), 0, 1000) for name in "abc"]
    assert sorted(started(run(policy, where, *jobs)).values(), key=str) == [0, 0, 1000]


def test_kubernetes_preempts_for_a_gang_of_higher_priority() -> None:
    """The low one is stopped at once, and comes again when the other one is done."""
    high = replace(gang("high", "root.a", 2), priority=10)
    found = run(
        "kubernetes", tiny([2], QUEUE), job(gang("low", "root.a", 2), 0, 9000), job(high, 1000, 4000), attempts=2
    )
    starts = [(e.time, e.fields["application"]) for e in found.log if e.event == "start"]
    assert starts[0] == (0, "low")
    assert [name for _, name in starts] == ["low", "high", "low"]
    assert 1000 <= starts[1][0] <= 3000, "a backoff goes by"
    assert any(e.event == "preempt" and e.fields["evicted"] == ["low|g0|0", "low|g0|1"] for e in found.log)


def test_volcano_gives_room_to_the_queue_that_has_less_of_what_it_deserves() -> None:
    """Both are guaranteed two of four. A gang of each waits when b's first ends: b has less now, so its gang starts,
    though it came later."""
    queues = tree(*(replace(leaf(f"root.{name}"), guaranteed=tiny([2], QUEUE).nodes[0].capacity) for name in "ab"))
    where = tiny([4], queues)
    jobs = [
        job(gang("a1", "root.a", 2), 0, 9000),
        job(gang("b1", "root.b", 2), 0, 1000),
        job(gang("a2", "root.a", 2), 10, 1000),
        job(gang("b2", "root.b", 2), 20, 1000),
    ]
    assert started(run("volcano", where, *jobs)) == {"a1": 0, "b1": 0, "a2": 2000, "b2": 1000}


@pytest.mark.parametrize("policy", BOTH)
def test_the_log_has_the_schedulers_own_words(policy: str) -> None:
    found = run(policy, tiny([2], QUEUE), job(gang("a", "root.a", 2), 0, 10))
    own = [(e.event, e.fields["application"]) for e in found.log if e.by == policy]
    assert own == ([("enqueue", "a"), ("commit", "a")] if policy == "volcano" else [("cycle", "a")])

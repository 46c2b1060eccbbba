"""Random runs, read again from their logs: valid at every instant, whole gangs, conserved work, the same metrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from hypothesis import event as note
from hypothesis import given, settings
from simulation_log import Line, World, instants, integrate, parse
from simulation_runs import Case, cases, crowded

from reference.cluster import Assignment, Cluster, Placement
from reference.simulation import Metrics
from reference.validate import validate


def placed(case: Case, world: World) -> tuple[Cluster, Placement]:
    """What holds at an instant, as a cluster of what is there and a placement of all pods: the judge is asked about
    gangs of as many members as hold room."""
    counts = Counter((pod.application, pod.task_group, pod.node) for pod in world.pods.values())
    held = Counter((pod.application, pod.task_group) for pod in world.pods.values())
    known = {node.name: node for node in case.cluster.nodes}
    launched = {name: replace(case.cluster.nodes[0], name=name) for name in world.nodes if name not in known}
    for name in launched:
        kind = case.settings.autoscaler.node_types[0]  # type: ignore[union-attr]  # nothing else launches nodes
        launched[name] = replace(launched[name], capacity=kind.resources, labels={}, taints=(), schedulable=True)
        launched[name] = replace(launched[name], occupied=type(kind.resources)())
    apps = []
    for job in case.workload.jobs:
        groups = tuple(
            replace(group, min_member=held[job.name, group.name])
            for group in job.application.task_groups
            if held[job.name, group.name]
        )
        if groups:
            apps.append(replace(job.application, task_groups=groups))
    nodes = tuple({**known, **launched}[name] for name in world.nodes)
    cluster = replace(case.cluster, nodes=nodes, applications=tuple(apps))
    assignments = tuple(Assignment(*cell, count) for cell, count in sorted(counts.items()))
    return cluster, Placement(assignments, tuple(sorted(app.name for app in apps)))


@settings(max_examples=50)
@given(cases() | crowded())
def test_every_instant_is_valid_and_every_metric_is_that_of_the_log(case: Case) -> None:
    run = case.run()
    _, entries = parse(case.text(run))
    world = World()
    for _, world in instants(entries):
        cluster, placement = placed(case, world)
        assert validate(cluster, placement) == []
    compare(run.metrics, entries, world)
    note(case.policy)
    for name in ("failed", "killed", "waiting", "restarts"):
        if getattr(run.metrics, name):
            note(f"some {name}")
    if any(entry["event"] == "request_launch" for entry in entries):
        note("launches")


def compare(metrics: Metrics, entries: list[Line], world: World) -> None:
    jobs = world.jobs.values()
    ends = Counter(job.end[0] if job.end else "wait" for job in jobs)
    assert [metrics.finished, metrics.failed, metrics.rejected, metrics.killed, metrics.waiting] == [
        ends[how] for how in ("finish", "fail", "reject", "kill", "wait")
    ]
    started = [job.started - job.arrival for job in jobs if job.started is not None]
    assert (metrics.submitted, metrics.admitted) == (len(jobs), len(started))
    assert metrics.admission_rate == Fraction(len(started), len(jobs))
    assert metrics.restarts == sum(job.attempt - 1 for job in jobs)
    weight = sum(job.weight for job in jobs)
    assert metrics.weighted_admission_rate == Fraction(sum(j.weight for j in jobs if j.started is not None), weight)
    finished = [job.end[1] - job.arrival for job in jobs if job.end and job.end[0] == "finish"]
    for times, values in ((metrics.wait, started), (metrics.completion, finished)):
        if times is None:
            assert values == []
            continue
        values.sort()
        assert (times.count, times.mean, times.largest) == (len(values), Fraction(sum(values), len(values)), values[-1])
        low = sum(value < times.median for value in values)
        high = sum(value > times.median for value in values)
        assert max(low, high) * 2 <= len(values)
        for percent, value in times.percentiles.items():
            assert value in values
            assert 100 * sum(v <= value for v in values) >= percent * len(values)
            assert 100 * sum(v < value for v in values) < percent * len(values)
    start, end = metrics.window
    assert start == min(job.arrival for job in jobs)
    assert metrics.makespan == max(
        (job.end[1] - start for job in jobs if job.end and job.end[0] == "finish"), default=None
    )
    sums = integrate(entries, start, end)
    capacity = {name: area for name, area in sums.capacity.items() if area > 0}
    assert metrics.utilisation == {name: Fraction(sums.running.get(name, 0), area) for name, area in capacity.items()}
    assert metrics.allocation == {name: Fraction(sums.allocated.get(name, 0), area) for name, area in capacity.items()}
    assert metrics.cost == Fraction(sums.price, 10**6 * 3_600_000)
    assert {k: v for k, v in metrics.node_hours.items() if v} == {
        k: Fraction(v, 3_600_000) for k, v in sums.hours.items()
    }
    shares = []
    for queue in metrics.queues:
        held = sums.queues.get(queue.name, {})
        shares.append(max((Fraction(held.get(name, 0), area) for name, area in capacity.items()), default=Fraction(0)))
        assert queue.dominant_share == shares[-1]
        assert queue.submitted == sum(job.queue == queue.name for job in jobs)
    squares = sum(share * share for share in shares)
    assert metrics.jain == (sum(shares) ** 2 / (len(shares) * squares) if squares else None)
    # every pod-millisecond of members of running gangs is a millisecond that some pod worked
    still = sum(
        end - since
        for pod in world.pods.values()
        if (since := world.jobs[pod.application].running_since) is not None and not pod.placeholder
    )
    if all("pods" in node["capacity"] for node in world.nodes.values()) and "pods" in sums.running:
        assert sums.running["pods"] == world.worked + still


@settings(max_examples=12)
@given(cases())
def test_the_same_input_gives_the_same_run(case: Case) -> None:
    assert case.text(case.run()) == case.text(case.run())


@settings(max_examples=12)
@given(cases(quiet=True))
def test_a_quiet_run_ends_or_waits_for_room(case: Case) -> None:
    """Nothing fails where nothing breaks, and a gang is over or still waits."""
    run = case.run()
    assert run.metrics.failed == run.metrics.restarts == 0
    assert run.metrics.finished + run.metrics.rejected + run.metrics.killed + run.metrics.waiting == len(run.jobs)
    for job in run.jobs:
        if job.ended is not None and job.started is not None:
            assert job.ended == job.started + max(job.job.durations)

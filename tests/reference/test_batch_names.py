"""Names of gangs, task groups and running pods are the user's: no two of them become one in a reference scheduler."""

from __future__ import annotations

import time

import pytest

from reference.cluster import Application, Cluster, Node, Queue, QueueTree, Resources, RunningPod, TaskGroup
from reference.schedulers import POLICIES, schedule
from reference.schedulers.volcano import Scheduler
from reference.schedulers.volcano.api import JobSpec, TaskSpec
from reference.schedulers.volcano.api import Queue as VolcanoQueue
from reference.validate import validate

ONE = Resources(vcore=1)


def gang(name: str, group: str) -> Application:
    return Application(name, "root.q", (TaskGroup(group, 1, ONE),))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("gangs", "running"),
    [
        ([("a/b", "c"), ("a", "b/c")], []),
        ([("a|b", "c"), ("a", "b|c")], []),
        ([("a", "b~1c"), ("a/b", "c"), ("a|b", "c")], []),
        ([("running", "p")], ["p|0", "p"]),
        ([("pods that run in root.q", "g"), ("pods that run in root.q.", "g")], ["p"]),
    ],
)
def test_names_that_look_alike(policy: str, gangs: list[tuple[str, str]], running: list[str]) -> None:
    cluster = Cluster(
        (Node("n", Resources(vcore=9)),),
        QueueTree(Queue("root", children=(Queue("root.q"),))),
        tuple(gang(*names) for names in gangs),
        tuple(RunningPod(name, "n", "root.q", ONE) for name in running),
    )
    assert cluster.problems() == []
    placement = schedule(cluster, policy).placement
    assert list(placement.admitted) == sorted(name for name, _ in gangs)
    assert validate(cluster, placement) == []


def test_many_pods_in_one_job_are_told_apart_in_one_pass() -> None:
    """Each against all others would take four seconds."""
    tasks = tuple(TaskSpec(f"t{i}", ONE) for i in range(20_000))
    started = time.process_time()
    assert Scheduler(queues=[VolcanoQueue("q")]).add_job(JobSpec("j", "q", 1, tasks)).reason == ""
    assert time.process_time() - started < 3

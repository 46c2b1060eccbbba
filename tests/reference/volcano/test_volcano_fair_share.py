"""The rules of the design "Namespace fair share" (V1 to V11), and events that make no sense, one by one.

The design's tables, and its example of an order, are scenarios: NF1 to NF5 in tests/data/scenarios/volcano_seed.json.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from volcano_cases import picture

from reference.cluster import Cluster, Node, QueueTree, Resources
from reference.cluster import Queue as ClusterQueue
from reference.errors import InputError
from reference.schedulers import schedule
from reference.schedulers.volcano import (
    Configuration,
    Edition,
    JobSpec,
    PodGroupPhase,
    Queue,
    Record,
    Scheduler,
    Step,
    StepKind,
    TaskSpec,
    tiers,
)

EMPTY = Cluster((Node("n", Resources(vcore=1)),), QueueTree(ClusterQueue("root")), ())
SEED = Configuration(("allocate",), edition=Edition.SEED)


def job(name: str, tasks: int, least: int = 1, namespace: str = "ns1", vcore: int = 1, queue: str = "q") -> JobSpec:
    specs = tuple(TaskSpec(f"{name}-{i}", Resources(vcore=vcore)) for i in range(tasks))
    return JobSpec(name, queue, least, specs, namespace, phase=PodGroupPhase.INQUEUE)


def scheduler(capacity: int, *jobs: JobSpec, configuration: Configuration = SEED) -> Scheduler:
    made = Scheduler(configuration, [Node("n", Resources(vcore=capacity))], [Queue("q")])
    for spec in jobs:
        assert made.add_job(spec).reason == ""
    return made


def turns(record: Record) -> list[str]:
    return [step.job for step in record.steps if step.kind is StepKind.POP]


@pytest.mark.parametrize(
    ("quotas", "weight"),
    [({}, 1), ({"a": 3}, 3), ({"a": 2, "b": 5}, 5), ({"a": 0}, 1), ({"a": -4, "b": 2}, 2), ({"a": -4}, 1)],
)
def test_the_highest_valid_quota_is_the_weight(quotas: dict[str, int], weight: int) -> None:
    """V1, V2: an integer, 1 by default and where it is invalid; of several quotas the highest."""
    made = scheduler(1)
    for name, value in quotas.items():
        made.set_quota("ns1", name, value)
    assert made.open_session().namespace_weight("ns1") == weight


def test_a_session_keeps_the_weights_that_it_began_with() -> None:
    """V3: the cache follows the quotas; a session sees a snapshot."""
    made = scheduler(4, job("a", 6), job("b", 6, namespace="ns2"))
    made.set_quota("ns1", "quota", 3)

    def change(step: Step) -> None:
        made.set_quota("ns1", "quota", None)
        made.set_quota("ns2", "quota", 9)

    made.observer = change
    made.run_session()
    assert [made.jobs[name].ready_task_num for name in ("a", "b")] == [3, 1]
    assert made.open_session().namespace_weight("ns2") == 9


def test_a_job_gets_its_minimum_first_and_the_rest_in_later_turns() -> None:
    """V4, V6: the statement ends when the job is ready; it is pushed back, and so is its namespace."""
    made = scheduler(6, job("a", 4, least=3), job("b", 4, least=2, namespace="ns2"))
    record = made.run_session()
    assert turns(record)[:3] == ["a", "b", "b"]  # then b has less until both have three
    assert [made.jobs[name].ready_task_num for name in ("a", "b")] == [3, 3]


def test_the_order_after_a_job_is_that_of_then() -> None:
    """V5: job1, job2 of ns1 and job3, job4 of ns2: after job1 come job3, job4, job2 where each fills what is fair."""
    jobs = [job("job1", 2, 2), job("job2", 2, 2), job("job3", 1, 1, "ns2"), job("job4", 1, 1, "ns2")]
    assert turns(scheduler(6, *jobs).run_session()) == ["job1", "job3", "job4", "job2"]


@pytest.mark.parametrize(("uses", "first"), [((6, 2), "ns2"), ((3, 2), "ns1"), ((4, 2), "ns1")])
def test_a_namespace_comes_first_by_use_and_weight(uses: tuple[int, int], first: str) -> None:
    """V7: u1/w1 < u2/w2, with weights 2 and 1. The design's example, 6 and 2, is a slip: 6/2 is not less than 2/1."""
    made = scheduler(20)
    made.set_quota("ns1", "quota", 2)
    for namespace, use in zip(("ns1", "ns2"), uses, strict=True):
        spec = job(f"old-{namespace}", use, namespace=namespace)
        made.add_job(spec, {task.name: "n" for task in spec.tasks})
        made.add_job(job(f"new-{namespace}", 1, namespace=namespace))
    assert turns(made.run_session())[0] == f"new-{first}"


@pytest.mark.parametrize(
    ("edition", "running", "evicted"),
    [
        (Edition.SEED, {"a": ("ns1", 4)}, True),  # ns2 has nothing
        (Edition.SEED, {"a": ("ns1", 2), "b": ("ns2", 2)}, True),  # equal: the jobs' shares decide, and c has none
        (Edition.SEED, {"a": ("ns1", 2), **dict.fromkeys("bde", ("ns2", 1))}, False),  # ns1 has less
        (Edition.CURRENT, {"a": ("ns1", 2), **dict.fromkeys("bde", ("ns2", 1))}, True),  # a keeps as much as c gets
    ],
)
def test_who_has_less_may_preempt(edition: Edition, running: dict[str, tuple[str, int]], evicted: bool) -> None:
    """V8: the namespace with the smaller share, or of equal ones the job; c of ns2 preempts, or does not."""
    chosen = Configuration(("preempt",), tiers(("drf", "predicates", "gang")), edition)
    made = scheduler(sum(tasks for _, tasks in running.values()), configuration=chosen)
    for name, (namespace, tasks) in running.items():
        spec = job(name, tasks, 0, namespace)
        made.add_job(spec, {task.name: "n" for task in spec.tasks})
    made.add_job(job("c", 1, namespace="ns2"))
    assert bool(made.run_session().evicted) is evicted


def test_victims_are_what_all_plugins_choose() -> None:
    """V9: gang can spare one of a, priority gives b alone, and so nobody goes."""
    chosen = Configuration(("preempt",), tiers(("priority", "gang", "conformance")))
    made = scheduler(3, configuration=chosen)
    for spec, priority in ((job("a", 2, 1), 5), (job("b", 1, 1), 0)):
        with_priority = JobSpec(
            spec.name, "q", spec.min_available, spec.tasks, priority=priority, phase=PodGroupPhase.INQUEUE
        )
        made.add_job(with_priority, {task.name: "n" for task in spec.tasks})
    made.add_job(JobSpec("c", "q", 1, (TaskSpec("c-0", Resources(vcore=1)),), priority=3, phase=PodGroupPhase.INQUEUE))
    assert made.run_session().evicted == ()


def test_many_pods_of_one_user_do_not_keep_back_the_few_of_another() -> None:
    """V11: ten pods of one user, a thousand of another, and room for twelve: in the queue of the design all ten run but
    those for which the turns do not last."""
    few = [job(f"few{i}", 1, namespace="few") for i in range(10)]
    many = [job(f"many{i:04}", 1, namespace="many") for i in range(1000)]
    made = scheduler(12, *many, *few)
    made.run_session()
    assert sum(made.jobs[spec.name].ready_task_num for spec in few) == 6


SENSELESS: dict[str, tuple[Callable[[Scheduler], Record], str]] = {
    "node added twice": (lambda s: s.add_node(Node("n", Resources(vcore=9))), "the node is there already"),
    "unknown node removed": (lambda s: s.remove_node("m"), "no node has that name"),
    "unknown node drained": (lambda s: s.drain_node("m"), "no node has that name"),
    "open node uncordoned": (lambda s: s.uncordon_node("n"), "the node is not cordoned"),
    "queue below nothing": (lambda s: s.add_queue(Queue("x", parent="y")), "no queue is named 'y'"),
    "queue above itself": (lambda s: s.add_queue(Queue("q", parent="q")), "the queue would be above itself"),
    "job added twice": (lambda s: s.add_job(job("a", 1)), "a job of that name is there already"),
    "job on an unknown node": (lambda s: s.add_job(job("x", 1), {"x-0": "m"}), "no node is named 'm'"),
    "pod that does not run ended": (lambda s: s.task_ended("a-1"), "no such pod is on a node"),
    "unknown pod ended": (lambda s: s.task_ended("z"), "no such pod is there"),
    "unknown job deleted": (lambda s: s.delete_job("z"), "no job has that name"),
    "unknown job changed": (lambda s: s.update_job("z", 1), "no job has that name"),
    "pod of an unknown job": (lambda s: s.add_task("z", TaskSpec("z-0")), "no job is named 'z'"),
    "unknown quota removed": (lambda s: s.set_quota("ns1", "z", None), "no such quota"),
}


@pytest.mark.parametrize("name", SENSELESS)
def test_an_event_that_makes_no_sense_changes_nothing_and_says_why(name: str) -> None:
    made = scheduler(1, job("a", 2))
    made.run_session()
    before, queues = picture(made), dict(made.queues)
    event, reason = SENSELESS[name]
    assert event(made).reason == reason
    assert (picture(made), made.queues) == (before, queues)
    assert made.check_invariants() == []


def test_a_pod_cannot_have_the_name_of_another() -> None:
    made = scheduler(1, job("a", 2))
    assert made.add_task("a", TaskSpec("a-0")).reason == "a pod of that name is there already"
    assert made.add_job(JobSpec("b", "q", 0, (TaskSpec("a-1"),))).reason == "two pods are named 'a-1'"


def test_bad_options_are_told() -> None:
    for options, told in (
        ({"edition": "next"}, "option edition: found 'next', expected one of seed, shipped, current"),
        ({"colour": 1}, "options: found option 'colour'"),
        ({"index": 3}, "option index: found 3, expected true or false"),
    ):
        with pytest.raises(InputError) as error:
            schedule(EMPTY, "volcano", **options)
        assert told in str(error.value)

"""From pods to gangs and running pods (labels and precedence: k8shim constants; requests: Kubernetes documentation)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from objects import YUNIKORN, gang, group, groups, node, pod

from reference.cluster import Constraints, Resources, RunningPod, TaskGroup
from reference.manifests import LoadResult, ManifestError

Load = Callable[..., LoadResult]
Refuse = Callable[..., ManifestError]

LEAVES = "partitions: [{queues: [{name: default}, {name: batch, queues: [{name: a}]}]}]"


def texts(result: LoadResult) -> str:
    """All warnings."""
    return "\n".join(map(str, result.warnings))


def labelled(labels: dict[str, str], annotations: dict[str, str] | None = None) -> dict[str, Any]:
    """A waiting pod with exactly these labels."""
    made = pod("p", annotations=annotations)
    made["metadata"]["labels"] = labels
    return made


APP_IDS = [
    ({YUNIKORN + "app-id": "a", "spark-app-selector": "b", "applicationId": "c"}, {YUNIKORN + "app-id": "d"}, "a"),
    ({"spark-app-selector": "b", "applicationId": "c"}, {YUNIKORN + "app-id": "d"}, "b"),
    ({"applicationId": "c"}, {YUNIKORN + "app-id": "d"}, "c"),
    ({}, {YUNIKORN + "app-id": "d"}, "d"),
    ({"applicationId": ""}, {YUNIKORN + "app-id": "d"}, "d"),
]


@pytest.mark.parametrize(("labels", "annotations", "name"), APP_IDS)
def test_application_id_precedence(
    labels: dict[str, str], annotations: dict[str, str], name: str, load_objects: Load
) -> None:
    definition = {YUNIKORN + "task-groups": groups(group())}
    [app] = load_objects(node(), labelled(labels, {**annotations, **definition})).cluster.applications
    assert app.name == name


QUEUE_NAMES = [
    ({YUNIKORN + "queue": "root.batch.a", "queue": "root.default"}, {}, "root.batch.a"),
    ({"queue": "root.batch.a"}, {YUNIKORN + "queue": "root.default"}, "root.batch.a"),
    ({}, {YUNIKORN + "queue": "root.batch.a"}, "root.batch.a"),
    ({"queue": "default"}, {}, "root.default"),
    ({"queue": "Root.Batch.A"}, {}, "root.batch.a"),
]


@pytest.mark.parametrize(("labels", "annotations", "name"), QUEUE_NAMES)
def test_queue_precedence(labels: dict[str, str], annotations: dict[str, str], name: str, load_objects: Load) -> None:
    made = labelled({"applicationId": "j", **labels}, {**annotations, YUNIKORN + "task-groups": groups(group())})
    assert load_objects(node(), made, queues=LEAVES).cluster.applications[0].queue == name


def test_no_queue_is_the_default_queue_once_remarked(load_objects: Load) -> None:
    result = load_objects(node(), gang("a", queue=None), gang("b", queue=None))
    assert {a.queue for a in result.cluster.applications} == {"root.default"}
    assert texts(result).count("no queue is named: root.default is taken (and 1 more like this)") == 1


@pytest.mark.parametrize(
    ("queue", "says"),
    [
        ("root.nowhere", "the queue 'root.nowhere', which does not exist"),
        ("root.nowhere.a", "without its parent: there is no queue 'root.nowhere'"),
        ("root.default.a.b", "without its parent: there is no queue 'root.default.a'"),
        ("root.batch", "is a parent: only leaf queues run applications"),
        ("root", "is a parent"),
        ("batch.a", "does not begin at root"),
        ("rootless.a", "does not begin at root"),
        ("root..a", "without its parent"),
    ],
)
def test_a_queue_that_runs_no_applications(queue: str, says: str, refuse: Refuse) -> None:
    for made in (gang(queue=queue), pod("p", queue=queue, node="n1", phase="Running")):
        error = refuse(node(), made, queues=LEAVES)
        assert says in str(error)
        assert error.where == "items[1].metadata.labels.queue"
        assert "root.default, root.batch.a" in error.expected


def test_the_default_queue_must_be_there(refuse: Refuse) -> None:
    error = refuse(node(), gang(queue=None), queues="partitions: [{queues: [{name: a}]}]")
    assert "no leaf queue root.default" in str(error)


def test_order_is_by_creation_then_by_file(load_objects: Load) -> None:
    result = load_objects(
        node(),
        gang("late", created="2026-01-01T00:00:00.5Z"),
        gang("none"),
        gang("tie-1", created="2026-01-01T01:00:00+01:00"),
        gang("tie-2", created="2026-01-01T00:00:00Z"),
        pod("old", "late-2", created="2025-01-01T00:00:00Z", member_of="workers"),
        gang("late-2", created="2027-01-01T00:00:00Z"),
    )
    apps = result.cluster.applications
    assert [(a.name, a.submitted) for a in apps] == [
        ("late-2", 0),
        ("tie-1", 1),
        ("tie-2", 2),
        ("late", 3),
        ("none", 4),
    ]
    assert "1 of 5 applications have no creationTimestamp" in texts(result)


@pytest.mark.parametrize("created", ["yesterday", "2026-01-01", "2026-01-01T00:00:00", "9999-99-99T00:00:00Z", 5])
def test_a_bad_creation_time(created: Any, refuse: Refuse) -> None:
    assert refuse(node(), gang(created=created)).where == "items[1].metadata.creationTimestamp"


def test_pods_may_repeat_the_definition(load_objects: Load) -> None:
    second = gang(task_groups='[ {"minResource": {"memory": "1024Mi", "cpu": 1}, "minMember": 2, "name": "workers"} ]')
    second["metadata"]["name"] = "job-1"
    assert len(load_objects(node(), gang(), second).cluster.applications) == 1


def test_two_definitions_of_one_gang(refuse: Refuse) -> None:
    second = gang(task_groups=groups(group(members=3)))
    second["metadata"]["name"] = "job-1"
    error = refuse(node(), gang(), second)
    assert "other task groups in pod 'default/job-1' than in pod 'default/job-0'" in error.found


def test_two_pods_of_one_name(refuse: Refuse) -> None:
    assert "the pod 'default/job-0' a second time" in str(refuse(node(), gang(), gang()))


def test_weight(load_objects: Load, refuse: Refuse) -> None:
    key = "gangproof.dev/weight"
    assert load_objects(node(), gang(annotations={key: "7"})).cluster.applications[0].weight == 7
    for text in ("0", "-1", "1.5", "many", "9" * 12):
        assert key in refuse(node(), gang(annotations={key: text})).where
    other = pod("job-1", "job", annotations={key: "8"})
    assert "one weight for the whole application" in str(refuse(node(), gang(annotations={key: "7"}), other))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Job", ["spec", "template"]),
        ("CronJob", ["spec", "jobTemplate", "spec", "template"]),
        ("Deployment", ["spec", "template"]),
        ("StatefulSet", ["spec", "template"]),
    ],
)
def test_a_workload_defines_its_gang(kind: str, path: list[str], load_objects: Load, refuse: Refuse) -> None:
    source = gang()
    template: Any = {"metadata": {k: source["metadata"][k] for k in ("labels", "annotations")}, "spec": source["spec"]}
    for step in reversed(path):
        template = {step: template}
    job = {"kind": kind, "metadata": {"name": "j", "creationTimestamp": "2026-01-01T00:00:00Z"}, **template}
    [app] = load_objects(node(), job).cluster.applications
    assert (app.name, app.members) == ("job", 2)
    assert len(load_objects(node(), job, gang()).cluster.applications) == 1
    del job["spec"]
    assert refuse(node(), job).where == "items[1].spec"


def test_a_workload_without_task_groups_is_passed_over(load_objects: Load) -> None:
    template = {"metadata": {"labels": {"applicationId": "x"}}, "spec": {}}
    job = {"kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": template}}
    result = load_objects(node(), job, gang())
    assert [a.name for a in result.cluster.applications] == ["job"]
    assert "a workload without task groups is passed over" in texts(result)


def test_waiting_pods_without_a_gang_are_gangs_of_one(load_objects: Load) -> None:
    selected = pod("p-1", "plain", nodeSelector={"disk": "ssd"})
    result = load_objects(node(), pod("p-0", "plain"), selected)
    request = Resources({"vcore": 1000, "memory": 2**30})
    assert [(a.name, a.task_groups) for a in result.cluster.applications] == [
        ("plain/p-0", (TaskGroup("pod", 1, request),)),
        ("plain/p-1", (TaskGroup("pod", 1, request, Constraints(node_selector=(("disk", "ssd"),))),)),
    ]
    assert "a gang of one (and 1 more like this)" in texts(result)


def test_pods_without_an_application(load_objects: Load) -> None:
    result = load_objects(
        node(),
        gang(),
        pod("auto", schedulerName="yunikorn"),
        pod("nobody"),
        pod("other", "job", schedulerName="default-scheduler"),
    )
    assert [a.name for a in result.cluster.applications] == ["job", "yunikorn-default-autogen/auto"]
    assert "a waiting pod without an application id is passed over" in texts(result)
    assert "a waiting pod of another scheduler is passed over" in texts(result)


def test_finished_applications_are_passed_over(load_objects: Load) -> None:
    result = load_objects(node(), gang(), gang("old", phase="Succeeded", node="n1"))
    assert [a.name for a in result.cluster.applications] == ["job"]
    assert result.cluster.running == ()
    assert "have all finished" in texts(result)


def test_bound_pods_run_or_occupy(load_objects: Load) -> None:
    result = load_objects(
        node(),
        gang(),
        pod("mine", "web", node="n1", phase="Running"),
        pod("queued", node="n1", phase="Running"),
        pod("system", queue=None, node="n1", request={"cpu": "100m"}),
        pod("foreign", "web", node="n1", schedulerName="default-scheduler", request={"memory": "1Mi"}),
        pod("over", queue=None, node="n1", phase="Failed"),
    )
    asks = Resources({"vcore": 1000, "memory": 2**30, "pods": 1})
    assert result.cluster.running == (
        RunningPod("default/queued", "n1", "root.default", asks),
        RunningPod("default/mine", "n1", "root.default", asks, "web"),
    )
    assert result.cluster.nodes[0].occupied == Resources({"vcore": 100, "memory": 2**20, "pods": 2})


def test_bound_pods_on_nodes_that_are_not_given(load_objects: Load, refuse: Refuse) -> None:
    result = load_objects(node(), gang(), pod("system", queue=None, node="n9"))
    assert "a pod on a node that is not given is passed over" in texts(result)
    error = refuse(node(), gang(), pod("web-0", "web", node="n9"))
    assert error.where == "items[2].spec.nodeName"


def test_a_gang_that_has_started_is_not_placed_again(load_objects: Load) -> None:
    first = gang(node="n1", phase="Running")
    second = pod("job-1", "job", member_of="workers", node="n1", phase="Running")
    whole = load_objects(node(), first, second, require_applications=False)
    assert whole.cluster.applications == ()
    assert [p.name for p in whole.cluster.running] == ["default/job-0", "default/job-1"]
    assert "part of its gang" not in texts(whole)
    part = load_objects(node(), first, require_applications=False)
    assert part.cluster.applications == ()
    assert "application 'job' has started with part of its gang: the missing 1 pods are not placed" in texts(part)


def test_an_originator_outside_the_gang_does_not_start_it(load_objects: Load) -> None:
    result = load_objects(node(), gang(member_of=None, node="n1", phase="Running"))
    assert [a.name for a in result.cluster.applications] == ["job"]
    assert [p.name for p in result.cluster.running] == ["default/job-0"]


def test_pods_beyond_the_gang_are_remarked(load_objects: Load) -> None:
    placeholder = {"internal." + YUNIKORN + "placeholder": "true"}
    result = load_objects(
        node(),
        gang(),
        *(pod(f"m{i}", "job", member_of="workers") for i in range(2)),
        *(pod(f"tg-{i}", "job", member_of="workers", annotations=placeholder) for i in range(2)),
        pod("x", "job", member_of="unknown"),
        pod("y", "job"),
    )
    assert len(result.cluster.applications) == 1
    assert texts(result).count("beyond its task group's minMember") == 1
    assert "like this" not in texts(result)
    assert "the task group 'unknown' is not defined" in texts(result)
    assert "outside its application's task groups" in texts(result)


def test_an_overcommitted_node_is_remarked(load_objects: Load) -> None:
    result = load_objects(node(cpu="1"), gang(), pod("a", "web", node="n1"), pod("b", queue=None, node="n1"))
    assert "the pods on node 'n1' ask for more than it has" in texts(result)


def container(cpu: str, **more: Any) -> dict[str, Any]:
    """A container that requests so much of a core."""
    return {"name": "c", "resources": {"requests": {"cpu": cpu}}, **more}


# (spec, milli-cores): the rules of "Init Containers", "Sidecar Containers" and "Pod Overhead"
REQUESTS: list[tuple[dict[str, Any], int]] = [
    ({"containers": [container("1"), container("500m")]}, 1500),
    ({"containers": [container("1")], "initContainers": [container("3"), container("2")]}, 3000),
    ({"containers": [container("2")], "initContainers": [container("1")]}, 2000),
    ({"containers": [container("1")], "initContainers": [container("1", restartPolicy="Always")]}, 2000),
    (
        {
            "containers": [container("1")],
            "initContainers": [container("2"), container("1", restartPolicy="Always"), container("3")],
        },
        4000,
    ),
    ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, 1250),
    ({"containers": [container("1")], "resources": {"requests": {"cpu": "5"}}, "overhead": {"cpu": "1"}}, 6000),
    ({"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}]}, 2000),
    ({"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}}]}, 1000),
    ({"containers": [{"name": "best-effort"}]}, 0),
]


@pytest.mark.parametrize(("spec", "milli"), REQUESTS)
def test_what_a_pod_asks_for(spec: dict[str, Any], milli: int, load_objects: Load) -> None:
    made = pod("p", "web", node="n1")
    made["spec"] = {"nodeName": "n1", **spec}
    [running] = load_objects(node(), gang(), made).cluster.running
    assert (running.resources.amount("vcore"), running.resources["pods"]) == (milli, 1)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"metadata": None}, "metadata"),
        ({"metadata": {"labels": {}}}, "metadata.name"),
        ({"metadata": {"name": "p", "namespace": 3}}, "metadata.namespace"),
        ({"metadata": {"name": "p", "annotations": [1]}}, "metadata.annotations"),
        ({"status": []}, "status"),
        ({"status": {"phase": 1}}, "status.phase"),
        ({"spec": {"nodeName": "n1"}}, "spec.containers"),
        ({"spec": {"nodeName": 1}}, "spec.nodeName"),
        ({"spec": {"nodeName": "n1", "containers": [None]}}, "spec.containers[0]"),
        ({"spec": {"nodeName": "n1", "containers": [{"resources": {"requests": {"cpu": "-1"}}}]}}, "requests.cpu"),
        ({"spec": {"nodeName": "n1", "containers": [{"resources": "1"}]}}, "containers[0].resources"),
        ({"spec": {"nodeName": "n1", "containers": [], "initContainers": 1}}, "spec.initContainers"),
    ],
)
def test_a_bad_pod_is_refused(change: dict[str, Any], where: str, refuse: Refuse) -> None:
    assert refuse(node(), gang(), {**pod("p", "web"), **change}).where.endswith(where)


def test_no_application(refuse: Refuse, load_objects: Load) -> None:
    assert "found no waiting application" in str(refuse(node()))
    assert load_objects(node(), require_applications=False).cluster.applications == ()

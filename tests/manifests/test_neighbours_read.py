"""What pods demand of where other pods are: from pod specs, templates and task groups (Kubernetes documentation:
"Assigning Pods to Nodes", "Pod Topology Spread Constraints")."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reference.cluster import ALONE, Neighbours, Operator, PodAffinityTerm, Requirement, SpreadConstraint
from reference.manifests import LoadResult, ManifestError, load, to_native

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NODE = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": 8, "pods": 9}}}
NS = "kubernetes.io/metadata.namespace"
HERE = Requirement(NS, Operator.IN, ("ml",))
Read = Callable[..., LoadResult]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(*objects: dict[str, Any]) -> LoadResult:
        path = tmp_path / "objects.yaml"
        path.write_text("\n---\n".join(json.dumps(each) for each in (NODE, *objects)), encoding="utf-8")
        return load(path, require_applications=False)

    return read


def spec(**members: object) -> dict[str, Any]:
    return {"containers": [{"resources": {"requests": {"cpu": 1}}}], **members}


def pod(name: str, labels: dict[str, str], **members: object) -> dict[str, Any]:
    """A pod of the coscheduling group g."""
    own = {"scheduling.x-k8s.io/pod-group": "g", **labels}
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "ml", "labels": own}, "spec": spec(**members)}


GROUP = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
         "metadata": {"name": "g", "namespace": "ml"}, "spec": {"minMember": 2}}  # fmt: skip


def affinity(kind: str, **term: object) -> dict[str, Any]:
    return {kind: {REQUIRED: [{"topologyKey": "zone", **term}]}}


def neighbours(result: LoadResult) -> Neighbours:
    ((group,),) = [app.task_groups for app in result.cluster.applications]
    return group.neighbours


def test_labels_that_nobody_selects_leave_pods_alike(read: Read) -> None:
    """As those that a StatefulSet numbers its pods by."""
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"index": "0"}}}
    wished = [{"weight": 1, "podAffinityTerm": term}]
    wish = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wished}}
    result = read(GROUP, *(pod(f"p{i}", {"index": str(i)}, affinity=wish) for i in range(2)))
    assert neighbours(result) == ALONE
    assert [group.min_member for app in result.cluster.applications for group in app.task_groups] == [2]


def test_terms_and_selectors(read: Read) -> None:
    selector = {"matchLabels": {"app": "db"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]}
    members = {
        "affinity": {
            **affinity("podAffinity", labelSelector=selector, namespaces=["b", "a"]),
            **affinity("podAntiAffinity", labelSelector={}, namespaceSelector={}, matchLabelKeys=["app"]),
        },
        "topologySpreadConstraints": [
            {"topologyKey": "zone", "maxSkew": 2, "minDomains": 3, "labelSelector": {"matchLabels": {"app": "web"}}},
            {"topologyKey": "rack", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"},
        ],
    }
    found = neighbours(read(GROUP, *(pod(f"p{i}", {"app": "web", "index": str(i)}, **members) for i in range(2))))
    db, web = (Requirement("app", Operator.IN, (name,)) for name in ("db", "web"))
    inside = Requirement(NS, Operator.IN, ("a", "b"))
    assert found == Neighbours(
        (("app", "web"), (NS, "ml")),
        (PodAffinityTerm("zone", (db, Requirement("tier", Operator.EXISTS), inside)),),
        (PodAffinityTerm("zone", (web,)),),
        (SpreadConstraint("zone", 2, (web, HERE), 3),),
    )


def test_no_selector_selects_nobody(read: Read) -> None:
    found = neighbours(read(GROUP, *(pod(f"p{i}", {}, affinity=affinity("podAntiAffinity")) for i in range(2))))
    assert found.anti_affinity == (PodAffinityTerm("zone", (Requirement(NS, Operator.IN, ()),)),)


def test_a_template_and_a_pod_that_runs(read: Read) -> None:
    apart = affinity("podAntiAffinity", labelSelector={"matchLabels": {"app": "db"}})
    template = {"metadata": {"labels": {"app": "db"}}, "spec": spec(affinity=apart)}
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j", "namespace": "ml"},
           "spec": {"tasks": [{"name": "w", "replicas": 2, "template": template}]}}  # fmt: skip
    other = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
             "metadata": {"name": "o", "namespace": "ml"}, "spec": {"minMember": 1}}  # fmt: skip
    bound = pod("p", {"app": "db"}, nodeName="n")
    bound["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "o"}
    result = read(job, other, bound)
    term = PodAffinityTerm("zone", (Requirement("app", Operator.IN, ("db",)), HERE))
    assert neighbours(result) == Neighbours((("app", "db"), (NS, "ml")), anti_affinity=(term,))
    assert [each.neighbours for each in result.cluster.running] == [Neighbours((("app", "db"), (NS, "ml")))]


def test_a_task_group_of_yunikorn(read: Read, tmp_path: Path) -> None:
    spread = [{"maxSkew": 1, "topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}]
    group = {"name": "w", "minMember": 2, "minResource": {"cpu": 1}, "labels": {"app": "x"},
             "TopologySpreadConstraints": spread}  # fmt: skip
    origin = pod("p", {"applicationId": "a", "queue": "root.default"}, schedulerName="yunikorn")
    origin["metadata"]["annotations"] = {"yunikorn.apache.org/task-groups": json.dumps([group])}
    result = read(origin)
    even = SpreadConstraint("zone", 1, (Requirement("app", Operator.IN, ("x",)), HERE))
    assert neighbours(result) == Neighbours((("app", "x"), (NS, "ml")), spread=(even,))
    native = tmp_path / "cluster.json"
    native.write_text(json.dumps(to_native(result.cluster)), encoding="utf-8")
    assert load(native).cluster == result.cluster


@pytest.mark.parametrize(
    ("members", "where", "says"),
    [
        ({"topologySpreadConstraints": [{"topologyKey": "zone"}]}, "[0].maxSkew", "found nothing, expected a whole"),
        ({"topologySpreadConstraints": [{"maxSkew": 1}]}, "[0].topologyKey", "found nothing, expected a node label"),
        ({"topologySpreadConstraints": [{"topologyKey": "z", "maxSkew": 0}]}, "[0].maxSkew", "found 0, expected"),
        ({"affinity": {"podAffinity": {REQUIRED: [{}]}}}, f"podAffinity.{REQUIRED}[0].topologyKey", "found nothing"),
        (
            {"affinity": affinity("podAntiAffinity", labelSelector={"matchExpressions": [{"key": "a"}]})},
            f"podAntiAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].operator",
            "found nothing",
        ),
    ],
)
def test_what_is_wrong_is_told(members: dict[str, Any], where: str, says: str, read: Read) -> None:
    with pytest.raises(ManifestError) as caught:
        read(GROUP, *(pod(f"p{i}", {}, **members) for i in range(2)))
    assert caught.value.where.endswith(where)
    assert says in str(caught.value)


def test_a_selector_of_namespaces_is_not_looked_at(read: Read) -> None:
    apart = affinity("podAntiAffinity", labelSelector={}, namespaceSelector={"matchLabels": {"team": "x"}})
    result = read(GROUP, *(pod(f"p{i}", {}, affinity=apart) for i in range(2)))
    assert any("a namespaceSelector is not looked at" in str(warning) for warning in result.warnings)
    assert neighbours(result).anti_affinity == (PodAffinityTerm("zone", (HERE,)),)

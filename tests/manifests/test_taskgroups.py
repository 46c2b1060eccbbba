"""Gang annotations: what the k8shim's parser accepts, skips and refuses (cache/utils.go, gang_utils.go)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from objects import YUNIKORN, gang, group, groups, node

from reference.cluster import (
    Constraints,
    GangStyle,
    Operator,
    Requirement,
    Resources,
    TaintEffect,
    TaskGroup,
    Toleration,
)
from reference.manifests import LoadResult, ManifestError

Load = Callable[..., LoadResult]
Refuse = Callable[..., ManifestError]


def test_a_gang_of_two_groups(load_objects: Load) -> None:
    annotation = groups(
        group("driver", 1, {"cpu": "500m", "memory": "1Gi"}),
        group("workers", 4, {"cpu": 1, "nvidia.com/gpu": "2"}, labels={"a": "b"}, annotations={}),
    )
    [app] = load_objects(node(), gang(task_groups=annotation)).cluster.applications
    assert app.task_groups == (
        TaskGroup("driver", 1, Resources({"vcore": 500, "memory": 2**30})),
        TaskGroup("workers", 4, Resources({"vcore": 1000, "nvidia.com/gpu": 2000})),
    )
    assert app.placeholder_ask == Resources({"vcore": 4500, "memory": 2**30, "nvidia.com/gpu": 8000, "pods": 5})


def test_constraints_of_a_group(load_objects: Load) -> None:
    annotation = groups(
        group(
            nodeSelector={"disk": "ssd", "arch": "arm"},
            tolerations=[
                {"key": "a", "value": "b", "effect": "NoSchedule"},
                {"operator": "Exists", "tolerationSeconds": 30},
            ],
            affinity={
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
                            {"matchExpressions": [{"key": "rank", "operator": "Gt", "values": ["-3"]}]},
                            {},
                        ]
                    },
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}],
                }
            },
        )
    )
    result = load_objects(node(), gang(task_groups=annotation))
    assert result.cluster.applications[0].task_groups[0].constraints == Constraints(
        node_selector=(("arch", "arm"), ("disk", "ssd")),
        tolerations=(
            Toleration("a", exists=False, value="b", effect=TaintEffect.NO_SCHEDULE),
            Toleration("", exists=True),
        ),
        affinity_terms=(
            (Requirement("zone", Operator.IN, ("a", "b")),),
            (Requirement("rank", Operator.GT, ("-3",)),),
            (),
        ),
    )
    assert [w.text for w in result.warnings] == ["no queues.yaml: one queue without limits, root.default, is taken"]


@pytest.mark.parametrize(
    ("members", "named"),
    [
        (
            {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name"}]}]
                        }
                    }
                }
            },
            "matchFields",
        ),
        ({"minReplicas": 3}, "'minReplicas'"),
    ],
)
def test_what_cannot_be_kept_is_named(members: dict[str, Any], named: str, load_objects: Load) -> None:
    result = load_objects(node(), gang(task_groups=groups(group(**members))))
    assert result.cluster.applications[0].task_groups[0].constraints == Constraints()
    [warning] = [w for w in result.warnings if named in w.text]
    assert 'annotations["yunikorn.apache.org/task-groups"][0]' in warning.where


@pytest.mark.parametrize(
    "members",
    [
        {"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]},
        {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}}},
    ],
)
def test_soft_constraints_pass_without_remark(members: dict[str, Any], load_objects: Load) -> None:
    assert len(load_objects(node(), gang(task_groups=groups(group(**members)))).warnings) == 1  # no queues.yaml


def test_member_names_compare_without_case_as_in_go(load_objects: Load) -> None:
    annotation = '[{"NAME": "w", "minmember": 2, "MinResource": {"cpu": "1"}}]'
    [app] = load_objects(node(), gang(task_groups=annotation)).cluster.applications
    assert app.task_groups == (TaskGroup("w", 2, Resources({"vcore": 1000})),)


def test_vcore_in_a_group_is_thousandths(load_objects: Load) -> None:
    # the shim passes any name but cpu through Value(): a vcore of 2 reaches the core as two thousandths
    result = load_objects(node(), gang(task_groups=groups(group(resource={"vcore": "2"}))))
    assert result.cluster.applications[0].task_groups[0].min_resource == Resources({"vcore": 2})
    assert any("thousandths" in w.text for w in result.warnings)


REFUSED = [
    ("not json", "", "bad JSON (expecting value) at line 1, column 1 of this text"),
    ("{}", "", "expected a list of task groups"),
    ("[null]", "[0]", "found nothing"),
    ("[[]]", "[0]", "expected a task group"),
    (groups({"minMember": 1, "minResource": {}}), "[0]", "no name"),
    (groups(group(name="")), "[0].name", "an empty text"),
    (groups(group(name=3)), "[0].name", "found 3"),
    (groups({"name": "w", "minResource": {}}), "[0]", "no minMember"),
    (groups(group(members=0)), "[0].minMember", "found 0, expected a whole number, 1 or more"),
    (groups(group(members=-1)), "[0].minMember", "found -1"),
    (groups(group(members="2")), "[0].minMember", "found '2'"),
    (groups(group(members=True)), "[0].minMember", "found true"),
    (groups(group(members=2.5)), "[0].minMember", "found 2.5"),
    (groups(group(members=2**31)), "[0].minMember", "found 2147483648"),
    (groups({"name": "w", "minMember": 1}), "[0]", "no minResource"),
    ('[{"name": "w", "minMember": 1, "minResource": null}]', "[0]", "no minResource"),
    (groups(group(resource=[])), "[0].minResource", "found an empty list"),
    (groups(group(resource={"cpu": "-1"})), "[0].minResource.cpu", "the negative quantity -1"),
    (groups(group(resource={"cpu": "1", "vcore": "1"})), "[0].minResource.vcore", "both cpu and vcore"),
    (groups(group(resource={"pods": "1"})), "[0].minResource.pods", "found pods"),
    (groups(group(resource={"cpu": "x"})), "[0].minResource.cpu", "found 'x'"),
    (groups(group(members=2**30, resource={"memory": "10Gi"})), "[0]", "fits in 64 bits"),
    (groups(group("a", 1, {"memory": "4E"}), group("b", 2, {"memory": "4E"})), "[1]", "fits in 64 bits"),
    (groups(group(), group()), "[1]", "the task group 'workers' a second time"),
    ('[{"name": "w", "Name": "v"}]', "[0].Name", "two spellings"),
    ('[{"name": "w", "name": "v"}]', "", "the key 'name' twice"),
    (groups(group(nodeSelector=["a"])), "[0].nodeSelector", "found a list"),
    (groups(group(nodeSelector={"a": True})), "[0].nodeSelector.a", "found true"),
    (groups(group(tolerations=[{"operator": "In"}])), "[0].tolerations[0].operator", "Equal or Exists"),
    (groups(group(tolerations=[{"value": "x"}])), "[0].tolerations[0]", "without a key"),
    (groups(group(tolerations=[{"key": "a", "operator": "Exists", "value": "x"}])), "tolerations[0].value", "no value"),
    (groups(group(affinity=[])), "[0].affinity", "found an empty list"),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "where", "says"), REFUSED)
def test_a_bad_annotation_is_refused(annotation: str, where: str, says: str, refuse: Refuse) -> None:
    error = refuse(node(), gang(task_groups=annotation))
    assert error.where.startswith(f'items[1].metadata.annotations["{YUNIKORN}task-groups"]')
    assert error.where.endswith(where)
    assert says in str(error)


REQUIREMENTS: list[tuple[dict[str, Any], str]] = [
    ({"operator": "In", "values": ["a"]}, "expected a label"),
    ({"key": "a"}, "expected In, NotIn"),
    ({"key": "a", "operator": "Like"}, "expected In, NotIn"),
    ({"key": "a", "operator": "In"}, "at least one value"),
    ({"key": "a", "operator": "NotIn", "values": []}, "at least one value"),
    ({"key": "a", "operator": "Exists", "values": ["x"]}, "no values"),
    ({"key": "a", "operator": "Gt", "values": ["1", "2"]}, "one whole number"),
    ({"key": "a", "operator": "Lt", "values": ["1.5"]}, "one whole number"),
    ({"key": "a", "operator": "In", "values": [1]}, "found 1"),
]


@pytest.mark.parametrize(("requirement", "says"), REQUIREMENTS)
def test_a_bad_affinity_is_refused(requirement: dict[str, Any], says: str, refuse: Refuse) -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    assert says in str(refuse(node(), gang(task_groups=groups(group(affinity=affinity)))))


POLICIES = [
    (None, GangStyle.SOFT, 900, None),
    ("placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard", GangStyle.HARD, 60, None),
    ("gangSchedulingStyle=Soft", GangStyle.SOFT, 900, None),
    ("placeholderTimeoutInSeconds=0", GangStyle.SOFT, 900, None),
    ("gangSchedulingStyle=hard", GangStyle.SOFT, 900, "neither Soft nor Hard"),
    ("placeholderTimeoutInSeconds=1m", GangStyle.SOFT, 900, "'1m' is not a number of seconds"),
    ("placeholderTimeoutInSeconds=-5", GangStyle.SOFT, 900, "'-5' is not a number of seconds"),
    ("placeholderTimeoutInSeconds=60,gangSchedulingStyle=Hard", GangStyle.SOFT, 900, "not a number of seconds"),
    ("timeout=5 gangSchedulingStyle=Hard", GangStyle.HARD, 900, "'timeout=5'"),
]


@pytest.mark.parametrize(("text", "style", "timeout", "warned"), POLICIES)
def test_scheduling_policy(
    text: str | None, style: GangStyle, timeout: int, warned: str | None, load_objects: Load
) -> None:
    annotations = {} if text is None else {YUNIKORN + "schedulingPolicyParameters": text}
    result = load_objects(node(), gang(annotations=annotations))
    [app] = result.cluster.applications
    assert (app.style, app.placeholder_timeout_seconds) == (style, timeout)
    remarks = [w.text for w in result.warnings if w.where.endswith('schedulingPolicyParameters"]')]
    assert len(remarks) == (1 if warned else 0)
    assert not warned or warned in remarks[0]

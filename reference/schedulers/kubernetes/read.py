"""Reads pods, groups and nodes of a scenario: the fields of the Kubernetes API, without its envelopes.

``{"name": "p1", "podGroup": "pg1", "requests": {"cpu": 1}, "priority": 100, "labels": {}, "nodeSelector": {},
"tolerations": [], "affinity": {}, "topologySpreadConstraints": []}``: what is in ``spec`` of a pod stands beside its
name. What is not known is an error with its place.
"""

from __future__ import annotations

from typing import Any

from reference.cluster import Node, Operator, Requirement, Resources, Taint
from reference.cluster.neighbours import PodAffinityTerm, Selector
from reference.manifests.amounts import kubernetes_resources
from reference.manifests.constraints import read_constraints, read_effect, read_requirement
from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.queue_parts import only_keys
from reference.schedulers.kubernetes.api import (
    DEFAULT_SCHEDULER,
    NO_AFFINITY,
    CompositePodGroup,
    DisruptionMode,
    Pod,
    PodAffinity,
    PodGroup,
    PodSpec,
    PreemptionPolicy,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
    WhenUnsatisfiable,
)

MOST = 2**31 - 1
"""Priorities and counts are 32 bits."""
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
POD_KEYS = (
    "podGroup", "requests", "priority", "labels", "schedulerName", "preemptionPolicy", "nodeSelector", "tolerations",
    "affinity", "topologySpreadConstraints",
)  # fmt: skip
_GROUP_KEYS = ("name", "priority", "topologyKey", "parent", "disruptionMode", "preemptionPolicy")


def read_node(field: Field) -> Node:
    """``{"name": "n1", "allocatable": {"cpu": 4}, "labels": {}, "taints": [], "unschedulable": false}``."""
    only_keys(field, "name", "allocatable", "labels", "taints", "unschedulable")
    return Node(
        field.need("name", "the node's name").name(),
        kubernetes_resources(field.need("allocatable", "amounts")),
        field.optional("labels", Field.string_map, {}),
        tuple(_taint(taint) for taint in field.list_of("taints")),
        not field.optional("unschedulable", Field.boolean, False),
    )


def _taint(field: Field) -> Taint:
    only_keys(field, "key", "value", "effect")
    key, effect = field.need("key", "the taint's key").name(), field.need("effect", "the taint's effect")
    return Taint(key, field.optional("value", Field.string, ""), read_effect(effect))


def read_group(field: Field) -> PodGroup:
    """A PodGroup; without ``minCount`` its policy is basic."""
    only_keys(field, "op", "minCount", *_GROUP_KEYS)
    return PodGroup(min_count=field.optional("minCount", _count, None), **_common(field))


def read_composite(field: Field) -> CompositePodGroup:
    """A CompositePodGroup; without ``minGroupCount`` its policy is basic."""
    only_keys(field, "op", "minGroupCount", *_GROUP_KEYS)
    return CompositePodGroup(min_group_count=field.optional("minGroupCount", _count, None), **_common(field))


def _common(field: Field) -> dict[str, Any]:
    return {
        "name": field.need("name", "the group's name").name(),
        "priority": field.optional("priority", _priority, 0),
        "topology_key": field.optional("topologyKey", Field.name, ""),
        "parent": field.optional("parent", Field.name, ""),
        "disruption_mode": field.optional("disruptionMode", lambda f: f.choice(DisruptionMode), DisruptionMode.SINGLE),
        "preemption_policy": _policy(field),
    }


def read_pod(name: str, field: Field) -> Pod:
    """The pod of that name with the members of ``field``, which has ``POD_KEYS``."""
    affinity = field.get("affinity")
    nodes = affinity.get("nodeAffinity") if affinity else None
    preferred = nodes.list_of(_PREFERRED) if nodes else []
    spec = PodSpec(
        kubernetes_resources(field.get("requests")) if field.get("requests") else Resources(),
        read_constraints(field, Notices()),  # which tells of what it cannot say, and that is read below
        tuple(_preference(each) for each in preferred),
        _pod_affinity(affinity.get("podAffinity") if affinity else None),
        _pod_affinity(affinity.get("podAntiAffinity") if affinity else None),
        tuple(_spread(each) for each in field.list_of("topologySpreadConstraints")),
        field.optional("labels", Field.string_map, {}),
        field.optional("priority", _priority, 0),
        field.optional("schedulerName", Field.name, DEFAULT_SCHEDULER),
        _policy(field),
    )
    return Pod(name, spec, field.optional("podGroup", Field.name, ""))


def _policy(field: Field) -> PreemptionPolicy:
    default = PreemptionPolicy.PREEMPT_LOWER_PRIORITY
    return field.optional("preemptionPolicy", lambda f: f.choice(PreemptionPolicy), default)


def _preference(field: Field) -> PreferredSchedulingTerm:
    term = field.need("preference", "a term").list_of("matchExpressions")
    return PreferredSchedulingTerm(_weight(field), tuple(read_requirement(each) for each in term))


def _pod_affinity(field: Field | None) -> PodAffinity:
    if field is None:
        return NO_AFFINITY
    only_keys(field, _REQUIRED, _PREFERRED)
    return PodAffinity(
        tuple(_term(each) for each in field.list_of(_REQUIRED)),
        tuple(
            WeightedPodAffinityTerm(_weight(each), _term(each.need("podAffinityTerm", "a term")))
            for each in field.list_of(_PREFERRED)
        ),
    )


def _term(field: Field) -> PodAffinityTerm:
    only_keys(field, "topologyKey", "labelSelector")
    return PodAffinityTerm(field.need("topologyKey", "a label of nodes").name(), _selector(field))


def _spread(field: Field) -> TopologySpreadConstraint:
    only_keys(field, "maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector", "minDomains")
    return TopologySpreadConstraint(
        field.need("maxSkew", "a number").integer(1, MOST),
        field.need("topologyKey", "a label of nodes").name(),
        field.need("whenUnsatisfiable", "DoNotSchedule or ScheduleAnyway").choice(WhenUnsatisfiable),
        _selector(field),
        field.optional("minDomains", _count, 1),
    )


def _selector(owner: Field) -> Selector:
    field = owner.need("labelSelector", "which pods it is about")
    only_keys(field, "matchLabels", "matchExpressions")
    labels: dict[str, str] = field.optional("matchLabels", Field.string_map, {})
    equal = tuple(Requirement(key, Operator.IN, (value,)) for key, value in sorted(labels.items()))
    return (*equal, *(read_requirement(each) for each in field.list_of("matchExpressions")))


def _weight(field: Field) -> int:
    return field.need("weight", "1 to 100").integer(1, 100)


def _priority(field: Field) -> int:
    return field.integer(-MOST, MOST)


def _count(field: Field) -> int:
    return field.integer(1, MOST)

"""The gang definition in a pod's annotations: task groups and scheduling policy.

Source: the k8shim's task group and gang parsers (cache/utils.go, gang_utils.go). The task-groups annotation is a JSON
list, decoded as Go does: member names compare without case, unknown members are passed over.
"""

from __future__ import annotations

import re
from typing import Final

from reference.cluster.gang import GangStyle, TaskGroup
from reference.cluster.resources import PODS, VCORE, Resources
from reference.manifests.amounts import amount_of
from reference.manifests.constraints import read_constraints
from reference.manifests.document import Field, embedded_json
from reference.manifests.neighbours import read_neighbours
from reference.manifests.notices import Notices
from reference.manifests.quantity import INT64_MAX, QuantityError, base_name, parse_quantity

DEFAULT_TIMEOUT_SECONDS: Final = 900
INT32_MAX: Final = 2**31 - 1

_MEMBERS: Final = (
    "name", "minMember", "minResource", "labels", "annotations", "nodeSelector", "tolerations", "affinity",
    "topologySpreadConstraints",
)  # fmt: skip
_CANONICAL: Final = {member.lower(): member for member in _MEMBERS}


def read_task_groups(annotation: Field, namespace: str, notices: Notices) -> tuple[TaskGroup, ...]:
    """The groups in a task-groups annotation of a pod in ``namespace``, in order.

    Raises ManifestError for what the k8shim refuses.
    """
    groups: list[TaskGroup] = []
    sums: dict[str, int] = {}
    for element in embedded_json(annotation).elements("a list of task groups"):
        group = _read_group(element, namespace, notices)
        if any(group.name == other.name for other in groups):
            raise element.error("each task group once", f"the task group {group.name!r} a second time")
        for name, amount in group.pod_resource.items():
            sums[name] = sums.get(name, 0) + amount * group.min_member
            if sums[name] > INT64_MAX:
                raise element.error("a sum that fits in 64 bits", f"{name} that adds up to {sums[name]}")
        groups.append(group)
    return tuple(groups)


def _read_group(element: Field, namespace: str, notices: Notices) -> TaskGroup:
    members = _members(element, notices)
    name, count, resources = members.get("name"), members.get("minMember"), members.get("minResource")
    if name is None:
        raise element.error("a task group with a name", "no name")
    text = name.name("the task group's name")
    if count is None:
        raise element.error("a minMember of 1 or more", "no minMember")
    if resources is None:
        raise element.error("a minResource such as {cpu: 1, memory: 2Gi}", "no minResource")
    if "annotations" in members:
        members["annotations"].string_map()
    own = members.get("labels")
    labels = {key: own.child(key, value) for key, value in own.string_map().items()} if own else {}
    return TaskGroup(
        name=text,
        min_member=count.integer(1, INT32_MAX, "a whole number, 1 or more"),
        min_resource=_min_resource(resources, notices),
        constraints=read_constraints(element, notices, members),
        neighbours=read_neighbours(members, labels, namespace, notices),
    )


def _members(element: Field, notices: Notices) -> dict[str, Field]:
    found: dict[str, Field] = {}
    for key, member in element.members("a task group, a JSON object"):
        name = _CANONICAL.get(key.lower())
        if name is None:
            notices.add(member, f"YuniKorn does not know {key!r} in a task group: passed over", key, of_key=True)
        elif name in found:
            raise member.error(f"{name} once", f"{name} in two spellings", of_key=True)
        else:
            found[name] = member
    return found


def _min_resource(resources: Field, notices: Notices) -> Resources:
    amounts: dict[str, int] = {}
    for name, quantity in resources.members("a mapping of resources to quantities"):
        base = base_name(name)
        if name == PODS:
            raise quantity.error("no pods: one for each member is counted anyway", "pods", of_key=True)
        if base in amounts:
            raise quantity.error("either cpu or vcore", "both cpu and vcore", of_key=True)
        if name == VCORE:
            amounts[base] = _milli_cores(quantity)
            text = f"YuniKorn takes 'vcore' here as thousandths of a core: {amounts[base]}m; 'cpu' takes cores"
            notices.add(quantity, text, "vcore in a task group", of_key=True)
        else:
            amounts[base] = amount_of(quantity, name)
    return Resources(amounts)


def _milli_cores(quantity: Field) -> int:
    try:
        return parse_quantity(quantity.scalar())
    except QuantityError as error:
        raise quantity.error(error.expected, error.problem) from None


def read_policy(annotation: Field | None, notices: Notices) -> tuple[GangStyle, int]:
    """Style and placeholder timeout in seconds from ``schedulingPolicyParameters``; warns of what YuniKorn skips."""
    style, timeout = GangStyle.SOFT, DEFAULT_TIMEOUT_SECONDS
    for part in annotation.string().split(" ") if annotation else ():
        assert annotation is not None
        key, _, value = part.partition("=")
        if key == "gangSchedulingStyle":
            if value in ("Soft", "Hard"):
                style = GangStyle(value)
            else:
                text = f"the gangSchedulingStyle {value!r} is neither Soft nor Hard: Soft is taken"
                notices.add(annotation, text, "style")
        elif key == "placeholderTimeoutInSeconds":
            if re.fullmatch(r"[+]?0*[1-9][0-9]{0,11}", value):
                timeout = int(value)
            elif not re.fullmatch(r"[+-]?0+", value):
                text = f"the timeout {value!r} is not a number of seconds: {DEFAULT_TIMEOUT_SECONDS} is taken"
                notices.add(annotation, text, "timeout")
        elif part:
            text = f"YuniKorn does not know the parameter {part!r}: passed over"
            notices.add(annotation, text, f"parameter {key}")
    return style, timeout

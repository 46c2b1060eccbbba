"""The queue hierarchy from YuniKorn's queues.yaml, bare or inside its ConfigMap.

Keys, validation rules and defaults are those of core's configs package (config.go, configvalidator.go): a root queue is
inserted where it is missing, names compare without case and are kept in lower case, ``application.sort.policy`` is
inherited, unknown keys are errors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from reference.cluster.queue import Queue, QueueTree, SortPolicy
from reference.cluster.resources import NOTHING, Resources, total
from reference.manifests.document import Field
from reference.manifests.notices import Notices, PlaceOf
from reference.manifests.queue_parts import (
    SORT_POLICY,
    check_access,
    check_child_template,
    check_limits,
    check_placement_rules,
    count_of,
    flag,
    only_keys,
    queue_resources,
    read_properties,
)

ROOT: Final = "root"
DEFAULT_QUEUE: Final = "root.default"
_DEFAULT_PARTITION: Final = "default"
_MAX_DEPTH: Final = 50
_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """What queues.yaml says: the tree, and the partition's order of nodes (``fair`` or ``binpacking``)."""

    tree: QueueTree
    node_sort_policy: str = "fair"


@dataclass(slots=True)
class _Declared:
    """A queue as the file declares it, before inheritance."""

    source: Field
    name: str
    is_parent: bool = False
    maximum: Resources = NOTHING
    guaranteed: Resources = NOTHING
    max_applications: int = 0
    sort_policy: str | None = None
    children: list[_Declared] = field(default_factory=list)

    def place(self, *path: str) -> Field:
        """The innermost member of ``path`` that is there, to point at."""
        here = self.source
        for step in path:
            here = here.get(step) or here
        return here


def default_queues() -> QueueConfig:
    """The queues without a configuration: everyone shares ``root.default``."""
    return QueueConfig(QueueTree(Queue(ROOT, children=(Queue(DEFAULT_QUEUE),), is_parent=True)))


def read_queue_config(config: Field, notices: Notices) -> QueueConfig:
    """The content of queues.yaml: its ``default`` partition. Raises ManifestError."""
    only_keys(config, "partitions", "checksum")
    partition = _default_partition(config.need("partitions", "a list of partitions"), notices)
    only_keys(
        partition, "name", "queues", "placementrules", "limits", "preemption", "nodesortpolicy", "usergroupresolver"
    )
    root = _root(partition, notices)
    _check_resources(root, NOTHING)
    _check_applications(root)
    check_limits(partition.get("limits"), notices, queue_applications=root.max_applications)
    check_placement_rules(partition.get("placementrules"), notices)
    _check_preemption(partition.get("preemption"), notices)
    resolver = partition.get("usergroupresolver")
    if resolver:
        only_keys(resolver, "type")
    return QueueConfig(QueueTree(_build(root, "", "fifo", notices)), _node_sort_policy(partition))


def _default_partition(partitions: Field, notices: Notices) -> Field:
    by_name: dict[str, Field] = {}
    for partition in partitions.elements():
        name = partition.get("name")
        text = (name.string() if name else "").lower() or _DEFAULT_PARTITION
        if text in by_name:
            raise (name or partition).error("each partition once", f"the partition {text!r} a second time")
        by_name[text] = partition
    if _DEFAULT_PARTITION not in by_name:
        found = f"the partitions {', '.join(map(repr, by_name))}" if by_name else "no partition"
        raise partitions.error("a partition named 'default', the one Kubernetes uses", found)
    for other, partition in by_name.items():
        if other != _DEFAULT_PARTITION:
            notices.add(partition, f"the partition {other!r} is passed over: Kubernetes uses 'default'")
    return by_name[_DEFAULT_PARTITION]


def _root(partition: Field, notices: Notices) -> _Declared:
    declared = partition.need("queues", "a list of queues")
    top = [_declare(queue, notices, 1) for queue in declared.elements()]
    if len(top) == 1 and top[0].name == ROOT:
        root = top[0]
        root.is_parent = True
        resources = root.source.get("resources")
        for kind in ("guaranteed", "max"):
            if resources and resources.get(kind):
                raise resources.error("no resources on the root queue: its limit is the cluster", f"{kind} resources")
        return root
    if any(queue.name == ROOT for queue in top):
        notices.add(declared, "a root queue is put above all of these: the queue named root becomes root.root")
    _refuse_repeats(top)
    return _Declared(declared, ROOT, is_parent=True, children=top)


def _declare(queue: Field, notices: Notices, depth: int) -> _Declared:
    if depth > _MAX_DEPTH:
        raise queue.error(f"at most {_MAX_DEPTH} levels of queues", "a deeper one")
    only_keys(
        queue, "name", "parent", "resources", "maxapplications", "properties", "adminacl", "submitacl", "childtemplate",
        "queues", "limits",
    )  # fmt: skip
    name = queue.need("name", "the queue's name")
    text = name.scalar("the queue's name")
    if "." in text:
        raise name.error("one name without dots, listed below its parent queue", f"the path {text!r}")
    if not _NAME.fullmatch(text):
        raise name.error("1 to 64 letters, digits, - and _")
    properties = read_properties(queue.get("properties"), notices)
    result = _Declared(
        queue,
        text.lower(),
        is_parent=flag(queue.get("parent")),
        max_applications=count_of(queue.get("maxapplications")),
        sort_policy=properties[SORT_POLICY].lower() if SORT_POLICY in properties else None,
        children=[_declare(child, notices, depth + 1) for child in queue.list_of("queues")],
    )
    resources = queue.get("resources")
    if resources:
        only_keys(resources, "guaranteed", "max")
        result.guaranteed = queue_resources(resources.get("guaranteed"), notices)
        result.maximum = queue_resources(resources.get("max"), notices)
    _refuse_repeats(result.children)
    check_access(queue, notices)
    check_child_template(queue.get("childtemplate"), notices)
    check_limits(queue.get("limits"), notices, result.maximum, result.max_applications)
    return result


def _refuse_repeats(queues: list[_Declared]) -> None:
    seen: set[str] = set()
    for queue in queues:
        if queue.name in seen:
            found = f"the queue {queue.name!r} a second time"
            raise queue.place("name").error("each queue once below its parent", found)
        seen.add(queue.name)


def _check_resources(queue: _Declared, limit: Resources) -> Resources:
    """The rules on guaranteed and max, with ``limit`` the max of the queues above; returns what is guaranteed below."""
    if not queue.guaranteed.fits_in_limit(queue.maximum):
        raise queue.place("resources", "guaranteed").error(
            f"no more than the queue's max of {_show(queue.maximum)}", f"guaranteed {_show(queue.guaranteed)}"
        )
    if not queue.maximum.fits_in_limit(limit):
        raise queue.place("resources", "max").error(
            f"no more than the max of the queues above, {_show(limit)}", f"max {_show(queue.maximum)}"
        )
    limit = limit.min_limit(queue.maximum)
    promised = total([_check_resources(child, limit) for child in queue.children])
    if not promised.fits_in_limit(queue.guaranteed):
        raise queue.place("resources", "guaranteed").error(
            f"at least what its children are guaranteed together, {_show(promised)}",
            f"guaranteed {_show(queue.guaranteed)}",
        )
    if not promised.fits_in_limit(limit):
        raise queue.place("resources", "max").error(
            f"at least what its children are guaranteed together, {_show(promised)}", f"max {_show(limit)}"
        )
    return promised if queue.guaranteed.is_zero() else queue.guaranteed


def _check_applications(queue: _Declared) -> None:
    for child in queue.children:
        if queue.max_applications and not 0 < child.max_applications <= queue.max_applications:
            place = child.place("maxapplications")
            found = str(child.max_applications) if place is not child.source else "no maxapplications"
            expected = f"1 to {queue.max_applications}, since the parent queue sets maxapplications"
            raise place.error(expected, found)
        _check_applications(child)


def _build(queue: _Declared, above: str, policy: str, notices: Notices) -> Queue:
    name = f"{above}.{queue.name}" if above else queue.name
    policy = queue.sort_policy or policy
    maximum = queue.maximum
    notices.place(PlaceOf.QUEUE, name, queue.source)
    if maximum and maximum.is_zero():
        notices.add(queue.place("resources", "max"), "a max of only zeros is no limit: YuniKorn passes it over")
        maximum = NOTHING
    return Queue(
        name=name,
        maximum=maximum,
        guaranteed=queue.guaranteed,
        sort_policy=SortPolicy(policy),
        max_applications=queue.max_applications or None,
        children=tuple(_build(child, name, policy, notices) for child in queue.children),
        is_parent=queue.is_parent,
    )


def _node_sort_policy(partition: Field) -> str:
    policy = partition.get("nodesortpolicy")
    if policy is None:
        return "fair"
    only_keys(policy, "type", "resourceweights")
    kind, weights = policy.get("type"), policy.get("resourceweights")
    if kind and kind.string() not in ("fair", "binpacking"):
        raise kind.error("fair or binpacking")
    for _, weight in weights.members() if weights else ():
        number = weight.value
        if isinstance(number, bool) or not isinstance(number, (int, Decimal)) or number < 0:
            raise weight.error("a number, 0 or more")
    return kind.string() if kind else "fair"


def _check_preemption(preemption: Field | None, notices: Notices) -> None:
    if preemption is None:
        return
    only_keys(preemption, "enabled", "quotapreemptionenabled")
    enabled = [flag(preemption.get(key)) for key in ("enabled", "quotapreemptionenabled")]
    if any(enabled):
        notices.add(preemption, "preemption is not modelled: running pods stay", "preemption")


def _show(resources: Resources) -> str:
    return "{" + ", ".join(f"{name}: {amount}" for name, amount in resources.items()) + "}"

"""Workloads that make pods from one template: how many, and which pods are theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from reference.manifests.objects import Object, owners_of, whole_number
from reference.manifests.pods import Pod

K = TypeVar("K")

_COUNTED = {"Job": "parallelism", "Deployment": "replicas", "StatefulSet": "replicas", "ReplicaSet": "replicas"}


def pods_wanted(workload: Object) -> int:
    """How many pods of a workload run side by side. A DaemonSet's and a CronJob's are not known: 0."""
    if workload.kind not in _COUNTED:
        return 0
    wanted = whole_number(workload.spec.get(_COUNTED[workload.kind]), 1)
    completions = workload.spec.get("completions") if workload.kind == "Job" else None
    return wanted if completions is None else min(wanted, whole_number(completions, 1))


def pods_of_owners(pods: Iterable[Pod]) -> Mapping[tuple[str, str, str], list[Pod]]:
    """Pods by namespace, kind and name of each of their owners."""
    found: dict[tuple[str, str, str], list[Pod]] = {}
    for pod in pods:
        if pod.is_template:
            continue
        for kind, name in owners_of(pod.source.need("metadata", "metadata")):
            found.setdefault((pod.namespace, kind, name), []).append(pod)
    return found


def members_of(
    pods: Sequence[Pod], templates: Iterable[tuple[Object, Pod]], group_of: Callable[[Pod], K | None]
) -> dict[K, list[tuple[Pod, int]]]:
    """The pods of each group that ``group_of`` names, and how many of each: those that are there or, where a group has
    none yet, those that the workloads whose templates name it will make."""
    found: dict[K, list[tuple[Pod, int]]] = {}
    for pod in pods:
        key = None if pod.is_template else group_of(pod)
        if key is not None:
            found.setdefault(key, []).append((pod, 1))
    expected: dict[K, list[tuple[Pod, int]]] = {}
    for workload, template in templates:
        key = group_of(template)
        if key is not None and key not in found and (count := pods_wanted(workload)):
            expected.setdefault(key, []).append((template, count))
    return {**found, **expected}

"""Workloads that make pods from one template: how many, and which pods are theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reference.manifests.objects import Object, owners_of, whole_number
from reference.manifests.pods import Pod

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

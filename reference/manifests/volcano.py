"""Volcano's gangs: Jobs (batch.volcano.sh/v1alpha1), PodGroups (scheduling.volcano.sh/v1beta1) and their pods.

A Job's tasks are the roles of its gang, with minima of their own; so are the pods of a PodGroup, by the annotation
``volcano.sh/task-spec``. ``minAvailable`` and ``minMember`` count pods of all roles together. A partitioned task, or
a sub-group policy, is a composite of equal slices, each of which may have to stay in one HyperNode.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from reference.cluster.gang import Application, CompositeGroup
from reference.manifests.applications import weight_of
from reference.manifests.document import Field
from reference.manifests.gangs import Gangs, Part, split_by_shape, task_groups, template_shape
from reference.manifests.hypernodes import HyperNodes
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name, unread, whole_number
from reference.manifests.pods import WEIGHT, Pod
from reference.manifests.priorities import Priorities
from reference.manifests.queue_tree import NamedQueues
from reference.manifests.slices import Slices, slice_part
from reference.manifests.templates import members_of
from reference.manifests.volcano_queues import DEFAULT

JOB_GROUP: Final = "batch.volcano.sh"
GROUP_NAMES: Final = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
JOB_NAME: Final = "volcano.sh/job-name"
TASK: Final = "volcano.sh/task-spec"
QUEUE_NAME: Final = "scheduling.volcano.sh/queue-name"
_ENDED: Final = ("Completed", "Completing", "Aborted", "Aborting", "Terminated", "Terminating", "Failed")


def queue_field(each: Object) -> Field | None:
    """Where a Job or PodGroup names its queue."""
    stated = each.spec.get("queue") or each.annotations().get(QUEUE_NAME)
    return stated if stated is not None and stated.value != "" else None


class VolcanoGangs:
    """Reads Jobs and PodGroups into ``gangs``."""

    def __init__(
        self, gangs: Gangs, queues: NamedQueues, hypernodes: HyperNodes, priorities: Priorities, notices: Notices
    ) -> None:
        self._gangs, self._queues, self._hypernodes = gangs, queues, hypernodes
        self._priorities, self._notices = priorities, notices

    def read(
        self,
        jobs: Iterable[Object],
        pod_groups: Iterable[Object],
        pods: Sequence[Pod],
        templates: Iterable[tuple[Object, Pod]],
    ) -> set[int]:
        """Every gang of these objects; returns the numbers of the pods and templates that belong to them."""
        job_of, groups = by_name(jobs), by_name(pod_groups)
        group_owner: dict[str, str] = {}
        for name, group in groups.items():
            for kind, owner in group.owners():
                if kind == "Job" and f"{group.namespace}/{owner}" in job_of:
                    group_owner[name] = f"{group.namespace}/{owner}"

        def gang_of(pod: Pod) -> tuple[str, str] | None:
            named = next((pod.annotations[key] for key in GROUP_NAMES if key in pod.annotations), None)
            in_group = f"{pod.namespace}/{named.string()}" if named else ""
            label = pod.labels.get(JOB_NAME) or pod.annotations.get(JOB_NAME)
            in_job = f"{pod.namespace}/{label.string()}" if label else group_owner.get(in_group, "")
            if in_job in job_of:
                return ("job", in_job)
            return ("group", in_group) if in_group in groups else None

        members = members_of(pods, templates, gang_of)
        for name, each in job_of.items():
            self._job(each, [pod for pod, _ in members.get(("job", name), ())])
        for name, each in groups.items():
            if name not in group_owner:
                self._pod_group(each, members.get(("group", name), []))
        return {pod.number for pod in pods if gang_of(pod) is not None}

    def _job(self, job: Object, pods: list[Pod]) -> None:
        spec = job.spec
        unread(
            spec, self._notices, "a Volcano Job",
            "schedulerName", "queue", "minAvailable", "networkTopology", "tasks", "priorityClassName",
        )  # fmt: skip
        state = job.status.get("state")
        phase = state.get("phase") if state else None
        if phase is not None and phase.value in _ENDED:
            self._notices.add(phase, "a Job that has ended is passed over", "ended job")
            return
        parts: list[Part] = []
        composites: list[CompositeGroup] = []
        for task in spec.need("tasks", "a list of tasks").elements():
            part, slices = self._task(task, len(parts), job.namespace)
            if any(part.name == other.name for other in parts):
                raise task.error("each task once", f"the task {part.name!r} a second time")
            if slices is None or part.size < 2:
                parts.append(part)
            else:
                inner, composite = slice_part(part, slices, self._notices, task)
                parts += inner
                composites.append(composite)
        total = spec.get("minAvailable")
        sizes = sum(part.size for part in parts)
        least = None if total is None else total.integer(1, max(sizes, 1), f"1 to {sizes}, the pods of all tasks")
        self._add(job, parts, sizes if least is None else least, pods, composites, {})

    def _task(self, task: Field, place: int, namespace: str) -> tuple[Part, Slices | None]:
        unread(task, self._notices, "a task", "name", "replicas", "minAvailable", "template", "partitionPolicy")
        name = task.get("name")
        size = whole_number(task.get("replicas"), 1)
        stated = task.get("minAvailable")
        least = size if stated is None else stated.integer(0, size, f"0 to {size}, the replicas")
        shape = template_shape(task, namespace, self._notices)
        partition = task.get("partitionPolicy")
        part = Part(name.name() if name else f"default{place}", least, size, shape)
        return part, self._partition(partition, size) if partition else None

    def _partition(self, field: Field, size: int) -> Slices:
        unread(field, self._notices, "partitionPolicy", "totalPartitions", "partitionSize", "minPartitions",
               "networkTopology")  # fmt: skip
        count = field.need("totalPartitions", "how many partitions").integer(1, 2**31 - 1)
        each = field.need("partitionSize", "the pods of a partition").integer(1, 2**31 - 1)
        if count * each != size:
            found = f"{count} partitions of {each} for {size} replicas"
            raise field.error("partitions that make up the replicas", found)
        fewest = field.get("minPartitions")
        least = count if fewest is None else fewest.integer(1, count, f"1 to {count}, the partitions")
        return Slices(each, least, self._hypernodes.constraint(field.get("networkTopology"), self._notices))

    def _pod_group(self, group: Object, members: list[tuple[Pod, int]]) -> None:
        spec = group.spec
        unread(
            spec, self._notices, "a Volcano PodGroup",
            "minMember", "minTaskMember", "queue", "priorityClassName", "networkTopology", "subGroupPolicy",
        )  # fmt: skip
        phase = group.status.get("phase")
        if phase is not None and phase.value == "Completed":
            self._notices.add(phase, "a PodGroup that has completed is passed over", "ended group")
            return
        least = whole_number(spec.get("minMember"), 1)
        pods = [pod for pod, _ in members]
        size = sum(count for _, count in members)
        if size < least or not size:
            self._gangs.gated(group, least, size, pods, self._leaf(group))
            return
        roles: dict[str, list[tuple[Pod, int]]] = {}
        for pod, count in members:
            role = pod.annotations.get(TASK)
            roles.setdefault(role.string() if role else "", []).append((pod, count))
        minima = spec.get("minTaskMember")
        wanted: dict[str, int] = {}
        for role_name, stated in minima.members() if minima else ():
            there = sum(count for _, count in roles.get(role_name, ()))
            wanted[role_name] = stated.integer(0, there, f"0 to {there}, the pods of that role")
        parts: list[Part] = []
        group_of: dict[str, str] = {}
        for role_name, own in roles.items():
            found = split_by_shape(role_name or group.name, own, wanted.get(role_name, 0), self._notices)
            parts += found
            if len(found) == 1:
                group_of.update((pod.full_name, found[0].name) for pod, _ in own)
        composites: list[CompositeGroup] = []
        for policy in spec.list_of("subGroupPolicy"):
            parts, composite = self._sub_groups(policy, parts)
            composites += composite
        self._add(group, parts, least, pods, composites, group_of)

    def _sub_groups(self, policy: Field, parts: list[Part]) -> tuple[list[Part], list[CompositeGroup]]:
        """Sub-groups of equal size: only where all pods are alike can they be told from each other here."""
        unread(policy, self._notices, "subGroupPolicy", "name", "subGroupSize", "minSubGroups", "networkTopology")
        size = policy.get("subGroupSize")
        near = self._hypernodes.constraint(policy.get("networkTopology"), self._notices)
        if size is None or len(parts) != 1 or parts[0].size % size.integer(1, 2**31 - 1):
            text = "a subGroupPolicy is dropped: its sub-groups are not equal parts of pods that are all alike"
            self._notices.add(policy, text, "sub-groups")
            return parts, []
        each = size.integer(1, 2**31 - 1)
        count = parts[0].size // each
        fewest = policy.get("minSubGroups")
        least = 1 if fewest is None else fewest.integer(1, count, f"1 to {count}, the sub-groups")
        inner, composite = slice_part(parts[0], Slices(each, least, near), self._notices, policy)
        return list(inner), [composite]

    def _leaf(self, each: Object) -> str:
        field = queue_field(each)
        return self._queues.paths[DEFAULT] if field is None else self._queues.leaf(field)

    def _add(
        self,
        source: Object,
        parts: Sequence[Part],
        least: int,
        pods: list[Pod],
        composites: Sequence[CompositeGroup],
        group_of: Mapping[str, str],
    ) -> None:
        if not sum(part.size for part in parts):
            self._notices.add(source.field, "a gang without pods is passed over", "empty gang")
            return
        priority = self._priorities.of(source.spec)
        if least < sum(part.least for part in parts if not _inside(part, composites)):
            text = "fewer pods than the minima of the roles come to: Volcano then looks at the whole alone"
            self._notices.add(source.field, text, "roles skipped")
            parts = [part if _inside(part, composites) else replace(part, least=0) for part in parts]
        groups, total = task_groups(parts, least, composites)
        gang = Application(
            name=source.full_name,
            queue=self._leaf(source),
            task_groups=groups,
            weight=weight_of([source.annotations().get(WEIGHT), *(pod.weight for pod in pods)]),
            min_members=total,
            topology=self._hypernodes.constraint(source.spec.get("networkTopology"), self._notices),
            composites=tuple(composites),
            priority=self._priorities.default if priority is None else priority,
            namespace=source.namespace,
        )
        named = {g.name for g in groups}
        roles = {p.full_name: p.annotations[TASK].string() for p in pods if TASK in p.annotations}
        own = {name: role for name, role in roles.items() if role in named}
        self._gangs.add(source, gang, pods, {**own, **group_of})


def _inside(part: Part, composites: Sequence[CompositeGroup]) -> bool:
    return any(part.name in composite.children for composite in composites)

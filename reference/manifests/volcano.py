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
    """Reads Jobs and PodGroups into ``gangs``; ``claimed`` is the numbers of the pods that they own."""

    def __init__(
        self, gangs: Gangs, queues: NamedQueues, hypernodes: HyperNodes, priorities: Priorities, notices: Notices
    ) -> None:
        self._gangs, self._queues, self._hypernodes = gangs, queues, hypernodes
        self._priorities, self._notices = priorities, notices

    def read(self, jobs: Iterable[Object], pod_groups: Iterable[Object], pods: Sequence[Pod]) -> set[int]:
        """Every gang of these objects; returns the numbers of the pods that belong to them."""
        job_of, groups = by_name(jobs), by_name(pod_groups)
        group_owner: dict[str, str] = {}
        for name, group in groups.items():
            for kind, owner in group.owners():
                if kind == "Job" and f"{group.namespace}/{owner}" in job_of:
                    group_owner[name] = f"{group.namespace}/{owner}"
        of_job: dict[str, list[Pod]] = {name: [] for name in job_of}
        of_group: dict[str, list[Pod]] = {name: [] for name in groups}
        claimed: set[int] = set()
        for pod in pods:
            named = next((pod.annotations[key] for key in GROUP_NAMES if key in pod.annotations), None)
            in_group = f"{pod.namespace}/{named.string()}" if named else ""
            label = pod.labels.get(JOB_NAME) or pod.annotations.get(JOB_NAME)
            in_job = f"{pod.namespace}/{label.string()}" if label else group_owner.get(in_group, "")
            if in_job in of_job:
                of_job[in_job].append(pod)
            elif in_group in of_group:
                of_group[in_group].append(pod)
            else:
                continue
            claimed.add(pod.number)
        for name, each in job_of.items():
            self._job(each, of_job[name])
        for name, each in groups.items():
            if name not in group_owner:
                self._pod_group(each, of_group[name])
        return claimed

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
            part, slices = self._task(task, len(parts))
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

    def _task(self, task: Field, place: int) -> tuple[Part, Slices | None]:
        unread(task, self._notices, "a task", "name", "replicas", "minAvailable", "template", "partitionPolicy")
        name = task.get("name")
        size = whole_number(task.get("replicas"), 1)
        stated = task.get("minAvailable")
        least = size if stated is None else stated.integer(0, size, f"0 to {size}, the replicas")
        shape = template_shape(task, self._notices)
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

    def _pod_group(self, group: Object, pods: list[Pod]) -> None:
        spec = group.spec
        unread(spec, self._notices, "a Volcano PodGroup", "minMember", "minTaskMember", "queue", "priorityClassName",
               "networkTopology", "subGroupPolicy")  # fmt: skip
        phase = group.status.get("phase")
        if phase is not None and phase.value == "Completed":
            self._notices.add(phase, "a PodGroup that has completed is passed over", "ended group")
            return
        least = whole_number(spec.get("minMember"), 1)
        if len(pods) < least or not pods:
            text = f"a PodGroup with {len(pods)} of its {least} pods is passed over"
            self._notices.add(group.field, text, "group without pods")
            for pod in pods:
                if pod.is_bound:
                    self._gangs.run(pod, self._leaf(group))
            return
        minima = spec.get("minTaskMember")
        wanted = {key: whole_number(each, 0) for key, each in minima.members()} if minima else {}
        roles: dict[str, list[Pod]] = {}
        for pod in pods:
            role = pod.annotations.get(TASK)
            roles.setdefault(role.string() if role else "", []).append(pod)
        for role_name, count in wanted.items():
            there = len(roles.get(role_name, ()))
            if minima is not None and count > there:
                place = minima.child(role_name, count)
                raise place.error(f"at most the pods of that role ({there})", str(count))
        parts: list[Part] = []
        group_of: dict[str, str] = {}
        for role_name, members in roles.items():
            found = split_by_shape(role_name or group.name, members, wanted.get(role_name, 0), self._notices)
            parts += found
            if len(found) == 1:
                group_of.update((pod.full_name, found[0].name) for pod in members)
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

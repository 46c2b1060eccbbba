"""Kueue's gangs: Workloads (kueue.x-k8s.io), and Jobs that name a queue where their Workload is not given.

A pod set is a task group; ``minCount`` below ``count`` is partial admission. A topology request keeps pods in one
domain of a level of the flavor's Topology, counted inside the levels above. Slices of a pod set are task groups of
their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from reference.cluster.gang import Application, CompositeGroup
from reference.cluster.resources import PODS, Resources
from reference.cluster.topology import Topology, TopologyConstraint
from reference.manifests.applications import weight_of
from reference.manifests.document import Field
from reference.manifests.gangs import Gangs, Part, levels_down_to, read_shape, task_groups, template_shape
from reference.manifests.kueue_queues import Flavor, KueueQueues
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name, unread, whole_number
from reference.manifests.pods import WEIGHT, Pod
from reference.manifests.priorities import Priorities
from reference.manifests.slices import Slices, slice_part
from reference.manifests.templates import pods_of_owners, pods_wanted

QUEUE_NAME: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS: Final = "kueue.x-k8s.io/priority-class"
REQUIRED: Final = "kueue.x-k8s.io/podset-required-topology"
PREFERRED: Final = "kueue.x-k8s.io/podset-preferred-topology"
MIN_PARALLELISM: Final = "kueue.x-k8s.io/job-min-parallelism"


def read_topologies(objects: Iterable[Object], notices: Notices) -> tuple[Topology, ...]:
    """Topology objects, sorted by name. Raises ManifestError."""
    found: list[Topology] = []
    for name, each in sorted(by_name(objects, namespaced=False).items()):
        unread(each.spec, notices, "a Topology", "levels")
        levels: list[str] = []
        for level in each.spec.need("levels", "a list of levels").elements():
            label = level.need("nodeLabel", "a node label")
            if label.name("a node label") in levels:
                raise label.error("each label once", f"{label.value!r} a second time")
            levels.append(label.name())
        if not levels:
            raise each.spec.need("levels", "levels").error("at least one level")
        found.append(Topology(name, tuple(levels)))
    return tuple(found)


@dataclass(slots=True)
class KueueGangs:
    """Reads Workloads and Jobs into ``gangs``. ``uncovered`` are resources that gangs ask for without a quota, by
    ClusterQueue: Kueue admits none of them. ``covered`` are the owners of Workloads, by namespace, kind and name."""

    gangs: Gangs
    queues: KueueQueues
    topologies: Sequence[Topology]
    priorities: Priorities
    notices: Notices
    uncovered: dict[str, set[str]] = field(default_factory=dict)
    covered: set[tuple[str, str, str]] = field(default_factory=set)

    def read(
        self, workloads: Iterable[Object], templates: Iterable[tuple[Object, Pod]], pods: Sequence[Pod]
    ) -> set[int]:
        """Every gang; returns the numbers of the pods and templates that belong to them."""
        owned = pods_of_owners(pods)
        single = {(pod.namespace, "Pod", pod.name): pod for pod in pods if not pod.is_template}
        claimed: set[int] = set()
        covered = self.covered
        for each in by_name(workloads).values():
            owners = [(each.namespace, kind, name) for kind, name in each.owners()]
            covered.update(owners)
            own = [pod for owner in owners for pod in owned.get(owner, ())]
            own += [single[owner] for owner in owners if owner in single]
            claimed |= {pod.number for pod in own}
            self._workload(each, own)
        for job, template in templates:
            key = (job.namespace, job.kind, job.name)
            if key in covered:
                claimed.add(template.number)
            elif QUEUE_NAME in job.labels():
                own = owned.get(key, [])
                claimed |= {template.number, *(pod.number for pod in own)}
                self._job(job, template, own)
        return claimed

    def _workload(self, each: Object, pods: list[Pod]) -> None:
        spec = each.spec
        unread(spec, self.notices, "a Kueue Workload", "queueName", "priority", "priorityClassName", "priorityClassRef",
               "priorityClassSource", "podSets", "active")  # fmt: skip
        if self._is_finished(each):
            self.notices.add(each.field, "a Workload that has finished is passed over", "finished workload")
            return
        if not spec.optional("active", Field.boolean, True):
            self.notices.add(each.field, "a Workload that is not active is passed over", "inactive workload")
            return
        if each.status.get("admission") is not None and not any(pod.is_bound for pod in pods):
            text = "an admitted Workload without bound pods is taken as one that waits"
            self.notices.add(each.field, text, "admitted workload")
        queue = self._queue(each, spec.need("queueName", "the name of a LocalQueue"))
        parts: list[Part] = []
        composites: dict[str, CompositeGroup] = {}
        together: dict[str, list[str]] = {}
        near: dict[str, tuple[TopologyConstraint, ...]] = {}
        for pod_set in spec.need("podSets", "a list of pod sets").elements():
            unread(pod_set, self.notices, "a pod set", "name", "count", "minCount", "template", "topologyRequest")
            request = pod_set.get("topologyRequest")
            part, flavor = self._pod_set(pod_set, queue, each.namespace)
            if any(part.name == other.name for other in parts) or part.name in composites:
                raise pod_set.error("each pod set once", f"the pod set {part.name!r} a second time")
            group = request.get("podSetGroupName") if request else None
            part = _with(part, self._topology(request, flavor) if request and group is None else ())
            inner, composite = self._sliced(part, request, flavor)
            parts += inner
            if composite:
                composites[part.name] = composite
            if group is not None and request is not None:
                together.setdefault(group.name(), []).append(part.name)
                near.setdefault(group.name(), self._topology(request, flavor))
        for name, members in together.items():
            taken = {part.name for part in parts} | composites.keys()
            key = f"{name}-group" if name in taken else name
            composites[key] = CompositeGroup(key, tuple(members), len(members), near[name])
        priority = self.priorities.of(spec)
        reference = spec.get("priorityClassRef")
        if priority is None and reference is not None:
            priority = self.priorities.named(reference.need("name", "the name of a priority class"))
        self._add(each, queue, parts, list(composites.values()), pods, priority)

    def _is_finished(self, each: Object) -> bool:
        return any(
            (kind := condition.get("type")) is not None
            and kind.value == "Finished"
            and (status := condition.get("status")) is not None
            and status.value == "True"
            for condition in each.status.list_of("conditions")
        )

    def _pod_set(self, pod_set: Field, queue: str, namespace: str) -> tuple[Part, Flavor]:
        name = pod_set.get("name")
        size = whole_number(pod_set.get("count"), 1)
        fewest = pod_set.get("minCount")
        least = size if fewest is None else fewest.integer(1, max(size, 1), f"1 to {size}, the count")
        shape = template_shape(pod_set, namespace, self.notices)
        flavor = self.flavored(queue, shape.request)
        return Part(name.name() if name else "main", least, size, shape.at(flavor.constraints)), flavor

    def flavored(self, queue: str, request: Resources) -> Flavor:
        """What the flavor of a ClusterQueue adds to pods with this request; notes what it has no quota of."""
        quotas = self.queues.quotas[queue].nominal
        self.uncovered.setdefault(queue, set()).update(
            name for name, amount in request.items() if amount and name not in quotas and name != PODS
        )
        return self.queues.flavor_of(queue, request)

    def _topology(self, request: Field, flavor: Flavor) -> tuple[TopologyConstraint, ...]:
        unread(request, self.notices, "topologyRequest", "required", "preferred", "unconstrained", "podSetGroupName",
               "podSetSliceRequiredTopology", "podSetSliceSize")  # fmt: skip
        found: list[TopologyConstraint] = []
        for key, required in (("required", True), ("preferred", False)):
            label = request.get(key)
            if label is not None:
                found.append(TopologyConstraint(self._keys(label, flavor), required))
        return tuple(found)

    def _keys(self, label: Field, flavor: Flavor) -> tuple[str, ...]:
        """The levels down to that of ``label`` in the flavor's Topology; the label alone where that is not known."""
        topology = next((each for each in self.topologies if each.name == flavor.topology), None)
        return levels_down_to(label, topology, "no Topology of the flavor is given", self.notices)

    def _sliced(self, part: Part, request: Field | None, flavor: Flavor) -> tuple[list[Part], CompositeGroup | None]:
        level = request.get("podSetSliceRequiredTopology") if request else None
        if request is None or level is None:
            return [part], None
        size = request.need("podSetSliceSize", "the pods of a slice").integer(1, 2**31 - 1)
        if part.size % size:
            raise request.need("podSetSliceSize", "a size").error(f"a divisor of the count ({part.size})")
        near = (TopologyConstraint(self._keys(level, flavor)),)
        if size == part.size or not part.size:
            return [_with(part, (*part.topology, *near))], None
        return slice_part(part, Slices(size, -(-part.least // size), near), self.notices, request)

    def _job(self, job: Object, template: Pod, pods: list[Pod]) -> None:
        size = pods_wanted(job)
        if not size:
            return
        labels, annotations = job.labels(), {**job.annotations(), **template.annotations}
        queue = self._queue(job, labels[QUEUE_NAME])
        fewest = annotations.get(MIN_PARALLELISM)
        if fewest is not None and not (fewest.string().isdecimal() and 1 <= int(fewest.string()) <= size):
            raise fewest.error(f"1 to {size}, the parallelism")
        shape = read_shape(template, self.notices)
        flavor = self.flavored(queue, shape.request)
        near = tuple(
            TopologyConstraint(self._keys(annotations[key], flavor), key == REQUIRED)
            for key in (REQUIRED, PREFERRED)
            if key in annotations
        )
        least = size if fewest is None else int(fewest.string())
        part = Part("main", least, size, shape.at(flavor.constraints), near)
        named = labels.get(PRIORITY_CLASS)
        spec = template.source.need("spec", "the pods' spec")
        priority = self.priorities.named(named) if named else self.priorities.of(spec)
        self._add(job, queue, [part], [], pods, priority)

    def _queue(self, each: Object, name: Field) -> str:
        return self.queues.cluster_queue(name, each.namespace)

    def _add(
        self,
        source: Object,
        queue: str,
        parts: list[Part],
        composites: list[CompositeGroup],
        pods: list[Pod],
        priority: int | None,
    ) -> None:
        if not sum(part.size for part in parts):
            self.notices.add(source.field, "a gang without pods is passed over", "empty gang")
            return
        groups, _ = task_groups(parts)
        gang = Application(
            name=source.full_name,
            queue=self.queues.queues.paths[queue],
            task_groups=groups,
            weight=weight_of([source.annotations().get(WEIGHT), *(pod.weight for pod in pods)]),
            composites=tuple(composites),
            priority=self.priorities.default if priority is None else priority,
            namespace=source.namespace,
        )
        group = groups[0].name if len(groups) == 1 else ""
        self.gangs.add(source, gang, pods, {pod.full_name: group for pod in pods})


def _with(part: Part, near: tuple[TopologyConstraint, ...]) -> Part:
    return Part(part.name, part.least, part.size, part.shape, near)

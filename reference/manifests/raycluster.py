"""A RayCluster (ray.io/v1) as a gang of its own pods: a head, and the workers of each group.

With autoscaling the gang needs ``minReplicas`` of each group and may have ``replicas``; without, all ``replicas``. What
Ray's autoscaler would make of it is another question (``gangproof schedule --policy ray``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reference.cluster.gang import Application
from reference.manifests.applications import weight_of
from reference.manifests.document import Field
from reference.manifests.gangs import Gangs, Part, Shape, task_groups, template_shape
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name, unread, whole_number
from reference.manifests.pods import WEIGHT, Pod
from reference.manifests.priorities import Priorities

GROUP: Final = "ray.io"
CLUSTER: Final = "ray.io/cluster"
WORKER_GROUP: Final = "ray.io/group"
PRIORITY: Final = "ray.io/priority-class-name"
HEAD: Final = "headgroup"
"""What KubeRay labels the head's pod with."""

Place = Callable[[Object, Shape], tuple[str, Shape]]
"""The queue of a workload, and what running there adds to the shape of its pods."""


@dataclass(slots=True)
class RayClusters:
    """Reads RayClusters into ``gangs``."""

    gangs: Gangs
    place: Place
    priorities: Priorities
    notices: Notices

    def read(self, clusters: Iterable[Object], pods: Sequence[Pod], covered: set[tuple[str, str, str]]) -> set[int]:
        """Every cluster that is not in ``covered`` (namespace, kind, name: gangs of another system's objects); returns
        the numbers of the pods that belong to them."""
        found = {name: each for name, each in by_name(clusters).items() if not covered & {_key(each)}}
        own: dict[str, list[Pod]] = {name: [] for name in found}
        for pod in pods:
            label = pod.labels.get(CLUSTER)
            name = f"{pod.namespace}/{label.string()}" if label else ""
            if name in own and not pod.is_template:
                own[name].append(pod)
        for name, each in found.items():
            self._cluster(each, own[name])
        return {pod.number for members in own.values() for pod in members}

    def _cluster(self, each: Object, pods: list[Pod]) -> None:
        spec = each.spec
        unread(spec, self.notices, "a RayCluster as a gang", "headGroupSpec", "workerGroupSpecs", "suspend",
               "enableInTreeAutoscaling", "autoscalerOptions", "rayVersion")  # fmt: skip
        if spec.optional("suspend", Field.boolean, False):
            self.notices.add(each.field, "a RayCluster that is suspended is passed over", "suspended cluster")
            return
        elastic = spec.optional("enableInTreeAutoscaling", Field.boolean, False)
        head = spec.need("headGroupSpec", "the head's group")
        queue, shape = self.place(each, template_shape(head, each.namespace, self.notices))
        parts = [Part(HEAD, 1, 1, shape)]
        for group in spec.list_of("workerGroupSpecs"):
            name = group.need("groupName", "the group's name")
            if any(name.name() == part.name for part in parts):
                raise name.error("each group once", f"the group {name.value!r} a second time")
            if group.optional("suspend", Field.boolean, False):
                self.notices.add(group, "a worker group that is suspended has no pods", "suspended group")
                continue
            hosts = whole_number(group.get("numOfHosts"), 1, 1)
            fewest = whole_number(group.get("minReplicas"), 0)
            wanted = max(whole_number(group.get("replicas"), fewest), fewest)
            _, shape = self.place(each, template_shape(group, each.namespace, self.notices))
            parts.append(Part(name.name(), (fewest if elastic else wanted) * hosts, wanted * hosts, shape))
        groups, _ = task_groups(parts)
        named = each.labels().get(PRIORITY)
        template = head.need("template", "a pod template").need("spec", "the pods' spec")
        priority = self.priorities.named(named) if named else self.priorities.of(template)
        gang = Application(
            name=each.full_name,
            queue=queue,
            task_groups=groups,
            weight=weight_of([each.annotations().get(WEIGHT), *(pod.weight for pod in pods)]),
            priority=self.priorities.default if priority is None else priority,
            namespace=each.namespace,
        )
        self.gangs.add(each, gang, pods, _groups(pods))


def _key(each: Object) -> tuple[str, str, str]:
    return (each.namespace, each.kind, each.name)


def _groups(pods: Iterable[Pod]) -> Mapping[str, str]:
    return {pod.full_name: pod.labels[WORKER_GROUP].string() for pod in pods if WORKER_GROUP in pod.labels}

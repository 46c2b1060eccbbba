"""Gangs of Kubernetes itself (scheduling.k8s.io) and of the coscheduling plugin (scheduling.x-k8s.io).

A PodGroup is a gang of at least ``minCount`` (``minMember``) of its pods; one with the policy ``basic`` needs one, and
places what it can. A CompositePodGroup is a gang of groups. Pods name their group in ``spec.schedulingGroup``
(v1alpha1: ``spec.workloadRef``), or by coscheduling's label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from reference.cluster.gang import Application, CompositeGroup
from reference.cluster.topology import TopologyConstraint
from reference.manifests.applications import weight_of
from reference.manifests.document import Field
from reference.manifests.gangs import Gangs, Part, split_by_shape, task_groups
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name, unread, whole_number
from reference.manifests.pods import WEIGHT, Pod
from reference.manifests.priorities import Priorities
from reference.manifests.templates import members_of

GROUP: Final = "scheduling.k8s.io"
COSCHEDULING: Final = "scheduling.x-k8s.io"
LABELS: Final = ("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")
MOST_LEVELS: Final = 4
"""A tree of groups may be so deep (WorkloadMaxTreeDepth)."""
_USED: Final = ("schedulingPolicy", "schedulingConstraints", "priority", "priorityClassName", "workloadRef",
                "podGroupTemplateRef", "parentCompositePodGroupName")  # fmt: skip


@dataclass(slots=True)
class _Group:
    """A PodGroup: ``least`` of its pods have to run; ``spec`` states its priority, ``place`` is where it stands."""

    source: Object
    name: str
    least: int
    near: tuple[TopologyConstraint, ...]
    spec: Field
    parent: Field | None = None
    members: list[tuple[Pod, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Pods that are there, or that its workloads will make."""
        return sum(count for _, count in self.members)


@dataclass(slots=True)
class _Tree:
    """What is collected on the way down a composite."""

    parts: list[Part] = field(default_factory=list)
    composites: list[CompositeGroup] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    group_of: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class PodGroups:
    """Reads groups into ``gangs``, all of them in ``queue``."""

    gangs: Gangs
    queue: str
    priorities: Priorities
    notices: Notices
    groups: dict[str, _Group] = field(default_factory=dict)
    composites: dict[str, Object] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)

    def read(
        self,
        workloads: Sequence[Object],
        pod_groups: Iterable[Object],
        composites: Iterable[Object],
        pods: Sequence[Pod],
        templates: Iterable[tuple[Object, Pod]],
    ) -> set[int]:
        """Every gang; returns the numbers of the pods and templates that belong to them."""
        templated = self._templates(workloads)
        for name, each in by_name(pod_groups).items():
            if each.group == GROUP:
                self.groups[name] = self._pod_group(each, templated)
            else:
                unread(each.spec, self.notices, "a coscheduling PodGroup", "minMember")
                self.groups[name] = _Group(each, each.name, whole_number(each.spec.get("minMember"), 1), (), each.spec)
        self.composites = by_name(composites)
        for name, members in members_of(pods, templates, self._group_of).items():
            self.groups[name].members = members
        self._link()
        for name, group in self.groups.items():
            if group.parent is None:
                self._alone(name, group)
        for name, each in self.composites.items():
            if each.spec.get("parentCompositePodGroupName") is None:
                self._composite(name, each)
        return {pod.number for pod in pods if self._group_of(pod) is not None}

    # What the objects say

    def _templates(self, workloads: Sequence[Object]) -> dict[str, Field]:
        """Templates of groups by ``namespace/workload/template``. The groups of v1alpha1, which has no objects for
        them, are entered at once."""
        found: dict[str, Field] = {}
        for name, each in by_name(workloads).items():
            unread(each.spec, self.notices, "a Workload", "podGroups", "podGroupTemplates", "controllerRef")
            for template in each.spec.list_of("podGroupTemplates"):
                found[f"{name}/{template.need('name', 'a name').name()}"] = template
            for group in each.spec.list_of("podGroups"):
                own = group.need("name", "the group's name").name()
                least = self._least(group.need("policy", "basic or gang"), "minCount")
                self.groups[f"{name}/{own}"] = _Group(each, f"{each.name}/{own}", least, (), each.spec)
        return found

    def _pod_group(self, each: Object, templates: dict[str, Field]) -> _Group:
        spec = each.spec
        unread(spec, self.notices, "a PodGroup", *_USED)
        template: Field | None = None
        reference = spec.get("workloadRef")
        inner = spec.get("podGroupTemplateRef")
        if reference is None and inner is not None:
            reference = inner.get("workload") or inner
        if reference is not None:
            workload = reference.get("workloadName")
            name = reference.get("templateName") or reference.get("podGroupTemplateName")
            if workload is not None and name is not None:
                template = templates.get(f"{each.namespace}/{workload.string()}/{name.string()}")
        policy = spec.get("schedulingPolicy") or (template.get("schedulingPolicy") if template else None)
        if policy is None:
            policy = spec.need("schedulingPolicy", "basic or gang")
        near = self._near(spec.get("schedulingConstraints"))
        stated = spec if template is None or self.priorities.of(spec) is not None else template
        return _Group(
            each, each.name, self._least(policy, "minCount"), near, stated, spec.get("parentCompositePodGroupName")
        )

    def _least(self, policy: Field, key: str) -> int:
        gang, basic = policy.get("gang"), "basic" in policy.mapping()
        if (gang is not None) == basic:
            raise policy.error("one of basic and gang", "both" if basic else "neither")
        return 1 if gang is None else gang.need(key, "a whole number, 1 or more").integer(1, 2**31 - 1)

    def _near(self, constraints: Field | None) -> tuple[TopologyConstraint, ...]:
        if constraints is None:
            return ()
        unread(constraints, self.notices, "schedulingConstraints", "topology")
        keys = constraints.list_of("topology")
        if len(keys) > 1:
            raise keys[1].error("at most one topology key", f"{len(keys)}")
        return tuple(TopologyConstraint((each.need("key", "a node label").name("a node label"),)) for each in keys)

    def _group_of(self, pod: Pod) -> str | None:
        """The group that a pod names, where it is given; one that is not is told."""
        spec = pod.spec
        named: Field | None = None
        if spec is not None and (group := spec.get("schedulingGroup")) is not None:
            named = group.get("podGroupName")
        elif spec is not None and (reference := spec.get("workloadRef")) is not None:
            workload = reference.need("name", "the workload's name").string()
            named = reference.need("podGroup", "the name of a pod group")
            key = f"{pod.namespace}/{workload}/{named.string()}"
            if key in self.groups:
                return self._replica(key, reference.get("podGroupReplicaKey"))
        else:
            named = next((pod.labels[key] for key in LABELS if key in pod.labels), None)
        if named is None:
            return None
        key = f"{pod.namespace}/{named.string()}"
        if key in self.groups:
            return key
        self.notices.add(named, f"the PodGroup {key!r} is not given", f"no group {key}")
        return None

    def _replica(self, key: str, replica: Field | None) -> str:
        """A group of v1alpha1 for each replica key; the one without a key is the group that the Workload lists."""
        if replica is None:
            return key
        name = f"{key}/{replica.string()}"
        if name not in self.groups:
            first = self.groups[key]
            own = f"{first.name}/{replica.string()}"
            self.groups[name] = _Group(first.source, own, first.least, first.near, first.spec)
        return name

    def _link(self) -> None:
        for name, group in self.groups.items():
            if group.parent is not None:
                self.children.setdefault(self._parent(group.source, group.parent), []).append(name)
        for name, each in self.composites.items():
            parent = each.spec.get("parentCompositePodGroupName")
            if parent is not None:
                self.children.setdefault(self._parent(each, parent), []).append(name)
                self._check_path(name, parent)

    def _parent(self, each: Object, parent: Field) -> str:
        name = f"{each.namespace}/{parent.string()}"
        if name not in self.composites:
            raise parent.error("the name of a CompositePodGroup", f"{name!r}, which is not given")
        return name

    def _check_path(self, name: str, place: Field) -> None:
        above: str | None = name
        for _ in range(MOST_LEVELS):
            each = self.composites[above] if above else None
            parent = each.spec.get("parentCompositePodGroupName") if each else None
            if each is None or parent is None:
                return
            above = self._parent(each, parent)
        raise place.error(f"a tree of at most {MOST_LEVELS} levels", f"{name!r} deeper in, or inside itself")

    # What becomes of them

    def _alone(self, name: str, group: _Group) -> None:
        pods = [pod for pod, _ in group.members]
        if group.size < group.least or not group.size:
            if pods or not any(other.startswith(name + "/") for other in self.groups):  # v1alpha1: replicas only
                self.gangs.gated(group.source, group.least, group.size, pods, self.queue)
            return
        parts = split_by_shape(group.name, group.members, 0, self.notices)
        self._add(name, group.source, group.spec, _Tree(parts=parts, pods=pods), group.least, group.near)

    def _composite(self, name: str, root: Object) -> None:
        tree = _Tree()
        if not self._descend(name, root, tree):
            self.gangs.gated(root, 1, 0, self._pods_below(name), self.queue)
            return
        self._add(name, root, root.spec, tree, None, ())

    def _descend(self, name: str, each: Object, tree: _Tree) -> bool:
        """Adds a composite and all below it that is ready; False where too few of its children are."""
        unread(each.spec, self.notices, "a CompositePodGroup", *_USED)
        least = self._least(each.spec.need("schedulingPolicy", "basic or gang"), "minGroupCount")
        place, ready = len(tree.composites), list[str]()
        marks = (len(tree.parts), len(tree.pods))
        for child in sorted(self.children.get(name, ())):
            group = self.groups.get(child)
            if group is None:
                inner = self.composites[child]
                if self._descend(child, inner, tree):
                    ready.append(inner.name)
            elif group.size < group.least or not group.size:
                text = f"a PodGroup with {group.size} of the {group.least} pods that it needs is passed over"
                self.notices.add(group.source.field, text)
            else:
                ready.append(self._leaf(group, tree))
        if len(ready) < least:
            text = f"a composite with {len(ready)} of the {least} groups that it needs is passed over"
            self.notices.add(each.field, text)
            del tree.composites[place:], tree.parts[marks[0] :], tree.pods[marks[1] :]
            return False
        near = self._near(each.spec.get("schedulingConstraints"))
        tree.composites.insert(place, CompositeGroup(each.name, tuple(ready), least, near))
        return True

    def _leaf(self, group: _Group, tree: _Tree) -> str:
        """Adds a PodGroup of a composite; pods that differ are a composite of their own."""
        parts = split_by_shape(group.name, group.members, group.least, self.notices)
        tree.pods += [pod for pod, _ in group.members]
        if len(parts) == 1:
            tree.parts.append(Part(group.name, group.least, group.size, parts[0].shape, group.near))
            tree.group_of.update((pod.full_name, group.name) for pod, _ in group.members)
        else:
            tree.parts += [part for part in parts if part.least]
            needed = tuple(part.name for part in parts if part.least)
            tree.composites.append(CompositeGroup(group.name, needed, len(needed), group.near))
        return group.name

    def _pods_below(self, name: str) -> list[Pod]:
        found: list[Pod] = []
        for child in sorted(self.children.get(name, ())):
            group = self.groups.get(child)
            found += self._pods_below(child) if group is None else [pod for pod, _ in group.members]
        return found

    def _add(
        self,
        name: str,
        source: Object,
        spec: Field,
        tree: _Tree,
        total: int | None,
        near: tuple[TopologyConstraint, ...],
    ) -> None:
        groups, least = task_groups(tree.parts, total)
        priority = self.priorities.of(spec)
        if priority is None and tree.pods and tree.pods[0].spec is not None:
            priority = self.priorities.of(tree.pods[0].spec)
        gang = Application(
            name=name,
            queue=self.queue,
            task_groups=groups,
            weight=weight_of([source.annotations().get(WEIGHT), *(pod.weight for pod in tree.pods)]),
            min_members=least,
            topology=near,
            composites=tuple(tree.composites),
            priority=self.priorities.default if priority is None else priority,
            namespace=source.namespace,
        )
        own = {pod.full_name: groups[0].name for pod in tree.pods} if len(groups) == 1 else tree.group_of
        self.gangs.add(source, gang, tree.pods, own)

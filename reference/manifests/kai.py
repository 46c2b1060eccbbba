"""KAI's gangs: PodGroups (scheduling.run.ai/v2alpha2) and the pods that name them.

A PodGroup needs ``minMember`` of its pods. With ``subGroups``, which form trees, it needs ``minMember`` of each leaf,
and of each other all children, or ``minSubGroup`` of them. Pods name their group by the annotation ``pod-group-name``
and their leaf by the label ``kai.scheduler/subgroup-name``. A topology constraint names a level of a Topology.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from reference.cluster.gang import Application, CompositeGroup
from reference.cluster.topology import Topology, TopologyConstraint
from reference.manifests.applications import weight_of
from reference.manifests.document import Field
from reference.manifests.gangs import Gangs, Part, levels_down_to, split_by_shape, task_groups
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name, unread, whole_number
from reference.manifests.pods import WEIGHT, Pod
from reference.manifests.priorities import Priorities
from reference.manifests.queue_tree import NamedQueues
from reference.manifests.templates import members_of

POD_GROUP: Final = "pod-group-name"
SUB_GROUP: Final = "kai.scheduler/subgroup-name"
QUEUE: Final = "kai.scheduler/queue"
TOPOLOGY_GROUP: Final = "kai.scheduler"
MOST_LEVELS: Final = 20
NOT_PREEMPTIBLE: Final = 100
"""From this priority on gangs are not preemptible, where they do not say so themselves."""


def queue_field(each: Object) -> Field | None:
    """Where a PodGroup names its queue."""
    stated = each.spec.get("queue") or each.labels().get(QUEUE)
    return stated if stated is not None and stated.value else None


@dataclass(slots=True)
class _Gang:
    """What is collected of one PodGroup."""

    source: Object
    members: dict[str, list[tuple[Pod, int]]]
    children: dict[str, list[Field]] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    composites: list[CompositeGroup] = field(default_factory=list)
    group_of: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class KaiGangs:
    """Reads PodGroups into ``gangs``."""

    gangs: Gangs
    queues: NamedQueues
    topologies: Sequence[Topology]
    priorities: Priorities
    notices: Notices

    def read(
        self, pod_groups: Iterable[Object], pods: Sequence[Pod], templates: Iterable[tuple[Object, Pod]]
    ) -> set[int]:
        """Every gang; returns the numbers of the pods and templates that belong to them."""
        groups = by_name(pod_groups)

        def group_of(pod: Pod) -> str | None:
            named = pod.annotations.get(POD_GROUP)
            key = f"{pod.namespace}/{named.string()}" if named else ""
            if named is not None and key not in groups:
                self.notices.add(named, f"the PodGroup {key!r} is not given", f"no group {key}")
            return key if key in groups else None

        members = members_of(pods, templates, group_of)
        for name, each in groups.items():
            self._pod_group(each, members.get(name, []))
        return {pod.number for pod in pods if group_of(pod) is not None}

    def _pod_group(self, each: Object, members: list[tuple[Pod, int]]) -> None:
        spec = each.spec
        unread(
            spec, self.notices, "a KAI PodGroup",
            "minMember", "minSubGroup", "queue", "priorityClassName", "preemptibility", "topologyConstraint",
            "subGroups",
        )  # fmt: skip
        named = queue_field(each)
        if named is None:
            raise (spec.get("queue") or spec).error("the name of a queue", "none")
        queue = self.queues.leaf(named)
        pods = [pod for pod, _ in members]
        size = sum(count for _, count in members)
        listed = spec.list_of("subGroups")
        least = whole_number(spec.get("minMember"), 1)
        gang = _Gang(each, self._by_leaf(members))
        total: int | None = None
        if listed:
            self._link(gang, listed)
            ready = self._top(gang)
        else:
            ready, total = size >= max(least, 1), least
            gang.parts = split_by_shape(each.name, members, 0, self.notices) if ready else []
        if not ready:
            self.gangs.gated(each, least, size, pods, queue)
            return
        self._add(gang, queue, pods, total)

    @staticmethod
    def _by_leaf(members: list[tuple[Pod, int]]) -> dict[str, list[tuple[Pod, int]]]:
        found: dict[str, list[tuple[Pod, int]]] = {}
        for pod, count in members:
            label = pod.labels.get(SUB_GROUP)
            found.setdefault(label.string() if label else "", []).append((pod, count))
        return found

    def _link(self, gang: _Gang, listed: list[Field]) -> None:
        """The children of each subgroup, "" being the PodGroup itself; pods of no leaf are told."""
        names: set[str] = set()
        for each in listed:
            unread(each, self.notices, "a subgroup", "name", "minMember", "minSubGroup", "parent", "topologyConstraint")
            name = each.need("name", "the subgroup's name")
            if name.name() in names:
                raise name.error("each subgroup once", f"{name.value!r} a second time")
            names.add(name.name())
        for each in listed:
            parent = each.get("parent")
            above = parent.string() if parent else ""
            if parent is not None and above and above not in names:
                raise parent.error("the name of another subgroup", f"{above!r}, which is not given")
            gang.children.setdefault(above, []).append(each)
        reached: set[str] = set()
        waiting = [""]
        while waiting:
            below = [str(child.mapping()["name"]) for child in gang.children.get(waiting.pop(), ())]
            reached |= set(below)
            waiting += below
        lost = next((each for each in listed if each.mapping()["name"] not in reached), None)
        if lost is not None:
            raise lost.error("subgroups that lead to the PodGroup", f"{lost.mapping()['name']!r} inside itself")
        leaves = names - gang.children.keys()
        for leaf, pods in gang.members.items():
            if leaf not in leaves:
                text = f"a pod outside of the leaves of its subgroups ({', '.join(sorted(leaves))}) is passed over"
                self.notices.add(pods[0][0].source, text, "no subgroup")

    def _top(self, gang: _Gang) -> bool:
        """All subgroups; where a few of the upper ones are enough, they are children of a composite."""
        found = self._below(gang, "", gang.source.spec, 1)
        if found is not None and found[1] < len(found[0]):
            gang.composites.insert(0, CompositeGroup(f"{gang.source.name}-subgroups", *found))
        return found is not None

    def _below(self, gang: _Gang, name: str, owner: Field, level: int) -> tuple[tuple[str, ...], int] | None:
        """The children of ``name`` that are ready, and how many of them have to be whole; None where too few are."""
        children = gang.children[name]
        if level > MOST_LEVELS:
            raise children[0].error(f"at most {MOST_LEVELS} levels of subgroups", "a deeper one")
        stated, count = owner.get("minSubGroup"), len(children)
        least = count if stated is None else stated.integer(1, count, f"1 to {count}, the subgroups below")
        ready = tuple(own for child in children if (own := self._sub_group(gang, child, level)) is not None)
        return (ready, least) if len(ready) >= least else None

    def _sub_group(self, gang: _Gang, each: Field, level: int) -> str | None:
        """Adds a subgroup and all below it; its name, or None where it has too few pods."""
        name = each.need("name", "the subgroup's name").name()
        near = self._near(each.get("topologyConstraint"))
        if name not in gang.children:
            return name if self._leaf(gang, name, whole_number(each.get("minMember"), 1, 1), near) else None
        composites, parts = len(gang.composites), len(gang.parts)
        found = self._below(gang, name, each, level + 1)
        if found is None:
            del gang.composites[composites:], gang.parts[parts:]
            return None
        gang.composites.insert(composites, CompositeGroup(name, *found, near))
        return name

    def _leaf(self, gang: _Gang, name: str, least: int, near: tuple[TopologyConstraint, ...]) -> bool:
        members = gang.members.get(name, [])
        size = sum(count for _, count in members)
        if size < least:
            text = f"the subgroup {name!r} has {size} of the {least} pods that it needs"
            self.notices.add(gang.source.field, text)
            return False
        parts = split_by_shape(name, members, least, self.notices)
        if len(parts) == 1:
            gang.parts.append(Part(name, least, size, parts[0].shape, near))
            gang.group_of.update((pod.full_name, name) for pod, _ in members)
        else:
            gang.parts += [part for part in parts if part.least]
            needed = tuple(part.name for part in parts if part.least)
            gang.composites.append(CompositeGroup(name, needed, len(needed), near))
        return True

    def _near(self, constraint: Field | None) -> tuple[TopologyConstraint, ...]:
        if constraint is None:
            return ()
        unread(constraint, self.notices, "topologyConstraint", "topology", "requiredTopologyLevel",
               "preferredTopologyLevel")  # fmt: skip
        found: list[TopologyConstraint] = []
        for key, required in (("requiredTopologyLevel", True), ("preferredTopologyLevel", False)):
            level = constraint.get(key)
            if level is not None and level.value:
                found.append(TopologyConstraint(self._keys(level, constraint.get("topology")), required))
        return tuple(found)

    def _keys(self, level: Field, named: Field | None) -> tuple[str, ...]:
        """The levels down to ``level``; the label alone where the Topology is not given."""
        topology = next((each for each in self.topologies if named and each.name == named.value), None)
        return levels_down_to(level, topology, "its Topology is not given", self.notices)

    def _add(self, gang: _Gang, queue: str, pods: list[Pod], total: int | None) -> None:
        spec, source = gang.source.spec, gang.source
        stated = self.priorities.of(spec)
        priority = self.priorities.default if stated is None else stated
        preemptible = spec.get("preemptibility")
        if (preemptible.value == "non-preemptible") if preemptible else priority >= NOT_PREEMPTIBLE:
            text = "a gang that is not preemptible may use no more than quotas in KAI: here the limits alone hold"
            self.notices.add(source.field, text, "not preemptible")
        groups, least = task_groups(gang.parts, total)
        application = Application(
            name=source.full_name,
            queue=queue,
            task_groups=groups,
            weight=weight_of([source.annotations().get(WEIGHT), *(pod.weight for pod in pods)]),
            min_members=least,
            topology=self._near(spec.get("topologyConstraint")),
            composites=tuple(gang.composites),
            priority=priority,
            namespace=source.namespace,
        )
        only = {pod.full_name: groups[0].name for pod in pods} if len(groups) == 1 else gang.group_of
        self.gangs.add(source, application, pods, only)

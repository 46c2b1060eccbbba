"""From what a system's objects say of a gang to an ``Application``, or to the running pods of one that has started.

The same for all systems: a gang is some parts, each of identical pods, with a minimum each and perhaps one in all. One
of whose pods any has been bound has started: its pods run, and it is not placed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reference.cluster.cluster import RunningPod
from reference.cluster.gang import Application, CompositeGroup, TaskGroup
from reference.cluster.neighbours import ALONE, Neighbours
from reference.cluster.node import ANYWHERE, Constraints
from reference.cluster.resources import Resources
from reference.cluster.topology import Topology, TopologyConstraint
from reference.manifests.applications import Waiting, Workload
from reference.manifests.constraints import read_constraints
from reference.manifests.document import Field
from reference.manifests.neighbours import neighbours_of, template_neighbours
from reference.manifests.notices import Notices, PlaceOf
from reference.manifests.objects import Object
from reference.manifests.pods import Pod, effective_request


@dataclass(frozen=True, slots=True)
class Shape:
    """What one pod asks for, without the count of pods, and where it may run."""

    request: Resources
    constraints: Constraints = ANYWHERE
    neighbours: Neighbours = ALONE

    def at(self, constraints: Constraints) -> Shape:
        """The same pod, kept to nodes that also meet ``constraints``."""
        own = self.constraints
        selector = tuple(sorted({*own.node_selector, *constraints.node_selector}))
        merged = replace(own, node_selector=selector, tolerations=own.tolerations + constraints.tolerations)
        return replace(self, constraints=merged)


@dataclass(frozen=True, slots=True)
class Part:
    """``size`` identical pods of a gang, of which ``least`` have to run."""

    name: str
    least: int
    size: int
    shape: Shape
    topology: tuple[TopologyConstraint, ...] = ()


def read_shape(pod: Pod, notices: Notices) -> Shape:
    """The shape of a pod, or of the pods of a workload's template."""
    spec = pod.source.need("spec", "the pod's spec")
    return Shape(effective_request(spec), read_constraints(spec, notices), neighbours_of(pod, notices))


def template_shape(owner: Field, namespace: str, notices: Notices) -> Shape:
    """The shape of the pods of ``owner``'s ``template``."""
    template = owner.need("template", "a pod template")
    spec = template.need("spec", "the spec of the pods")
    neighbours = template_neighbours(template, namespace, notices)
    return Shape(effective_request(spec), read_constraints(spec, notices), neighbours)


Members = Sequence[tuple[Pod, int]]
"""Pods, and how many of each: one, or for a template as many as its workload makes."""


def split_by_shape(name: str, members: Members, least: int | None, notices: Notices) -> list[Part]:
    """One part for each shape among ``members``, in the order of their first pods; ``least`` is spread over them in
    that order, and None makes every pod count."""
    shapes: dict[Shape, int] = {}
    for pod, count in members:
        shape = read_shape(pod, notices)
        shapes[shape] = shapes.get(shape, 0) + count
    size = sum(shapes.values())
    if len(shapes) > 1:
        notices.place(PlaceOf.PODS_THAT_DIFFER, name, members[0][0].source)
    if len(shapes) > 1 and least and least < size:
        text = f"pods of {name!r} differ: of its {size}, the {least} that have to run are taken in file order"
        notices.add(members[0][0].source, text, "pods that differ")
    parts: list[Part] = []
    left = size if least is None else least
    for index, (shape, count) in enumerate(shapes.items()):
        taken = min(left, count)
        left -= taken
        parts.append(Part(name if len(shapes) == 1 else f"{name}-{index}", taken, count, shape))
    return parts


def task_groups(
    parts: Iterable[Part], total: int | None = None, composites: Sequence[CompositeGroup] = ()
) -> tuple[tuple[TaskGroup, ...], int | None]:
    """The task groups of ``parts`` and the gang's own minimum, in the plainest form that says the same.

    ``total`` is how many pods have to run in all, None for the sum of the parts' minima. Parts without pods are left
    out; where every pod has to run no group is elastic. ``composites`` are flat, of parts that are whole or empty.
    """
    kept = [part for part in parts if part.size]
    if composites:
        optional = {child for composite in composites for child in composite.children}
        sizes = {part.name: part.size for part in kept}
        needed = sum(part.least for part in kept if part.name not in optional)
        needed += sum(sum(sorted(sizes[c] for c in each.children)[: each.min_children]) for each in composites)
        total = None if total is None or total <= needed else min(total, sum(sizes.values()))
    elif total is not None and total >= sum(part.size for part in kept):
        kept, total = [replace(part, least=part.size) for part in kept], None
    elif total is not None and len(kept) == 1:
        kept, total = [replace(kept[0], least=max(kept[0].least, total))], None
    elif total is not None and total <= sum(part.least for part in kept):
        total = None
    groups = tuple(
        TaskGroup(
            part.name,
            part.least,
            part.shape.request,
            part.shape.constraints,
            None if part.least == part.size else part.size,
            part.topology,
            part.shape.neighbours,
        )
        for part in kept
    )
    return groups, total


def levels_down_to(label: Field, topology: Topology | None, missing: str, notices: Notices) -> tuple[str, ...]:
    """The levels of ``topology`` down to that of ``label``, which has to be one of them; without a topology the label
    alone, and ``missing`` says in the warning what is not there."""
    name = label.name("a node label")
    if topology is None:
        notices.add(label, f"{missing}: a domain is a value of this label alone", f"no topology {name}")
        return (name,)
    if name not in topology.levels:
        raise label.error(f"a level of the Topology {topology.name!r} ({', '.join(topology.levels)})")
    return topology.down_to(name)


@dataclass(slots=True)
class Gangs:
    """Puts gangs where they belong: among those that wait, or their pods among those that run."""

    nodes: Mapping[str, object]
    notices: Notices
    result: Workload

    def add(self, source: Object, gang: Application, pods: Sequence[Pod], group_of: Mapping[str, str]) -> None:
        """A gang and the pods of it that are there; ``group_of`` gives a pod's task group by its full name."""
        self.notices.place(PlaceOf.GANG, gang.name, source.field)
        bound = [pod for pod in pods if pod.is_bound]
        for pod in bound:
            self.run(pod, gang.queue, gang, group_of.get(pod.full_name, ""))
        finished = sum(pod.is_finished for pod in pods)
        if not bound and not finished:
            created = source.created
            self.result.waiting.append(Waiting(created, source.number, gang))
            return
        if not bound and finished == len(pods):
            self.notices.add(source.field, "a gang whose pods have all finished is passed over", "finished gang")
            return
        missing = max(gang.members, gang.min_members or 0) - len(bound) - finished
        if missing > 0:
            text = f"gang {gang.name!r} has started with part of its pods: the missing {missing} are not placed"
            self.notices.add(source.name_field(), text)

    def gated(self, source: Object, least: int, there: int, pods: Sequence[Pod], queue: str) -> None:
        """A gang of which too few pods are there to begin with: nothing of it is placed; what is bound runs."""
        text = f"a {source.kind} with {there} of the {max(least, 1)} pods that it needs is passed over"
        self.notices.add(source.field, text)
        for pod in pods:
            if pod.is_bound:
                self.run(pod, queue)

    def run(self, pod: Pod, queue: str, gang: Application | None = None, group: str = "") -> None:
        """A bound pod in ``queue``."""
        assert pod.node is not None
        node = pod.node.string()
        if node not in self.nodes:
            raise pod.node.error("the name of one of the nodes given", f"the unknown node {node!r}")
        name, priority = (gang.name, gang.priority) if gang else ("", 0)
        neighbours = neighbours_of(pod, self.notices)
        running = RunningPod(pod.full_name, node, queue, pod.request(), name, group, priority, neighbours)
        self.result.running.append(running)

"""A gang as objects of the API: one PodGroup, or a tree of CompositePodGroups.

One PodGroup with minCount is all pods of a gang together; it says nothing of roles. So a gang whose task groups have a
minimum, or a domain, of their own is a CompositePodGroup with a PodGroup for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reference.cluster import Application, Constraints, Neighbours, Resources, TaskGroup, TopologyConstraint
from reference.schedulers.domains import Keys, label_of, together
from reference.schedulers.kubernetes.api import (
    CompositePodGroup,
    Pod,
    PodAffinity,
    PodGroup,
    PodSpec,
    TopologySpreadConstraint,
    WhenUnsatisfiable,
)
from reference.schedulers.names import group_name, pod_name

Members = tuple[tuple[Pod, TaskGroup], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is created for a gang, roots first. ``least``: the pods that have to start; ``extra``: those that may start
    with them. ``later``: groups without a minimum, each of which is a root of its own, tried when the gang runs."""

    root: str
    groups: tuple[PodGroup | CompositePodGroup, ...]
    least: Members
    extra: Members = ()
    later: tuple[Plan, ...] = ()


def plan_of(app: Application) -> Plan:
    """The objects of a gang.

    A task group that may be empty and is in no composite waits for the rest of the gang; it has to wait for good where
    the whole gang has a domain, which a root of its own would not know.
    """
    optional = [group for group in app.task_groups if _may_be_empty(app, group)]
    needed = [group for group in app.task_groups if group not in optional]
    plain = not app.composites and not any(map(_is_its_own, needed))
    if (len(needed) == 1 and not app.composites) or plain:
        least = max(sum(group.min_member for group in needed), 1)
        alone = needed[0].topology if len(needed) == 1 else ()
        topology = label_of(together([*app.topology, *alone]))
        root: Plan = Plan(
            app.name, (PodGroup(app.name, least, app.priority, topology),), *_members(app, needed, app.name)
        )
    else:
        root = _tree(app, needed)
    may_wait = [] if together(app.topology) else optional
    return Plan(root.root, root.groups, root.least, root.extra, tuple(_later(app, group) for group in may_wait))


def pod_spec(request: Resources, neighbours: Neighbours, constraints: Constraints, priority: int) -> PodSpec:
    """What a pod asks for, and demands of where it and others are."""
    spread = (
        TopologySpreadConstraint(
            each.max_skew, each.topology_key, WhenUnsatisfiable.DO_NOT_SCHEDULE, each.selector, each.min_domains
        )
        for each in neighbours.spread
    )
    return PodSpec(
        request,
        constraints,
        pod_affinity=PodAffinity(neighbours.affinity),
        pod_anti_affinity=PodAffinity(neighbours.anti_affinity),
        topology_spread_constraints=tuple(spread),
        labels=neighbours.label_map,
        priority=priority,
    )


def keys_of(app: Application) -> Iterator[Keys]:
    """The sets of labels that the gang's groups have to agree on, as ``plan_of`` takes them together."""
    yield together(app.topology)
    for near in (*(g.topology for g in app.task_groups), *(c.topology for c in app.composites)):
        yield together(near)
        yield together([*app.topology, *near])


def _may_be_empty(app: Application, group: TaskGroup) -> bool:
    inside = any(group.name in composite.children for composite in app.composites)
    return group.min_member == 0 and not inside and len(app.task_groups) > 1


def _is_its_own(group: TaskGroup) -> bool:
    return group.most > group.min_member or bool(together(group.topology))


def _later(app: Application, group: TaskGroup) -> Plan:
    name = group_name(app.name, group.name)
    basic = PodGroup(name, None, app.priority, label_of(together(group.topology)))
    return Plan(name, (basic,), *_members(app, [group], name))


def _tree(app: Application, needed: Sequence[TaskGroup]) -> Plan:
    parent = {child: each.name for each in app.composites for child in each.children}
    tops = [name for name in (*(g.name for g in needed), *(c.name for c in app.composites)) if name not in parent]
    composites = {each.name: each for each in app.composites}
    is_single = len(tops) == 1 and tops[0] in composites

    def name_of(name: str) -> str:
        return app.name if is_single and name == tops[0] else group_name(app.name, name)

    def parent_of(name: str) -> str:
        if name in parent:
            return name_of(parent[name])
        return "" if is_single else app.name

    def label(own: Sequence[TopologyConstraint], name: str) -> str:
        whole = app.topology if is_single and name == tops[0] else ()
        return label_of(together([*whole, *own]))

    groups: list[PodGroup | CompositePodGroup] = []
    if not is_single:
        groups.append(CompositePodGroup(app.name, len(tops), app.priority, label_of(together(app.topology))))
    for each in app.composites:
        key = label(each.topology, each.name)
        groups.append(CompositePodGroup(name_of(each.name), each.min_children, app.priority, key, parent_of(each.name)))
    least: Members = ()
    extra: Members = ()
    for group in needed:
        name = name_of(group.name)
        count = group.min_member or None
        key = label_of(together(group.topology))
        groups.append(PodGroup(name, count, app.priority, key, parent_of(group.name)))
        mine, more = _members(app, [group], name)
        least, extra = (*least, *mine), (*extra, *more)
    return Plan(app.name, tuple(groups), least, extra)


def _members(app: Application, groups: Sequence[TaskGroup], pod_group: str) -> tuple[Members, Members]:
    """The pods up to the minimum, and those beyond."""
    least: list[tuple[Pod, TaskGroup]] = []
    extra: list[tuple[Pod, TaskGroup]] = []
    for group in groups:
        spec = pod_spec(group.min_resource, group.neighbours, group.constraints, app.priority)
        for i in range(group.most):
            pod = Pod(pod_name(app.name, group.name, i), spec, pod_group)
            (least if i < group.min_member else extra).append((pod, group))
    return tuple(least), tuple(extra)

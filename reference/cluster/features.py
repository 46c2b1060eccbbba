"""What a cluster asks of those who place it beyond plain gangs, and how to ask less.

Not every scheduler, nor the solver, knows every rule that a cluster can state. Each says which it knows; ``refuse``
is for its entry, so that nothing is ignored in silence, and ``reduce_to`` makes the question smaller and says how. What
only steers (priorities, weights, wishes) forbids nothing: it is left in place, and named where nobody reads it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import replace

from reference.cluster.cluster import Cluster
from reference.cluster.gang import Application, TaskGroup
from reference.cluster.neighbours import ALONE, Neighbours
from reference.cluster.queue import Queue, QueueTree
from reference.cluster.resources import NOTHING
from reference.cluster.topology import TopologyConstraint
from reference.errors import InputError


class Feature(enum.Enum):
    """A rule, or something that steers, that a placement engine has to know to do as the cluster says."""

    TOPOLOGY = "required topology"
    ELASTIC = "task groups larger than their minimum"
    MIN_MEMBERS = "a minimum of the whole gang above those of its groups"
    COMPOSITE = "composite groups"
    RESERVED = "amounts reserved for a queue"
    NODE_TYPES = "node types that may be launched"
    DEVICES = "shares of single devices"
    POD_AFFINITY = "affinity and anti-affinity between pods"
    SPREAD = "topology spread"
    PREFERRED_TOPOLOGY = "preferred topology"
    PRIORITY = "priorities of gangs"
    SHARES = "weights, priorities and deserved amounts of queues"


RULES = frozenset(
    {
        Feature.TOPOLOGY,
        Feature.ELASTIC,
        Feature.MIN_MEMBERS,
        Feature.COMPOSITE,
        Feature.RESERVED,
        Feature.NODE_TYPES,
        Feature.DEVICES,
        Feature.POD_AFFINITY,
        Feature.SPREAD,
    }
)
"""Those that change which placements are good; the others steer."""


def features(cluster: Cluster) -> frozenset[Feature]:
    """Everything of the kind that ``cluster`` uses."""
    found = {feature for app in cluster.applications for feature in _of_gang(app)}
    for queue in cluster.queues:
        if not queue.reserved.is_zero():
            found.add(Feature.RESERVED)
        if queue.weight != 1 or queue.priority or not queue.deserved.is_zero():
            found.add(Feature.SHARES)
    if any(pod.neighbours.anti_affinity for pod in cluster.running):
        found.add(Feature.POD_AFFINITY)
    if cluster.node_types:
        found.add(Feature.NODE_TYPES)
    if any(node.devices for node in cluster.nodes):
        found.add(Feature.DEVICES)
    return frozenset(found)


def _of_gang(app: Application) -> Iterator[Feature]:
    for near in _constraints(app):
        yield Feature.TOPOLOGY if near.required else Feature.PREFERRED_TOPOLOGY
    if any(group.neighbours.affinity or group.neighbours.anti_affinity for group in app.task_groups):
        yield Feature.POD_AFFINITY
    if any(group.neighbours.spread for group in app.task_groups):
        yield Feature.SPREAD
    if any(group.most != group.min_member for group in app.task_groups):
        yield Feature.ELASTIC
    if app.min_members is not None and app.min_members > app.members:
        yield Feature.MIN_MEMBERS
    if app.composites:
        yield Feature.COMPOSITE
    if app.priority:
        yield Feature.PRIORITY


def _constraints(app: Application) -> Iterator[TopologyConstraint]:
    yield from app.topology
    for group in app.task_groups:
        yield from group.topology
    for composite in app.composites:
        yield from composite.topology


def refuse(cluster: Cluster, known: frozenset[Feature], who: str) -> None:
    """Raises InputError where ``cluster`` states a rule that is not in ``known``; ``who`` says for whom."""
    unknown = sorted(f.value for f in (features(cluster) & RULES) - known)
    if unknown:
        raise InputError(", ".join(unknown), f"what {who} knows; see reference.cluster.features.reduce_to")


def reduce_to(cluster: Cluster, known: frozenset[Feature], who: str) -> tuple[Cluster, tuple[str, ...]]:
    """``cluster`` without the rules that are not in ``known``, and what was made of each, one line each.

    Topology, reserved amounts, node types, devices, and what pods demand of other pods are dropped. For the rest the
    gang is made stricter, so that what is good for it is good for the gang as it was: of an elastic group the minimum,
    of a composite group the first children that are enough, and where the whole gang has a minimum of its own, the
    minima of its groups are raised to it in their order.
    """
    lost = features(cluster) - known
    # a gang of fixed groups has no room for a minimum of its own, nor one whose children may be left out
    if Feature.ELASTIC in lost and Feature.MIN_MEMBERS in known:
        return reduce_to(cluster, known - {Feature.MIN_MEMBERS}, who)
    if Feature.MIN_MEMBERS in lost and Feature.COMPOSITE in known:
        return reduce_to(cluster, known - {Feature.COMPOSITE}, who)
    if lost & RULES:
        cluster = replace(
            cluster,
            applications=tuple(_plain_gang(app, lost) for app in cluster.applications),
            queues=QueueTree(_without_reserved(cluster.queues.root)) if Feature.RESERVED in lost else cluster.queues,
        )
        if Feature.POD_AFFINITY in lost:
            pods = (replace(pod, neighbours=_fewer(pod.neighbours, lost)) for pod in cluster.running)
            cluster = replace(cluster, running=tuple(pods))
        if Feature.NODE_TYPES in lost:
            nodes = tuple(replace(node, node_type="") if node.node_type else node for node in cluster.nodes)
            cluster = replace(cluster, nodes=nodes, node_types=())
        if Feature.DEVICES in lost:
            cluster = replace(cluster, nodes=tuple(replace(n, devices=()) if n.devices else n for n in cluster.nodes))
    return cluster, tuple(f"{who} does not know {f.value}: {_MADE[f]}" for f in Feature if f in lost)


_MADE = {
    Feature.TOPOLOGY: "dropped, pods may be placed apart",
    Feature.ELASTIC: "only the minimum of each group is placed",
    Feature.MIN_MEMBERS: "the minima of its groups are raised to it, in their order",
    Feature.COMPOSITE: "the first groups that are enough are taken as required, their topology for the whole gang",
    Feature.RESERVED: "dropped, other queues may use them",
    Feature.NODE_TYPES: "dropped, only nodes that are there are used",
    Feature.DEVICES: "dropped, shares may add up across the devices of a node",
    Feature.POD_AFFINITY: "dropped, pods may be placed beside any others",
    Feature.SPREAD: "dropped, pods may be placed unevenly",
    Feature.PREFERRED_TOPOLOGY: "not looked at",
    Feature.PRIORITY: "not looked at",
    Feature.SHARES: "not looked at",
}


def _without_reserved(queue: Queue) -> Queue:
    return replace(queue, reserved=NOTHING, children=tuple(_without_reserved(child) for child in queue.children))


def _plain_gang(app: Application, lost: frozenset[Feature]) -> Application:
    groups, near, composites = app.task_groups, app.topology, app.composites
    if Feature.COMPOSITE in lost:
        needed = _needed(app)
        groups = tuple(group for group in groups if group.name in needed)
        near, composites = (*near, *(each for composite in composites for each in composite.topology)), ()
    if Feature.MIN_MEMBERS in lost:
        groups = _raised(groups, (app.min_members or 0) - sum(group.min_member for group in groups))
    if Feature.ELASTIC in lost:
        # a group that may be empty is left out; a composite counts it among its children, there it gets one pod
        kept = (group for group in groups if group.min_member or composites)
        groups = tuple(replace(group, size=None, min_member=max(group.min_member, 1)) for group in kept)
    if Feature.TOPOLOGY in lost:
        near = _wishes(near)
        groups = tuple(replace(group, topology=_wishes(group.topology)) for group in groups)
        composites = tuple(replace(each, topology=_wishes(each.topology)) for each in composites)
    groups = tuple(replace(group, neighbours=_fewer(group.neighbours, lost)) for group in groups)
    return replace(
        app,
        task_groups=groups,
        min_members=None if Feature.MIN_MEMBERS in lost else app.min_members,
        composites=composites,
        topology=near,
    )


def _fewer(neighbours: Neighbours, lost: frozenset[Feature]) -> Neighbours:
    """Without what is lost; where nothing is left to be known of others, without labels."""
    if Feature.POD_AFFINITY in lost:
        neighbours = replace(neighbours, affinity=(), anti_affinity=())
    if Feature.SPREAD in lost:
        neighbours = replace(neighbours, spread=())
    return ALONE if {Feature.POD_AFFINITY, Feature.SPREAD} <= lost else neighbours


def _needed(app: Application) -> set[str]:
    """Task groups that are enough together: outside of composites all, inside the first ones that have to have pods."""
    composites = {each.name: each for each in app.composites}
    least = {group.name: group.min_member for group in app.task_groups}

    def need(name: str) -> tuple[str, ...]:
        if name not in composites:
            return (name,)
        children = [need(child) for child in composites[name].children]
        children.sort(key=lambda names: not any(least[each] for each in names))
        # where the whole gang has a minimum, a few children may not be able to reach it: then all are taken
        count = composites[name].min_children if app.min_members is None else len(children)
        return tuple(each for names in children[:count] for each in names)

    inside = {child for each in app.composites for child in each.children}
    return {each for name in (*least, *composites) if name not in inside for each in need(name)}


def _raised(groups: tuple[TaskGroup, ...], missing: int) -> tuple[TaskGroup, ...]:
    """The groups with ``missing`` pods more at their minima, the first group first."""
    raised: list[TaskGroup] = []
    for group in groups:
        more = min(max(missing, 0), group.most - group.min_member)
        missing -= more
        raised.append(replace(group, min_member=group.min_member + more))
    return tuple(raised)


def _wishes(near: tuple[TopologyConstraint, ...]) -> tuple[TopologyConstraint, ...]:
    return tuple(each for each in near if not each.required)

"""Hypothesis strategies for clusters that state more than plain gangs: ``rich_clusters(features)``.

They are ``reference.strategies.clusters`` with the features put on: groups larger than their minimum, minima of whole
gangs, composites, topology over zones and racks, queues with weights and reserved amounts, node types, GPUs by device.

    from reference.cluster.features import Feature
    from reference.strategies_rich import rich_clusters

    @given(rich_clusters(frozenset({Feature.TOPOLOGY, Feature.ELASTIC})))
    def test_my_scheduler(cluster): ...
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from reference.cluster import (
    ALONE,
    PODS,
    VCORE,
    Application,
    Cluster,
    CompositeGroup,
    Neighbours,
    Node,
    NodeType,
    Operator,
    PodAffinityTerm,
    Queue,
    QueueTree,
    Requirement,
    Resources,
    RunningPod,
    SpreadConstraint,
    TaskGroup,
    Topology,
    TopologyConstraint,
)
from reference.cluster.features import Feature
from reference.cluster.node import DEVICE
from reference.strategies import GPU, clusters

LEVELS = ("zone", "rack")
"""Node labels of the topology, widest first; a few nodes lack one."""

_MORE = st.sampled_from((0, 0, 0, 1, 2))
_FEW = st.integers(0, 2)
_YES = st.booleans()
_SHARES = st.sampled_from((0, 0, 300, 400, 500, 600, 1000, 2000))
_LABELS = st.sampled_from(
    ({"zone": "a", "rack": "1"}, {"zone": "a", "rack": "2"}, {"zone": "b", "rack": "1"}, {"zone": "b"}, {})
)
_UP_TO_NINE = st.integers(0, 9)
_POD_LABELS = st.sampled_from(({}, {"app": "a"}, {"app": "b"}, {"app": "a", "tier": "x"}))
_POD_KEYS = st.sampled_from(("zone", "rack"))
_SELECTORS = st.sampled_from(
    (
        (),
        (Requirement("app", Operator.IN, ("a",)),),
        (Requirement("app", Operator.NOT_IN, ("a",)),),
        (Requirement("tier", Operator.EXISTS),),
    )
)
_KEYS = st.sampled_from((("rack",), ("zone",), LEVELS))


@st.composite
def rich_clusters(draw: st.DrawFn, features: frozenset[Feature], *, max_nodes: int = 4, max_apps: int = 3) -> Cluster:
    """A whole scheduling question that uses some of ``features`` and no other; ``Cluster.problems()`` is empty."""
    made = draw(clusters(max_nodes=max_nodes, max_apps=max_apps))
    near = features & {Feature.TOPOLOGY, Feature.PREFERRED_TOPOLOGY}
    minds = features & {Feature.POD_AFFINITY, Feature.SPREAD}
    nodes, types = made.nodes, tuple[NodeType, ...]()
    if near or minds:
        nodes = tuple(replace(node, labels={**node.labels, **draw(_LABELS)}) for node in nodes)
    if Feature.NODE_TYPES in features and draw(_YES):
        types = (NodeType("big", Resources({VCORE: 12}), minimum=0, maximum=draw(st.none() | _FEW), price=draw(_FEW)),)
        nodes = tuple(replace(node, node_type="big" if draw(_YES) else "") for node in nodes)
    if Feature.DEVICES in features and draw(_YES):
        made, nodes = _by_device(draw, made, nodes)
    running = made.running
    if minds:
        running = tuple(replace(pod, neighbours=_neighbours(draw, features - {Feature.SPREAD})) for pod in running)
    return replace(
        made,
        running=running,
        nodes=nodes,
        node_types=types,
        queues=QueueTree(_queue(draw, made.queues.root, features)),
        applications=tuple(_application(draw, app, features) for app in made.applications),
        topologies=(Topology("default", LEVELS),) if near else (),
    )


def _by_device(draw: st.DrawFn, made: Cluster, nodes: tuple[Node, ...]) -> tuple[Cluster, tuple[Node, ...]]:
    """GPUs of a thousand on most nodes, and pods that share one or take one or two."""

    def asks(amounts: Resources, amount: int) -> Resources:
        return Resources({**{n: a for n, a in amounts.items() if n != GPU}, **({GPU: amount} if amount else {})})

    def group(one: TaskGroup) -> TaskGroup:
        return replace(one, min_resource=asks(one.min_resource, draw(_SHARES)))

    applications = tuple(
        replace(app, task_groups=tuple(group(each) for each in app.task_groups)) for app in made.applications
    )
    running = tuple(replace(pod, resources=asks(pod.resources, 0)) for pod in made.running)
    kept: list[Node] = []
    for node in nodes:
        gpus = draw(_FEW)
        held = draw(_SHARES) if gpus else 0
        if 0 < held < DEVICE:
            pod = Resources({GPU: held, PODS: 1})
            if PODS not in node.capacity or sum(p.node == node.name for p in running) < node.capacity[PODS]:
                running = (*running, RunningPod(f"share-{node.name}", node.name, made.queues.leaves()[0].name, pod))
        capacity, devices = asks(node.capacity, gpus * DEVICE), (GPU,) if gpus else ()
        kept.append(replace(node, capacity=capacity, occupied=asks(node.occupied, 0), devices=devices))
    return replace(made, applications=applications, running=running), tuple(kept)


def _queue(draw: st.DrawFn, queue: Queue, features: frozenset[Feature]) -> Queue:
    return replace(
        queue,
        reserved=Resources({VCORE: draw(_FEW)}) if Feature.RESERVED in features else queue.reserved,
        weight=1 + draw(_FEW) if Feature.SHARES in features else queue.weight,
        children=tuple(_queue(draw, child, features) for child in queue.children),
    )


def _application(draw: st.DrawFn, app: Application, features: frozenset[Feature]) -> Application:
    groups = app.task_groups
    if Feature.ELASTIC in features:
        groups = tuple(replace(g, size=g.min_member + draw(_MORE)) for g in groups)
        if len(groups) > 1 and draw(_YES):
            groups = (*groups[:-1], replace(groups[-1], min_member=0))
    least, most = sum(group.min_member for group in groups), sum(group.most for group in groups)
    total = None
    if Feature.MIN_MEMBERS in features and most > least and draw(_YES):
        total = draw(st.integers(least + 1, most))
    composites: tuple[CompositeGroup, ...] = ()
    if Feature.COMPOSITE in features and draw(_YES):
        names = tuple(group.name for group in groups)
        composites = (CompositeGroup("all", names, draw(st.integers(1, len(names))), _near(draw, features)),)
        if total is None and not any(group.min_member == 0 for group in groups) and draw(_YES):
            composites = (CompositeGroup("top", ("all",), 1), *composites)
    return replace(
        app,
        task_groups=tuple(_with_topology(draw, group, features) for group in groups),
        min_members=total,
        composites=composites,
        topology=_near(draw, features),
        priority=draw(_FEW) if Feature.PRIORITY in features else 0,
    )


def _with_topology(draw: st.DrawFn, group: TaskGroup, features: frozenset[Feature]) -> TaskGroup:
    return replace(group, topology=_near(draw, features), neighbours=_neighbours(draw, features))


def _neighbours(draw: st.DrawFn, features: frozenset[Feature]) -> Neighbours:
    """Labels, and about one demand in two."""
    if not features & {Feature.POD_AFFINITY, Feature.SPREAD}:
        return ALONE
    labels, kind, key, selector = draw(_POD_LABELS), draw(_UP_TO_NINE), draw(_POD_KEYS), draw(_SELECTORS)
    made = Neighbours(tuple(sorted(labels.items())))
    if Feature.POD_AFFINITY in features and kind in (1, 2):
        return replace(made, affinity=(PodAffinityTerm(key, selector),))
    if Feature.POD_AFFINITY in features and kind in (3, 4):
        return replace(made, anti_affinity=(PodAffinityTerm(key, selector),))
    if Feature.SPREAD in features and kind in (5, 6):
        spread = SpreadConstraint(key, 1 + draw(_FEW), selector, 1 + draw(_FEW))
        return replace(made, spread=(spread,))
    return made


def _near(draw: st.DrawFn, features: frozenset[Feature]) -> tuple[TopologyConstraint, ...]:
    found: list[TopologyConstraint] = []
    for feature, required in ((Feature.TOPOLOGY, True), (Feature.PREFERRED_TOPOLOGY, False)):
        if feature in features and draw(_FEW) == 2:
            found.append(TopologyConstraint(draw(_KEYS), required))
    return tuple(found)


__all__ = ["LEVELS", "rich_clusters"]

"""Hypothesis strategies for clusters: small, always valid, often too full.

``clusters()`` is made for properties of schedulers and of the solver. About half of what it draws cannot hold every
gang, a fair share has labels, taints, selectors or maxima on more than one level, and it shrinks towards one node, one
gang of one pod, one queue without limits. Amounts are tiny integers in base units (a node of ``vcore`` 3 has three
thousandths of a core): schedulers compare amounts, so small numbers find what large ones would.

    from hypothesis import given
    from reference.strategies import clusters

    @given(clusters(max_nodes=3, max_apps=4))
    def test_my_scheduler(cluster): ...
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from reference.cluster import (
    ANYWHERE,
    MEMORY,
    PODS,
    VCORE,
    Application,
    Cluster,
    Constraints,
    Node,
    Operator,
    Queue,
    QueueTree,
    Requirement,
    Resources,
    RunningPod,
    SortPolicy,
    Taint,
    TaintEffect,
    TaskGroup,
    Toleration,
    total,
)

GPU = "nvidia.com/gpu"
"""The third resource type, which some nodes lack altogether."""

_ZONES = ("a", "b")
_TAINT = Taint("dedicated", "gang", TaintEffect.NO_SCHEDULE)
_SOFT_TAINT = Taint("spot", "true", TaintEffect.PREFER_NO_SCHEDULE)
DEFAULT_POLICIES = (SortPolicy.FIFO, SortPolicy.STATE_AWARE)
"""Policies that accept gangs; pass ``(FIFO, STATE_AWARE, FAIR)`` to draw leaves that reject them too."""


@functools.cache  # Hypothesis examines every new strategy object: making one per draw would double the time
def _upto(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


@functools.cache
def _one_of(*choices: str) -> st.SearchStrategy[str]:
    """One of ``choices`` by weight of repetition; shrinks to the first, the plainest."""
    return st.sampled_from(choices)


@functools.cache
def resources(names: tuple[str, ...] = (VCORE, MEMORY), *, low: int = 0, high: int = 4) -> st.SearchStrategy[Resources]:
    """An amount in ``low..high`` for each of ``names``."""
    return st.fixed_dictionaries({name: st.integers(low, high) for name in names}).map(Resources)


_TOLERATES = (Toleration(_TAINT.key, exists=False, value=_TAINT.value),)
_RANK_ABOVE = Requirement("rank", Operator.GT, ("0",))
_RANK_BELOW = Requirement("rank", Operator.LT, ("1",))
_HAS_ZONE = Requirement("zone", Operator.EXISTS)
_NO_ZONE = Requirement("zone", Operator.DOES_NOT_EXIST)
_CONSTRAINTS = (
    *([ANYWHERE] * 24),
    Constraints(tolerations=_TOLERATES),
    Constraints(tolerations=(Toleration("", exists=True),)),
    *(Constraints(node_selector=(("zone", zone),)) for zone in _ZONES),
    Constraints(affinity_terms=((Requirement("zone", Operator.IN, ("a",)),),), tolerations=_TOLERATES),
    Constraints(affinity_terms=((Requirement("zone", Operator.NOT_IN, ("a",)),),)),
    Constraints(affinity_terms=((_RANK_ABOVE,), (_NO_ZONE,))),
    Constraints(affinity_terms=((_RANK_BELOW, _HAS_ZONE),)),
)


def constraints() -> st.SearchStrategy[Constraints]:
    """Mostly none; else a selector, tolerations or required affinity over the labels and taints of ``nodes``."""
    return st.sampled_from(_CONSTRAINTS)


_NODE_KINDS = _one_of(
    "plain", "plain", "plain", "plain", "gpu", "gpu", "pods", "pods", "zone", "zone", "zone",
    "soft taint", "taint", "taint", "occupied", "cordoned",
)  # fmt: skip


@st.composite
def nodes(draw: st.DrawFn, name: str = "n0", *, high: int = 12) -> Node:
    """A node of up to ``high`` of each type; sometimes with GPUs, a ``pods`` limit, labels, taints, or cordoned."""
    capacity = draw(resources(low=2, high=high))
    match draw(_NODE_KINDS):
        case "gpu":
            return Node(name, capacity + Resources({GPU: draw(_upto(1, 3))}))
        case "pods":
            return Node(name, capacity + Resources({PODS: draw(_upto(1, high))}))
        case "zone":
            place = draw(_upto(0, 3))
            return Node(name, capacity, {"zone": _ZONES[place % 2], "rank": str(place // 2)})
        case "soft taint":
            return Node(name, capacity, taints=(_SOFT_TAINT,))
        case "taint":
            return Node(name, capacity, {"zone": "a", "rank": "1"}, taints=(_SOFT_TAINT, _TAINT))
        case "occupied":
            return Node(name, capacity, occupied=Resources({VCORE: 1, PODS: 1}))
        case "cordoned":
            return Node(name, capacity, schedulable=False)
        case _:
            return Node(name, capacity)


_LIMITS = _one_of(*["none"] * 9, "vcore", "vcore", "vcore", "memory", "pods", "both", "guaranteed", "applications")
_MAXIMA = st.sampled_from((16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 2, 0))


def _queue(draw: st.DrawFn, name: str, policy: SortPolicy, *children: Queue) -> Queue:
    """A queue under one kind of limit."""
    kind = draw(_LIMITS)
    maximum: dict[str, int] = {}
    guaranteed: dict[str, int] = {}
    most = None
    match kind:
        case "vcore" | "memory" | "pods":
            maximum[kind] = draw(_MAXIMA)
        case "both":
            maximum = {VCORE: draw(_MAXIMA), MEMORY: draw(_MAXIMA)}
        case "guaranteed":
            guaranteed[VCORE] = draw(_upto(1, 4))
            maximum[VCORE] = guaranteed[VCORE] + draw(_MAXIMA)
        case "applications":
            most = 4 - draw(_upto(1, 3))
    return Queue(name, Resources(maximum), Resources(guaranteed), policy, most, children)


@functools.cache
def _policies(choices: tuple[SortPolicy, ...]) -> st.SearchStrategy[SortPolicy]:
    return st.sampled_from(choices)


@st.composite
def queue_trees(draw: st.DrawFn, *, policies: Sequence[SortPolicy] = DEFAULT_POLICIES) -> QueueTree:
    """One leaf, two leaves, or two leaves under a parent queue beside a third; maxima at any level, the root too."""
    names = draw(_one_of("one leaf", "two leaves", "two levels"))
    choices = _policies(tuple(policies))

    def queue(name: str, *children: Queue) -> Queue:
        return _queue(draw, name, SortPolicy.FIFO if children else draw(choices), *children)

    match names:
        case "one leaf":
            return QueueTree(queue("root", queue("root.a")))
        case "two leaves":
            return QueueTree(queue("root", queue("root.a"), queue("root.b")))
        case _:
            parent = queue("root.p", queue("root.p.a"), queue("root.p.b"))
            return QueueTree(queue("root", parent, queue("root.c")))


@st.composite
def task_groups(draw: st.DrawFn, name: str = "g0", *, max_members: int = 3, high: int = 2) -> TaskGroup:
    """Up to ``max_members`` pods of up to ``high`` of each type; rarely with a GPU each."""
    members = draw(_upto(1, max_members))
    request = {VCORE: draw(_upto(1, high)), MEMORY: draw(_upto(0, high))}
    if draw(_one_of(*["plain"] * 9, "gpu")) == "gpu":
        request[GPU] = 1
    return TaskGroup(name, members, Resources(request), draw(constraints()))


@st.composite
def applications(
    draw: st.DrawFn,
    name: str = "a0",
    queue: str = "root.a",
    *,
    submitted: int = 0,
    max_groups: int = 2,
    max_members: int = 3,
) -> Application:
    """A gang of one or more task groups, named ``g0..``."""
    groups = draw(_groups(max_groups, max_members))
    named = tuple(
        TaskGroup(f"g{i}", group.min_member, group.min_resource, group.constraints) for i, group in enumerate(groups)
    )
    return Application(name, queue, named, submitted, weight=draw(_upto(1, 3)))


@functools.cache
def _groups(max_groups: int, max_members: int) -> st.SearchStrategy[list[TaskGroup]]:
    return st.lists(task_groups(max_members=max_members), min_size=1, max_size=max_groups)


_ONE_POD = Resources({VCORE: 1, PODS: 1})


@st.composite
def clusters(
    draw: st.DrawFn,
    *,
    max_nodes: int = 4,
    max_apps: int = 4,
    max_groups: int = 2,
    max_members: int = 3,
    policies: Sequence[SortPolicy] = DEFAULT_POLICIES,
    running: bool = True,
) -> Cluster:
    """A whole scheduling question; ``Cluster.problems()`` is empty.

    Nodes are ``n0..``, applications ``a0..`` in submission order, task groups ``g0..`` within each. ``running=False``
    draws no running pods.
    """
    # only the name depends on the place in a list, so deleting a node or an application shrinks well
    named_nodes = tuple(replace(node, name=f"n{i}") for i, node in enumerate(draw(_several_nodes(max_nodes))))
    tree = draw(queue_trees(policies=policies))
    leaves = [queue.name for queue in tree.leaves()]
    drawn = draw(_several_applications(max_apps, max_groups, max_members))
    apps = tuple(
        replace(app, name=f"a{i}", queue=leaves[place % len(leaves)], submitted=i)
        for i, (place, app) in enumerate(drawn)
    )
    pods: list[RunningPod] = []
    for i, (place, leaf) in enumerate(draw(_RUNNING) if running else ()):
        node = named_nodes[place % len(named_nodes)]
        queue, owner = leaves[leaf % len(leaves)], leaf % 2
        pod = RunningPod(f"r{i}", node.name, queue, _ONE_POD, f"{queue}/old" if owner else "")
        taken = [p.resources for p in pods if p.node == node.name]
        if node.counted(total([*taken, _ONE_POD])).fits_in(node.available):
            pods.append(pod)
    return Cluster(named_nodes, tree, apps, tuple(pods))


_RUNNING = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=2)


@functools.cache
def _several_nodes(most: int) -> st.SearchStrategy[list[Node]]:
    return st.lists(nodes(), min_size=1, max_size=most)


@functools.cache
def _several_applications(most: int, groups: int, members: int) -> st.SearchStrategy[list[tuple[int, Application]]]:
    body = applications(max_groups=groups, max_members=members)
    return st.lists(st.tuples(st.integers(0, 2), body), min_size=1, max_size=most)

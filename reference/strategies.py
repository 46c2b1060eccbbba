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

from collections.abc import Sequence

from hypothesis import strategies as st

from reference.cluster import (
    ANYWHERE,
    MEMORY,
    NOTHING,
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
)

GPU = "nvidia.com/gpu"
"""The third resource type, which some nodes lack altogether."""

_ZONES = ("a", "b")
_TAINT = Taint("dedicated", "gang", TaintEffect.NO_SCHEDULE)
_SOFT_TAINT = Taint("spot", "true", TaintEffect.PREFER_NO_SCHEDULE)
DEFAULT_POLICIES = (SortPolicy.FIFO, SortPolicy.STATE_AWARE)
"""Policies that accept gangs; pass ``(FIFO, STATE_AWARE, FAIR)`` to draw leaves that reject them too."""


def rarely(*, one_in: int) -> st.SearchStrategy[bool]:
    """True about once in ``one_in`` draws; shrinks to False."""
    return st.integers(0, one_in - 1).map(lambda drawn: drawn == one_in - 1)


def resources(
    names: Sequence[str] = (VCORE, MEMORY), *, low: int = 0, high: int = 4
) -> st.SearchStrategy[Resources]:
    """An amount in ``low..high`` for each of ``names``."""
    return st.fixed_dictionaries({name: st.integers(low, high) for name in names}).map(Resources)


@st.composite
def constraints(draw: st.DrawFn) -> Constraints:
    """Mostly none; else a selector, tolerations or required affinity over the labels and taints of ``nodes``."""
    kind = draw(st.integers(0, 9))
    if kind < 6:
        return ANYWHERE
    tolerates = (Toleration(_TAINT.key, exists=False, value=_TAINT.value),)
    if kind == 6:
        return Constraints(tolerations=tolerates)
    zone = draw(st.sampled_from(_ZONES))
    if kind == 7:
        return Constraints(node_selector=(("zone", zone),))
    if kind == 8:
        operator = draw(st.sampled_from((Operator.IN, Operator.NOT_IN)))
        return Constraints(affinity_terms=((Requirement("zone", operator, (zone,)),),), tolerations=tolerates)
    rank = Requirement("rank", draw(st.sampled_from((Operator.GT, Operator.LT))), ("1",))
    known = Requirement("zone", draw(st.sampled_from((Operator.EXISTS, Operator.DOES_NOT_EXIST))))
    terms = (((rank,),), ((known,),), ((rank,), (known,)), ((rank, known),))
    return Constraints(affinity_terms=draw(st.sampled_from(terms)))


@st.composite
def nodes(draw: st.DrawFn, name: str = "n0", *, high: int = 8) -> Node:
    """A node of up to ``high`` of each type; sometimes with GPUs, a ``pods`` limit, labels, taints, or cordoned."""
    capacity = dict(draw(resources(low=1, high=high)))
    if draw(rarely(one_in=4)):
        capacity[GPU] = draw(st.integers(1, 2))
    if draw(rarely(one_in=3)):
        capacity[PODS] = draw(st.integers(1, high))
    labels = {}
    if draw(rarely(one_in=3)):
        labels = {"zone": draw(st.sampled_from(_ZONES)), "rank": str(draw(st.integers(0, 2)))}
    taints = draw(st.sampled_from(((), (), (), (), (_SOFT_TAINT,), (_TAINT,), (_SOFT_TAINT, _TAINT))))
    occupied = draw(resources((VCORE,), low=1, high=1)) if draw(rarely(one_in=8)) else NOTHING
    return Node(name, Resources(capacity), labels, taints, not draw(rarely(one_in=12)), occupied)


@st.composite
def queue_trees(
    draw: st.DrawFn, *, policies: Sequence[SortPolicy] = DEFAULT_POLICIES, high: int = 12
) -> QueueTree:
    """One leaf, two leaves, or two leaves under a parent queue beside a third; maxima at any level, the root too."""

    def queue(name: str, *children: Queue) -> Queue:
        maximum = {}
        if draw(rarely(one_in=3)):
            maximum[VCORE] = draw(st.integers(0, high))
        if draw(rarely(one_in=5)):
            maximum[MEMORY] = draw(st.integers(0, high))
        if draw(rarely(one_in=8)):
            maximum[PODS] = draw(st.integers(1, high))
        guaranteed = {VCORE: draw(st.integers(1, high))} if draw(rarely(one_in=5)) else {}
        if VCORE in guaranteed and VCORE in maximum:
            guaranteed[VCORE] = min(guaranteed[VCORE], maximum[VCORE])
        return Queue(
            name,
            Resources(maximum),
            Resources(guaranteed),
            SortPolicy.FIFO if children else draw(st.sampled_from(list(policies))),
            draw(st.integers(1, 3)) if draw(rarely(one_in=8)) else None,
            children,
        )

    match draw(st.integers(0, 2)):
        case 0:
            return QueueTree(queue("root", queue("root.a")))
        case 1:
            return QueueTree(queue("root", queue("root.a"), queue("root.b")))
        case _:
            parent = queue("root.p", queue("root.p.a"), queue("root.p.b"))
            return QueueTree(queue("root", parent, queue("root.c")))


@st.composite
def task_groups(draw: st.DrawFn, name: str = "g0", *, max_members: int = 3, high: int = 2) -> TaskGroup:
    """Up to ``max_members`` pods of up to ``high`` of each type; rarely with a GPU each."""
    request = {VCORE: draw(st.integers(1, high)), MEMORY: draw(st.integers(0, high))}
    if draw(rarely(one_in=8)):
        request[GPU] = 1
    return TaskGroup(name, draw(st.integers(1, max_members)), Resources(request), draw(constraints()))


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
    """A gang of one or more task groups."""
    groups = draw(st.lists(task_groups(max_members=max_members), min_size=1, max_size=max_groups))
    named = tuple(
        TaskGroup(f"g{i}", group.min_member, group.min_resource, group.constraints) for i, group in enumerate(groups)
    )
    return Application(name, queue, named, submitted, weight=draw(st.integers(1, 3)))


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
    drawn_nodes = draw(st.lists(nodes(), min_size=1, max_size=max_nodes))
    # capacity stays what it is: only the name depends on the place in the list, so that deleting a node shrinks well
    named_nodes = tuple(
        Node(f"n{i}", n.capacity, n.labels, n.taints, n.schedulable, n.occupied) for i, n in enumerate(drawn_nodes)
    )
    tree = draw(queue_trees(policies=policies))
    leaves = [queue.name for queue in tree.leaves()]
    body = applications(max_groups=max_groups, max_members=max_members)
    drawn_apps = draw(st.lists(st.tuples(st.sampled_from(leaves), body), min_size=1, max_size=max_apps))
    apps = tuple(
        Application(f"a{i}", leaf, app.task_groups, submitted=i, weight=app.weight)
        for i, (leaf, app) in enumerate(drawn_apps)
    )
    pods: list[RunningPod] = []
    if running and draw(rarely(one_in=3)):
        places = st.tuples(st.sampled_from(named_nodes), st.sampled_from(leaves))
        for i, (node, leaf) in enumerate(draw(st.lists(places, min_size=1, max_size=2))):
            request = Resources({VCORE: 1, PODS: 1})
            used = sum(1 for pod in pods if pod.node == node.name)
            if all(node.available.amount(n) > used for n in (VCORE, PODS) if n == VCORE or n in node.capacity):
                pods.append(RunningPod(f"r{i}", node.name, leaf, request))
    return Cluster(named_nodes, tree, apps, tuple(pods))

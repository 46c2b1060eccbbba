"""The reduction's corners: what counts as free, what is grouped, what is hopeless and why, the way back to names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from reference.cluster import (
    Application,
    Assignment,
    Cluster,
    Constraints,
    Node,
    Queue,
    QueueTree,
    Resources,
    RunningPod,
    Taint,
    TaintEffect,
    TaskGroup,
)
from reference.strategies import clusters
from reference.validate import validate
from solver_placement import ProblemTooLarge, solve
from solver_placement.greedy_start import greedy_start
from solver_placement.problem import Packing, Unsound
from solver_placement.reduction import reduce_cluster

OPEN = QueueTree(Queue("root", children=(Queue("root.a"),)))


def gang(name: str, members: int, request: Resources, **more: object) -> Application:
    constraints = more.pop("constraints", Constraints())
    queue = more.pop("queue", "root.a")
    group = TaskGroup("g", members, request, constraints)  # type: ignore[arg-type]
    return Application(name, queue, (group,), **more)  # type: ignore[arg-type]


def test_what_is_alike_is_one_class_in_the_smallest_units() -> None:
    nodes = [Node(f"n{i}", Resources(vcore=7000 + i, memory=9 << 30, pods=110)) for i in range(3)]
    apps = [gang(f"a{i}", 2, Resources(vcore=3000, memory=2 << 30), submitted=9 - i) for i in range(4)]
    problem = reduce_cluster(Cluster(tuple(nodes), OPEN, tuple(apps)))
    assert (problem.resources, problem.units) == (("memory", "pods", "vcore"), (2 << 30, 1, 3000))
    assert [(c.request, c.total) for c in problem.pods] == [((1, 1, 1), 8)]
    # 7000, 7001 and 7002 are all two pods' worth; pods and memory beyond all that is asked are no difference
    assert [(c.free, c.fits, c.members) for c in problem.nodes] == [((4, 8, 2), (2,), ("n0", "n1", "n2"))]
    assert [(c.pods, c.members) for c in problem.gangs] == [(((0, 2),), ("a3", "a2", "a1", "a0"))]
    assert problem.limits == ()


def test_labels_that_no_gang_asks_for_do_not_split_nodes() -> None:
    def nodes(key: str) -> tuple[Node, ...]:
        return tuple(Node(f"n{i}", Resources(vcore=4), {key: str(i % 2)}) for i in range(6))

    picky = gang("a", 1, Resources(vcore=1), constraints=Constraints(node_selector=(("disk", "1"),)))
    free = gang("b", 1, Resources(vcore=1))
    assert len(reduce_cluster(Cluster(nodes("host"), OPEN, (free,))).nodes) == 1
    assert [c.count for c in reduce_cluster(Cluster(nodes("disk"), OPEN, (picky, free))).nodes] == [3, 3]


@pytest.mark.parametrize(
    ("capacity", "running", "admitted"),
    [
        ({"vcore": 4, "pods": 2}, {"vcore": 1, "pods": 1}, False),  # one pod is left, two are needed
        ({"vcore": 4}, {"vcore": 1, "pods": 1}, True),  # a node that lists no pods takes any number
        ({"vcore": 4, "pods": 9}, {"vcore": 9, "pods": 1}, False),  # overcommitted: nothing, not less than nothing
        ({"memory": 4, "pods": 9}, {"pods": 1}, False),  # any other type that is not listed is not there
    ],
)
def test_free_capacity(capacity: dict[str, int], running: dict[str, int], admitted: bool) -> None:
    node = Node("n0", Resources(capacity))
    cluster = Cluster(
        (node,),
        OPEN,
        (gang("a", 2, Resources(vcore=1)),),
        (RunningPod("r", "n0", "root.a", Resources(running)),),
    )
    answer = solve(cluster)
    assert validate(cluster, answer.placement) == []
    assert (answer.placement.admitted == ("a",)) is admitted


def test_an_overcommitted_queue_still_admits_what_does_not_use_the_type() -> None:
    tree = QueueTree(Queue("root", children=(Queue("root.a", maximum=Resources(memory=3)),)))
    cluster = Cluster(
        (Node("n0", Resources(vcore=9, memory=99)),),
        tree,
        (gang("needs", 1, Resources(vcore=1, memory=1)), gang("free", 1, Resources(vcore=1, memory=0))),
        (RunningPod("r", "n0", "root.a", Resources(memory=5, pods=1)),),
    )
    answer = solve(cluster)
    assert answer.placement.admitted == ("free",)
    assert answer.placement.pending["needs"] == (
        "larger than queue maximum root.a: memory 1 > 0 (maximum 3, running pods hold 5)"
    )
    assert validate(cluster, answer.placement) == []


@pytest.mark.parametrize(
    ("app", "reason"),
    [
        (gang("a", 4, Resources(vcore=4)), "larger than queue maximum root.a: vcore 16 > 12"),
        (gang("a", 6, Resources(vcore=1)), "larger than queue maximum root: pods 6 > 5"),
        (gang("a", 3, Resources(vcore=3)), "task group g: all nodes have room for 2 of 3 members"),
        (
            gang("a", 1, Resources(vcore=6)),
            "no node admits task group g: node is cordoned (1 of 4 nodes); "
            "taint spot=yes:NoSchedule is not tolerated (1 of 4 nodes); "
            "vcore: needs 6, too little free (2 of 4 nodes)",
        ),
        (gang("a", 1, Resources(vcore=1), weight=0), "weight 0: admitting it is worth nothing"),
        (gang("a", 1, Resources(vcore=1), queue="root.full"), "queue root.full allows 0 applications"),
    ],
)
def test_hopeless_gangs_say_why(app: Application, reason: str) -> None:
    leaves = (Queue("root.a", maximum=Resources(vcore=12)), Queue("root.full", max_applications=0))
    tree = QueueTree(Queue("root", maximum=Resources(pods=5), children=leaves))
    nodes = (
        Node("n0", Resources(vcore=4)),
        Node("n1", Resources(vcore=5)),
        Node("n2", Resources(vcore=9), schedulable=False),
        Node("n3", Resources(vcore=9), taints=(Taint("spot", "yes", TaintEffect.NO_SCHEDULE),)),
    )
    answer = solve(Cluster(nodes, tree, (app,)))
    assert answer.placement.pending == {"a": reason}
    assert (answer.objective.weight, answer.bound, answer.gap) == (0, 0, 0)


def test_of_equal_gangs_the_earliest_are_admitted_and_nodes_go_by_name() -> None:
    apps = [gang(f"a{i}", 2, Resources(vcore=1), submitted=s) for i, s in enumerate([3, 1, 1, 2])]
    nodes = [Node(f"n{i}", Resources(vcore=3)) for i in (2, 0, 1)]
    cluster = Cluster(tuple(nodes[:2]), OPEN, tuple(apps))
    assert solve(cluster).placement.admitted == ("a1", "a2", "a3")
    whole = Cluster(tuple(nodes), OPEN, tuple(apps[:1]))
    assert solve(whole).placement.assignments == (Assignment("a0", "g", "n0", 2),)


def test_amounts_beyond_the_solver_are_refused() -> None:
    node = Node("n0", Resources(memory=2**60))
    big = [gang(f"a{i}", 1, Resources(memory=2**53 + i)) for i in range(2)]
    with pytest.raises(ProblemTooLarge, match="of memory in all"):
        solve(Cluster((node,), OPEN, tuple(big)))
    heavy = [gang(f"a{i}", 1, Resources(memory=1), weight=2**53) for i in range(2)]
    with pytest.raises(ProblemTooLarge, match="weights"):
        solve(Cluster((node,), OPEN, tuple(heavy)))


def test_methods_that_cannot_be_used_are_named() -> None:
    cluster = Cluster((Node("n0", Resources(vcore=1)),), OPEN, (gang("a", 1, Resources(vcore=1)),))
    with pytest.raises(ValueError, match="unknown method 'best'; there are auto, greedy, nodes, patterns, search"):
        solve(cluster, method="best")
    sizes = [gang(f"a{i:02}", 1, Resources(vcore=100 + i, memory=200 - i)) for i in range(40)]
    many = Cluster((Node("n0", Resources(vcore=2000, memory=2000)),), OPEN, tuple(sizes))
    with pytest.raises(ValueError, match="too many maximal patterns"):
        solve(many, method="patterns")


@settings(max_examples=60)
@given(cluster=clusters(max_nodes=4, max_apps=6))
def test_there_and_back(cluster: Cluster) -> None:
    problem = reduce_cluster(cluster)
    packing = greedy_start(problem)
    placement = problem.invert(packing, "waits")
    assert validate(cluster, placement) == []
    assert problem.pack(placement) == packing
    assert len(placement.admitted) == sum(packing.gangs)


@settings(max_examples=60)
@given(cluster=clusters(max_nodes=4, max_apps=6))
def test_the_check_notices_a_pod_too_many_and_a_gang_too_many(cluster: Cluster) -> None:
    problem = reduce_cluster(cluster)
    packing = greedy_start(problem)
    problem.check(packing)
    for g in range(len(problem.gangs)):
        gangs = tuple(n + (i == g) for i, n in enumerate(packing.gangs))
        with pytest.raises(Unsound):
            problem.check(Packing(gangs, packing.nodes))
    for c, node in enumerate(problem.nodes):
        crowd = (((0, 1),),) * (node.count + 1)
        full = tuple(patterns if i != c else crowd for i, patterns in enumerate(packing.nodes))
        with pytest.raises(Unsound):
            problem.check(Packing(packing.gangs, full))

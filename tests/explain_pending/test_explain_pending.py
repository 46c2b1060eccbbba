"""Explanations against brute force: every subset of constraints, lifted by edits, every placement, the judge's word."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reference.cluster import (
    MEMORY,
    PODS,
    VCORE,
    Application,
    Assignment,
    Cluster,
    CompositeGroup,
    Constraints,
    Node,
    Placement,
    Queue,
    QueueTree,
    Resources,
    RunningPod,
    Taint,
    TaintEffect,
    TaskGroup,
    Topology,
    TopologyConstraint,
)
from reference.cluster.features import RULES, Feature
from reference.errors import InputError
from reference.strategies_rich import rich_clusters
from reference.validate import Rule, validate
from solver_placement.explain import KNOWS, Constraint, Explanation, Kind, Status, explain_pending, settled
from solver_placement.explain.constraints import constraints

GPU = "nvidia.com/gpu"


def placements(cluster: Cluster) -> Iterator[Placement]:
    """Every placement of the one gang of ``cluster`` whose task groups, each alone, break no hard rule."""
    (app,) = cluster.applications
    choices = [list(_alone(cluster, app, group)) for group in app.task_groups]
    for parts in itertools.product(*choices):
        yield Placement(tuple(sorted(a for part in parts for a in part)), (app.name,))


def _alone(cluster: Cluster, app: Application, group: TaskGroup) -> Iterator[tuple[Assignment, ...]]:
    inside = {child for composite in app.composites for child in composite.children}
    totals = {0} if group.name in inside or group.min_member == 0 else set()
    for total in sorted(totals | set(range(group.min_member, group.most + 1))):
        for counts in _splits(total, len(cluster.nodes)):
            part = tuple(
                Assignment(app.name, group.name, node.name, n)
                for node, n in zip(cluster.nodes, counts, strict=True)
                if n
            )
            faults = validate(cluster, Placement(tuple(sorted(part)), (app.name,)))
            if all(fault.rule is Rule.PARTIAL_GANG for fault in faults):
                yield part


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1):
            yield (first, *rest)


def fits(cluster: Cluster) -> bool:
    return any(not validate(cluster, placement) for placement in placements(cluster))


def lifted(cluster: Cluster, some: frozenset[Constraint]) -> Cluster:
    for constraint in some:
        assert constraint.lift is not None
        cluster = constraint.lift(cluster)
    return cluster


def scarce(cluster: Cluster) -> Cluster:
    """Less room: what the strategy draws fits too often."""
    nodes = tuple(
        replace(node, capacity=Resources({r: min(n, 4) if r == VCORE else n for r, n in node.capacity.items()}))
        for node in cluster.nodes
    )
    return replace(cluster, nodes=nodes)


drawn = st.booleans().flatmap(
    lambda tight: rich_clusters(KNOWS, max_nodes=3, max_apps=1).map(scarce if tight else lambda c: c)
)


def hold_against_all_subsets(cluster: Cluster, most_constraints: int) -> None:
    (app,) = cluster.applications
    answer = explain_pending(cluster, app.name)
    if answer.status is Status.FITS:
        assert answer.placement is not None
        assert validate(cluster, answer.placement) == []
        assert (answer.blocking, answer.corrections) == ((), ())
        return
    assert answer.status is Status.BLOCKED
    everything = frozenset(constraints(cluster, app))
    assume(len(everything) <= most_constraints)

    @cache
    def fits_without(some: frozenset[Constraint]) -> bool:
        return fits(lifted(cluster, some))

    subsets = [frozenset(s) for n in range(len(everything) + 1) for s in itertools.combinations(everything, n)]
    helping: list[frozenset[Constraint]] = []
    for some in subsets:
        if not any(known <= some for known in helping) and fits_without(some):
            helping.append(some)
    assert answer.complete
    assert answer.minimal
    assert {frozenset(each.constraints) for each in answer.corrections} == set(helping)
    for correction in answer.corrections:
        assert validate(lifted(cluster, frozenset(correction.constraints)), correction.placement) == []
        assert len(correction.steps) == len(correction.constraints)
    blocking = {frozenset(answer.blocking), *map(frozenset, answer.other_blocking)}
    # a set blocks if it meets every correction; the minimal ones are the minimal sets that do
    meeting = [s for s in subsets if all(s & each for each in helping)]
    assert blocking == {s for s in meeting if not any(other < s for other in meeting)}


@settings(max_examples=60)
@given(drawn)
def test_blocking_sets_and_corrections_are_those_of_all_subsets(cluster: Cluster) -> None:
    hold_against_all_subsets(cluster, 6)


@pytest.mark.slow
@given(drawn)
def test_larger_sets_are_those_of_all_subsets(cluster: Cluster) -> None:
    hold_against_all_subsets(cluster, 10)


@settings(max_examples=40)
@given(drawn, st.data())
def test_lifting_more_never_hurts(cluster: Cluster, data: st.DataObject) -> None:
    (app,) = cluster.applications
    every = constraints(cluster, app)
    some = frozenset(data.draw(st.sets(st.sampled_from(every))))
    more = some | frozenset(data.draw(st.sets(st.sampled_from(every))))
    if fits(lifted(cluster, some)):
        assert fits(lifted(cluster, more))
    assert fits(lifted(cluster, frozenset(every)))


# One small cluster, and what blocks its gang in words.

WORKER = TaskGroup("worker", 2, Resources({VCORE: 4000}))
GANG = Application("train", "root.ml", (WORKER,))
RACKS = (Topology("default", ("rack",)),)
PLAIN = Cluster(
    tuple(Node(f"n{i}", Resources({VCORE: 4000, PODS: 4}), {"rack": f"r{i}", "zone": "ab"[i]}) for i in range(2)),
    QueueTree(Queue("root", children=(Queue("root.ml"), Queue("root.web")))),
    (GANG,),
)
DEDICATED = Taint("dedicated", "web", TaintEffect.NO_SCHEDULE)


def gang(**changes: object) -> Cluster:
    return replace(PLAIN, applications=(replace(GANG, **changes),))  # type: ignore[arg-type]


def worker(**changes: object) -> Cluster:
    return gang(task_groups=(replace(WORKER, **changes),))  # type: ignore[arg-type]


def queues(**changes: object) -> Cluster:
    return replace(PLAIN, queues=QueueTree(Queue("root", children=(Queue("root.ml"), Queue("root.web")), **changes)))  # type: ignore[arg-type]


def explained(cluster: Cluster) -> Explanation:
    assert cluster.problems() == []
    answer = explain_pending(cluster, "train")
    assert answer.minimal
    assert answer.complete
    return answer


@pytest.mark.parametrize(
    ("cluster", "kinds", "told", "step"),
    [
        (
            queues(maximum=Resources({VCORE: 6000})),
            {Kind.QUEUE_MAXIMUM},
            "queue root: max vcore 6",
            "raise max vcore of queue root from 6 to 8",
        ),
        (
            queues(max_applications=0),
            {Kind.MAX_APPLICATIONS},
            "queue root: maxapplications, 0 left",
            "raise maxapplications of queue root",
        ),
        (
            replace(
                PLAIN,
                queues=QueueTree(
                    Queue(
                        "root",
                        Resources({VCORE: 10_000}),
                        children=(Queue("root.ml"), Queue("root.web", reserved=Resources({VCORE: 4000}))),
                    )
                ),
            ),
            {Kind.QUEUE_MAXIMUM, Kind.QUEUE_RESERVED},
            "queue root.web: vcore 4 is reserved for it",
            "raise max vcore of queue root from 10 to 12",
        ),
        (
            worker(constraints=Constraints(node_selector=(("zone", "a"),))),
            {Kind.NODE_SELECTOR, Kind.NODE_CAPACITY},
            "nodeSelector zone=a of train/worker: 1 of 2 nodes match",
            "drop nodeSelector zone=a of train/worker",
        ),
        (
            replace(PLAIN, nodes=(PLAIN.nodes[0], replace(PLAIN.nodes[1], taints=(DEDICATED,)))),
            {Kind.TAINT, Kind.NODE_CAPACITY},
            "taint dedicated=web:NoSchedule on 1 of 2 nodes, not tolerated by worker",
            "tolerate taint dedicated=web:NoSchedule in worker, or remove it",
        ),
        (
            replace(PLAIN, nodes=(PLAIN.nodes[0], replace(PLAIN.nodes[1], schedulable=False))),
            {Kind.CORDON, Kind.NODE_CAPACITY},
            "1 of 2 nodes are cordoned: n1",
            "uncordon n1",
        ),
        (
            gang(topology=(TopologyConstraint(("rack",)),)),
            {Kind.TOPOLOGY, Kind.NODE_CAPACITY},
            "topology of train: all pods in one domain of rack",
            "do not require one domain of rack for train",
        ),
        (
            replace(PLAIN, running=(RunningPod("p", "n1", "root.web", Resources({VCORE: 1000, PODS: 1}), "site"),)),
            {Kind.RUNNING_PODS, Kind.NODE_CAPACITY},
            "1 running pod of gang site",
            "wait for the running pods of gang site to end, or preempt them",
        ),
        (
            worker(min_member=3),
            {Kind.NODE_CAPACITY},
            "vcore on nodes: up to 4 for one pod, 12 for the gang; free are 8, at most 4 on one node",
            "more vcore on nodes, or more such nodes",
        ),
        (
            worker(min_resource=Resources({GPU: 1000})),
            {Kind.NODE_CAPACITY},
            f"{GPU} on nodes: up to 1 for one pod, 2 for the gang; free are 0, at most 0 on one node",
            f"more {GPU} on nodes, or more such nodes",
        ),
    ],
    ids=lambda value: "-".join(sorted(k.name for k in value)) if isinstance(value, set) else None,
)
def test_what_blocks_is_said_in_the_users_words(cluster: Cluster, kinds: set[Kind], told: str, step: str) -> None:
    answer = explained(cluster)
    assert answer.status is Status.BLOCKED
    assert {c.kind for c in answer.blocking} == kinds
    assert answer.other_blocking == ()
    assert told in [c.text for c in answer.blocking]
    assert (step,) in [c.steps for c in answer.corrections]
    assert len(answer.corrections) == len(answer.blocking)
    assert fits(lifted(cluster, frozenset(answer.blocking)))


def test_what_fits_is_not_blocked() -> None:
    answer = explained(PLAIN)
    assert answer.status is Status.FITS
    assert answer.placement is not None
    assert validate(PLAIN, answer.placement) == []
    assert answer.blocking == answer.corrections == ()


def test_each_of_two_quotas_blocks_and_both_have_to_be_raised() -> None:
    tree = QueueTree(
        Queue(
            "root", Resources({VCORE: 6000}), children=(Queue("root.ml", Resources({VCORE: 4000})), Queue("root.web"))
        )
    )
    answer = explained(replace(PLAIN, queues=tree))
    blocking = (answer.blocking, *answer.other_blocking)
    assert [[c.where for c in each] for each in blocking] == [["root.ml"], ["root"]]
    assert [c.steps for c in answer.corrections] == [
        ("raise max vcore of queue root.ml from 4 to 8", "raise max vcore of queue root from 6 to 8")
    ]


def test_running_pods_of_many_gangs_are_told_apart_by_their_queues() -> None:
    """Pods in the gang's own queue, below its parent, and in no queue that the tree has."""
    held = Resources({VCORE: 4000, PODS: 1})
    nodes = tuple(Node(f"n{i}", Resources({VCORE: 4000, PODS: 4})) for i in range(6))
    places = ("root.ml", "root.ml", "root.web", "root.web", "", "")
    pods = tuple(RunningPod(f"p{i}", f"n{i}", queue, held, f"job{i}") for i, queue in enumerate(places))
    answer = explained(replace(worker(min_member=6), nodes=nodes, running=pods))
    told = {c.text for each in (answer.blocking, *answer.other_blocking) for c in each if c.kind is Kind.RUNNING_PODS}
    assert told == {
        "2 running pods of queue root.ml",
        "2 running pods of other queues in root",
        "2 running pods of queues elsewhere",
    }
    assert [len(c.constraints) for c in answer.corrections] == [1, 3]


def test_no_nodes_block_and_no_rule_helps() -> None:
    answer = explained(replace(PLAIN, nodes=()))
    assert [c.kind for c in answer.blocking] == [Kind.NO_NODES]
    assert answer.corrections == ()


def test_a_composite_needs_only_some_of_its_groups() -> None:
    big = replace(WORKER, name="big", min_resource=Resources({VCORE: 9000}))
    either = CompositeGroup("either", ("worker", "big"), 1)
    assert explained(gang(task_groups=(WORKER, big), composites=(either,))).status is Status.FITS
    both = replace(either, min_children=2)
    assert explained(gang(task_groups=(WORKER, big), composites=(both,))).status is Status.BLOCKED


def test_beside_what_a_scheduler_admits() -> None:
    first = replace(GANG, name="first", queue="root.web")
    cluster = replace(PLAIN, applications=(first, GANG))
    assert explained(cluster).status is Status.FITS
    one_each = tuple(Assignment("first", "worker", node, 1) for node in ("n0", "n1"))
    after = settled(cluster, Placement(one_each, ("first",), {"train": "waits"}), "train")
    answer = explained(after)
    assert [c.text for c in answer.blocking] == [
        "2 running pods of gang first",
        "vcore on nodes: up to 4 for one pod, 8 for the gang; free are 0, at most 0 on one node",
    ]


def test_admitted_gangs_count_as_applications() -> None:
    tree = QueueTree(Queue("root", children=(Queue("root.ml"), Queue("root.web")), max_applications=1))
    first = replace(GANG, name="first", queue="root.web", task_groups=(replace(WORKER, min_resource=Resources({})),))
    cluster = replace(PLAIN, queues=tree, applications=(first, GANG))
    after = settled(
        cluster, Placement((Assignment("first", "worker", "n0", 2),), ("first",), {"train": "waits"}), "train"
    )
    answer = explained(after)
    assert [c.kind for c in answer.blocking] == [Kind.MAX_APPLICATIONS, Kind.RUNNING_PODS]  # either way it could start
    assert {tuple(c.kind for c in each.constraints) for each in answer.corrections} == {
        (Kind.RUNNING_PODS,),
        (Kind.MAX_APPLICATIONS,),
    }


def test_a_gang_that_does_not_wait_is_refused() -> None:
    with pytest.raises(InputError, match="a gang that waits: train"):
        explain_pending(PLAIN, "strain")
    running = replace(PLAIN, running=(RunningPod("p", "n0", "root.ml", Resources({PODS: 1}), "old"),))
    with pytest.raises(InputError, match="'old', which runs"):
        explain_pending(running, "old")


def test_no_time_is_unknown_and_not_an_answer() -> None:
    """Two roles on nodes that hold either, not both: sums allow it, and first fit fails."""
    roles = tuple(TaskGroup(f"g{i}", 3, Resources({VCORE: 1000 * n, MEMORY: 6 - n})) for i, n in enumerate((1, 3, 5)))
    nodes = tuple(Node(f"n{i}", Resources({VCORE: 7000, MEMORY: 7})) for i in range(4))
    cluster = replace(gang(task_groups=roles), nodes=nodes)
    assert explain_pending(cluster, "train").status is Status.BLOCKED
    answer = explain_pending(cluster, "train", time_limit=1e-9)
    assert answer.status is Status.UNKNOWN
    assert not answer.in_time


def test_of_all_rules_node_types_devices_and_other_pods_are_not_known() -> None:
    assert RULES - KNOWS == {Feature.NODE_TYPES, Feature.POD_AFFINITY, Feature.SPREAD, Feature.DEVICES}

"""The batch run: its placements pass the judge, its reasons say what stopped each gang."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tiny_clusters import cluster, gang, leaf, tree, units

from reference.cluster import (
    MEMORY,
    VCORE,
    Application,
    Cluster,
    Constraints,
    Node,
    Queue,
    Resources,
    SortPolicy,
    TaskGroup,
)
from reference.errors import InputError
from reference.schedulers import POLICIES, schedule
from reference.schedulers.amounts import show
from reference.schedulers.yunikorn import Gate, NodeOrder, Options
from reference.strategies import clusters
from reference.validate import validate

EVERY = st.fixed_dictionaries(
    {},
    optional={
        "sort_policy": st.sampled_from([policy.value for policy in SortPolicy]),
        "reject_fair": st.booleans(),
        "gate": st.sampled_from([gate.value for gate in Gate]),
        "node_order": st.sampled_from(NodeOrder),
        "strict": st.booleans(),
    },
)


@settings(max_examples=150)
@given(clusters(policies=tuple(SortPolicy)), EVERY)
def test_placements_pass_the_judge(drawn: Cluster, options: dict[str, object]) -> None:
    result = schedule(drawn, **options)
    assert validate(drawn, result.placement) == []
    assert set(result.placement.admitted) | set(result.placement.pending) == {app.name for app in drawn.applications}
    assert schedule(drawn, **options) == result
    event("all admitted" if not result.placement.pending else "some pending")


@given(clusters(max_apps=1, max_nodes=2))
def test_a_gang_alone_is_admitted_if_it_fits_one_node(drawn: Cluster) -> None:
    """A lower bound on what greedy must manage, by hand: one node that takes the whole gang, and quotas that do."""
    (app,) = drawn.applications
    path = drawn.queues.path(app.queue)
    quota = all(
        (app.placeholder_ask + drawn.queue_usage(queue.name)).fits_in_limit(queue.maximum)
        and (queue.max_applications is None or len(drawn.running_applications(queue.name)) < queue.max_applications)
        for queue in path
    )
    only = replace(drawn, nodes=drawn.nodes[:1], running=tuple(p for p in drawn.running if p.node == "n0"))
    (node,) = only.nodes
    room = node.counted(app.placeholder_ask).fits_in(only.free(node))
    suits = all(node.admits(group.constraints) for group in app.task_groups)
    admitted = schedule(only).placement.admitted == (app.name,)
    event(f"admitted: {admitted}")
    usage_moved = drawn.running != only.running
    assert admitted == (quota and room and suits) or usage_moved


def test_submission_order_then_name() -> None:
    queues = tree(leaf("root.a", 2))
    gangs = [gang(name, "root.a", 2, submitted=at) for name, at in (("c", 5), ("b", 2), ("a", 5))]
    assert schedule(cluster((9,), queues, *gangs)).placement.admitted == ("b",)
    two = schedule(cluster((9,), tree(leaf("root.a", 4)), *gangs)).placement
    assert (two.admitted, list(two.pending)) == (("a", "b"), ["c"])


@pytest.mark.parametrize(("order", "nodes"), [("fair", {"n0": 1, "n1": 1, "n2": 1}), ("binpacking", {"n0": 3})])
def test_node_order(order: str, nodes: dict[str, int]) -> None:
    result = schedule(cluster((3, 3, 3), tree(leaf("root.a")), gang("x", "root.a", 3)), node_order=order)
    assert {a.node: a.count for a in result.placement.assignments} == nodes


def test_node_score_is_the_mean_of_vcore_and_memory() -> None:
    """n0 is half used in vcore, n1 a third in both: n0's mean is the smaller."""
    half = Resources({VCORE: 3, MEMORY: 0})
    third = Resources({VCORE: 2, MEMORY: 2})
    six = Resources({VCORE: 6, MEMORY: 6})
    nodes = (Node("n0", six, occupied=half), Node("n1", six, occupied=third))
    made = Cluster(nodes, tree(leaf("root.a")), (gang("x", "root.a", 1),))
    assert [a.node for a in schedule(made).placement.assignments] == ["n0"]
    assert [a.node for a in schedule(made, node_order="binpacking").placement.assignments] == ["n1"]


def test_queues_take_turns_by_share_of_their_guarantee() -> None:
    """root.a is guaranteed twice as much, so it gets two gangs for each one of root.b."""
    leaves = (
        Queue("root.a", guaranteed=units(4)),
        Queue("root.b", guaranteed=units(2)),
    )
    gangs = [gang(f"{q}{i}", f"root.{q}", 1, submitted=i) for i in range(6) for q in "ab"]
    made = cluster((6,), tree(*leaves), *gangs)
    assert schedule(made).placement.admitted == ("a0", "a1", "a2", "a3", "b0", "b1")


FIVE = gang("x", "root.a", 5, unit=1000)
REASONS = {
    "ask larger than quota": (
        cluster((99000,), tree(leaf("root.a", 4500)), FIVE), {},
        "rejected: ask larger than the quota of queue root.a: vcore 5 > 4.5"),
    "ask larger than the quota above": (
        cluster((99000,), tree(leaf("root.a"), quota=4000), FIVE), {},
        "rejected: ask larger than the quota of queue root: vcore 5 > 4"),
    "fair": (
        cluster((99000,), tree(leaf("root.a", policy=SortPolicy.FAIR)), FIVE), {},
        "rejected: queue root.a has sort policy FAIR, which cannot keep gangs whole"),
    "half reserved, nodes": (
        cluster((2000, 1000), tree(leaf("root.a")), FIVE), {},
        "placeholder timeout: 3 of 5 reserved; 0 of 2 nodes can take a pod of g0: 2 not enough vcore"),
    "half reserved, quota": (
        cluster((99000,), tree(leaf("root.a"), leaf("root.b"), quota=8000),
                gang("y", "root.b", 5, unit=1000), gang("x", "root.a", 5, unit=1000, submitted=1)),
        {"gate": "none"},
        "placeholder timeout: 4 of 5 reserved; one more pod of g0 exceeds the quota of queue root: vcore 9 > 8"),
    "gate": (
        cluster((99000,), tree(leaf("root.a", 8000)), gang("w", "root.a", 4, unit=1000), replace(FIVE, submitted=1)),
        {},
        "cannot start: the whole gang does not fit what is free in queue root.a: vcore 9 > 8"),
    "maxapplications": (
        cluster((99000,), tree(leaf("root.a"), most=1), gang("w", "root.a", 1), replace(FIVE, submitted=1)), {},
        "cannot start: queue root runs 1 gangs, maxapplications is 1"),
    "no node": (
        cluster((999, 900), tree(leaf("root.a")), FIVE), {},
        "0 of 2 nodes can take a pod of g0: 2 not enough vcore"),
    "waits in line": (
        cluster((999,), tree(leaf("root.a")), replace(FIVE, name="w"), gang("x", "root.a", 1, submitted=1)),
        {"strict": True}, "waits behind w in queue root.a (fifo)"),
    "several causes": (
        replace(
            cluster((1, 1, 1, 1), tree(leaf("root.a")), Application("x", "root.a", (
                TaskGroup("g0", 1, units(1), Constraints(node_selector=(("zone", "a"),))),))),
            nodes=(
                Node("n0", units(1), {"zone": "a"}, schedulable=False), Node("n1", units(0), {"zone": "a"}),
                Node("n2", units(1), {"zone": "b"}), Node("n3", units(1)))), {},
        "0 of 4 nodes can take a pod of g0: "
        "2 nodeSelector zone=a does not match, 1 node is cordoned, 1 not enough vcore"),
}  # fmt: skip


@pytest.mark.parametrize("case", REASONS)
def test_reasons(case: str) -> None:
    made, options, reason = REASONS[case]
    assert schedule(made, **options).placement.pending["x"] == reason


def test_a_timed_out_gang_makes_room_for_those_behind_it() -> None:
    made = cluster((3,), tree(leaf("root.a")), gang("big", "root.a", 4), gang("small", "root.a", 3, submitted=1))
    result = schedule(made)
    assert (result.placement.admitted, list(result.placement.pending)) == (("small",), ["big"])
    told = [str(entry) for entry in result.log]
    assert told[0] == "submit big: New"
    assert "placeholder_timeout big" in told
    assert "confirm_release big/g0#3@n0: removed, Accepted -> Killed" in told
    assert told[-1].endswith("same node, to n0")


def test_strict_order_holds_up_the_leaf_behind_a_gang_that_cannot_start() -> None:
    queues = tree(leaf("root.a", 5), leaf("root.b"))
    gangs = [gang(f"a{i}", "root.a", size, submitted=i) for i, size in enumerate((3, 3, 2))]
    made = cluster((9,), queues, *gangs, gang("b0", "root.b", 2))
    assert schedule(made).placement.admitted == ("a0", "a2", "b0")
    assert schedule(made, strict=True).placement.admitted == ("a0", "b0")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sort_policy": "lifo"}, "option sort_policy: found 'lifo', expected one of fifo, stateaware, fair"),
        ({"gate": 3}, "option gate: found 3, expected one of none, fits, reserves"),
        ({"strict": "yes"}, "option strict: found 'yes', expected true or false"),
        (
            {"nodes": 3},
            "options: found option 'nodes', expected one of gate, node_order, reject_fair, sort_policy, strict",
        ),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    made = cluster((1,), tree(leaf("root.a")), gang("x", "root.a", 1))
    with pytest.raises(InputError) as caught:
        POLICIES["yunikorn"](made, **options)
    assert str(caught.value) == message


def test_unknown_policy() -> None:
    made = cluster((1,), tree(leaf("root.a")), gang("x", "root.a", 1))
    with pytest.raises(InputError, match="policy: found 'slurm', expected one of yunikorn"):
        schedule(made, "slurm")


def test_options_by_value_or_by_name() -> None:
    assert Options.parse(gate="none", sort_policy=None) == Options.parse(gate=Gate.NONE) == Options(gate=Gate.NONE)


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("vcore", 1500, "1.5"), ("vcore", 7, "0.007"), ("vcore", 12000, "12"), ("vcore", -250, "-0.25"),
        ("nvidia.com/gpu", 500, "0.5"), ("memory", 3 * 2**30, "3Gi"), ("memory", 2**30 + 2**20, "1025Mi"),
        ("memory", 1000, "1000"), ("memory", 0, "0"), ("hugepages-2Mi", 2**21, "2Mi"), ("pods", 110, "110"),
    ],
)  # fmt: skip
def test_amounts_as_a_reader_writes_them(name: str, amount: int, text: str) -> None:
    assert show(name, amount) == text


def test_hundreds_of_nodes_and_gangs() -> None:
    """The size of a real cluster, in a few seconds: 400 nodes of 8 classes, 600 gangs, two levels of quota."""
    nodes = tuple(Node(f"n{i}", Resources({VCORE: 8 + i % 8, MEMORY: 16})) for i in range(400))
    leaves = tuple(leaf(f"root.q{i}", 700) for i in range(6))
    gangs = tuple(gang(f"g{i}", f"root.q{i % 6}", 1 + i % 9, submitted=i, unit=1 + i % 3) for i in range(600))
    made = Cluster(nodes, tree(*leaves, quota=4000), gangs)
    started = time.process_time()
    result = schedule(made)
    seconds = time.process_time() - started
    assert validate(made, result.placement) == []
    assert len(result.placement.admitted) > 300
    assert result.placement.pending
    assert seconds < 30


@pytest.mark.slow
@pytest.mark.large_data
def test_openb(large_data: Path) -> None:
    """A production GPU cluster: 1213 nodes, 8152 pods in gangs."""
    from reference.manifests import load

    files = [large_data / "openb" / name for name in ("openb_node_list_gpu_node.csv", "openb_pod_list_default.csv")]
    made = load(files).cluster
    started = time.process_time()
    result = schedule(made)
    assert time.process_time() - started < 60
    assert validate(made, result.placement) == []
    assert len(result.placement.admitted) > 0.9 * len(made.applications)

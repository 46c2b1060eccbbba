"""The judge: each corruption is caught by its own rule, and by that rule alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from full_cluster import GOOD, POD, TAINT, example
from hypothesis import event, given, settings
from hypothesis import strategies as st

from reference.cluster import (
    PODS,
    VCORE,
    Application,
    Assignment,
    Cluster,
    Constraints,
    Node,
    Operator,
    Placement,
    Queue,
    QueueTree,
    Requirement,
    Resources,
    RunningPod,
    TaskGroup,
    TopologyConstraint,
    total,
)
from reference.strategies import clusters
from reference.validate import Rule, validate

ONLY_ONE = Placement(GOOD.assignments[:2], ("one",), {"two": "no room"})


def placed(*assignments: Assignment, admitted: tuple[str, ...] = ("one", "two")) -> Placement:
    return Placement(assignments, admitted, {name: "waits" for name in ("one", "two") if name not in admitted})


def swapped(index: int, assignment: Assignment) -> Placement:
    return placed(*GOOD.assignments[:index], assignment, *GOOD.assignments[index + 1 :])


def near(keys: tuple[str, ...] = ("rack",), racks: tuple[str, str] = ("1", "2"), group: bool = False) -> Cluster:
    """The example with racks, one node in each of two zones; gang one has to stay in one domain of ``keys``."""
    made = example()
    wanted = (TopologyConstraint(keys), TopologyConstraint(("zone", "rack"), required=False))
    nodes = tuple(
        replace(node, labels={"zone": zone, "rack": rack})
        for node, zone, rack in zip(made.nodes, "ab", racks, strict=True)
    )
    one, two = made.applications
    one = (
        replace(one, task_groups=(replace(one.task_groups[0], topology=wanted),))
        if group
        else replace(one, topology=wanted)
    )
    return replace(made, nodes=nodes, applications=(one, two))


def kept_below() -> Cluster:
    """A queue that uses nothing has kept 3 of the 6 of the root; it is below a queue that has kept 1."""
    made = example(maximum={"root": {VCORE: 6}}, reserved={"root.p": {VCORE: 1}})
    aside = Queue(
        "root.x", children=(Queue("root.x.y", reserved=Resources({VCORE: 3})),), reserved=Resources({VCORE: 1})
    )
    return replace(made, queues=QueueTree(replace(made.queues.root, children=(*made.queues.root.children, aside))))


def running(node: str, queue: str, amount: int) -> RunningPod:
    return RunningPod("r", node, queue, Resources({VCORE: amount}))


MAX = Rule.QUEUE_MAXIMUM

# what is wrong: (the only rule that sees it, where, cluster, placement)
CORRUPTED: dict[str, tuple[Rule, str, Cluster, Placement]] = {
    "unknown application": (
        Rule.UNKNOWN_NAME, "who/g@n0", example(), placed(*GOOD.assignments, Assignment("who", "g", "n0", 1))),
    "unknown task group": (
        Rule.UNKNOWN_NAME, "two/h@n0", example(), placed(*GOOD.assignments, Assignment("two", "h", "n0", 1))),
    "unknown node": (
        Rule.UNKNOWN_NAME, "two/g@n9", example(), placed(*GOOD.assignments, Assignment("two", "g", "n9", 1))),
    "unknown admitted": (Rule.UNKNOWN_NAME, "admitted", example(), replace(GOOD, admitted=("one", "two", "zzz"))),
    "unknown pending": (Rule.UNKNOWN_NAME, "pending", example(), replace(GOOD, pending={"zzz": "waits"})),
    "listed twice": (
        Rule.DUPLICATE, "one/g@n0", example(capacity=8),
        placed(Assignment("one", "g", "n0", 1), Assignment("one", "g", "n0", 1), admitted=("one",))),
    "admitted twice": (Rule.DUPLICATE, "one", example(), replace(GOOD, admitted=("one", "one", "two"))),
    "not sorted": (Rule.ORDER, "assignments", example(), replace(GOOD, assignments=GOOD.assignments[::-1])),
    "admitted not sorted": (Rule.ORDER, "admitted", example(), replace(GOOD, admitted=("two", "one"))),
    "pending not sorted": (
        Rule.ORDER, "pending", example(), Placement((), (), {"two": "waits", "one": "waits"})),
    "a pod is missing": (
        Rule.PARTIAL_GANG, "one/g", example(), placed(*GOOD.assignments[1:])),
    "a pod too many": (
        Rule.PARTIAL_GANG, "one/g", example(capacity=8, pods=9), swapped(0, Assignment("one", "g", "n0", 2))),
    "not admitted but placed": (
        Rule.PARTIAL_GANG, "two/g", example(), placed(*GOOD.assignments, admitted=("one",))),
    "admitted but not placed": (Rule.PARTIAL_GANG, "two/g", example(), placed(*GOOD.assignments[:2])),
    "node short of vcore": (Rule.NODE_CAPACITY, "n1", example(), placed(
        Assignment("one", "g", "n0", 1), Assignment("one", "g", "n1", 1), Assignment("two", "g", "n1", 2))),
    "node short of pods": (Rule.NODE_CAPACITY, "n1", example(capacity=9), placed(
        Assignment("one", "g", "n0", 1), Assignment("one", "g", "n1", 1), Assignment("two", "g", "n1", 2))),
    "running pods fill the node": (
        Rule.NODE_CAPACITY, "n1", example(running=(running("n1", "root.p.a", 1),)), GOOD),
    "others occupy the node": (
        Rule.NODE_CAPACITY, "n1", replace(example(), nodes=(
            example().nodes[0], replace(example().nodes[1], occupied=Resources({VCORE: 1})))), GOOD),
    "a type that the node does not have": (
        Rule.NODE_CAPACITY, "n0",
        replace(example(), applications=(
            Application("one", "root.p.a", (TaskGroup("g", 2, Resources({"gpu": 1})),)), example().applications[1])),
        placed(Assignment("one", "g", "n0", 2), admitted=("one",))),
    "cordoned": (Rule.NODE_CONSTRAINT, "one/g@n0", replace(example(), nodes=(
        replace(example().nodes[0], schedulable=False), example().nodes[1])), placed(
        Assignment("one", "g", "n0", 1), Assignment("one", "g", "n1", 1), admitted=("one",))),
    "selector": (Rule.NODE_CONSTRAINT, "one/g@n0", replace(
        example(constraint=Constraints(node_selector=(("zone", "a"),))),
        nodes=(example().nodes[0], replace(example().nodes[1], labels={"zone": "a"}))), ONLY_ONE),
    "affinity": (Rule.NODE_CONSTRAINT, "one/g@n0", replace(
        example(constraint=Constraints(affinity_terms=((Requirement("zone", Operator.EXISTS),),))),
        nodes=(example().nodes[0], replace(example().nodes[1], labels={"zone": "a"}))), ONLY_ONE),
    "taint": (Rule.NODE_CONSTRAINT, "one/g@n0", replace(
        example(), nodes=(replace(example().nodes[0], taints=(TAINT,)), example().nodes[1])), ONLY_ONE),
    "maximum of the leaf": (MAX, "root.p.a", example(maximum={"root.p.a": {VCORE: 3}}), GOOD),
    "maximum of the parent": (MAX, "root.p", example(maximum={"root.p": {VCORE: 7}}), GOOD),
    "maximum of the root": (MAX, "root", example(maximum={"root": {PODS: 3}}), GOOD),
    "maximum of 0": (MAX, "root.p.b", example(maximum={"root.p.b": {VCORE: 0}}), GOOD),
    "maximum with running pods": (
        MAX, "root.p",
        example(capacity=9, maximum={"root.p": {VCORE: 8}}, running=(running("n0", "root.p.b", 1),)), GOOD),
    "maxapplications of the leaf": (
        Rule.MAX_APPLICATIONS, "root.p.a", example(most={"root.p.a": 0}), GOOD),
    "maxapplications of the parent": (Rule.MAX_APPLICATIONS, "root.p", example(most={"root.p": 1}), GOOD),
    "too many gangs beside one that runs": (
        Rule.MAX_APPLICATIONS, "root.p", example(
            capacity=9, pods=9, most={"root.p": 2}, running=(RunningPod("r", "n0", "root.p.b", POD, "old"),)),
        GOOD),
    "two racks": (Rule.TOPOLOGY, "one", near(), ONLY_ONE),
    "two racks of a group": (Rule.TOPOLOGY, "one/g", near(group=True), ONLY_ONE),
    "two racks of that name": (Rule.TOPOLOGY, "one", near(keys=("zone", "rack"), racks=("1", "1")), ONLY_ONE),
    "no rack at all": (
        Rule.TOPOLOGY, "one", near(keys=("row",)), placed(Assignment("one", "g", "n0", 2), admitted=("one",))),
    "reserved for another": (
        Rule.QUEUE_RESERVED, "root.p", example(maximum={"root.p": {VCORE: 5}}, reserved={"root.p.b": {VCORE: 2}}),
        ONLY_ONE),
    "reserved deeper down": (
        Rule.QUEUE_RESERVED, "root", kept_below(), ONLY_ONE),
    "neither admitted nor pending": (Rule.PENDING, "two", example(), replace(ONLY_ONE, pending={})),
    "admitted and pending": (Rule.PENDING, "one", example(), replace(GOOD, pending={"one": "waits"})),
    "no reason": (Rule.PENDING, "two", example(), replace(ONLY_ONE, pending={"two": " "})),
    "reason of two lines": (Rule.PENDING, "two", example(), replace(ONLY_ONE, pending={"two": "a\nb"})),
}  # fmt: skip


@pytest.mark.parametrize("what", CORRUPTED)
def test_corruption_is_seen_by_one_rule_alone(what: str) -> None:
    rule, where, cluster, placement = CORRUPTED[what]
    found = validate(cluster, placement)
    assert {violation.rule for violation in found} == {rule}, [str(v) for v in found]
    assert where in {violation.where for violation in found}


def test_every_rule_has_a_corruption() -> None:
    """COUNT is below: a count under 1 can't be alone, it breaks a gang too."""
    elsewhere = {Rule.COUNT, Rule.POD_AFFINITY, Rule.SPREAD}  # the last two in test_neighbours.py
    assert {rule for rule, *_ in CORRUPTED.values()} == set(Rule) - elsewhere


@pytest.mark.parametrize("count", [0, -1])
def test_counts_are_at_least_one(count: int) -> None:
    placement = placed(*ONLY_ONE.assignments, Assignment("two", "g", "n0", count), admitted=("one",))
    found = validate(example(), placement)
    assert [v.rule for v in found if v.rule is Rule.COUNT] == [Rule.COUNT]
    assert {v.rule for v in found} <= {Rule.COUNT, Rule.PARTIAL_GANG}


def test_the_uncorrupted_pass() -> None:
    assert validate(example(), GOOD) == []
    assert validate(example(), ONLY_ONE) == []
    assert validate(example(), Placement((), (), {"one": "waits", "two": "waits"})) == []
    assert validate(example(maximum={"root.p": {VCORE: 8, PODS: 4}}, most={"root.p": 2, "root.p.a": 1}), GOOD) == []


def test_one_domain_is_enough() -> None:
    assert validate(near(racks=("1", "1")), ONLY_ONE) == []  # a rack is a bare name, as for Kubernetes
    together = placed(Assignment("one", "g", "n0", 2), admitted=("one",))
    assert validate(near(keys=("zone", "rack")), together) == []


def test_what_is_reserved_is_free_for_its_own_queue() -> None:
    kept = example(maximum={"root.p": {VCORE: 8}}, reserved={"root.p.a": {VCORE: 4}, "root.p.b": {VCORE: 4}})
    assert validate(kept, GOOD) == []
    # running pods of another queue took it already: using one's own is no fault
    lent = example(
        capacity=9, maximum={"root.p": {VCORE: 6}}, reserved={"root.p.b": {VCORE: 4}},
        running=(running("n1", "root.p.a", 4),),
    )  # fmt: skip
    assert (
        validate(
            replace(lent, queues=QueueTree(replace(lent.queues.root, maximum=Resources({VCORE: 9})))),
            Placement((), (), {"one": "waits", "two": "waits"}),
        )
        == []
    )
    one_pod = replace(
        lent, applications=(lent.applications[0], replace(lent.applications[1], task_groups=(TaskGroup("g", 1, POD),)))
    )
    assert validate(one_pod, placed(Assignment("two", "g", "n0", 1), admitted=("two",))) == []


def test_pods_are_unlimited_where_the_node_does_not_list_them() -> None:
    bare = replace(example(), nodes=tuple(Node(n.name, Resources({VCORE: 4})) for n in example().nodes))
    assert validate(bare, GOOD) == []


def test_a_limit_that_running_pods_break_is_not_held_against_a_placement_that_adds_nothing() -> None:
    over = (running("n0", "root.p.b", 9), RunningPod("s", "n0", "root.gone", Resources({VCORE: 9})))
    full = example(maximum={"root.p.b": {VCORE: 1}}, running=over)
    assert validate(full, placed(Assignment("one", "g", "n1", 2), admitted=("one",))) == []
    rules = {v.rule for v in validate(full, GOOD)}
    assert rules == {Rule.NODE_CAPACITY, Rule.QUEUE_MAXIMUM}


def test_messages_name_place_and_numbers() -> None:
    rule, _, cluster, placement = CORRUPTED["maximum with running pods"]
    assert [str(v) for v in validate(cluster, placement)] == [
        "queue maximum: root.p: vcore: 9 used (8 placed), maximum 8"
    ]
    assert rule is MAX


@st.composite
def whole_gangs_anywhere(draw: st.DrawFn) -> tuple[Cluster, Placement]:
    """Whole gangs, each pod on a node drawn blindly: right in form, often too much."""
    cluster = draw(clusters(max_nodes=3, max_apps=3))
    counts: dict[tuple[str, str, str], int] = {}
    admitted = [app for app in cluster.applications if draw(st.booleans())]
    for app in admitted:
        for group in app.task_groups:
            for _ in range(group.min_member):
                node = draw(st.sampled_from(cluster.nodes)).name
                counts[app.name, group.name, node] = counts.get((app.name, group.name, node), 0) + 1
    names = tuple(sorted(app.name for app in admitted))
    pending = {app.name: "waits" for app in cluster.applications if app.name not in names}
    return cluster, Placement(tuple(Assignment(*cell, n) for cell, n in sorted(counts.items())), names, pending)


def rules_by_the_types_own_helpers(cluster: Cluster, placement: Placement) -> set[Rule]:
    """The same question, answered with the helpers that schedulers use."""
    apps = {app.name: app for app in cluster.applications}
    pods = [
        (apps[a.application], next(g for g in apps[a.application].task_groups if g.name == a.task_group), a)
        for a in placement.assignments
    ]
    found = set()
    for node in cluster.nodes:
        here = [(group, a.count) for _, group, a in pods if a.node == node.name]
        if not node.counted(total(group.pod_resource * n for group, n in here)).fits_in(cluster.free(node)):
            found.add(Rule.NODE_CAPACITY)
        if not all(node.admits(group.constraints) for group, _ in here):
            found.add(Rule.NODE_CONSTRAINT)
    for queue in cluster.queues:
        admitted = [apps[name] for name in placement.admitted]
        below = [app for app in admitted if queue in cluster.queues.path(app.queue)]
        added = total(app.placeholder_ask for app in below)
        if not added.fits_in_limit(
            Resources({k: limit - cluster.queue_usage(queue.name).amount(k) for k, limit in queue.maximum.items()})
        ):
            found.add(Rule.QUEUE_MAXIMUM)
        there = len(below) + len(cluster.running_applications(queue.name))
        if below and queue.max_applications is not None and there > queue.max_applications:
            found.add(Rule.MAX_APPLICATIONS)
    return found


@settings(max_examples=150)
@given(whole_gangs_anywhere())
def test_rules_agree_with_the_cluster_types_own_helpers(drawn: tuple[Cluster, Placement]) -> None:
    cluster, placement = drawn
    found = {violation.rule for violation in validate(cluster, placement)}
    for rule in found:
        event(rule.value)
    assert found == rules_by_the_types_own_helpers(cluster, placement)


EDITS: dict[str, Callable[[Assignment], list[Assignment]]] = {
    "drop": lambda a: [],
    "one more": lambda a: [replace(a, count=a.count + 1)],
}


@settings(max_examples=100)
@given(whole_gangs_anywhere(), st.sampled_from(sorted(EDITS)), st.data())
def test_every_change_of_a_count_breaks_a_gang(
    drawn: tuple[Cluster, Placement], edit: str, data: st.DataObject
) -> None:
    cluster, placement = drawn
    if not placement.assignments:
        return
    i = data.draw(st.integers(0, len(placement.assignments) - 1))
    changed = (*placement.assignments[:i], *EDITS[edit](placement.assignments[i]), *placement.assignments[i + 1 :])
    assert Rule.PARTIAL_GANG in {v.rule for v in validate(cluster, replace(placement, assignments=changed))}

"""The judge matches constraints by itself, as Kubernetes does, and so does the node type."""

from __future__ import annotations

from dataclasses import replace

import pytest
from full_cluster import GOOD, TAINT, example
from hypothesis import event, given, settings

from reference.cluster import (
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
    TaintEffect,
    TaskGroup,
    Toleration,
)
from reference.strategies import constraints, nodes
from reference.validate import Rule, validate


@settings(max_examples=200)
@given(nodes(), constraints())
def test_matching_agrees_with_the_node_type(node: Node, wanted: Constraints) -> None:
    """The judge matches constraints by itself; the cluster's own matcher must come to the same answer."""
    small = Cluster(
        (replace(node, capacity=Resources({VCORE: 1})),),
        QueueTree(Queue("root.q")),
        (Application("a", "root.q", (TaskGroup("g", 1, Resources(), wanted),)),),
    )
    found = validate(small, Placement((Assignment("a", "g", node.name, 1),), ("a",)))
    event(f"admitted: {node.admits(wanted)}")
    assert [v.rule for v in found] == ([] if node.admits(wanted) else [Rule.NODE_CONSTRAINT])


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration("k", exists=False, value="v"), True),
        (Toleration("k", exists=False, value="w"), False),
        (Toleration("k", exists=True), True),
        (Toleration("j", exists=True), False),
        (Toleration("", exists=True), True),
        (Toleration("", exists=False, value="v"), False),
        (Toleration("k", exists=True, effect=TaintEffect.NO_SCHEDULE), True),
        (Toleration("k", exists=True, effect=TaintEffect.NO_EXECUTE), False),
    ],
)
def test_tolerations(toleration: Toleration, tolerated: bool) -> None:
    tainted = example(constraint=Constraints(tolerations=(toleration,)), taints=(TAINT,))
    assert (validate(tainted, GOOD) == []) == tolerated
    assert tainted.nodes[0].admits(tainted.applications[0].task_groups[0].constraints) == tolerated


@pytest.mark.parametrize(
    ("requirement", "holds"),
    [
        (Requirement("rank", Operator.GT, ("1",)), True),
        (Requirement("rank", Operator.GT, ("2",)), False),
        (Requirement("rank", Operator.LT, ("3",)), True),
        (Requirement("zone", Operator.LT, ("3",)), False),
        (Requirement("none", Operator.GT, ("3",)), False),
        (Requirement("rank", Operator.GT), False),
        (Requirement("rank", Operator.GT, ("1", "1")), False),
        (Requirement("rank", Operator.GT, ("0_1",)), False),
        (Requirement("rank", Operator.LT, (str(2**63),)), False),
        (Requirement("rank", Operator.LT, (str(2**63 - 1),)), True),
        (Requirement("rank", Operator.LT, ("9" * 5000,)), False),
        (Requirement("rank", Operator.GT, ("+001",)), True),
        (Requirement("rank", Operator.GT, ("\u0661",)), False),
        (Requirement("zone", Operator.IN, ("b", "a")), True),
        (Requirement("none", Operator.IN, ("",)), False),
        (Requirement("none", Operator.NOT_IN, ("a",)), True),
        (Requirement("zone", Operator.NOT_IN, ("a",)), False),
        (Requirement("none", Operator.DOES_NOT_EXIST), True),
    ],
)
def test_operators(requirement: Requirement, holds: bool) -> None:
    labelled = example(constraint=Constraints(affinity_terms=((requirement,),)), labels={"rank": "2", "zone": "a"})
    assert (validate(labelled, GOOD) == []) == holds
    assert labelled.nodes[0].admits(labelled.applications[0].task_groups[0].constraints) == holds


def test_an_empty_affinity_term_matches_nothing() -> None:
    assert {v.rule for v in validate(example(constraint=Constraints(affinity_terms=((),))), GOOD)} == {
        Rule.NODE_CONSTRAINT
    }

"""Every run of the kubernetes and the composite spec is one of the reference's; faults of either are found.

The other direction, from the reference to the spec, is in the tests of the bindings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from kubernetes_faults import FAULTS, FAULTS_OF_HIERARCHIES, Fault, assert_is_found, fault_name
from kubernetes_walk import given as scope_of
from kubernetes_walk import machine_for

from model.language import Machine
from specs.composite.mutants import MUTANTS as COMPOSITE_MUTANTS
from specs.composite.replayer import CompositeReplayer
from specs.kubernetes import Edition
from specs.kubernetes.mutants import MUTANTS as KUBERNETES_MUTANTS
from specs.kubernetes.replayer import KubernetesReplayer
from specs.loading import build_spec
from specs.replaying import Replayed, replay
from specs.walking import Divergence

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

ALL = 1000
"""Steps: more than any run has without coming back to where it was."""
Given = Mapping[str, Any]


def of_kubernetes(depth: int, scope: Given) -> Replayed:
    machine = machine_for(scope_of(**scope))
    return replay(machine, KubernetesReplayer(machine), depth)


def of_composite(depth: int, scope: Given) -> Replayed:
    machine = build_spec("composite", {"changes": 0, **scope})
    return replay(machine, CompositeReplayer(machine), depth)


def assert_all_are_made(found: Replayed, pairs: int, excused: Mapping[str, int]) -> None:
    """So many pairs of a state and a scheduler, and so many steps that are excused, by the reason; every action was
    made somewhere."""
    print(f"{found.pairs} pairs, {found.made.total()} steps made, excused: {dict(found.excused)}")
    assert found.never_made == frozenset()
    assert (found.pairs, dict(found.excused)) == (pairs, dict(excused))


ONE = {"pods": 1, "min_count": 1, "nodes": 1}
TWO = {"pods": 2, "nodes": 2, "misfits": 0}
GIVEN_UP = {"pods": 2, "min_count": 1, "nodes": 1, "capacity": 2, "misfits": 0, "failures": 0}
UNRANKED = {"pods": 2, "nodes": 2, "failures": 2, "ranked": False}
THREE = {"groups": 3, "pods": 1, "min_count": 1, "nodes": 2, "misfits": 0, "failures": 0}
MEMORY = {**TWO, "capacity": 2, "memory": 3, "needs": (1, 2)}
SEED = {"edition": Edition.SEED}
FAST = [
    (ALL, {**ONE, "misfits": 0, "failures": 0}, 167, {"gate_at_once": 1, "one_instant": 1}),
    (8, TWO, 79, {"another_node": 10, "gate_at_once": 1}),
    (6, ONE, 127, {"alone": 26, "gate_at_once": 3}),
    (5, SEED, 160, {"alone": 38, "seed_priority": 90, "another_node": 4}),
]
SLOW = [
    (8, {}, 728, {"alone": 62, "another_node": 130, "gate_at_once": 5}),
    (8, SEED, 749, {"alone": 96, "seed_priority": 328, "another_node": 226, "gate_at_once": 14}),
    (
        8,
        {"pods": 2, "nodes": 2, "failures": 2, "ranked": False},
        364,
        {"alone": 38, "another_node": 24, "gate_at_once": 10},
    ),
    (ALL, ONE, 1366, {"alone": 96, "gate_at_once": 9, "one_instant": 10}),
    (ALL, TWO, 1402, {"another_node": 51, "gate_at_once": 5, "one_instant": 14}),
    (ALL, {**TWO, **SEED}, 2597, {"another_node": 152, "gate_at_once": 14, "one_instant": 16}),
    (ALL, {**TWO, "ranked": False}, 905, {"another_node": 22, "gate_at_once": 10, "older_first": 34}),
    (ALL, GIVEN_UP, 1761, {"gate_at_once": 20, "one_instant": 10}),
    (ALL, THREE, 2989, {"another_node": 167, "gate_at_once": 21, "one_instant": 38, "another_victim": 2}),
    (ALL, MEMORY, 1215, {"another_node": 134, "gate_at_once": 5, "one_instant": 4}),
]


@pytest.mark.parametrize(
    ("depth", "scope", "pairs", "excused"),
    [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
)
def test_every_run_of_the_spec_is_one_of_the_scheduler(
    depth: int, scope: Given, pairs: int, excused: Mapping[str, int]
) -> None:
    assert_all_are_made(of_kubernetes(depth, scope), pairs, excused)


def test_every_excuse_is_needed_somewhere() -> None:
    assert {reason for *_, excused in (*FAST, *SLOW) for reason in excused} == set(KubernetesReplayer.excuses)
    assert {reason for *_, excused in (*FAST_TREES, *SLOW_TREES) for reason in excused} == set(
        CompositeReplayer.excuses
    )


# ---- hierarchies

SINGLE = {"pods": 1, "min_count": 1, "slots": (1, 0, 2, 0), "busy": 2}
STEALING = {**SINGLE, "pods": (2, 1)}
NESTED = {"children": 4, "pods": 1, "min_count": 1, "min_groups": 1, "blocks": 1, "middles": 2, "middle_min": 2}
ONE_LEVEL = {**NESTED, "slots": (1, 2, 1), "busy": 2}
TWO_LEVELS = {**NESTED, "middles": (2, 4), "middle_min": (2, 1), "slots": (1, 1, 1)}
FAST_TREES = [
    (ALL, SINGLE, 75, {"by_name": 3}),
    (8, {}, 27, {"by_name": 3}),
    (6, TWO_LEVELS, 99, {"by_name": 1}),
]
SLOW_TREES = [
    (ALL, {}, 153, {"by_name": 4}),
    (ALL, STEALING, 257, {"by_name": 9, "gate_at_once": 4}),
    (8, {"children": 3, "slots": (1, 2, 3, 2)}, 120, {"by_name": 15}),
    (8, {"pods": (2, 2), "min_count": 1, "blocks": 3, "slots": (1, 0, 2, 1, 2, 2), "busy": 5}, 1000, {"by_name": 466}),
    (8, ONE_LEVEL, 455, {"by_name": 16}),
    (12, TWO_LEVELS, 410, {"by_name": 92}),
]


@pytest.mark.parametrize(
    ("depth", "scope", "pairs", "excused"),
    [*FAST_TREES, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW_TREES)],
)
def test_every_run_of_a_hierarchy_is_one_of_the_scheduler(
    depth: int, scope: Given, pairs: int, excused: Mapping[str, int]
) -> None:
    assert_all_are_made(of_composite(depth, scope), pairs, excused)


# ---- faults of either

NEAR = ("gate_is_open", "overfills_nodes", "forgets_nothing_when_a_binding_fails")
HERE = {
    "binds_half_a_gang": "goes on with",
    "forgets_nothing_when_a_binding_fails": "spec BACKOFF, scheduler OUTSIDE",
    "evicts_while_victims_leave": "goes on with",
    "backs_off_not_at_all": "spec BACKOFF, scheduler ACTIVE",
    "overfills_nodes": "goes on with place_pod",
    "gate_is_open": "spec OUTSIDE, scheduler ACTIVE",
    "condition_is_no_latch": "spec SCHEDULED, scheduler UNSCHEDULABLE",
    "one_is_enough": "goes on with",
    "the_first_domain_wins": "goes on with",
    "scheduled_pods_fix_nothing": "goes on with",
}
"""What is told of a fault in this direction."""


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=() if fault.__name__ in NEAR else pytest.mark.slow, id=fault.__name__)
        for fault, _ in FAULTS
    ],
)
def test_a_fault_of_the_scheduler_is_found(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = GIVEN_UP if fault.__name__ == "condition_is_no_latch" else TWO
    if fault.__name__ == "evicts_while_victims_leave":
        scope = THREE
    assert_is_found(fault, HERE[fault.__name__], monkeypatch, lambda: of_kubernetes(ALL, scope))


@pytest.mark.parametrize("fault", [fault for fault, _ in FAULTS_OF_HIERARCHIES], ids=fault_name)
def test_a_fault_of_the_scheduler_is_found_with_hierarchies(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = {} if fault.__name__ == "one_is_enough" else {"pods": 2, "min_count": 1, "busy": 0}
    assert_is_found(fault, HERE[fault.__name__], monkeypatch, lambda: of_composite(ALL, scope))


def faulty(spec: str, name: str) -> Machine:
    mutant = {m.name: m for m in (KUBERNETES_MUTANTS if spec == "kubernetes" else COMPOSITE_MUTANTS)}[name]
    machine = mutant.make()
    machine.parameters = build_spec(spec, mutant.parameters).parameters
    return machine


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("queued_without_its_object", "spec ACTIVE, scheduler OUTSIDE"),
        ("a_snapshot_for_each_pod", "does not let it happen"),
        ("mixed_groups_are_judged", "does not let it happen"),
        ("gives_up_with_a_node_left", "goes on with place_pod"),
        ("failed_binding_is_forgotten", "spec OUTSIDE, scheduler BACKOFF"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("only_the_first_resource", "goes on with fail_pod"),
                ("events_during_a_cycle_are_lost", "spec UNSCHEDULABLE, scheduler BACKOFF"),
                ("simulation_is_committed", "goes on with preempt"),
                ("preempts_while_victims_leave", "goes on with decide_unschedulable"),
                ("true_for_nominations", "spec SCHEDULED, scheduler UNSCHEDULABLE"),
            )
        ),
    ],
)
def test_a_fault_of_the_spec_is_found(name: str, message: str) -> None:
    machine = faulty("kubernetes", name)
    with pytest.raises(Divergence, match=message):
        replay(machine, KubernetesReplayer(machine), ALL)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_snapshot", "spec 0, scheduler 2"),
        ("siblings_are_not_seen", "goes on with fail_child"),
        ("parent_is_not_asked", "goes on with revert_block"),
    ],
)
def test_a_fault_of_the_spec_of_hierarchies_is_found(name: str, message: str) -> None:
    machine = faulty("composite", name)
    with pytest.raises(Divergence, match=message):
        replay(machine, CompositeReplayer(machine), ALL)

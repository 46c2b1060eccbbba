"""The Kubernetes reference, driven by random events, never leaves the kubernetes spec; faults of either are found."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from kubernetes_faults import FAULTS, Fault, assert_is_found, fault_name
from kubernetes_walk import Parameters, given, machine_for, play, run, walk

from reference.schedulers.kubernetes import Place
from specs.kubernetes import Cycle, Edition
from specs.kubernetes.binding import Subject

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

TWO = given(pods=2, nodes=2, misfits=0)
SCOPES = [
    TWO,
    given(),
    given(edition=Edition.SEED),
    given(pods=2, nodes=2, failures=2, ranked=False),
    given(pods=2, nodes=2, misfits=0, edition=Edition.SEED),
    given(capacity=2, nodes=2, misfits=0),
    given(pods=2, nodes=2, capacity=2, memory=3, needs=(1, 2), misfits=0),
    given(groups=3, pods=2, nodes=2, misfits=0, ranked=False, edition=Edition.SEED),
]
TINY = given(pods=1, min_count=1, nodes=1, misfits=0, failures=0)
SEEDS = st.integers(0, 2**32)


@settings(max_examples=12, deadline=None)
@for_all(st.sampled_from(SCOPES), SEEDS)
def test_every_event_is_an_enabled_step_of_the_spec(scope: Parameters, seed: int) -> None:
    run(scope, Random(seed), 30)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None)
@for_all(st.sampled_from(SCOPES), SEEDS)
def test_every_event_of_long_runs_is_an_enabled_step_of_the_spec(scope: Parameters, seed: int) -> None:
    run(scope, Random(seed), 80)


def test_every_action_is_taken() -> None:
    taken: Counter[str] = Counter()
    for seed in range(8):
        taken.update(name for scope in (SCOPES[0], SCOPES[1]) for name, _ in run(scope, Random(seed), 60, 0.05))
    print("steps of the spec that were taken:", dict(sorted(taken.items())))
    assert {action.name for action in machine_for(SCOPES[1]).actions} <= set(taken)


def test_every_run_of_a_tiny_scope() -> None:
    assert {"preempt", "victims_leave", "decide_unschedulable", "finish"} <= walk(TINY).taken


@pytest.mark.slow
@pytest.mark.parametrize("edition", Edition)
def test_every_run_of_a_small_scope(edition: Edition) -> None:
    """Each action that the spec enables where the scheduler rests is one that its world may take (``offers_differ``),
    and each that the world takes is one of the spec: so all traces of the spec are replayed, up to the choice among
    nodes that are alike and among roots that are tied."""
    found = walk(given(pods=2, nodes=2, misfits=0, edition=edition))
    actions = {action.name for action in machine_for(given(pods=2, nodes=2, misfits=0, edition=edition)).actions}
    assert actions == found.taken


GIVEN_UP = """
create_pod_group(podgroup1) create_pod_group(podgroup2) create_pod(podgroup2) pop(podgroup2) decide()
create_pod(podgroup1) pop(podgroup1) decide() bind(podgroup2,node1) bind(podgroup1,node1)
create_pod(podgroup2) pop(podgroup2) decide() victims_leave(podgroup1)
create_pod(podgroup1) pop(podgroup1) finish(podgroup2) decide()
"""


def test_a_nomination_that_is_given_up_during_a_cycle_keeps_no_room() -> None:
    """The second pod of podgroup2 is nominated for the room that podgroup1 left; podgroup2 ends while podgroup1 is
    judged anew. Nominations are no part of the snapshot."""
    taken = play(given(pods=2, min_count=1, nodes=1, capacity=2, misfits=0, failures=0), GIVEN_UP)
    assert ("preempt", ("podgroup2",)) in taken
    assert taken[-2:] == [("place_pod", ("podgroup1", "node1")), ("decide_success", ("podgroup1",))]


VICTIM_WAITS = """
create_pod_group(podgroup1) create_pod_group(podgroup2) create_pod(podgroup1) pop(podgroup1) decide()
bind(podgroup1,node1) create_pod(podgroup2) pop(podgroup2) decide()
create_pod(podgroup1) pop(podgroup1) decide() victims_leave(podgroup1)
"""


def test_the_room_that_victims_leave_wakes_what_is_left_of_their_group() -> None:
    scope = given(pods=2, min_count=1, nodes=1, misfits=0, failures=0)
    subject = Subject(machine_for(scope))
    play(scope, VICTIM_WAITS, subject)
    assert subject.scheduler.queue.place("podgroup1") is Place.ACTIVE


def test_what_the_binding_is_not_for_is_refused() -> None:
    for scope in (given(late=True, misfits=0), given(cycle=Cycle.POD_BY_POD, misfits=0)):
        with pytest.raises(ValueError, match="late=false and cycle=pod_group"):
            Subject(machine_for(scope))


# ---- faults of the scheduler


@pytest.mark.parametrize(("fault", "message"), FAULTS, ids=fault_name)
def test_a_fault_is_found(fault: Fault, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_is_found(fault, message, monkeypatch, many_runs)


def many_runs() -> None:
    for seed in range(60):
        run(given(misfits=0), Random(seed), 40, 0.05)

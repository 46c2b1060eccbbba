"""Hierarchies of the Kubernetes reference, driven by random events, never leave the composite spec."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kubernetes_faults import FAULTS_OF_HIERARCHIES, Fault, assert_is_found, fault_name
from kubernetes_walk import Parameters
from kubernetes_walk import given as parameters

from specs.composite.binding import INTERNAL, Follower, Subject
from specs.loading import build_spec
from specs.walking import Call

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

SINGLE = {"pods": 1, "min_count": 1, "blocks": 1}
SCOPES = [
    parameters(changes=0),
    parameters(children=3, slots=(1, 2, 3, 2), changes=0),
    parameters(pods=(2, 1), min_count=1, slots=(1, 0, 2, 0), busy=2, changes=0),
    parameters(pods=(2, 2), min_count=1, blocks=3, slots=(1, 0, 2, 1, 2, 2), busy=5, changes=0),
    parameters(children=4, middles=2, middle_min=2, min_groups=1, **SINGLE, slots=(1, 2, 1), busy=2, changes=0),
    parameters(
        children=4, middles=(2, 4), middle_min=(2, 1), min_groups=1, **SINGLE, slots=(1, 1, 1), busy=1, changes=0
    ),
]
MACHINES = {scope: build_spec("composite", dict(scope)) for scope in SCOPES}


def run(scope: Parameters, draw: Random, steps: int) -> list[Call]:
    """A random run; the actions of the spec that it took. Divergence, or AssertionError, at the first difference."""
    subject, follower = Subject(MACHINES[scope]), Follower(MACHINES[scope])
    taken: list[Call] = []
    for number in range(steps):
        events = subject.events()
        if not events:
            break
        lasting = [event for event in events if event[0] != "finish"]
        event = draw.choice(lasting if lasting and draw.random() > 0.25 else events)
        taken += follower.follow(subject, event, subject.apply(event))
        if number % 4 == 0:
            same_offers(subject, follower)
    return taken


def same_offers(subject: Subject, follower: Follower) -> None:
    """What the world around the scheduler may do is what the spec enables, but for what the binding leaves out."""
    running = subject.scheduler.running is not None
    enabled = follower.enabled()
    external = {call for call in enabled if call[0] not in INTERNAL}
    assert {call for call in subject.events() if call[0] != "decide"} == external
    assert running or not {call for call in enabled if call[0] in INTERNAL}


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(SCOPES), st.integers(0, 2**32))
def test_every_event_is_an_enabled_step_of_the_spec(scope: Parameters, seed: int) -> None:
    run(scope, Random(seed), 25)


@pytest.mark.slow
def test_every_action_is_taken() -> None:
    taken: Counter[str] = Counter()
    for seed in range(12):
        taken.update(name for scope in SCOPES for name, _ in run(scope, Random(seed), 60))
    print("steps of the spec that were taken:", dict(sorted(taken.items())))
    assert {action.name for machine in MACHINES.values() for action in machine.actions} <= set(taken)


def test_what_the_binding_is_not_for_is_refused() -> None:
    with pytest.raises(ValueError, match="changes=0, found 1"):
        Subject(build_spec("composite", {}))


# ---- faults of the scheduler


@pytest.mark.parametrize(("fault", "message"), FAULTS_OF_HIERARCHIES, ids=fault_name)
def test_a_fault_is_found(fault: Fault, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_is_found(fault, message, monkeypatch, many_runs)


def many_runs() -> None:
    for seed in range(30):
        for scope in SCOPES:
            run(scope, Random(seed), 40)

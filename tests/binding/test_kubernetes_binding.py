"""The Kubernetes reference, driven by random events, never leaves the kubernetes spec; faults of either are found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from kubernetes_walk import Parameters, given, machine_for, play, run, walk

from reference.schedulers.kubernetes import Edition as CodeEdition
from reference.schedulers.kubernetes import Options, Phase, Place, Scheduler, TrackedPod, algorithm, postfilter
from reference.schedulers.kubernetes.algorithm import Code
from reference.schedulers.kubernetes.groups import Registry
from reference.schedulers.kubernetes.nodeinfo import NodeInfo
from reference.schedulers.kubernetes.queue import SchedulingQueue
from reference.schedulers.kubernetes.snapshot import Snapshot
from specs.kubernetes import Cycle, Edition
from specs.kubernetes.binding import Subject
from specs.walking import Divergence

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


def binds_half_a_gang(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(algorithm, "placement_feasible", lambda least, remaining, scheduled: Code.SUCCESS)


def forgets_nothing_when_a_binding_fails(patch: pytest.MonkeyPatch) -> None:
    whole = Scheduler.bind_failed
    patch.setattr(Scheduler, "bind_failed", lambda self, name: (whole(self, name), self.queue.drop(name[:9]))[0])


def evicts_while_victims_leave(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(postfilter, "why_not_eligible", lambda registry, snapshot, tree: None)
    patch.setattr(postfilter, "units", all_units)


def all_units(registry: Registry, snapshot: Snapshot) -> list[postfilter.Victim]:
    """Also of those that were asked to leave already."""
    found: dict[str, list[TrackedPod]] = {}
    for tracked in registry.pods.values():
        if tracked.phase is Phase.BOUND:
            found.setdefault(tracked.pod.pod_group, []).append(tracked)
    return [postfilter.Victim(g, tuple(pods), registry.groups[g].priority, True) for g, pods in found.items()]


def backs_off_not_at_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SchedulingQueue, "back_off", lambda self, entry: self.activate(entry, entry.shape))


def overfills_nodes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(NodeInfo, "has_room", lambda self, spec: True)


def gate_is_open(patch: pytest.MonkeyPatch) -> None:
    start = Scheduler.__init__
    patch.setattr(
        Scheduler, "__init__", lambda self, options: start(self, Options(CodeEdition.SEED, backoff_initial=0))
    )


def condition_is_no_latch(patch: pytest.MonkeyPatch) -> None:
    tell = Scheduler._tell

    def forgetful(self: Scheduler, group: str, reason: object) -> None:
        self.conditions.pop(group, None)
        tell(self, group, reason)  # type: ignore[arg-type]

    patch.setattr(Scheduler, "_tell", forgetful)


FAULTS = [
    (binds_half_a_gang, "does not enable fail_pod"),
    (forgets_nothing_when_a_binding_fails, "spec BACKOFF, code OUTSIDE"),
    (evicts_while_victims_leave, "does not enable post_filter"),
    (backs_off_not_at_all, "spec BACKOFF, code ACTIVE"),
    (overfills_nodes, "does not enable place_pod"),
    (gate_is_open, "does not enable pre_enqueue"),
    (condition_is_no_latch, "spec SCHEDULED, code UNSCHEDULABLE"),
]


@pytest.mark.parametrize(("fault", "message"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
def test_a_fault_is_found(
    fault: Callable[[pytest.MonkeyPatch], None], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    with pytest.raises(Divergence, match=message):
        many_runs()


def many_runs() -> None:
    for seed in range(60):
        run(given(misfits=0), Random(seed), 40, 0.05)

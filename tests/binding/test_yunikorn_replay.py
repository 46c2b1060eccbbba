"""Every run of the YuniKorn spec up to a depth, made by the reference; and faults of either side, found in doing so."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from test_yunikorn_faults import (
    completes_before_confirmations,
    confirmed_placeholder_stays,
    killed_before_confirmations,
    parked_placeholder_is_not_marked,
    unschedulable_ask_is_lost,
    waits_while_a_pod_runs,
)
from yunikorn_walk import Parameters, machine_for, parameters

from reference.schedulers.yunikorn import cycle
from reference.schedulers.yunikorn.options import Gate as CoreGate
from reference.schedulers.yunikorn.state import TrackedApplication
from specs.loading import build_spec
from specs.mutant import Mutant
from specs.registry import mutants
from specs.replaying import Replayed, replay
from specs.walking import Divergence
from specs.yunikorn import Edition
from specs.yunikorn.replayer import CLOSED, Replayer
from specs.yunikorn.seed import Gate, Policy, Queues, Timers

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

ALL = 1_000
"""Deeper than any run without a loop is long."""
ALONE = parameters(apps=1, size=2, nodes=2, capacity=2, quota=2)
ONE_NODE = parameters(apps=1, size=2, nodes=1, capacity=2, quota=2)
DEFAULT = parameters()
SMALL = {"apps": 2, "size": (1, 2), "nodes": 1, "capacity": 2, "quota": 2}


def replayed(given: Parameters, depth: int) -> Replayed:
    machine = machine_for(given)
    return replay(machine, Replayer(machine), depth)


@pytest.mark.parametrize("given", [ALONE, ONE_NODE], ids=["two nodes", "one node"])
def test_every_run_is_made(given: Parameters) -> None:
    """To the end, every action of the spec. What a late ask finds completed is all that is excused."""
    done = replayed(given, ALL)
    assert set(done.made) == {a.name for a in machine_for(given).actions}
    assert set(done.excused) == {CLOSED}
    assert not done.unused
    assert not done.never_made


@pytest.mark.parametrize(
    "given",
    [
        DEFAULT,
        parameters(**SMALL, queues=Queues.TWO_LEAVES),
        parameters(**SMALL, policy=Policy.FAIR, reject_fair=False),
        parameters(**SMALL, policy=Policy.STATEAWARE, gate=Gate.NONE, timers=Timers.FREE),
        parameters(size=(5, 2)),
        parameters(policy=Policy.FAIR),
    ],
    ids=["default", "two leaves", "fair", "no gate", "oversized", "fair is refused"],
)
def test_every_run_of_eight_steps_is_made(given: Parameters) -> None:
    done = replayed(given, 8)
    assert not done.excused
    assert done.made


@pytest.mark.slow
@pytest.mark.parametrize("timers", Timers)
@pytest.mark.parametrize("gate", Gate)
@pytest.mark.parametrize("queues", Queues)
def test_every_run_of_each_small_scope_is_made(timers: Timers, gate: Gate, queues: Queues) -> None:
    for policy in Policy:
        done = replayed(
            parameters(**SMALL, timers=timers, gate=gate, queues=queues, policy=policy, reject_fair=False), ALL
        )
        assert done.excused.keys() <= {CLOSED}
        assert not done.never_made


@pytest.mark.slow
def test_every_run_of_the_default_scope_is_made() -> None:
    done = replayed(DEFAULT, ALL)
    assert (done.excused.keys(), done.unused, done.never_made) == ({CLOSED}, frozenset(), frozenset())


# --- faults of the spec ---

NOT_SEEN = {
    "fair_forgets": "an application is not rejected",
    "release_never_confirmed": "no confirmation",
    "no_placeholder_timeout": "no timeout",
    "no_normal_cycle": "no allocation without a placeholder",
    "never_completes": "no completion",
    "asks_never_released": "no confirmation of asks",
    "late_asks_without_end": "how often a shim asks is not the core's: it takes any ask",
}
"""Faults that leave steps out, or are the shim's: what there is is made, and the other direction misses the rest."""
DEEP = {"no_quota_for_real_pods": 16, "starts_over": 12}
"""Faults that show after more steps than ten."""


def of_the_seed() -> list[Mutant]:
    return [m for m in mutants("yunikorn") if m.parameters["edition"] is Edition.SEED]


def faulty(mutant: Mutant, depth: int) -> Replayed:
    """The mutated spec, replayed by the core that the parameters describe."""
    return replay(mutant.make(), Replayer(build_spec("yunikorn", dict(mutant.parameters))), depth)


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(m, id=m.name, marks=[pytest.mark.slow] if m.name in DEEP else [])
        for m in of_the_seed()
        if m.name not in NOT_SEEN
    ],
)
def test_a_fault_of_the_spec_is_found(mutant: Mutant) -> None:
    with pytest.raises(Divergence):
        faulty(mutant, DEEP.get(mutant.name, 10))


def test_other_faults_are_left_to_the_other_direction() -> None:
    left_out = [m for m in of_the_seed() if m.name in NOT_SEEN]
    assert {m.name for m in left_out} == set(NOT_SEEN)
    for mutant in left_out:
        faulty(mutant, 3)


# --- faults of the reference ---


def nobody_starts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cycle, "stopped_by_gate", lambda core, app: "gate" if core.options.gate is CoreGate.FITS else None)


def nothing_times_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TrackedApplication, "may_time_out", False)


@pytest.mark.parametrize(
    ("put", "given", "message"),
    [
        (nobody_starts, ALONE, r"^submit\(app1\); allocate_placeholder\(app1, node1\): the core does not: the gate of"),
        (nothing_times_out, ALONE, r"placeholder_timeout\(app1\): the core does not: 'app1' is not half-reserved"),
        (confirmed_placeholder_stays, ALONE, r"replacing\[app1, node1\]: spec 0, core 1"),
        (completes_before_confirmations, ALONE, "spec WAITING, core COMPLETED"),
        (killed_before_confirmations, ALONE, "spec ACCEPTED, core KILLED"),
        (unschedulable_ask_is_lost, ONE_NODE, r"real_asks\[app1\]: spec 1, core 0"),
        (parked_placeholder_is_not_marked, ALONE, r"replacing\[app1, node1\]: spec 1, core 0"),
        (waits_while_a_pod_runs, ALONE, "spec RUNNING, core WAITING"),
    ],
)
def test_a_fault_of_the_reference_is_found(
    put: Callable[[pytest.MonkeyPatch], None], given: Parameters, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch)
    with pytest.raises(Divergence, match=message):
        replayed(given, ALL)
    monkeypatch.undo()
    replayed(given, ALL)

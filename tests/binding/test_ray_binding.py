"""Ray's autoscaler in the reference does what its spec allows, loop by loop, whatever happens around it."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.language import Machine
from reference.schedulers.ray.edition import Edition as Release
from reference.schedulers.ray.instance_manager import life_cycle, step, sync
from reference.schedulers.ray.request import InstanceStatus
from specs.loading import build_spec
from specs.ray import Edition, Timers
from specs.ray.following import Follower, NoRowLeft
from specs.ray.life_cycle import published
from specs.walking import Divergence

SEED = {"edition": Edition.SEED, "crash": False}  # 2.48 ends every loop once the GCS has forgotten a node
SCOPES: dict[str, dict[str, Any]] = {
    "current": {"instances": 4},
    "kuberay": {"kuberay": True, "instances": 4, "min_workers": 1},
    "seed": SEED | {"instances": 4, "upscaling_speed": 2},
    "fast": {"upscaling_speed": 2, "instances": 6, "max_workers": 3, "jobs": 4},
    "any timers": {"timers": Timers.FREE, "vanish": False, "crash": False, "instances": 5},
    "request_resources": {"request_resources": 2, "instances": 5},
    "seed, calm": SEED | {"vanish": False, "instances": 5, "min_workers": 1},
}


@functools.cache
def machine_for(name: str) -> Machine:
    return build_spec("ray", {"errors": True, **SCOPES[name]})


def walk(data: st.DataObject, machine: Machine, steps: int) -> None:
    """Mostly what goes on: launches come, Ray starts, jobs run; and now and then a fault."""
    follower = Follower(machine)
    follower.loop()
    try:
        for _ in range(data.draw(st.integers(1, steps))):
            around = follower.around() if data.draw(st.sampled_from((True, True, False))) else []
            if around:
                calm = [call for call in around if call[0].split("_")[0] not in ("fail", "lose", "kill")]
                faults = data.draw(st.sampled_from((False, False, True))) or not calm
                follower.happen(data.draw(st.sampled_from(around if faults else calm)))
            else:
                jumps = data.draw(st.sampled_from((False, False, True))) and follower.may_jump()
                follower.loop(jumps=jumps, idle=data.draw(st.booleans()))
    except NoRowLeft:
        return


@pytest.mark.parametrize("name", ["current", "seed"])
def test_loops_are_steps_of_the_spec(name: str) -> None:
    @settings(max_examples=settings.default.max_examples // 30)  # a step of the spec costs a millisecond or two
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        walk(data, machine_for(name), 20)

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("name", SCOPES)
def test_long_runs_are_steps_of_the_spec(name: str) -> None:
    @settings(max_examples=60)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        walk(data, machine_for(name), 60)

    holds()


def started(name: str = "current") -> Follower:
    follower = Follower(machine_for(name))
    follower.loop()
    return follower


def test_a_whole_life() -> None:
    follower = started()
    follower.happen(("submit_job", ()))
    assert ("launch", ("instance1",)) in follower.loop()
    follower.happen(("launch_instance", ("instance1",)))
    assert [call[0] for call in follower.loop() if call[0] != "next_phase"] == ["begin_loop", "allocated", "install"]
    follower.happen(("start_ray", ("instance1",)))
    follower.happen(("place_job", ("instance1",)))
    follower.loop()
    follower.happen(("finish_job", ("instance1",)))
    assert ("terminate_idle", ("instance1",)) in follower.loop()
    follower.happen(("accept_drain", ("instance1",)))
    follower.happen(("stop_ray", ("instance1",)))
    assert ("terminate", ("instance1",)) in follower.loop()
    follower.happen(("terminate_instance", ("instance1",)))
    assert ("terminated", ("instance1",)) in follower.loop()
    assert follower.world.observed()["status[instance1]"] == "TERMINATED"


@pytest.mark.parametrize("name", ["seed, calm", "kuberay"])
def test_nothing_is_stuck_unless_time_jumps(name: str) -> None:
    """The minimum is asked for at once; the order is still to come, so the spec does not let the row be stuck."""
    follower = started(name)
    assert not follower.may_jump()
    for _ in range(12):
        assert {action for action, _ in follower.loop()} == {"begin_loop", "next_phase"}
    assert follower.world.observed()["status[instance1]"] == "REQUESTED"


def test_a_launch_too_many_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "launch_limit", lambda *_: 2)
    follower = started()
    for _ in range(2):
        follower.happen(("submit_job", ()))
    with pytest.raises(Divergence, match="nothing is REQUESTED"):
        follower.loop()


def test_an_instance_that_is_gone_and_stays_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    follower = started()
    follower.happen(("submit_job", ()))
    follower.loop()
    follower.happen(("launch_instance", ("instance1",)))
    follower.loop()
    follower.happen(("lose_instance", ("instance1",)))
    monkeypatch.setattr(sync, "terminated", lambda *_: [])
    with pytest.raises(Divergence):
        follower.loop()


@pytest.mark.parametrize(("edition", "release"), [(Edition.CURRENT, Release.CURRENT), (Edition.SEED, Release.SEED)])
def test_the_tables_are_one(edition: Edition, release: Release) -> None:
    ours = {s.value: {t.value for t in targets} for s, targets in life_cycle.transitions(release).items()}
    assert ours == {s.name: {t.name for t in targets} for s, targets in published(edition).items()}
    assert set(ours) | {"UNKNOWN", "ALLOCATION_TIMEOUT"} == {status.value for status in InstanceStatus}

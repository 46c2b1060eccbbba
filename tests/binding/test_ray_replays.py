"""Every short run of Ray's spec is made by the reference's autoscaler, in both editions; and what it is excused for."""

from __future__ import annotations

from typing import Any

import pytest

from model.language import Machine
from reference.schedulers.ray.instance_manager import step, stuck, subscribers, sync
from specs.loading import build_spec
from specs.ray import Edition, Timers
from specs.ray.mutants import MUTANTS
from specs.ray.replayer import RayReplayer
from specs.replaying import Replayed, replay
from specs.walking import Divergence

BOTH = [Edition.CURRENT, Edition.SEED]


def replayed(machine: Machine, depth: int) -> Replayed:
    return replay(machine, RayReplayer(machine), depth)


@pytest.mark.parametrize("edition", BOTH)
def test_all_runs_up_to_eight_steps_are_made_without_an_excuse(edition: Edition) -> None:
    done = replayed(build_spec("ray", {"edition": edition, "request_resources": 1}), 8)
    assert not done.excused
    assert not done.never_made
    assert {"queue_instance", "launch", "request_resources"} < set(done.made)


@pytest.mark.parametrize("edition", BOTH)
def test_all_runs_through_two_loops_are_made(edition: Edition) -> None:
    done = replayed(build_spec("ray", {"edition": edition}), 20)
    assert done.excused == {"no_row": 4, "oldest_launch": 4}
    assert not done.never_made
    assert done.pairs > 200


FREE = {"timers": Timers.FREE, "kuberay": True, "late_start": True}
ORDER = {"oldest_launch", "older_first"}
SCOPES: dict[str, tuple[dict[str, Any], int, set[str]]] = {
    "plain": ({}, 34, ORDER | {"no_row", "unheard_error", "oldest_request", "packing"}),
    "free": (FREE, 26, ORDER | {"no_row", "unheard_error", "at_once"}),
    "needs": ({"request_resources": 1, "min_workers": 1}, 26, ORDER | {"no_row", "unheard_error"}),
    "drains": ({"drains": True, "vanish": False}, 28, ORDER | {"no_row", "unheard_error", "ends_early"}),
    "reconfigure": ({"reconfigure": True}, 24, {"no_row", "oldest_launch", "over_maximum", "ends_early"}),
}
"""Machine, depth, and what has to be excused there."""
NEVER = {
    ("free", Edition.SEED): {"termination_timed_out"},
    ("drains", Edition.CURRENT): {"ray_stopping"},
    ("drains", Edition.SEED): {"ray_stopping"},
    ("reconfigure", Edition.CURRENT): {"drain_unstarted"},
    ("reconfigure", Edition.SEED): {"drain_unstarted", "cancel_queued"},
}
"""In free, of a row that has only now come to that state. Else steps that the table does not have: the program ends its
loop where they would come; findings/ has those of today."""


def test_each_excuse_is_needed_somewhere() -> None:
    assert set().union(*(excused for _, _, excused in SCOPES.values())) == set(RayReplayer.excuses)


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOTH)
@pytest.mark.parametrize("name", SCOPES)
def test_all_runs_through_several_loops_are_made(name: str, edition: Edition) -> None:
    scope, depth, excused = SCOPES[name]
    done = replayed(build_spec("ray", {"edition": edition, **scope}), depth)
    assert set(done.excused) == excused
    assert done.never_made == NEVER.get((name, edition), set())
    assert done.pairs > 1_000


def _nothing(*_: object) -> list[object]:
    return []


@pytest.mark.parametrize(
    ("where", "name", "value", "depth", "told"),
    [
        (step, "launch_limit", lambda *_: 2, 11, r"launch\(instance1\); next_phase\(\): no loop"),
        (
            sync,
            "terminated",
            _nothing,
            20,
            r"lose_instance\(instance1\); begin_loop\(\); terminated\(instance1\): no loop",
        ),
        (stuck, "stuck", _nothing, 13, r"request_timed_out\(instance1\): no loop"),
        (subscribers.CloudInstanceUpdater, "notify", _nothing, 9, r"order\[instance1\]: spec ASKED, Ray NONE"),
    ],
)
def test_a_mutant_of_the_reference_is_caught(
    where: object, name: str, value: object, depth: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = build_spec("ray", {"kuberay": True})
    monkeypatch.setattr(where, name, value)
    with pytest.raises(Divergence, match=told):
        replayed(machine, depth)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("conservative_mode_ignored", r"launch\(instance1\); launch\(instance2\): no loop"),
        ("stuck_in_queued", r"queue_instance\(instance1\); (next_phase\(\); )*next_phase\(\): no loop"),
        ("request_id_before_success", r"order\[instance1\]: spec NONE, Ray ASKED"),
        ("starts_as_requested", r"status\[instance1\]: spec REQUESTED, Ray QUEUED"),
    ],
)
def test_a_mutant_of_the_spec_is_caught(name: str, told: str) -> None:
    mutant = next(each for each in MUTANTS if each.name == name)
    with pytest.raises(Divergence, match=told):
        replayed(mutant.make(), 20)


def test_a_world_that_the_reference_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match="types=1, split=false and late_launches=0"):
        replayed(build_spec("ray", {"split": True}), 1)

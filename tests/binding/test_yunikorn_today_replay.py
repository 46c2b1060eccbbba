"""Every run of the spec of today's YuniKorn in small scopes, made by the reference; faults of either side, found so."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from test_yunikorn_today import (
    no_event_after_the_last_placeholder,
    pending_is_not_counted_at_the_timeout,
    placeholders_are_not_marked_at_the_end,
    queues_keep_what_is_released,
)

from model.language import Machine
from reference.schedulers.yunikorn.current import cycle
from specs.loading import build_spec, load_spec
from specs.mutant import Mutant
from specs.registry import mutants
from specs.replaying import Replayed, replay
from specs.walking import Divergence
from specs.yunikorn import Edition
from specs.yunikorn.current.replayer import FINDING, GIVEN_UP, ONE_EVENT, Replayer

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

ALL = 1_000
"""Deeper than any run without a loop is long."""


@functools.cache
def machine(scope: str) -> Machine:
    return load_spec("yunikorn", ["edition=current", *scope.split()])


def replayed(scope: str, depth: int) -> Replayed:
    return replay(machine(scope), Replayer(machine(scope)), depth)


def test_every_run_of_a_gang_of_one_is_made() -> None:
    """Its real pods are two: one takes the place of the placeholder, the other waits for the first."""
    done = replayed("size=1 reals=2", ALL)
    assert set(done.made) == {a.name for a in machine("size=1 reals=2").actions}
    assert set(done.excused) == {ONE_EVENT}


@pytest.mark.parametrize(
    "scope",
    [
        "",
        "style=hard timers=free",
        "size=1 preemptions=1 deletions=1 bind_failures=1 timers=free",
        "size=1 apps=2 quota=1 leaf_quota=1 max_apps=1",
        "size=1 node_removals=1 app_removals=1 repaired=true",
        "real=2 capacity=4 async_asks=true",
        "size=5",
    ],
)
def test_every_run_of_eight_steps_is_made(scope: str) -> None:
    done = replayed(scope, 8)
    assert done.made
    assert not done.never_made
    assert set(done.excused) <= {ONE_EVENT, GIVEN_UP, FINDING}


WHOLE = (
    "",
    "style=hard",
    "timers=free",
    "real=2 capacity=4",
    "placeholder=2 capacity=4",
    "reals=2",
    "deletions=1",
    "deletions=1 repaired=true",
    "preemptions=1 timers=free",
    "preemptions=1 repaired=true",
    "bind_failures=1",
    "duplicates=1",
    "app_removals=1",
    "node_removals=1",
    "node_removals=1 repaired=true",
    "async_asks=true timers=free",
    "user_limit=2 config_updates=1",
    "leaf_quota=0",
    "apps=2 size=1 quota=1 leaf_quota=1",
    "apps=2 size=1 queues=two_leaves quota=3 leaf_quota=2 max_apps=1",
    "split_timeout=true size=1",
    "restarts=1",
    "apps=2 size=1 timers=off autoscaler=true",
)


@functools.cache
def whole(scope: str) -> Replayed:
    return replayed(scope, ALL)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("scope", WHOLE)
def test_every_run_to_its_end_is_made(scope: str) -> None:
    done = whole(scope)
    assert done.never_made <= set(Replayer.left_out)
    assert done.excused[ONE_EVENT] < 0.3 * done.made.total()
    assert done.excused[FINDING] + done.excused[GIVEN_UP] < 0.05 * done.made.total()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_action_is_made_somewhere_and_every_excuse_is_needed() -> None:
    made = {action for scope in WHOLE for action in whole(scope).made}
    assert made == {a.name for scope in WHOLE for a in machine(scope).actions} - set(Replayer.left_out)
    excused = {reason for scope in WHOLE for reason in whole(scope).excused}
    assert excused == set(Replayer.excuses)


# --- faults of the spec ---

FOUND = {
    "from_new": 4,
    "from_accepted": 9,
    "completes_twice": 21,
    "victim_is_released": 7,
    "released_before_it_is_marked": 7,
    "runs_over_the_limit": 11,
    "preempted_not_counted": 13,
    "loses_the_ask": 19,
    "parent_limit_without_usage": 11,
    "orphan_of_a_gang_of_one": 13,
    "completes_beside_placeholders": 8,
    "accepted_for_ever": 7,
    "preempts_twice": 9,
    "from_failing": 14,
    "completes_with_placeholders": 20,
    "resumes_for_ever": 16,
    "running_apps_only_grow": 19,
    "fails_with_asks": 10,
    "replaces_a_victim": 12,
    "counted_twice": 10,
    "times_out_real_asks": 18,
    "node_keeps_the_difference": 17,
    "removed_at_once_not_counted": 7,
    "queue_keeps_placeholders": 7,
    "replacement_forgotten": 17,
    "parked_pod_forgotten": 16,
}
"""Faults of what the core does, by the depth that is enough to find them."""
AT_ONCE = [name for name, depth in FOUND.items() if depth < 9]


def of_today() -> dict[str, Mutant]:
    return {m.name: m for m in mutants("yunikorn") if m.parameters["edition"] is Edition.CURRENT}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in AT_ONCE else [pytest.mark.slow]) for name in FOUND]
)
def test_a_fault_of_the_spec_is_found(name: str) -> None:
    mutant = of_today()[name]
    base = build_spec("yunikorn", dict(mutant.parameters))
    with pytest.raises(Divergence):
        replay(mutant.make(), Replayer(base), FOUND[name])


# --- faults of the reference ---


def gives_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "try_placeholder", lambda books: None)


@pytest.mark.parametrize(
    ("fault", "scope", "message"),
    [
        (no_event_after_the_last_placeholder, "style=hard", r"core\[app1\]: spec FAILED, core FAILING"),
        (pending_is_not_counted_at_the_timeout, "timers=free", r"placeholder_timeout\(app1\): "),
        (placeholders_are_not_marked_at_the_end, "", r"placeholder_timeout\(app1\): mark"),
        (queues_keep_what_is_released, "timers=free", "leaf_used"),
        (gives_nothing_up, "size=1", r"replace_on_same_node\(app1, member1, node1\): the core "),
    ],
)
def test_a_fault_of_the_reference_is_found(
    fault: Callable[[pytest.MonkeyPatch], None], scope: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    with pytest.raises(Divergence, match=message):
        replayed(scope, 24)


def test_a_step_that_the_core_refuses_is_told() -> None:
    """Whoever asks the core for what it cannot do is not told that nothing has happened."""
    replayer: Any = Replayer(machine("size=1 preemptions=1"))
    start = replayer.start()
    with pytest.raises(Divergence, match="in the core no timer of app1 runs"):
        replayer.perform(start, ("completing_timeout", ("app1",)), {}, {})

"""What the binding of the YuniKorn reference says of its events, told run by run."""

from __future__ import annotations

import pytest
from yunikorn_walk import Parameters, machine_for, new_core, parameters

from reference.schedulers.yunikorn import Event, EventName
from specs.walking import Divergence
from specs.yunikorn.binding import Follower, calls, environment_for, observed
from specs.yunikorn.seed import Gate, Policy, Queues, Timers

ONE = parameters(apps=1, size=2, nodes=2, capacity=2, quota=2)

RESERVED = [
    ("submit app1", ""),
    ("ask_placeholders app1", "submit(app1)"),
    ("allocate_placeholder app1 node1", "allocate_placeholder(app1, node1)"),
    ("allocate_placeholder app1 node1", "allocate_placeholder(app1, node1)"),
]

RUNS: dict[str, tuple[Parameters, list[tuple[str, str]]]] = {
    "whole life, an ask that the spec sees later": (
        ONE,
        [
            *RESERVED,
            ("ask_real app1", ""),
            ("ask_real app1", ""),
            ("start_replacement app1", "replace(app1, node1)"),
            ("confirm_release app1", "confirm_on_same_node(app1, node1)"),
            ("finish_pod app1", "finish_pod(app1, node1)"),  # the core runs on, the spec waits
            ("start_replacement app1", "replace(app1, node1)"),
            ("confirm_release app1", "confirm_on_same_node(app1, node1)"),
            ("finish_pod app1", "finish_pod(app1, node1)"),
            ("waiting_timeout app1", "complete(app1)"),
        ],
    ),
    "left-over placeholder": (
        ONE,
        [
            *RESERVED,
            ("ask_real app1", ""),
            ("start_replacement app1", "replace(app1, node1)"),
            ("confirm_release app1", "confirm_on_same_node(app1, node1)"),
            ("finish_pod app1", "finish_pod(app1, node1)"),
            ("waiting_timeout app1", "clean_up(app1)"),
            ("confirm_release app1", "confirm_release(app1, node1) complete(app1)"),
        ],
    ),
    "an ask after the clean-up has begun": (
        ONE,
        [
            *RESERVED,
            ("ask_real app1", ""),
            ("start_replacement app1", "replace(app1, node1)"),
            ("confirm_release app1", "confirm_on_same_node(app1, node1)"),
            ("finish_pod app1", "finish_pod(app1, node1)"),
            ("waiting_timeout app1", "clean_up(app1)"),
            ("ask_real app1", "ask_late(app1)"),
            ("confirm_release app1", "confirm_release(app1, node1)"),
            ("allocate_real app1 node2", "allocate_real(app1, node2)"),
            ("finish_pod app1", "finish_pod(app1, node2)"),
            ("waiting_timeout app1", "complete(app1)"),
        ],
    ),
    "a node that is cordoned does not take its real pod": (
        ONE,
        [
            *RESERVED,
            ("ask_real app1", ""),
            ("start_replacement app1", "replace(app1, node1)"),
            ("cordon node1", ""),
            ("confirm_release app1", "confirm_on_other_node(app1, node1, node2)"),
        ],
    ),
    "no node takes it, and it is parked again": (
        parameters(apps=1, size=2, nodes=1, capacity=2, quota=2),
        [
            *RESERVED,
            ("ask_real app1", ""),
            ("start_replacement app1", "replace(app1, node1)"),
            ("cordon node1", ""),
            ("confirm_release app1", "confirm_unschedulable(app1, node1)"),
            ("ask_real app1", ""),
            ("start_replacement app1", "replace(app1, node1)"),  # whichever the core takes: the asks are alike
            ("uncordon node1", ""),
            ("confirm_release app1", "confirm_on_same_node(app1, node1)"),
            ("allocate_real app1", "allocate_real(app1, node1)"),
        ],
    ),
    "no node takes it, and it is parked behind the last placeholder": (
        parameters(apps=1, size=2, nodes=1, capacity=2, quota=2),
        [
            *RESERVED,
            ("ask_real app1", ""),
            ("start_replacement app1", "replace(app1, node1)"),
            ("cordon node1", ""),
            ("confirm_release app1", "confirm_unschedulable(app1, node1)"),
            ("uncordon node1", ""),
            ("start_replacement app1", "replace_pending(app1, node1)"),
            ("confirm_release app1", "confirm_on_same_node(app1, node1)"),
            ("finish_pod app1", "finish_pod(app1, node1)"),
            ("waiting_timeout app1", "complete(app1)"),
        ],
    ),
    "half a gang is given up": (
        ONE,
        [
            *RESERVED[:3],
            ("placeholder_timeout app1", "placeholder_timeout(app1)"),
            ("confirm_ask_release app1", "confirm_ask_release(app1)"),
            ("confirm_release app1", "confirm_release(app1, node1)"),
        ],
    ),
    "rejected by size": (
        parameters(size=(5, 2)),
        [("submit app1", "reject_oversized(app1)"), ("submit app2", ""), ("ask_placeholders app2", "submit(app2)")],
    ),
    "rejected by policy": (
        parameters(policy=Policy.FAIR),
        [("submit app1", "reject_fair(app1)"), ("submit app2", "reject_fair(app2)")],
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_these_steps_of_the_spec(name: str) -> None:
    given, run = RUNS[name]
    machine = machine_for(given)
    core, follower, environment = new_core(machine), Follower(machine), environment_for(machine)
    for wanted, steps in run:
        what, *where = wanted.split()
        event = next(
            e
            for e in core.enabled_events(environment)
            if e.name.value == what and {*where} <= {e.application, e.node} and follower.may_happen(core, e)
        )
        taken = follower.follow(core, core.apply(event))
        assert " ".join(f"{name}({', '.join(arguments)})" for name, arguments in taken) == steps, wanted
        assert core.check_invariants() == []


def test_an_ask_without_a_placeholder_is_outside_the_spec() -> None:
    machine = machine_for(ONE)
    core, follower = new_core(machine), Follower(machine)
    follower.follow(core, core.submit("app1"))
    follower.follow(core, core.ask_placeholders("app1", "members"))
    for _ in range(2):
        follower.follow(core, core.allocate_placeholder("app1", "members", "node1"))
    for _ in range(2):
        assert follower.may_happen(core, Event(EventName.ASK_REAL, "app1", "members"))
        assert follower.follow(core, core.ask_real("app1", "members")) == []
    assert not follower.may_happen(core, Event(EventName.ASK_REAL, "app1", "members"))
    with pytest.raises(Divergence, match=r"real_asks\[app1\]: spec 2, core 3"):
        follower.follow(core, core.ask_real("app1", "members"))


def test_a_core_with_another_gate_is_told() -> None:
    """Two leaves under one quota: this core lets everybody in, the spec's gate does not."""
    machine = machine_for(parameters(queues=Queues.TWO_LEAVES, gate=Gate.RESERVES))
    core = new_core(machine_for(parameters(queues=Queues.TWO_LEAVES, gate=Gate.NONE)))
    follower = Follower(machine)
    for app in ("app1", "app2"):
        follower.follow(core, core.submit(app))
        follower.follow(core, core.ask_placeholders(app, "members"))
    follower.follow(core, core.allocate_placeholder("app1", "members", "node1"))
    with pytest.raises(Divergence, match=r"does not enable allocate_placeholder\(app2, node2\)"):
        follower.follow(core, core.allocate_placeholder("app2", "members", "node2"))


def test_timers_off_leave_the_waiting_timer() -> None:
    machine = machine_for(parameters(timers=Timers.OFF))
    follower, core = Follower(machine), new_core(machine)
    assert not follower.may_happen(core, Event(EventName.PLACEHOLDER_TIMEOUT, "app1"))
    assert follower.may_happen(core, Event(EventName.WAITING_TIMEOUT, "app1"))


def test_what_the_core_shows_is_what_the_spec_shows_at_the_start() -> None:
    machine = machine_for(parameters())
    cells = {machine.show_cell(c) for c in machine.cells()}
    hidden = {c for c in cells if c.startswith("late[")}
    assert hidden
    assert set(observed(new_core(machine))) == cells - hidden


def test_a_submission_alone_is_no_step() -> None:
    core = new_core(machine_for(parameters()))
    assert calls(core.submit("app1")) == []
    assert calls(core.ask_placeholders("app1", "members")) == [("submit", ("app1",))]

"""The rules Y16 to Y30 of YuniKorn's gang scheduling design, each on the smallest case that shows it."""

from __future__ import annotations

import pytest
import test_yunikorn_reservation
from tiny_clusters import cluster, gang, leaf, tree, units
from yunikorn_steps import LEFT_OUT, TESTED, one, reserve, rule, run

from reference.cluster import PODS
from reference.schedulers.yunikorn import (
    ApplicationState,
    Core,
    Event,
    EventName,
    Gate,
    NotEnabledError,
    Options,
    Outcome,
)

S = ApplicationState


def test_no_rule_is_lost() -> None:
    """Y1 to Y15 are entered when their module is imported."""
    assert test_yunikorn_reservation.__name__ == "test_yunikorn_reservation"
    assert TESTED | set(LEFT_OUT) == {f"Y{i}" for i in range(1, 31)}
    assert not TESTED & set(LEFT_OUT)


@rule("Y16")
def test_replacement_marks_and_releases_nothing() -> None:
    core = one()
    reserve(core, "x")
    used = dict(core.queues.leaf("root.a").used)
    key = core.ask_real("x", "g0").event.key
    record = core.start_replacement("x", key)
    assert record.releases == (record.placeholder,)
    app = core.applications["x"]
    assert app.placeholders[record.placeholder].marked
    assert len(app.placeholders) == 2
    assert not app.reals
    assert core.queues.leaf("root.a").used == used
    # a marked placeholder is not picked again; when none is left the normal cycle takes over
    core.start_replacement("x", core.ask_real("x", "g0").event.key)
    third = core.ask_real("x", "g0").event.key
    with pytest.raises(NotEnabledError, match="no placeholder"):
        core.start_replacement("x", third)
    assert core.allocate_real("x", third).to_node == "n0"


@rule("Y16")
def test_normal_cycle_is_not_for_pods_with_a_placeholder() -> None:
    core = one()
    reserve(core, "x")
    with pytest.raises(NotEnabledError, match="has a placeholder to replace"):
        core.allocate_real("x", core.ask_real("x", "g0").event.key)


@rule("Y17")
def test_scheduling_goes_on_while_an_ask_is_parked() -> None:
    made = cluster((4,), tree(leaf("root.a")), gang("x", "root.a", 2), gang("y", "root.a", 2, submitted=1))
    core = Core(made)
    reserve(core, "x")
    core.start_replacement("x", core.ask_real("x", "g0").event.key)
    reserve(core, "y")
    assert [ask.task_group for ask in core.applications["x"].parked_asks()] == ["g0"]


@rule("Y18")
def test_confirmation_places_on_the_same_node_in_one_step() -> None:
    core = one(nodes=(2, 2))
    reserve(core, "x")
    before = dict(core.queues.leaf("root").used)
    (record,) = run(core, "x")
    assert (record.outcome, record.to_node, record.after) == (Outcome.SAME_NODE, record.event.node, S.RUNNING)
    assert core.queues.leaf("root").used == before
    assert core.check_invariants() == []


@rule("Y18")
@pytest.mark.parametrize(
    ("nodes", "outcome", "to_node", "state"),
    [((2, 1), Outcome.OTHER_NODE, "n1", S.RUNNING), ((2, 0), Outcome.UNSCHEDULABLE, "", S.ACCEPTED)],
)
def test_confirmation_where_the_node_refuses(
    nodes: tuple[int, ...], outcome: Outcome, to_node: str, state: ApplicationState
) -> None:
    core = one(nodes=nodes)
    core.submit("x")
    core.ask_placeholders("x", "g0")
    for _ in range(2):
        core.allocate_placeholder("x", "g0", "n0")
    key = core.ask_real("x", "g0").event.key
    started = core.start_replacement("x", key)
    core.cordon("n0")
    record = core.confirm_release("x", started.placeholder)
    assert (record.outcome, record.to_node, record.after) == (outcome, to_node, state)
    app = core.applications["x"]
    assert started.placeholder not in app.placeholders  # removed in either case
    assert (key in app.unschedulable) == (key in app.real_asks) == (outcome is Outcome.UNSCHEDULABLE)
    assert core.check_invariants() == []
    if outcome is Outcome.UNSCHEDULABLE:  # it goes on once a node can take it: here by the other placeholder
        core.uncordon("n0")
        second = core.start_replacement("x", key)
        assert core.confirm_release("x", second.placeholder).outcome is Outcome.SAME_NODE
        assert not app.unschedulable


@rule("Y19")
def test_one_release_per_new_allocation() -> None:
    core = one()
    reserve(core, "x")
    started = core.start_replacement("x", core.ask_real("x", "g0").event.key)
    assert len(started.releases) == 1
    assert core.confirm_release("x", started.placeholder).outcome is Outcome.SAME_NODE
    assert core.confirm_release("x", started.placeholder).outcome is Outcome.IGNORED
    assert len(core.applications["x"].reals) == 1


@rule("Y20")
def test_waiting_means_nothing_allocated_and_nothing_pending() -> None:
    core = one(3)
    reserve(core, "x")
    first, second = (core.ask_real("x", "g0").event.key for _ in range(2))
    core.confirm_release("x", core.start_replacement("x", first).placeholder)
    parked = core.start_replacement("x", second)
    assert core.finish_pod("x", first).after is S.RUNNING  # the parked ask is pending
    core.confirm_release("x", parked.placeholder)
    assert core.finish_pod("x", second).after is S.WAITING  # the third placeholder does not count
    assert len(core.applications["x"].placeholders) == 1


@rule("Y21")
def test_waiting_ends_by_a_late_ask_or_by_time() -> None:
    core = one()
    reserve(core, "x")
    run(core, "x")
    core.finish_pod("x", next(iter(core.applications["x"].reals)))
    record = core.waiting_timeout("x")
    assert (record.after, len(record.releases)) == (S.WAITING, 1)
    late = core.ask_real("x", "g0")  # after the timer fired, before the shim confirmed
    assert late.after is S.RUNNING
    core.confirm_release("x", record.releases[0])
    assert core.applications["x"].state is S.RUNNING
    core.allocate_real("x", late.event.key)
    core.finish_pod("x", late.event.key)
    assert core.waiting_timeout("x").after is S.COMPLETED  # nothing left: at once


@rule("Y22", "Y23")
def test_placeholder_timeout_needs_a_half_reserved_gang() -> None:
    core = one()
    reserve(core, "x", 0)
    with pytest.raises(NotEnabledError, match="not half-reserved"):
        core.placeholder_timeout("x")  # however long it has been submitted: nothing is allocated
    core.allocate_placeholder("x", "g0")
    assert core.applications["x"].may_time_out
    core.allocate_placeholder("x", "g0")
    with pytest.raises(NotEnabledError, match="not half-reserved"):
        core.placeholder_timeout("x")  # whole
    run(core, "x")
    with pytest.raises(NotEnabledError, match="not half-reserved"):
        core.placeholder_timeout("x")  # Running


@rule("Y24", "Y25", "Y26", "Y27")
def test_timeout_releases_all_and_kills_with_the_last_confirmation() -> None:
    core = one(4)
    reserve(core, "x", 2)
    record = core.placeholder_timeout("x")
    assert (record.after, len(record.releases), len(record.ask_releases)) == (S.ACCEPTED, 2, 2)
    assert core.next_decision() is None  # its asks are not served any more
    assert {event.name for event in core.enabled_events()} == {EventName.CONFIRM_ASK_RELEASE}
    assert {core.confirm_ask_release("x", key).after for key in record.ask_releases} == {S.ACCEPTED}
    assert {event.name for event in core.enabled_events()} == {EventName.CONFIRM_RELEASE}
    assert core.confirm_release("x", record.releases[0]).after is S.ACCEPTED
    assert core.confirm_release("x", record.releases[1]).after is S.KILLED
    assert core.queues.leaf("root.a").reserving == []
    assert core.nodes.free("n0") == {"vcore": 4}
    assert core.enabled_events() == []


@rule("Y24", "Y26", "Y27")
def test_completion_waits_for_the_left_over_placeholders() -> None:
    core = one(3)
    reserve(core, "x")
    run(core, "x")
    core.finish_pod("x", next(iter(core.applications["x"].reals)))
    record = core.waiting_timeout("x")
    assert (len(record.releases), record.ask_releases) == (2, ())
    states = [core.confirm_release("x", key).after for key in record.releases]
    assert states == [S.WAITING, S.COMPLETED]
    assert core.check_invariants() == []


@rule("Y28")
def test_a_completed_id_can_come_again() -> None:
    core = one(1)
    for _ in range(2):
        reserve(core, "x")
        with pytest.raises(NotEnabledError, match="in the core already"):
            core.submit("x")
        run(core, "x")
        core.finish_pod("x", next(iter(core.applications["x"].reals)))
        assert core.waiting_timeout("x").after is S.COMPLETED
    assert [app.state for app in core.earlier] == [S.COMPLETED]


@rule("Y29")
@pytest.mark.parametrize("tagged", [True, False])
def test_recovered_placeholders_are_replaced_only_if_tagged(tagged: bool) -> None:
    core = one(2)
    core.submit("x")
    pod = core.applications["x"].application.task_groups[0].pod_resource
    for _ in range(2):
        record = core.recover("x", "n0", pod, "g0", placeholder=tagged)
    assert record.after is (S.ACCEPTED if tagged else S.RUNNING)
    assert core.queues.leaf("root").used == {"vcore": 2, PODS: 2}
    core.ask_real("x", "g0")
    event = core.next_decision()
    assert event is not None
    assert event.name is (EventName.START_REPLACEMENT if tagged else EventName.ALLOCATE_REAL)
    assert core.check_invariants() == []


@rule("Y30")
def test_the_placeholder_flag_means_nothing_without_a_task_group() -> None:
    core = one(1)
    core.submit("x")
    core.recover("x", "n0", units(1), placeholder=True)
    assert not core.applications["x"].placeholders
    assert len(core.applications["x"].reals) == 1
    outside = core.ask_real("x", resources=units(1))
    assert core.allocate_real("x", outside.event.key).after is S.RUNNING


def test_events_are_refused_with_a_reason() -> None:
    """Calls that no correct shim or cycle makes: each says what is wrong, and changes nothing."""
    made = cluster((2, 0), tree(leaf("root.a", 3, most=1)), gang("x", "root.a", 2), gang("y", "root.a", 1, submitted=1))
    core = Core(made, Options(gate=Gate.NONE))
    reserve(core, "x")
    core.submit("y")
    core.ask_placeholders("y", "g0")
    pod = units(1)
    for call, message in (
        (lambda: core.submit("z"), "no application is named 'z'"),
        (lambda: core.ask_placeholders("z", "g0"), "'z' is not in the core"),
        (lambda: core.ask_placeholders("x", "g9"), "no task group 'g9'"),
        (lambda: core.ask_real("x", "g9"), "no task group 'g9'"),
        (lambda: core.allocate_placeholder("x", "g0"), "no pending placeholder ask"),
        (lambda: core.allocate_placeholder("y", "g0"), "runs all the applications it may"),
        (lambda: core.start_replacement("x", 99), "no pending real ask #99"),
        (lambda: core.confirm_release("x", 1), "no placeholder #1 that is to be released"),
        (lambda: core.confirm_release("z", 1), "'z' is not in the core"),
        (lambda: core.confirm_ask_release("x", 1), "no ask #1 that is to be released"),
        (lambda: core.finish_pod("x", 1), "no real pod #1"),
        (lambda: core.waiting_timeout("x"), "is not waiting"),
        (lambda: core.cordon("n9"), "'n9' cannot be cordoned"),
        (lambda: core.uncordon("n0"), "'n0' is not cordoned"),
        (lambda: core.recover("x", "n9", pod), "no node is named 'n9'"),
        (lambda: core.recover("x", "n0", pod, "g9", placeholder=True), "no task group 'g9'"),
        (lambda: core.apply(Event(EventName.RECOVER, "x")), "call Core.recover"),
    ):
        with pytest.raises(NotEnabledError, match=message):
            call()
    outside = core.ask_real("x", resources=units(2)).event.key
    for node, message in (("", "no room"), ("n1", "no room")):
        with pytest.raises(NotEnabledError, match=message):
            core.allocate_real("x", outside, node)
    small = core.ask_real("x", resources=units(1)).event.key
    for node, message in (("", "no node can take"), ("n1", "'n1' cannot take"), ("n9", "no node is named")):
        with pytest.raises(NotEnabledError, match=message):
            core.allocate_real("x", small, node)
    assert core.check_invariants() == []


def test_the_cursor_moves_with_the_line() -> None:
    """Two gangs that cannot start are passed over; when the first leaves the line, the third is still found."""
    gangs = [gang(name, "root.a", size, submitted=i, unit=unit) for i, (name, size, unit) in enumerate(
        (("a", 1, 3), ("b", 1, 3), ("c", 1, 1)))]  # fmt: skip
    core = Core(cluster((2,), tree(leaf("root.a")), *gangs), Options(strict=False))
    for app in gangs:
        core.submit(app.name)
        core.ask_placeholders(app.name, "g0")
    before = core.next_decision()
    core.recover("a", "n0", gangs[0].placeholder_ask, "g0", placeholder=True)
    core.nodes.give("n0", gangs[0].placeholder_ask)  # as if the node were larger: only the line is in question here
    assert core.next_decision() == before
    assert before is not None
    assert before.application == "c"


def test_room_that_is_given_back_is_seen() -> None:
    """A gang that was passed over for want of room is found again once a pod has ended."""
    made = cluster((2,), tree(leaf("root.a")), gang("x", "root.a", 1), gang("y", "root.a", 1, submitted=1, unit=2))
    core = Core(made, Options(strict=False))
    reserve(core, "x")
    (record,) = run(core, "x")
    core.submit("y")
    core.ask_placeholders("y", "g0")
    assert core.next_decision() is None
    core.finish_pod("x", next(iter(core.applications["x"].reals)))
    event = core.next_decision()
    assert event is not None
    assert (event.application, record.after) == ("y", S.RUNNING)


def test_the_line_moves_once_the_asks_of_a_killed_gang_are_released() -> None:
    """The next application waits for the confirmation of the asks, not for that of the placeholders."""
    made = cluster((3,), tree(leaf("root.a")), gang("x", "root.a", 4), gang("y", "root.a", 1, submitted=1))
    core = Core(made)
    reserve(core, "x", 2)
    core.submit("y")
    core.ask_placeholders("y", "g0")
    record = core.placeholder_timeout("x")
    for key in record.ask_releases:
        assert core.next_decision() is None
        core.confirm_ask_release("x", key)
    event = core.next_decision()
    assert event is not None
    assert event.application == "y"
    core.apply(event)
    assert core.applications["x"].state is S.ACCEPTED
    assert core.check_invariants() == []


def test_an_uncordoned_node_is_found_again() -> None:
    core = one(1)
    core.cordon("n0")
    core.submit("x")
    core.ask_placeholders("x", "g0")
    assert core.next_decision() is None
    core.uncordon("n0")
    assert core.next_decision() is not None

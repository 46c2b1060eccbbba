"""The rules Y1 to Y15 of YuniKorn's gang scheduling design, each on the smallest case that shows it."""

from __future__ import annotations

import pytest
from tiny_clusters import cluster, gang, leaf, tree, units
from yunikorn_steps import one, reserve, rule, run

from reference.cluster import PODS, Cluster, Resources, RunningPod, SortPolicy
from reference.schedulers.yunikorn import (
    ApplicationState,
    Core,
    EventName,
    Gate,
    NotEnabledError,
    Options,
    Outcome,
)

S = ApplicationState


@rule("Y1")
def test_flow_from_submission_to_a_running_originator() -> None:
    core = one()
    assert core.submit("x").after is S.NEW
    assert core.ask_placeholders("x", "g0").after is S.ACCEPTED
    with pytest.raises(NotEnabledError, match="still waits for placeholders"):
        core.start_replacement("x", core.ask_real("x", "g0").event.key)
    core.allocate_placeholder("x", "g0")
    assert core.next_decision() is not None
    assert core.next_decision().name is EventName.ALLOCATE_PLACEHOLDER
    core.allocate_placeholder("x", "g0")
    replacement = core.next_decision()
    assert replacement is not None
    assert replacement.name is EventName.START_REPLACEMENT
    started = core.apply(replacement)
    assert core.confirm_release("x", started.placeholder).after is S.RUNNING


@rule("Y3")
def test_every_placeholder_allocation_is_reported_and_uses_queue_and_node() -> None:
    core = one()
    reserve(core, "x", 0)
    record = core.allocate_placeholder("x", "g0")
    assert (record.event.node, record.event.task_group, record.event.key in core.applications["x"].placeholders) == (
        "n0", "g0", True)  # fmt: skip
    assert core.queues.leaf("root.a").used == core.queues.leaf("root").used == {"vcore": 1, PODS: 1}
    assert core.nodes.free("n0") == {"vcore": 3}


@rule("Y4")
def test_placeholder_ask_is_the_sum_over_all_groups() -> None:
    core = Core(cluster((9,), tree(leaf("root.a")), gang("x", "root.a", 2, 3, unit=2)))
    core.submit("x")
    assert core.applications["x"].ask == Resources({"vcore": 10, PODS: 5})


@rule("Y5")
@pytest.mark.parametrize(
    ("queues", "accepted"),
    [
        (tree(leaf("root.a", 3)), True),
        (tree(leaf("root.a", 2)), False),
        (tree(leaf("root.a", 9), quota=2), False),
        (tree(leaf("root.a"), quota=3), True),
    ],
)
def test_ask_beyond_quota_is_rejected(queues: object, accepted: bool) -> None:
    core = Core(cluster((1,), queues, gang("x", "root.a", 3)))  # type: ignore[arg-type]
    record = core.submit("x")
    assert record.after is (S.NEW if accepted else S.REJECTED)
    assert (record.outcome is Outcome.REJECTED) == (not accepted)
    if not accepted:
        assert "vcore 0.003 > 0.002" in record.reason


@rule("Y5")
def test_usage_does_not_count_at_submission() -> None:
    base = cluster((9,), tree(leaf("root.a", 3)), gang("x", "root.a", 3))
    full = Cluster(base.nodes, base.queues, base.applications, (RunningPod("r", "n0", "root.a", units(3)),))
    assert Core(full).submit("x").after is S.NEW


@rule("Y6")
@pytest.mark.parametrize("policy", SortPolicy)
@pytest.mark.parametrize("reject_fair", [True, False])
def test_fair_leaves_reject_gangs(policy: SortPolicy, reject_fair: bool) -> None:
    made = cluster((9,), tree(leaf("root.a", policy=policy)), gang("x", "root.a", 2))
    state = Core(made, Options(reject_fair=reject_fair)).submit("x").after
    assert state is (S.REJECTED if policy is SortPolicy.FAIR and reject_fair else S.NEW)
    # the option overrides what the queue says
    assert Core(made, Options(sort_policy=SortPolicy.FAIR)).submit("x").after is S.REJECTED


@rule("Y7")
@pytest.mark.parametrize("policy", [SortPolicy.FIFO, SortPolicy.STATE_AWARE])
@pytest.mark.parametrize("strict", [True, False])
def test_one_application_at_a_time_reserves(policy: SortPolicy, strict: bool) -> None:
    made = cluster((9,), tree(leaf("root.a")), gang("x", "root.a", 2), gang("y", "root.a", 2, submitted=1))
    core = Core(made, Options(sort_policy=policy, strict=strict))
    reserve(core, "x", 1)
    core.submit("y")
    core.ask_placeholders("y", "g0")
    with pytest.raises(NotEnabledError, match="not 'y''s turn"):
        core.allocate_placeholder("y", "g0")
    core.allocate_placeholder("x", "g0")
    if policy is SortPolicy.STATE_AWARE:  # one at a time from Accepted to Running, not only while it reserves
        with pytest.raises(NotEnabledError, match="not 'y''s turn"):
            core.allocate_placeholder("y", "g0")
        run(core, "x")
    core.allocate_placeholder("y", "g0")


@rule("Y8")
@pytest.mark.parametrize(
    ("gate", "used", "starts"),
    [
        (Gate.FITS, 2, True),
        (Gate.FITS, 3, False),
        (Gate.RESERVES, 3, False),
        (Gate.NONE, 3, True),
        (Gate.NONE, 4, True),
        (Gate.NONE, 5, False),
    ],
)
def test_reservation_starts_when_the_whole_ask_fits(gate: Gate, used: int, starts: bool) -> None:
    base = cluster((99,), tree(leaf("root.a", 5)), gang("x", "root.a", 3))
    held = (RunningPod("r", "n0", "root.a", units(used)),) if used else ()
    core = Core(Cluster(base.nodes, base.queues, base.applications, held), Options(gate=gate))
    core.submit("x")
    core.ask_placeholders("x", "g0")
    assert (core.next_decision() is not None) == starts
    if not starts:
        with pytest.raises(NotEnabledError):
            core.allocate_placeholder("x", "g0")


@rule("Y8")
@pytest.mark.parametrize(("gate", "starts"), [(Gate.FITS, True), (Gate.RESERVES, False)])
def test_gate_that_counts_what_others_still_have_to_take(gate: Gate, starts: bool) -> None:
    made = cluster((9,), tree(leaf("root.a"), leaf("root.b"), quota=4), gang("x", "root.a", 3), gang("y", "root.b", 3))
    core = Core(made, Options(gate=gate))
    reserve(core, "x", 1)
    core.submit("y")
    core.ask_placeholders("y", "g0")
    event = core.next_decision()
    assert event is not None
    assert (event.application == "y") == starts


@rule("Y9")
def test_the_gate_does_not_stop_running_applications() -> None:
    made = cluster((9,), tree(leaf("root.a", 4)), gang("x", "root.a", 2), gang("y", "root.a", 2, submitted=1))
    core = Core(made)
    reserve(core, "x")
    run(core, "x", count=2)
    core.submit("y")
    core.ask_placeholders("y", "g0")
    core.allocate_placeholder("y", "g0")
    beyond = core.ask_real("x", "g0")  # a third pod in a gang of two: a guarantee, not a maximum
    event = core.next_decision()
    assert event is not None
    assert (event.name, event.key) == (EventName.ALLOCATE_REAL, beyond.event.key)
    core.apply(event)
    with pytest.raises(NotEnabledError, match="no room"):
        core.allocate_placeholder("y", "g0")


@rule("Y12")
def test_placeholder_asks_come_before_real_ones() -> None:
    core = one()
    core.submit("x")
    with pytest.raises(NotEnabledError, match="takes no real asks in New"):
        core.ask_real("x", "g0")
    core.ask_placeholders("x", "g0")
    with pytest.raises(NotEnabledError, match="may ask for 1 to 0 more"):
        core.ask_placeholders("x", "g0")


@rule("Y13")
def test_only_the_first_ask_changes_the_state() -> None:
    core = one(3)
    core.submit("x")
    states = [core.ask_placeholders("x", "g0", 1), core.ask_placeholders("x", "g0", 2)]
    assert [(r.before, r.after) for r in states] == [(S.NEW, S.ACCEPTED), (S.ACCEPTED, S.ACCEPTED)]
    assert {core.allocate_placeholder("x", "g0").after for _ in range(3)} == {S.ACCEPTED}


@rule("Y14", "Y15")
def test_real_asks_are_ignored_until_the_whole_ask_is_reserved() -> None:
    made = cluster((9,), tree(leaf("root.a")), gang("x", "root.a", 1, 2))
    core = Core(made)
    core.submit("x")
    core.ask_placeholders("x", "g0")
    core.ask_placeholders("x", "g1", 1)
    core.allocate_placeholder("x", "g0")
    core.allocate_placeholder("x", "g1")
    early = core.ask_real("x", "g0").event.key
    assert core.next_decision() is None  # nothing pending but the real ask, yet one placeholder was never asked for
    with pytest.raises(NotEnabledError, match="real asks are ignored"):
        core.start_replacement("x", early)
    core.ask_placeholders("x", "g1")
    core.allocate_placeholder("x", "g1")
    event = core.next_decision()
    assert event is not None
    assert (event.name, event.key) == (EventName.START_REPLACEMENT, early)

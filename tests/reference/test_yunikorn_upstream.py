"""What YuniKorn's own tests expect, where the program still does what its design says.

Each case names the upstream test (yunikorn-core, pkg/scheduler) whose numbers it uses.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from tiny_clusters import cluster, gang, leaf, tree, units

from reference.cluster import (
    PODS,
    Application,
    Cluster,
    Node,
    Queue,
    QueueTree,
    Resources,
    RunningPod,
    SortPolicy,
    TaskGroup,
)
from reference.schedulers.yunikorn import ApplicationState, Core, EventName, Gate, Options, Outcome

S = ApplicationState


def submitted(core: Core, *names: str) -> Core:
    for name in names:
        core.submit(name)
        for group in core.applications[name].application.task_groups:
            core.ask_placeholders(name, group.name)
    return core


def cycle(core: Core) -> EventName | None:
    """One scheduling cycle: what it did."""
    event = core.next_decision()
    if event is not None:
        core.apply(event)
    assert core.check_invariants() == []
    return event.name if event else None


def used(core: Core, queue: str = "root", resource: str = "vcore") -> int:
    return core.queues.leaf(queue).used.get(resource, 0)


def counts(core: Core, group: str = "g0") -> tuple[int, int, int]:
    """Asked, timed out, replaced: upstream's placeholder data."""
    count = core.applications["app-1"].groups[group]
    return count.asked, count.timed_out, count.replaced


def test_direct_replacement() -> None:
    """partition_test.go TestTryPlaceholderAllocate."""
    core = submitted(Core(cluster((10,), tree(leaf("root.default")), gang("app-1", "root.default", 2))), "app-1")
    assert counts(core) == (2, 0, 0)
    assert [cycle(core), used(core), cycle(core), used(core)] == [
        EventName.ALLOCATE_PLACEHOLDER, 1, EventName.ALLOCATE_PLACEHOLDER, 2]  # fmt: skip
    assert cycle(core) is None
    alloc = core.ask_real("app-1", "g0").event.key
    assert (cycle(core), used(core), len(core.applications["app-1"].reals)) == (EventName.START_REPLACEMENT, 2, 0)
    marked = next(p for p in core.applications["app-1"].placeholders.values() if p.marked)
    assert marked.parked is not None
    assert marked.parked.key == alloc
    core.confirm_release("app-1", marked.key)
    app = core.applications["app-1"]
    assert (used(core), len(app.placeholders), list(app.reals), counts(core)) == (2, 1, [alloc], (2, 0, 1))


def test_replacement_on_another_node() -> None:
    """partition_test.go TestFailReplacePlaceholder; here the real pod moves at the confirmation, not before."""
    core = submitted(Core(cluster((10, 10), tree(leaf("root.default")), gang("app-1", "root.default", 1))), "app-1")
    core.allocate_placeholder("app-1", "g0", "n0")
    started = core.start_replacement("app-1", core.ask_real("app-1", "g0").event.key)
    core.cordon("n0")
    assert core.confirm_release("app-1", started.placeholder).to_node == "n1"
    assert (core.nodes.free("n0"), core.nodes.free("n1")) == ({"vcore": 10}, {"vcore": 9})
    assert (used(core), counts(core), core.applications["app-1"].state) == (1, (1, 0, 1), S.RUNNING)


def test_placeholder_larger_than_the_real_pod() -> None:
    """partition_test.go TestPlaceholderBiggerThanReal."""
    core = submitted(Core(cluster((5,), tree(leaf("root.default")), gang("app-1", "root.default", 1, unit=2))), "app-1")
    cycle(core)
    core.ask_real("app-1", "g0", units(1))
    assert (cycle(core), used(core)) == (EventName.START_REPLACEMENT, 2)
    core.confirm_release("app-1", next(iter(core.applications["app-1"].placeholders)))
    assert (used(core), core.nodes.free("n0")["vcore"], counts(core)) == (1, 4, (1, 0, 1))
    assert core.applications["app-1"].state is S.RUNNING


def test_normal_path_once_no_placeholder_is_left() -> None:
    """partition_test.go TestPlaceholderMatch."""
    made = cluster((10,), tree(leaf("root.default")), gang("app-1", "root.default", 1, unit=2))
    core = submitted(Core(made), "app-1")
    cycle(core)
    core.ask_real("app-1", "unknown", units(2))
    assert (cycle(core), used(core), counts(core)) == (EventName.ALLOCATE_REAL, 4, (1, 0, 0))
    core.ask_real("app-1", "g0")
    assert (cycle(core), counts(core)) == (EventName.START_REPLACEMENT, (1, 0, 0))
    core.confirm_release("app-1", next(iter(core.applications["app-1"].placeholders)))
    assert (used(core), counts(core)) == (4, (1, 0, 1))
    core.ask_real("app-1", "g0")
    assert (cycle(core), used(core), counts(core)) == (EventName.ALLOCATE_REAL, 6, (1, 0, 1))


@pytest.mark.parametrize(("policy", "state"), [(SortPolicy.FIFO, S.NEW), (SortPolicy.FAIR, S.REJECTED)])
def test_sort_policy(policy: SortPolicy, state: ApplicationState) -> None:
    """partition_test.go TestAddAppTaskGroup."""
    made = cluster((1,), tree(leaf("root.default", policy=policy)), gang("app-1", "root.default", 10))
    assert Core(made).submit("app-1").after is state


@pytest.mark.parametrize(("quota", "state"), [(None, S.NEW), (10, S.NEW), (1, S.REJECTED)])
def test_quota_of_the_queue(quota: int | None, state: ApplicationState) -> None:
    """partition_test.go TestAddTGAppDynamic."""
    made = cluster((1,), tree(leaf("root.queue", quota)), gang("app-1", "root.queue", 10))
    assert Core(made).submit("app-1").after is state


def test_running_limit_counts_an_accepted_application_that_allocates() -> None:
    """partition_test.go TestTryAllocateMaxRunning: root runs 2 applications, the parent 1."""

    def queues(most: int) -> QueueTree:
        parent = Queue("root.parent", max_applications=most, children=(Queue("root.parent.leaf"),))
        return QueueTree(Queue("root", max_applications=2, children=(parent,)))

    apps = (gang("app-1", "root.parent.leaf", 2), gang("app-2", "root.parent.leaf", 1, submitted=1))
    for most, second in ((1, None), (2, EventName.ALLOCATE_PLACEHOLDER)):
        core = submitted(Core(cluster((10, 10), queues(most), *apps)), "app-1", "app-2")
        assert [cycle(core), cycle(core)] == [EventName.ALLOCATE_PLACEHOLDER] * 2
        assert core.applications["app-1"].state is S.ACCEPTED
        assert cycle(core) is second


def test_recovered_placeholder_is_replaced() -> None:
    """partition_test.go TestPlaceholderAllocationAndReplacementAfterRecovery."""
    core = Core(cluster((10,), tree(leaf("root.default")), gang("app-1", "root.default", 1, 1)))
    core.submit("app-1")
    pod = units(1) + Resources({PODS: 1})
    core.recover("app-1", "n0", pod, "g0", placeholder=True)
    core.ask_placeholders("app-1", "g1")
    core.ask_real("app-1", "g0")
    assert [cycle(core), cycle(core)] == [EventName.ALLOCATE_PLACEHOLDER, EventName.START_REPLACEMENT]
    marked = next(p for p in core.applications["app-1"].placeholders.values() if p.marked)
    assert core.confirm_release("app-1", marked.key).outcome is Outcome.SAME_NODE
    assert {pod.task_group for pod in core.applications["app-1"].reals.values()} == {"g0"}


def test_a_confirmation_that_comes_twice() -> None:
    """tests/smoke_test.go TestDupReleasesInGangScheduling."""
    made = cluster((20, 20), tree(leaf("root.leaf", 20)), gang("app-1", "root.leaf", 1, unit=10))
    core = submitted(Core(made), "app-1")
    cycle(core)
    core.ask_real("app-1", "g0")
    cycle(core)
    key = next(iter(core.applications["app-1"].placeholders))
    assert core.confirm_release("app-1", key).outcome is Outcome.SAME_NODE
    assert core.confirm_release("app-1", key).outcome is Outcome.IGNORED
    assert (used(core), used(core, "root.leaf")) == (10, 10)
    assert core.check_invariants() == []


@pytest.mark.parametrize(
    ("root", "parent", "first_leaf", "room"),
    [
        ({"a": 20, "b": 10}, {"a": 20, "b": 8}, {}, {"root.p.x": {"a": 10, "b": 2}, "root.p.y": {"a": 10, "b": 2}}),
        ({}, {"a": 20, "b": 8}, {"a": 10, "b": 8}, {"root.p.x": {"a": 5, "b": 2}, "root.p.y": {"a": 10, "b": 2}}),
    ],
)
def test_head_room(
    root: dict[str, int], parent: dict[str, int], first_leaf: dict[str, int], room: dict[str, dict[str, int]]
) -> None:
    """queue_test.go TestHeadroom and TestMaxHeadroomMax: each leaf has 5 of a and 3 of b allocated."""
    leaves = (Queue("root.p.x", Resources(first_leaf)), Queue("root.p.y"))
    top = Queue("root", Resources(root), children=(Queue("root.p", Resources(parent), children=leaves),))
    node = Node("n", Resources({"a": 99, "b": 99}))
    pods = tuple(RunningPod(q.name, "n", q.name, Resources({"a": 5, "b": 3})) for q in leaves)
    core = Core(Cluster((node,), QueueTree(top), (), pods))
    for queue, amounts in room.items():
        for name, amount in amounts.items():
            assert core.queues.fits(queue, Resources({name: amount}))
            assert not core.queues.fits(queue, Resources({name: amount + 1}))


def test_maximum_over_the_hierarchy() -> None:
    """queue_test.go TestGetMaxQueueSet: parent {second 5, third 2}, leaf {first 5, second 10}."""
    below = Queue("root.p.x", Resources({"first": 5, "second": 10}))
    top = Queue("root", children=(Queue("root.p", Resources({"second": 5, "third": 2}), children=(below,)),))
    core = Core(Cluster((Node("n", Resources()),), QueueTree(top), ()))
    for name, limit in {"first": 5, "second": 5, "third": 2}.items():
        assert core.queues.too_large("root.p.x", Resources({name: limit})) is None
        assert core.queues.too_large("root.p.x", Resources({name: limit + 1})) is not None
    assert core.queues.too_large("root.p.x", Resources({"fourth": 10**12})) is None


def test_gang_of_one() -> None:
    """Regression YUNIKORN-1900: the only placeholder goes and the real pod comes in one step; the application runs."""
    core = submitted(Core(cluster((1,), tree(leaf("root.default")), gang("app-1", "root.default", 1))), "app-1")
    cycle(core)
    alloc = core.ask_real("app-1", "g0").event.key
    cycle(core)
    record = core.confirm_release("app-1", next(iter(core.applications["app-1"].placeholders)))
    assert (record.before, record.after) == (S.ACCEPTED, S.RUNNING)
    assert list(core.applications["app-1"].reals) == [alloc]


def test_fifo_order_end_to_end() -> None:
    """Shim end-to-end test Verify_GangApp_FIFO_Order: quota of 3 pods; A runs one, B is a gang of 3, C comes last.

    Upstream reserves 2 of B's 3 while A runs (no gate). When A ends B gets the third; C waits.
    """
    apps = [gang(name, "root.ns", size, submitted=i) for i, (name, size) in enumerate((("a", 1), ("b", 3), ("c", 1)))]
    core = submitted(Core(cluster((9,), tree(leaf("root.ns", 3)), *apps), Options(gate=Gate.NONE)), "a", "b", "c")
    cycle(core)
    core.ask_real("a", "g0")
    cycle(core)
    core.confirm_release("a", next(iter(core.applications["a"].placeholders)))
    assert [cycle(core) for _ in range(3)] == [EventName.ALLOCATE_PLACEHOLDER] * 2 + [None]
    assert {name: len(app.placeholders) for name, app in core.applications.items()} == {"a": 0, "b": 2, "c": 0}
    core.finish_pod("a", next(iter(core.applications["a"].reals)))
    assert [cycle(core), cycle(core)] == [EventName.ALLOCATE_PLACEHOLDER, None]
    for _ in range(3):
        core.ask_real("b", "g0")
    while cycle(core) is not None:
        for key in [p.key for p in core.applications["b"].placeholders.values() if p.marked]:
            core.confirm_release("b", key)
    states = {name: (app.state, len(app.reals)) for name, app in core.applications.items()}
    assert states == {"a": (S.WAITING, 0), "b": (S.RUNNING, 3), "c": (S.ACCEPTED, 0)}


def test_impossible_group_lets_the_other_group_be_released() -> None:
    """Shim end-to-end test Verify_Hard_GS_Failed_State: one group can never be placed, and both end timed out."""
    impossible = TaskGroup("a", 3, Resources({"gpu": 1}))
    app = Application("app-1", "root.q", (impossible, TaskGroup("b", 3, units(1))))
    core = submitted(Core(replace(cluster((9,), tree(leaf("root.q"))), applications=(app,))), "app-1")
    while cycle(core) is not None:
        pass
    record = core.placeholder_timeout("app-1")
    assert (len(record.releases), len(record.ask_releases)) == (3, 3)
    for key in record.ask_releases:
        core.confirm_ask_release("app-1", key)
    for key in record.releases:
        core.confirm_release("app-1", key)
    assert core.applications["app-1"].state is S.KILLED
    assert (used(core), counts(core, "b")) == (0, (3, 3, 0))

"""Metrics against values that are worked out by hand or stand in textbooks."""

from __future__ import annotations

import itertools
from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_clusters import cluster, gang, leaf, tree

from reference.cluster import Application, Cluster, Constraints, Node, Resources, TaskGroup
from reference.errors import InputError
from reference.simulation import (
    AutoscalerSettings,
    Job,
    NodeChange,
    NodeTypeSettings,
    PodFailure,
    Settings,
    Workload,
    make,
    simulate,
)
from reference.simulation.chance import exponential_ms, stream
from reference.simulation.clock import EventQueue, Happening, Rank
from reference.simulation.faults import Faults
from reference.simulation.fragmentation import Devices, Fragmentation, node_fragmentation, pod_classes, unusable
from reference.simulation.jobs import Pod, TrackedJob
from reference.simulation.metrics import Times, dominant_share, jain, nearest_rank
from reference.simulation.ray_autoscaler import RayAutoscaler
from reference.simulation.scheduler import Bound, Change, Released, SchedulerError

A, B = leaf("root.a"), leaf("root.b")


def test_jain_of_the_textbook() -> None:
    """Jain, Chiu, Hawe 1984: all alike is 1; k of n alike and the rest nothing is k/n; 1, 2, 3 is 36/42."""
    assert jain([F(7), F(7), F(7)]) == 1
    assert jain([F(1), F(1), F(0), F(0), F(0)]) == F(2, 5)
    assert jain([F(1), F(2), F(3)]) == F(36, 42)
    assert jain([]) is jain([F(0)]) is None


@settings(max_examples=25)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.integers(1, 9))
def test_jain_is_a_share_and_has_no_unit(amounts: list[int], unit: int) -> None:
    shares = [F(amount, 7) for amount in amounts]
    index = jain(shares)
    if index is not None:
        assert F(1, len(shares)) <= index <= 1
        assert jain([share * unit for share in shares]) == index


def test_dominant_share_of_the_paper() -> None:
    """Ghodsi and others, NSDI 2011: of 9 CPUs and 18 GB, 3 x <1 CPU, 4 GB> and 2 x <3 CPU, 1 GB> are 2/3 each."""
    whole = {"cpu": 9, "memory": 18}
    assert dominant_share({"cpu": 3, "memory": 12}, whole) == F(2, 3)
    assert dominant_share({"cpu": 6, "memory": 2}, whole) == F(2, 3)
    assert dominant_share({"gpu": 1}, whole) == 0


def test_times_by_hand() -> None:
    times = Times.of([40, 15, 50, 20, 35])
    assert times == Times(5, F(32), F(35), {50: 35, 90: 50, 95: 50, 99: 50}, 50)
    assert [nearest_rank([15, 20, 35, 40, 50], p) for p in (5, 30, 40, 100)] == [15, 20, 20, 50]
    even = Times.of([1, 2, 4, 9])
    assert even is not None
    assert even.median == 3
    assert Times.of([]) is None


def test_a_run_by_hand() -> None:
    """Four units on two nodes. a takes all from 0 to 10 s; b (3 units, root.b) comes at 4 s, runs from 10 to 15 s."""
    one = cluster([2, 2], tree(A, B))
    jobs = (Job(gang("a", "root.a", 4), 0, (10_000,)), Job(gang("b", "root.b", 3), 4_000, (5_000,)))
    m = simulate(one, Workload(jobs), make("first-fit", one), Settings(prices={"node": 3_600_000})).metrics
    assert (m.submitted, m.admitted, m.finished, m.waiting) == (2, 2, 2, 0)
    assert m.wait == Times(2, F(3000), F(3000), {50: 0, 90: 6000, 95: 6000, 99: 6000}, 6000)
    assert m.completion == Times(2, F(10_500), F(10_500), {50: 10_000, 90: 11_000, 95: 11_000, 99: 11_000}, 11_000)
    assert (m.makespan, m.window) == (15_000, (0, 15_000))
    assert m.utilisation == m.allocation == {"vcore": F(4 * 10 + 3 * 5, 4 * 15)}
    assert m.node_hours == {"node": F(30, 3600)}
    assert m.cost == F(30 * 36, 36_000)  # 3.6 an hour
    assert [queue.dominant_share for queue in m.queues] == [F(40, 60), F(15, 60)]
    assert m.jain == F(55**2, 2 * (40**2 + 15**2))
    assert m.fragmentation is None


def test_placeholders_hold_room_and_do_no_work() -> None:
    """Of three units, a gang of 2 runs; another reserves 1 of 2 until its timeout at 5 s, and is killed."""
    one = cluster([3], tree(A))
    late = gang("b", "root.a", 2, submitted=1)
    timed = type(late)(late.name, late.queue, late.task_groups, 1, placeholder_timeout_seconds=5)
    jobs = (Job(gang("a", "root.a", 2), 0, (9_000,)), Job(timed, 0, (1_000,)))
    m = simulate(one, Workload(jobs), make("yunikorn", one)).metrics
    assert (m.killed, m.finished, m.admission_rate) == (1, 1, F(1, 2))
    assert m.utilisation == {"vcore": F(2 * 9, 3 * 9)}
    assert m.allocation == {"vcore": F(2 * 9 + 1 * 5, 3 * 9)}


def test_releases_take_their_time() -> None:
    """A placeholder that takes 2 s to go keeps the real pod from starting for as long."""
    one = cluster([2], tree(A))
    m = simulate(
        one, Workload((Job(gang("a", "root.a", 2), 0, (1_000,)),)), make("yunikorn", one, release_ms=2_000)
    ).metrics
    assert m.wait is not None
    assert (m.wait.largest, m.makespan) == (2_000, 3_000)


@pytest.mark.parametrize("policy", ["yunikorn", "first-fit"])
def test_a_failure_and_a_lost_node_by_hand(policy: str) -> None:
    """A pod of a fails at 2 s: a starts again. At 4 s its node goes for 3 s: again. It runs from 7 to 17 s."""
    one = cluster([2], tree(A))
    changes = (NodeChange(4_000, "n0"), NodeChange(7_000, "n0", one.nodes[0]))
    work = Workload((Job(gang("a", "root.a", 2), 0, (10_000,)),), changes, (PodFailure(2_000, "a", "g0"),))
    run = simulate(one, work, make(policy, one))
    assert (run.metrics.restarts, run.metrics.finished, run.metrics.makespan) == (2, 1, 17_000)
    assert run.metrics.node_hours == {"node": F(14, 3600)}
    assert run.metrics.utilisation == {"vcore": F(14, 14)}
    twice = simulate(one, work, make(policy, one), Settings(attempts=2))
    assert (twice.metrics.failed, twice.jobs[0].reason) == (1, "its node is gone")


def test_the_autoscaler_by_hand() -> None:
    """No nodes at first. A gang of 3 units comes at 1 s; at 5 s Ray asks for two nodes of 2, there at 15 s; the gang
    ends at 16 s, another comes at 100 s and meets nodes that were terminated: idle for more than 30 s, seen at 50 s."""
    one = Cluster((), tree(A), ())
    kind = NodeTypeSettings("two", Resources(vcore=2), 5, launch_ms=10_000)
    scaling = AutoscalerSettings((kind,), 5_000, 30_000)
    jobs = (Job(gang("a", "root.a", 3), 1_000, (1_000,)), Job(gang("b", "root.a", 1), 100_000, (1_000,)))
    run = simulate(one, Workload(jobs), make("first-fit", one), Settings(autoscaler=scaling), RayAutoscaler(scaling))
    told = [(e.time, e.event, e.fields.get("cause")) for e in run.log if "node" in e.event or "launch" in e.event]
    assert told == [
        *[(5_000, "request_launch", None)] * 2,
        *[(15_000, "add_node", None)] * 2,
        *[(50_000, "remove_node", "idle")] * 2,
        (105_000, "request_launch", None),
        (115_000, "add_node", None),
    ]
    assert run.metrics.node_hours == {"two": F(2 * 35 + 1, 3600)}


def test_the_type_maximum_holds_up_a_gang_for_ever() -> None:
    one = Cluster((), tree(A), ())
    scaling = AutoscalerSettings((NodeTypeSettings("two", Resources(vcore=2), 1),))
    work = Workload((Job(gang("a", "root.a", 3), 0, (1_000,)),))
    run = simulate(one, work, make("first-fit", one), Settings(autoscaler=scaling), RayAutoscaler(scaling))
    assert run.metrics.waiting == 1
    assert not any(entry.event == "request_launch" for entry in run.log)


def test_fgd_by_hand() -> None:
    """A node with devices of 1000, 600 and 0 free. Who asks for a whole one cannot use 600; who asks for 700 neither;
    500 fits anywhere with room; two whole ones do not fit; a pod without GPUs uses nothing of what is idle."""
    free = [1000, 600, 0]
    assert [unusable(asked, free) for asked in (1000, 700, 500, 2000)] == [600, 600, 0, 1600]
    node = Node("n", Resources(vcore=8, gpu=3000))
    groups = [TaskGroup(f"g{i}", count, Resources({"vcore": 1, **gpu})) for i, (count, gpu) in enumerate(
        [(2, {"gpu": 1000}), (1, {"gpu": 500}), (1, {})]
    )]  # fmt: skip
    classes = pod_classes(groups)
    left = {"vcore": 8, "gpu": 1600}
    assert [node_fragmentation(node, left, free, pod, "gpu") for pod in classes] == [600, 0, 1600]
    kept = Fragmentation(classes, "gpu")
    kept.update(node, left, free)
    assert F(kept.sum, kept.pods) == F(2 * 600 + 0 + 1600, 4)
    kept.update(node, {"vcore": 0, "gpu": 1600}, free)
    assert kept.sum == 4 * 1600
    kept.remove("n")
    assert kept.sum == 0


NODES = st.builds(
    Node,
    st.just("n"),
    st.builds(lambda cpu, gpus: Resources(vcore=cpu, gpu=1000 * gpus), st.integers(1, 4), st.integers(1, 3)),
    st.sampled_from([{}, {"zone": "a"}]),
)
GROUPS = st.lists(
    st.builds(
        lambda cpu, gpu, zone, n: TaskGroup("g", n, Resources(vcore=cpu, gpu=gpu), Constraints(zone)),
        st.integers(0, 3), st.sampled_from((0, 0, 300, 500, 1000, 1500, 2000)),
        st.sampled_from(((), (("zone", "a"),))), st.integers(1, 3),
    ), max_size=4,
)  # fmt: skip


@settings(max_examples=40)
@given(NODES, GROUPS, st.lists(st.sampled_from((100, 250, 700, 1000, 1500, 2000)), max_size=5), st.integers(0, 4))
def test_what_is_remembered_of_fragmentation_is_what_the_rule_says(
    node: Node, groups: list[TaskGroup], asked: list[int], cpu: int
) -> None:
    devices = Devices(node.capacity.amount("gpu"))
    taken = [devices.take(amount) for amount in asked if amount <= sum(devices.free)]
    free = {"gpu": sum(devices.free), "vcore": min(cpu, node.capacity.amount("vcore"))}
    classes = pod_classes(groups)
    kept = Fragmentation(classes, "gpu")
    for _ in range(2):
        kept.update(node, free, devices.free)
        assert kept.sum == sum(p.count * node_fragmentation(node, free, devices.free, p, "gpu") for p in classes)
    assert all(0 <= each <= 1000 for each in devices.free)
    for each in taken:
        devices.give(each)
    assert devices.free == [1000] * (node.capacity.amount("gpu") // 1000)


def test_devices_by_hand() -> None:
    """Whole GPUs on empty devices, parts on the fullest that has room; what fits no device is spread."""
    devices = Devices(3000)
    assert devices.take(400) == ((0, 400),)
    assert devices.take(1000) == ((1, 1000),)
    assert devices.take(600) == ((0, 600),)
    assert devices.take(300) == ((2, 300),)
    devices.give(((1, 1000),))
    assert devices.take(500) == ((2, 500),)
    assert devices.take(1100) == ((1, 1000), (2, 100))
    with pytest.raises(ValueError, match="more than the node has free"):
        devices.take(200)


def test_exponential_times() -> None:
    """The mean and the median (mean x ln 2) of 4,000 draws are near what they should be, and every draw is fixed."""
    draw = stream(7, "nodes", "n1")
    values = sorted(exponential_ms(draw, 1_000_000) for _ in range(4_000))
    assert abs(sum(values) / len(values) - 1_000_000) < 60_000
    assert abs(values[2_000] - 693_147) < 50_000
    assert exponential_ms(stream(0, "a"), 1000) == exponential_ms(stream(0, "a"), 1000)
    assert exponential_ms(stream(0, "a"), 1000) != exponential_ms(stream(0, "b"), 1000)
    assert exponential_ms(stream(0, "a"), 1) >= 1


def test_a_broken_node_is_back_after_its_repair() -> None:
    """It breaks again and again while a gang waits that is too large for it; each time it is gone for 7 s."""
    one = cluster([2], tree(A))
    broken = Settings(node_mtbf_ms=20_000, node_repair_ms=7_000, patience_ms=200_000)
    run = simulate(one, Workload((Job(gang("a", "root.a", 3), 0, (10,)),)), make("first-fit", one), broken)
    times = [(entry.time, entry.event) for entry in run.log if "node" in entry.event]
    assert [event for _, event in times] == (["add_node", "remove_node"] * len(times))[: len(times)]
    gone = [b - a for (a, event), (b, _) in itertools.pairwise(times) if event == "remove_node"]
    assert len(gone) >= 3
    assert set(gone) == {7_000}
    assert run.metrics.waiting == 1
    assert run.metrics.window[1] <= 200_000


def test_only_pods_that_still_run_fail() -> None:
    """A gang with one pod for 1 ms and one for an hour: whatever fails is the second, before the hour is over."""
    job = TrackedJob(Job(gang("a", "root.a", 1, 1), 0, (1, 3_600_000)), attempt=1)
    job.pods = {n: Pod(n, f"g{n}", "n0", Resources(vcore=1), False) for n in (0, 1)}
    found = [Faults(Settings(seed=seed, pod_mtbf_ms=1_800_000)).first_failure(job, 50) for seed in range(40)]
    failed = [each for each in found if each is not None]
    assert 20 < len(failed) < 40  # two in e^2 survive
    assert all(pod == 1 and 50 < time < 50 + 3_600_000 for time, pod in failed)
    assert Faults(Settings()).first_failure(job, 50) is None


class Broken:
    """A scheduler that does one thing wrong."""

    name = "broken"

    def __init__(self, *changes: Change) -> None:
        self.changes = list(changes)

    def add_node(self, node: Node, now: int) -> None: ...

    def remove_node(self, node: str, now: int) -> None: ...

    def submit(self, application: Application, now: int) -> None: ...

    def withdraw(self, application: str, now: int) -> None: ...

    def pod_ended(self, application: str, pod: int, now: int) -> None: ...

    def next_timer(self) -> int | None:
        return None

    def cycle(self, now: int) -> list[Change]:
        if now < 5:
            return []
        changes = list(self.changes)
        self.changes.clear()
        return changes


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([Bound("a", "g0", 1, "n9")], "binds what it may not"),
        ([Bound("a", "g9", 1, "n0")], "binds what it may not"),
        ([Bound("a", "g0", 1, "n0"), Bound("a", "g0", 1, "n0")], "binds what it may not"),
        ([Bound("a", "g0", n, "n0") for n in range(3)], "has no room for pod 2"),
        ([Released("a", 7, "why")], "which has no such pod"),
    ],
)
def test_a_scheduler_that_breaks_the_protocol_is_named(changes: list[Change], told: str) -> None:
    one = cluster([2], tree(A))
    with pytest.raises(SchedulerError, match=f"broken .*{told}|broken at 5 ms: .*{told}"):
        simulate(one, Workload((Job(gang("a", "root.a", 4), 5, (10,)),)), Broken(*changes))


def test_a_workload_that_does_not_fit_the_cluster_is_told() -> None:
    one = cluster([2], tree(A))
    with pytest.raises(InputError, match=r"'root\.z' is not a leaf queue"):
        simulate(one, Workload((Job(gang("a", "root.z", 1), 0, (10,)),)), make("first-fit", one))


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(Rank), st.booleans()), max_size=12))
def test_happenings_have_a_total_order(put: list[tuple[int, Rank, bool]]) -> None:
    queue = EventQueue()
    for number, (time, rank, background) in enumerate(put):
        queue.put(Happening(time, rank, number, background=background))
    assert queue.foreground == sum(not background for _, _, background in put)
    assert queue.next_time() == min((time for time, _, _ in put), default=None)
    assert queue.take(-1) is None
    taken = []
    while (happening := queue.take(3)) is not None:
        taken.append((happening.time, happening.rank, happening.subject))
    assert taken == sorted((time, rank, number) for number, (time, rank, _) in enumerate(put))
    assert queue.foreground == 0


def test_at_one_instant_room_comes_before_need() -> None:
    """At 10 s a ends, a pod of it would fail, its node goes and comes, and b comes: a has ended, b starts at once."""
    one = cluster([2], tree(A))
    jobs = (Job(gang("a", "root.a", 2), 0, (10_000,)), Job(gang("b", "root.a", 2), 10_000, (1_000,)))
    failures = (PodFailure(10_000, "a", "g0"),)
    node = Node("n1", Resources(vcore=2))
    changes = (NodeChange(10_000, "n0"), NodeChange(10_000, "n1", node))
    for policy in ("yunikorn", "first-fit"):
        run = simulate(one, Workload(jobs, changes, failures), make(policy, one))
        assert (run.metrics.finished, run.metrics.restarts, run.metrics.makespan) == (2, 0, 11_000)
        assert {e.fields["node"] for e in run.log if e.event == "allocate" and e.time == 10_000} == {"n1"}


def test_a_pod_fails_when_its_stream_says() -> None:
    one = cluster([1], tree(A))
    job = Job(gang("a", "root.a", 1), 0, (10**9,))
    run = simulate(one, Workload((job,)), make("first-fit", one), Settings(seed=3, pod_mtbf_ms=60_000, attempts=2))
    first, second = (exponential_ms(stream(3, "pods", "a", attempt), 60_000) for attempt in (1, 2))
    assert [entry.time for entry in run.log if entry.event == "fail_pod"] == [first, first + second]
    assert (run.metrics.failed, run.metrics.restarts, run.jobs[0].reason) == (1, 1, "a pod failed")


def test_who_comes_first_is_submitted_first() -> None:
    """The numbers that applications have in a file do not matter, arrival does."""
    one = cluster([2], tree(A))
    block, late, early = (gang(name, "root.a", 2, submitted=n) for n, name in enumerate(("block", "late", "early")))
    jobs = (Job(block, 0, (9,)), Job(late, 2, (9,)), Job(early, 1, (9,)))
    for policy in ("yunikorn", "first-fit"):
        run = simulate(one, Workload(jobs), make(policy, one))
        starts = [
            entry.fields["application"] for entry in run.log if entry.event == "start" and entry.by == "simulation"
        ]
        assert starts == ["block", "early", "late"]

"""What holds of every loop of the Reconciler, and of a cluster whose cloud does what it is asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.manifests.document import json_field
from reference.schedulers.ray import Edition, InstanceStatus, NodeTypeConfig, ResourceRequest
from reference.schedulers.ray.autoscaler import Autoscaler
from reference.schedulers.ray.fake import FakeCloud, FakeGcs, FakeInstaller, carry_out
from reference.schedulers.ray.instance_manager.config import AutoscalingConfig, ReconcileConfig
from reference.schedulers.ray.instance_manager.instance import InstanceUpdateEvent, ManagedInstance, ReconcileError
from reference.schedulers.ray.instance_manager.life_cycle import STARTS, reachable, transitions
from reference.schedulers.ray.instance_manager.manager import InstanceManager
from reference.schedulers.ray.instance_manager.observed import HEAD_RESOURCE, ClusterState, RayNode
from reference.schedulers.ray.instance_manager.provider import CloudInstance, CloudUnavailableError
from reference.schedulers.ray.request import NodeKind
from reference.schedulers.ray.script import World
from reference.schedulers.ray.script_strategies import scripts

S = InstanceStatus
Json = dict[str, Any]


@pytest.mark.parametrize(("edition", "states", "edges"), [(Edition.CURRENT, 14, 39), (Edition.SEED, 13, 34)])
def test_the_table(edition: Edition, states: int, edges: int) -> None:
    table = transitions(edition)
    assert len(table) == states
    assert sum(len(targets) for targets in table.values()) == edges
    may_run = {status for status in table if S.RAY_RUNNING in reachable(status, edition)}
    assert may_run == {status for status in S if status.may_run_ray}


def judge(world: World, before: tuple[ManagedInstance, ...], edition: Edition) -> None:
    """Everything that a loop has to keep, whatever happens around it."""
    told, there = world.loops[-1], {each.id: each for each in before}
    for each in world.autoscaler.instances:
        was = there.get(each.id)
        new = each.history[len(was.history) :] if was else each.history
        assert was is None or each.history[: len(was.history)] == was.history
        assert was is not None or each.history[0][0] in STARTS
        assert all(at == world.now_ms for _, at in new)
        for (source, _), (target, _) in zip(each.history, each.history[1:], strict=False):
            assert target in transitions(edition)[source]
        if each.status not in (S.QUEUED, S.REQUESTED, S.ALLOCATION_FAILED) and each.times(S.ALLOCATED):
            assert each.cloud_instance
        if each.status is S.RAY_RUNNING:
            assert each.node_id
    assert len(told["instances"]) == len(world.autoscaler.instances)
    asked = sum(count for _, _, count in told["launches"])
    requested = sum(status == "REQUESTED" for _, status in told["events"])
    assert asked == requested
    left = sum(each.status is S.REQUESTED for each in world.autoscaler.instances)
    assert not asked or left <= max(world.config.max_concurrent_launches, asked)
    assert sum(status == "TERMINATING" for _, status in told["events"]) >= len(told["terminations"])


@pytest.mark.parametrize("edition", list(Edition), ids=lambda edition: edition.value)
def test_every_loop(edition: Edition) -> None:
    @settings(max_examples=settings.default.max_examples // 12)
    @given(scripts(edition))
    def holds(script: Json) -> None:
        root = json_field(json.dumps(script), "script")
        world = World(root.need("cluster", ""), edition)
        for step in root.list_of("steps"):
            before = world.autoscaler.instances
            world.do(step)
            if step.mapping()["op"] == "loop":
                judge(world, before, edition)

    holds()


def cluster(most: int, **more: Any) -> tuple[Autoscaler, FakeCloud, FakeGcs, AutoscalingConfig]:
    """A head that runs, and a worker group of nodes with two CPUs."""
    cloud, gcs = FakeCloud(), FakeGcs()
    cloud.instances["head"] = CloudInstance("head", "head", NodeKind.HEAD)
    gcs.nodes["n-head"] = RayNode("n-head", "head", "head", total={HEAD_RESOURCE: 1}, available={HEAD_RESOURCE: 1})
    types = {"head": NodeTypeConfig("head", {}, 1), "A": NodeTypeConfig("A", {"CPU": 2.0}, most)}
    config = AutoscalingConfig(types, **more)
    return Autoscaler(cloud, gcs, FakeInstaller(), more.pop("edition", Edition.CURRENT)), cloud, gcs, config


@settings(max_examples=15)
@given(st.integers(0, 9), st.integers(0, 5), st.sampled_from((0.0, 1.0, 4.0)), st.integers(1, 4))
def test_a_good_cloud_gives_what_is_asked_and_takes_it_back(cpus: int, most: int, speed: float, under_way: int) -> None:
    autoscaler, cloud, gcs, config = cluster(
        most, upscaling_speed=speed, max_concurrent_launches=under_way, idle_timeout_s=60.0
    )
    one = ResourceRequest((("CPU", 1.0),))
    gcs.cluster = ClusterState(requests=((one, cpus),))
    for number in range(14):
        assert autoscaler.loop(config, 5000 * number).error == ""
        carry_out(cloud, gcs, {"A": {"CPU": 2.0}})
    counts = Counter(each.status for each in autoscaler.instances)
    assert counts == Counter({S.RAY_RUNNING: 1 + min(most, -(-cpus // 2))})
    gcs.cluster = ClusterState()
    for name, node in gcs.nodes.items():
        if not node.is_head:
            gcs.nodes[name] = RayNode(name, node.cloud_instance, "A", total=node.total, idle_ms=61_000)
    for number in range(14, 20):
        assert autoscaler.loop(config, 5000 * number).error == ""
        carry_out(cloud, gcs, {"A": {"CPU": 2.0}})
    counts = Counter(each.status for each in autoscaler.instances)
    assert counts == Counter({S.RAY_RUNNING: 1, S.TERMINATED: min(most, -(-cpus // 2))}) + Counter()
    assert list(cloud.instances) == ["head"]


def test_a_change_is_all_or_nothing() -> None:
    manager = InstanceManager(Edition.CURRENT)
    told: list[InstanceUpdateEvent] = []

    class Listener:
        def notify(self, events: Any, now_ms: int) -> None:
            told.extend(events)

    manager.subscribe(Listener())
    manager.update([InstanceUpdateEvent("a", S.QUEUED, "A", upsert=True)], 0)
    good = InstanceUpdateEvent("a", S.REQUESTED, "A", launch_request="r1")
    before = manager.instances, manager.version, len(told)
    for bad in (
        InstanceUpdateEvent("b", S.QUEUED, "A"),
        InstanceUpdateEvent("b", S.RAY_RUNNING, "A", node_id="n", upsert=True),
        InstanceUpdateEvent("b", S.TERMINATING, "A", upsert=True),
        InstanceUpdateEvent("b", S.ALLOCATED, "A", upsert=True),
        InstanceUpdateEvent("a", S.RAY_RUNNING, node_id="n"),
        InstanceUpdateEvent("a", S.REQUESTED, "A"),
    ):
        with pytest.raises(ReconcileError):
            manager.update([good, bad] if bad.instance == "b" else [bad], 1)
        assert (manager.instances, manager.version, len(told)) == before
    manager.update([good], 1)
    assert [status for status, _ in manager.instances[0].history] == [S.QUEUED, S.REQUESTED]


def test_a_launch_that_the_cloud_does_not_take_is_tried_again() -> None:
    """The change of the instance stays though whoever should act on it fails."""

    class Deaf(FakeCloud):
        def launch(self, shape: Mapping[str, int], request: str) -> None:
            raise CloudUnavailableError("not now")

    _, _, gcs, config = cluster(1)
    cloud = Deaf()
    cloud.instances["head"] = CloudInstance("head", "head", NodeKind.HEAD)
    gcs.cluster = ClusterState(requests=((ResourceRequest((("CPU", 1.0),)), 1),))
    autoscaler = Autoscaler(cloud, gcs, FakeInstaller())
    assert "not now" in autoscaler.loop(config, 0).error
    assert autoscaler.instances[-1].status is S.REQUESTED
    assert autoscaler.loop(config, 5000).error == ""
    late = int(ReconcileConfig().request_status_timeout_s * 1000) + 1
    assert "not now" in autoscaler.loop(config, late).error
    assert [status for status, _ in autoscaler.instances[-1].history] == [S.QUEUED, S.REQUESTED, S.QUEUED, S.REQUESTED]

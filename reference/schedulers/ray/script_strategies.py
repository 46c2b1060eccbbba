"""A Hypothesis strategy for scripts of events: a small cluster in which everything goes wrong, again and again.

The script is played while it is drawn, so that what happens next has to do with what is there: launches come or fail,
Ray starts or does not, nodes drain, die, come back, are forgotten. The JSON that comes out says it all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from reference.manifests.document import json_field
from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.instance_manager.observed import RayNode, RayNodeStatus
from reference.schedulers.ray.request import InstanceStatus, NodeKind
from reference.schedulers.ray.script import World

Json = dict[str, Any]
_TYPES = ("A", "B")
_HEAD = "head"


@st.composite
def _cluster(draw: st.DrawFn) -> Json:
    types: Json = {_HEAD: {"resources": {"CPU": draw(st.sampled_from((0, 1)))}, "max": 1}}
    for name in _TYPES:
        most = draw(st.sampled_from((1, 2, 3, 5)))
        types[name] = {"resources": draw(st.sampled_from(({"CPU": 1}, {"CPU": 2}, {"CPU": 2, "GPU": 1}))), "max": most}
        types[name]["min"] = draw(st.sampled_from((0, 0, 0, min(1, most))))
        if draw(st.sampled_from((False, False, True))):
            types[name]["idle_timeout_s"] = draw(st.sampled_from((1, 30)))
        if draw(st.sampled_from((False, False, True))):
            types[name]["priority"] = draw(st.sampled_from((1, 2)))
        if draw(st.sampled_from((False, False, False, True))):
            types[name]["launch_config_hash"] = "h"
    made: Json = {
        "node_types": types,
        "max_num_nodes": draw(st.sampled_from((None, None, 2, 3, 5))),
        "idle_timeout_s": draw(st.sampled_from((None, 1, 10, 60))),
        "pending_idle_timeout_s": draw(st.sampled_from((None, None, 3, 20))),
        "upscaling_speed": draw(st.sampled_from((0, 1, 1, 3))),
        "max_concurrent_launches": draw(st.sampled_from((1, 2, 10, 10))),
        "disable_node_updaters": draw(st.booleans()),
        "disable_launch_config_check": draw(st.sampled_from((True, True, True, False))),
    }
    if draw(st.booleans()):
        made["reconcile"] = {
            "request_status_timeout_s": draw(st.sampled_from((3, 12, 600))),
            "allocate_status_timeout_s": draw(st.sampled_from((3, 12, 300))),
            "ray_install_status_timeout_s": draw(st.sampled_from((3, 12, 300))),
            "terminating_status_timeout_s": draw(st.sampled_from((3, 12, 300))),
            "ray_stop_requested_status_timeout_s": draw(st.sampled_from((3, 12, 300))),
            "max_num_retry_request_to_allocate": draw(st.sampled_from((0, 1, 3))),
        }
    return {key: value for key, value in made.items() if value is not None}


@st.composite
def _demand(draw: st.DrawFn) -> Json:
    bundle = st.sampled_from(({"CPU": 1}, {"CPU": 1}, {"CPU": 2}, {"GPU": 1}))
    made: Json = {"op": "demand"}
    if draw(st.sampled_from((True, True, True, False))):
        made["requests"] = [{"resources": draw(bundle), "count": draw(st.sampled_from((1, 2, 3, 5)))}]
    if draw(st.sampled_from((False, False, False, True))):
        strategy = draw(st.sampled_from(("STRICT_SPREAD", "STRICT_PACK", "PACK")))
        made["gangs"] = [{"id": "g", "strategy": strategy, "bundles": [draw(bundle), draw(bundle)]}]
    if draw(st.sampled_from((False, False, False, True))):
        made["constraints"] = [{"resources": draw(bundle), "count": draw(st.sampled_from((1, 2, 3)))}]
    return made


class _Around:
    """What may happen to the cluster as it stands; what is yielded more often is drawn more often."""

    def __init__(self, world: World) -> None:
        self._world, self._made = world, 0

    def _new(self, letter: str) -> str:
        self._made += 1
        return f"{letter}{self._made}"

    def events(self) -> list[Json]:
        """The candidates, by what they are about."""
        self._made += 1  # names are used once, whatever is chosen
        return [*self._launches(), *self._clouds(), *self._nodes(), *self._rare()]

    def _launches(self) -> Iterator[Json]:
        for each in self._world.autoscaler.instances:
            if each.status is InstanceStatus.REQUESTED:
                yield from [self._cloud(each.type)] * 3
                yield self._cloud(each.type, running=False)
                for count in (1, 2):
                    yield {"op": "launch_error", "launch": each.launch_request, "type": each.type, "count": count}
            if each.status is InstanceStatus.TERMINATING:
                if each.cloud_instance in self._world.cloud.instances:
                    yield from [{"op": "cloud_instance_gone", "id": each.cloud_instance}] * 4
                yield {"op": "terminate_error", "cloud_instance": each.cloud_instance}

    def _cloud(self, node_type: str, running: bool = True, kind: str = "WORKER") -> Json:
        name = f"c{self._made}"
        return {"op": "cloud_instance", "id": name, "type": node_type, "running": running, "kind": kind}

    def _clouds(self) -> Iterator[Json]:
        used = {node.cloud_instance for node in self._world.gcs.nodes.values()}
        for cloud in self._world.cloud.instances.values():
            if cloud.kind is not NodeKind.HEAD:
                yield {"op": "cloud_instance_gone", "id": cloud.id}
            if not cloud.is_running:
                yield from [{"op": "cloud_instance", "id": cloud.id, "type": cloud.type}] * 2
            if cloud.id not in used:
                yield from [self._node(cloud.id, cloud.type)] * 4
                yield self._node(cloud.id, cloud.type, status="DEAD")
                yield self._node(cloud.id, cloud.type, status="DRAINING")
                for count in (2, 3):
                    yield {"op": "fail_installs", "cloud_instance": cloud.id, "count": count}
        yield self._cloud("A")
        yield self._cloud("gone")

    def _node(self, cloud: str, node_type: str, **more: Any) -> Json:
        made = {"op": "ray_node", "id": f"n{self._made}", "cloud_instance": cloud, "type": node_type, **more}
        there = self._world.cloud.instances.get(cloud)
        return {**made, "head": True} if there is not None and there.kind is NodeKind.HEAD else made

    def _nodes(self) -> Iterator[Json]:
        asked = {
            each.node_id
            for each in self._world.autoscaler.instances
            if each.status is InstanceStatus.RAY_STOP_REQUESTED
        }
        for node in self._world.gcs.nodes.values():
            if node.is_head:
                continue
            if node.status.is_up:
                yield from [self._again(node, status="IDLE", idle_ms=ms) for ms in (5_000, 70_000, 70_000)]
                yield self._again(node, available=dict.fromkeys(node.total, 0))
                yield {"op": "refuse_drains", "nodes": [node.id]}
                yield from [self._node(node.cloud_instance, node.type)] * 2
                for _ in range(6 if node.id in asked else 1):
                    yield self._again(node, status="DRAINING")
            if node.status is not RayNodeStatus.DEAD:
                yield self._again(node, status="DEAD")
            yield {"op": "ray_node_gone", "id": node.id}

    @staticmethod
    def _again(node: RayNode, **more: Any) -> Json:
        return {"op": "ray_node", "id": node.id, "cloud_instance": node.cloud_instance, "type": node.type, **more}

    def _rare(self) -> Iterator[Json]:
        yield {"op": "refuse_drains", "nodes": []}
        yield self._node("nowhere", "A")
        yield self._node("", "A")
        yield {"op": "cloud", "down": not self._world.cloud.is_down}
        heads = [node for node in self._world.gcs.nodes.values() if node.is_head]
        for node in heads:
            yield {**self._again(node), "head": True, "status": "RUNNING"}
            yield {**self._again(node), "head": True, "status": "DEAD"}
            yield self._node(node.cloud_instance, _HEAD)


@st.composite
def _change(draw: st.DrawFn, cluster: Json) -> Json:
    """Another configuration: a maximum, a type that is gone, a speed."""
    types = json.loads(json.dumps(cluster["node_types"]))
    what = draw(st.sampled_from(("max", "max", "max", "gone", "speed", "all")))
    name = draw(st.sampled_from(_TYPES))
    if what == "max":
        types[name]["max"] = draw(st.integers(types[name]["min"], 4))
    elif what == "gone":
        del types[name]
    elif what == "speed":
        return {"op": "configure", "upscaling_speed": draw(st.sampled_from((0, 2)))}
    else:
        return {"op": "configure", "max_num_nodes": draw(st.sampled_from((1, 2, 4)))}
    return {"op": "configure", "node_types": types}


@st.composite
def scripts(draw: st.DrawFn, edition: Edition = Edition.CURRENT) -> Json:
    """A script as JSON: the head comes up, and then up to twelve loops with what happens between them."""
    cluster = draw(_cluster())
    world = World(json_field(json.dumps(cluster), "script"), edition)
    around = _Around(world)
    steps: list[Json] = []

    def add(step: Json) -> None:
        steps.append(step)
        world.do(json_field(json.dumps(step), "script"))

    add({"op": "cloud_instance", "id": "c0", "type": _HEAD, "kind": "HEAD"})
    if draw(st.sampled_from((True, True, True, False))):
        add({"op": "ray_node", "id": "n0", "cloud_instance": "c0", "type": _HEAD, "head": True})
    add(draw(_demand()))
    for _ in range(draw(st.integers(3, 12))):
        add({"op": "loop", "after_s": draw(st.sampled_from((5, 5, 5, 5, 15, 15, 320, 700, 4000)))})
        for _ in range(draw(st.integers(0, 4))):
            match draw(st.sampled_from(("event",) * 8 + ("demand", "demand", "change"))):
                case "event":
                    add(draw(st.sampled_from(around.events())))
                case "demand":
                    add(draw(_demand()))
                case _:
                    add(draw(_change(cluster)))
    add({"op": "loop"})
    return {"cluster": cluster, "steps": steps}

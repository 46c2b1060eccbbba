"""Scripts of events: what happens around an autoscaler, loop by loop, as JSON that can be played here and on Ray
itself.

A script is an object with ``cluster``, the configuration, and ``steps``, each with an ``op``::

    {"cluster": {"node_types": {"head": {"resources": {}, "max": 1}, "A": {"resources": {"CPU": 4}, "max": 2}},
                 "max_num_nodes": 9, "idle_timeout_s": 60, "pending_idle_timeout_s": 600, "upscaling_speed": 1,
                 "max_concurrent_launches": 10, "disable_launch_config_check": true, "disable_node_updaters": true,
                 "read_only": false, "reconcile": {"request_status_timeout_s": 600}},
     "steps": [{"op": "cloud_instance", "id": "c0", "type": "head", "kind": "HEAD"},
               {"op": "ray_node", "id": "n0", "cloud_instance": "c0", "type": "head", "head": true},
               {"op": "demand", "requests": [{"resources": {"CPU": 1}, "count": 3}]},
               {"op": "loop", "after_s": 5}]}

Of ``cluster`` only ``node_types`` has to be there. The operations are the methods of ``World`` that begin with ``op_``.
"""

# float: seconds, and the upscaling speed; none decides capacity

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any, Final

from reference.errors import sample
from reference.manifests.document import Field
from reference.manifests.queue_parts import only_keys
from reference.schedulers.ray.arithmetic import DOUBLES
from reference.schedulers.ray.autoscaler import Autoscaler, Loop
from reference.schedulers.ray.edition import Edition
from reference.schedulers.ray.fake import FakeCloud, FakeGcs, FakeInstaller
from reference.schedulers.ray.instance_manager.config import AutoscalingConfig, ReconcileConfig
from reference.schedulers.ray.instance_manager.instance import ManagedInstance
from reference.schedulers.ray.instance_manager.observed import HEAD_RESOURCE, ClusterState, RayNode, RayNodeStatus
from reference.schedulers.ray.instance_manager.provider import CloudInstance, LaunchNodeError, TerminateNodeError
from reference.schedulers.ray.read import Reader, seconds
from reference.schedulers.ray.request import InstanceStatus, NodeKind

Json = dict[str, Any]
START_MS: Final = 10**12
"""When scripts begin: far from 0, as clocks are."""
_MOST: Final = 10_000
_READER: Final = Reader(DOUBLES)


class World:
    """A cluster on which a script is played. ``loops`` is what each loop did."""

    def __init__(self, cluster: Field, edition: Edition) -> None:
        self._edition, self._cluster = edition, cluster
        self.config = read_config(cluster, edition)
        self.cloud, self.gcs, self.installer = FakeCloud(), FakeGcs(), FakeInstaller()
        self.autoscaler = Autoscaler(self.cloud, self.gcs, self.installer, edition)
        self.now_ms = START_MS
        self.loops: list[Json] = []
        self._names: dict[str, str] = {}
        self._heard_of: dict[str, set[str]] = {"cloud_instance": set(), "node": set(), "launch": set()}
        """Every name that there was so far. Late news may speak of it; of other names they are a mistake."""

    def do(self, step: Field) -> None:
        """One step. Raises ManifestError for one that cannot be read."""
        operation = step.need("op", "what happens in this step")
        found: Callable[[Field], None] | None = getattr(self, f"op_{operation.name()}", None)
        if found is None:
            raise operation.error(f"one of {', '.join(OPERATIONS)}")
        found(step)

    def op_configure(self, step: Field) -> None:
        """The configuration changes: what is given, as in ``cluster``."""
        changed = {key: value for key, value in step.mapping().items() if key != "op"}
        self._cluster = Field(step.document, step.path, {**self._cluster.mapping(), **changed})
        self.config = read_config(self._cluster, self._edition)

    def op_cloud_instance(self, step: Field) -> None:
        """The cloud lists an instance, or lists it anew: ``id``, ``type``, ``kind``, ``running``."""
        only_keys(step, "op", "id", "type", "kind", "running")
        name = _name(step, "id")
        kind = step.optional("kind", lambda f: f.choice(NodeKind), NodeKind.WORKER)
        running = step.optional("running", Field.boolean, True)
        self._heard_of["cloud_instance"].add(name)
        self.cloud.instances[name] = CloudInstance(name, _name(step, "type"), kind, running)

    def op_cloud_instance_gone(self, step: Field) -> None:
        """The cloud no longer lists the instance ``id``."""
        only_keys(step, "op", "id")
        del self.cloud.instances[
            _one_of(step.need("id", "a name"), self.cloud.instances, "an instance the cloud lists")
        ]

    def op_cloud(self, step: Field) -> None:
        """``down``: the cloud does not answer, until it is said again."""
        only_keys(step, "op", "down")
        self.cloud.is_down = step.need("down", "true or false").boolean()

    def op_ray_node(self, step: Field) -> None:
        """The GCS reports a node: ``id``, ``cloud_instance``, ``type``, ``status``, ``total`` (by default that of its
        type), ``available``, ``labels``, ``dynamic_labels``, ``idle_ms``, and whether it is the ``head``."""
        only_keys(
            step,
            *("op", "id", "cloud_instance", "type", "status", "total", "available"),
            *("labels", "dynamic_labels", "idle_ms", "head"),
        )
        name, node_type = _name(step, "id"), step.optional("type", Field.name, "")
        config = self.config.node_types.get(node_type)
        total = step.optional("total", lambda f: dict(_READER.bundle(f)), dict(config.resources) if config else {})
        if step.optional("head", Field.boolean, False):
            total[HEAD_RESOURCE] = _READER.amount(step.child("head", 1))
        available = step.optional("available", lambda f: dict(_READER.bundle(f)), total)
        for resource, amount in available.items():
            if amount > total.get(resource, amount):
                raise step.need("available", "").need(resource, "").error("at most the total")
        self._heard_of["node"].add(name)
        self.gcs.nodes[name] = RayNode(
            name,
            step.optional("cloud_instance", Field.string, ""),
            node_type,
            step.optional("status", lambda f: f.choice(RayNodeStatus), RayNodeStatus.RUNNING),
            total,
            available,
            step.optional("labels", Field.string_map, {}),
            step.optional("dynamic_labels", Field.string_map, {}),
            step.optional("idle_ms", lambda f: f.integer(0, 10**12), 0),
        )

    def op_ray_node_gone(self, step: Field) -> None:
        """The GCS no longer reports the node ``id``."""
        only_keys(step, "op", "id")
        del self.gcs.nodes[_one_of(step.need("id", "a name"), self.gcs.nodes, "a node that the GCS reports")]

    def op_demand(self, step: Field) -> None:
        """What waits to run from now on: ``requests``, ``gangs``, ``constraints``."""
        only_keys(step, "op", "requests", "gangs", "constraints")
        self.gcs.cluster = ClusterState(
            requests=tuple(_READER.counted(each) for each in step.list_of("requests")),
            gangs=tuple(_READER.gang(each, place) for place, each in enumerate(step.list_of("gangs"))),
            constraints=tuple(_READER.counted(each) for each in step.list_of("constraints")),
        )

    def op_launch_error(self, step: Field) -> None:
        """The cloud reports that of a ``launch`` (r1 is the first) ``count`` instances of a ``type`` will not come."""
        only_keys(step, "op", "launch", "type", "count")
        count = step.optional("count", lambda f: f.integer(1, _MOST), 1)
        self.cloud.errors.append(LaunchNodeError(self._heard(step, "launch"), _name(step, "type"), count))

    def op_terminate_error(self, step: Field) -> None:
        """The cloud reports that a ``cloud_instance`` could not be terminated."""
        only_keys(step, "op", "cloud_instance")
        self.cloud.errors.append(TerminateNodeError(self._heard(step, "cloud_instance")))

    def op_refuse_drains(self, step: Field) -> None:
        """From now on these ``nodes``, and no others, refuse to drain."""
        only_keys(step, "op", "nodes")
        self.gcs.refuses = {
            _one_of(each, self._heard_of["node"], "a node that there is or was") for each in step.list_of("nodes")
        }

    def op_fail_installs(self, step: Field) -> None:
        """The next ``count`` attempts to install Ray on a ``cloud_instance`` fail."""
        only_keys(step, "op", "cloud_instance", "count")
        count = step.optional("count", lambda f: f.integer(0, _MOST), 3)
        self.installer.fails[self._heard(step, "cloud_instance")] = count

    def op_instance(self, step: Field) -> None:
        """The instance manager has an instance ``id`` of a ``type`` already: its ``history`` is a list of statuses,
        each with how many seconds ago it began, the last being its status; ``count`` of them are named alike, with
        numbers."""
        only_keys(step, *("op", "id", "type", "history", "cloud_instance", "node", "kind", "launch", "count"))
        listed = step.need("history", "a list of statuses with seconds").elements()
        history = [_since(each, self.now_ms) for each in listed]
        if not history:
            raise step.need("history", "").error("at least one status")
        kind = NodeKind.WORKER if step.get("cloud_instance") else NodeKind.UNMANAGED
        name, count = _name(step, "id"), step.optional("count", lambda f: f.integer(1, _MOST), 1)
        for key, names in self._heard_of.items():
            names |= {step.optional(key, Field.name, "")} - {""}
        for number in range(count):
            self.autoscaler.manager.put(
                ManagedInstance(
                    name if count == 1 else f"{name}{number}",
                    step.optional("type", Field.string, ""),
                    tuple(history),
                    cloud_instance=step.optional("cloud_instance", Field.name, ""),
                    node_id=step.optional("node", Field.name, ""),
                    kind=step.optional("kind", lambda f: f.choice(NodeKind), kind),
                    launch_request=step.optional("launch", Field.name, ""),
                )
            )

    def op_loop(self, step: Field) -> None:
        """A loop of the autoscaler, ``after_s`` seconds (5 by default) after the last."""
        only_keys(step, "op", "after_s")
        self.now_ms += int(step.optional("after_s", seconds, 5.0) * 1000)
        self.cloud.launches, self.cloud.terminations, self.gcs.drained = [], [], []
        self.installer.attempts.clear()
        self.loops.append(self._told(self.autoscaler.loop(self.config, self.now_ms)))
        self._heard_of["launch"] |= {request for request, _, _ in self.cloud.launches}

    def _heard(self, step: Field, key: str) -> str:
        return _one_of(step.need(key, "a name"), self._heard_of[key], f"a {key} that there is or was")

    def _told(self, loop: Loop) -> Json:
        """A loop as JSON. Instances made by it are named i1, i2 and so on, in the order of their first events."""
        put = {each.id for each in self.autoscaler.instances} - set(self._names)
        for event in loop.events:
            if event.upsert and event.instance not in self._names:
                self._names[event.instance] = f"i{len(self._names) + 1}"
                put.discard(event.instance)
        names = {**{name: name for name in put}, **self._names}
        return {
            "events": [[names[event.instance], event.status.value] for event in loop.events],
            "instances": {names[each.id]: each.status.value for each in self.autoscaler.instances},
            "details": {
                names[each.id]: [each.type, each.kind.value, each.cloud_instance, each.node_id, each.launch_request]
                for each in self.autoscaler.instances
            },
            "launches": [list(each) for each in self.cloud.launches],
            "terminations": list(self.cloud.terminations),
            "drains": [list(each) for each in self.gcs.drained],
            "installs": dict(sorted(self.installer.attempts.items())),
            "ended_early": bool(loop.error),
        }


OPERATIONS: Final = tuple(name.removeprefix("op_") for name in dir(World) if name.startswith("op_"))


def read_config(root: Field, edition: Edition) -> AutoscalingConfig:
    """The configuration that ``cluster`` of a script holds. Raises ManifestError."""
    only_keys(
        root,
        *("node_types", "max_num_nodes", "idle_timeout_s", "pending_idle_timeout_s", "upscaling_speed"),
        *("max_concurrent_launches", "disable_launch_config_check", "disable_node_updaters", "read_only", "reconcile"),
    )
    timeouts = ReconcileConfig.of(edition)
    given = root.get("reconcile")
    if given is not None:
        only_keys(given, *(each.name for each in fields(ReconcileConfig)))
        retries = given.optional("max_num_retry_request_to_allocate", lambda f: f.integer(0, _MOST), None)
        named: Json = {name: seconds(each) for name, each in given.members() if name.endswith("_s")}
        if retries is not None:
            named["max_num_retry_request_to_allocate"] = retries
        timeouts = replace(timeouts, **named)
    return AutoscalingConfig(
        node_types=_READER.node_types(root),
        max_num_nodes=root.optional("max_num_nodes", lambda f: f.integer(0, _MOST), None),
        upscaling_speed=root.optional("upscaling_speed", seconds, 1.0),
        max_concurrent_launches=root.optional("max_concurrent_launches", lambda f: f.integer(0, _MOST), 10),
        idle_timeout_s=root.optional("idle_timeout_s", seconds, None),
        pending_idle_timeout_s=root.optional("pending_idle_timeout_s", seconds, None),
        disable_launch_config_check=root.optional("disable_launch_config_check", Field.boolean, True),
        disable_node_updaters=root.optional("disable_node_updaters", Field.boolean, True),
        read_only=root.optional("read_only", Field.boolean, False),
        reconcile=timeouts,
    )


def play(script: Field, edition: Edition) -> list[Json]:
    """What each loop of a script does. Raises ManifestError for a script that cannot be read."""
    world = World(script.need("cluster", "the configuration"), edition)
    for step in script.list_of("steps"):
        world.do(step)
    return world.loops


def _name(step: Field, key: str) -> str:
    return step.need(key, "a name").name()


def _one_of(field: Field, known: Collection[str], expected: str) -> str:
    """The name, which is one of ``known``."""
    if field.name() not in known:
        raise field.error(f"{expected}: {sample(sorted(known)) or 'there is none'}")
    return field.name()


def _since(field: Field, now_ms: int) -> tuple[InstanceStatus, int]:
    parts = field.elements('a status and seconds, such as ["QUEUED", 5]')
    if len(parts) != 2:
        raise field.error('a status and seconds, such as ["QUEUED", 5]', f"a list of {len(parts)}")
    ago = parts[1].value
    if not isinstance(ago, int | Decimal) or isinstance(ago, bool):
        raise parts[1].error("seconds")
    return parts[0].choice(InstanceStatus), now_ms - int(ago * 1000)

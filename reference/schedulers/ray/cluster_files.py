"""Node types from the files that describe a Ray cluster: KubeRay's RayCluster (ray.io/v1) and the launcher's YAML.

``load_files`` takes one of them and, if there is one, the JSON of ``read`` without ``node_types``: what is to run.
Where that lists no ``instances``, the head runs, and of a RayCluster's worker groups as many nodes as its ``replicas``
say, all of them idle. What is taken, and what is assumed where a field is absent:

- RayCluster: ``minReplicas`` and ``maxReplicas`` times ``numOfHosts``; the sum of the maxima bounds all workers; idle
  after 60 s. A group's resources are its ``resources``, else ``rayStartParams``, else the first container's limits (or
  requests), cores rounded up.
- cluster YAML: ``max_workers`` is 2 in all, and for each type what it is in all; idle after 5 minutes.
"""

# float: Ray takes time outs as doubles; none of them decides capacity

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Final

from reference.errors import InputWarning
from reference.manifests.document import Field, embedded_json, json_field, yaml_fields
from reference.manifests.files import find_files, format_of, read_text
from reference.manifests.notices import Notices
from reference.manifests.objects import unread
from reference.manifests.quantity import INT64_MAX, QuantityError, parse_quantity
from reference.schedulers.ray.arithmetic import DOUBLES, Amount, Arithmetic
from reference.schedulers.ray.request import Instance, NodeKind, NodeTypeConfig

HEAD: Final = "headgroup"
"""How KubeRay names the type of the head."""
_MOST: Final = 1_000_000
_FINEST: Final = 10_000
_WORKERS: Final = 2
_EXPECTED: Final = "a RayCluster (kind), a cluster YAML (available_node_types) or the JSON of a request"


@dataclass(frozen=True, slots=True)
class RayNodes:
    """What a cluster file says: node types in its order, and the nodes that are there."""

    node_types: dict[str, NodeTypeConfig]
    max_num_nodes: int
    idle_timeout_s: float
    instances: tuple[Instance, ...]
    source: Field


@dataclass(slots=True)
class RayFiles:
    """The documents of some files: at most one cluster, at most one request."""

    cluster: RayNodes | None = None
    request: Field | None = None
    notices: Notices = field(default_factory=Notices)

    @property
    def warnings(self) -> tuple[InputWarning, ...]:
        """What was not looked at or assumed."""
        return self.notices.result()


def read_files(paths: Sequence[Path | str], arithmetic: Arithmetic = DOUBLES) -> RayFiles:
    """Sorts the documents of ``paths``, files and directories. Raises ManifestError for what is neither a cluster nor a
    request, and for a second of either."""
    found = RayFiles()
    for path, _ in find_files(paths):
        text, file = read_text(path), str(path)
        is_json = format_of(path, text) == "json"
        for root in [json_field(text, file)] if is_json else yaml_fields(text, file):
            for each in _items(root):
                _take(each, found, arithmetic)
    return found


def _items(root: Field) -> list[Field]:
    members = root.mapping(_EXPECTED)
    kind = members.get("kind")
    return root.list_of("items") if isinstance(kind, str) and kind.endswith("List") else [root]


def _take(root: Field, found: RayFiles, arithmetic: Arithmetic) -> None:
    members = root.mapping(_EXPECTED)
    reader = _Reader(arithmetic, found.notices)
    if members.get("kind") == "RayCluster" or "available_node_types" in members:
        if found.cluster is not None:
            raise root.error("one cluster", f"a second one (first at {found.cluster.source.location})")
        found.cluster = reader.ray_cluster(root) if "kind" in members else reader.cluster_yaml(root)
    elif "kind" in members:
        found.notices.add(root, f"an object of kind {members['kind']!r} is passed over", "other kind")
    elif found.request is not None:
        raise root.error("one request", f"a second one (first at {found.request.location})")
    else:
        found.request = root


class _Reader:
    def __init__(self, arithmetic: Arithmetic, notices: Notices) -> None:
        self._arithmetic, self._notices = arithmetic, notices

    # KubeRay

    def ray_cluster(self, root: Field) -> RayNodes:
        spec = root.need("spec", "the cluster's spec")
        unread(spec, self._notices, "a RayCluster", "headGroupSpec", "workerGroupSpecs", "autoscalerOptions",
               "enableInTreeAutoscaling", "rayVersion")  # fmt: skip
        if not spec.optional("enableInTreeAutoscaling", Field.boolean, False):
            self._notices.add(spec, "enableInTreeAutoscaling is not on: nobody would ask this scheduler")
        options = spec.get("autoscalerOptions")
        unread(options, self._notices, "autoscalerOptions", "idleTimeoutSeconds", "version")
        idle = float(options.optional("idleTimeoutSeconds", _count, 60)) if options else 60.0
        head = spec.need("headGroupSpec", "the head's group")
        unread(head, self._notices, "headGroupSpec", "rayStartParams", "template", "resources", "labels")
        types = {HEAD: NodeTypeConfig(HEAD, self._resources(head), 1, labels=_labels(head))}
        instances = [self._node(types[HEAD], 0, is_head=True)]
        for group in spec.list_of("workerGroupSpecs"):
            unread(group, self._notices, "a worker group", "groupName", "replicas", "minReplicas", "maxReplicas",
                   "numOfHosts", "idleTimeoutSeconds", "priority", "resources", "labels", "rayStartParams", "template",
                   "suspend")  # fmt: skip
            name = group.need("groupName", "the group's name")
            if name.name() in types:
                raise name.error("each group once", f"the group {name.value!r} a second time")
            if group.optional("suspend", Field.boolean, False):
                self._notices.add(group, "a worker group that is suspended has no nodes", "suspended")
                continue
            hosts = group.optional("numOfHosts", lambda f: f.integer(1, _MOST), 1)
            least = group.optional("minReplicas", _count, 0)
            limit = group.optional("maxReplicas", _at_least(least, "minReplicas"), _MOST // hosts)
            there = group.optional("replicas", _count, least)
            kind = NodeTypeConfig(
                name.name(),
                self._resources(group),
                min(limit * hosts, _MOST),
                min(least * hosts, _MOST),
                _labels(group),
                group.optional("priority", lambda f: f.integer(-INT64_MAX, INT64_MAX), 0),
                group.optional("idleTimeoutSeconds", lambda f: float(_count(f)), None),
            )
            types[kind.name] = kind
            instances += [self._node(kind, number) for number in range(min(there * hosts, _MOST))]
        most = sum(kind.max_workers for kind in types.values() if kind.name != HEAD)
        return RayNodes(types, most + 1, idle, tuple(instances), root)

    def _node(self, kind: NodeTypeConfig, number: int, is_head: bool = False) -> Instance:
        name = "head" if is_head else f"{kind.name}-{number}"
        total = dict(kind.resources)
        role = NodeKind.HEAD if is_head else NodeKind.WORKER
        return Instance(name, kind.name, total=total, available=total, labels=kind.labels, kind=role)

    def _resources(self, group: Field) -> dict[str, Amount]:
        found = self._container(group)
        params = group.get("rayStartParams")
        for key, name in (("num-cpus", "CPU"), ("num-gpus", "GPU"), ("memory", "memory")):
            stated = params.get(key) if params else None
            if stated is not None:
                found[name] = self._quantity(stated)
        custom = params.get("resources") if params else None
        if custom is not None:
            # a JSON object, often in quotes once more, for the shell
            text = custom.string("resources as JSON text")
            inner = embedded_json(custom)
            if isinstance(inner.value, str):
                inner = embedded_json(inner)
            found.update(self._amounts(inner) if text else {})
        stated = group.get("resources")
        if stated is not None:
            found.update((name, self._quantity(each)) for name, each in stated.members())
        return {name: amount for name, amount in found.items() if amount}

    def _container(self, group: Field) -> dict[str, Amount]:
        """What the first container may use."""
        template = group.need("template", "a pod template")
        containers = template.need("spec", "the pods' spec").need("containers", "a list of containers")
        listed = containers.elements()
        if not listed:
            raise containers.error("at least one container")
        resources = listed[0].get("resources")
        merged: dict[str, Field] = {}
        for part in ("requests", "limits"):
            each = resources.get(part) if resources else None
            merged.update(each.members() if each else ())
        found: dict[str, Amount] = {}
        for key, quantity in merged.items():
            name = "CPU" if key == "cpu" else "memory" if key == "memory" else "GPU" if key.endswith("gpu") else None
            if key == "google.com/tpu":
                name = "TPU"
            if name is not None:
                found[name] = self._quantity(quantity, units=1)
        return found

    # The cluster launcher

    def cluster_yaml(self, root: Field) -> RayNodes:
        unread(root, self._notices, "a cluster YAML", "cluster_name", "max_workers", "idle_timeout_minutes",
               "head_node_type", "available_node_types")  # fmt: skip
        workers = root.optional("max_workers", _count, _WORKERS)
        minutes = root.get("idle_timeout_minutes")
        idle = 300.0 if minutes is None else float(self._number(minutes, "minutes, 0 or more")) * 60
        types: dict[str, NodeTypeConfig] = {}
        kinds = root.need("available_node_types", "node types")
        head = root.need("head_node_type", "the name of the head's node type")
        for name, each in kinds.members("a mapping of names to node types"):
            unread(each, self._notices, "a node type", "resources", "min_workers", "max_workers", "idle_timeout_s",
                   "priority", "labels")  # fmt: skip
            is_head = name == head.value
            least = each.optional("min_workers", _count, 0)
            default = max(0 if is_head else workers, least)
            most = each.optional("max_workers", _at_least(least, "min_workers"), default)
            types[name] = NodeTypeConfig(
                name,
                self._amounts(each.need("resources", "a mapping of resources to amounts")),
                most + is_head,
                least,
                each.optional("labels", Field.string_map, {}),
                each.optional("priority", lambda f: f.integer(-INT64_MAX, INT64_MAX), 0),
                each.optional("idle_timeout_s", lambda f: float(self._number(f, "seconds, 0 or more")), None),
            )
        if head.string() not in types:
            raise head.error(f"one of available_node_types ({', '.join(types) or 'there is none'})")
        first = self._node(types[head.string()], 0, is_head=True)
        return RayNodes(types, workers + 1, idle, (first,), root)

    # Amounts

    def _amounts(self, resources: Field) -> dict[str, Amount]:
        return {name: self._counted(each, self._number(each, "0 or more")) for name, each in resources.members()}

    def _number(self, each: Field, expected: str) -> int | Decimal:
        value = each.value
        if (type(value) is not int and not isinstance(value, Decimal)) or not 0 <= value <= INT64_MAX:
            raise each.error(expected)
        return value

    def _quantity(self, each: Field, units: int = _FINEST) -> Amount:
        try:
            return self._counted(each, Decimal(parse_quantity(each.scalar("a quantity"), units)) / units)
        except QuantityError as error:
            raise each.error(error.expected, error.problem) from None

    def _counted(self, each: Field, value: int | Decimal) -> Amount:
        amount = self._arithmetic.amount(value)
        if amount is None:
            raise each.error("at most four decimals")
        return amount


def _labels(group: Field) -> dict[str, str]:
    """The ``labels`` of a group, else those of its rayStartParams, written ``key=value,key=value``."""
    own = group.get("labels")
    if own is not None:
        return own.string_map()
    params = group.get("rayStartParams")
    text = params.get("labels") if params else None
    found: dict[str, str] = {}
    for pair in text.string().split(",") if text and text.string() else ():
        assert text is not None
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise text.error("labels such as zone=a,disk=ssd")
        found[key.strip()] = value.strip()
    return found


def _count(each: Field) -> int:
    return each.integer(0, _MOST)


def _at_least(least: int, what: str) -> Callable[[Field], int]:
    return lambda each: each.integer(least, _MOST, f"a whole number, at least {what} ({least})")

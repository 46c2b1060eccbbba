"""Reads a ``SchedulingRequest`` from JSON: one object, every field of it checked. ::

    {"node_types": {"gpu": {"resources": {"CPU": 8, "GPU": 1}, "max": 4, "min": 0, "labels": {"zone": "a"},
                            "priority": 0, "idle_timeout_s": 60, "launch_config_hash": ""}},
     "max_num_nodes": 10, "idle_timeout_s": 300, "pending_idle_timeout_s": 600, "disable_launch_config_check": true,
     "conserve_gpu_nodes": true,
     "instances": [{"id": "i1", "type": "gpu", "status": "RAY_RUNNING", "total": {"CPU": 8, "GPU": 1},
                    "available": {"CPU": 2}, "idle_ms": 0, "head": false, "labels": {}, "dynamic_labels": {},
                    "launch_config_hash": ""}],
     "requests": [{"resources": {"CPU": 1}, "count": 3, "label_selectors": [[["zone", "in", ["a"]]]]}],
     "gangs": [{"id": "pg1", "strategy": "STRICT_SPREAD", "bundles": [{"CPU": 1}, {"CPU": 1}],
                "bundle_selectors": [null, [[["zone", "not_in", ["b"]]]]]}],
     "constraints": [{"resources": {"CPU": 1}, "count": 3}],
     "recoverable_resource_availabilities": {"gpu": 0.5}, "cloud_resource_availabilities": {"gpu": 0.5}}

Only ``node_types`` with ``resources`` and ``max`` has to be there; what is not known is an error. Amounts are in CPUs,
GPUs and bytes, with fractions. An instance has by default the resources of its type, all of them available. A
condition on a label is ``in`` or ``not_in``, all conditions of a selector have to hold, and of a list of selectors
the first is wanted most.
"""

# float: Ray takes time outs and availabilities as doubles; neither decides capacity

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Final

from reference.manifests.document import Field, json_field
from reference.manifests.files import read_text
from reference.manifests.quantity import INT64_MAX
from reference.manifests.queue_parts import only_keys
from reference.schedulers.ray.arithmetic import DOUBLES, Amount, Arithmetic
from reference.schedulers.ray.request import (
    Counted,
    GangResourceRequest,
    Instance,
    InstanceStatus,
    LabelConstraint,
    LabelSelector,
    NodeKind,
    NodeTypeConfig,
    Operator,
    ResourceRequest,
    SchedulingRequest,
    Strategy,
)

PLACEMENT_GROUP_LABEL: Final = "_PG_"
"""What the label begins with that keeps the bundles of a STRICT_SPREAD group apart; the group's id follows."""

Bundle = tuple[tuple[str, Amount], ...]
_MOST: Final = 1_000_000
"""Nodes, or requests of one kind, beyond which a number is taken for a slip."""


def load(path: Path | str, arithmetic: Arithmetic = DOUBLES) -> SchedulingRequest:
    """The request in a JSON file. Raises ManifestError (an InputError), with place, found and expected."""
    file = Path(path)
    return read_problem(json_field(read_text(file), str(path)), arithmetic)


def read_problem(root: Field, arithmetic: Arithmetic = DOUBLES) -> SchedulingRequest:
    """The request that a document holds. Raises ManifestError; what it gives, ``schedule`` takes."""
    return Reader(arithmetic).problem(root)


class Reader:
    """Reads the parts of a problem; each method raises ManifestError."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic

    def problem(self, root: Field) -> SchedulingRequest:
        """All of it."""
        only_keys(
            root,
            "node_types",
            "instances",
            "requests",
            "gangs",
            "constraints",
            "max_num_nodes",
            "idle_timeout_s",
            "pending_idle_timeout_s",
            "disable_launch_config_check",
            "conserve_gpu_nodes",
            "recoverable_resource_availabilities",
            "cloud_resource_availabilities",
        )
        node_types = self.node_types(root)
        unchecked = root.optional("disable_launch_config_check", Field.boolean, True)
        request = SchedulingRequest(
            node_types=node_types,
            instances=tuple(
                self.instance(field, place, node_types, unchecked)
                for place, field in enumerate(root.list_of("instances"))
            ),
            requests=tuple(self.counted(field) for field in root.list_of("requests")),
            gangs=tuple(self.gang(field, place) for place, field in enumerate(root.list_of("gangs"))),
            constraints=tuple(self.counted(field) for field in root.list_of("constraints")),
            max_num_nodes=root.optional("max_num_nodes", lambda f: f.integer(0, _MOST), None),
            idle_timeout_s=root.optional("idle_timeout_s", seconds, None),
            pending_idle_timeout_s=root.optional("pending_idle_timeout_s", seconds, None),
            disable_launch_config_check=unchecked,
            conserve_gpu_nodes=root.optional("conserve_gpu_nodes", Field.boolean, True),
            recoverable_availabilities=root.optional("recoverable_resource_availabilities", _scores, {}),
            cloud_availabilities=root.optional("cloud_resource_availabilities", _scores, {}),
            arithmetic=self.arithmetic,
        )
        _check(root, request)
        return request

    def node_types(self, root: Field) -> dict[str, NodeTypeConfig]:
        """The member ``node_types``, in its order."""
        named = root.need("node_types", "the node types").members("a mapping of names to node types")
        return {name: self.node_type(name, field) for name, field in named}

    def node_type(self, name: str, field: Field) -> NodeTypeConfig:
        """A worker group."""
        only_keys(field, "resources", "max", "min", "labels", "priority", "idle_timeout_s", "launch_config_hash")
        most = field.need("max", "how many nodes there may be").integer(0, _MOST)
        return NodeTypeConfig(
            name=name,
            resources=dict(self.bundle(field.need("resources", "a mapping of resources to amounts"))),
            max_workers=most,
            min_workers=field.optional("min", lambda f: f.integer(0, most, f"a whole number, at most max ({most})"), 0),
            labels=field.optional("labels", Field.string_map, {}),
            priority=field.optional("priority", lambda f: f.integer(-INT64_MAX, INT64_MAX), 0),
            idle_timeout_s=field.optional("idle_timeout_s", seconds, None),
            launch_config_hash=field.optional("launch_config_hash", Field.string, ""),
        )

    def instance(self, field: Field, place: int, node_types: dict[str, NodeTypeConfig], unchecked: bool) -> Instance:
        """An instance; ``unchecked``: launch configurations are not checked."""
        only_keys(
            field,
            "id",
            "type",
            "status",
            "total",
            "available",
            "idle_ms",
            "head",
            "labels",
            "dynamic_labels",
            "launch_config_hash",
        )
        name = field.need("type", "the name of a node type").name()
        status = field.optional("status", lambda f: f.choice(InstanceStatus), InstanceStatus.RAY_RUNNING)
        is_head = field.optional("head", Field.boolean, False)
        config = node_types.get(name)
        runs = status is InstanceStatus.RAY_RUNNING
        if runs and config is None and (unchecked or is_head):
            raise field.need("type", "").error("one of node_types: Ray's own scheduler ends in a KeyError without it")
        reported_total = field.get("total")
        total = dict(self.bundle(reported_total) if reported_total else ())
        if not total and runs:
            if config is None:
                raise field.need("total", "the node's resources, as its type is gone").error("the node's resources")
            total = dict(config.resources)
        reported = field.get("available")
        available = dict(self.bundle(reported)) if reported else total
        for resource, amount in available.items():
            if runs and resource in total and amount > total[resource] and reported:
                shown = self.arithmetic.shown(total[resource])
                raise reported.need(resource, "").error(f"at most the total, {shown:g}")
        return Instance(
            name=field.optional("id", Field.name, f"i{place}"),
            node_type=name,
            status=status,
            total=total,
            available=available,
            labels=field.optional("labels", Field.string_map, {}),
            dynamic_labels=field.optional("dynamic_labels", Field.string_map, {}),
            idle_ms=field.optional("idle_ms", lambda f: f.integer(0, INT64_MAX), 0),
            kind=NodeKind.HEAD if is_head else NodeKind.WORKER,
            launch_config_hash=field.optional("launch_config_hash", Field.string, ""),
        )

    def counted(self, field: Field) -> Counted:
        """A request and its number."""
        only_keys(field, "resources", "count", "label_selectors")
        return ResourceRequest(
            bundle=self.bundle(field.need("resources", "a mapping of resources to amounts")),
            label_selectors=field.optional("label_selectors", _selectors, ()),
        ), field.optional("count", lambda f: f.integer(0, _MOST), 1)

    def gang(self, field: Field, place: int) -> GangResourceRequest:
        """A placement group; ``place`` names it where it has no name."""
        only_keys(field, "id", "strategy", "bundles", "bundle_selectors")
        name = field.optional("id", Field.name, str(place))
        strategy = field.need("strategy", "a strategy").choice(Strategy)
        bundles = [self.bundle(each) for each in field.need("bundles", "a list of bundles").elements()]
        selectors: list[tuple[LabelSelector, ...]] = [()] * len(bundles)
        if (given := field.get("bundle_selectors")) is not None:
            selectors = [_selectors(each) if each.value is not None else () for each in given.elements()]
            if selectors and len(selectors) != len(bundles):
                raise given.error(f"one for each of the {len(bundles)} bundles", f"a list of {len(selectors)}")
            selectors = selectors or [()] * len(bundles)
        label = PLACEMENT_GROUP_LABEL + name
        packed = label if strategy is Strategy.STRICT_PACK else ""
        spread = label if strategy is Strategy.STRICT_SPREAD else ""
        return GangResourceRequest(
            name,
            strategy,
            tuple(ResourceRequest(b, s, packed, spread) for b, s in zip(bundles, selectors, strict=True)),
        )

    def bundle(self, field: Field) -> Bundle:
        """Resources and amounts, sorted by name."""
        return tuple(sorted((name, self.amount(field.child(name, value))) for name, value in field.mapping().items()))

    def amount(self, field: Field) -> Amount:
        """How much of a resource."""
        value = field.value
        if (type(value) is not int and not isinstance(value, Decimal)) or not 0 <= value <= INT64_MAX:
            raise field.error(f"a number from 0 to {INT64_MAX}")
        amount = self.arithmetic.amount(value)
        if amount is None:
            raise field.error("at most four decimals")
        return amount


def _check(root: Field, request: SchedulingRequest) -> None:
    """What Ray's scheduler asserts, and what names have to be."""
    instances = root.list_of("instances")
    seen: set[str] = set()
    heads = 0
    for field, instance in zip(instances, request.instances, strict=True):
        if instance.name in seen:
            raise field.error("an id of its own", f"the id {instance.name!r} again")
        seen.add(instance.name)
        heads += instance.kind is NodeKind.HEAD
        if heads > 1:
            raise field.error("one head", "a second head")
    gangs: set[str] = set()
    for field, gang in zip(root.list_of("gangs"), request.gangs, strict=True):
        if gang.name in gangs:
            raise field.error("an id of its own", f"the id {gang.name!r} again")
        gangs.add(gang.name)
    spread = {PLACEMENT_GROUP_LABEL + gang.name for gang in request.gangs if gang.strategy is Strategy.STRICT_SPREAD}
    owners = [*instances, *(field for _, field in root.need("node_types", "").members())]
    for labels in (field.get(kind) for field in owners for kind in ("labels", "dynamic_labels")):
        for label, value in labels.string_map().items() if labels else ():
            if labels and label in spread and value:
                expected = "an empty text, which is what Ray marks nodes of a placement group with"
                raise labels.child(label, value).error(expected)


def _selectors(field: Field) -> tuple[LabelSelector, ...]:
    return tuple(tuple(_constraint(each) for each in selector.elements()) for selector in field.elements())


def _constraint(field: Field) -> LabelConstraint:
    expected = 'a condition such as ["zone", "in", ["a", "b"]]'
    parts = field.elements(expected)
    if len(parts) != 3:
        raise field.error(expected, f"a list of {len(parts)}")
    values = tuple(sorted(value.string() for value in parts[2].elements()))
    return LabelConstraint(parts[0].name(), parts[1].choice(Operator), values)


def seconds(field: Field) -> float:
    """A time, 0 or more."""
    return _number(field, "seconds, 0 or more", Decimal(INT64_MAX))


def _scores(field: Field) -> dict[str, float]:
    return {name: _number(each, "a number from 0 to 1", Decimal(1)) for name, each in field.members()}


def _number(field: Field, expected: str, most: Decimal) -> float:
    value = field.value
    if (type(value) is not int and not isinstance(value, Decimal)) or not 0 <= value <= most:
        raise field.error(expected)
    return float(value)

"""The member ``neighbours`` of task groups and running pods in our own JSON, read and written. ::

{"labels": {"app": "db"},
 "affinity": [{"topology_key": "zone", "selector": [{"key": "app", "operator": "In", "values": ["db"]}]}],
 "anti_affinity": [{"topology_key": "kubernetes.io/hostname", "selector": []}],
 "spread": [{"topology_key": "zone", "max_skew": 1, "min_domains": 1, "selector": []}]}
"""

from __future__ import annotations

from typing import Any, Final

from reference.cluster.neighbours import Neighbours, PodAffinityTerm, Selector, SpreadConstraint
from reference.cluster.node import Operator, Requirement
from reference.manifests.document import Field
from reference.manifests.queue_parts import only_keys

_LARGEST: Final = 2**31 - 1


def read_native_neighbours(field: Field) -> Neighbours:
    """The member of an object. Raises ManifestError."""
    only_keys(field, "labels", "affinity", "anti_affinity", "spread")
    labels = field.get("labels")
    return Neighbours(
        tuple(sorted(labels.string_map().items())) if labels else (),
        tuple(_term(each) for each in field.list_of("affinity")),
        tuple(_term(each) for each in field.list_of("anti_affinity")),
        tuple(_spread(each) for each in field.list_of("spread")),
    )


def neighbours_json(neighbours: Neighbours) -> dict[str, Any]:
    """The member that ``read_native_neighbours`` reads back."""

    def term(each: PodAffinityTerm) -> dict[str, Any]:
        return {"topology_key": each.topology_key, "selector": _selector_json(each.selector)}

    return {
        "labels": dict(neighbours.labels),
        "affinity": [term(each) for each in neighbours.affinity],
        "anti_affinity": [term(each) for each in neighbours.anti_affinity],
        "spread": [
            {
                "topology_key": each.topology_key,
                "max_skew": each.max_skew,
                "min_domains": each.min_domains,
                "selector": _selector_json(each.selector),
            }
            for each in neighbours.spread
        ],
    }


def read_native_requirement(field: Field) -> Requirement:
    """One requirement on labels, of nodes or of pods."""
    only_keys(field, "key", "operator", "values")
    operator = field.need("operator", "an operator").choice(Operator)
    values = tuple(value.string() for value in field.list_of("values"))
    return Requirement(field.need("key", "a label").string(), operator, values)


def requirement_json(requirement: Requirement) -> dict[str, Any]:
    """The object that ``read_native_requirement`` reads back."""
    return {"key": requirement.key, "operator": requirement.operator.value, "values": list(requirement.values)}


def _term(field: Field) -> PodAffinityTerm:
    only_keys(field, "topology_key", "selector")
    return PodAffinityTerm(_key(field), _selector(field))


def _spread(field: Field) -> SpreadConstraint:
    only_keys(field, "topology_key", "max_skew", "min_domains", "selector")
    skew = field.need("max_skew", "a whole number, 1 or more").integer(1, _LARGEST)
    return SpreadConstraint(
        _key(field), skew, _selector(field), field.optional("min_domains", lambda f: f.integer(1, _LARGEST), 1)
    )


def _key(field: Field) -> str:
    return field.need("topology_key", "a node label").name("a node label")


def _selector(field: Field) -> Selector:
    listed = field.need("selector", "a list of requirements on labels of pods")
    return tuple(read_native_requirement(each) for each in listed.elements())


def _selector_json(selector: Selector) -> list[dict[str, Any]]:
    return [requirement_json(each) for each in selector]

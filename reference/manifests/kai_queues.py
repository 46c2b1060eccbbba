"""KAI's Queue objects (scheduling.run.ai/v2): the tree that they form.

Of cpu (thousandths of a core), memory (millions of bytes) and gpu (devices) a queue has a ``limit``, its maximum; a
``quota``, which it may claim back; and ``overQuotaWeight``, its share of what is left. -1 is no limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from reference.cluster.node import DEVICE
from reference.cluster.queue import Queue
from reference.cluster.resources import MEMORY, VCORE, Resources
from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name, unread
from reference.manifests.priorities import number
from reference.manifests.quantity import INT64_MAX
from reference.manifests.queue_tree import Declared, NamedQueues, plant
from reference.manifests.queues import ROOT

GROUP: Final = "scheduling.run.ai"
GPU: Final = "nvidia.com/gpu"
UNLIMITED: Final = -1
_UNITS: Final = {"gpu": (GPU, DEVICE), "cpu": (VCORE, 1), "memory": (MEMORY, 10**6)}
_LARGEST_WEIGHT: Final = 2**31 - 1


def read_kai_queues(objects: Iterable[Object], named: Mapping[str, Field], notices: Notices) -> NamedQueues:
    """The tree of ``objects``. ``named`` are the queues that gangs name, each with a place: where there is no Queue
    object at all, each of them is taken as a queue without limits. Raises ManifestError."""
    declared = {name: _declared(each, notices) for name, each in by_name(objects, namespaced=False).items()}
    if not declared:
        for name, place in named.items():
            notices.add(place, f"no Queue is given: {name!r} is taken without limits", f"queue {name}")
            declared[name] = Declared(name, Queue(name), None, place)
    return plant(declared, Queue(ROOT), notices)


def _declared(each: Object, notices: Notices) -> Declared:
    spec = each.spec
    unread(spec, notices, "a KAI Queue", "displayName", "parentQueue", "resources", "priority")
    parent = spec.get("parentQueue")
    maximum, deserved = dict[str, int](), dict[str, int]()
    weights: dict[str, int] = {}
    resources = spec.get("resources")
    for kind, field in resources.members() if resources else ():
        if kind not in _UNITS:
            raise field.error(f"one of {', '.join(sorted(_UNITS))}", repr(kind), of_key=True)
        unread(field, notices, "a KAI Queue's resources", "quota", "limit", "overQuotaWeight")
        name, unit = _UNITS[kind]
        if (most := _amount(field.get("limit"), unit)) is not None:
            maximum[name] = most
        if (own := _amount(field.get("quota"), unit)) is not None:
            deserved[name] = own
        weights[kind] = _weight(field.get("overQuotaWeight"), notices)
    for name, most in maximum.items():
        if deserved.get(name, 0) > most:
            raise spec.need("resources", "").error("no quota above the limit", f"a quota of {name} above its limit")
    weight = next((weights[kind] for kind in _UNITS if kind in weights), 1)
    if len(set(weights.values())) > 1 and resources is not None:
        text = f"overQuotaWeight differs by resource: {weight} is taken for all"
        notices.add(resources, text, "weights by resource")
    return Declared(
        each.name,
        Queue(
            each.name,
            Resources(maximum),
            deserved=Resources(deserved),
            weight=weight,
            priority=spec.optional("priority", number, 0),
        ),
        parent.string() if parent and parent.value else None,
        each.field,
        parent,
    )


def _amount(field: Field | None, unit: int) -> int | None:
    """In base units; None for no limit."""
    if field is None or field.value == UNLIMITED:
        return None
    value = field.value
    expected = "a number, 0 or more, or -1 for no limit"
    if (type(value) is not int and not isinstance(value, Decimal)) or not 0 <= value * unit <= INT64_MAX:
        raise field.error(expected)
    amount = Decimal(value) * unit
    if amount != int(amount):
        raise field.error(f"{expected}; of it {unit} make a whole" if unit > 1 else "a whole number")
    return int(amount)


def _weight(field: Field | None, notices: Notices) -> int:
    if field is None:
        return 1
    value = field.value
    if (type(value) is not int and not isinstance(value, Decimal)) or not 0 <= value <= _LARGEST_WEIGHT:
        raise field.error("a weight, 0 or more")
    if value != int(value):
        notices.add(field, f"the weight {value} is rounded down", "broken weight")
    return int(value)

"""Volcano's Queue objects (scheduling.volcano.sh/v1beta1): the tree that they form.

A queue without a parent is below ``root``; ``default`` is always there. ``capability`` is the maximum, ``guarantee``
what it is served first and what the others below the same capability never use, ``deserved`` what it may claim back
(capacity plugin), ``weight`` its share of what is contended (proportion).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from reference.cluster.queue import Queue
from reference.manifests.amounts import kubernetes_resources
from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name, unread
from reference.manifests.priorities import number
from reference.manifests.queue_tree import Declared, NamedQueues, plant
from reference.manifests.queues import ROOT

GROUP: Final = "scheduling.volcano.sh"
DEFAULT: Final = "default"
_LARGEST_WEIGHT: Final = 2**31 - 1


def read_queues(objects: Iterable[Object], named: Mapping[str, Object], notices: Notices, source: Field) -> NamedQueues:
    """The tree of ``objects``. ``named`` are the queues that gangs name, each with one that does: where there is no
    Queue object at all, each of them is taken as a queue without limits. ``source`` is any object of Volcano's."""
    declared: dict[str, Declared] = {}
    root = Queue(ROOT)
    for name, each in by_name(objects, namespaced=False).items():
        found = _declared(each, notices)
        if name == ROOT:
            root = found.settings
        else:
            declared[name] = found
    if not declared:
        for name, gang in named.items():
            if name not in (ROOT, DEFAULT):
                notices.add(gang.field, f"no Queue is given: {name!r} is taken without limits", f"queue {name}")
                declared[name] = Declared(name, Queue(name), None, gang.field)
    if DEFAULT not in declared:
        declared[DEFAULT] = Declared(DEFAULT, Queue(DEFAULT), None, source)
    return plant(declared, root, notices)


def _declared(each: Object, notices: Notices) -> Declared:
    spec = each.spec
    unread(
        spec, notices, "a Queue",
        "weight", "capability", "deserved", "guarantee", "reclaimable", "priority", "parent",
    )  # fmt: skip
    guarantee = spec.get("guarantee")
    reserved = kubernetes_resources(guarantee.get("resource") if guarantee else None)
    parent = spec.get("parent")
    above = parent.string() if parent else ROOT
    state = each.status.get("state")
    if state is not None and state.value in ("Closed", "Closing"):
        notices.add(state, "a queue that is closed is taken as open", "closed queue")
    weight = spec.get("weight")
    settings = Queue(
        each.name,
        maximum=kubernetes_resources(spec.get("capability")),
        guaranteed=reserved,
        weight=1 if weight is None else weight.integer(1, _LARGEST_WEIGHT, "a whole number, 1 or more"),
        deserved=kubernetes_resources(spec.get("deserved")),
        reserved=reserved,
        priority=spec.optional("priority", number, 0),
        reclaimable=spec.optional("reclaimable", lambda f: f.boolean(), True),
    )
    if not settings.deserved.fits_in_limit(settings.maximum):
        place = spec.need("deserved", "amounts")
        raise place.error("no more than its capability", "more than the queue's capability")
    return Declared(each.name, settings, None if above in ("", ROOT) else above, each.field, parent)

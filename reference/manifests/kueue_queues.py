"""Kueue's queues (kueue.x-k8s.io): Cohort, ClusterQueue, LocalQueue and ResourceFlavor.

A ClusterQueue is a leaf below its Cohort. It may use its nominalQuota and what it may borrow; what it does not lend is
reserved for it; the nominalQuota is what it deserves. A Cohort has the quotas of all below it and its own. Quotas are
by flavor; amounts here have no flavor, so those of several are added up, while a single flavor also says on which nodes
its pods run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from reference.cluster.node import ANYWHERE, Constraints
from reference.cluster.queue import Queue
from reference.cluster.resources import Resources
from reference.errors import sample
from reference.manifests.amounts import amount_of
from reference.manifests.constraints import read_toleration
from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name, unread
from reference.manifests.quantity import QuantityError, base_name, parse_quantity
from reference.manifests.queue_tree import Declared, NamedQueues, plant
from reference.manifests.queues import ROOT

GROUP: Final = "kueue.x-k8s.io"
_COHORT: Final = "cohort "
"""What the key of a Cohort begins with, so that a ClusterQueue may have its name."""


@dataclass(frozen=True, slots=True)
class Flavor:
    """What a ResourceFlavor adds to the pods that use it, and the name of the Topology of its nodes."""

    constraints: Constraints = ANYWHERE
    topology: str | None = None


@dataclass(slots=True)
class Quotas:
    """By resource, sums over flavors: the nominal quota, what may be borrowed and lent (absent: anything)."""

    nominal: dict[str, int] = field(default_factory=dict)
    borrow: dict[str, int] = field(default_factory=dict)
    lend: dict[str, int] = field(default_factory=dict)
    flavors: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True)
class KueueQueues:
    """The tree, and what the queue of a workload means for it. ``quotas`` are by ClusterQueue."""

    queues: NamedQueues
    quotas: Mapping[str, Quotas]
    flavors: Mapping[str, Flavor]
    local: Mapping[str, Field]

    def cluster_queue(self, name: Field, namespace: str) -> str:
        """The ClusterQueue that a LocalQueue of that name leads to. Raises ManifestError."""
        target = self.local.get(f"{namespace}/{name.string()}")
        if target is None:
            found = f"the LocalQueue {namespace}/{name.value}, which does not exist"
            raise name.error(f"a LocalQueue ({sample(sorted(self.local)) or 'there is none'})", found)
        if target.string() not in self.quotas:
            found = f"the ClusterQueue {target.value!r}, which does not exist"
            raise target.error(f"a ClusterQueue ({sample(sorted(self.quotas)) or 'there is none'})", found)
        return target.string()

    def flavor_of(self, cluster_queue: str, request: Resources) -> Flavor:
        """What the one flavor that these pods can get adds to them; of several, only a topology common to all."""
        lists = self.quotas[cluster_queue].flavors
        names = {each for name in request if name in lists for each in lists[name]}
        if len(names) == 1:
            return self.flavors.get(names.pop(), Flavor())
        topologies = {self.flavors.get(each, Flavor()).topology for each in names}
        return Flavor(topology=topologies.pop()) if len(topologies) == 1 else Flavor()


def read_kueue_queues(
    cohorts: Iterable[Object],
    cluster_queues: Iterable[Object],
    local_queues: Iterable[Object],
    flavors: Iterable[Object],
    notices: Notices,
) -> KueueQueues:
    """Everything that says who may use how much. Raises ManifestError."""
    known = {name: _flavor(each, notices) for name, each in by_name(flavors, namespaced=False).items()}
    leaves, groups = by_name(cluster_queues, namespaced=False), by_name(cohorts, namespaced=False)
    quotas: dict[str, Quotas] = {}
    declared: dict[str, Declared] = {}
    specs: dict[str, Field] = {}
    for name, each in leaves.items():
        unread(each.spec, notices, "a ClusterQueue", "cohort", "cohortName", "resourceGroups", "fairSharing")
        above = each.spec.get("cohortName") or each.spec.get("cohort")
        _declare(declared, name, each, above, Queue(name), set(leaves))
        quotas[name], specs[name] = _quotas(each.spec, known, notices), each.spec
    for name, each in groups.items():
        unread(each.spec, notices, "a Cohort", "parent", "parentName", "resourceGroups", "fairSharing")
        above = each.spec.get("parentName") or each.spec.get("parent")
        _declare(declared, _COHORT + name, each, above, Queue(name, is_parent=True), set(leaves))
        quotas[_COHORT + name], specs[_COHORT + name] = _quotas(each.spec, known, notices), each.spec
    weights = _weights({key: specs.get(key) for key in declared})
    for key, node in declared.items():
        node.settings = replace(node.settings, weight=weights[key])
    plant(declared, Queue(ROOT), notices)  # refuses what is no tree, before anyone walks down it
    _Limits(declared, quotas).apply()
    places: dict[str, Field] = {}
    for full, each in by_name(local_queues).items():
        unread(each.spec, notices, "a LocalQueue", "clusterQueue")
        places[full] = each.spec.need("clusterQueue", "the name of a ClusterQueue")
    planted = plant(declared, Queue(ROOT), notices)
    return KueueQueues(planted, {name: quotas[name] for name in leaves}, known, places)


def _declare(
    declared: dict[str, Declared], key: str, each: Object, above: Field | None, settings: Queue, leaves: set[str]
) -> None:
    """Enters a queue, and the Cohort above it, which is there as soon as one names it."""

    def shown(cohort: str) -> str:
        return f"{cohort}_cohort" if cohort in leaves else cohort

    parent = above.string() if above else ""
    name = shown(each.name) if settings.is_parent else each.name
    declared[key] = Declared(name, settings, _COHORT + parent if parent else None, each.field, above)
    if parent:
        cohort = Declared(shown(parent), Queue(parent, is_parent=True), None, each.field)
        declared.setdefault(_COHORT + parent, cohort)


def _flavor(each: Object, notices: Notices) -> Flavor:
    spec = each.spec
    unread(spec, notices, "a ResourceFlavor", "nodeLabels", "tolerations", "topologyName")
    labels, topology = spec.get("nodeLabels"), spec.get("topologyName")
    return Flavor(
        Constraints(
            node_selector=tuple(sorted(labels.string_map().items())) if labels else (),
            tolerations=tuple(read_toleration(each) for each in spec.list_of("tolerations")),
        ),
        topology.string() if topology else None,
    )


def _quotas(spec: Field, flavors: Mapping[str, Flavor], notices: Notices) -> Quotas:
    found = Quotas()
    unlimited: set[str] = set()
    limited: set[str] = set()
    for group in spec.list_of("resourceGroups"):
        unread(group, notices, "resourceGroups", "coveredResources", "flavors")
        covered = {each.name() for each in group.list_of("coveredResources")}
        for flavor in group.list_of("flavors"):
            name = flavor.need("name", "the name of a ResourceFlavor")
            if name.name() not in flavors:
                notices.add(name, f"the ResourceFlavor {name.value!r} is not given", f"flavor {name.value}")
            for quota in flavor.list_of("resources"):
                unread(quota, notices, "a quota", "name", "nominalQuota", "borrowingLimit", "lendingLimit")
                resource = quota.need("name", "a resource")
                if covered and resource.name() not in covered:
                    raise resource.error(f"one of the coveredResources ({', '.join(sorted(covered))})")
                key = base_name(resource.name())
                listed = found.flavors.setdefault(key, [])
                if name.name() in listed:
                    raise resource.error("each resource once for a flavor", f"{key} of {name.value!r} a second time")
                listed.append(name.name())
                if len(listed) == 2:
                    text = f"quotas of several flavors are added up: {key}"
                    notices.add(name, text, "flavors added up")
                amounts = {each: quota.get(each) for each in ("nominalQuota", "borrowingLimit", "lendingLimit")}
                nominal, borrow, lend = (amount_of(f, resource.name()) if f else None for f in amounts.values())
                found.nominal[key] = found.nominal.get(key, 0) + (nominal or 0)
                if borrow is None:
                    unlimited.add(key)
                else:
                    found.borrow[key] = found.borrow.get(key, 0) + borrow
                limited |= {key} if lend is not None else set()
                found.lend[key] = found.lend.get(key, 0) + ((nominal or 0) if lend is None else lend)
    found.lend = {key: amount for key, amount in found.lend.items() if key in limited}
    found.borrow = {key: amount for key, amount in found.borrow.items() if key not in unlimited}
    return found


@dataclass(slots=True)
class _Limits:
    """Turns quotas into maxima and reserved amounts, from the leaves up."""

    declared: dict[str, Declared]
    quotas: Mapping[str, Quotas]

    def apply(self) -> None:
        for key, each in self.declared.items():
            if each.parent is None:
                self._limit(key)

    def _limit(self, key: str) -> tuple[dict[str, int], dict[str, int]]:
        """Sets the limits of a queue and all below it; returns its quota with those below, and what it reserves."""
        node, own = self.declared[key], self.quotas.get(key, Quotas())
        quota, kept = dict(own.nominal), dict[str, int]()
        for child, below in self.declared.items():
            if below.parent == key:
                inner, inner_kept = self._limit(child)
                _add(quota, inner)
                _add(kept, inner_kept)
        # what it lends is of its quota less what queues below keep already
        _add(kept, {name: max(quota[name] - kept.get(name, 0) - lent, 0) for name, lent in own.lend.items()})
        borrowed = {name: quota.get(name, 0) + more for name, more in own.borrow.items()}
        node.settings = replace(
            node.settings,
            maximum=Resources(quota if node.parent is None else borrowed),
            deserved=Resources(own.nominal),
            reserved=Resources(kept),
        )
        return quota, kept


def _add(sums: dict[str, int], more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        sums[name] = sums.get(name, 0) + amount


def _weights(specs: Mapping[str, Field | None]) -> dict[str, int]:
    """Fair sharing weights as whole numbers in the ratio that they are written in; 1 where none is written."""
    thousandths: dict[str, int] = {}
    for key, spec in specs.items():
        sharing = spec.get("fairSharing") if spec else None
        weight = sharing.get("weight") if sharing else None
        try:
            thousandths[key] = parse_quantity(weight.scalar("a weight such as 1 or 500m"), 1000) if weight else 1000
        except QuantityError as error:
            assert weight is not None
            raise weight.error(error.expected, error.problem) from None
    if all(weight % 1000 == 0 for weight in thousandths.values()):
        return {key: weight // 1000 for key, weight in thousandths.items()}
    return thousandths

"""Whose cluster it is: which system's queues are there, and its gangs read into them.

One input has the queues of one system: YuniKorn (queues.yaml), Volcano (Queue), Kueue (ClusterQueue), KAI (Queue)
or capacity scheduling (ElasticQuota). Where there are none, everything shares ``root.default``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from reference.cluster.node_type import NodeType
from reference.cluster.queue import Queue, QueueTree
from reference.cluster.topology import Topology
from reference.manifests.applications import Workload
from reference.manifests.collect import VOLCANO_JOB, Collection
from reference.manifests.document import Field
from reference.manifests.elastic_quotas import read_quotas
from reference.manifests.gangs import Gangs, Shape
from reference.manifests.hypernodes import GROUP as HYPERNODES
from reference.manifests.hypernodes import HyperNodes, read_hypernodes
from reference.manifests.kai import TOPOLOGY_GROUP, KaiGangs
from reference.manifests.kai import queue_field as kai_queue
from reference.manifests.kai_queues import GROUP as KAI
from reference.manifests.kai_queues import read_kai_queues
from reference.manifests.kueue import QUEUE_NAME as KUEUE_QUEUE
from reference.manifests.kueue import KueueGangs, read_topologies
from reference.manifests.kueue_queues import GROUP as KUEUE
from reference.manifests.kueue_queues import read_kueue_queues
from reference.manifests.objects import Object
from reference.manifests.pod_groups import COSCHEDULING, PodGroups
from reference.manifests.pod_groups import GROUP as KUBERNETES
from reference.manifests.priorities import Priorities
from reference.manifests.queue_source import find_queues
from reference.manifests.queue_tree import NamedQueues, without_use_of
from reference.manifests.queues import DEFAULT_QUEUE, QueueConfig
from reference.manifests.raycluster import GROUP as RAY
from reference.manifests.raycluster import RayClusters
from reference.manifests.volcano import VolcanoGangs, queue_field
from reference.manifests.volcano_queues import GROUP as VOLCANO
from reference.manifests.volcano_queues import read_queues
from reference.manifests.yunikorn_dump import read_dump_applications, read_dump_queues

YUNIKORN: Final = "YuniKorn"
VOLCANO_QUEUE: Final = "volcano.sh/queue-name"
UNMANAGED: Final = "root.unmanaged"


@dataclass(frozen=True, slots=True)
class Systems:
    """The queues, and the numbers of pods that belong to gangs already read; what nodes are arranged in."""

    queues: QueueConfig
    claimed: frozenset[int]
    topologies: tuple[Topology, ...] = ()
    node_types: tuple[NodeType, ...] = ()


def read_systems(collection: Collection, workload: Workload) -> Systems:
    """Reads the queues, and every gang that is not YuniKorn's into ``workload``. Raises ManifestError."""
    return _Reader(collection, workload).run()


class _Reader:
    def __init__(self, collection: Collection, workload: Workload) -> None:
        self.collection = collection
        self.notices = collection.notices
        classes = (("scheduling.k8s.io", "PriorityClass"), (KUEUE, "WorkloadPriorityClass"))
        self.priorities = Priorities([collection.of(*kind) for kind in classes], self.notices)
        self.gangs = Gangs(collection.nodes, self.notices, workload)
        self.claimed: set[int] = set()
        self.topologies: tuple[Topology, ...] = ()
        self.hypernodes = HyperNodes()
        self.kueue: KueueGangs | None = None
        self.named: NamedQueues | None = None
        self.unmanaged = DEFAULT_QUEUE
        self.quotas: Mapping[str, str] = {}

    def run(self) -> Systems:
        c = self.collection
        self.hypernodes = read_hypernodes(c.of(HYPERNODES, "HyperNode"), c.nodes, self.notices)
        c.nodes = {name: self.hypernodes.labelled(node) for name, node in c.nodes.items()}
        named = (
            each for group in (KUEUE, TOPOLOGY_GROUP) for each in read_topologies(c.of(group, "Topology"), self.notices)
        )
        self.topologies = (*self.hypernodes.topology(), *named)
        queues = self._ray_clusters(self._pod_groups(self._queues()))
        if c.dump:
            read_dump_applications(c.dump, queues.tree, c.nodes, self.notices, self.gangs.result)
        return Systems(queues, frozenset(self.claimed), self.topologies)

    def _queues(self) -> QueueConfig:
        c = self.collection
        volcano = sorted([*c.of(VOLCANO, "Queue", "PodGroup"), *c.of(*VOLCANO_JOB)], key=lambda each: each.number)
        kueue = c.of(KUEUE, "ClusterQueue", "LocalQueue", "Cohort", "Workload")
        kai = c.of(KAI, "Queue", "PodGroup")
        families: dict[str, Field] = {}
        for system, sources in (
            (YUNIKORN, [*c.configs, *c.config_maps, *([c.dump.source] if c.dump else [])]),
            ("Volcano", [each.field for each in volcano]),
            ("Kueue", [each.field for each in kueue]),
            ("KAI", [each.field for each in kai]),
            ("capacity scheduling", [each.field for each in c.of(COSCHEDULING, "ElasticQuota")]),
        ):
            if sources:
                families[system] = sources[0]
        if len(families) > 1:
            (first, place), (second, other) = list(families.items())[:2]
            raise other.error("one system's queues and gangs", f"{second}'s beside {first}'s (at {place.location})")
        if c.dump:
            if c.configs or c.config_maps:
                text = "queues.yaml is passed over: the answer of the running YuniKorn has its queues"
                self.notices.add((c.configs or c.config_maps)[0], text)
            return read_dump_queues(c.dump)
        if "Volcano" in families:
            return QueueConfig(self._volcano(volcano).tree)
        if "Kueue" in families:
            return QueueConfig(self._kueue())
        if "KAI" in families:
            return QueueConfig(self._kai())
        if "capacity scheduling" in families:
            tree, self.quotas = read_quotas(c.of(COSCHEDULING, "ElasticQuota"), self.notices)
            return QueueConfig(tree)
        return find_queues(c.configs, c.config_maps, self.notices)

    def _pod_groups(self, queues: QueueConfig) -> QueueConfig:
        c = self.collection
        workloads, composites = c.of(KUBERNETES, "Workload"), c.of(KUBERNETES, "CompositePodGroup")
        pod_groups = [*c.of(KUBERNETES, "PodGroup"), *c.of(COSCHEDULING, "PodGroup")]
        if not (workloads or composites or pod_groups):
            return queues
        queues, leaf = self._leaf(queues)
        reader = PodGroups(
            self.gangs, lambda namespace: self.quotas.get(namespace, leaf), self.priorities, self.notices
        )
        self.claimed |= reader.read(workloads, pod_groups, composites, c.pods, c.templates)
        return queues

    def _leaf(self, queues: QueueConfig) -> tuple[QueueConfig, str]:
        """Where gangs run that no queue manages: ``root.default`` or, where that is no leaf, a queue of their own."""
        default = queues.tree.find(DEFAULT_QUEUE)
        if default is not None and default.is_leaf:
            return queues, DEFAULT_QUEUE
        if queues.tree.find(UNMANAGED) is None:
            self.notices.add_general(f"gangs that no queue manages are in {UNMANAGED}, without limits")
            root = queues.tree.root
            tree = QueueTree(replace(root, children=(*root.children, Queue(UNMANAGED)), is_parent=True))
            queues = QueueConfig(tree, queues.node_sort_policy)
        return queues, UNMANAGED

    def _volcano(self, objects: list[Object]) -> NamedQueues:
        c = self.collection
        gangs = [each for each in objects if each.kind != "Queue"]
        named = {field.string(): each for each in gangs if (field := queue_field(each)) is not None}
        queues = read_queues(c.of(VOLCANO, "Queue"), named, self.notices, objects[0].field)
        reader = VolcanoGangs(self.gangs, queues, self.hypernodes, self.priorities, self.notices)
        self.claimed |= reader.read(c.of(*VOLCANO_JOB), c.of(VOLCANO, "PodGroup"), c.pods, c.templates)
        self.named = queues
        return queues

    def _kai(self) -> QueueTree:
        c = self.collection
        groups = c.of(KAI, "PodGroup")
        named = {place.string(): place for each in groups if (place := kai_queue(each)) is not None}
        queues = read_kai_queues(c.of(KAI, "Queue"), named, self.notices)
        reader = KaiGangs(self.gangs, queues, self.topologies, self.priorities, self.notices)
        self.claimed |= reader.read(groups, c.pods, c.templates)
        return queues.tree

    def _kueue(self) -> QueueTree:
        c = self.collection
        queues = read_kueue_queues(
            c.of(KUEUE, "Cohort"),
            c.of(KUEUE, "ClusterQueue"),
            c.of(KUEUE, "LocalQueue"),
            c.of(KUEUE, "ResourceFlavor"),
            self.notices,
        )
        reader = KueueGangs(self.gangs, queues, self.topologies, self.priorities, self.notices)
        self.claimed |= reader.read(c.of(KUEUE, "Workload"), c.templates, c.pods)
        self.kueue, self.named = reader, queues.queues
        return queues.queues.tree

    def _without_quota(self, tree: QueueTree) -> QueueTree:
        """What gangs ask of a ClusterQueue that has no quota of it, it may not use."""
        if self.kueue is None:
            return tree
        paths = self.kueue.queues.queues.paths
        nothing = {paths[name]: missing for name, missing in self.kueue.uncovered.items() if missing}
        for name, missing in sorted(nothing.items()):
            self.notices.add_general(f"queue {name} has no quota of {', '.join(sorted(missing))}: nothing may use it")
        return QueueTree(without_use_of(tree.root, nothing))

    def _ray_clusters(self, queues: QueueConfig) -> QueueConfig:
        c = self.collection
        clusters = c.of(RAY, "RayCluster")
        if any(self._label(each) is None for each in clusters):
            queues, self.unmanaged = self._leaf(queues)
        if clusters:
            covered = self.kueue.covered if self.kueue else set()
            reader = RayClusters(self.gangs, self._place, self.priorities, self.notices)
            self.claimed |= reader.read(clusters, c.pods, covered)
        return replace(queues, tree=self._without_quota(queues.tree))

    def _label(self, each: Object) -> Field | None:
        """Where a workload names a queue of the system whose queues are given."""
        if self.kueue is not None:
            return each.labels().get(KUEUE_QUEUE)
        return each.labels().get(VOLCANO_QUEUE) if self.named is not None else None

    def _place(self, each: Object, shape: Shape) -> tuple[str, Shape]:
        label = self._label(each)
        if label is None:
            return self.quotas.get(each.namespace, self.unmanaged), shape
        if self.kueue is not None:
            queue = self.kueue.queues.cluster_queue(label, each.namespace)
            return self.kueue.queues.queues.paths[queue], shape.at(
                self.kueue.flavored(queue, shape.request).constraints
            )
        assert self.named is not None
        return self.named.leaf(label), shape

"""Whose cluster it is: which system's queues are there, and its gangs read into them.

One input has the queues of one system: YuniKorn (queues.yaml), Volcano (Queue) or Kueue (ClusterQueue). Where there are
none, everything shares ``root.default``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from reference.cluster.node_type import NodeType
from reference.cluster.queue import Queue, QueueTree
from reference.cluster.topology import Topology
from reference.manifests.applications import Workload
from reference.manifests.collect import VOLCANO_JOB, Collection
from reference.manifests.document import Field
from reference.manifests.gangs import Gangs
from reference.manifests.hypernodes import GROUP as HYPERNODES
from reference.manifests.hypernodes import HyperNodes, read_hypernodes
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
from reference.manifests.volcano import VolcanoGangs, queue_field
from reference.manifests.volcano_queues import GROUP as VOLCANO
from reference.manifests.volcano_queues import read_queues

YUNIKORN: Final = "YuniKorn"
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

    def run(self) -> Systems:
        c = self.collection
        self.hypernodes = read_hypernodes(c.of(HYPERNODES, "HyperNode"), c.nodes, self.notices)
        c.nodes = {name: self.hypernodes.labelled(node) for name, node in c.nodes.items()}
        self.topologies = (*self.hypernodes.topology(), *read_topologies(c.of(KUEUE, "Topology"), self.notices))
        queues = self._pod_groups(self._queues())
        return Systems(queues, frozenset(self.claimed), self.topologies)

    def _queues(self) -> QueueConfig:
        c = self.collection
        volcano = sorted([*c.of(VOLCANO, "Queue", "PodGroup"), *c.of(*VOLCANO_JOB)], key=lambda each: each.number)
        kueue = c.of(KUEUE, "ClusterQueue", "LocalQueue", "Cohort", "Workload")
        families: dict[str, Field] = {}
        for system, sources in (
            (YUNIKORN, [*c.configs, *c.config_maps]),
            ("Volcano", [each.field for each in volcano]),
            ("Kueue", [each.field for each in kueue]),
        ):
            if sources:
                families[system] = sources[0]
        if len(families) > 1:
            (first, place), (second, other) = list(families.items())[:2]
            raise other.error("one system's queues and gangs", f"{second}'s beside {first}'s (at {place.location})")
        if "Volcano" in families:
            return QueueConfig(self._volcano(volcano).tree)
        if "Kueue" in families:
            return QueueConfig(self._kueue())
        return find_queues(c.configs, c.config_maps, self.notices)

    def _pod_groups(self, queues: QueueConfig) -> QueueConfig:
        c = self.collection
        workloads, composites = c.of(KUBERNETES, "Workload"), c.of(KUBERNETES, "CompositePodGroup")
        pod_groups = [*c.of(KUBERNETES, "PodGroup"), *c.of(COSCHEDULING, "PodGroup")]
        if not (workloads or composites or pod_groups):
            return queues
        queues, leaf = self._leaf(queues)
        reader = PodGroups(self.gangs, leaf, self.priorities, self.notices)
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
        return queues

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
        nothing = {queues.queues.paths[name]: missing for name, missing in reader.uncovered.items() if missing}
        for name, missing in sorted(nothing.items()):
            self.notices.add_general(f"queue {name} has no quota of {', '.join(sorted(missing))}: nothing may use it")
        return QueueTree(without_use_of(queues.queues.tree.root, nothing))

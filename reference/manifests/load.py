"""The front door: users' files in, a ``Cluster`` and warnings out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reference.cluster.cluster import Cluster
from reference.cluster.gang import Application
from reference.cluster.resources import Resources, total
from reference.errors import InputWarning
from reference.manifests.applications import Workload, assemble, refuse_repeats
from reference.manifests.collect import Collection
from reference.manifests.document import ManifestError
from reference.manifests.files import find_files
from reference.manifests.native import note_places
from reference.manifests.notices import Place, PlaceOf
from reference.manifests.openb import Table, choose, read_gangs, read_nodes
from reference.manifests.queues import DEFAULT_QUEUE, QueueConfig
from reference.manifests.systems import read_systems


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What the files say.

    ``warnings`` are what was dropped or assumed, in reading order; ``sources`` the files that were read;
    ``node_sort_policy`` the partition's order of nodes, ``fair`` or ``binpacking``; ``places`` where queues and gangs
    stand, as far as their files say.
    """

    cluster: Cluster
    warnings: tuple[InputWarning, ...] = ()
    sources: tuple[str, ...] = ()
    node_sort_policy: str = "fair"
    places: Mapping[tuple[PlaceOf, str], Place] = field(default_factory=dict)


def load(
    paths: Sequence[Path | str] | Path | str,
    *,
    require_applications: bool = True,
    require_nodes: bool = True,
    gang_seed: int = 1,
    shared_gpus: bool = False,
) -> LoadResult:
    """Reads files and directories into one cluster.

    ``paths`` may mix ``kubectl get -o json|yaml`` output, queues.yaml (bare or in its ConfigMap) and openb tables, or
    name one native file. ``gang_seed`` is for openb, which has no gangs, and so is ``shared_gpus``: whether its pods
    that share a GPU do, or take a whole one. With ``require_applications``, a cluster in which no gang waits is an
    error; with ``require_nodes``, so is one without nodes. Raises ManifestError (an InputError) with place and reason
    for whatever cannot be used. Applications are numbered (``submitted``) by creationTimestamp, then in file order.
    """
    files = find_files([paths] if isinstance(paths, (str, Path)) else list(paths))
    collection = Collection()
    for path, is_named in files:
        collection.add_file(path, is_named)
    first = str(files[0][0])
    node_table = choose([t for t in collection.tables if t.is_nodes], "gpu_node", collection.notices)
    pod_table = choose([t for t in collection.tables if not t.is_nodes], "default", collection.notices)
    cluster, policy = _native(collection) or _assembled(collection, node_table, pod_table, gang_seed, shared_gpus)
    if require_nodes and not cluster.nodes:
        raise ManifestError("no node", "at least one Node, such as kubectl get nodes -o yaml prints them", first)
    if require_applications and not cluster.applications:
        expected = "at least one waiting pod with an application id, or with task groups"
        raise ManifestError("no waiting application", expected, first)
    _check(cluster, collection, first)
    unread = {t.file for t in collection.tables if t is not node_table and t is not pod_table}
    sources = tuple(str(path) for path, _ in files if str(path) not in unread)
    notices = collection.notices
    return LoadResult(cluster, notices.result(), sources, policy, notices.places())


def _native(collection: Collection) -> tuple[Cluster, str] | None:
    if collection.native is None:
        return None
    root, cluster = collection.native
    others = [
        *(pod.source for pod in collection.pods),
        *collection.configs,
        *collection.config_maps,
        *([collection.dump.source] if collection.dump else ()),
        *(each.field for objects in collection.objects.values() for each in objects),
        *(source for source in collection.node_fields.values() if source.document is not root.document),
    ]
    files = [each.document.file for each in others] + [table.file for table in collection.tables]
    if files:
        raise root.error("it alone: it describes a whole cluster", f"a native cluster beside {files[0]}")
    note_places(root, collection.notices)
    return cluster, "fair"


def _assembled(
    collection: Collection, node_table: Table | None, pod_table: Table | None, gang_seed: int, shared_gpus: bool
) -> tuple[Cluster, str]:
    for node, row in read_nodes(node_table, shared_gpus) if node_table else ():
        collection.add_node(node, row)
    refuse_repeats(collection.pods)
    workload = Workload()
    systems = read_systems(collection, workload)
    queues = systems.queues
    pods = [pod for pod in collection.pods if pod.number not in systems.claimed]
    assemble(pods, collection.nodes, queues.tree, collection.notices, workload)
    applications = workload.applications(collection.notices)
    if pod_table:
        gangs = _gangs(pod_table, queues, gang_seed, shared_gpus, collection)
        applications += [replace(gang, submitted=gang.submitted + len(applications)) for gang in gangs]
    nodes = (
        replace(node, occupied=workload.occupied[node.name]) if node.name in workload.occupied else node
        for node in collection.nodes.values()
    )
    running = tuple(workload.running)
    cluster = Cluster(tuple(nodes), queues.tree, tuple(applications), running, systems.node_types, systems.topologies)
    return cluster, queues.node_sort_policy


def _gangs(
    table: Table, queues: QueueConfig, seed: int, shared_gpus: bool, collection: Collection
) -> list[Application]:
    queue = queues.tree.find(DEFAULT_QUEUE)
    if queue is None or not queue.is_leaf:
        raise ManifestError("pods without a queue", f"a leaf queue {DEFAULT_QUEUE} for them", table.file)
    return read_gangs(table, DEFAULT_QUEUE, seed, collection.notices, shared_gpus)


def _check(cluster: Cluster, collection: Collection, file: str) -> None:
    for problem in cluster.problems():
        raise ManifestError(problem, "a cluster in which names are unique and references resolve", file)
    used: dict[str, list[Resources]] = {}
    for pod in cluster.running:
        used.setdefault(pod.node, []).append(pod.resources)
    for node in cluster.nodes:
        if not node.counted(total([node.occupied, *used.get(node.name, [])])).fits_in(node.capacity):
            text = f"the pods on node {node.name!r} ask for more than it has"
            collection.notices.add(collection.node_fields[node.name], text, "overcommitted")

"""Sorts what the user's files hold by kind: nodes, pods, queue configurations, objects of the systems that have gangs,
tables, a native cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reference.cluster.cluster import Cluster
from reference.cluster.node import Node
from reference.manifests.document import Field, ManifestError, json_field, yaml_fields
from reference.manifests.files import format_of, read_text
from reference.manifests.native import MARK, read_native
from reference.manifests.neighbours import selected_keys
from reference.manifests.nodes import read_node
from reference.manifests.notices import Notices
from reference.manifests.objects import Object
from reference.manifests.openb import Table, recognise
from reference.manifests.pods import TEMPLATES, Pod, read_pod, read_template
from reference.manifests.queue_source import carried_config
from reference.manifests.yunikorn_dump import Dump, read_dump_node

_ANYTHING: Final = "a Kubernetes object (kind), queues.yaml (partitions) or a gangproof cluster (gangproof)"
_NESTED_LISTS: Final = 4
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "PriorityClass": ("scheduling.k8s.io",),
    "Queue": ("scheduling.volcano.sh", "scheduling.run.ai"),
    "PodGroup": ("scheduling.volcano.sh", "scheduling.k8s.io", "scheduling.x-k8s.io", "scheduling.run.ai"),
    "ElasticQuota": ("scheduling.x-k8s.io",),
    "RayCluster": ("ray.io",),
    "CompositePodGroup": ("scheduling.k8s.io",),
    "HyperNode": ("topology.volcano.sh",),
    "ClusterQueue": ("kueue.x-k8s.io",),
    "LocalQueue": ("kueue.x-k8s.io",),
    "Cohort": ("kueue.x-k8s.io",),
    "ResourceFlavor": ("kueue.x-k8s.io",),
    "WorkloadPriorityClass": ("kueue.x-k8s.io",),
    "Topology": ("kueue.x-k8s.io", "kai.scheduler"),
    "Workload": ("kueue.x-k8s.io", "scheduling.k8s.io"),
}
"""Kinds that systems with gangs have, and the API groups in which they are read."""
VOLCANO_JOB: Final = ("batch.volcano.sh", "Job")


@dataclass(slots=True)
class Collection:
    """The objects of all files, in file order, and warnings about those that were passed over.

    ``objects`` are by API group and kind; ``templates`` are workloads with the pod template of each; ``count`` is how
    many pods and objects there are, which numbers them.
    """

    notices: Notices = field(default_factory=Notices)
    nodes: dict[str, Node] = field(default_factory=dict)
    node_fields: dict[str, Field] = field(default_factory=dict)
    pods: list[Pod] = field(default_factory=list)
    configs: list[Field] = field(default_factory=list)
    config_maps: list[Field] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    objects: dict[tuple[str, str], list[Object]] = field(default_factory=dict)
    templates: list[tuple[Object, Pod]] = field(default_factory=list)
    dump: Dump = field(default_factory=Dump)
    count: int = 0
    native: tuple[Field, Cluster] | None = None

    def add_file(self, path: Path, is_named: bool) -> None:
        """Reads one file. One that is no manifest is an error if the user named it, else passed over with a warning."""
        text, file = read_text(path), str(path)
        match format_of(path, text):
            case "csv":
                table = recognise(file, text, is_named)
                if table is not None:
                    self.tables.append(table)
                elif is_named:
                    raise ManifestError("other columns", "the columns of openb's node list or pod list", file, 1)
                else:
                    self.notices.add_general("not an openb node list or pod list: passed over", file)
            case "json":
                self._add_root(json_field(text, file), is_named)
            case _:
                roots = yaml_fields(text, file)
                if not roots:
                    raise ManifestError("an empty file", "a manifest", file)
                for root in roots:
                    self._add_root(root, is_named)

    def add_node(self, node: Node, source: Field) -> None:
        """A node, whose name must be new."""
        if node.name in self.nodes:
            first = self.node_fields[node.name]
            metadata = source.get("metadata")
            place = (metadata.get("name") if metadata else None) or source
            raise place.error("each node once", f"the node {node.name!r} a second time (first at {first.location})")
        self.nodes[node.name], self.node_fields[node.name] = node, source

    def _add_root(self, root: Field, is_named: bool) -> None:
        content = root.value
        if isinstance(content, dict) and MARK in content and "kind" not in content:
            if self.native is not None:
                raise root.error("one native cluster", f"a second one (first in {self.native[0].document.file})")
            cluster, fields = read_native(root)
            self.native = (root, cluster)
            for node in cluster.nodes:
                self.add_node(node, fields[node.name])
        elif self._add_dump(root):
            pass
        elif isinstance(content, dict) and "partitions" in content and "kind" not in content:
            self.configs.append(root)
        elif isinstance(content, dict) and "kind" in content:
            kind = root.need("kind", _ANYTHING).name("the kind of object")
            for obj, own, version in _objects(root, kind, _version(root, "")):
                self._add_object(obj, own, version.rpartition("/")[0])
        elif is_named:
            raise root.error(_ANYTHING)
        else:
            self.notices.add(root, f"this is not {_ANYTHING}: passed over")

    def _add_dump(self, root: Field) -> bool:
        """Takes an answer of a running YuniKorn; False where it is none."""
        number, self.count = self.count, self.count + 1
        known = len(self.dump.nodes)
        if not self.dump.take(root, number):
            return False
        for each in self.dump.nodes[known:]:
            self.add_node(read_dump_node(each), each)
        return True

    def of(self, group: str, *kinds: str) -> list[Object]:
        """The objects of these kinds in an API group, in reading order."""
        found = [each for kind in kinds for each in self.objects.get((group, kind), ())]
        return sorted(found, key=lambda each: each.number)

    def _add_object(self, obj: Field, kind: str, group: str) -> None:
        number, self.count = self.count, self.count + 1
        self.notices.selected_labels |= frozenset(selected_keys(obj.value))
        groups = KINDS.get(kind, ())
        if kind == "Node":
            self.add_node(read_node(obj, self.notices), obj)
        elif kind == "Pod":
            self.pods.append(read_pod(obj, number))
        elif kind in TEMPLATES and (group, kind) != VOLCANO_JOB:
            self.pods.append(read_template(obj, kind, number))
            self.templates.append((Object(obj, kind, group, number), self.pods[-1]))
        elif group in groups or (group, kind) == VOLCANO_JOB or (not group and len(groups) == 1):
            group = group or groups[0]
            self.objects.setdefault((group, kind), []).append(Object(obj, kind, group, number))
        elif groups and not group:
            several = ", ".join(groups)
            raise obj.error(f"an apiVersion: {kind} is a kind of several systems ({several})", "none")
        elif kind != "ConfigMap":
            of = f" in {group}" if groups else ""
            self.notices.add(obj, f"objects of kind {kind!r}{of} are passed over", f"kind {group}/{kind}")
        elif carried_config(obj) is not None:
            self.config_maps.append(obj)
        else:
            self.notices.add(obj, "a ConfigMap without queues.yaml is passed over", "ConfigMap")


def _objects(root: Field, kind: str, version: str, depth: int = 0) -> Iterator[tuple[Field, str, str]]:
    """The objects in a list (``List``, ``PodList``), or the one object, with kind and API version."""
    if not kind.endswith("List") or "items" not in root.mapping() or depth > _NESTED_LISTS:
        yield root, kind, version
        return
    for item in root.list_of("items"):
        own = item.get("kind") if kind != "List" else item.need("kind", "the kind of object")
        name = own.name("the kind of object") if own else kind.removesuffix("List")
        # an item of a typed list has its list's version; that of a plain List says nothing of its items
        yield from _objects(item, name, _version(item, "" if kind == "List" else version), depth + 1)


def _version(obj: Field, inherited: str) -> str:
    version = obj.get("apiVersion")
    return version.string() if version else inherited

"""The front door: users' files in, a ``Cluster`` and warnings out."""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from reference.cluster.cluster import Cluster
from reference.cluster.node import Node
from reference.cluster.resources import Resources, total
from reference.errors import InputWarning
from reference.manifests.applications import Workload, assemble
from reference.manifests.document import Field, ManifestError, embedded_yaml, json_field, yaml_fields
from reference.manifests.files import decode, find_files, format_of, read_text
from reference.manifests.nodes import read_node
from reference.manifests.notices import Notices
from reference.manifests.pods import TEMPLATES, Pod, read_pod, read_template
from reference.manifests.queues import QueueConfig, default_queues, read_queue_config

_QUEUES_KEY: Final = "queues.yaml"
_CONFIG_MAP: Final = "yunikorn-configs"
_MAX_CONFIG: Final = 2**24


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What the files say.

    ``warnings`` are what was dropped or assumed, in reading order; ``sources`` the files that were read;
    ``node_sort_policy`` the partition's order of nodes, ``fair`` or ``binpacking``.
    """

    cluster: Cluster
    warnings: tuple[InputWarning, ...] = ()
    sources: tuple[str, ...] = ()
    node_sort_policy: str = "fair"


@dataclass(slots=True)
class _Pile:
    """Objects by what they are, in file order."""

    notices: Notices
    nodes: dict[str, Node] = field(default_factory=dict)
    node_fields: dict[str, Field] = field(default_factory=dict)
    pods: list[Pod] = field(default_factory=list)
    configs: list[Field] = field(default_factory=list)
    config_maps: list[Field] = field(default_factory=list)


def load(
    paths: Sequence[Path | str] | Path | str, *, require_applications: bool = True, gang_seed: int = 1
) -> LoadResult:
    """Reads files and directories into one cluster.

    ``paths`` may mix ``kubectl get -o json|yaml`` output, queues.yaml, bare or in its ConfigMap. Raises ManifestError
    (an InputError) with the place and the reason for whatever cannot be used. ``require_applications`` makes a cluster
    in which no gang waits an error.
    """
    files = find_files([paths] if isinstance(paths, (str, Path)) else list(paths))
    pile = _Pile(Notices())
    for path, named in files:
        _sort_file(pile, path, named)
    queues = _queues(pile)
    if not pile.nodes:
        raise ManifestError("no node", "at least one Node (kubectl get nodes -o yaml)", str(files[0][0]))
    workload = assemble(pile.pods, pile.nodes, queues.tree, pile.notices)
    if require_applications and not workload.applications:
        found = "no application that waits" if pile.pods else "no application"
        expected = "at least one pod with an application id and task groups"
        raise ManifestError(found, expected, str(files[0][0]))
    cluster = Cluster(
        tuple(_occupy(node, workload) for node in pile.nodes.values()),
        queues.tree,
        tuple(workload.applications),
        tuple(workload.running),
    )
    _check(cluster, pile, str(files[0][0]))
    sources = tuple(str(path) for path, _ in files)
    return LoadResult(cluster, pile.notices.result(), sources, queues.node_sort_policy)


def _occupy(node: Node, workload: Workload) -> Node:
    used = workload.occupied.get(node.name)
    return node if used is None else replace(node, occupied=used)


def _check(cluster: Cluster, pile: _Pile, file: str) -> None:
    for problem in cluster.problems():
        raise ManifestError(problem, "a cluster in which names are unique and references resolve", file)
    used: dict[str, list[Resources]] = {}
    for pod in cluster.running:
        used.setdefault(pod.node, []).append(pod.resources)
    for node in cluster.nodes:
        if not node.counted(total([node.occupied, *used.get(node.name, [])])).fits_in(node.capacity):
            text = f"the pods on node {node.name!r} ask for more than it has"
            pile.notices.add(pile.node_fields[node.name], text, "overcommitted")


# Sorting files and objects


def _sort_file(pile: _Pile, path: Path, named: bool) -> None:
    text = read_text(path)
    kind = format_of(path, text)
    roots = [json_field(text, str(path))] if kind == "json" else yaml_fields(text, str(path))
    if not roots:
        raise ManifestError("only comments", "a manifest", str(path))
    for root in roots:
        _sort_root(pile, root, named)


def _sort_root(pile: _Pile, root: Field, named: bool) -> None:
    content = root.value
    if isinstance(content, dict) and "partitions" in content and "kind" not in content:
        pile.configs.append(root)
    elif isinstance(content, dict) and ("kind" in content or named):
        expected = "a Kubernetes object, queues.yaml (partitions)"
        kind = root.need("kind", expected).name("the kind of object")
        for obj, each in _objects(root, kind):
            _sort_object(pile, obj, each)
    elif named:
        raise root.error("a Kubernetes object or queues.yaml")
    else:
        pile.notices.add(root, "neither a Kubernetes object nor queues.yaml: passed over")


def _objects(root: Field, kind: str) -> Iterator[tuple[Field, str]]:
    """The objects in a list (``List``, ``PodList``), or the one object."""
    if not kind.endswith("List") or "items" not in root.mapping():
        yield root, kind
        return
    for item in root.list_of("items"):
        own = item.get("kind")
        if own is None and kind == "List":
            own = item.need("kind", "the kind of object")
        name = own.name("the kind of object") if own else kind.removesuffix("List")
        yield from _objects(item, name) if name.endswith("List") and len(item.path) < 10 else [(item, name)]


def _sort_object(pile: _Pile, obj: Field, kind: str) -> None:
    if kind == "Node":
        node = read_node(obj, pile.notices)
        if node.name in pile.nodes:
            first = pile.node_fields[node.name]
            at = first.document.position(first.path)
            where = f"{first.document.file}:{at.line}" if at else first.document.file
            name = obj.need("metadata", "metadata").need("name", "a name")
            raise name.error("each node once", f"the node {node.name!r} a second time (first at {where})")
        pile.nodes[node.name], pile.node_fields[node.name] = node, obj
    elif kind == "Pod":
        pile.pods.append(read_pod(obj, len(pile.pods)))
    elif kind in TEMPLATES:
        pile.pods.append(read_template(obj, kind, len(pile.pods)))
    elif kind == "ConfigMap":
        _sort_config_map(pile, obj)
    else:
        pile.notices.add(obj, f"objects of kind {kind!r} are passed over", f"kind {kind}")


# Queues


def _sort_config_map(pile: _Pile, obj: Field) -> None:
    for part in ("data", "binaryData"):
        data = obj.get(part)
        for key in (_QUEUES_KEY, _QUEUES_KEY + ".gz"):
            if data and data.get(key):
                pile.config_maps.append(obj)
                return
    pile.notices.add(obj, "a ConfigMap without queues.yaml is passed over", "ConfigMap")


def _queues(pile: _Pile) -> QueueConfig:
    maps = pile.config_maps
    if len(maps) > 1:  # yunikorn-configs overrides yunikorn-defaults
        names = [m.need("metadata", "metadata with a name").need("name", "a name").string() for m in maps]
        if names.count(_CONFIG_MAP) == 1:
            maps = [maps[names.index(_CONFIG_MAP)]]
            pile.notices.add(maps[0], f"of several ConfigMaps with queues.yaml, {_CONFIG_MAP} is taken")
    sources = pile.configs + maps
    if not sources:
        pile.notices.add_general("no queues.yaml: one queue without limits, root.default, is taken")
        return default_queues()
    if len(sources) > 1:
        files = f"{sources[0].document.file} and {sources[1].document.file}"
        raise sources[1].error("one queues.yaml", f"a second queue configuration ({files})")
    config = sources[0] if pile.configs else _embedded_config(maps[0])
    return read_queue_config(config, pile.notices)


def _embedded_config(config_map: Field) -> Field:
    for part in ("data", "binaryData"):
        data = config_map.get(part)
        plain = data.get(_QUEUES_KEY) if data else None
        packed = data.get(_QUEUES_KEY + ".gz") if data else None
        if plain is not None and part == "data":
            return _only(plain, embedded_yaml(plain))
        if plain is not None:
            return _only(plain, embedded_yaml(plain, decode(_base64(plain), plain.document.file)))
        if packed is not None:
            return _only(packed, embedded_yaml(packed, decode(_unpack(packed), packed.document.file)))
    raise config_map.error("queues.yaml in data")


def _only(host: Field, documents: list[Field]) -> Field:
    if len(documents) != 1:
        raise host.error("one YAML document", f"{len(documents)} YAML documents")
    return documents[0]


def _base64(host: Field) -> bytes:
    try:
        return base64.b64decode("".join(host.string().split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise host.error("base64", f"text that is not base64 ({error})") from None


def _unpack(host: Field) -> bytes:
    try:
        decoder = zlib.decompressobj(wbits=31)
        data = decoder.decompress(_base64(host), _MAX_CONFIG)
        if not decoder.eof:
            raise host.error(f"a whole gzip file of at most {_MAX_CONFIG >> 20} MiB", "one that is cut off or larger")
        return data
    except (zlib.error, gzip.BadGzipFile) as error:
        raise host.error("gzip data in base64", f"data that is not gzip ({error})") from None

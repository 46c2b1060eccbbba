"""Queue trees of systems whose queues are objects that name their parents: Volcano, Kueue, KAI, ElasticQuotas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from reference.cluster.queue import Queue, QueueTree
from reference.cluster.resources import Resources
from reference.errors import sample
from reference.manifests.document import Field
from reference.manifests.notices import Notices, PlaceOf
from reference.manifests.queues import ROOT

_MAX_DEPTH = 50


@dataclass(slots=True)
class Declared:
    """A queue before it has a place: its own name, its settings (named ""), its parent's name, where that is said."""

    name: str
    settings: Queue
    parent: str | None
    source: Field
    parent_field: Field | None = None


@dataclass(frozen=True, slots=True)
class NamedQueues:
    """A tree, and the full name of each queue by its own."""

    tree: QueueTree
    paths: Mapping[str, str] = field(default_factory=dict)

    def leaf(self, name: Field, what: str = "queue") -> str:
        """The full name of the leaf that a gang names. Raises ManifestError."""
        text = name.string()
        path = self.paths.get(text)
        queue = self.tree.find(path) if path else None
        if queue is not None and queue.is_leaf:
            return queue.name
        found = f"the {what} {text!r}, which " + ("does not exist" if queue is None else "has queues below it")
        leaves = [own for own, full in self.paths.items() if (q := self.tree.find(full)) is not None and q.is_leaf]
        raise name.error(f"a {what} without others below ({sample(leaves) if leaves else 'there is none'})", found)


def segment(name: str) -> str:
    """A name as one step of a queue's path: dots, which names of objects may have, would be steps of their own."""
    return name.replace(".", "_")


def plant(declared: Mapping[str, Declared], root: Queue, notices: Notices) -> NamedQueues:
    """The tree of queues below ``root``: those without a parent stand at the top, brothers in order of their names.

    ``parent`` of a queue is a key of ``declared``, and so are the names in the answer. Raises ManifestError for a
    parent that is not there, and for queues inside themselves.
    """
    children: dict[str | None, list[tuple[str, Declared]]] = {}
    for key, each in declared.items():
        if each.parent is not None and each.parent not in declared:
            raise (each.parent_field or each.source).error(
                f"the name of another queue ({sample(sorted(declared))})", f"the unknown parent {each.parent!r}"
            )
        children.setdefault(each.parent, []).append((key, each))
    paths: dict[str, str] = {}

    def build(parent: str | None, above: str, depth: int) -> Iterator[Queue]:
        for key, each in sorted(children.get(parent, ()), key=lambda pair: pair[1].name):
            if depth > _MAX_DEPTH:
                raise each.source.error(f"at most {_MAX_DEPTH} levels of queues", "a deeper one")
            paths[key] = path = f"{above}.{segment(each.name)}"
            notices.place(PlaceOf.QUEUE, path, each.source)
            inner = tuple(build(key, path, depth + 1))
            yield replace(each.settings, name=path, children=inner, is_parent=each.settings.is_parent or bool(inner))

    top = tuple(build(None, ROOT, 2))
    lost = next((key for key in declared if key not in paths), None)
    if lost is not None:
        seen: list[str] = []
        while lost is not None and lost not in seen:  # it leads into a ring, if it is not in it
            seen.append(lost)
            lost = declared[lost].parent
        ring = declared[lost or seen[-1]]
        found = f"the queue {ring.name!r} inside itself"
        raise (ring.parent_field or ring.source).error("queues that lead to the root", found)
    return NamedQueues(QueueTree(replace(root, name=ROOT, children=top, is_parent=True)), paths)


def without_use_of(queue: Queue, nothing: Mapping[str, set[str]]) -> Queue:
    """``queue`` and those below it, with a maximum of 0 for the resources that ``nothing`` lists by queue."""
    names = nothing.get(queue.name, set())
    return replace(
        queue,
        maximum=Resources({**queue.maximum, **dict.fromkeys(names, 0)}),
        children=tuple(without_use_of(child, nothing) for child in queue.children),
    )

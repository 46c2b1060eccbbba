"""A placement as a picture: per kind of node one bar a resource, cut into what each gang holds.

Nodes that hold the same things are one picture with a count, so that a thousand nodes stay a page. Widths are
percentages of the node's capacity, for drawing only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from reference.cluster import MEMORY, PODS, VCORE, Cluster, Node, Placement, Resources, total

COLOURS = 10
"""Gangs are coloured in turn by this many classes of the style sheet."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of a bar. ``style`` is a CSS class; ``share`` a percentage of the node's capacity."""

    label: str
    style: str
    share: float
    amount: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One resource of a node."""

    resource: str
    used: str
    capacity: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class NodePicture:
    """Nodes that look the same: their names, and their bars."""

    names: tuple[str, ...]
    pods: tuple[str, ...]
    bars: tuple[Bar, ...]
    note: str


class _Content(NamedTuple):
    """What makes two nodes look the same: (application, task group, count) held, capacity, other use, not cordoned."""

    pods: tuple[tuple[str, str, int], ...]
    capacity: Resources
    other: Resources
    schedulable: bool


def node_pictures(cluster: Cluster, placement: Placement, colours: Mapping[str, str]) -> list[NodePicture]:
    """The pictures of all nodes: busiest first, nodes with the same content together."""
    groups = {(a.name, g.name): g for a in cluster.applications for g in a.task_groups}
    held: dict[str, list[tuple[str, str, int]]] = {}
    for a in placement.assignments:
        held.setdefault(a.node, []).append((a.application, a.task_group, a.count))
    shown = _shown_resources(cluster)
    running: dict[str, list[Resources]] = {}
    for pod in cluster.running:
        running.setdefault(pod.node, []).append(pod.resources)
    alike: dict[_Content, list[Node]] = {}
    for node in cluster.nodes:
        other = node.occupied + total(running.get(node.name, []))
        content = _Content(tuple(held.get(node.name, [])), node.capacity, other, node.schedulable)
        alike.setdefault(content, []).append(node)
    pictures: list[NodePicture] = []
    for (pods_here, capacity, other, schedulable), nodes in alike.items():
        bars = []
        for resource in shown:
            if capacity.amount(resource) <= 0:
                continue
            parts = [("other pods", "other", other.amount(resource))]
            parts += [
                (f"{app}/{group} x{count}", colours[app], groups[app, group].pod_resource.amount(resource) * count)
                for app, group, count in pods_here
            ]
            bars.append(_bar(resource, capacity.amount(resource), parts))
        pods = tuple(f"{app}/{group} x{count}" for app, group, count in pods_here)
        note = "" if schedulable else "cordoned"
        pictures.append(NodePicture(tuple(n.name for n in nodes), pods, tuple(bars), note))
    return sorted(pictures, key=lambda p: (-len(p.pods) if p.pods else 1, p.names[0]))


def gang_colours(cluster: Cluster) -> dict[str, str]:
    """A CSS class for each gang, in order of submission."""
    ordered = sorted(cluster.applications, key=lambda a: (a.submitted, a.name))
    return {a.name: f"g{i % COLOURS}" for i, a in enumerate(ordered)}


def _bar(resource: str, capacity: int, parts: list[tuple[str, str, int]]) -> Bar:
    segments = tuple(
        Segment(label, style, round(100 * amount / capacity, 2), show_amount(resource, amount))
        for label, style, amount in parts
        if amount > 0
    )
    used = sum(amount for _, _, amount in parts)
    return Bar(resource, show_amount(resource, used), show_amount(resource, capacity), segments)


def _shown_resources(cluster: Cluster) -> list[str]:
    """What gangs ask for, but for the count of pods: CPU and memory first, then by name."""
    asked = {r for a in cluster.applications for g in a.task_groups for r, n in g.min_resource.items() if n > 0}
    return sorted(asked - {PODS}, key=lambda r: ({VCORE: 0, MEMORY: 1}.get(r, 2), r))


def show_amount(resource: str, amount: int) -> str:
    """An amount in the unit that people write: cores, devices, counts; bytes as Gi, Mi, G or M, rounded where none
    divides."""
    if resource == VCORE or resource == "gpu" or resource.endswith("/gpu"):
        return f"{amount // 1000}" if amount % 1000 == 0 else f"{amount}m"
    if resource == MEMORY or resource == "ephemeral-storage" or resource.startswith("hugepages-"):
        return _bytes(amount)
    return str(amount)


def _bytes(amount: int) -> str:
    for unit, size in (("Gi", 1 << 30), ("G", 10**9), ("Mi", 1 << 20), ("M", 10**6)):
        if amount >= size and amount % size == 0 and amount // size < 10_000:
            return f"{amount // size}{unit}"
    for unit, size in (("Gi", 1 << 30), ("Mi", 1 << 20)):
        if amount >= size:
            return f"{amount / size:.1f}{unit}"
    return str(amount)


def show_resources(resources: Resources) -> str:
    """``vcore 4, memory 8Gi``: all but the count of pods and what is 0."""
    shown = [f"{name} {show_amount(name, amount)}" for name, amount in resources.items() if name != PODS and amount]
    return ", ".join(shown) or "nothing"


def show_limit(limit: Resources) -> str:
    """``pods 10, vcore 20``: every type that is limited, 0 too."""
    return ", ".join(f"{name} {show_amount(name, amount)}" for name, amount in limit.items())

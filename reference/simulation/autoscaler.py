"""Nodes that are launched for gangs that wait, and terminated once they are idle.

An ``Autoscaler`` answers one question at a time: what to launch and terminate, given what waits and what there is. The
``Fleet`` keeps what becomes of the answers on the virtual clock: a node that is asked for is there after its type's
launch time; the autoscaler looks at multiples of its interval, when something has changed or a node may have become
idle for long enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from reference.cluster import Application, Node
from reference.simulation.jobs import TrackedJob
from reference.simulation.meter import Meter
from reference.simulation.settings import AutoscalerSettings, NodeTypeSettings


@dataclass(frozen=True, slots=True)
class Waiting:
    """A gang that is not whole, and by task group how many members hold no room yet."""

    application: Application
    missing: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node that is there, or was asked for (``launching``). ``node_type`` is empty for one of the cluster's own.

    ``idle_ms``: for so long it had no pods; 0 while it has some.
    """

    node: Node
    node_type: str
    free: Mapping[str, int]
    idle_ms: int = 0
    launching: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """How many nodes of each type to launch, and which nodes to terminate."""

    launch: Mapping[str, int]
    terminate: tuple[str, ...] = ()


class Autoscaler(Protocol):
    """Decides from what it is told alone; keeps no state between questions."""

    def nodes(self) -> Iterable[Node]:
        """One node of each type that it may launch."""
        ...

    def decide(self, waiting: Sequence[Waiting], nodes: Sequence[NodeView]) -> Answer:
        """What to launch and terminate now; gangs in order of arrival, nodes in order of their coming."""
        ...


def node_of(kind: NodeTypeSettings, name: str) -> Node:
    """A node of this type."""
    return Node(name, kind.resources, dict(kind.labels))


@dataclass(frozen=True, slots=True)
class Decision:
    """Nodes to launch as (node, type, time when it is there), and nodes to terminate."""

    launch: tuple[tuple[Node, str, int], ...]
    terminate: tuple[str, ...]


class Fleet:
    """The launched nodes of a run."""

    def __init__(self, autoscaler: Autoscaler, settings: AutoscalerSettings) -> None:
        self._autoscaler = autoscaler
        self._settings = settings
        self._kinds = {kind.name: kind for kind in settings.node_types}
        self._numbers = itertools.count(1)
        self._types: dict[str, str] = {}
        self._launching: dict[str, Node] = {}
        self._touched: dict[str, int] = {}
        self._changed = True
        self._tick: int | None = None

    def launched(self, name: str) -> bool:
        """Whether the autoscaler launched the node of that name."""
        return name in self._types

    def type_of(self, name: str) -> str:
        """The type of a launched node."""
        return self._types[name]

    def arrives(self, name: str) -> bool:
        """A node comes: whether it is one that was asked for; it is launching no more."""
        return self._launching.pop(name, None) is not None

    def forget(self, name: str) -> None:
        """A node is gone."""
        self._types.pop(name, None)
        self._touched.pop(name, None)
        self._changed = True

    def touch(self, node: str, now: int) -> None:
        """A pod came or went on ``node``, or the node came."""
        self._touched[node] = now
        self._changed = True

    def submitted(self) -> None:
        """A gang came."""
        self._changed = True

    def next_look(self, now: int, held: Mapping[str, int]) -> int | None:
        """When the autoscaler looks next, unless it is known already; ``held`` counts the pods of each node."""
        times = [now + 1] if self._changed else []
        idle = [self._touched[name] for name in self._types if name in self._touched and not held.get(name, 0)]
        times += [max(since + self._settings.idle_timeout_ms + 1, now + 1) for since in idle]
        if not times:
            return None
        interval = self._settings.interval_ms
        tick = -(-min(times) // interval) * interval
        if self._tick is not None and now < self._tick <= tick:
            return None
        self._tick = tick
        return tick

    def decide(
        self, now: int, jobs: Iterable[TrackedJob], nodes: Mapping[str, Node], held: Mapping[str, int], meter: Meter
    ) -> Decision:
        """Ask, and note what is launching. ``jobs`` are those that wait."""
        self._changed = False
        waiting = [Waiting(job.application, missing) for job in jobs if any((missing := job.missing()).values())]
        views = [
            NodeView(
                node,
                self._types.get(name, ""),
                meter.free(name),
                0 if held.get(name, 0) or name not in self._touched else now - self._touched[name],
            )
            for name, node in nodes.items()
        ]
        views += [NodeView(n, self._types[name], n.available, launching=True) for name, n in self._launching.items()]
        answer = self._autoscaler.decide(waiting, views)
        launch = [self._launch(kind, now, nodes) for kind, count in answer.launch.items() for _ in range(count)]
        terminate = tuple(name for name in answer.terminate if name in self._types and name in nodes)
        return Decision(tuple(launch), tuple(name for name in terminate if not held.get(name, 0)))

    def _launch(self, node_type: str, now: int, nodes: Mapping[str, Node]) -> tuple[Node, str, int]:
        kind = self._kinds[node_type]
        name = next(n for i in self._numbers if (n := f"{node_type}-launched-{i}") not in nodes)
        node = node_of(kind, name)
        self._types[name] = node_type
        self._launching[name] = node
        return node, node_type, now + kind.launch_ms

"""Clusters in units of one resource, for tests that are worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reference.cluster import (
    NOTHING,
    VCORE,
    Application,
    Cluster,
    Node,
    Queue,
    QueueTree,
    Resources,
    SortPolicy,
    TaskGroup,
)


def units(count: int) -> Resources:
    """``count`` thousandths of a core."""
    return Resources({VCORE: count})


def leaf(name: str, quota: int | None = None, policy: SortPolicy = SortPolicy.FIFO, most: int | None = None) -> Queue:
    """A leaf queue with a quota in units."""
    return Queue(name, NOTHING if quota is None else units(quota), sort_policy=policy, max_applications=most)


def tree(*leaves: Queue, quota: int | None = None, most: int | None = None) -> QueueTree:
    """``leaves`` under a root with a quota in units."""
    maximum = NOTHING if quota is None else units(quota)
    return QueueTree(Queue("root", maximum, max_applications=most, children=leaves, is_parent=True))


def gang(name: str, queue: str, *sizes: int, submitted: int = 0, unit: int = 1) -> Application:
    """A gang with one task group ``g0``, ``g1``, ... per size; a member takes ``unit`` units."""
    groups = tuple(TaskGroup(f"g{i}", size, units(unit)) for i, size in enumerate(sizes))
    return Application(name, queue, groups, submitted=submitted)


def cluster(capacities: Mapping[str, int] | Sequence[int], queues: QueueTree, *gangs: Application) -> Cluster:
    """Nodes of so many units (``n0``, ``n1``, ... unless named), queues, gangs in the order given."""
    named = capacities if isinstance(capacities, Mapping) else {f"n{i}": units for i, units in enumerate(capacities)}
    nodes = tuple(Node(name, units(capacity)) for name, capacity in named.items())
    made = Cluster(nodes, queues, gangs)
    assert made.problems() == []
    return made

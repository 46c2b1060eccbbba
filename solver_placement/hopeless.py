"""Gangs that no placement can admit, each with a reason that is certain.

Only what one look at the input proves is said here: a task group that no node takes, or that all nodes alone cannot
hold, a gang larger than what a queue on its path has left beside the running pods, or a gang that is worth nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from reference.cluster import Application, Cluster, Constraints, Queue, TaskGroup
from reference.errors import one_line
from solver_placement.kinds import NodeKind
from solver_placement.options import required_keys

UNLIMITED = 2**62
"""Members that a node holds where nothing that they ask for is limited on it."""


def find_hopeless(cluster: Cluster, kinds: Sequence[NodeKind]) -> dict[str, str]:
    """The reason per gang that can never be admitted beside the running pods; ``kinds`` are the cluster's nodes."""
    verdicts: dict[tuple[Constraints, tuple[tuple[str, int], ...]], tuple[int, str]] = {}
    usage = {q.name: cluster.queue_usage(q.name) for q in cluster.queues if q.maximum}
    begun = {q.name: len(cluster.running_applications(q.name)) for q in cluster.queues}
    found: dict[str, str] = {}
    for app in cluster.applications:
        reason = None if app.weight > 0 else f"weight {app.weight}: admitting it is worth nothing"
        # of a composite group some children are enough: what all of them need says nothing
        needed = () if app.composites else tuple(g for g in app.task_groups if g.min_member)
        if reason is None and not app.composites:
            reason = _larger_than_queue(app, cluster.queues.path(app.queue), usage, begun)
        for group in sorted(needed, key=lambda g: g.name):
            if reason is not None:
                break
            key = (group.constraints, tuple(group.pod_resource.items()))
            if key not in verdicts:
                verdicts[key] = _room(group, kinds)
            room, why = verdicts[key]
            if room == 0:
                reason = f"no node admits task group {group.name}: {why}"
            elif room < group.min_member:
                reason = f"task group {group.name}: all nodes have room for {room} of {group.min_member} members"
        if reason is not None:
            found[app.name] = one_line(reason)
    return found


def why_no_way(app: Application) -> str:
    """The reason for a gang none of whose ways to be whole has room, where ``find_hopeless`` knows none."""
    keys = sorted({", ".join(keys) for keys in required_keys(app)})
    if keys:
        return one_line(f"no domain of {' and of '.join(keys)} has room for the pods that have to be in one together")
    return "the nodes have no room for enough of its groups and members"


def _larger_than_queue(
    app: Application, path: Sequence[Queue], usage: Mapping[str, Mapping[str, int]], begun: Mapping[str, int]
) -> str | None:
    """The first queue, from the root, that the gang overflows on its own."""
    ask = app.placeholder_ask
    for queue in path:
        for name, limit in queue.maximum.items():
            running = usage[queue.name].get(name, 0)
            room, need = max(limit - running, 0), ask.amount(name)
            if need > room and need > 0:
                held = f" (maximum {limit}, running pods hold {running})" if running else ""
                return f"larger than queue maximum {queue.name}: {name} {need} > {room}{held}"
        if queue.max_applications is not None and queue.max_applications - begun[queue.name] < 1:
            held = f", {begun[queue.name]} run" if begun[queue.name] else ""
            return f"queue {queue.name} allows {queue.max_applications} applications{held}"
    return None


def _room(group: TaskGroup, kinds: Sequence[NodeKind]) -> tuple[int, str]:
    """How many members all nodes hold with nothing beside them, and why the nodes that hold none do not."""
    request = {r: a for r, a in group.pod_resource.items() if a > 0}
    why: Counter[str] = Counter()
    room = 0
    for kind in kinds:
        reason = kind.node.why_not(group.constraints)
        if reason is None:
            known = {r: kind.free.get(r, 0) for r in request}
            fit = min((k // request[r] for r, k in known.items() if k is not None), default=UNLIMITED)
            room += fit * len(kind.names)
            short = next((r for r, k in known.items() if k is not None and k < request[r]), None)
            reason = None if short is None else f"{short}: needs {request[short]}, too little free"
        if reason is not None:
            why[reason] += len(kind.names)
    nodes = sum(len(kind.names) for kind in kinds)
    if nodes == 0:
        return 0, "there are no nodes"
    return room, "; ".join(f"{reason} ({n} of {nodes} nodes)" for reason, n in sorted(why.items()))

"""What must hold in every state of the scheduler, and of every decision; recomputed from the pods that there are.

A node may hold more than it has: pods come bound, and a node may come back smaller. So room is a matter of decisions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reference.cluster import PODS
from reference.schedulers.kubernetes.events import Outcome, Record
from reference.schedulers.kubernetes.groups import Phase
from reference.schedulers.kubernetes.queue import Place
from reference.schedulers.kubernetes.scheduler import Scheduler
from reference.schedulers.kubernetes.snapshot import Cache


def broken_invariants(scheduler: Scheduler) -> list[str]:
    """Every invariant that does not hold, one line each, in a fixed order."""
    return [*_pods(scheduler), *_nodes(scheduler), *_groups(scheduler), *_nominated(scheduler), *_queue(scheduler)]


def broken_by(scheduler: Scheduler, record: Record) -> list[str]:
    """What a decision breaks that was just made: nodes without room for their pods, and partial gangs (K5, K7)."""
    if record.outcome is not Outcome.SCHEDULED:
        return [f"{record.name}: {pod.name} is given {node} without a decision" for pod, node in record.assumed]
    return [*_overfull(scheduler, record), *_partial(scheduler, record)]


def _pods(scheduler: Scheduler) -> Iterator[str]:
    """The registry and the cache have the same pods on the same nodes."""
    node_of = scheduler.cache.node_of
    tracked = {n: p.node for n, p in scheduler.registry.pods.items() if p.phase is not Phase.PENDING}
    for name in sorted(tracked.keys() | node_of.keys()):
        if tracked.get(name) != node_of.get(name):
            yield f"pod {name}: on {tracked.get(name)} as tracked, on {node_of.get(name)} as cached"


def _nodes(scheduler: Scheduler) -> Iterator[str]:
    """What is counted on a node is what its pods ask for."""
    cache = scheduler.cache
    on: dict[str, list[str]] = {}
    for pod, where in cache.node_of.items():
        on.setdefault(where, []).append(pod)
    for name, info in cache.infos.items():
        fresh = Cache()
        fresh.put_node(info.node)
        for pod in on.get(name, ()):
            fresh.add(cache.pods[pod], name)
        if fresh.infos[name].state() != info.state():
            yield f"node {name}: counted {info.state()}, but its pods make it {fresh.infos[name].state()}"


def _groups(scheduler: Scheduler) -> Iterator[str]:
    cache = scheduler.cache
    there = Counter(pod.pod_group for pod in cache.pods.values() if pod.pod_group)
    for group in sorted(there.keys() | cache.scheduled.keys()):
        if len(cache.scheduled.get(group, ())) != there[group]:
            yield f"group {group}: {len(cache.scheduled.get(group, ()))} pods counted as scheduled, {there[group]} are"


def _nominated(scheduler: Scheduler) -> Iterator[str]:
    """Nodes are kept for pods that wait; who is asked to leave is on a node."""
    registry = scheduler.registry
    for pod in sorted(registry.nominated):
        if pod not in registry.pods or registry.pods[pod].phase is not Phase.PENDING:
            yield f"pod {pod} is nominated, and does not wait"
    for pod in sorted(registry.terminating):
        if pod not in registry.pods or registry.pods[pod].phase is Phase.PENDING:
            yield f"pod {pod} is asked to leave, and is on no node"


def _queue(scheduler: Scheduler) -> Iterator[str]:
    """At most the root whose cycle runs is popped; what waits and is ready is not forgotten."""
    registry, queue = scheduler.registry, scheduler.queue
    runs = scheduler.running.entry.name if scheduler.running else None
    for name, entry in queue.entries.items():
        if entry.place is Place.POPPED and name != runs:
            yield f"{name} is popped, and has no cycle"
        if entry.place is not Place.POPPED and not registry.pending(name):
            yield f"{name} is in the queue, and nothing of it waits"
    for tracked in registry.pods.values():
        root = registry.key_of(tracked.pod) if tracked.phase is Phase.PENDING else None
        if root is not None and registry.is_ready(root, scheduler.options.edition) and queue.place(root) is Place.GATED:
            yield f"{root} is ready, and is forgotten"


def _overfull(scheduler: Scheduler, record: Record) -> Iterator[str]:
    for name in sorted({node for _, node in record.assumed}):
        info = scheduler.cache.infos.get(name)
        if info is None:
            continue  # it went while the cycle ran
        asked = {what for pod, node in record.assumed if node == name for what, n in pod.spec.amounts if n > 0}
        for what in sorted(asked):
            most = info.allocatable.get(what, 0)
            if info.requested.get(what, 0) > most and (what != PODS or PODS in info.allocatable):
                yield f"node {name}: {what} {info.requested[what]} given away, it has {most}"


def _partial(scheduler: Scheduler, record: Record) -> Iterator[str]:
    if record.reason.startswith("nodes are gone"):
        return
    groups = scheduler.registry.groups
    for group in sorted({pod.pod_group for pod, _ in record.assumed} & set(groups)):
        have = len(scheduler.cache.scheduled.get(group, ()))
        if have < groups[group].least:
            yield f"group {group}: {have} pods have nodes, minCount is {groups[group].least}"

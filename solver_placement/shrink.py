"""Ways to make a cluster smaller, for delta debugging.

A pass takes a cluster and a judge and gives the smallest cluster it reaches by taking away one kind of thing; the
very same object where the judge lets nothing go. What remains is always part of what was there: nothing is made up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from reference.cluster import Application, Cluster, Queue, QueueTree, Resources, TaskGroup

Judge = Callable[[Cluster], bool]
"""Whether a smaller cluster still shows what is sought."""

Pass = Callable[[Cluster, Judge], Cluster]

Item = TypeVar("Item")


def passes() -> tuple[Pass, ...]:
    """Gangs first, they cost most; what is only tidying comes last."""
    return (
        fewer_gangs,
        fewer_nodes,
        fewer_task_groups,
        fewer_members,
        fewer_members_on_fewer_nodes,
        fewer_running_pods,
        fewer_limits,
        fewer_queues,
    )


def _fewer(items: Sequence[Item], keeps: Callable[[tuple[Item, ...]], bool]) -> tuple[Item, ...]:
    """Take away halves, quarters, ... and single items of ``items`` while ``keeps`` holds for the rest."""
    kept = tuple(items)
    chunk = max(len(kept) // 2, 1)
    while kept:
        start = 0
        while start < len(kept):
            rest = kept[:start] + kept[start + chunk :]
            if keeps(rest):
                kept = rest
            else:
                start += chunk
        if chunk == 1:
            break
        chunk //= 2
    return kept


def fewer_gangs(cluster: Cluster, judge: Judge) -> Cluster:
    """Take away applications."""
    kept = _fewer(cluster.applications, lambda apps: judge(replace(cluster, applications=apps)))
    return cluster if len(kept) == len(cluster.applications) else replace(cluster, applications=kept)


def _on(cluster: Cluster, names: set[str]) -> Cluster:
    return replace(
        cluster,
        nodes=tuple(n for n in cluster.nodes if n.name in names),
        running=tuple(p for p in cluster.running if p.node in names),
    )


def fewer_nodes(cluster: Cluster, judge: Judge) -> Cluster:
    """Take away nodes, and the pods that run on them."""
    kept = _fewer(cluster.nodes, lambda nodes: judge(_on(cluster, {n.name for n in nodes})))
    return cluster if len(kept) == len(cluster.nodes) else _on(cluster, {n.name for n in kept})


def _with_groups(cluster: Cluster, app: Application, groups: tuple[TaskGroup, ...]) -> Cluster:
    changed = replace(app, task_groups=groups)
    return replace(cluster, applications=tuple(changed if a.name == app.name else a for a in cluster.applications))


def fewer_task_groups(cluster: Cluster, judge: Judge) -> Cluster:
    """Take away task groups; a gang keeps at least one."""
    for name in [app.name for app in cluster.applications if len(app.task_groups) > 1]:
        app = next(a for a in cluster.applications if a.name == name)
        at = cluster

        def keeps(groups: tuple[TaskGroup, ...], app: Application = app, at: Cluster = at) -> bool:
            return bool(groups) and judge(_with_groups(at, app, groups))

        kept = _fewer(app.task_groups, keeps)
        if len(kept) < len(app.task_groups):
            cluster = _with_groups(cluster, app, kept)
    return cluster


def fewer_members(cluster: Cluster, judge: Judge) -> Cluster:
    """Lower minMember: to 1, else by halves, else by one."""
    for name, group_name in [(a.name, g.name) for a in cluster.applications for g in a.task_groups]:
        step = True
        while step:
            step = False
            app = next(a for a in cluster.applications if a.name == name)
            now = next(g.min_member for g in app.task_groups if g.name == group_name)
            for fewer in sorted({1, now // 2, now - 1}):
                if not 1 <= fewer < now:
                    continue
                groups = tuple(replace(g, min_member=fewer) if g.name == group_name else g for g in app.task_groups)
                candidate = _with_groups(cluster, app, groups)
                if judge(candidate):
                    cluster, step = candidate, True
                    break
    return cluster


def fewer_members_on_fewer_nodes(cluster: Cluster, judge: Judge) -> Cluster:
    """Take away a node and a member together: a gang as wide as the cluster lets go of neither alone."""
    step = True
    while step:
        step = False
        for candidate in _narrower(cluster):
            if judge(candidate):
                cluster, step = candidate, True
                break
    return cluster


def _narrower(cluster: Cluster) -> Iterator[Cluster]:
    """Every cluster with one node less, of each kind of node, and one member less in one task group."""
    kinds = {
        (n.capacity, n.occupied, n.taints, n.schedulable, tuple(sorted(n.labels.items()))): n.name
        for n in cluster.nodes
    }
    for name in kinds.values():
        part = _on(cluster, {n.name for n in cluster.nodes} - {name})
        for app in part.applications:
            for group in app.task_groups:
                if group.min_member > 1:
                    fewer = replace(group, min_member=group.min_member - 1)
                    yield _with_groups(part, app, tuple(fewer if g is group else g for g in app.task_groups))


def fewer_running_pods(cluster: Cluster, judge: Judge) -> Cluster:
    """Take away running pods."""
    kept = _fewer(cluster.running, lambda pods: judge(replace(cluster, running=pods)))
    return cluster if len(kept) == len(cluster.running) else replace(cluster, running=kept)


def _edit(cluster: Cluster, name: str, change: Callable[[Queue], Queue]) -> Cluster:
    def visit(queue: Queue) -> Queue:
        if queue.name == name:
            return change(queue)
        return replace(queue, children=tuple(visit(child) for child in queue.children))

    return replace(cluster, queues=QueueTree(visit(cluster.queues.root)))


def fewer_limits(cluster: Cluster, judge: Judge) -> Cluster:
    """Lift maxima, guarantees and application counts, one at a time."""
    for queue in list(cluster.queues):
        edits: list[Callable[[Queue], Queue]] = []
        for resource in queue.maximum:
            edits.append(lambda q, r=resource: replace(q, maximum=_without(q.maximum, r)))  # type: ignore[misc]
        for resource in queue.guaranteed:
            edits.append(lambda q, r=resource: replace(q, guaranteed=_without(q.guaranteed, r)))  # type: ignore[misc]
        if queue.max_applications is not None:
            edits.append(lambda q: replace(q, max_applications=None))
        for edit in edits:
            candidate = _edit(cluster, queue.name, edit)
            if judge(candidate):
                cluster = candidate
    return cluster


def _without(amounts: Resources, name: str) -> Resources:
    return Resources({n: a for n, a in amounts.items() if n != name})


def without_idle_queues(cluster: Cluster) -> Cluster:
    """``cluster`` without the queues below which no gang waits and no pod runs; the root stays."""
    busy = {a.queue for a in cluster.applications} | {p.queue for p in cluster.running}

    def visit(queue: Queue) -> Queue:
        kept = tuple(visit(c) for c in queue.children if any(q.name in busy for q in c.walk()))
        # a parent that loses all its children must not turn into a leaf
        return replace(queue, children=kept, is_parent=queue.is_parent or bool(queue.children))

    return replace(cluster, queues=QueueTree(visit(cluster.queues.root)))


def fewer_queues(cluster: Cluster, judge: Judge) -> Cluster:
    """Take away idle queues, all at once."""
    candidate = without_idle_queues(cluster)
    return candidate if candidate.queues != cluster.queues and judge(candidate) else cluster

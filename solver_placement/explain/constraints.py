"""What may block one gang, in the user's words, each with the edit of the cluster that lifts it.

Only what could matter is listed: maxima for what the gang asks for, taints that it does not tolerate, and so on. With
all of it lifted a gang fits as soon as there is a node. Lifting more never makes it fit less.
"""

from __future__ import annotations

import enum
import functools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from reference.cluster import PODS, Application, Cluster, Queue, RunningPod, Taint, TaintEffect, TaskGroup
from reference.cluster.topology import TopologyConstraint
from reference.errors import sample
from reference.schedulers.amounts import show
from solver_placement.explain import edits

FEW_OWNERS = 4
"""Running pods are told apart by gang where they are of at most so many gangs, else by how near their queues are."""


class Kind(enum.Enum):
    """What kind of constraint it is."""

    QUEUE_MAXIMUM = "queue maximum"
    MAX_APPLICATIONS = "queue maxapplications"
    QUEUE_RESERVED = "queue reserved"
    NODE_SELECTOR = "node selector"
    NODE_AFFINITY = "node affinity"
    TAINT = "taint"
    CORDON = "cordon"
    TOPOLOGY = "topology"
    NODE_CAPACITY = "node capacity"
    RUNNING_PODS = "running pods"
    NO_NODES = "no nodes"


@dataclass(frozen=True, slots=True)
class Constraint:
    """``where`` is the queue, task group, composite or gang that has it, "" where it belongs to nodes; ``what`` is the
    resource, label, taint or topology keys. ``text`` says it, ``relax`` says how it is lifted. ``lift`` is that edit;
    None where no edit of the cluster's rules helps."""

    kind: Kind
    where: str
    what: str
    text: str
    relax: str
    lift: Callable[[Cluster], Cluster] | None = field(repr=False, compare=False)


Owner = tuple[str, str]
"""Whose running pods: a queue, and a gang in it or "" for all that are there."""


def owners(cluster: Cluster, app: Application) -> Callable[[RunningPod], Owner]:
    """Which owner a running pod belongs to: its gang where gangs are few, else the lowest queue above both it and
    ``app``. So pods that count against the same maxima go together, and their subsets stay few."""
    if len({(pod.queue, pod.application) for pod in cluster.running}) <= FEW_OWNERS:
        return lambda pod: (pod.queue, pod.application)
    path = [queue.name for queue in cluster.queues.path(app.queue)]

    @functools.cache
    def nearest(queue: str) -> Owner:
        return next((name for name in reversed(path) if queue == name or queue.startswith(name + ".")), ""), ""

    return lambda pod: nearest(pod.queue)


def constraints(cluster: Cluster, app: Application) -> list[Constraint]:
    """What may block ``app`` in ``cluster``, in the order in which a user would look at it."""
    if not cluster.nodes:
        return [Constraint(Kind.NO_NODES, "", "", "the cluster has no nodes", "add nodes", None)]
    asked = edits.asked(app)
    return [
        *_queues(cluster, app, asked),
        *_topology(app),
        *_selectors(cluster, app),
        *_taints(cluster, app),
        *_cordon(cluster),
        *_running(cluster, app),
        *_capacity(cluster, app, asked),
    ]


def _queues(cluster: Cluster, app: Application, asked: dict[str, int]) -> Iterator[Constraint]:
    path = cluster.queues.path(app.queue)
    for queue in reversed(path):
        used = cluster.queue_usage(queue.name)
        for name, limit in queue.maximum.items():
            if name in asked:
                held = f", running pods hold {show(name, n)}" if (n := used.amount(name)) else ""
                text = f"queue {queue.name}: max {name} {show(name, limit)}{held}"
                relax = f"raise max {name} of queue {queue.name}"
                yield Constraint(
                    Kind.QUEUE_MAXIMUM, queue.name, name, text, relax, edits.without_maximum(queue.name, name)
                )
        if queue.max_applications is not None:
            left = queue.max_applications - len(cluster.running_applications(queue.name))
            yield Constraint(
                Kind.MAX_APPLICATIONS,
                queue.name,
                "applications",
                f"queue {queue.name}: maxapplications, {max(left, 0)} left",
                f"raise maxapplications of queue {queue.name}",
                edits.without_max_applications(queue.name),
            )
    on_path = {queue.name for queue in path}
    limited = [queue for queue in path if queue.maximum]
    for queue in cluster.queues:
        for name, amount in queue.reserved.items():
            above = any(_inside(queue, other) and name in other.maximum for other in limited)
            if amount > 0 and name in asked and above and queue.name not in on_path:
                yield Constraint(
                    Kind.QUEUE_RESERVED,
                    queue.name,
                    name,
                    f"queue {queue.name}: {name} {show(name, amount)} is reserved for it",
                    f"let others use the reserved {name} of queue {queue.name}",
                    edits.without_reserved(queue.name, name),
                )


def _inside(queue: Queue, other: Queue) -> bool:
    return queue.name.startswith(other.name + ".")


def topologies(app: Application) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The required topology of the gang and its parts: who has it, its keys, the task groups that it speaks of."""

    def each(
        where: str, near: tuple[TopologyConstraint, ...], groups: tuple[str, ...]
    ) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        seen: set[tuple[str, ...]] = set()
        for constraint in near:
            if constraint.required and constraint.keys not in seen:
                seen.add(constraint.keys)
                yield where, constraint.keys, groups

    yield from each("", app.topology, tuple(group.name for group in app.task_groups))
    for group in app.task_groups:
        yield from each(group.name, group.topology, (group.name,))
    for composite in app.composites:
        yield from each(composite.name, composite.topology, edits.groups_below(app, composite.name))


def _topology(app: Application) -> Iterator[Constraint]:
    for where, keys, _ in topologies(app):
        what = ", ".join(keys)
        whose = f"{app.name}/{where}" if where else app.name
        yield Constraint(
            Kind.TOPOLOGY,
            whose,
            what,
            f"topology of {whose}: all pods in one domain of {what}",
            f"do not require one domain of {what} for {whose}",
            edits.without_topology(app.name, where, keys),
        )


def _selectors(cluster: Cluster, app: Application) -> Iterator[Constraint]:
    for group in app.task_groups:
        whose = f"{app.name}/{group.name}"
        for key, value in dict.fromkeys(group.constraints.node_selector):
            matching = sum(node.labels.get(key) == value for node in cluster.nodes)
            if matching < len(cluster.nodes):
                yield Constraint(
                    Kind.NODE_SELECTOR,
                    whose,
                    f"{key}={value}",
                    f"nodeSelector {key}={value} of {whose}: {_of(matching, cluster)} match",
                    f"drop nodeSelector {key}={value} of {whose}",
                    edits.without_selector(app.name, group.name, key, value),
                )
        if group.constraints.affinity_terms:
            lifted = edits.only_affinity(group)
            matching = sum(node.admits(lifted) for node in edits.bare(cluster).nodes)
            if matching < len(cluster.nodes):
                yield Constraint(
                    Kind.NODE_AFFINITY,
                    whose,
                    "required node affinity",
                    f"required node affinity of {whose}: {_of(matching, cluster)} match",
                    f"drop the required node affinity of {whose}",
                    edits.without_affinity(app.name, group.name),
                )


def _of(count: int, cluster: Cluster) -> str:
    return f"{count} of {len(cluster.nodes)} nodes"


def taint_text(taint: Taint) -> str:
    """``key=value:effect`` as ``kubectl`` writes it."""
    return f"{taint.key}={taint.value}:{taint.effect.value}" if taint.value else f"{taint.key}:{taint.effect.value}"


def repels(taint: Taint, group: TaskGroup) -> bool:
    """Whether ``taint`` keeps pods of ``group`` off a node."""
    hard = taint.effect is not TaintEffect.PREFER_NO_SCHEDULE
    return hard and not any(t.tolerates(taint) for t in group.constraints.tolerations)


def _taints(cluster: Cluster, app: Application) -> Iterator[Constraint]:
    there = Counter(taint for node in cluster.nodes for taint in set(node.taints))
    for taint in dict.fromkeys(taint for node in cluster.nodes for taint in node.taints):
        kept_off = [group.name for group in app.task_groups if repels(taint, group)]
        if kept_off:
            text = taint_text(taint)
            yield Constraint(
                Kind.TAINT,
                "",
                text,
                f"taint {text} on {_of(there[taint], cluster)}, not tolerated by {sample(kept_off)}",
                f"tolerate taint {text} in {sample(kept_off)}, or remove it",
                edits.without_taint(taint),
            )


def _cordon(cluster: Cluster) -> Iterator[Constraint]:
    cordoned = [node.name for node in cluster.nodes if not node.schedulable]
    if cordoned:
        yield Constraint(
            Kind.CORDON,
            "",
            "unschedulable",
            f"{_of(len(cordoned), cluster)} are cordoned: {sample(cordoned)}",
            f"uncordon {sample(cordoned)}",
            edits.uncordoned,
        )


def _running(cluster: Cluster, app: Application) -> Iterator[Constraint]:
    owner = owners(cluster, app)
    for key, count in sorted(Counter(map(owner, cluster.running)).items()):
        queue, application = key
        inner = queue != app.queue and not application
        whose = f"{'other queues in' if inner else 'queue'} {queue}" if queue else "queues elsewhere"
        whose = f"gang {application}" if application else whose
        pods = "1 running pod" if count == 1 else f"{count} running pods"
        yield Constraint(
            Kind.RUNNING_PODS,
            queue,
            application,
            f"{pods} of {whose}",
            f"wait for the running pods of {whose} to end, or preempt them",
            edits.without_running(owner, key),
        )


def _capacity(cluster: Cluster, app: Application, asked: dict[str, int]) -> Iterator[Constraint]:
    free = cluster.free_by_node()
    for name, in_all in asked.items():
        if name == PODS and not any(PODS in node.capacity for node in cluster.nodes):
            continue
        room = [max(free[node.name].amount(name), 0) for node in cluster.nodes if name != PODS or PODS in node.capacity]
        least = max(group.pod_resource.amount(name) for group in app.task_groups)
        text = (
            f"{name} on nodes: up to {show(name, least)} for one pod, {show(name, in_all)} for the gang; "
            f"free are {show(name, sum(room))}, at most {show(name, max(room))} on one node"
        )
        yield Constraint(
            Kind.NODE_CAPACITY, "", name, text, f"more {name} on nodes, or more such nodes", edits.roomy(app, name)
        )

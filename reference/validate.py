"""The independent judge: is this placement a good answer for this cluster?

It shares no code with a scheduler or the solver. From ``reference.cluster`` it takes the data only: it adds up amounts,
walks the queues and matches labels, taints and affinity itself, so that a fault in a helper that scheduler and solver
both use does not hide here too. The rules are those of the Kubernetes filters NodeResourcesFit, NodeUnschedulable,
TaintToleration, NodeAffinity, InterPodAffinity and PodTopologySpread, and of YuniKorn's queues (maximum and
maxapplications at every level); those of elastic and composite gangs, topology domains and reserved amounts are in the
docstrings of ``reference.cluster``.

A limit that running pods alone already break is held against a placement only where the placement adds to it. What only
steers (guaranteed and deserved amounts, weights, priorities, wishes) is no rule.
"""

from __future__ import annotations

import enum
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reference.cluster import (
    PODS,
    Application,
    Assignment,
    Cluster,
    Node,
    Placement,
    Queue,
    RunningPod,
    TaskGroup,
)
from reference.validate_gangs import apart, groups_below, no_pod, shares_fit, whole_gang
from reference.validate_matching import why_not
from reference.validate_neighbours import Pods, neighbours_broken


class Rule(enum.Enum):
    """What a placement can do wrong."""

    UNKNOWN_NAME = "unknown name"
    COUNT = "count below 1"
    DUPLICATE = "listed twice"
    ORDER = "not sorted"
    PARTIAL_GANG = "gang not whole"
    TOPOLOGY = "topology"
    NODE_CAPACITY = "node capacity"
    NODE_CONSTRAINT = "node constraint"
    POD_AFFINITY = "pod affinity"
    SPREAD = "topology spread"
    QUEUE_MAXIMUM = "queue maximum"
    QUEUE_RESERVED = "queue reserved"
    MAX_APPLICATIONS = "queue maxapplications"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: ``where`` names the gang, node or queue; ``message`` says what was found and what is right."""

    rule: Rule
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule.value}: {self.where}: {self.message}"


def validate(cluster: Cluster, placement: Placement) -> list[Violation]:
    """Every rule that ``placement`` breaks in ``cluster``, in a fixed order; empty for a good placement.

    ``cluster`` must itself be good (``Cluster.problems``). Assignments with unknown names are reported once and then
    left out of every other sum.
    """
    judge = _Judge(cluster, placement)
    return [
        *judge.form(),
        *judge.names(),
        *judge.gangs(),
        *judge.topology(),
        *judge.nodes(),
        *judge.neighbours(),
        *judge.queues(),
        *judge.reserved(),
        *judge.pending(),
    ]


class _Judge:
    """The lookups that the rules share; a rule is a generator of violations."""

    def __init__(self, cluster: Cluster, placement: Placement) -> None:
        self.cluster = cluster
        self.placement = placement
        self.apps = {app.name: app for app in cluster.applications}
        self.groups = {(app.name, group.name): group for app in cluster.applications for group in app.task_groups}
        self.node_of = {node.name: node for node in cluster.nodes}
        self.known = [
            a for a in placement.assignments if (a.application, a.task_group) in self.groups and a.node in self.node_of
        ]

        self.placed_on: dict[str, list[Assignment]] = {}
        for a in self.known:
            self.placed_on.setdefault(a.node, []).append(a)
        self.running_on: dict[str, list[RunningPod]] = {}
        for pod in cluster.running:
            self.running_on.setdefault(pod.node, []).append(pod)

    def form(self) -> Iterator[Violation]:
        """Counts, order, and every entry only once."""
        assignments = self.placement.assignments
        for a in assignments:
            if a.count < 1:
                yield Violation(Rule.COUNT, _cell(a), f"count must be at least 1, found {a.count}")
        cells = [(a.application, a.task_group, a.node) for a in assignments]
        for (app, group, node), times in sorted(Counter(cells).items()):
            if times > 1:
                where = f"{app}/{group}@{node}"
                yield Violation(Rule.DUPLICATE, where, f"listed {times} times in assignments, expected once")
        for name, times in sorted(Counter(self.placement.admitted).items()):
            if times > 1:
                yield Violation(Rule.DUPLICATE, name, f"listed {times} times in admitted, expected once")
        for what, found in (
            ("assignments", cells),
            ("admitted", [(name,) for name in self.placement.admitted]),
            ("pending", [(name,) for name in self.placement.pending]),
        ):
            for before, after in itertools.pairwise(found):
                if before > after:
                    yield Violation(Rule.ORDER, what, f"{'/'.join(after)} comes after {'/'.join(before)}")
                    break

    def names(self) -> Iterator[Violation]:
        """Every name is one of the cluster's."""
        for a in self.placement.assignments:
            if a.application not in self.apps:
                yield Violation(Rule.UNKNOWN_NAME, _cell(a), f"no application is named {a.application!r}")
            elif (a.application, a.task_group) not in self.groups:
                yield Violation(
                    Rule.UNKNOWN_NAME, _cell(a), f"application {a.application!r} has no task group {a.task_group!r}"
                )
            if a.node not in self.node_of:
                yield Violation(Rule.UNKNOWN_NAME, _cell(a), f"no node is named {a.node!r}")
        for what, listed in (("admitted", self.placement.admitted), ("pending", tuple(self.placement.pending))):
            for name in listed:
                if name not in self.apps:
                    yield Violation(Rule.UNKNOWN_NAME, what, f"no application is named {name!r}")

    def gangs(self) -> Iterator[Violation]:
        """All or nothing: of an admitted gang every group that has to be whole is, any other gang has no pod."""
        placed: Counter[tuple[str, str]] = Counter()
        for a in self.known:
            placed[a.application, a.task_group] += a.count
        admitted = set(self.placement.admitted)
        for app in self.cluster.applications:
            counts = {group.name: placed[app.name, group.name] for group in app.task_groups}
            faults = whole_gang(app, counts) if app.name in admitted else no_pod(app, counts)
            yield from (Violation(Rule.PARTIAL_GANG, where, message) for where, message in faults)

    def topology(self) -> Iterator[Violation]:
        """Pods that have to be in one domain are: their nodes have its labels, and agree on them."""
        nodes: dict[tuple[str, str], set[str]] = {}
        for a in self.known:
            nodes.setdefault((a.application, a.task_group), set()).add(a.node)
        for app in self.cluster.applications:
            parts = [(app.name, app.topology, [group.name for group in app.task_groups])]
            parts += [(f"{app.name}/{group.name}", group.topology, [group.name]) for group in app.task_groups]
            parts += [(f"{app.name}/{each.name}", each.topology, groups_below(app, each)) for each in app.composites]
            for where, constraints, names in parts:
                used = sorted({node for name in names for node in nodes.get((app.name, name), ())})
                for constraint in constraints:
                    if constraint.required and (message := apart(constraint, [self.node_of[name] for name in used])):
                        yield Violation(Rule.TOPOLOGY, where, message)

    def nodes(self) -> Iterator[Violation]:
        """No node holds more than its capacity, and none holds a pod that may not run there."""
        running: dict[str, dict[str, int]] = {name: dict(node.occupied) for name, node in self.node_of.items()}
        for pod in self.cluster.running:
            _add(running.setdefault(pod.node, {}), pod.resources, 1)
        added: dict[str, dict[str, int]] = {name: {} for name in self.node_of}
        for a in self.known:
            _add(added[a.node], _pod(self.groups[a.application, a.task_group]), a.count)
        for node in self.cluster.nodes:
            for name, amount in sorted(added[node.name].items()):
                if name == PODS and PODS not in node.capacity:
                    continue  # a node that does not list pods does not limit them (Node.counted)
                capacity = node.capacity.get(name, 0)
                used = running[node.name].get(name, 0) + amount
                if amount > 0 and used > capacity:
                    yield Violation(
                        Rule.NODE_CAPACITY, node.name, f"{name}: {used} used ({amount} placed), capacity {capacity}"
                    )
                elif amount > 0 and name in node.devices and not self._arranged(node, name):
                    message = f"{name}: the shares on this node do not fit on its {capacity // 1000} devices"
                    yield Violation(Rule.NODE_CAPACITY, node.name, message)
        for a in self.known:
            reason = why_not(self.node_of[a.node], self.groups[a.application, a.task_group].constraints)
            if reason:
                yield Violation(Rule.NODE_CONSTRAINT, _cell(a), reason)

    def neighbours(self) -> Iterator[Violation]:
        """Pods stand where they have to beside others, and where others let them."""
        groups = ((a, self.groups[a.application, a.task_group]) for a in self.known)
        placed = [Pods(_cell(a), self.node_of[a.node], a.count, g.neighbours, g.constraints) for a, g in groups]
        for is_spread, where, message in neighbours_broken(self.cluster, placed):
            yield Violation(Rule.SPREAD if is_spread else Rule.POD_AFFINITY, where, message)

    def _arranged(self, node: Node, name: str) -> bool:
        """Whether what all pods on ``node`` have of ``name`` fits on its devices."""
        asked = [pod.resources.get(name, 0) for pod in self.running_on.get(node.name, ())]
        for a in self.placed_on.get(node.name, ()):
            asked += [_pod(self.groups[a.application, a.task_group]).get(name, 0)] * a.count
        whole = sum(amount for amount in asked if amount >= 1000) + node.occupied.get(name, 0)
        devices = (node.capacity.get(name, 0) - whole) // 1000
        return shares_fit(sorted((a for a in asked if 0 < a < 1000), reverse=True), [1000] * devices)

    def queues(self) -> Iterator[Violation]:
        """No queue, at any level, is over its maximum or more gangs run there than maxapplications."""
        placed: dict[str, dict[str, int]] = {}
        for a in self.known:
            _add(placed.setdefault(a.application, {}), _pod(self.groups[a.application, a.task_group]), a.count)
        started = {name for name in self.placement.admitted if name in self.apps} | set(placed)
        for queue in _walk(self.cluster.queues.root):
            here = sorted(name for name in started if _below(self.apps[name], queue))
            added: dict[str, int] = {}
            for name in here:
                _add(added, placed.get(name, {}), 1)
            used: dict[str, int] = dict(added)
            running: set[str] = set()
            for pod in self.cluster.running:
                if pod.queue == queue.name or pod.queue.startswith(queue.name + "."):
                    _add(used, pod.resources, 1)
                    running |= {pod.application} - {""}
            for name, limit in queue.maximum.items():
                if added.get(name, 0) > 0 and used[name] > max(limit, 0):
                    yield Violation(
                        Rule.QUEUE_MAXIMUM,
                        queue.name,
                        f"{name}: {used[name]} used ({added[name]} placed), maximum {limit}",
                    )
            new = set(here) - running
            if new and queue.max_applications is not None and len(new) + len(running) > queue.max_applications:
                beside = f" beside {len(running)} that run" if running else ""
                yield Violation(
                    Rule.MAX_APPLICATIONS,
                    queue.name,
                    f"{len(new)} gangs placed{beside}, at most {queue.max_applications} allowed",
                )

    def reserved(self) -> Iterator[Violation]:
        """What a queue has reserved is left to it: below no maximum do others use it up."""
        if not any(queue.reserved for queue in _walk(self.cluster.queues.root)):
            return
        before: dict[str, dict[str, int]] = {}
        for pod in self.cluster.running:
            _add(before.setdefault(pod.queue, {}), pod.resources, 1)
        after = {name: dict(amounts) for name, amounts in before.items()}
        for a in self.known:
            queue = self.apps[a.application].queue
            _add(after.setdefault(queue, {}), _pod(self.groups[a.application, a.task_group]), a.count)
        for each in _walk(self.cluster.queues.root):
            old, new, used = (_taken(each, use, kept) for use, kept in ((before, True), (after, True), (after, False)))
            for name, limit in each.maximum.items():
                # what is over the maximum without what is kept is told by the rule on maxima
                if new.get(name, 0) > max(limit, old.get(name, 0)) and used.get(name, 0) <= limit:
                    yield Violation(
                        Rule.QUEUE_RESERVED,
                        each.name,
                        f"{name}: {used.get(name, 0)} used, {new[name]} with what queues below have reserved, "
                        f"maximum {limit}",
                    )

    def pending(self) -> Iterator[Violation]:
        """``pending`` names every gang that is not admitted, no other, each with a reason of one line."""
        admitted = set(self.placement.admitted)
        for name in sorted(self.apps):
            if name in admitted and name in self.placement.pending:
                yield Violation(Rule.PENDING, name, "is admitted and also pending")
            if name not in admitted and name not in self.placement.pending:
                yield Violation(Rule.PENDING, name, "is neither admitted nor pending")
        for name, reason in self.placement.pending.items():
            if not reason.strip() or len(reason.splitlines()) > 1:
                yield Violation(Rule.PENDING, name, f"expected a reason of one line, found {reason!r}")


def _cell(a: Assignment) -> str:
    return f"{a.application}/{a.task_group}@{a.node}"


def _taken(queue: Queue, use: Mapping[str, Mapping[str, int]], kept: bool) -> dict[str, int]:
    """What the queues below ``queue`` take of it: what they use or, where ``kept`` counts, have reserved, if more."""
    sums = dict(use.get(queue.name, {}))
    for child in queue.children:
        below = _taken(child, use, kept)
        if kept:
            below.update((name, max(below.get(name, 0), amount)) for name, amount in child.reserved.items())
        _add(sums, below, 1)
    return sums


def _pod(group: TaskGroup) -> dict[str, int]:
    """What one member takes: its request and one of ``pods``."""
    amounts = dict(group.min_resource)
    amounts[PODS] = amounts.get(PODS, 0) + 1
    return amounts


def _add(sums: dict[str, int], amounts: Mapping[str, int], times: int) -> None:
    for name, amount in amounts.items():
        sums[name] = sums.get(name, 0) + amount * times


def _walk(queue: Queue) -> Iterator[Queue]:
    yield queue
    for child in queue.children:
        yield from _walk(child)


def _below(app: Application, queue: Queue) -> bool:
    """Whether ``app`` runs in ``queue`` or in a queue under it."""
    return app.queue == queue.name or any(_below(app, child) for child in queue.children)

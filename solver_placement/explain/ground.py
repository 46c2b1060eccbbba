"""One gang against a cluster, as arrays: what each constraint takes away, so that a subset is judged without edits.

Amounts are 64-bit integers in the base units of ``reference.cluster.resources``; a cluster with larger ones is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from reference.cluster import PODS, Application, Cluster, Queue, TaskGroup
from solver_placement.explain import edits
from solver_placement.explain.constraints import Constraint, Kind, owners, repels, taint_text, topologies
from solver_placement.problem import ProblemTooLarge

Amounts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

LARGEST_AMOUNT = 2**53
"""Above this, amounts are refused: sums of a few hundred of them still fit 64 bits."""


@dataclass(frozen=True, slots=True)
class Near:
    """Pods of ``groups`` (by index) have to be in one domain; ``domain[n]`` is that of node n, -1 where it has none."""

    groups: tuple[int, ...]
    domain: npt.NDArray[np.int64]
    domains: int


@dataclass(frozen=True, slots=True)
class Question:
    """What is left for a subset of constraints.

    ``free``: nodes x resources, at most what the gang asks in all. ``admits``: groups x nodes. ``ask[r]``: the most of
    resource r that the queues let the gang have. ``applications``: whether they let it start at all.
    """

    app: Application
    requests: Amounts
    free: Amounts
    admits: Mask
    near: tuple[Near, ...]
    ask: Amounts
    applications: bool


class Ground:
    """The tables of ``app`` in ``cluster``; ``question(lifted)`` is what they say without some of ``constraints``."""

    def __init__(self, cluster: Cluster, app: Application, constraints: Sequence[Constraint]) -> None:
        self.cluster, self.app, self.constraints = cluster, app, constraints
        self.resources = tuple(edits.asked(app))
        groups = app.task_groups
        self.requests = self._table([[max(g.pod_resource.amount(r), 0) for r in self.resources] for g in groups])
        self.most = self.requests.T @ np.array([g.most for g in groups], np.int64)
        if int(self.most.max(initial=0)) > LARGEST_AMOUNT:
            raise ProblemTooLarge(f"gang {app.name} asks more than {LARGEST_AMOUNT} of a resource in all")
        nodes = cluster.nodes
        self._available = self._table([[n.available.amount(r) for r in self.resources] for n in nodes])
        unlimited = [PODS not in node.capacity for node in nodes]
        if PODS in self.resources:
            self._available[unlimited, self.resources.index(PODS)] = LARGEST_AMOUNT
        self._held = self._running()
        self._forbidden = [self._forbids(each) for each in constraints]
        self._near = self._topologies()
        self._all = {c: i for i, c in enumerate(constraints)}

    def _table(self, rows: list[list[int]]) -> Amounts:
        if any(abs(amount) > LARGEST_AMOUNT for row in rows for amount in row):
            raise ProblemTooLarge(f"an amount is above {LARGEST_AMOUNT}, the most that can be counted")
        return np.array(rows, np.int64).reshape(len(rows), len(self.resources))

    def _running(self) -> dict[int, Amounts]:
        """What the running pods of each constraint hold: nodes x resources."""
        owner = owners(self.cluster, self.app)
        numbers = {(c.where, c.what): i for i, c in enumerate(self.constraints) if c.kind is Kind.RUNNING_PODS}
        place = {node.name: n for n, node in enumerate(self.cluster.nodes)}
        held = {i: [[0] * len(self.resources) for _ in place] for i in numbers.values()}
        for pod in self.cluster.running:
            row = held[numbers[owner(pod)]][place[pod.node]]
            for r, name in enumerate(self.resources):
                row[r] += pod.resources.amount(name)
        return {i: self._table(rows) for i, rows in held.items()}

    def _forbids(self, constraint: Constraint) -> Mask | None:
        """Groups x nodes that the constraint forbids; None for one that does not speak of single nodes."""
        nodes, groups = self.cluster.nodes, self.app.task_groups

        def of(rule: Callable[[TaskGroup, int], bool]) -> Mask:
            return np.array([[rule(g, n) for n in range(len(nodes))] for g in groups], np.bool_).reshape(
                len(groups), len(nodes)
            )

        def whose(group: TaskGroup) -> bool:
            return constraint.where == f"{self.app.name}/{group.name}"

        match constraint.kind:
            case Kind.NODE_SELECTOR:
                return of(lambda g, n: whose(g) and _misses(constraint.what, g, nodes[n].labels))
            case Kind.NODE_AFFINITY:
                plain = edits.bare(self.cluster).nodes
                return of(lambda g, n: whose(g) and not plain[n].admits(edits.only_affinity(g)))
            case Kind.TAINT:
                taints = [{t for t in node.taints if taint_text(t) == constraint.what} for node in nodes]
                return of(lambda g, n: any(repels(taint, g) for taint in taints[n]))
            case Kind.CORDON:
                return of(lambda g, n: not nodes[n].schedulable)
            case _:
                return None

    def _topologies(self) -> dict[int, Near]:
        numbers = {(c.where, c.what): i for i, c in enumerate(self.constraints) if c.kind is Kind.TOPOLOGY}
        index = {group.name: g for g, group in enumerate(self.app.task_groups)}
        found: dict[int, Near] = {}
        for where, keys, groups in topologies(self.app):
            whose = f"{self.app.name}/{where}" if where else self.app.name
            names: dict[tuple[str, ...], int] = {}
            domain = [
                -1 if any(key not in node.labels for key in keys)
                else names.setdefault(tuple(node.labels[key] for key in keys), len(names))
                for node in self.cluster.nodes
            ]  # fmt: skip
            near = Near(tuple(index[name] for name in groups), np.array(domain, np.int64), len(names))
            found[numbers[whose, ", ".join(keys)]] = near
        return found

    def question(self, lifted: frozenset[int]) -> Question:
        """What is asked of the nodes where the constraints of these numbers do not hold."""
        free = self._available.copy()
        for i, held in self._held.items():
            if i not in lifted:
                free -= held
        np.clip(free, 0, self.most, out=free)
        for i in lifted:
            if self.constraints[i].kind is Kind.NODE_CAPACITY:
                r = self.resources.index(self.constraints[i].what)
                free[:, r] = self.most[r]
        admits = np.ones((len(self.app.task_groups), len(self.cluster.nodes)), np.bool_)
        for i, mask in enumerate(self._forbidden):
            if mask is not None and i not in lifted:
                admits &= ~mask
        near = tuple(
            sorted(
                (near for i, near in self._near.items() if i not in lifted), key=lambda n: (-len(n.groups), n.domains)
            )
        )
        ask = np.array([self._allowed(r, lifted) for r in range(len(self.resources))], np.int64)
        kept = [c for i, c in enumerate(self.constraints) if c.kind is Kind.MAX_APPLICATIONS and i not in lifted]
        applications = all(self._more_applications(c.where, lifted) for c in kept)
        return Question(self.app, self.requests, free, admits, near, ask, applications)

    def _more_applications(self, queue: str, lifted: frozenset[int]) -> bool:
        """Whether one application more may run in a queue that has ``max_applications``."""
        ended, owner = self._ended(lifted), owners(self.cluster, self.app)
        left = replace(self.cluster, running=tuple(pod for pod in self.cluster.running if owner(pod) not in ended))
        most = self.cluster.queues.path(queue)[-1].max_applications or 0
        return len(left.running_applications(queue)) < most

    def _ended(self, lifted: frozenset[int]) -> set[tuple[str, str]]:
        """Whose running pods are gone."""
        return {(c.where, c.what) for i in lifted if (c := self.constraints[i]).kind is Kind.RUNNING_PODS}

    def needed_maximum(self, queue: str, resource: str, ask: int, lifted: frozenset[int]) -> int:
        """The maximum of ``queue`` that just lets the gang have ``ask`` of ``resource``."""
        found = self.cluster.queues.path(queue)[-1]
        use = self._usage(resource, lifted)
        return max(self._taken(found, resource, use, lifted, ask, kept) for kept in (False, True))

    def _allowed(self, r: int, lifted: frozenset[int]) -> int:
        """The most of resource r that every queue on the gang's path lets it have; what it asks at most if no limit."""
        name, most = self.resources[r], int(self.most[r])
        limited = {c.where for i, c in enumerate(self.constraints)
                   if c.kind is Kind.QUEUE_MAXIMUM and c.what == name and i not in lifted}  # fmt: skip
        use = self._usage(name, lifted) if limited else {}
        for queue in self.cluster.queues.path(self.app.queue):
            if queue.name in limited:
                most = self._largest(queue, name, use, lifted, most)
        return most

    def _largest(self, queue: Queue, name: str, use: Mapping[str, int], lifted: frozenset[int], most: int) -> int:
        """The largest ask up to ``most`` within the maximum of ``queue``: with more, it is never right again."""
        limit = max(queue.maximum[name], 0)
        before = self._taken(queue, name, use, lifted, 0, kept=True)

        def within(ask: int) -> bool:
            used, taken = (self._taken(queue, name, use, lifted, ask, kept=kept) for kept in (False, True))
            return ask == 0 or (used <= limit and taken <= max(limit, before))

        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if within(middle) else (low, middle - 1)
        return low

    def _usage(self, name: str, lifted: frozenset[int]) -> dict[str, int]:
        """What running pods hold of a resource, by their own queue."""
        ended, owner = self._ended(lifted), owners(self.cluster, self.app)
        use: dict[str, int] = {}
        for pod in self.cluster.running:
            if owner(pod) not in ended:
                use[pod.queue] = use.get(pod.queue, 0) + pod.resources.amount(name)
        return use

    def _taken(
        self, queue: Queue, name: str, use: Mapping[str, int], lifted: frozenset[int], ask: int, kept: bool
    ) -> int:
        """What is taken of ``queue`` with ``ask`` more in the gang's queue: what queues below use or, where ``kept``
        counts, have reserved, if more."""
        free_for_all = {c.where for i in lifted
                        if (c := self.constraints[i]).kind is Kind.QUEUE_RESERVED and c.what == name}  # fmt: skip

        def visit(each: Queue) -> int:
            used = use.get(each.name, 0) + (ask if each.name == self.app.queue else 0)
            for child in each.children:
                below = visit(child)
                reserved = child.reserved.amount(name) if kept and child.name not in free_for_all else 0
                used += max(below, reserved) if name in child.reserved else below
            return used

        return visit(queue)


def _misses(pair: str, group: TaskGroup, labels: Mapping[str, str]) -> bool:
    """Whether a node lacks the label ``key=value`` that ``group`` selects by."""
    return any(f"{key}={value}" == pair and labels.get(key) != value for key, value in group.constraints.node_selector)

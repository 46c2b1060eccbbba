"""A scheduling session: the state of the cluster, the plugins of the tiers, and what actions may do to it.

Upstream a session works on a snapshot. Here it works on the scheduler's own state, and what a statement left pipelined
without being carried out is taken back when the session closes, as a snapshot would be forgotten. What the plugins
count is counted anew in each session.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from reference.schedulers.volcano.api import Job, PodGroupPhase, Queue, Task, TaskStatus, TopologyMode
from reference.schedulers.volcano.hypernodes import HyperNodes
from reference.schedulers.volcano.index import NodeIndex, Rank
from reference.schedulers.volcano.nodes import NodeInfo
from reference.schedulers.volcano.options import Configuration, Edition, Point
from reference.schedulers.volcano.plugins import PLUGINS, Plugin
from reference.schedulers.volcano.plugins.network_topology import NetworkTopologyAware
from reference.schedulers.volcano.plugins.plugin import Key
from reference.schedulers.volcano.statement import Operation, Step, StepKind
from reference.schedulers.volcano.ties import Ties


class Session:
    """What actions see. ``jobs``, ``queues`` and ``nodes`` are in order of their names, so nothing depends on any
    other order; jobs of queues that do not exist are left out, as upstream skips them. ``total``: of all nodes."""

    def __init__(
        self,
        configuration: Configuration,
        jobs: Mapping[str, Job],
        queues: Mapping[str, Queue],
        nodes: Mapping[str, NodeInfo],
        hyper_nodes: HyperNodes,
        index: NodeIndex,
        weights: Mapping[str, int],
        failing_binds: set[str],
        note: Callable[[Step], None],
        total: Mapping[str, int],
        ties: Ties,
    ) -> None:
        self.configuration, self.queues, self.nodes = configuration, queues, nodes
        self.jobs = {name: job for name, job in jobs.items() if job.queue in queues}
        self.hyper_nodes, self._index = hyper_nodes, index
        self._weights = dict(weights)
        self._failing_binds, self._note = failing_binds, note
        self._ties = ties
        self.action = ""
        self.total = total
        self.touched: dict[str, Task] = {}
        """Tasks that are placed by no statement that was carried out."""
        self.bound: list[Task] = []
        self.evicted: list[Task] = []
        self.pipelined: dict[str, Task] = {}
        self.tiers: list[list[tuple[Plugin, frozenset[Point]]]] = [
            [(PLUGINS[o.name](self, Point.HIERARCHY in o.points), o.points) for o in tier]
            for tier in configuration.tiers
        ]
        everyone = [pair for tier in self.tiers for pair in tier]
        self._everyone = [plugin for plugin, _ in everyone]
        self._at = {point: [p for p, points in everyone if point in points and _has(p, point)] for point in Point}
        self._node_order, self._predicates = self._at[Point.NODE_ORDER], self._at[Point.PREDICATE]
        self._counting = [p for p in self._everyone if type(p).allocated is not Plugin.allocated]
        self.plugins = {type(plugin).__name__: plugin for plugin in self._everyone}
        self.topology = next((p for p in self._everyone if isinstance(p, NetworkTopologyAware)), None)

    def at(self, point: Point) -> Sequence[Plugin]:
        """The plugins that take part at a point, tier by tier."""
        return self._at[point]

    def note(self, kind: StepKind, job: Job | None = None, task: str = "", node: str = "", reason: str = "") -> None:
        """Tell whoever watches that something happened; the state shows it already."""
        self._note(Step(kind, self.action, job.name if job else "", task, node, reason))

    # --- state ---

    def place(self, task: Task, node: NodeInfo, status: TaskStatus) -> None:
        """A pending task gets room on a node, or the promise of it."""
        task.job.set_status(task, status)
        task.node = node.name
        node.add(task)
        self._index.touch(node.name)
        self.touched[task.name] = task
        for plugin in self._counting:
            plugin.allocated(task)

    def unplace(self, task: Task) -> None:
        """It gives it back, and is pending again."""
        node = self.nodes[task.node]
        node.remove(task)
        self._index.touch(node.name)
        task.job.set_status(task, TaskStatus.PENDING)
        task.node = ""
        del self.touched[task.name]
        for plugin in self._counting:
            plugin.deallocated(task)

    def restate(self, task: Task, status: TaskStatus) -> None:
        """A running task is evicted, or its eviction undone."""
        node = self.nodes[task.node]
        node.remove(task)
        task.job.set_status(task, status)
        node.add(task)
        self._index.touch(node.name)
        for plugin in self._counting:
            if status is TaskStatus.RELEASING:
                plugin.deallocated(task)
            else:
                plugin.allocated(task)

    def bind_fails(self, operation: Operation) -> bool:
        """Whether the bind of this operation's task is to fail; it fails once."""
        name = operation.task.name
        if operation.kind is not StepKind.ALLOCATE or name not in self._failing_binds:
            return False
        self._failing_binds.discard(name)
        return True

    def carry_out(self, kind: StepKind, task: Task) -> None:
        """One operation of a statement becomes real: a bind, an eviction, or the promise of room in this session."""
        if kind is StepKind.ALLOCATE:
            task.job.set_status(task, TaskStatus.BINDING)
            del self.touched[task.name]
            self.bound.append(task)
        elif kind is StepKind.EVICT:
            self.evicted.append(task)
        else:
            self.pipelined[task.name] = task

    def dispatch(self, job: Job) -> None:
        """A job is ready: all of its tasks that are allocated are bound."""
        for task in list(job.in_status(TaskStatus.ALLOCATED)):
            self.carry_out(StepKind.ALLOCATE, task)

    def close(self) -> None:
        """What no statement carried out is forgotten; so are promises, which the next session makes anew. A PodGroup
        with minAvailable tasks runs."""
        for task in list(self.touched.values()):
            self.unplace(task)
        for task in self.bound:
            task.job.set_status(task, TaskStatus.RUNNING)
            if task.job.ready_task_num >= task.job.min_available:
                task.job.phase = PodGroupPhase.RUNNING

    # --- orders ---

    def job_key(self, job: Job) -> Key:
        """Jobs of a queue: by the plugins, then as ``Ties`` says, like all that follow."""
        return (*(p.job_order(job) for p in self.at(Point.JOB_ORDER)), *self._ties.job(job))

    def task_key(self, task: Task) -> Key:
        """Tasks of a job."""
        return (*(p.task_order(task) for p in self.at(Point.TASK_ORDER)), *self._ties.task(task))

    def queue_key(self, queue: str) -> Key:
        """Queues."""
        return (*(p.queue_order(self.queues[queue]) for p in self.at(Point.QUEUE_ORDER)), *self._ties.queue(queue))

    def namespace_key(self, namespace: str, queue: str | None) -> Key:
        """Namespaces of a queue, of all queues for None, by share and weight."""
        return (
            *(p.namespace_order(namespace, queue) for p in self.at(Point.NAMESPACE_ORDER)),
            *self._ties.namespace(namespace),
        )

    def namespace_weight(self, namespace: str) -> int:
        """As the session's snapshot has it: the highest of its quotas, 1 without a valid one."""
        return self._weights.get(namespace, 1)

    def victims_in_order(self, victims: Sequence[Task], preemptor: Task) -> list[Task]:
        """Who goes first: of other queues by the plugins, else the last queue; then the last job, the last task."""
        mine = self.queues[preemptor.job.queue]

        def compare(a: Task, b: Task) -> int:
            return -1 if before(a, b) else 1

        def before(a: Task, b: Task) -> bool:
            if a.job is not b.job and a.job.queue != b.job.queue:
                for plugin in self._everyone:
                    left = plugin.victim_queue_order(self.queues[a.job.queue], mine)
                    right = plugin.victim_queue_order(self.queues[b.job.queue], mine)
                    if left is not None and right is not None and left != right:
                        return left < right
                return self.queue_key(a.job.queue) > self.queue_key(b.job.queue)
            if a.job is not b.job:
                mine_key, other_key = (tuple(p.job_order(t.job) for p in self.at(Point.JOB_ORDER)) for t in (a, b))
                if mine_key != other_key:
                    return mine_key > other_key
            return self.task_key(a) > self.task_key(b)

        return sorted(victims, key=functools.cmp_to_key(compare))

    # --- questions to the plugins ---

    def job_valid(self, job: Job) -> str | None:
        """Why the job is not even tried, or None."""
        return next(filter(None, (p.job_valid(job) for p in self._everyone)), None)

    def job_ready(self, job: Job) -> bool:
        return all(p.job_ready(job) for p in self.at(Point.JOB_READY))

    def job_pipelined(self, job: Job) -> bool:
        return all(p.job_pipelined(job) for p in self.at(Point.JOB_PIPELINED))

    def job_starving(self, job: Job) -> bool:
        """Whether all plugins of the first tier that has a say say so."""
        for tier in self.tiers:
            said = [p.job_starving(job) for p, points in tier if Point.JOB_STARVING in points]
            votes = [vote for vote in said if vote is not None]
            if votes:
                return all(votes)
        return False

    def job_enqueueable(self, job: Job) -> bool:
        return all(p.job_enqueueable(job) for p in self.at(Point.JOB_ENQUEUED))

    def overused(self, queue: str) -> bool:
        return any(p.overused(self.queues[queue]) for p in self.at(Point.OVERUSED))

    def allocatable(self, task: Task) -> bool:
        queue = self.queues[task.job.queue]
        return all(p.allocatable(queue, task) for p in self.at(Point.ALLOCATABLE))

    def preemptive(self, task: Task) -> bool:
        queue = self.queues[task.job.queue]
        return all(p.preemptive(queue, task) for p in self.at(Point.PREEMPTIVE))

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> list[Task]:
        """The victims for a task of the same queue."""
        return self._victims(Point.PREEMPTABLE, lambda p: p.preemptable(preemptor, candidates))

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> list[Task]:
        """The victims for a task of another queue."""
        return self._victims(Point.RECLAIMABLE, lambda p: p.reclaimable(reclaimer, candidates))

    def _victims(self, point: Point, choose: Callable[[Plugin], list[Task] | None]) -> list[Task]:
        """What all plugins of a tier choose; the first tier in which that is anyone decides."""
        for tier in self.tiers:
            chosen = [choose(plugin) for plugin, points in tier if point in points]
            said = [tasks for tasks in chosen if tasks is not None]
            if said:
                others = [{task.name for task in tasks} for tasks in said[1:]]
                victims = [task for task in said[0] if all(task.name in names for names in others)]
                if victims:
                    return victims
        return []

    # --- nodes ---

    def why_never(self, task: Task, node: NodeInfo) -> str | None:
        """Why no eviction helps the task onto the node, or None."""
        return next(filter(None, (p.predicate(task, node) for p in self._predicates)), None)

    def why_not(self, task: Task, node: NodeInfo) -> str | None:
        """The predicate of allocate: why the task cannot go to the node, even once what runs down is gone."""
        short = node.short_of(task.resreq)
        return f"insufficient {short}" if short else self.why_never(task, node)

    def score(self, task: Task, node: NodeInfo) -> int:
        score = 0
        for plugin in self._node_order:
            score += plugin.node_order(task, node)
        return score

    def admits(self, task: Task, node: NodeInfo) -> bool:
        """Whether the task may run on the node at all; that does not change while the node is there."""
        return self.why_never(task, node) is None

    def rank(self, task: Task, node: NodeInfo) -> Rank | None:
        """What a node that admits the task is to it: None without room; room now before room to come, then score."""
        fits = node.fits(task.resreq)
        if node.releasing or node.pipelined:
            if node.short_of(task.resreq) is not None:
                return None
        elif not fits:
            return None
        return (0 if fits else 1, -self.score(task, node))

    def best(self, task: Task) -> NodeInfo | None:
        """The best of all nodes, or None."""
        if self.configuration.index:
            return self._index.best(task, self.admits, self.rank)
        return self.best_of(task, list(self.nodes.values()), "")

    def best_of(self, task: Task, nodes: Sequence[NodeInfo], near: str) -> NodeInfo | None:
        """The rule: with room now before room to come, the highest score, the first by name. ``near``: the HyperNode in
        which the job's other tasks are, for one that has a topology."""
        admitting = [node for node in nodes if self.admits(task, node)]
        ranks = [(rank, node) for node in admitting if (rank := self.rank(task, node)) is not None]
        if not ranks:
            return None
        first = min(rank[0] for rank, _ in ranks)
        candidates = [node for rank, node in ranks if rank[0] == first]
        scores = [Fraction(-rank[1]) for rank, _ in ranks if rank[0] == first]
        if self.topology is not None and near:
            near_scores = self.topology.node_scores(task, candidates, near)
            scores = [score + more for score, more in zip(scores, near_scores, strict=True)]
        best = max(scores)
        equal = [node for score, node in zip(scores, candidates, strict=True) if score == best]
        return min(equal, key=lambda node: self._ties.node(task, node.name))

    def gradients(self, job: Job) -> list[list[str]] | None:
        """The HyperNodes to try for a job in hard mode; None for all others."""
        topology = job.spec.network_topology
        if topology is None or topology.mode is not TopologyMode.HARD or topology.highest_tier_allowed is None:
            return None
        return self.topology.gradients(job) if self.topology else None

    def is_seed(self) -> bool:
        """Whether namespaces take turns: in the designs of 2019."""
        return self.configuration.edition is not Edition.CURRENT


_METHODS = {
    Point.JOB_ORDER: Plugin.job_order,
    Point.JOB_READY: Plugin.job_ready,
    Point.JOB_PIPELINED: Plugin.job_pipelined,
    Point.JOB_STARVING: Plugin.job_starving,
    Point.JOB_ENQUEUED: Plugin.job_enqueueable,
    Point.TASK_ORDER: Plugin.task_order,
    Point.QUEUE_ORDER: Plugin.queue_order,
    Point.NAMESPACE_ORDER: Plugin.namespace_order,
    Point.PREEMPTABLE: Plugin.preemptable,
    Point.RECLAIMABLE: Plugin.reclaimable,
    Point.PREEMPTIVE: Plugin.preemptive,
    Point.OVERUSED: Plugin.overused,
    Point.ALLOCATABLE: Plugin.allocatable,
    Point.PREDICATE: Plugin.predicate,
    Point.NODE_ORDER: Plugin.node_order,
}


def _has(plugin: Plugin, point: Point) -> bool:
    """Whether the plugin has something to say at a point: what it does not define is not asked."""
    method = _METHODS.get(point)
    return method is not None and getattr(type(plugin), method.__name__) is not method

"""Volcano's scheduler: a cache of the cluster with one method for each event, and sessions over it.

Time is the caller's: a session runs when ``run_session`` is called, a pod ends when ``task_ended`` says so. Each event
answers with a ``Record``. An event that makes no sense (a node removed twice, a pod ended that is not there) changes
nothing and says so, as upstream's cache logs it and goes on.
"""

from __future__ import annotations

import enum
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from reference.cluster import Node, Resources, RunningPod
from reference.schedulers.volcano.actions import ACTIONS
from reference.schedulers.volcano.amounts import Amounts, change
from reference.schedulers.volcano.api import ROOT, HyperNode, Job, JobSpec, Queue, Task, TaskSpec, TaskStatus
from reference.schedulers.volcano.hypernodes import HyperNodes
from reference.schedulers.volcano.index import NodeIndex
from reference.schedulers.volcano.invariants import broken_invariants
from reference.schedulers.volcano.nodes import NodeInfo
from reference.schedulers.volcano.options import Configuration
from reference.schedulers.volcano.session import Session
from reference.schedulers.volcano.statement import Step, StepKind
from reference.schedulers.volcano.ties import Ties


class EventName(enum.Enum):
    """What can happen."""

    ADD_NODE = "add_node"
    REMOVE_NODE = "remove_node"
    DRAIN_NODE = "drain_node"
    UNCORDON_NODE = "uncordon_node"
    ADD_QUEUE = "add_queue"
    ADD_JOB = "add_job"
    UPDATE_JOB = "update_job"
    DELETE_JOB = "delete_job"
    ADD_TASK = "add_task"
    TASK_ENDED = "task_ended"
    SET_QUOTA = "set_quota"
    RUN_SESSION = "run_session"


@dataclass(frozen=True, slots=True)
class Record:
    """What an event did. ``reason``: why nothing happened, "" where something did. ``bound`` and ``pipelined`` are
    (task, node); ``evicted`` tasks are releasing until ``task_ended``; ``steps`` are those of a session."""

    event: EventName
    subject: str = ""
    reason: str = ""
    bound: tuple[tuple[str, str], ...] = ()
    evicted: tuple[str, ...] = ()
    pipelined: tuple[tuple[str, str], ...] = ()
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        did = [f"{task} on {node}" for task, node in self.bound] + [f"evict {task}" for task in self.evicted]
        done = self.reason or ", ".join(did)
        return f"{self.event.value} {self.subject}".rstrip() + (f": {done}" if done else "")


class Scheduler:
    """The cache. ``observer`` hears of each step of a session while the state is that after it.

    ``failing_binds``: names of tasks whose next bind fails. ``ties``: who is first of equals. Names of tasks are unique
    in the cluster.
    """

    def __init__(
        self,
        configuration: Configuration | None = None,
        nodes: Iterable[Node] = (),
        queues: Iterable[Queue] = (),
        hyper_nodes: Iterable[HyperNode] = (),
        running: Iterable[RunningPod] = (),
        observer: Callable[[Step], None] | None = None,
        ties: Ties | None = None,
    ) -> None:
        self.configuration = configuration or Configuration()
        self.observer, self.ties = observer, ties or Ties()
        self.failing_binds: set[str] = set()
        self.session: Session | None = None
        """The session that is open, for an observer; None between two."""
        self.queues: dict[str, Queue] = {ROOT: Queue(ROOT)}
        self.jobs: dict[str, Job] = {}
        self.tasks: dict[str, Task] = {}
        self.quotas: dict[tuple[str, str], int] = {}
        """By namespace and ResourceQuota, what it says of volcano.sh/namespace.weight; invalid values are kept."""
        self._given_hyper_nodes = tuple(hyper_nodes)
        self._numbers = itertools.count()
        self._held: dict[str, Resources] = {}
        for pod in running:
            self._held[pod.node] = self._held.get(pod.node, Resources()) + pod.resources
        self.nodes: dict[str, NodeInfo] = {}
        self._set_nodes({n.name: NodeInfo(n, self._held.get(n.name, {})) for n in nodes})
        for queue in queues:
            self.add_queue(queue)

    # --- nodes ---

    def add_node(self, node: Node) -> Record:
        """A node joins, empty; one that is there already is not changed by this."""
        if node.name in self.nodes:
            return Record(EventName.ADD_NODE, node.name, "the node is there already")
        self._set_nodes({**self.nodes, node.name: NodeInfo(node, {})})
        return Record(EventName.ADD_NODE, node.name)

    def remove_node(self, name: str) -> Record:
        """A node is gone with its pods, also those that were being evicted. Their controllers make new ones, which are
        pending."""
        node = self.nodes.get(name)
        if node is None:
            return Record(EventName.REMOVE_NODE, name, "no node has that name")
        lost = sorted(node.tasks)
        for task in [node.tasks[task_name] for task_name in lost]:
            self._make_anew(task)
        self._set_nodes({n: info for n, info in self.nodes.items() if n != name})
        return Record(EventName.REMOVE_NODE, name, evicted=tuple(lost))

    def drain_node(self, name: str) -> Record:
        """A node takes no more pods, and its pods are gone as in ``remove_node``; queues still share what it has."""
        node = self.nodes.get(name)
        if node is None or not node.node.schedulable:
            why = "no node has that name" if node is None else "the node is cordoned already"
            return Record(EventName.DRAIN_NODE, name, why)
        lost = sorted(node.tasks)
        for task in [node.tasks[task_name] for task_name in lost]:
            self._make_anew(task)
        node.node = replace(node.node, schedulable=False)
        self._set_nodes(self.nodes)
        return Record(EventName.DRAIN_NODE, name, evicted=tuple(lost))

    def uncordon_node(self, name: str) -> Record:
        """It takes pods again."""
        node = self.nodes.get(name)
        if node is None or node.node.schedulable:
            why = "no node has that name" if node is None else "the node is not cordoned"
            return Record(EventName.UNCORDON_NODE, name, why)
        node.node = replace(node.node, schedulable=True)
        self._set_nodes(self.nodes)
        return Record(EventName.UNCORDON_NODE, name)

    # --- queues, jobs, pods ---

    def add_queue(self, queue: Queue) -> Record:
        """A queue is created, or changed if it is there. Its parent must exist."""
        if queue.name != ROOT and queue.parent not in self.queues:
            return Record(EventName.ADD_QUEUE, queue.name, f"no queue is named {queue.parent!r}")
        if queue.name != ROOT and queue.name in self._above(queue.parent):
            return Record(EventName.ADD_QUEUE, queue.name, "the queue would be above itself")
        self.queues[queue.name] = queue
        self.queues = dict(sorted(self.queues.items()))
        return Record(EventName.ADD_QUEUE, queue.name)

    def add_job(self, spec: JobSpec, running: Mapping[str, str] | None = None) -> Record:
        """A PodGroup and its pods are created. ``running``: pods that run already, and on which nodes."""
        if spec.name in self.jobs:
            return Record(EventName.ADD_JOB, spec.name, "a job of that name is there already")
        names = Counter(task.name for task in spec.tasks)
        taken = next((name for name, times in names.items() if name in self.tasks or times > 1), None)
        if taken is not None:
            return Record(EventName.ADD_JOB, spec.name, f"two pods are named {taken!r}")
        where = dict(running or {})
        unknown = next((n for n in where.values() if n not in self.nodes), None)
        if unknown is not None:
            return Record(EventName.ADD_JOB, spec.name, f"no node is named {unknown!r}")
        job = Job(spec, next(self._numbers))
        self.jobs[spec.name] = job
        for task_spec in spec.tasks:
            task = Task(task_spec, job, next(self._numbers))
            job.add(task)
            self.tasks[task.name] = task
            if task.name in where:
                node = self.nodes[where[task.name]]
                job.set_status(task, TaskStatus.RUNNING)
                task.node = node.name
                node.add(task)
                self._index.touch(node.name)
        return Record(EventName.ADD_JOB, spec.name)

    def update_job(self, name: str, min_available: int) -> Record:
        """A PodGroup's minMember changes."""
        job = self.jobs.get(name)
        if job is None:
            return Record(EventName.UPDATE_JOB, name, "no job has that name")
        job.min_available = min_available
        return Record(EventName.UPDATE_JOB, name)

    def add_task(self, job_name: str, spec: TaskSpec) -> Record:
        """A job gets one more pod."""
        job = self.jobs.get(job_name)
        if job is None:
            return Record(EventName.ADD_TASK, spec.name, f"no job is named {job_name!r}")
        if spec.name in self.tasks:
            return Record(EventName.ADD_TASK, spec.name, "a pod of that name is there already")
        task = Task(spec, job, next(self._numbers))
        job.add(task)
        self.tasks[spec.name] = task
        return Record(EventName.ADD_TASK, spec.name)

    def task_ended(self, name: str) -> Record:
        """A pod is gone from its node: a running one has succeeded, an evicted one is made anew and pending."""
        task = self.tasks.get(name)
        if task is None or task.status not in (TaskStatus.RUNNING, TaskStatus.RELEASING):
            state = "there" if task is None else "on a node"
            return Record(EventName.TASK_ENDED, name, f"no such pod is {state}")
        if task.status is TaskStatus.RELEASING:
            self._make_anew(task)
        else:
            self._leave(task)
            task.job.set_status(task, TaskStatus.SUCCEEDED)
        return Record(EventName.TASK_ENDED, name)

    def delete_job(self, name: str) -> Record:
        """A job is deleted, with all its pods, wherever they are."""
        job = self.jobs.get(name)
        if job is None:
            return Record(EventName.DELETE_JOB, name, "no job has that name")
        for task in list(job.tasks.values()):
            self._leave(task)
            job.remove(task)
            del self.tasks[task.name]
        del self.jobs[name]
        return Record(EventName.DELETE_JOB, name)

    def set_quota(self, namespace: str, name: str, weight: int | None) -> Record:
        """A ResourceQuota comes, says another weight, or goes (None). A session that is open does not see it."""
        if weight is None:
            if self.quotas.pop((namespace, name), None) is None:
                return Record(EventName.SET_QUOTA, f"{namespace}/{name}", "no such quota")
        else:
            self.quotas[namespace, name] = weight
        return Record(EventName.SET_QUOTA, f"{namespace}/{name}")

    def namespace_weights(self) -> dict[str, int]:
        """The weight of each namespace that has a valid one: the highest of its quotas; others weigh 1."""
        weights: dict[str, int] = {}
        for (namespace, _), weight in self.quotas.items():
            if weight >= 1:
                weights[namespace] = max(weights.get(namespace, 1), weight)
        return weights

    # --- sessions ---

    def run_session(self) -> Record:
        """One scheduling cycle: every action, in the configured order. Pods that are bound run from its end."""
        steps: list[Step] = []

        def note(step: Step) -> None:
            steps.append(step)
            if self.observer is not None:
                self.observer(step)

        session = self.session = self.open_session(note)
        session.note(StepKind.OPEN)
        for action in self.configuration.actions:
            session.action = action
            ACTIONS[action](session)
        session.action = ""
        pipelined = tuple(sorted((task.name, task.node) for task in session.pipelined.values()))
        session.close()
        self.session = None
        session.note(StepKind.CLOSE)
        bound = tuple((task.name, task.node) for task in session.bound)
        evicted = tuple(task.name for task in session.evicted)
        return Record(EventName.RUN_SESSION, "", "", bound, evicted, pipelined, tuple(steps))

    def open_session(self, note: Callable[[Step], None] = lambda step: None) -> Session:
        """A session that nothing was done in; whoever asks for it runs actions and closes it."""
        return Session(
            self.configuration,
            dict(sorted(self.jobs.items())),
            self.queues,
            self.nodes,
            self.hyper_nodes,
            self._index,
            self.namespace_weights(),
            self.failing_binds,
            note,
            self._total,
            self.ties,
        )

    def held(self, node: str) -> Resources:
        """What pods that are none of this scheduler's jobs hold of a node."""
        return self._held.get(node, Resources())

    def check_invariants(self) -> list[str]:
        """Every invariant that does not hold now, one line each."""
        return broken_invariants(self)

    # --- inside ---

    def _set_nodes(self, nodes: dict[str, NodeInfo]) -> None:
        self.nodes = dict(sorted(nodes.items()))
        everyone = list(self.nodes.values())
        self._index = NodeIndex(everyone)
        self.hyper_nodes = HyperNodes(self._given_hyper_nodes, everyone)
        self._total: Amounts = {}
        for node in everyone:
            change(self._total, node.allocatable)

    def _above(self, name: str) -> list[str]:
        path = [name]
        while path[-1] != ROOT:
            path.append(self.queues[path[-1]].parent)
        return path

    def _leave(self, task: Task) -> None:
        if task.node:
            if task.status is not TaskStatus.SUCCEEDED:
                self.nodes[task.node].remove(task)
                self._index.touch(task.node)
            task.node = ""

    def _make_anew(self, task: Task) -> None:
        self._leave(task)
        task.job.set_status(task, TaskStatus.PENDING)
        task.number = next(self._numbers)

"""What Volcano schedules, in its own words: tasks, jobs with their PodGroup, queues, nodes, HyperNodes.

The records that a user makes (``TaskSpec``, ``JobSpec``, ``Queue``, ``HyperNode``) are frozen. ``Task`` and ``Job`` are
what the scheduler makes of them (upstream: pkg/scheduler/api, TaskInfo and JobInfo).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from reference.cluster import ANYWHERE, NOTHING, PODS, Constraints, Resources
from reference.schedulers.volcano.amounts import Amounts, change

ROOT = "root"
"""The queue above all others."""


class TaskStatus(enum.Enum):
    """Where a task is. Upstream has Bound between Binding and Running; here a session's end lets what is bound run."""

    PENDING = "Pending"
    ALLOCATED = "Allocated"
    PIPELINED = "Pipelined"
    BINDING = "Binding"
    RUNNING = "Running"
    RELEASING = "Releasing"
    SUCCEEDED = "Succeeded"


ALLOCATED_STATUS = frozenset({TaskStatus.ALLOCATED, TaskStatus.BINDING, TaskStatus.RUNNING})
"""The tasks that queues and jobs count as theirs."""


class PodGroupPhase(enum.Enum):
    """A PodGroup's phase; only jobs that are not Pending are given resources."""

    PENDING = "Pending"
    INQUEUE = "Inqueue"
    RUNNING = "Running"


class TopologyMode(enum.Enum):
    """Whether a job must stay within a tier of HyperNodes, or had better."""

    HARD = "hard"
    SOFT = "soft"


@dataclass(frozen=True, slots=True)
class NetworkTopology:
    """``highest_tier_allowed`` is for hard mode: the tier of the largest HyperNode that a job may be spread over."""

    mode: TopologyMode
    highest_tier_allowed: int | None = None


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A pod as the user asks for it. ``role``: its ``volcano.sh/task-spec``, empty where the annotation is missing.

    ``preempts`` is False for preemptionPolicy Never; ``critical`` for the two system priority classes.
    """

    name: str
    resreq: Resources = NOTHING
    role: str = ""
    constraints: Constraints = ANYWHERE
    priority: int = 1
    preemptable: bool = True
    preempts: bool = True
    critical: bool = False


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A PodGroup and its pods. ``min_task_member``: minMember of each role; ``min_resources``: None if not given."""

    name: str
    queue: str
    min_available: int
    tasks: tuple[TaskSpec, ...] = ()
    namespace: str = "default"
    min_task_member: Mapping[str, int] = field(default_factory=dict)
    priority: int = 0
    min_resources: Resources | None = None
    phase: PodGroupPhase = PodGroupPhase.PENDING
    network_topology: NetworkTopology | None = None
    allocated_hyper_node: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue. What ``capability`` does not list is unlimited. ``hierarchy``: the path and weights that hierarchical
    DRF reads, from below the root, as ``(("eng", 50), ("dev", 50))``. ``max_jobs`` is not Volcano's: it is the common
    cluster's maxapplications, heeded by enqueue."""

    name: str
    weight: int = 1
    capability: Resources = NOTHING
    deserved: Resources = NOTHING
    guarantee: Resources = NOTHING
    parent: str = ROOT
    priority: int = 0
    reclaimable: bool = True
    is_open: bool = True
    hierarchy: tuple[tuple[str, int], ...] = ()
    max_jobs: int | None = None


@dataclass(frozen=True, slots=True)
class HyperNode:
    """A domain of the network: ``members`` are nodes in the lowest tier, and HyperNodes above it."""

    name: str
    tier: int
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides where a task may go and how nodes score for it: tasks of one shape are alike to every node."""

    resreq: Resources
    constraints: Constraints


class Task:
    """A pod in the scheduler. ``number`` orders tasks that nothing else does: first come, first."""

    __slots__ = ("is_best_effort", "job", "name", "node", "number", "resreq", "role", "shape", "spec", "status")

    def __init__(self, spec: TaskSpec, job: Job, number: int) -> None:
        self.spec, self.job, self.number = spec, job, number
        self.name, self.role = spec.name, spec.role
        asked = spec.resreq
        self.is_best_effort = not any(amount > 0 for name, amount in asked.items() if name != PODS)
        self.resreq = asked if asked.amount(PODS) else asked + Resources({PODS: 1})
        self.shape = Shape(self.resreq, spec.constraints)
        self.status = TaskStatus.PENDING
        self.node = ""

    def __repr__(self) -> str:
        return f"Task({self.name} {self.status.value} {self.node})"


class Job:
    """A job in the scheduler, with counts by status and role so that no rule has to go through its tasks."""

    def __init__(self, spec: JobSpec, number: int) -> None:
        self.spec, self.number = spec, number
        self.name, self.namespace, self.queue = spec.name, spec.namespace, spec.queue
        self.min_available = spec.min_available
        self.phase = spec.phase
        self.allocated_hyper_node = spec.allocated_hyper_node
        self.tasks: dict[str, Task] = {}
        self.allocated: Amounts = {}
        self.counts = dict.fromkeys(TaskStatus, 0)
        self.best_effort_pending = 0
        self.ready_roles: dict[str, int] = {}
        self.waiting_roles: dict[str, int] = {}
        self.fit_errors: dict[str, str] = {}
        """By task, what kept it from every node in this session."""
        self.reason = ""

    def add(self, task: Task) -> None:
        """A pod of the job is created; it is Pending."""
        self.tasks[task.name] = task
        self._count(task, 1)

    def remove(self, task: Task) -> None:
        """A pod of the job is deleted."""
        self._count(task, -1)
        del self.tasks[task.name]

    def set_status(self, task: Task, status: TaskStatus) -> None:
        """The task's status changes; it keeps its place among the tasks."""
        self._count(task, -1)
        task.status = status
        self._count(task, 1)

    def in_status(self, status: TaskStatus) -> Iterator[Task]:
        """The tasks that have it, first come first."""
        return (task for task in self.tasks.values() if task.status is status)

    @property
    def ready_task_num(self) -> int:
        """Tasks that have a node, or had one to the end."""
        counts = self.counts
        return (
            counts[TaskStatus.ALLOCATED]
            + counts[TaskStatus.BINDING]
            + counts[TaskStatus.RUNNING]
            + counts[TaskStatus.SUCCEEDED]
        )

    @property
    def waiting_task_num(self) -> int:
        """Tasks that are promised a node."""
        return self.counts[TaskStatus.PIPELINED]

    @property
    def valid_task_num(self) -> int:
        """Tasks that run, wait, or ended well."""
        return len(self.tasks) - self.counts[TaskStatus.RELEASING]

    @property
    def task_min_available_total(self) -> int:
        """The sum of the roles' minima; where minAvailable is less than that, roles are not looked at."""
        return sum(self.spec.min_task_member.values())

    @property
    def has_roles(self) -> bool:
        """Whether the minima of roles count."""
        return bool(self.spec.min_task_member) and self.min_available >= self.task_min_available_total

    def is_ready(self) -> bool:
        """Whether minAvailable tasks are ready, those that ask for nothing included."""
        return self.ready_task_num + self.best_effort_pending >= self.min_available

    def is_pipelined(self) -> bool:
        """The same, with what is promised."""
        return self.waiting_task_num + self.ready_task_num + self.best_effort_pending >= self.min_available

    def is_starving(self) -> bool:
        """Whether fewer than minAvailable tasks have a node or the promise of one."""
        return self.waiting_task_num + self.ready_task_num < self.min_available

    def roles_ready(self) -> bool:
        """Whether each role has its minimum."""
        least = self.spec.min_task_member
        return not self.has_roles or all(self.ready_roles.get(role, 0) >= n for role, n in least.items())

    def roles_pipelined(self) -> bool:
        """Whether each role has its minimum, with what is promised."""
        if not self.has_roles:
            return True
        ready, waiting = self.ready_roles, self.waiting_roles
        return all(ready.get(r, 0) + waiting.get(r, 0) >= n for r, n in self.spec.min_task_member.items())

    def _count(self, task: Task, sign: int) -> None:
        status, role = task.status, task.role
        self.counts[status] += sign
        waits_for_nothing = status is TaskStatus.PENDING and task.is_best_effort
        if waits_for_nothing:
            self.best_effort_pending += sign
        if status in ALLOCATED_STATUS:
            change(self.allocated, task.resreq, sign)
        if status in ALLOCATED_STATUS or status is TaskStatus.SUCCEEDED or waits_for_nothing:
            self.ready_roles[role] = self.ready_roles.get(role, 0) + sign
        elif status is TaskStatus.PIPELINED:
            self.waiting_roles[role] = self.waiting_roles.get(role, 0) + sign

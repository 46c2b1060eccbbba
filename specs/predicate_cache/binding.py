"""The Volcano reference and the predicate_cache spec, side by side.

``subject_for`` makes the scheduler that a machine's parameters describe: gang, predicates, and allocate with its cache
of node errors. A step of the reference is several of the spec: a task that is allocated was popped, checked on every
node, and put on one that was left; a statement that is discarded has popped a task for which none was left. So what the
cache refuses decides in both which nodes are left. Only this module of `specs.predicate_cache` knows `reference`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from model.language import Machine
from model.trace import Value
from reference.cluster import Constraints, Node, Operator, Requirement, Resources
from reference.schedulers.volcano import (
    Configuration,
    Edition,
    EventName,
    JobSpec,
    PodGroupPhase,
    Queue,
    Record,
    Scheduler,
    Step,
    StepKind,
    TaskSpec,
    TaskStatus,
    tiers,
)
from specs.predicate_cache import state as spec
from specs.predicate_cache.parameters import Annotation, Constraint, First, Scope, Workload, scope
from specs.predicate_cache.parameters import Edition as SpecEdition
from specs.predicate_cache.selectors import Selection
from specs.walking import Call, SpecWalk

UNIT: Final = 1000
"""Milli-cores of a pod, and thousandths of a GPU: a node has room for ``room`` pods, whatever they are."""
GPU: Final = "nvidia.com/gpu"
QUEUE: Final = "queue"


@dataclass(frozen=True, slots=True)
class Subject:
    """The code under test for one machine: its configuration, nodes and jobs."""

    configuration: Configuration
    nodes: tuple[Node, ...]
    jobs: tuple[JobSpec, ...]

    def scheduler(self) -> Scheduler:
        """A new one, with all jobs."""
        scheduler = Scheduler(self.configuration, self.nodes, [Queue(QUEUE)])
        for job in self.jobs:
            scheduler.add_job(job)
        return scheduler


def subject_for(machine: Machine) -> Subject:
    """What the parameters of a predicate_cache machine describe. ValueError for ``repaired``, which no code does."""
    p: Mapping[str, Any] = machine.parameters
    if p["repaired"]:
        raise ValueError("repaired is false for what is bound to the reference, found true")
    annotation, first = Annotation(p["annotation"]), First(p["first"])
    numbers = (p["jobs"], p["workers"], p["room"])
    edition = SpecEdition(p["edition"])
    checked = scope(
        Workload(p["workload"]), Constraint(p["constraint"]), annotation, edition, p["cache"], *numbers, first
    )
    jobs = tuple(
        JobSpec(name, QUEUE, len(tasks), tasks, phase=PodGroupPhase.INQUEUE)
        for name in machine.sorts[spec.Job].names
        for tasks in [tuple(_tasks(name, checked, annotation, first))]
    )
    nodes = tuple(
        Node(n.name, Resources({"vcore": p["room"] * UNIT, GPU: n.gpus * p["room"] * UNIT}), dict(n.labels))
        for n in checked.nodes
    )
    configuration = Configuration(
        ("allocate",), tiers(("priority", "gang", "predicates")), Edition(edition.value), p["cache"]
    )
    return Subject(configuration, nodes, jobs)


def _tasks(job: str, checked: Scope, annotation: Annotation, first: First) -> list[TaskSpec]:
    comes_first = 1 if first is First.WORKER else 0
    roles = {Annotation.REPLICA_TYPE: None, Annotation.NONE: "", Annotation.ONE_ROLE: "all"}
    return [
        TaskSpec(
            f"{job}/{template.name}/{k}",
            Resources({"vcore": UNIT, GPU: template.gpus * UNIT}),
            template.name if roles[annotation] is None else str(roles[annotation]),
            _constraints(template.selection),
            2 if first is not First.ANY and i == comes_first else 1,
        )
        for i, template in enumerate(checked.templates)
        for k in range(template.pods)
    ]


def _constraints(selection: Selection) -> Constraints:
    terms = tuple(
        tuple(Requirement(r.key, Operator(r.operator.value), r.values) for r in term) for term in selection.terms or ()
    )
    return Constraints(selection.selector, affinity_terms=terms)


class Follower(SpecWalk):
    """The spec, walking along with a scheduler, whose observer it becomes."""

    code = "reference"

    def __init__(self, machine: Machine, subject: Subject, scheduler: Scheduler) -> None:
        super().__init__(machine)
        self.subject, self.scheduler = subject, scheduler
        self.taken: list[Call] = []
        self._is_idle = False
        scheduler.observer = self.step

    def follow(self, record: Record) -> None:
        """Take the action that an event outside a session is: a job ends."""
        if record.event is EventName.DELETE_JOB:
            self._take("finish", record.subject)
        self.compare(record, self._observed())

    def step(self, step: Step) -> None:
        """Take the actions that a step of a session is. Divergence if one is not enabled, or the states differ."""
        match step.kind:
            case StepKind.OPEN:
                self._is_idle = not self.is_enabled(("open_session", ()))
                if not self._is_idle:
                    self._take("open_session")
            case StepKind.CLOSE if not self._is_idle:
                self._take("close_session")
            case StepKind.POP:
                self._take("pop_job", step.job)
            case StepKind.ALLOCATE:
                self._check_nodes(step.job, step.task)
                self._take("allocate", step.job, _template(step.task), step.node)
            case StepKind.COMMIT:
                self._take("commit", step.job)
            case StepKind.DISCARD:
                (failed,) = self.scheduler.jobs[step.job].fit_errors
                self._check_nodes(step.job, failed)
                self._take("discard", step.job)
        self.compare(step, self._observed())

    def _check_nodes(self, job: str, task: str) -> None:
        self._take("pop_task", job, _template(task))
        for node in self.subject.nodes:
            self._take("check_node", job, _template(task), node.name)

    def _take(self, action: str, *arguments: str) -> None:
        call = (action, arguments)
        self.fire(call)
        self.taken.append(call)

    def _observed(self) -> dict[str, Value]:
        """What the scheduler shows, by the spec's cells: whether a session is open, and which pods are where."""
        seen: dict[str, Value] = {"session": self.scheduler.session is not None and not self._is_idle}
        on_node = (TaskStatus.ALLOCATED, TaskStatus.BINDING, TaskStatus.RUNNING)
        for job in self.subject.jobs:
            for template in self.machine.sorts[spec.Replica].names:
                for node in self.subject.nodes:
                    seen[f"placed[{job.name}, {template}, {node.name}]"] = sum(
                        task.node == node.name and task.status in on_node
                        for name, task in self.scheduler.tasks.items()
                        if name.startswith(f"{job.name}/{template}/")
                    )
        return seen


def _template(task: str) -> str:
    return task.split("/")[1]

"""The Volcano reference and the predicate_cache spec, side by side.

``subject_for`` makes the scheduler that a machine's parameters describe: gang, predicates, and allocate with its cache
of node errors. A step of the reference is several of the spec: a task that is allocated was popped, checked on every
node, and put on one that was left; a statement that is discarded has popped a task for which none was left. So what the
cache refuses decides in both which nodes are left. ``SpecReplayer`` goes the other way: what the spec enables the
reference must be able to do. Only this module of `specs.predicate_cache` knows `reference`.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from model.language import Machine
from model.trace import NamedState, Value
from reference.cluster import Constraints, Node, Operator, Requirement, Resources
from reference.schedulers.volcano import (
    Configuration,
    Edition,
    EventName,
    Job,
    JobSpec,
    PodGroupPhase,
    Queue,
    Record,
    Scheduler,
    Step,
    StepKind,
    Task,
    TaskSpec,
    TaskStatus,
    Ties,
    tiers,
)
from reference.schedulers.volcano.plugins.plugin import Key
from specs.predicate_cache import state as spec
from specs.predicate_cache.parameters import Annotation, Constraint, First, Scope, Workload, scope
from specs.predicate_cache.parameters import Edition as SpecEdition
from specs.predicate_cache.selectors import Selection
from specs.walking import Call, Divergence, SpecWalk

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
        self.compare(record, observed(self.subject, self.scheduler))

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
        self.compare(step, observed(self.subject, self.scheduler, self._is_idle))

    def _check_nodes(self, job: str, task: str) -> None:
        self._take("pop_task", job, _template(task))
        for node in self.subject.nodes:
            self._take("check_node", job, _template(task), node.name)

    def _take(self, action: str, *arguments: str) -> None:
        call = (action, arguments)
        self.fire(call)
        self.taken.append(call)


def observed(subject: Subject, scheduler: Scheduler, is_idle: bool = False) -> dict[str, Value]:
    """What the scheduler shows, by the spec's cells: whether a session is open, and which pods are where. ``is_idle``:
    the session is one in which no job is pending."""
    seen: dict[str, Value] = {"session": scheduler.session is not None and not is_idle}
    on_node = (TaskStatus.ALLOCATED, TaskStatus.BINDING, TaskStatus.RUNNING)
    where = Counter(
        (task.job.name, _template(name), task.node) for name, task in scheduler.tasks.items() if task.status in on_node
    )
    for job in subject.jobs:
        for template in dict.fromkeys(_template(task.name) for task in job.tasks):
            for node in subject.nodes:
                cell = (job.name, template, node.name)
                seen[f"placed[{', '.join(cell)}]"] = where[cell]
    return seen


def _template(task: str) -> str:
    return task.split("/")[1]


# ---- the other direction: the spec goes first


class Chosen(Ties):
    """Ties go as the spec's session has them; ``allocated`` of its tasks have been placed."""

    def __init__(self, session: Sequence[Call]) -> None:
        self._jobs = [arguments[0] for action, arguments in session if action == "pop_job"]
        self._tasks = [arguments for action, arguments in session if action == "pop_task"]
        self._nodes = [arguments[2] for action, arguments in session if action == "allocate"]
        self.allocated = 0

    def job(self, job: Job) -> Key:
        return (_rank(self._jobs, job.name), *super().job(job))

    def task(self, task: Task) -> Key:
        """Tasks of a template are alike: the first of them is the one that is popped first."""
        mine = (task.job.name, _template(task.name))
        before = sum((t.job.name, _template(name)) == mine and t.number < task.number
                     for name, t in task.job.tasks.items())  # fmt: skip
        turns = [n for n, popped in enumerate(self._tasks) if popped == mine]
        return (turns[before] if before < len(turns) else len(self._tasks), *super().task(task))

    def node(self, task: Task, node: str) -> Key:
        return (node not in self._nodes[self.allocated : self.allocated + 1], *super().node(task, node))


def _rank(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


@dataclass(frozen=True, slots=True)
class Point:
    """The scheduler at one point of a run. ``base``: as it was before the session that is open, or as it is;
    ``session``: the calls since that one was opened, but for those of nodes that were checked."""

    base: Scheduler
    session: tuple[Call, ...]
    shows: Mapping[str, Value]


class _Reached(Exception):
    """The session is where it was to be led; what it did is thrown away, and led there again for the next step."""


class SpecReplayer:
    """For `specs.replaying`: leads a scheduler along runs of the spec. Jobs, nodes, tasks of one priority come in the
    order of the run. That a task is popped and nodes are checked is seen only in what becomes of the task: there is
    nothing to excuse."""

    code = "reference"
    excuses: Mapping[str, str] = MappingProxyType({})

    def __init__(self, subject: Subject) -> None:
        self.subject = replace(subject, configuration=replace(subject.configuration, index=False))

    def start(self) -> Point:
        return self._point(self.subject.scheduler())

    def perform(self, subject: Point, call: Call, before: NamedState, after: NamedState) -> Point:
        action, arguments = call
        if action == "check_node":
            return subject
        if action == "pop_task":
            return replace(subject, session=(*subject.session, call))
        if action == "open_session" or subject.session:
            return self._lead(subject.base, (*subject.session, call))
        scheduler = copy.deepcopy(subject.base)
        record = scheduler.delete_job(arguments[0])
        if action != "finish" or record.reason:
            raise Divergence(record.reason or "a session is needed for it, and none is open")
        return self._point(scheduler)

    def observed(self, subject: Point, shown: NamedState) -> Mapping[str, Value]:
        return subject.shows

    def key(self, subject: Point) -> Hashable:
        """Pods of a template are alike: what is shown says which are where. What is left of the scheduler is which
        jobs have ended."""
        shown = observed(self.subject, subject.base)
        return frozenset(shown.items()), frozenset(subject.base.jobs), subject.session

    def _point(self, base: Scheduler) -> Point:
        return Point(base, (), observed(self.subject, base))

    def _lead(self, base: Scheduler, session: tuple[Call, ...]) -> Point:
        """The session, anew from its beginning, up to its last call. Divergence if it cannot be led there."""
        scheduler = copy.deepcopy(base)
        scheduler.ties = ties = Chosen(session)
        seen = [call for call in session if call[0] != "pop_task"]
        done = 0
        shows: dict[str, Value] = {}

        def watch(step: Step) -> None:
            nonlocal done, shows
            call = _call(step)
            if call != seen[done]:
                raise Divergence(f"the reference goes on with {call[0]}({', '.join(call[1])})")
            done += 1
            ties.allocated += call[0] == "allocate"
            if done == len(seen):
                shows = observed(self.subject, scheduler)
                if call[0] != "close_session":
                    raise _Reached

        scheduler.observer = watch
        try:
            scheduler.run_session()
        except _Reached:
            return Point(base, session, shows)
        scheduler.observer, scheduler.ties = None, Ties()
        return Point(scheduler, (), shows)


def _call(step: Step) -> Call:
    """What a step of a session ends with in the spec."""
    match step.kind:
        case StepKind.OPEN:
            return "open_session", ()
        case StepKind.POP:
            return "pop_job", (step.job,)
        case StepKind.ALLOCATE:
            return "allocate", (step.job, _template(step.task), step.node)
        case StepKind.COMMIT | StepKind.DISCARD:
            return step.kind.value, (step.job,)
        case StepKind.CLOSE:
            return "close_session", ()
    raise Divergence(f"the spec has no step for: {step}")

"""The Volcano reference and its spec, side by side: which action an event or a step of a session is, what both show.

``subject_for`` makes the scheduler that a machine's parameters describe: every task one unit of ``vcore``, gang, drf,
proportion and allocate, nothing else. ``Follower`` walks the spec along: it hears of each event, and in a session of
each step, and each must be an enabled action of the spec, after which the two must show the same. Only this module of
`specs.volcano` knows `reference`.

What is seen differently: the reference takes up a ready job again and again while it has tasks that it did not look at,
though none of them can be placed; the spec takes it up once, and what follows is no step. A session in which no job
wants anything is no step either. Not bound: ``memory``, ``slow_ends``, ``repaired``; and ``bind_failures``, of which
the spec says that the job is pushed back with its task, while the code's list of tasks has lost it until the next
session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.language import Machine
from model.trace import Value
from reference.cluster import Node, Resources
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
    TaskSpec,
    TaskStatus,
    tiers,
)
from reference.schedulers.volcano.plugins.drf import Drf
from reference.schedulers.volcano.plugins.proportion import Proportion
from specs.volcano import state as spec
from specs.volcano.parameters import Edition as SpecEdition
from specs.volcano.parameters import Layout, Scope, Sizes, scope
from specs.walking import Call, SpecWalk

UNIT = 1000
"""Milli-cores in a unit of the spec."""

Place = tuple[str, str, str]
"""A job of the spec: queue, namespace, number."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The code under test for one machine: its configuration and nodes, its queues, and the jobs that may come."""

    configuration: Configuration
    nodes: tuple[Node, ...]
    queues: tuple[Queue, ...]
    jobs: Mapping[Place, JobSpec]
    weights: Mapping[str, int]
    is_static: bool

    def scheduler(self) -> Scheduler:
        """A new one; the jobs of a layout of one session are there from the start."""
        scheduler = Scheduler(self.configuration, self.nodes, self.queues)
        for namespace, weight in self.weights.items():
            scheduler.set_quota(namespace, "weight", weight)
        if self.is_static:
            for job in self.jobs.values():
                scheduler.add_job(job)
        return scheduler


def job_name(place: Place) -> str:
    """The reference's name of a job of the spec."""
    return "/".join(place)


def subject_for(machine: Machine) -> Subject:
    """What the parameters of a volcano machine describe. ValueError for parameters that are not bound."""
    p: Mapping[str, Any] = machine.parameters
    for name, unbound in (("memory_capacity", 0), ("slow_ends", 0), ("bind_failures", 0), ("repaired", False)):
        if p[name] != unbound:
            raise ValueError(f"{name} is {unbound} for what is bound to the reference, found {p[name]}")
    checked = _scope(p)
    if p["scale_ups"] and not checked.some_job_has_extras:
        raise ValueError("scale_ups is for minimum below size where the reference is bound")
    names = {sort: machine.sorts[sort].names for sort in (spec.Queue, spec.Namespace, spec.Job)}
    jobs: dict[Place, JobSpec] = {}
    minima = checked.minima()
    for q, queue in enumerate(names[spec.Queue]):
        for n, namespace in enumerate(names[spec.Namespace]):
            for j, job in enumerate(names[spec.Job]):
                size, place = checked.sizes[q][n][j], (queue, namespace, job)
                if size:
                    tasks = tuple(TaskSpec(f"{job_name(place)}/{i}", Resources(vcore=UNIT)) for i in range(size))
                    jobs[place] = JobSpec(
                        job_name(place), queue, minima[q][n][j], tasks, namespace, phase=PodGroupPhase.INQUEUE
                    )
    drains = p["drains"] > 0
    count, units = (checked.capacity, 1) if drains else (1, checked.capacity)
    edition = Edition(SpecEdition(p["edition"]).value)
    return Subject(
        Configuration(("allocate",), tiers(("gang", "drf", "predicates", "proportion")), edition),
        tuple(Node(f"node{i}", Resources(vcore=units * UNIT)) for i in range(count)),
        tuple(Queue(name, w) for name, w in zip(names[spec.Queue], checked.queue_weights, strict=True)),
        jobs,
        {} if p["quota_changes"] else dict(zip(names[spec.Namespace], checked.namespace_weights, strict=True)),
        checked.static,
    )


def _scope(p: Mapping[str, Any]) -> Scope:
    def each(value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    named = ("queues", "namespaces", "jobs", "size", "minimum", "capacity")
    numbers: dict[str, Any] = {name: p[name] for name in named}
    sizes = Sizes(**numbers, queue_weight=each(p["queue_weight"]), namespace_weight=each(p["namespace_weight"]))
    return scope(Layout(p["layout"]), SpecEdition(p["edition"]), sizes)


class Follower(SpecWalk):
    """The spec, walking along with a scheduler, whose observer it becomes."""

    code = "reference"

    def __init__(self, machine: Machine, subject: Subject, scheduler: Scheduler) -> None:
        super().__init__(machine)
        self.subject, self.scheduler = subject, scheduler
        self.taken: list[Call] = []
        self._places = {job_name(place): place for place in subject.jobs}
        self._turn: Place | None = None
        self._placed = 0
        self._is_idle = self._is_empty = False
        self._out: set[Place] = set()
        scheduler.observer = self.step

    def follow(self, record: Record) -> None:
        """Take the action that an event outside a session is. Divergence if it is not enabled, or the states differ."""
        place = self._places.get(record.subject)
        match record.event:
            case EventName.ADD_JOB if place:
                self._take("submit", *place)
            case EventName.DELETE_JOB if place:
                self._take("finish", *place)
            case EventName.UPDATE_JOB if place:
                self._take("policy_arrives", *place)
            case EventName.ADD_TASK:
                self._take("pod_arrives", *self._places[self.scheduler.tasks[record.subject].job.name])
            case EventName.DRAIN_NODE:
                (task,) = record.evicted
                self._take("drain_node", *self._places[self.scheduler.tasks[task].job.name])
            case EventName.SET_QUOTA:
                namespace, quota = record.subject.split("/")
                weight = self.scheduler.quotas.get((namespace, quota), 0)
                self._take("change_quota", namespace, quota, str(weight))
            case EventName.UNCORDON_NODE:
                self._take("return_node")
        self._compare(record)

    def step(self, step: Step) -> None:
        """Take the action that a step of a session is."""
        place = self._places.get(step.job, ("", "", ""))
        match step.kind:
            case StepKind.OPEN:
                self._is_idle = not self.is_enabled(("open_session", ()))
                self._out = set()
                if not self._is_idle:
                    self._take("open_session")
            case StepKind.CLOSE if not self._is_idle:
                self._take("close_session")
            case StepKind.POP:
                self._is_empty = place in self._out
                self._turn, self._placed = place, 0
                if not self._is_empty:
                    self._take("pop_job", *place)
            case StepKind.ALLOCATE:
                self._placed += 1
                self._take("allocate", *place)
            case StepKind.COMMIT | StepKind.DISCARD:
                bound = step.kind is StepKind.COMMIT and self._placed > 0
                if not self._is_empty:
                    self._take("commit" if bound else "discard", *place)
                if not bound:
                    self._out.add(place)
                self._turn = None
        self._compare(step)

    def _take(self, action: str, *arguments: str) -> None:
        call = (action, arguments)
        self.fire(call)
        self.taken.append(call)

    def _compare(self, what: Record | Step) -> None:
        """Of the cells that this scope of the spec has."""
        shown = self.shown()
        self.compare(what, {cell: value for cell, value in self._observed().items() if cell in shown})

    def _observed(self) -> dict[str, Value]:
        """What the scheduler shows, by the spec's cells: who runs, what the open statement placed, whose turn it is,
        what the plugins count, what each namespace weighs."""
        seen: dict[str, Value] = {}
        for place in self.subject.jobs:
            cell = f"[{', '.join(place)}]"
            job = self.scheduler.jobs.get(job_name(place))
            seen["bound" + cell] = _count(job, TaskStatus.RUNNING, TaskStatus.BINDING)
            seen["tentative" + cell] = _count(job, TaskStatus.ALLOCATED)
            seen["turn" + cell] = place == self._turn and not self._is_empty
        seen["down"] = sum(not info.node.schedulable for info in self.scheduler.nodes.values())
        session = self.scheduler.session
        seen["session"] = spec.Session.CLOSED.name
        if self.subject.is_static and "close_session" in [name for name, _ in self.taken]:
            seen["session"] = spec.Session.OVER.name
        if session is None or self._is_idle:
            return seen
        seen["session"] = spec.Session.OPEN.name
        proportion, drf = session.plugins["Proportion"], session.plugins["Drf"]
        assert isinstance(proportion, Proportion)
        assert isinstance(drf, Drf)
        for queue, attr in proportion.attrs.items():
            seen[f"in_queue[{queue}]"] = attr.allocated.get("vcore", 0) // UNIT
        for (queue, namespace), amounts in drf.namespaces.items():
            seen[f"in_namespace[{queue}, {namespace}]"] = amounts.get("vcore", 0) // UNIT
            seen[f"weight[{namespace}]"] = session.namespace_weight(namespace)
        return seen


def _count(job: Job | None, *statuses: TaskStatus) -> int:
    return 0 if job is None else sum(job.counts[status] for status in statuses)

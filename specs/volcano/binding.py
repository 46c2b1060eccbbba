"""The Volcano reference and its spec, side by side: which action an event or a step of a session is, what both show.

``subject_for`` makes the scheduler that a machine's parameters describe: every task one unit of ``vcore``, gang, drf,
proportion and allocate, nothing else. ``Follower`` walks the spec along: it hears of each event, and in a session of
each step, and each must be an enabled action of the spec, after which the two must show the same. ``SpecReplayer`` goes
the other way: what the spec enables the reference must be able to do. Only this module of `specs.volcano` knows
`reference`.

What is seen differently: the reference takes up a ready job again and again while it has tasks that it did not look at,
though none of them can be placed; the spec takes it up once, and what follows is no step. A session in which no job
wants anything is no step either. Not bound: ``memory``, ``slow_ends``, ``repaired``.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from model.language import Machine
from model.trace import NamedState, Value
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
    Ties,
    tiers,
)
from reference.schedulers.volcano.plugins.drf import Drf
from reference.schedulers.volcano.plugins.plugin import Key
from reference.schedulers.volcano.plugins.proportion import Proportion
from specs.volcano import state as spec
from specs.volcano.parameters import Edition as SpecEdition
from specs.volcano.parameters import Layout, Scope, Sizes, scope
from specs.walking import Call, Divergence, SpecWalk

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
    for name, unbound in (("memory_capacity", 0), ("slow_ends", 0), ("repaired", False)):
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


class SessionReader:
    """Which call of the spec each step of one session is."""

    def __init__(self, subject: Subject) -> None:
        self._places = {job_name(place): place for place in subject.jobs}
        self.turn: Place | None = None
        """The job whose statement is open, in the spec's eyes."""
        self._placed = 0
        self._has_failed = False
        self._out: set[Place] = set()

    def read(self, step: Step) -> Call | None:
        """The call; None for a step that the spec does not see."""
        place = self._places.get(step.job, ("", "", ""))
        match step.kind:
            case StepKind.OPEN:
                return "open_session", ()
            case StepKind.CLOSE:
                return "close_session", ()
            case StepKind.POP:
                if place in self._out:
                    return None
                self.turn, self._placed, self._has_failed = place, 0, False
                return "pop_job", place
            case StepKind.ALLOCATE:
                self._placed += 1
                return "allocate", place
            case StepKind.BIND_FAILED:
                self._has_failed = True
            case StepKind.COMMIT | StepKind.DISCARD if self.turn is not None:
                self.turn = None
                if step.kind is StepKind.COMMIT and self._placed > 0:
                    return "commit_fails" if self._has_failed else "commit", place
                self._out.add(place)
                return "discard", place
        return None


class Follower(SpecWalk):
    """The spec, walking along with a scheduler, whose observer it becomes."""

    code = "reference"

    def __init__(self, machine: Machine, subject: Subject, scheduler: Scheduler) -> None:
        super().__init__(machine)
        self.subject, self.scheduler = subject, scheduler
        self.taken: list[Call] = []
        self._places = {job_name(place): place for place in subject.jobs}
        self._reader = SessionReader(subject)
        self._is_idle = False
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
        if step.kind is StepKind.OPEN:
            self._is_idle = not self.is_enabled(("open_session", ()))
            self._reader = SessionReader(self.subject)
        call = self._reader.read(step)
        if call is not None and not self._is_idle:
            self._take(call[0], *call[1])
        if step.kind is not StepKind.BIND_FAILED:  # its commit is under way
            self._compare(step)

    def _take(self, action: str, *arguments: str) -> None:
        call = (action, arguments)
        self.fire(call)
        self.taken.append(call)

    def _compare(self, what: Record | Step) -> None:
        """Of the cells that this scope of the spec has."""
        shown = self.shown()
        is_over = ("close_session", ()) in self.taken
        seen = observed(self.subject, self.scheduler, self._reader.turn, self._is_idle, is_over)
        self.compare(what, {cell: value for cell, value in seen.items() if cell in shown})


def observed(
    subject: Subject, scheduler: Scheduler, turn: Place | None, is_idle: bool = False, is_over: bool = False
) -> dict[str, Value]:
    """What the scheduler shows, by the spec's cells: who runs, what the open statement placed, whose turn it is, what
    the plugins count, what each namespace weighs. ``is_idle``: the session is one in which no job wants anything;
    ``is_over``: there was a session."""
    seen: dict[str, Value] = {}
    for place in subject.jobs:
        cell = f"[{', '.join(place)}]"
        job = scheduler.jobs.get(job_name(place))
        seen["bound" + cell] = _count(job, TaskStatus.RUNNING, TaskStatus.BINDING)
        seen["tentative" + cell] = _count(job, TaskStatus.ALLOCATED)
        seen["turn" + cell] = place == turn
    seen["down"] = sum(not info.node.schedulable for info in scheduler.nodes.values())
    session = scheduler.session
    seen["session"] = spec.Session.OVER.name if subject.is_static and is_over else spec.Session.CLOSED.name
    if session is None or is_idle:
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


# ---- the other direction: the spec goes first


class Chosen(Ties):
    """Ties go as the spec's run has them: ``turns`` are its turns, ``taken`` of which have been."""

    def __init__(self, turns: Sequence[Place]) -> None:
        self._turns, self.taken = turns, 0

    def job(self, job: Job) -> Key:
        numbered = enumerate(map(job_name, self._turns[self.taken :]), self.taken)
        return (next((n for n, name in numbered if name == job.name), len(self._turns)), *super().job(job))

    def queue(self, queue: str) -> Key:
        return (not self._is_next(0, queue), *super().queue(queue))

    def namespace(self, namespace: str) -> Key:
        return (not self._is_next(1, namespace), *super().namespace(namespace))

    def _is_next(self, part: int, name: str) -> bool:
        return self.taken < len(self._turns) and self._turns[self.taken][part] == name


@dataclass(frozen=True, slots=True)
class Point:
    """The scheduler at one point of a run. ``base``: as it was before the session that is open, or as it is;
    ``session``: the calls since that one was opened; ``shows``: by the spec's cells."""

    base: Scheduler
    session: tuple[Call, ...]
    shows: Mapping[str, Value]


class _Reached(Exception):
    """The session is where it was to be led; what it did is thrown away, and led there again for the next step."""


class SpecReplayer:
    """For `specs.replaying`: leads a scheduler along runs of the spec. What the plugins' orders leave open goes as the
    run has it, what they decide goes as they decide: there is nothing to excuse."""

    code = "reference"
    excuses: Mapping[str, str] = MappingProxyType({})

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    def start(self) -> Point:
        return self._point(self.subject.scheduler(), ())

    def perform(self, subject: Point, call: Call, before: NamedState, after: NamedState) -> Point:
        if call[0] == "open_session" or subject.session:
            return self._lead(subject.base, (*subject.session, call))
        scheduler = copy.deepcopy(subject.base)
        record = self._happen(scheduler, *call)
        if record.reason:
            raise Divergence(record.reason)
        return self._point(scheduler, ())

    def observed(self, subject: Point, shown: NamedState) -> Mapping[str, Value]:
        return {cell: value for cell, value in subject.shows.items() if cell in shown}

    def key(self, subject: Point) -> Hashable:
        """Tasks of a job are alike, so only how many are where counts."""
        base = subject.base
        jobs = tuple(
            (job.name, job.phase, job.min_available, frozenset(Counter((t.status, t.node) for t in tasks).items()))
            for job in base.jobs.values()
            for tasks in [job.tasks.values()]
        )
        cordoned = tuple(name for name, info in base.nodes.items() if not info.node.schedulable)
        return frozenset(jobs), cordoned, frozenset(base.quotas.items()), subject.session

    def _point(self, base: Scheduler, session: tuple[Call, ...], is_over: bool = False) -> Point:
        return Point(base, session, observed(self.subject, base, None, is_over=is_over))

    def _happen(self, scheduler: Scheduler, action: str, arguments: tuple[str, ...]) -> Record:
        """The event that an action between two sessions is."""
        if action == "change_quota":
            namespace, quota, weight = arguments
            return scheduler.set_quota(namespace, quota, int(weight))
        if action == "return_node":
            return scheduler.uncordon_node(next(n for n, i in scheduler.nodes.items() if not i.node.schedulable))
        queue, namespace, number = arguments
        place = (queue, namespace, number)
        name = job_name(place)
        match action:
            case "submit":
                return scheduler.add_job(self.subject.jobs[place])
            case "finish":
                return scheduler.delete_job(name)
            case "policy_arrives":
                return scheduler.update_job(name, scheduler.jobs[name].min_available + 1)
            case "pod_arrives":
                return scheduler.add_task(name, TaskSpec(f"{name}/extra", Resources(vcore=UNIT)))
            case "drain_node":
                task = next(scheduler.jobs[name].in_status(TaskStatus.RUNNING))
                return scheduler.drain_node(task.node)
        raise Divergence("a session is needed for it, and none is open")

    def _lead(self, base: Scheduler, session: tuple[Call, ...]) -> Point:
        """The session, anew from its beginning, up to its last call. Divergence if it cannot be led there."""
        scheduler = copy.deepcopy(base)
        ties = Chosen([(q, n, j) for _, (q, n, j) in (call for call in session if call[0] == "pop_job")])
        scheduler.ties = ties
        reader = SessionReader(self.subject)
        done = 0
        shows: dict[str, Value] = {}

        def watch(step: Step) -> None:
            nonlocal done, shows
            call = reader.read(step)
            if call is None:
                return
            if call != session[done]:
                raise Divergence(f"the reference goes on with {call[0]}({', '.join(call[1])})")
            done += 1
            ties.taken += call[0] == "pop_job"
            while done < len(session) and session[done][0] == "change_quota":
                self._happen(scheduler, *session[done])
                done += 1
            if done == len(session):
                shows = observed(self.subject, scheduler, reader.turn, is_over=True)
                if call[0] != "close_session":
                    raise _Reached
            elif session[done][0] == "commit_fails":
                scheduler.failing_binds.add(step.task)

        scheduler.observer = watch
        try:
            scheduler.run_session()
        except _Reached:
            return Point(base, session, shows)
        scheduler.observer, scheduler.ties = None, Ties()
        return Point(scheduler, (), shows)

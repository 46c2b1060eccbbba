"""What a simulation is asked: jobs with their times, and what becomes of nodes and pods on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import ClassVar

from reference.cluster import Application, Cluster, Node


@dataclass(frozen=True, slots=True)
class Job:
    """A gang that comes at ``arrival`` (ms) and has work for ``durations`` (ms, at least 1, one for each task group).

    Work begins for all pods at once, when the last member of the gang runs: that is what a gang is for. A pod ends
    when its task group's duration has passed.
    """

    application: Application
    arrival: int
    durations: tuple[int, ...]

    @property
    def name(self) -> str:
        """The application's name."""
        return self.application.name


@dataclass(frozen=True, slots=True)
class NodeChange:
    """At ``time`` (ms) the node ``name`` goes, or comes where ``node`` is given."""

    time: int
    name: str
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class PodFailure:
    """At ``time`` (ms) a pod of this task group fails, the first in order of allocation; nothing where none runs."""

    time: int
    job: str
    task_group: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What does not hold of the ``number``-th of ``part`` (jobs, nodes or pod_failures): ``path`` is the field, as the
    native trace has it."""

    part: str
    number: int
    path: tuple[str, ...]
    text: str

    EXPECTED: ClassVar = "a workload whose names are unique and resolve"

    @property
    def where(self) -> str:
        """The field below the trace."""
        return f"{self.part}[{self.number}].{'.'.join(self.path)}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs in file order, with changes of nodes and failures of pods that the trace itself tells."""

    jobs: tuple[Job, ...]
    node_changes: tuple[NodeChange, ...] = ()
    pod_failures: tuple[PodFailure, ...] = ()

    def problems(self, cluster: Cluster) -> list[Problem]:
        """What does not hold of this workload on ``cluster``; empty where it can be simulated."""
        leaves = {queue.name for queue in cluster.queues.leaves()}
        groups: dict[str, set[str]] = {}
        found: list[Problem] = []
        for number, job in enumerate(self.jobs):
            for path, text in _job_problems(job, leaves, job.name in groups):
                found.append(Problem("jobs", number, path, text))
            groups.setdefault(job.name, {group.name for group in job.application.task_groups})
        for number, failure in enumerate(self.pod_failures):
            if failure.task_group not in groups.get(failure.job, ()):
                path = ("task_group",) if failure.job in groups else ("job",)
                text = f"a pod failure names {failure.job}/{failure.task_group}, which no job has"
                found.append(Problem("pod_failures", number, path, text))
        return found + self._node_problems(cluster)

    def _node_problems(self, cluster: Cluster) -> list[Problem]:
        there = {node.name for node in cluster.nodes}
        found: list[Problem] = []
        in_time = sorted(enumerate(self.node_changes), key=lambda each: (each[1].time, each[1].node is None))
        for number, change in in_time:
            if (change.node is None) is not (change.name in there):
                kind = "goes, but is not there" if change.node is None else "comes, but is there already"
                path = ("remove",) if change.node is None else ("add", "name")
                text = f"node {change.name!r} {kind} at {change.time} ms"
                found.append(Problem("nodes", number, path, text))
            (there.discard if change.node is None else there.add)(change.name)
        return found


def _job_problems(job: Job, leaves: Collection[str], again: bool) -> Iterator[tuple[tuple[str, ...], str]]:
    """The field that is wrong, and what is."""
    app = job.application
    if again:
        yield ("application", "name"), f"two jobs are named {job.name!r}"
    if app.queue not in leaves:
        yield ("application", "queue"), f"job {job.name!r}: {app.queue!r} is not a leaf queue of the cluster"
    if not app.task_groups:
        yield ("application", "task_groups"), f"job {job.name!r} has no task group"
    if len({group.name for group in app.task_groups}) != len(app.task_groups):
        yield ("application", "task_groups"), f"job {job.name!r}: two task groups of one name"
    if len(job.durations) != len(app.task_groups) or min(job.durations, default=1) < 1:
        yield ("durations_ms",), f"job {job.name!r}: each task group needs a duration of at least 1 ms"
    if job.arrival < 0:
        yield ("arrival_ms",), f"job {job.name!r}: it arrives before time 0"

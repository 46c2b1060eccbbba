"""What a simulation is asked: jobs with their times, and what becomes of nodes and pods on the way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

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
class Workload:
    """Jobs in file order, with changes of nodes and failures of pods that the trace itself tells."""

    jobs: tuple[Job, ...]
    node_changes: tuple[NodeChange, ...] = ()
    pod_failures: tuple[PodFailure, ...] = ()

    def problems(self, cluster: Cluster) -> list[str]:
        """What does not hold of this workload on ``cluster``, one line each; empty where it can be simulated."""
        found = [f"two jobs are named {name!r}" for name, n in Counter(job.name for job in self.jobs).items() if n > 1]
        leaves = {queue.name for queue in cluster.queues.leaves()}
        groups = {job.name: {group.name for group in job.application.task_groups} for job in self.jobs}
        for job in self.jobs:
            if job.application.queue not in leaves:
                found.append(f"job {job.name!r}: {job.application.queue!r} is not a leaf queue of the cluster")
            if not job.application.task_groups:
                found.append(f"job {job.name!r} has no task group")
            if len(groups[job.name]) != len(job.application.task_groups):
                found.append(f"job {job.name!r}: two task groups of one name")
            if len(job.durations) != len(job.application.task_groups) or min(job.durations, default=1) < 1:
                found.append(f"job {job.name!r}: each task group needs a duration of at least 1 ms")
            if job.arrival < 0:
                found.append(f"job {job.name!r}: it arrives before time 0")
        for failure in self.pod_failures:
            if failure.task_group not in groups.get(failure.job, ()):
                found.append(f"a pod failure names {failure.job}/{failure.task_group}, which no job has")
        return found + self._node_problems(cluster)

    def _node_problems(self, cluster: Cluster) -> list[str]:
        there = {node.name for node in cluster.nodes}
        found: list[str] = []
        for change in sorted(self.node_changes, key=lambda change: (change.time, change.node is None)):
            if (change.node is None) is not (change.name in there):
                kind = "goes, but is not there" if change.node is None else "comes, but is there already"
                found.append(f"node {change.name!r} {kind} at {change.time} ms")
            (there.discard if change.node is None else there.add)(change.name)
        return found

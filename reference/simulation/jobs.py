"""What a run knows of each job: its pods, how far the gang is, how it ended."""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field

from reference.cluster import Application, Resources
from reference.simulation.workload import Job


class JobState(enum.Enum):
    """Where a job is. A gang that lost a pod and is submitted again is PENDING again."""

    COMING = "coming"
    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    REJECTED = "rejected"
    KILLED = "killed"

    @property
    def is_over(self) -> bool:
        """Whether nothing more becomes of it."""
        return self not in (JobState.COMING, JobState.PENDING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod on a node."""

    number: int
    task_group: str
    node: str
    resources: Resources
    placeholder: bool


@dataclass(slots=True, eq=False)
class TrackedJob:
    """A job in a run. ``pods`` are those that hold room now, ``bound`` counts real pods of the attempt by task group,
    ended ones too; ``attempt`` counts from 1, 0 before it came."""

    job: Job
    state: JobState = JobState.COMING
    attempt: int = 0
    pods: dict[int, Pod] = field(default_factory=dict)
    bound: Counter[str] = field(default_factory=Counter)
    open_groups: set[str] = field(default_factory=set)
    started: int | None = None
    ended: int | None = None
    reason: str = ""

    @property
    def name(self) -> str:
        """The job's name."""
        return self.job.name

    @property
    def application(self) -> Application:
        """The gang."""
        return self.job.application

    @property
    def life(self) -> tuple[int, bool]:
        """Changes when an attempt ends."""
        return self.attempt, self.state.is_over

    @property
    def is_whole(self) -> bool:
        """Whether every member of the gang has been bound in this attempt."""
        return all(self.bound[group.name] == group.min_member for group in self.application.task_groups)

    def missing(self) -> dict[str, int]:
        """Members by task group that hold no room yet, placeholders counted as members."""
        held = Counter(pod.task_group for pod in self.pods.values() if pod.placeholder)
        return {
            group.name: max(group.min_member - self.bound[group.name] - held[group.name], 0)
            for group in self.application.task_groups
        }

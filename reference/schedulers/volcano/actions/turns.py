"""Whose turn it is: queues of jobs, ordered as the plugins say at that moment."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from reference.schedulers.volcano.api import Job, Task, TaskStatus
from reference.schedulers.volcano.options import Edition
from reference.schedulers.volcano.plugins.plugin import Key
from reference.schedulers.volcano.session import Session


class Jobs:
    """The jobs of one queue, or of one namespace in it. A job's place changes only while it is not in line, so its key
    is taken when it is pushed."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._heap: list[tuple[Key, Job]] = []

    def push(self, job: Job) -> None:
        """The job lines up, or again."""
        heapq.heappush(self._heap, (self._session.job_key(job), job))

    def pop(self) -> Job:
        """The first job leaves the line."""
        return heapq.heappop(self._heap)[1]

    def __len__(self) -> int:
        return len(self._heap)


class Turns:
    """Jobs in line by queue and, in the designs of 2019, by namespace. All go back after each job, so each order
    is that of now."""

    def __init__(self, session: Session, jobs: Iterable[Job]) -> None:
        self._session = session
        self._edition = session.configuration.edition
        self._lines: dict[str, dict[str, Jobs]] = {}
        for job in jobs:
            self.push(job)

    def push(self, job: Job) -> None:
        """The job lines up in its queue."""
        line = self._lines.setdefault(job.queue, {})
        namespace = job.namespace if self._session.is_seed() else ""
        line.setdefault(namespace, Jobs(self._session)).push(job)

    def pop(self) -> Job | None:
        """The job whose turn it is: of the first queue that is not overused, there of the first namespace. In the
        edition that shipped the namespace comes before the queue."""
        open_queues = [q for q, line in self._lines.items() if any(line.values()) and not self._session.overused(q)]
        if not open_queues:
            return None
        if self._edition is Edition.SHIPPED:
            waiting = {n for q in open_queues for n, jobs in self._lines[q].items() if jobs}
            namespace = min(waiting, key=lambda n: self._session.namespace_key(n, None))
            having = [q for q in open_queues if self._lines[q].get(namespace)]
            return self._lines[min(having, key=self._session.queue_key)][namespace].pop()
        queue = min(open_queues, key=self._session.queue_key)
        lines = self._lines[queue]
        names = [n for n, jobs in lines.items() if jobs]
        if len(names) == 1:
            return lines[names[0]].pop()
        return lines[min(names, key=lambda n: self._session.namespace_key(n, queue))].pop()


def tasks_in_order(session: Session, job: Job, status: TaskStatus = TaskStatus.PENDING) -> list[Task]:
    """The job's tasks of a status, the first last, so that ``pop`` takes it."""
    return sorted(job.in_status(status), key=session.task_key, reverse=True)

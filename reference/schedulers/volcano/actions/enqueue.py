"""enqueue: PodGroups that their queue can take in become Inqueue; the others stay Pending, and are given nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reference.schedulers.volcano.actions.turns import Jobs
from reference.schedulers.volcano.api import ROOT, Job, PodGroupPhase
from reference.schedulers.volcano.options import Point
from reference.schedulers.volcano.session import Session
from reference.schedulers.volcano.statement import StepKind


def enqueue(session: Session) -> None:
    """Queue by queue, in the order of now, a job each time. One that is not taken in is not asked again."""
    lines: dict[str, Jobs] = {}
    started: Counter[str] = Counter()
    for job in session.jobs.values():
        if job.phase is PodGroupPhase.PENDING:
            lines.setdefault(job.queue, Jobs(session)).push(job)
        else:
            started.update(_path(session, job.queue))
    while lines:
        queue = min(lines, key=session.queue_key)
        job = lines[queue].pop()
        if not lines[queue]:
            del lines[queue]
        _try(session, job, started)


def _try(session: Session, job: Job, started: Counter[str]) -> None:
    for name in _path(session, job.queue):
        most = session.queues[name].max_jobs
        if most is not None and started[name] >= most:
            job.reason = f"queue {name} has all the {most} jobs that it may have"
            return
    if job.spec.min_resources is not None and not session.job_enqueueable(job):
        job.reason = f"queue {job.queue}, or one above it, cannot take in what the gang needs"
        return
    for plugin in session.at(Point.JOB_ENQUEUED):
        plugin.job_enqueued(job)
    job.phase = PodGroupPhase.INQUEUE
    started.update(_path(session, job.queue))
    session.note(StepKind.ENQUEUE, job)


def _path(session: Session, name: str) -> Iterator[str]:
    """The queue and those above it."""
    yield name
    while name != ROOT:
        name = session.queues[name].parent
        yield name

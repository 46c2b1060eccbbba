"""backfill: tasks that ask for nothing go where they may, queue by queue and job by job."""

from __future__ import annotations

from reference.schedulers.volcano.actions.turns import Jobs, tasks_in_order
from reference.schedulers.volcano.api import PodGroupPhase, TaskStatus
from reference.schedulers.volcano.session import Session
from reference.schedulers.volcano.statement import StepKind


def backfill(session: Session) -> None:
    """Each such task is allocated on its own; what a job has is bound as soon as it is ready, else forgotten."""
    lines: dict[str, Jobs] = {}
    for job in session.jobs.values():
        if job.phase is not PodGroupPhase.PENDING and job.best_effort_pending and session.job_valid(job) is None:
            lines.setdefault(job.queue, Jobs(session)).push(job)
    for queue in sorted(lines, key=session.queue_key):
        while lines[queue]:
            job = lines[queue].pop()
            tasks = [task for task in tasks_in_order(session, job) if task.is_best_effort]
            while tasks:
                task = tasks.pop()
                node = session.best(task)
                if node is None or not node.fits(task.resreq):
                    continue
                session.place(task, node, TaskStatus.ALLOCATED)
                if session.job_ready(job):
                    session.dispatch(job)
                session.note(StepKind.BACKFILL, job, task.name, node.name)

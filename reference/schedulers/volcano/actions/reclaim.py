"""reclaim: a queue takes back what it deserves from queues that have more.

A node without tasks of other queues is passed over, even if it is free: that is allocate's business.
"""

from __future__ import annotations

from reference.schedulers.volcano.actions.turns import Jobs, tasks_in_order
from reference.schedulers.volcano.actions.victims import (
    candidate_nodes,
    commit_if_pipelined,
    starving_jobs,
    tasks_on,
    would_fit,
)
from reference.schedulers.volcano.api import Job, Task, TaskStatus
from reference.schedulers.volcano.session import Session
from reference.schedulers.volcano.statement import Statement, StepKind


def reclaim(session: Session) -> None:
    """Queue by queue, all starving jobs of one that is not overused."""
    lines: dict[str, Jobs] = {}
    for job in starving_jobs(session):
        lines.setdefault(job.queue, Jobs(session)).push(job)
    while lines:
        queue = min(lines, key=session.queue_key)
        line = lines.pop(queue)
        if session.overused(queue):
            continue
        while line:
            job = line.pop()
            session.note(StepKind.POP, job)
            _reclaim_for_job(session, job)


def _reclaim_for_job(session: Session, job: Job) -> None:
    statement = Statement(session)
    tasks = tasks_in_order(session, job)
    while tasks and session.job_starving(job):
        task = tasks.pop()
        if task.spec.preempts and session.preemptive(task):
            _reclaim_for_task(session, statement, task)
    commit_if_pipelined(session, statement, job)


def _reclaim_for_task(session: Session, statement: Statement, task: Task) -> None:
    """The first node on which victims that all plugins choose make the room."""
    for node in candidate_nodes(session, task):
        reclaimees = [t for t in tasks_on(node) if _is_reclaimee(session, t, task)]
        if not reclaimees:
            continue
        victims = session.reclaimable(task, reclaimees)
        if not would_fit(task, node, victims):
            continue
        on_node = Statement(session)
        for victim in session.victims_in_order(victims, task):
            if node.will_fit(task.resreq):
                break
            on_node.evict(victim)
        if node.will_fit(task.resreq):
            on_node.pipeline(task, node)
            statement.take_over(on_node)
            return
        on_node.discard()


def _is_reclaimee(session: Session, task: Task, reclaimer: Task) -> bool:
    queue = session.queues.get(task.job.queue)
    return (
        task.status is TaskStatus.RUNNING
        and task.spec.preemptable
        and queue is not None
        and queue.name != reclaimer.job.queue
        and queue.reclaimable
    )

"""preempt: within a queue, a starving job takes the place of what the plugins give; then, within a job, its own tasks.

Victims are carried out only if the job would be ready once they are gone. Left out: upstream's topology-aware variant
(off by default), and nominated nodes.
"""

from __future__ import annotations

from collections.abc import Callable

from reference.schedulers.volcano.actions.turns import Jobs, tasks_in_order
from reference.schedulers.volcano.actions.victims import (
    candidate_nodes,
    commit_if_pipelined,
    starving_jobs,
    tasks_on,
    would_fit,
)
from reference.schedulers.volcano.api import Job, Task, TaskStatus
from reference.schedulers.volcano.nodes import NodeInfo
from reference.schedulers.volcano.session import Session
from reference.schedulers.volcano.statement import Statement, StepKind


def preempt(session: Session) -> None:
    """Queue by queue. Jobs that have a network topology take part in no preemption, as upstream."""
    lines: dict[str, Jobs] = {}
    starving: dict[str, list[Job]] = {}
    tasks: dict[str, list[Task]] = {}
    for job in starving_jobs(session):
        if job.spec.network_topology is None:
            lines.setdefault(job.queue, Jobs(session)).push(job)
            starving.setdefault(job.queue, []).append(job)
            tasks[job.name] = tasks_in_order(session, job)
    for queue in sorted(lines, key=session.queue_key):
        while lines[queue]:
            job = lines[queue].pop()
            session.note(StepKind.POP, job)
            _between_jobs(session, job, tasks[job.name])
        for job in starving[queue]:
            _within_job(session, job)


def _between_jobs(session: Session, job: Job, tasks: list[Task]) -> None:
    statement = Statement(session)
    while tasks and session.job_starving(job):
        _preempt_for(session, statement, tasks.pop(), lambda t: t.job.queue == job.queue and t.job is not job)
    commit_if_pipelined(session, statement, job)


def _within_job(session: Session, job: Job) -> None:
    """Until a task finds nothing."""
    for task in reversed(tasks_in_order(session, job)):
        statement = Statement(session)
        if not _preempt_for(session, statement, task, lambda t: t.job is job):
            return
        statement.commit()
        session.note(StepKind.COMMIT, job)


def _preempt_for(session: Session, statement: Statement, task: Task, among: Callable[[Task], bool]) -> bool:
    """Find a node for the task, the best first, and evict there until it fits: in its queue too, whose quota can
    be what is short. True if it was pipelined."""
    if not task.spec.preempts:
        return False
    nodes = candidate_nodes(session, task)
    for node in sorted(nodes, key=lambda node: (-session.score(task, node), node.name)):
        candidates = [t for t in tasks_on(node) if _may_go(t, task) and among(t)]
        victims = session.preemptable(task, candidates)
        if not would_fit(task, node, victims):
            continue
        on_node = Statement(session)
        for victim in session.victims_in_order(victims, task):
            if _fits(session, task, node):
                break
            on_node.evict(victim)
        if _fits(session, task, node):
            on_node.pipeline(task, node)
            statement.take_over(on_node)
            return True
        on_node.discard()
    return False


def _may_go(task: Task, preemptor: Task) -> bool:
    """A task that asks for something is not evicted for one that asks for nothing."""
    mine = not preemptor.is_best_effort or task.is_best_effort
    return task.status is TaskStatus.RUNNING and task.spec.preemptable and mine


def _fits(session: Session, task: Task, node: NodeInfo) -> bool:
    return session.allocatable(task) and session.why_not(task, node) is None

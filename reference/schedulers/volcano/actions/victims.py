"""What preempt and reclaim have in common: candidates on a node, whether victims would make the room, and whether it
was worth it."""

from __future__ import annotations

from collections.abc import Sequence

from reference.cluster import PODS
from reference.schedulers.volcano.api import Job, PodGroupPhase, Task
from reference.schedulers.volcano.nodes import NodeInfo
from reference.schedulers.volcano.session import Session
from reference.schedulers.volcano.statement import Statement, StepKind


def starving_jobs(session: Session) -> list[Job]:
    """The jobs that others may have to give way to."""
    return [
        job
        for job in session.jobs.values()
        if job.phase is not PodGroupPhase.PENDING and session.job_valid(job) is None and session.job_starving(job)
    ]


def tasks_on(node: NodeInfo) -> list[Task]:
    """The tasks on a node in a total order."""
    return sorted(node.tasks.values(), key=lambda task: (task.job.number, task.number, task.name))


def would_fit(task: Task, node: NodeInfo, victims: Sequence[Task]) -> bool:
    """Whether the task would have room with all victims gone; also with none of them."""
    for name, amount in task.resreq.items():
        gone = sum(victim.resreq.amount(name) for victim in victims)
        limited = name != PODS or PODS in node.allocatable
        if limited and amount > 0 and amount > node.future_idle(name) + gone:
            return False
    return True


def candidate_nodes(session: Session, task: Task) -> list[NodeInfo]:
    """Nodes that the task may run on if there is room, in order of their names."""
    return [node for node in session.nodes.values() if session.why_never(task, node) is None]


def commit_if_pipelined(session: Session, statement: Statement, job: Job) -> None:
    """Carries out what was done for the job only if the job would be ready once the victims are gone."""
    if session.job_pipelined(job):
        statement.commit()
        session.note(StepKind.COMMIT, job)
    else:
        statement.discard()
        session.note(StepKind.DISCARD, job)

"""allocate: queue by queue and job by job, a statement places tasks until the job is ready.

A job gets minAvailable first; what it has beyond comes in later turns, one task each. A statement of a job that is not
ready is discarded; one that would be ready once what runs down is gone is neither carried out nor undone, and keeps its
promises until the session closes.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.schedulers.volcano.actions.turns import Turns, tasks_in_order
from reference.schedulers.volcano.api import Job, PodGroupPhase, Shape, Task, TaskStatus, TopologyMode
from reference.schedulers.volcano.hypernodes import TOP
from reference.schedulers.volcano.nodes import NodeInfo
from reference.schedulers.volcano.session import Session
from reference.schedulers.volcano.statement import Operation, Statement, StepKind


def allocate(session: Session) -> None:
    """Turns until no queue that is not overused has a job in line."""
    worksheets: dict[str, list[Task]] = {}
    for job in session.jobs.values():
        if job.phase is PodGroupPhase.PENDING:
            if "enqueue" in session.configuration.actions:
                continue
            job.phase = PodGroupPhase.INQUEUE
        reason = session.job_valid(job)
        if reason is not None:
            job.reason = reason
            continue
        tasks = [task for task in tasks_in_order(session, job) if not task.is_best_effort]
        if tasks:
            job.fit_errors.clear()
            worksheets[job.name] = tasks
    turns = Turns(session, [session.jobs[name] for name in worksheets])
    while (popped := turns.pop()) is not None:
        if _take_turn(session, popped, worksheets[popped.name]):
            turns.push(popped)


def _take_turn(session: Session, job: Job, tasks: list[Task]) -> bool:
    """One turn of a job; whether it lines up again."""
    session.note(StepKind.POP, job)
    statement = _statement_for(session, job, tasks)
    if statement is None:
        session.note(StepKind.DISCARD, job, reason=job.reason)
        return False
    if not session.job_ready(job):
        session.note(StepKind.LEAVE, job)
        return False
    placed = bool(statement.operations)
    undone = statement.commit()
    if session.is_seed():  # today a task whose bind failed is on no list until the next session
        tasks += reversed(undone)
    session.note(StepKind.COMMIT, job, reason="" if placed else "nothing to bind")
    return bool(tasks)


def _statement_for(session: Session, job: Job, tasks: list[Task]) -> Statement | None:
    gradients = session.gradients(job)
    if gradients is None:
        return _place(session, job, tasks, TOP)
    return _place_in_best_domain(session, job, tasks, gradients)


@dataclass(slots=True)
class _Solution:
    operations: list[Operation]
    left: list[Task]


def _place_in_best_domain(
    session: Session, job: Job, tasks: list[Task], gradients: list[list[str]]
) -> Statement | None:
    """Hard topology: every domain of a tier is tried and undone; what was done in the best of them is done again. A
    higher tier is tried only if no domain of the lower ones will do."""
    topology = session.topology
    for names in gradients:
        solutions: dict[str, _Solution] = {}
        for name in names:
            job.fit_errors.clear()
            left = list(tasks)
            statement = Statement(session)
            while left:  # turn by turn, as the one job that there is, until it is ready
                part = _place(session, job, left, name)
                if part is None or not part.operations:
                    break
                statement.take_over(part)
                if session.job_ready(job):
                    break
            if statement.operations and (session.job_ready(job) or session.job_pipelined(job)):
                solutions[name] = _Solution(list(statement.operations), left)
            statement.discard()
        if solutions and topology is not None:
            # each is scored on its own: what a domain gets does not depend on which others there are
            scores = {name: topology.hyper_node_scores(job, [name])[name] for name in solutions}
            best = min(solutions, key=lambda name: (-scores[name], name))
            statement = Statement(session)
            statement.recover(solutions[best].operations)
            tasks[:] = solutions[best].left
            job.allocated_hyper_node = session.hyper_nodes.common(job.allocated_hyper_node, best)
            return statement
    job.reason = job.reason or "no HyperNode within the highest tier allowed can hold the job"
    return None


def _place(session: Session, job: Job, tasks: list[Task], domain: str) -> Statement | None:
    """Place tasks in a domain until the job is ready; tasks that were looked at leave the list. None, and nothing
    done, if the job is neither ready nor would be once what runs down is gone."""
    statement = Statement(session)
    errors = ErrorCache(session, tasks)
    near = job.allocated_hyper_node
    topology = job.spec.network_topology
    while tasks:
        task = tasks.pop()
        if not session.allocatable(task):
            job.reason = f"queue {job.queue} may not have more"
            continue
        if task.role and any(job.tasks[name].role == task.role for name in job.fit_errors):
            job.fit_errors[task.name] = "another task of its role has found no node"
            continue
        node = errors.best(task, domain, near if topology else "")
        if node is None:
            job.fit_errors[task.name] = job.reason = f"no node for {task.name}"
            if _goes_on(job):
                continue
            break
        if node.fits(task.resreq):
            statement.allocate(task, node)
        else:
            statement.pipeline(task, node)
        if topology is not None:
            near = session.hyper_nodes.common(near, session.hyper_nodes.of_node(node.name))
        if session.job_ready(job):
            break
    if session.job_ready(job):
        if topology is not None and topology.mode is TopologyMode.SOFT:
            job.allocated_hyper_node = near
        return statement
    if session.job_pipelined(job):
        return statement
    statement.discard()
    return None


def _goes_on(job: Job) -> bool:
    """Whether the job can still get ready though a task found no node."""
    if job.min_available == len(job.tasks):
        return False
    failed = {job.tasks[name].role for name in job.fit_errors}
    if job.min_available < job.task_min_available_total:
        left = sum(t.role not in failed for t in job.in_status(TaskStatus.PENDING))
        return job.ready_task_num + left >= job.min_available
    least = job.spec.min_task_member
    return all(job.ready_roles.get(role, 0) >= least.get(role, 0) for role in failed)


class ErrorCache:
    """Which nodes are no longer asked about: within a statement, those on which a task with the same role failed.

    Upstream's key is job and role (the annotation volcano.sh/task-spec). Tasks of one shape fail on the same nodes, so
    the cache shows only where tasks of one role differ; there every node is asked, as upstream does, and what it said
    is kept. Without a role tasks share nothing since August 2024; before, all of them shared one key.
    """

    def __init__(self, session: Session, tasks: list[Task]) -> None:
        self._session = session
        shapes: dict[str, set[Shape]] = {}
        for task in tasks:
            if session.configuration.predicate_error_cache and (task.role or session.is_seed()):
                shapes.setdefault(task.role, set()).add(task.shape)
        self._mixed = {role for role, found in shapes.items() if len(found) > 1}
        self._errors: dict[str, dict[str, str]] = {}

    def best(self, task: Task, domain: str, near: str) -> NodeInfo | None:
        """The best node of a domain that no error stands against."""
        if task.role not in self._mixed:
            if domain == TOP and not near:
                return self._session.best(task)
            return self._session.best_of(task, self._session.hyper_nodes.nodes(domain), near)
        errors = self._errors.setdefault(task.role, {})
        left = []
        for node in self._session.hyper_nodes.nodes(domain):
            if node.name in errors:
                continue
            error = self._session.why_not(task, node)
            if error is None:
                left.append(node)
            else:
                errors[node.name] = error
        return self._session.best_of(task, left, near)

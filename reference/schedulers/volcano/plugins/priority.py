"""priority: jobs and tasks by priority; only what has less may be preempted."""

from __future__ import annotations

from collections.abc import Sequence

from reference.schedulers.volcano.api import Job, Task
from reference.schedulers.volcano.plugins.plugin import Key, Plugin


class Priority(Plugin):
    """Between jobs the jobs' priorities count, within a job those of its tasks."""

    def job_order(self, job: Job) -> Key:
        return (-job.spec.priority,)

    def task_order(self, task: Task) -> Key:
        return (-task.spec.priority,)

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> list[Task] | None:
        return [task for task in candidates if _is_less(task, preemptor)]

    def job_starving(self, job: Job) -> bool | None:
        """As long as any task has neither a node nor the promise of one."""
        return job.ready_task_num + job.waiting_task_num < len(job.tasks)


def _is_less(task: Task, preemptor: Task) -> bool:
    if task.job is preemptor.job:
        return task.spec.priority < preemptor.spec.priority
    return task.job.spec.priority < preemptor.job.spec.priority

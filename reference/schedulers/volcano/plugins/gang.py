"""gang: a job starts with minAvailable tasks or not at all, and never falls below it for another's sake."""

from __future__ import annotations

from collections.abc import Sequence

from reference.schedulers.volcano.api import Job, Task
from reference.schedulers.volcano.plugins.plugin import Key, Plugin


class Gang(Plugin):
    """minAvailable of a job, and the minima of its roles where they do not exceed it."""

    def job_valid(self, job: Job) -> str | None:
        if job.has_roles:
            for role, least in sorted(job.spec.min_task_member.items()):
                pods = sum(task.role == role for task in job.tasks.values())
                if pods < least:
                    return f"not enough pods of role {role!r}: {pods}, needs {least}"
        if job.valid_task_num < job.min_available:
            return f"not enough pods: {job.valid_task_num}, needs {job.min_available}"
        return None

    def job_order(self, job: Job) -> Key:
        """Gangs that are not ready come first."""
        return (job.is_ready(),)

    def job_ready(self, job: Job) -> bool:
        return job.is_ready() and job.roles_ready()

    def job_pipelined(self, job: Job) -> bool:
        return job.is_pipelined() and job.roles_pipelined()

    def job_starving(self, job: Job) -> bool | None:
        """Roles do not count here, only minAvailable."""
        return job.is_starving()

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> list[Task] | None:
        """Those that their jobs can spare: each victim leaves one less."""
        ready: dict[str, int] = {}
        victims = []
        for task in candidates:
            have = ready.setdefault(task.job.name, task.job.ready_task_num)
            if have > task.job.min_available:
                ready[task.job.name] = have - 1
                victims.append(task)
        return victims

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> list[Task] | None:
        return self.preemptable(reclaimer, candidates)

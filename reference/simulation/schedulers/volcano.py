"""Volcano on the virtual clock: a session whenever something happened, until one binds nothing.

A job has no time of its own to wait: it is Pending or Inqueue until a session binds it. Its controller deletes it when
it has ended, and lets it begin anew when it has failed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from reference.cluster import Application, Cluster, Node
from reference.schedulers.volcano import ROOT, Options, Scheduler, Step, StepKind, TaskStatus
from reference.schedulers.volcano.batch import plugin_for, queues_of
from reference.schedulers.volcano.gangs import NO_NETWORK, job_of
from reference.simulation.scheduler import Bound, Change, Released, Said
from reference.simulation.schedulers.own import OwnNodes, left_by_pods

_TOLD = frozenset({StepKind.ENQUEUE, StepKind.COMMIT, StepKind.DISCARD, StepKind.BACKFILL})


class VolcanoScheduler:
    """Queues are those of ``cluster``, by the plugin that knows what they have; ``options`` as for ``Options``."""

    name = "volcano"

    def __init__(self, cluster: Cluster, **options: object) -> None:
        chosen = Options.parse(options)
        tree = left_by_pods(cluster)
        plugin = chosen.queues or plugin_for(tree)
        queues = queues_of(tree, plugin)
        self.scheduler = Scheduler(chosen.configuration(plugin), queues=queues)
        is_root_renamed = any(queue.name == ROOT for queue in queues)
        self._renamed = {tree.root.name: ROOT} if is_root_renamed else {}
        self._own = OwnNodes(cluster)
        self._numbers = itertools.count(1)
        self._pods: dict[int, str] = {}
        self._number_of: dict[str, int] = {}
        self._changes: list[Change] = []
        self._pending = 0
        """Pods without a node, of all jobs."""
        self._is_settled = True
        """Whether the last session bound nothing, and nothing happened since."""

    def add_node(self, node: Node, now: int) -> None:
        """The node takes pods."""
        self._is_settled = False
        self.scheduler.add_node(self._own.with_pods(node))

    def remove_node(self, node: str, now: int) -> None:
        """Its pods are lost; what their controllers make anew goes with the job, which has failed."""
        self._is_settled = False
        lost = self.scheduler.remove_node(node).evicted
        self._pending += len(lost)
        for task in lost:
            self._changes.append(Released(self.scheduler.tasks[task].job.name, self._forget(task), "its node is gone"))

    def submit(self, application: Application, now: int) -> None:
        """The job and its PodGroup are created."""
        self._is_settled = False
        queue = self._renamed.get(application.queue, application.queue)
        self.scheduler.add_job(job_of(application, queue, NO_NETWORK))
        self._pending += application.members

    def withdraw(self, application: str, now: int) -> None:
        """The job is deleted with all of its pods."""
        self._is_settled = False
        job = self.scheduler.jobs.get(application)
        self._pending -= job.counts[TaskStatus.PENDING] if job else 0
        for task in job.tasks if job else ():
            if task in self._number_of:
                self._forget(task)
        self.scheduler.delete_job(application)
        self._changes = [c for c in self._changes if isinstance(c, Said) or c.application != application]

    def pod_ended(self, application: str, pod: int, now: int) -> None:
        """A pod has succeeded; the job is deleted with the last one."""
        self._is_settled = False
        task = self._pods[pod]
        self._forget(task)
        self.scheduler.task_ended(task)
        job = self.scheduler.jobs[application]
        if not any(name in self._number_of for name in job.tasks):
            self.scheduler.delete_job(application)

    def next_timer(self) -> int | None:
        """No timers: sessions follow each other faster than anything happens."""
        return None

    def cycle(self, now: int) -> Sequence[Change]:
        """What is lost is told first, so that no session sees the pods of a job that has failed."""
        if not self._changes and not self._is_settled and self._pending:
            record = self.scheduler.run_session()
            self._is_settled = not record.bound
            if record.bound:
                said = (step for step in record.steps if step.kind in _TOLD)
                self._changes += (Said(step.kind.value, _fields(step)) for step in said)
            for task, node in record.bound:
                self._changes.append(self._bound(task, node))
        changes, self._changes = self._changes, []
        return changes

    def _bound(self, name: str, node: str) -> Bound:
        number = next(self._numbers)
        self._pending -= 1
        self._pods[number], self._number_of[name] = name, number
        task = self.scheduler.tasks[name]
        return Bound(task.job.name, task.role, number, node)

    def _forget(self, task: str) -> int:
        number = self._number_of.pop(task)
        del self._pods[number]
        return number


def _fields(step: Step) -> dict[str, object]:
    fields = {"application": step.job, "task": step.task, "node": step.node, "reason": step.reason}
    return {name: value for name, value in fields.items() if value}

"""drf: jobs by dominant share; hierarchical DRF over queues; and the namespaces of the design of 2019.

"Namespace fair share" orders the namespaces of a queue by u/w: the dominant share of what a namespace has, by its
weight. It was released in 2019 and removed in 2023 (``Edition``). Shares are exact fractions. A preemptor may have as
much as its victim would be left with, upstream within a millionth, here exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from reference.schedulers.volcano.amounts import Amounts, change, dominant_share
from reference.schedulers.volcano.api import Job, Queue, Task
from reference.schedulers.volcano.options import Edition
from reference.schedulers.volcano.plugins.hdrf import Tree
from reference.schedulers.volcano.plugins.plugin import Key, Plugin

if TYPE_CHECKING:
    from reference.schedulers.volcano.session import Session


class Drf(Plugin):
    """Dominant shares of jobs, of namespaces, and with hierarchy of queues."""

    def __init__(self, session: Session, hierarchy: bool) -> None:
        super().__init__(session, hierarchy)
        self.total = {name: amount for name, amount in session.total.items() if amount}
        self.jobs = {job.name: dict(job.allocated) for job in session.jobs.values()}
        self.namespaces: dict[tuple[str, str], Amounts] = {}
        """By queue and namespace, what its jobs have there."""
        for job in session.jobs.values():
            change(self.namespaces.setdefault((job.queue, job.namespace), {}), job.allocated)
        self._shares: dict[str, Fraction] = {}
        self._tree: Tree | None = None

    def share(self, job: Job) -> Fraction:
        """The dominant share of a job."""
        share = self._shares.get(job.name)
        if share is None:
            share = self._shares[job.name] = dominant_share(self.jobs[job.name], self.total)
        return share

    def namespace_share(self, namespace: str, queue: str | None) -> Fraction:
        """The dominant share of a namespace, in a queue or in all, by its weight: u/w."""
        amounts: Amounts = {}
        for (q, n), have in self.namespaces.items():
            if n == namespace and queue in (None, q):
                change(amounts, have)
        return dominant_share(amounts, self.total) / self.session.namespace_weight(namespace)

    def job_order(self, job: Job) -> Key:
        return (self.share(job),)

    def namespace_order(self, namespace: str, queue: str | None) -> Key:
        return (self.namespace_share(namespace, queue),)

    def queue_order(self, queue: Queue) -> Key:
        return self.tree.key(queue.hierarchy) if self.hierarchy else ()

    @property
    def tree(self) -> Tree:
        """The hierarchy with the shares of now."""
        if self._tree is None:
            jobs = [
                (self.session.queues[j.queue].hierarchy, j.name, self.jobs[j.name], _request(j))
                for j in self.session.jobs.values()
            ]
            self._tree = Tree(self.total, jobs)
        return self._tree

    def preemptable(self, preemptor: Task, candidates: Sequence[Task]) -> list[Task] | None:
        """Tasks of jobs that keep at least what the preemptor's job then has. In the design a namespace that has less
        comes first; of equal namespaces the jobs' shares decide."""
        if self.session.configuration.edition is not Edition.CURRENT:
            return [task for task in candidates if self._namespace_gives_way(preemptor, task)]
        mine = self._with(self.jobs[preemptor.job.name], preemptor, 1)
        left: dict[str, Amounts] = {}
        victims = []
        for task in candidates:
            theirs = left.setdefault(task.job.name, dict(self.jobs[task.job.name]))
            change(theirs, task.resreq, -1)
            if mine <= dominant_share(theirs, self.total):
                victims.append(task)
        return victims

    def _namespace_gives_way(self, preemptor: Task, task: Task) -> bool:
        queue = preemptor.job.queue if self.session.configuration.edition is Edition.SEED else None
        mine = self.namespace_share(preemptor.job.namespace, queue)
        theirs = self.namespace_share(task.job.namespace, queue)
        if mine != theirs:
            return mine < theirs
        after = self._with(self.jobs[preemptor.job.name], preemptor, 1)
        return after <= self._with(self.jobs[task.job.name], task, -1)

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> list[Task] | None:
        """With hierarchy: tasks without which their queue would still come after the reclaimer's, had that its task."""
        if not self.hierarchy:
            return None
        queues = self.session.queues
        mine, victims = queues[reclaimer.job.queue].hierarchy, []
        change(self.jobs[reclaimer.job.name], reclaimer.resreq)
        for task in candidates:
            change(self.jobs[task.job.name], task.resreq, -1)
            self._tree = None
            theirs = queues[task.job.queue].hierarchy
            if self.tree.key(mine) < self.tree.key(theirs):
                victims.append(task)
            change(self.jobs[task.job.name], task.resreq)
        change(self.jobs[reclaimer.job.name], reclaimer.resreq, -1)
        self._tree = None
        return victims

    def allocated(self, task: Task) -> None:
        self._change(task, 1)

    def deallocated(self, task: Task) -> None:
        self._change(task, -1)

    def _change(self, task: Task, sign: int) -> None:
        job = task.job
        change(self.jobs[job.name], task.resreq, sign)
        change(self.namespaces[job.queue, job.namespace], task.resreq, sign)
        self._shares.pop(job.name, None)
        self._tree = None

    def _with(self, amounts: Amounts, task: Task, sign: int) -> Fraction:
        together = dict(amounts)
        change(together, task.resreq, sign)
        return dominant_share(together, self.total)


def _request(job: Job) -> Amounts:
    request: Amounts = {}
    for task in job.tasks.values():
        change(request, task.resreq)
    return request

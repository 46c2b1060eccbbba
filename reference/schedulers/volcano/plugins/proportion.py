"""proportion: queues without a hierarchy share the cluster by weight, and get what they deserve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from reference.cluster import PODS, Resources
from reference.schedulers.volcano.amounts import Amounts, change, dimensions, dominant_share, within
from reference.schedulers.volcano.api import Job, PodGroupPhase, Queue, Task, TaskStatus
from reference.schedulers.volcano.options import Edition
from reference.schedulers.volcano.plugins.plugin import Key, Plugin
from reference.schedulers.volcano.plugins.shares import Claim, deserved_shares

if TYPE_CHECKING:
    from reference.schedulers.volcano.session import Session


@dataclass(slots=True)
class QueueAttr:
    """What is counted for a queue in a session."""

    real_capability: dict[str, int] = field(default_factory=dict)
    guarantee: Resources = field(default_factory=Resources)
    deserved: dict[str, Fraction] = field(default_factory=dict)
    allocated: Amounts = field(default_factory=dict)
    request: Amounts = field(default_factory=dict)
    inqueue: Amounts = field(default_factory=dict)
    elastic: Amounts = field(default_factory=dict)

    def count(self, job: Job) -> None:
        """Count a job of the queue: what it has, asks for, and is still to get for its minimum."""
        change(self.allocated, job.allocated)
        change(self.request, job.allocated)
        for task in job.in_status(TaskStatus.PENDING):
            change(self.request, task.resreq)
        least = job.spec.min_resources
        if least is not None and (
            job.phase is PodGroupPhase.INQUEUE
            or (job.phase is PodGroupPhase.RUNNING and job.ready_task_num >= job.min_available)
        ):
            change(self.inqueue, {n: max(a - job.allocated.get(n, 0), 0) for n, a in least.items()})
        beyond = {n: max(a - (least.amount(n) if least else 0), 0) for n, a in job.allocated.items()}
        change(self.elastic, beyond)

    def takes_in(self, job: Job) -> bool:
        """Whether the minimum of one more job stays within the real capability."""
        least = job.spec.min_resources
        if least is None:
            return True
        wanted = {
            n: least[n] + self.allocated.get(n, 0) + self.inqueue.get(n, 0) - self.elastic.get(n, 0) for n in least
        }
        return all(wanted[n] <= self.real_capability[n] for n in dimensions(least) if n in self.real_capability)


def real_capability(above: dict[str, int], guarantees: Amounts, queue: Queue) -> dict[str, int]:
    """What a queue may have at most: what those beside it are not guaranteed, and its capability."""
    limits = {
        name: max(amount - guarantees.get(name, 0), 0) + queue.guarantee.amount(name) for name, amount in above.items()
    }
    for name, amount in queue.capability.items():
        limits[name] = min(limits.get(name, amount), amount)
    return limits


class Proportion(Plugin):
    """Deserved by water-filling; overused; in the current edition each task within what is deserved."""

    def __init__(self, session: Session, hierarchy: bool) -> None:
        super().__init__(session, hierarchy)
        total = {name: amount for name, amount in session.total.items() if name != PODS}
        guarantees: Amounts = {}
        for queue in session.queues.values():
            change(guarantees, queue.guarantee)
        self.attrs: dict[str, QueueAttr] = {}
        for job in session.jobs.values():
            queue = session.queues[job.queue]
            attr = self.attrs.get(queue.name)
            if attr is None:
                limits = real_capability(total, guarantees, queue)
                attr = self.attrs[queue.name] = QueueAttr(limits, queue.guarantee)
            attr.count(job)
        claims = [
            Claim(max(session.queues[name].weight, 1), attr.request, attr.real_capability, attr.guarantee)
            for name, attr in self.attrs.items()
        ]
        for attr, deserved in zip(self.attrs.values(), deserved_shares(total, claims), strict=True):
            attr.deserved = deserved
        self._is_checked = session.configuration.edition is Edition.CURRENT

    def queue_order(self, queue: Queue) -> Key:
        """By priority, then by the part of what it deserves that a queue has."""
        attr = self.attrs[queue.name]
        return (-queue.priority, dominant_share(attr.allocated, attr.deserved))

    def overused(self, queue: Queue) -> bool:
        attr = self.attrs[queue.name]
        return within(attr.deserved, attr.allocated, list(attr.deserved))

    def allocatable(self, queue: Queue, task: Task) -> bool:
        """The designs of 2019 ask only whether a queue is overused."""
        return not self._is_checked or self._has_room(queue, task)

    def preemptive(self, queue: Queue, task: Task) -> bool:
        return self._has_room(queue, task)

    def job_enqueueable(self, job: Job) -> bool:
        return self.session.queues[job.queue].is_open and self.attrs[job.queue].takes_in(job)

    def job_enqueued(self, job: Job) -> None:
        change(self.attrs[job.queue].inqueue, job.spec.min_resources or {})

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> list[Task] | None:
        """Those of queues that have more than they deserve, each victim counted."""
        left: dict[str, Amounts] = {}
        victims = []
        for task in candidates:
            attr = self.attrs[task.job.queue]
            allocated = left.setdefault(task.job.queue, dict(attr.allocated))
            if not within(allocated, attr.deserved, [n for n in allocated if n != PODS]):
                change(allocated, task.resreq, -1)
                victims.append(task)
        return victims

    def allocated(self, task: Task) -> None:
        change(self.attrs[task.job.queue].allocated, task.resreq)

    def deallocated(self, task: Task) -> None:
        change(self.attrs[task.job.queue].allocated, task.resreq, -1)

    def _has_room(self, queue: Queue, task: Task) -> bool:
        if not queue.is_open:
            return False
        attr = self.attrs[queue.name]
        allocated, deserved = attr.allocated, attr.deserved
        return all(allocated.get(n, 0) + task.resreq[n] <= deserved.get(n, 0) for n in dimensions(task.resreq))

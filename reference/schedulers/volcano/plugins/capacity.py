"""capacity: queues have a capability, something that they deserve, something guaranteed; with hierarchy they form a
tree, and a task must fit from its leaf to the root.

Left out: upstream's ancestorReclaimLevel (0 by default), claims of devices, tasks behind scheduling gates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from reference.cluster import PODS
from reference.schedulers.volcano.amounts import Amounts, change, dimensions, dominant_share
from reference.schedulers.volcano.api import ROOT, Job, Queue, Task
from reference.schedulers.volcano.plugins.plugin import Key, Plugin
from reference.schedulers.volcano.plugins.proportion import QueueAttr, real_capability

if TYPE_CHECKING:
    from reference.schedulers.volcano.session import Session


class Capacity(Plugin):
    """Capability leaf to root, deserved, guarantee."""

    def __init__(self, session: Session, hierarchy: bool) -> None:
        super().__init__(session, hierarchy)
        self.attrs = {name: QueueAttr(guarantee=queue.guarantee) for name, queue in session.queues.items()}
        self.paths = {name: self._path(name) for name in session.queues}
        self._parents = {queue.parent for name, queue in session.queues.items() if name != ROOT} if hierarchy else set()
        for name, queue in session.queues.items():
            self.attrs[name].deserved = {
                n: Fraction(max(queue.deserved.amount(n), queue.guarantee.amount(n)))
                for n in {*queue.deserved, *queue.guarantee}
            }
        self._limits()
        for job in session.jobs.values():
            for name in self.paths[job.queue]:
                self.attrs[name].count(job)

    def _path(self, name: str) -> tuple[str, ...]:
        """The queue and those above it, the leaf first; the queue alone without hierarchy."""
        if not self.hierarchy or name == ROOT:
            return (name,)
        return (name, *self._path(self.session.queues[name].parent))

    def _limits(self) -> None:
        """The real capability of each queue. The root's is unlimited unless it is given; a child's is what its parent
        has beside the guarantees of its other children, and never more than its own. A hierarchy that is not consistent
        (children with more than their parent) is not refused: the tighter limit holds."""
        queues = self.session.queues
        if not self.hierarchy:
            guarantees: Amounts = {}
            for queue in queues.values():
                change(guarantees, queue.guarantee)
            total = {name: amount for name, amount in self.session.total.items() if name != PODS}
            for name, queue in queues.items():
                self.attrs[name].real_capability = real_capability(total, guarantees, queue)
            return
        for name in sorted(queues, key=lambda q: len(self.paths[q])):
            if name == ROOT:
                self.attrs[name].real_capability = dict(queues[name].capability)
                continue
            beside: Amounts = {}
            for other, queue in queues.items():
                if other != ROOT and queue.parent == queues[name].parent:
                    change(beside, queue.guarantee)
            above = self.attrs[queues[name].parent].real_capability
            self.attrs[name].real_capability = real_capability(above, beside, queues[name])

    # --- orders ---

    def queue_order(self, queue: Queue) -> Key:
        """By priority, then by share of what is deserved, compared where the paths from the root part; of equal shares
        that of a queue that deserves something comes first."""
        return (-queue.priority, *(self._share(name) for name in reversed(self.paths[queue.name])))

    def _share(self, name: str) -> Key:
        attr = self.attrs[name]
        if not any(attr.deserved.values()):
            return (Fraction(1), True, name)  # best effort: after all that have less than they deserve
        return (dominant_share(attr.allocated, {n: d for n, d in attr.deserved.items() if d}), False, name)

    def victim_queue_order(self, queue: Queue, preemptor: Queue) -> Key | None:
        """With hierarchy, near relatives first."""
        if not self.hierarchy:
            return None
        mine, other = self.paths[queue.name][:0:-1], self.paths[preemptor.name][:0:-1]
        common = 0
        for a, b in zip(mine, other, strict=False):
            if a != b:
                break
            common += 1
        return (-common,)

    # --- limits ---

    def allocatable(self, queue: Queue, task: Task) -> bool:
        if not queue.is_open or queue.name in self._parents:
            return False
        return all(self._fits(name, task) for name in self.paths[queue.name])

    def preemptive(self, queue: Queue, task: Task) -> bool:
        """Within its real capability, a queue may reclaim for what it deserves of at least one resource."""
        if not queue.is_open or not self._fits(queue.name, task):
            return False
        attr = self.attrs[queue.name]
        for name in dimensions(task.resreq):
            used, deserved = attr.allocated.get(name, 0) + task.resreq[name], attr.deserved.get(name, 0)
            if used <= deserved:
                return True
        return False

    def job_enqueueable(self, job: Job) -> bool:
        queue = self.session.queues[job.queue]
        if not queue.is_open or queue.name in self._parents:
            return False
        return all(self.attrs[name].takes_in(job) for name in self.paths[queue.name])

    def job_enqueued(self, job: Job) -> None:
        for name in self.paths[job.queue]:
            change(self.attrs[name].inqueue, job.spec.min_resources or {})

    def _fits(self, name: str, task: Task) -> bool:
        attr = self.attrs[name]
        limits = attr.real_capability
        names = [n for n in task.resreq if n in limits and task.resreq[n] > 0]
        return all(attr.allocated.get(n, 0) + task.resreq[n] <= limits[n] for n in names)

    # --- victims ---

    def reclaimable(self, reclaimer: Task, candidates: Sequence[Task]) -> list[Task] | None:
        """Tasks that share a resource with the reclaimer, whose queue keeps its guarantee without them, and has more
        than it deserves of something that they have; or deserves nothing that they have."""
        left: dict[str, Amounts] = {}
        victims = []
        for task in self.session.victims_in_order(candidates, reclaimer):
            attr = self.attrs[task.job.queue]
            allocated = left.setdefault(task.job.queue, dict(attr.allocated))
            has = dimensions(task.resreq)
            if not set(has) & set(dimensions(reclaimer.resreq)):
                continue
            without = {n: allocated.get(n, 0) - task.resreq.amount(n) for n in attr.guarantee}
            if any(without[n] < least for n, least in attr.guarantee.items()):
                continue
            if _exceeds(allocated, attr.deserved, has):
                change(allocated, task.resreq, -1)
                victims.append(task)
        return victims

    def allocated(self, task: Task) -> None:
        for name in self.paths[task.job.queue]:
            change(self.attrs[name].allocated, task.resreq)

    def deallocated(self, task: Task) -> None:
        for name in self.paths[task.job.queue]:
            change(self.attrs[name].allocated, task.resreq, -1)


def _exceeds(allocated: Mapping[str, int], deserved: Mapping[str, Fraction], names: list[str]) -> bool:
    """Whether more is allocated than deserved, of what a queue deserves any; of anything if it deserves none of it."""
    relevant = [n for n in names if deserved.get(n, 0) > 0]
    return not relevant or any(allocated.get(n, 0) > deserved[n] for n in relevant)

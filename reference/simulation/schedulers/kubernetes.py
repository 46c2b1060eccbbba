"""kube-scheduler on the virtual clock: PodGroups come, their cycles run as soon as the queue has any, backoffs pass.

A gang's controller creates its pods as soon as the ResourceQuotas of its queue let it, asking again in the order in
which gangs came whenever a quota has room. Pods that a preemption evicts are gone at once. A group that waits for an
event is not tried again for the time alone (kube-scheduler does so after five minutes): nothing would have changed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from reference.cluster import Application, Cluster, Node, Resources
from reference.schedulers.kubernetes import Options, Outcome, Record, Scheduler
from reference.schedulers.kubernetes.plan import Plan, plan_of
from reference.simulation.clock import MS_PER_SECOND
from reference.simulation.scheduler import Bound, Change, Released, Said
from reference.simulation.schedulers.own import OwnNodes


@dataclass(slots=True, eq=False)
class _Gang:
    """``group_of``: the task group of each of its pods that are created and not over; ``numbers`` of those that run."""

    application: Application
    plan: Plan
    group_of: dict[str, str] = field(default_factory=dict)
    numbers: dict[int, str] = field(default_factory=dict)


class KubernetesScheduler:
    """Quotas are those of the queues of ``cluster``; ``options`` as for ``Options``, its times in milliseconds."""

    name = "kubernetes"

    def __init__(self, cluster: Cluster, **options: object) -> None:
        chosen = Options.parse(**options)
        self.scheduler = Scheduler(
            replace(
                chosen,
                backoff_initial=chosen.backoff_initial * MS_PER_SECOND,
                backoff_max=chosen.backoff_max * MS_PER_SECOND,
                unschedulable_timeout=chosen.unschedulable_timeout * MS_PER_SECOND,
            )
        )
        self._queues = cluster.queues
        self._used = {queue.name: cluster.queue_usage(queue.name) for queue in cluster.queues}
        self._groups: Counter[str] = Counter()
        self._own = OwnNodes(cluster)
        self._numbers = itertools.count(1)
        self._gangs: dict[str, _Gang] = {}
        self._of_pod: dict[str, _Gang] = {}
        self._waiting: list[_Gang] = []
        """For a quota, first come first."""
        self._changes: list[Change] = []

    def add_node(self, node: Node, now: int) -> None:
        """The node takes pods."""
        self._advance(now)
        self.scheduler.add_node(self._own.with_pods(node))

    def remove_node(self, node: str, now: int) -> None:
        """The node and its pods are deleted."""
        self._advance(now)
        self.scheduler.remove_node(node)
        lost = [pod for pod, tracked in self.scheduler.registry.pods.items() if tracked.node == node]
        self._lose(lost, "its node is gone")

    def submit(self, application: Application, now: int) -> None:
        """The gang's controller is to create its PodGroup and pods."""
        self._advance(now)
        gang = self._gangs[application.name] = _Gang(application, plan_of(application))
        self._waiting.append(gang)

    def withdraw(self, application: str, now: int) -> None:
        """The group is deleted with its pods."""
        self._advance(now)
        gang = self._gangs.get(application)
        if gang is not None:
            for pod in list(gang.group_of):
                self._delete(gang, pod)
            self._end(gang)
        self._changes = [c for c in self._changes if isinstance(c, Said) or c.application != application]

    def pod_ended(self, application: str, pod: int, now: int) -> None:
        """A pod has succeeded: it holds neither room nor quota any more."""
        self._advance(now)
        gang = self._gangs[application]
        self._delete(gang, gang.numbers.pop(pod))
        if not gang.group_of:
            self._end(gang)

    def next_timer(self) -> int | None:
        """The end of the next backoff."""
        return self.scheduler.queue.next_backoff()

    def cycle(self, now: int) -> Sequence[Change]:
        """What is lost is told first. Then pods that a quota lets in are created, and every cycle runs that the queue
        has."""
        self._advance(now)
        if not self._changes:
            self._waiting = [gang for gang in self._waiting if not self._create(gang)]
            while not self._changes and (record := self.scheduler.cycle()) is not None:
                self._note(record)
        changes, self._changes = self._changes, []
        return changes

    def _advance(self, now: int) -> None:
        self.scheduler.advance(now - self.scheduler.queue.now)

    def _note(self, record: Record) -> None:
        if record.outcome is Outcome.SCHEDULED:
            self._changes.append(Said(record.event.value, {"application": record.name}))
            for pod, node in record.assumed:
                self.scheduler.bind_succeeded(pod.name)
                gang, number = self._of_pod[pod.name], next(self._numbers)
                gang.numbers[number] = pod.name
                self._changes.append(Bound(gang.application.name, gang.group_of[pod.name], number, node))
        elif record.outcome is Outcome.PREEMPTING:
            self._changes.append(Said("preempt", {"application": record.name, "evicted": list(record.evicted)}))
            self._lose(record.evicted, f"preempted for {record.name}")

    def _lose(self, pods: Sequence[str], reason: str) -> None:
        for pod in pods:
            gang = self._of_pod[pod]
            (number,) = (number for number, name in gang.numbers.items() if name == pod)
            del gang.numbers[number]
            self._delete(gang, pod)
            self._changes.append(Released(gang.application.name, number, reason))

    def _create(self, gang: _Gang) -> bool:
        """Creates the gang's objects, if the quotas on its path have room for all of them."""
        app, ask = gang.application, gang.application.placeholder_ask
        path = self._queues.path(app.queue)
        if any(q.max_applications is not None and self._groups[q.name] >= q.max_applications for q in path):
            return False
        for queue in path:
            used = self._used[queue.name]
            if any(ask.amount(n) > 0 and used.amount(n) + ask.amount(n) > most for n, most in queue.maximum.items()):
                return False
        for group in gang.plan.groups:
            self.scheduler.create_pod_group(group)
        for pod, task_group in gang.plan.least:
            gang.group_of[pod.name] = task_group.name
            self._of_pod[pod.name] = gang
            self.scheduler.create_pod(pod)
        self._charge(app, ask, 1)
        self._groups.update(queue.name for queue in path)
        return True

    def _delete(self, gang: _Gang, pod: str) -> None:
        name = gang.group_of.pop(pod)
        del self._of_pod[pod]
        self.scheduler.delete_pod(pod)
        (group,) = (group for group in gang.application.task_groups if group.name == name)
        self._charge(gang.application, group.pod_resource, -1)

    def _end(self, gang: _Gang) -> None:
        """Nothing of the gang is left."""
        app = gang.application
        del self._gangs[app.name]
        if gang in self._waiting:
            self._waiting.remove(gang)
            return
        for group in reversed(gang.plan.groups):
            self.scheduler.delete_pod_group(group.name)
        self._groups.subtract(queue.name for queue in self._queues.path(app.queue))

    def _charge(self, app: Application, amount: Resources, sign: int) -> None:
        for queue in self._queues.path(app.queue):
            self._used[queue.name] += amount * sign

"""One run over a whole cluster: every gang is created in the order of submission, and has its cycle.

An application is a PodGroup of policy gang whose minCount is all of its pods. Kubernetes has no queues: a queue's
maximum is what a ResourceQuota is, which lets a gang's pods be created or not; ``maxapplications`` counts PodGroups.
In a snapshot nothing ends, so a gang that is unschedulable once stays so: it is deleted, and gives its quota back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from reference.cluster import Application, Assignment, Cluster, Placement, Queue, Resources, total
from reference.errors import InputError, one_line
from reference.schedulers.amounts import show
from reference.schedulers.kubernetes.api import Pod, PodGroup, PodSpec
from reference.schedulers.kubernetes.events import Outcome, Record
from reference.schedulers.kubernetes.options import Options
from reference.schedulers.kubernetes.scheduler import Scheduler
from reference.schedulers.result import ScheduleResult

MOST_PODS = 2_000_000
"""Each pod is an object of its own here; memory lasts for these."""


def schedule(cluster: Cluster, **options: object) -> ScheduleResult:
    """Place the gangs of ``cluster`` in the order of submission; ``options`` as in ``Options``.

    Raises InputError for a bad option, and for more than ``MOST_PODS`` pods in all: each is followed on its own.
    """
    pods = sum(app.members for app in cluster.applications)
    if pods > MOST_PODS:
        raise InputError(
            f"{pods:,} pods in all gangs", f"at most {MOST_PODS:,} for a reference scheduler", where="gangs"
        )
    run = _Run(cluster, Options.parse(**options))
    log = [
        record for app in sorted(cluster.applications, key=lambda a: (a.submitted, a.name)) for record in run.gang(app)
    ]
    assignments = tuple(Assignment(*cell, count) for cell, count in sorted(run.cells.items()))
    pending = {name: one_line(reason) for name, reason in sorted(run.pending.items())}
    return ScheduleResult("kubernetes", Placement(assignments, tuple(sorted(run.admitted)), pending), tuple(log))


class _Run:
    """The scheduler, the quotas, and what came out."""

    def __init__(self, cluster: Cluster, options: Options) -> None:
        self.cluster = cluster
        self.scheduler = Scheduler(options)
        self.used = {queue.name: cluster.queue_usage(queue.name) for queue in cluster.queues if queue.maximum}
        self.groups = Counter({queue.name: len(cluster.running_applications(queue.name)) for queue in cluster.queues})
        self.cells: Counter[tuple[str, str, str]] = Counter()
        self.admitted: list[str] = []
        self.pending: dict[str, str] = {}
        held: dict[str, list[Resources]] = {}
        for pod in cluster.running:
            held.setdefault(pod.node, []).append(pod.resources)
        for node in cluster.nodes:
            occupied = node.occupied + total(held.get(node.name, ()))
            self.scheduler.add_node(replace(node, occupied=occupied))

    def gang(self, app: Application) -> Iterator[Record]:
        """Creates one gang, and what its cycle says."""
        path = self.cluster.queues.path(app.queue)
        refusal = self._over_quota(app, path)
        if refusal is not None:
            self.pending[app.name] = refusal
            return
        scheduler = self.scheduler
        scheduler.create_pod_group(PodGroup(app.name, app.members))
        group_of: dict[str, str] = {}
        for group in app.task_groups:
            spec = PodSpec(group.min_resource, group.constraints)
            for i in range(group.min_member):
                name = _pod_name(app.name, group.name, i)
                group_of[name] = group.name
                scheduler.create_pod(Pod(name, spec, app.name))
        record = scheduler.cycle()
        assert record is not None, f"{app.name} is not in the queue"
        assert record.name == app.name, f"{app.name} was not popped, but {record}"
        yield record
        if record.outcome is Outcome.SCHEDULED:
            self.admitted.append(app.name)
            for pod, node in record.assumed:
                yield scheduler.bind_succeeded(pod.name)
                self.cells[app.name, group_of[pod.name], node] += 1
            for queue in path:
                self.groups[queue.name] += 1
                if queue.name in self.used:
                    self.used[queue.name] += app.placeholder_ask
        else:
            self.pending[app.name] = record.reason
            for name in group_of:
                scheduler.delete_pod(name)
            scheduler.delete_pod_group(app.name)

    def _over_quota(self, app: Application, path: tuple[Queue, ...]) -> str | None:
        """Why a ResourceQuota does not let the gang's pods be created, or None."""
        ask: Resources = app.placeholder_ask
        for queue in path:
            if queue.max_applications is not None and self.groups[queue.name] >= queue.max_applications:
                return f"quota of {queue.name}: {queue.max_applications} groups, the most it may have, are there"
            for name, limit in queue.maximum.items():
                used, want = self.used[queue.name].amount(name), ask.amount(name)
                if want > 0 and used + want > max(limit, 0):
                    return (
                        f"quota of {queue.name}: {name} {show(name, want)} asked, "
                        f"{show(name, used)} of {show(name, limit)} used"
                    )
        return None


def _pod_name(app: str, group: str, number: int) -> str:
    """The name of one pod of a task group, unique: names of gangs and groups may hold slashes too, those of a group are
    written as in a JSON pointer, so the last two slashes are ours."""
    return f"{app}/{group.replace('~', '~0').replace('/', '~1')}/{number}"

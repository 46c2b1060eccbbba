"""One run over a whole cluster: every gang is created, by priority and then in the order of submission, and has its
cycle.

What a gang is as PodGroups is in ``plan``. Kubernetes has no queues: a queue's maximum is what a ResourceQuota is,
which lets a gang's pods be created or not; ``maxapplications`` counts gangs. Pods that run are not preempted.
In a snapshot nothing ends, so a gang that is unschedulable once stays so: it is deleted, and gives its quota back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from reference.cluster import (
    ANYWHERE,
    PODS,
    Application,
    Assignment,
    Cluster,
    Placement,
    Queue,
    Resources,
    total,
)
from reference.cluster.features import Feature, features
from reference.errors import InputError, one_line
from reference.schedulers.amounts import show
from reference.schedulers.domains import labelled
from reference.schedulers.kubernetes.api import MOST_LEVELS, Pod
from reference.schedulers.kubernetes.events import Outcome, Record
from reference.schedulers.kubernetes.options import Options
from reference.schedulers.kubernetes.plan import Plan, keys_of, plan_of, pod_spec
from reference.schedulers.kubernetes.scheduler import Scheduler
from reference.schedulers.names import group_name, part
from reference.schedulers.result import ScheduleResult

MOST_PODS = 2_000_000
"""Each pod is an object of its own here; memory lasts for these."""


KNOWS: Final = frozenset(
    {
        Feature.TOPOLOGY,
        Feature.ELASTIC,
        Feature.COMPOSITE,
        Feature.PRIORITY,
        Feature.POD_AFFINITY,
        Feature.SPREAD,
    }
)
"""What of a cluster is read beyond plain gangs. A minimum of the whole gang above those of its groups is nothing that
PodGroups can say; a wish for a domain neither. A gang that has to be in one domain, and looks at pods outside it, is
pending: see ``_blind``."""


def schedule(cluster: Cluster, **options: object) -> ScheduleResult:
    """Place the gangs of ``cluster`` by priority, then in the order of submission; ``options`` as in ``Options``.

    Raises InputError for a bad option, and for more than ``MOST_PODS`` pods in all: each is followed on its own.
    """
    pods = sum(group.most for app in cluster.applications for group in app.task_groups)
    if pods > MOST_PODS:
        raise InputError(
            f"{pods:,} pods in all gangs", f"at most {MOST_PODS:,} for a reference scheduler", where="gangs"
        )
    _check_names(cluster)
    run = _Run(cluster, Options.parse(**options))
    order = sorted(cluster.applications, key=lambda a: (-a.priority, a.submitted, a.name))
    log = [record for app in order for record in run.gang(app)]
    assignments = tuple(Assignment(*cell, count) for cell, count in sorted(run.cells.items()))
    pending = {name: one_line(reason) for name, reason in sorted(run.pending.items())}
    return ScheduleResult("kubernetes", Placement(assignments, tuple(sorted(run.admitted)), pending), tuple(log))


def _check_names(cluster: Cluster) -> None:
    """InputError where a gang is called what the group of another one is called here."""
    gangs = {app.name for app in cluster.applications}
    for app in cluster.applications:
        for each in [*(g.name for g in app.task_groups), *(c.name for c in app.composites)]:
            if (name := group_name(app.name, each)) in gangs:
                raise InputError(
                    f"a gang that is called {name!r}", f"another name: it is that of {app.name}'s group", where="gangs"
                )


NEVER_PREEMPTED: Final = 2**31
"""A priority above all: pods that run are pods here only where some pod looks at others."""


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
        demands = [pod.neighbours for pod in cluster.running]
        demands += [group.neighbours for app in cluster.applications for group in app.task_groups]
        self.keeps_apart = any(each.anti_affinity for each in demands)
        minds = bool(features(cluster) & {Feature.POD_AFFINITY, Feature.SPREAD})
        held: dict[str, list[Resources]] = {}
        for pod in cluster.running:
            if not minds:
                held.setdefault(pod.node, []).append(pod.resources)
        keys = sorted({keys for app in cluster.applications for keys in keys_of(app)})
        for node in cluster.nodes:
            occupied = node.occupied + total(held.get(node.name, ()))
            self.scheduler.add_node(labelled(replace(node, occupied=occupied), keys))
        for pod in cluster.running:
            if minds:
                request = Resources({name: amount for name, amount in pod.resources.items() if name != PODS})
                spec = pod_spec(request, pod.neighbours, ANYWHERE, NEVER_PREEMPTED)
                self.scheduler.create_pod(Pod(f"|{part(pod.name)}", spec), pod.node)

    def gang(self, app: Application) -> Iterator[Record]:
        """Creates one gang, and what its cycle says."""
        path = self.cluster.queues.path(app.queue)
        refusal = self._blind(app) or self._too_many(path) or self._over_quota(app.placeholder_ask, path)
        if refusal is not None:
            self.pending[app.name] = refusal
            return
        plan = plan_of(app)
        record = self._cycle(plan, path)
        if record is None:
            self.pending[app.name] = f"its groups are in more than {MOST_LEVELS} levels, or never ready"
            return
        yield record
        if record.outcome is not Outcome.SCHEDULED:
            self.pending[app.name] = record.reason
            return
        self.admitted.append(app.name)
        for queue in path:
            self.groups[queue.name] += 1
        yield from self._bind(app, plan, record)
        for each in plan.later:
            record = self._cycle(each, path)
            if record is not None:
                yield record
                if record.outcome is Outcome.SCHEDULED:
                    yield from self._bind(app, each, record)

    def _cycle(self, plan: Plan, path: tuple[Queue, ...]) -> Record | None:
        """Creates a root with its pods and runs its cycle; what is not scheduled then is deleted. None where it is
        never ready. A ResourceQuota lets pods beyond the minimum be created as long as they fit, one by one."""
        scheduler = self.scheduler
        for group in plan.groups:
            scheduler.create_pod_group(group)
        created: list[Pod] = []
        charged = dict(self.used)
        for pod, task_group in plan.least:
            created.append(pod)
            self._charge(task_group.pod_resource, path)
        for pod, task_group in plan.extra:
            if self._over_quota(task_group.pod_resource, path) is None:
                created.append(pod)
                self._charge(task_group.pod_resource, path)
        for pod in created:
            scheduler.create_pod(pod)
        record = scheduler.cycle()
        assert record is None or record.name == plan.root, f"{plan.root} was not popped, but {record}"
        is_scheduled = record is not None and record.outcome is Outcome.SCHEDULED
        placed = {pod.name for pod, _ in record.assumed} if record is not None and is_scheduled else set()
        for pod in created:
            if pod.name not in placed:
                scheduler.delete_pod(pod.name)
        if not is_scheduled:
            self.used = charged
            for group in reversed(plan.groups):
                scheduler.delete_pod_group(group.name)
        return record

    def _bind(self, app: Application, plan: Plan, record: Record) -> Iterator[Record]:
        group_of = {pod.name: group.name for pod, group in (*plan.least, *plan.extra)}
        for pod, node in record.assumed:
            yield self.scheduler.bind_succeeded(pod.name)
            self.cells[app.name, group_of[pod.name], node] += 1

    def _charge(self, amount: Resources, path: tuple[Queue, ...]) -> None:
        for queue in path:
            if queue.name in self.used:
                self.used[queue.name] += amount

    def _blind(self, app: Application) -> str | None:
        """A cycle that tries domains sees the pods of the one it tries alone, as upstream: what is demanded of others
        would not be kept where the label is wider than the domain."""
        if not any(keys_of(app)):
            return None
        looks = any(group.neighbours.affinity or group.neighbours.spread for group in app.task_groups)
        if looks or self.keeps_apart:
            return "it has to be in one domain, and there Kubernetes does not see the pods of other domains"
        return None

    def _too_many(self, path: tuple[Queue, ...]) -> str | None:
        """Why a quota on the count of groups does not let one more be created, or None."""
        for queue in path:
            if queue.max_applications is not None and self.groups[queue.name] >= queue.max_applications:
                return f"quota of {queue.name}: {queue.max_applications} groups, the most it may have, are there"
        return None

    def _over_quota(self, ask: Resources, path: tuple[Queue, ...]) -> str | None:
        """Why a ResourceQuota does not let pods that ask for so much be created, or None."""
        for queue in path:
            for name, limit in queue.maximum.items():
                used, want = self.used[queue.name].amount(name), ask.amount(name)
                if want > 0 and used + want > max(limit, 0):
                    return (
                        f"quota of {queue.name}: {name} {show(name, want)} asked, "
                        f"{show(name, used)} of {show(name, limit)} used"
                    )
        return None

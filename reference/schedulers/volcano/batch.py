"""One run over a whole cluster: every gang a job, sessions until one changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from reference.cluster import PODS, Application, Assignment, Cluster, Placement, QueueTree, Resources, RunningPod
from reference.cluster import Queue as ClusterQueue
from reference.cluster.features import Feature
from reference.errors import InputError, one_line
from reference.schedulers.names import part
from reference.schedulers.result import ScheduleResult
from reference.schedulers.volcano.api import ROOT, Job, JobSpec, PodGroupPhase, Queue, TaskSpec, TaskStatus
from reference.schedulers.volcano.gangs import job_of, network_of, why_inexpressible
from reference.schedulers.volcano.options import Options
from reference.schedulers.volcano.scheduler import Record, Scheduler
from reference.schedulers.volcano.statement import Step, StepKind

MOST_PODS = 2_000_000
"""Each pod is an object of its own here; memory lasts for these."""

KNOWS: Final = frozenset(
    {
        Feature.TOPOLOGY,
        Feature.PREFERRED_TOPOLOGY,
        Feature.ELASTIC,
        Feature.MIN_MEMBERS,
        Feature.PRIORITY,
        Feature.SHARES,
    }
)
"""What of a cluster is read beyond plain gangs."""

_TOLD = frozenset({StepKind.COMMIT, StepKind.DISCARD, StepKind.ENQUEUE})


def schedule(cluster: Cluster, **options: object) -> ScheduleResult:
    """Place the gangs of ``cluster``; ``options`` as in ``Options``.

    A gang is a job, a task group a role with its minMember (``gangs``); one of which Volcano cannot say what it needs
    is pending, and why. Queues are Volcano's: maximum is capability, guaranteed is guarantee, deserved or else
    guaranteed is what a queue deserves. Weights count where the plugin ``proportion`` is taken: where queues have
    some, and nothing that only ``capacity`` knows. Sessions are enqueue, allocate, backfill; nothing ends in between.
    Raises InputError for a bad option, for queues that a plugin cannot express, and for more than ``MOST_PODS`` pods:
    each is followed on its own.
    """
    chosen = Options.parse(options)
    pods = sum(group.most for app in cluster.applications for group in app.task_groups)
    if pods > MOST_PODS:
        raise InputError(
            f"{pods:,} pods in all gangs", f"at most {MOST_PODS:,} for a reference scheduler", where="gangs"
        )
    plugin = chosen.queues or plugin_for(cluster.queues)
    queues = queues_of(cluster.queues, plugin)
    log: list[Step] = []
    names = {queue.name for queue in queues}

    def queue_of(name: str) -> str:
        return ROOT if name == cluster.queues.root.name and ROOT in names else name

    gangs = {app.name for app in cluster.applications}
    running = {
        _free(f"pods that run in {name}", gangs): name
        for name in sorted({queue_of(p.queue) for p in cluster.running} & names)
    }
    queues = [_with_more_jobs(queue, running.values(), cluster) for queue in queues]
    beside = [pod for pod in cluster.running if queue_of(pod.queue) not in names]
    network = network_of(cluster)
    scheduler = Scheduler(chosen.configuration(plugin), cluster.nodes, queues, network.hyper_nodes, beside)
    for name, queue in running.items():
        pods_there = [pod for pod in cluster.running if queue_of(pod.queue) == queue]
        tasks = tuple(TaskSpec(_running_name(pod), pod.resources, preemptable=False) for pod in pods_there)
        spec = JobSpec(name, queue, 0, tasks, phase=PodGroupPhase.RUNNING)
        _taken(scheduler.add_job(spec, {_running_name(pod): pod.node for pod in pods_there}))
    refused: dict[str, str] = {}
    for app in sorted(cluster.applications, key=lambda app: (app.submitted, app.name)):
        queue = queue_of(app.queue)
        if queue not in names:
            raise InputError(repr(app.queue), "a leaf queue", where=f"application {app.name}")
        reason = why_inexpressible(app, network)
        if reason is None:
            _taken(scheduler.add_job(job_of(app, queue, network)))
        else:
            refused[app.name] = f"Volcano cannot say: {reason}"
    while True:
        record = scheduler.run_session()
        log += [step for step in record.steps if step.kind in _TOLD]
        if not record.bound:
            break
    return ScheduleResult("volcano", _placement(cluster, scheduler, refused), tuple(log))


def _taken(record: Record) -> None:
    """Raises InputError for a job that the scheduler refuses: left out, its pods would be missing in all sums."""
    if record.reason:
        raise InputError(record.reason, "a job that Volcano takes", where=f"job {record.subject}")


def _running_name(pod: RunningPod) -> str:
    """The name of a pod that runs already: with one bar, so never that of a gang's pod."""
    return f"running|{part(pod.name)}"


def _free(name: str, taken: Collection[str]) -> str:
    """``name``, with as many dots behind it as it takes to be no gang's."""
    while name in taken:
        name += "."
    return name


def _tree(queue: ClusterQueue, name: str, parent: str = ROOT) -> Iterator[Queue]:
    """All queues; the tree's root is Volcano's."""
    yield Queue(
        name,
        capability=queue.maximum,
        deserved=queue.deserved or queue.guaranteed,
        guarantee=queue.guaranteed if name != ROOT else Resources(),
        parent=parent,
        priority=queue.priority,
        max_jobs=queue.max_applications,
    )
    for child in queue.children:
        yield from _tree(child, child.name, name)


def _with_more_jobs(queue: Queue, running: Iterable[str], cluster: Cluster) -> Queue:
    """The pods that run in a queue are one job of this run; for maxapplications they are the applications they name."""
    if queue.max_jobs is None:
        return queue
    more = sum(name == queue.name or queue.name == ROOT or name.startswith(queue.name + ".") for name in running)
    name = cluster.queues.root.name if queue.name == ROOT else queue.name
    return replace(queue, max_jobs=queue.max_jobs + more - len(cluster.running_applications(name)))


def queues_of(tree: QueueTree, plugin: str) -> list[Queue]:
    """Volcano's queues as the plugin ``capacity`` or ``proportion`` takes them. InputError for what it cannot take."""
    return list(_tree(tree.root, ROOT) if plugin == "capacity" else _leaves(tree))


def plugin_for(tree: QueueTree) -> str:
    """``proportion`` for queues that have weights and nothing that it does not know; else ``capacity``, which does not
    look at weights."""
    has_weights = any(queue.weight != 1 for queue in tree)
    parents = [queue for queue in tree if not queue.is_leaf]
    only_capacity = any(queue.deserved or PODS in queue.maximum for queue in tree) or any(
        queue.maximum or queue.guaranteed or queue.max_applications is not None for queue in parents
    )
    return "proportion" if has_weights and not only_capacity else "capacity"


def _leaves(tree: QueueTree) -> Iterator[Queue]:
    """Equal queues side by side, for proportion, which knows no tree: only leaves may have limits."""
    for queue in tree:
        if not queue.is_leaf and (queue.maximum or queue.max_applications is not None):
            raise InputError(
                f"limits of the parent queue {queue.name}", "none, or queues=capacity", where="option queues"
            )
    for queue in tree.leaves():
        if PODS in queue.maximum:
            raise InputError(
                f"a limit of pods of the queue {queue.name}", "none, or queues=capacity", where="option queues"
            )
        yield Queue(
            queue.name,
            weight=max(queue.weight, 1),
            capability=queue.maximum,
            guarantee=queue.guaranteed,
            priority=queue.priority,
            max_jobs=queue.max_applications,
        )


def _placement(cluster: Cluster, scheduler: Scheduler, refused: dict[str, str]) -> Placement:
    cells: Counter[tuple[str, str, str]] = Counter()
    admitted, pending = [], dict(refused)
    for app in cluster.applications:
        if app.name in refused:
            continue
        job = scheduler.jobs[app.name]
        if _is_whole(app, job):
            admitted.append(app.name)
            cells.update((app.name, task.role, task.node) for task in job.in_status(TaskStatus.RUNNING))
        else:
            pending[app.name] = job.reason or "its turn never came: its queue has all that it may have"
    assignments = tuple(Assignment(*cell, count) for cell, count in sorted(cells.items()))
    reasons = {name: one_line(reason) for name, reason in sorted(pending.items())}
    return Placement(assignments, tuple(sorted(admitted)), reasons)


def _is_whole(app: Application, job: Job) -> bool:
    """Whether what has to run does: a job is ready as soon as tasks that ask for nothing wait for backfill alone."""
    running = Counter(task.role for task in job.in_status(TaskStatus.RUNNING))
    return running.total() >= job.min_available and all(running[g.name] >= g.min_member for g in app.task_groups)

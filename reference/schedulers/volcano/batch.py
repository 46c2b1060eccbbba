"""One run over a whole cluster: every gang a job, sessions until one changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from reference.cluster import Application, Assignment, Cluster, Placement, QueueTree, Resources, RunningPod, TaskGroup
from reference.cluster import Queue as ClusterQueue
from reference.errors import InputError, one_line
from reference.schedulers.result import ScheduleResult
from reference.schedulers.volcano.api import ROOT, JobSpec, PodGroupPhase, Queue, TaskSpec, TaskStatus
from reference.schedulers.volcano.options import Options
from reference.schedulers.volcano.scheduler import Record, Scheduler
from reference.schedulers.volcano.statement import Step, StepKind

MOST_PODS = 2_000_000
"""Each pod is an object of its own here; memory lasts for these."""

_TOLD = frozenset({StepKind.COMMIT, StepKind.DISCARD, StepKind.ENQUEUE})


def schedule(cluster: Cluster, **options: object) -> ScheduleResult:
    """Place the gangs of ``cluster``; ``options`` as in ``Options``.

    A gang is a job whose minAvailable is all of its pods, a task group a role with its minMember. Queues are Volcano's:
    maximum is capability, guaranteed is guarantee and what a queue deserves. Its sessions are enqueue, allocate,
    backfill; nothing ends in between. Raises InputError for a bad option, for queues that a plugin cannot express, and
    for more than ``MOST_PODS`` pods: each is followed on its own.
    """
    chosen = Options.parse(options)
    pods = sum(app.members for app in cluster.applications)
    if pods > MOST_PODS:
        raise InputError(
            f"{pods:,} pods in all gangs", f"at most {MOST_PODS:,} for a reference scheduler", where="gangs"
        )
    queues = list(_tree(cluster.queues.root, ROOT) if chosen.queues == "capacity" else _leaves(cluster.queues))
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
    scheduler = Scheduler(chosen.configuration(), cluster.nodes, queues, running=beside)
    for name, queue in running.items():
        pods_there = [pod for pod in cluster.running if queue_of(pod.queue) == queue]
        tasks = tuple(TaskSpec(_running_name(pod), pod.resources, preemptable=False) for pod in pods_there)
        spec = JobSpec(name, queue, 0, tasks, phase=PodGroupPhase.RUNNING)
        _taken(scheduler.add_job(spec, {_running_name(pod): pod.node for pod in pods_there}))
    for app in sorted(cluster.applications, key=lambda app: (app.submitted, app.name)):
        queue = queue_of(app.queue)
        if queue not in names:
            raise InputError(repr(app.queue), "a leaf queue", where=f"application {app.name}")
        _taken(scheduler.add_job(_job(app, queue)))
    while True:
        record = scheduler.run_session()
        log += [step for step in record.steps if step.kind in _TOLD]
        if not record.bound:
            break
    return ScheduleResult("volcano", _placement(cluster, scheduler), tuple(log))


def _taken(record: Record) -> None:
    """Raises InputError for a job that the scheduler refuses: left out, its pods would be missing in all sums."""
    if record.reason:
        raise InputError(record.reason, "a job that Volcano takes", where=f"job {record.subject}")


def _job(app: Application, queue: str) -> JobSpec:
    namespace, slash, _ = app.name.partition("/")
    return JobSpec(
        app.name,
        queue,
        app.members,
        tuple(_tasks(app)),
        namespace if slash else "default",
        {group.name: group.min_member for group in app.task_groups},
        min_resources=app.placeholder_ask,
    )


def _tasks(app: Application) -> Iterator[TaskSpec]:
    for group in app.task_groups:
        for i in range(group.min_member):
            yield TaskSpec(task_name(app, group, i), group.min_resource, group.name, group.constraints)


def task_name(app: Application, group: TaskGroup, number: int) -> str:
    """The name of one pod of a task group; unique, as the last two bars are ours whatever names hold."""
    return f"{app.name}|{_without_bars(group.name)}|{number}"


def _running_name(pod: RunningPod) -> str:
    """The name of a pod that runs already: with one bar, so never that of a gang's pod."""
    return f"running|{_without_bars(pod.name)}"


def _without_bars(name: str) -> str:
    return name.replace("~", "~0").replace("|", "~1")


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
        deserved=queue.guaranteed,
        guarantee=queue.guaranteed if name != ROOT else Resources(),
        parent=parent,
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


def _leaves(tree: QueueTree) -> Iterator[Queue]:
    """Equal queues side by side, for proportion, which knows no tree: only leaves may have limits."""
    for queue in tree:
        if not queue.is_leaf and (queue.maximum or queue.max_applications is not None):
            raise InputError(
                f"limits of the parent queue {queue.name}", "none, or queues=capacity", where="option queues"
            )
    for queue in tree.leaves():
        yield Queue(queue.name, capability=queue.maximum, guarantee=queue.guaranteed, max_jobs=queue.max_applications)


def _placement(cluster: Cluster, scheduler: Scheduler) -> Placement:
    cells: Counter[tuple[str, str, str]] = Counter()
    admitted, pending = [], {}
    for name in sorted(app.name for app in cluster.applications):
        job = scheduler.jobs[name]
        running = list(job.in_status(TaskStatus.RUNNING))
        if len(running) == len(job.tasks):
            admitted.append(name)
            cells.update((name, task.role, task.node) for task in running)
        else:
            pending[name] = one_line(job.reason or "its turn never came: its queue has all that it may have")
    assignments = tuple(Assignment(*cell, count) for cell, count in sorted(cells.items()))
    return Placement(assignments, tuple(admitted), pending)

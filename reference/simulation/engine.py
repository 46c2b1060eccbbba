"""One run: a cluster, a workload and a scheduler on a virtual clock.

At each instant everything that is due happens, in the order of ``clock.Rank``; then the scheduler cycles until it
changes nothing more. Scheduling itself takes no time. A gang's work begins when its last member is bound; a pod that
fails, or is lost with its node, takes its gang down with it, which is then submitted again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reference.cluster import Cluster, Node, Resources
from reference.errors import InputError
from reference.simulation.autoscaler import Autoscaler, Fleet
from reference.simulation.clock import EventQueue, Happening, Rank
from reference.simulation.faults import Faults
from reference.simulation.fragmentation import pod_classes
from reference.simulation.jobs import JobState, Pod, TrackedJob
from reference.simulation.log import SIMULATION, Entry, Log
from reference.simulation.meter import Meter
from reference.simulation.metrics import Metrics
from reference.simulation.scheduler import (
    Bound,
    Change,
    Closed,
    Ending,
    OnlineScheduler,
    Released,
    Said,
    SchedulerError,
)
from reference.simulation.settings import Settings
from reference.simulation.summary import summarise
from reference.simulation.workload import Job, NodeChange, PodFailure, Workload

_MOST_CYCLES = 1_000_000
"""A scheduler that changes something for ever at one instant is stopped here."""


@dataclass(frozen=True, slots=True)
class _OfAttempt:
    """What a happening concerns: a task group or a pod of one attempt of a gang."""

    attempt: int
    group: str = ""
    pod: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """What came of it: the metrics, every job in file order, and the log."""

    policy: str
    metrics: Metrics
    jobs: tuple[TrackedJob, ...]
    log: tuple[Entry, ...]


def simulate(
    cluster: Cluster,
    workload: Workload,
    scheduler: OnlineScheduler,
    settings: Settings | None = None,
    autoscaler: Autoscaler | None = None,
) -> Run:
    """Run ``workload`` on ``cluster`` until every job has ended or nothing more can happen.

    The cluster's own applications are not submitted; its running pods hold their room all along. ``scheduler`` is new,
    and knows neither nodes nor gangs yet. Raises InputError for a workload that does not fit the cluster, and
    SchedulerError for a scheduler that breaks the protocol.
    """
    for problem in workload.problems(cluster):
        raise InputError(problem, "a workload whose names are unique and resolve", where="trace")
    return _Simulation(cluster, workload, scheduler, settings or Settings(), autoscaler).run()


class _Simulation:
    def __init__(
        self,
        cluster: Cluster,
        workload: Workload,
        scheduler: OnlineScheduler,
        settings: Settings,
        autoscaler: Autoscaler | None,
    ) -> None:
        self.cluster, self.scheduler, self.settings = cluster, scheduler, settings
        self.jobs = {job.name: TrackedJob(job) for job in workload.jobs}
        self.start = min((job.arrival for job in workload.jobs), default=0)
        self.now = 0
        self.progress = 0
        self.left = len(self.jobs)
        self.queue = EventQueue()
        self.log = Log()
        self.nodes: dict[str, Node] = {}
        self.held: Counter[str] = Counter()
        nodes = (
            *cluster.nodes,
            *(c.node for c in workload.node_changes if c.node),
            *(autoscaler.nodes() if autoscaler else ()),
        )
        classes = pod_classes(group for job in workload.jobs for group in job.application.task_groups)
        self.meter = Meter(self.start, nodes, classes, settings)
        self.faults = Faults(settings)
        self.fleet = Fleet(autoscaler, settings.autoscaler) if autoscaler and settings.autoscaler else None
        for node in cluster.nodes:
            self._add_node(node, cluster.free(node), settings.node_type(node))
        for job in sorted(workload.jobs, key=lambda job: job.arrival):
            self.queue.put(Happening(job.arrival, Rank.SUBMIT, job.name))
        for change in workload.node_changes:
            rank = Rank.NODE_COMES if change.node else Rank.NODE_GOES
            self.queue.put(Happening(change.time, rank, change.name, change))
        for failure in workload.pod_failures:
            self.queue.put(Happening(failure.time, Rank.POD_FAILS, failure.job, failure))

    # --- the clock ---

    def run(self) -> Run:
        self._cycle()
        while self.left and (now := self._next_time()) is not None:
            self.now = now
            while (happening := self.queue.take(now)) is not None:
                self._happen(happening)
            self._cycle()
        jobs = tuple(self.jobs.values())
        metrics = summarise(jobs, self.meter, (self.start, max(self.now, self.start)))
        return Run(self.scheduler.name, metrics, jobs, tuple(self.log.entries))

    def _next_time(self) -> int | None:
        """The next instant at which anything happens; None where nothing will, or only what goes on for ever."""
        timer, event = self.scheduler.next_timer(), self.queue.next_time()
        times = [time for time in (timer, event) if time is not None]
        if not times:
            return None
        waits_in_vain = timer is None and not self.queue.foreground
        if waits_in_vain and min(times) > self.progress + self.settings.patience_ms:
            return None
        return max(min(times), self.now)

    def _happen(self, happening: Happening) -> None:
        subject, detail = happening.subject, happening.detail
        match happening.rank:
            case Rank.SUBMIT:
                self._submit(self.jobs[str(subject)])
            case Rank.GROUP_ENDS:
                job = self.jobs[str(subject)]
                if isinstance(detail, _OfAttempt) and job.state is JobState.RUNNING and job.attempt == detail.attempt:
                    self._end_group(job, detail.group)
            case Rank.POD_FAILS:
                self._fail_pod(self.jobs[str(subject)], detail)
            case Rank.NODE_COMES if isinstance(detail, NodeChange) and detail.node:
                self._add_node(detail.node, detail.node.available, self.settings.node_type(detail.node))
            case Rank.NODE_COMES:
                self._node_comes(str(subject), detail)
            case Rank.NODE_GOES if isinstance(detail, NodeChange):
                self._remove_node(str(subject), "removed")
            case Rank.NODE_GOES:
                self._break_node(str(subject), detail)
            case Rank.AUTOSCALE:
                self._autoscale()

    def _cycle(self) -> None:
        """The scheduler works until it changes nothing more."""
        for _ in range(_MOST_CYCLES):
            changes = self.scheduler.cycle(self.now)
            if not changes:
                break
            self._take_all(changes)
        else:
            raise SchedulerError(f"{self.scheduler.name} changes something for ever at {self.now} ms")
        self.meter.settle(self.now)
        if self.fleet and self.left and (tick := self.fleet.next_look(self.now, self.held)) is not None:
            self.queue.put(Happening(tick, Rank.AUTOSCALE, "autoscaler", background=True))

    # --- what the scheduler does ---

    def _take_all(self, changes: Sequence[Change]) -> None:
        """``changes`` in order; what concerns a gang that has been withdrawn in their course is void."""
        lives = {c.application: self.jobs[c.application].life for c in changes if not isinstance(c, Said)}
        for change in changes:
            if isinstance(change, Said) or self.jobs[change.application].life == lives[change.application]:
                self._take(change)

    def _take(self, change: Change) -> None:
        match change:
            case Said(event, fields):
                self.log.add(self.now, self.scheduler.name, event, fields)
            case Bound():
                self._bind(change)
            case Released(application, number, reason):
                self._release(self.jobs[application], number, reason)
            case Closed(application, ending, reason):
                self._close(self.jobs[application], ending, reason)

    def _bind(self, bound: Bound) -> None:
        job = self.jobs[bound.application]
        group = next((g for g in job.application.task_groups if g.name == bound.task_group), None)
        if job.state is not JobState.PENDING or group is None or bound.pod in job.pods or bound.node not in self.nodes:
            raise SchedulerError(f"{self.scheduler.name} binds what it may not at {self.now} ms: {bound}")
        pod = Pod(bound.pod, group.name, bound.node, group.pod_resource, bound.placeholder)
        try:
            self.meter.allocate(pod.number, job.application.queue, pod.node, pod.resources, self.now)
        except ValueError as error:
            raise SchedulerError(f"{self.scheduler.name} at {self.now} ms: {error}") from None
        job.pods[pod.number] = pod
        self.held[pod.node] += 1
        self.progress = self.now
        self._touch(pod.node)
        self._say(
            "allocate",
            application=job.name,
            task_group=group.name,
            pod=pod.number,
            node=pod.node,
            placeholder=pod.placeholder,
        )
        if not pod.placeholder:
            job.bound[group.name] += 1
            if job.bound[group.name] > group.min_member:
                raise SchedulerError(f"{self.scheduler.name} binds more than the gang has at {self.now} ms: {bound}")
            if job.is_whole:
                self._start(job)

    def _release(self, job: TrackedJob, number: int, reason: str) -> None:
        pod = job.pods.get(number)
        if pod is None:
            raise SchedulerError(f"{self.scheduler.name} releases pod {number} of {job.name!r}, which has no such pod")
        self._drop(job, pod)
        self._say("release", application=job.name, pod=number, reason=reason)
        if not pod.placeholder and not job.state.is_over:
            self._gang_fails(job, reason)

    def _close(self, job: TrackedJob, ending: Ending, reason: str) -> None:
        if job.state is not JobState.PENDING:
            return
        for pod in list(job.pods.values()):
            self._drop(job, pod)
            self._say("release", application=job.name, pod=pod.number, reason=ending.value)
        self._say(ending.value, application=job.name, reason=reason)
        self._over(job, JobState.REJECTED if ending is Ending.REJECTED else JobState.KILLED, reason)

    # --- gangs ---

    def _submit(self, job: TrackedJob) -> None:
        job.attempt += 1
        job.state = JobState.PENDING
        job.bound.clear()
        job.open_groups = {group.name for group in job.application.task_groups}
        self._say("submit", application=job.name, attempt=job.attempt, **_described(job.job))
        self.progress = self.now
        if self.fleet:
            self.fleet.submitted()
        self.scheduler.submit(job.application, self.now)

    def _start(self, job: TrackedJob) -> None:
        """The last member of the gang is bound: all of them work from now on."""
        job.state = JobState.RUNNING
        job.started = self.now if job.started is None else job.started
        self._say("start", application=job.name, attempt=job.attempt)
        groups = zip(job.application.task_groups, job.job.durations, strict=True)
        for duration, name in sorted((duration, group.name) for group, duration in groups):
            ends = _OfAttempt(job.attempt, group=name)
            self.queue.put(Happening(self.now + duration, Rank.GROUP_ENDS, job.name, ends))
        members = [pod for pod in job.pods.values() if not pod.placeholder]
        for pod in members:
            self.meter.run(pod.resources, 1, self.now)
        failure = self.faults.first_failure(job, self.now)
        if failure is not None:
            time, number = failure
            self.queue.put(Happening(time, Rank.POD_FAILS, job.name, _OfAttempt(job.attempt, pod=number)))

    def _end_group(self, job: TrackedJob, group: str) -> None:
        for pod in [p for p in job.pods.values() if p.task_group == group and not p.placeholder]:
            self._drop(job, pod)
            self._say("finish_pod", application=job.name, pod=pod.number)
            self.scheduler.pod_ended(job.name, pod.number, self.now)
        job.open_groups.discard(group)
        self.progress = self.now
        if not job.open_groups:
            self._say("finish", application=job.name)
            self._over(job, JobState.FINISHED, "")

    def _fail_pod(self, job: TrackedJob, detail: object) -> None:
        if job.state is not JobState.RUNNING:
            return
        number = 0
        if isinstance(detail, PodFailure):
            running = (n for n, p in job.pods.items() if p.task_group == detail.task_group and not p.placeholder)
            number = next(running, 0)
        elif isinstance(detail, _OfAttempt) and detail.attempt == job.attempt:
            number = detail.pod
        pod = job.pods.get(number)
        if pod is not None:
            self._drop(job, pod)
            self._say("fail_pod", application=job.name, pod=number)
            self._gang_fails(job, "a pod failed")

    def _gang_fails(self, job: TrackedJob, reason: str) -> None:
        """What is left of the attempt is stopped; the gang comes again if it may."""
        for pod in list(job.pods.values()):
            self._drop(job, pod)
            self._say("stop_pod", application=job.name, pod=pod.number)
        self.scheduler.withdraw(job.name, self.now)
        final = job.attempt >= self.settings.attempts
        self._say("fail", application=job.name, attempt=job.attempt, reason=reason, final=final)
        self.progress = self.now
        if final:
            self._over(job, JobState.FAILED, reason)
        else:
            self._submit(job)

    def _over(self, job: TrackedJob, state: JobState, reason: str) -> None:
        job.state, job.reason, job.ended = state, reason, self.now
        self.progress = self.now
        self.left -= 1

    def _drop(self, job: TrackedJob, pod: Pod) -> None:
        """``pod`` holds nothing any more."""
        del job.pods[pod.number]
        self.held[pod.node] -= 1
        self.meter.release(pod.number, job.application.queue, pod.node, pod.resources, self.now)
        if job.state is JobState.RUNNING and not pod.placeholder:
            self.meter.run(pod.resources, -1, self.now)
        self._touch(pod.node)

    # --- nodes ---

    def _add_node(self, node: Node, capacity: Resources, node_type: str) -> None:
        self.nodes[node.name] = node
        self.meter.add_node(node, capacity, node_type, self.now)
        self._say(
            "add_node", node=node.name, type=node_type, price=self.settings.price(node_type), capacity=dict(capacity)
        )
        self.scheduler.add_node(node, self.now)
        self._touch(node.name)
        breaks = self.faults.node_breaks(node.name, self.now)
        if breaks is not None:
            self.queue.put(Happening(breaks, Rank.NODE_GOES, node.name, node, background=True))

    def _remove_node(self, name: str, cause: str) -> None:
        """The node goes; what ran on it is lost."""
        self._say("remove_node", node=name, cause=cause)
        self.scheduler.remove_node(name, self.now)
        self._take_all(self.scheduler.cycle(self.now))
        if self.held[name]:
            raise SchedulerError(f"{self.scheduler.name} keeps pods on {name!r}, which is gone")
        del self.nodes[name]
        self.meter.remove_node(name, self.now)
        if self.fleet:
            self.fleet.forget(name)

    def _break_node(self, name: str, node: object) -> None:
        """A node breaks at a time that was drawn when it came; one that went by itself before does not."""
        if self.nodes.get(name) is not node or not isinstance(node, Node):
            return
        launched = self.fleet is not None and self.fleet.launched(name)
        self._remove_node(name, "failed")
        if not launched:
            back = self.now + self.settings.node_repair_ms
            self.queue.put(Happening(back, Rank.NODE_COMES, name, node, background=True))

    def _node_comes(self, name: str, node: object) -> None:
        """A node is repaired, or one that the autoscaler asked for is there."""
        assert isinstance(node, Node)
        if self.fleet and self.fleet.arrives(name):
            self._add_node(node, node.available, self.fleet.type_of(name))
        elif name not in self.nodes:
            self._add_node(node, self.cluster.free(node), self.settings.node_type(node))

    def _autoscale(self) -> None:
        if self.fleet is None:
            return
        waiting = [job for job in self.jobs.values() if job.state is JobState.PENDING]
        decision = self.fleet.decide(self.now, waiting, self.nodes, self.held, self.meter)
        for name in decision.terminate:
            self._remove_node(name, "idle")
        for node, node_type, ready in decision.launch:
            self._say("request_launch", node=node.name, type=node_type)
            self.queue.put(Happening(ready, Rank.NODE_COMES, node.name, node, background=True))

    def _touch(self, node: str) -> None:
        if self.fleet:
            self.fleet.touch(node, self.now)

    def _say(self, event: str, **fields: Any) -> None:
        self.log.add(self.now, SIMULATION, event, fields)


def _described(job: Job) -> dict[str, Any]:
    """What the log says of a gang when it is submitted."""
    application = job.application
    groups = zip(application.task_groups, job.durations, strict=True)
    return {
        "queue": application.queue,
        "weight": application.weight,
        "task_groups": [
            {"name": g.name, "min_member": g.min_member, "pod": dict(g.pod_resource), "duration_ms": duration}
            for g, duration in groups
        ],
    }

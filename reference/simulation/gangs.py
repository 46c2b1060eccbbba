"""What becomes of gangs in a run: changes that the scheduler makes, starts, ends and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reference.cluster import Cluster, Node
from reference.simulation.autoscaler import Autoscaler, Fleet
from reference.simulation.clock import EventQueue, Happening, Rank
from reference.simulation.faults import Faults
from reference.simulation.fragmentation import pod_classes
from reference.simulation.jobs import JobState, Pod, TrackedJob
from reference.simulation.log import SIMULATION, Log
from reference.simulation.meter import Meter
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
from reference.simulation.workload import Job, PodFailure, Workload


@dataclass(frozen=True, slots=True)
class OfAttempt:
    """What a happening concerns: a task group or a pod of one attempt of a gang."""

    attempt: int
    group: str = ""
    pod: int = 0


class Gangs:
    """The state of a run, and every change of a gang. ``held`` counts the pods of each node, ``left`` the jobs that are
    not over, ``progress`` is the last time at which anything happened to a job."""

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
            ends = OfAttempt(job.attempt, group=name)
            self.queue.put(Happening(self.now + duration, Rank.GROUP_ENDS, job.name, ends))
        members = [pod for pod in job.pods.values() if not pod.placeholder]
        for pod in members:
            self.meter.run(pod.resources, 1, self.now)
        failure = self.faults.first_failure(job, self.now)
        if failure is not None:
            time, number = failure
            self.queue.put(Happening(time, Rank.POD_FAILS, job.name, OfAttempt(job.attempt, pod=number)))

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
        elif isinstance(detail, OfAttempt) and detail.attempt == job.attempt:
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

"""One run: a cluster, a workload and a scheduler on a virtual clock.

At each instant everything that is due happens, in the order of ``clock.Rank``; then the scheduler cycles until it
changes nothing more. Scheduling itself takes no time. A gang's work begins when its last member is bound; a pod that
fails, or is lost with its node, takes its gang down with it, which is then submitted again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference.cluster import Cluster, Node
from reference.cluster.features import refuse
from reference.errors import InputError
from reference.simulation.autoscaler import Autoscaler
from reference.simulation.clock import Happening, Rank
from reference.simulation.gangs import Gangs, OfAttempt
from reference.simulation.jobs import JobState, TrackedJob
from reference.simulation.log import Entry
from reference.simulation.metrics import Metrics
from reference.simulation.scheduler import OnlineScheduler, SchedulerError
from reference.simulation.settings import Settings
from reference.simulation.summary import summarise
from reference.simulation.workload import NodeChange, Workload

_MOST_CYCLES = 1_000_000
"""A scheduler that changes something for ever at one instant is stopped here."""


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
    and knows neither nodes nor gangs yet. Raises InputError for a workload that does not fit the cluster
    or has rules beyond plain gangs, and SchedulerError for a scheduler that breaks the protocol.
    """
    _refuse_features(cluster, workload)
    for problem in workload.problems(cluster):
        raise InputError(problem.text, problem.EXPECTED, where=f"trace: {problem.where}")
    return _Simulation(cluster, workload, scheduler, settings or Settings(), autoscaler).run()


def _refuse_features(cluster: Cluster, workload: Workload) -> None:
    """Raises InputError for rules beyond plain gangs, which names the first job that has some."""
    jobs = tuple(job.application for job in workload.jobs)
    try:
        refuse(replace(cluster, applications=jobs), frozenset(), "the simulation")
    except InputError:
        refuse(replace(cluster, applications=()), frozenset(), "the simulation")
        for number, job in enumerate(jobs):
            try:
                refuse(replace(cluster, applications=(job,)), frozenset(), "the simulation")
            except InputError as error:
                where = f"trace: jobs[{number}].application"
                raise InputError(error.found, error.expected, where=where) from None
        raise


class _Simulation(Gangs):
    """The clock, and nodes that come and go."""

    def __init__(
        self,
        cluster: Cluster,
        workload: Workload,
        scheduler: OnlineScheduler,
        settings: Settings,
        autoscaler: Autoscaler | None,
    ) -> None:
        super().__init__(cluster, workload, scheduler, settings, autoscaler)
        free = cluster.free_by_node()
        self.own = {node.name: (node, free[node.name]) for node in cluster.nodes}
        for node in cluster.nodes:
            self._add_node(node, settings.node_type(node))
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
                if isinstance(detail, OfAttempt) and job.state is JobState.RUNNING and job.attempt == detail.attempt:
                    self._end_group(job, detail.group)
            case Rank.POD_FAILS:
                self._fail_pod(self.jobs[str(subject)], detail)
            case Rank.NODE_COMES if isinstance(detail, NodeChange) and detail.node:
                self._add_node(detail.node, self.settings.node_type(detail.node))
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

    # --- nodes ---

    def _add_node(self, node: Node, node_type: str) -> None:
        """The node is there; one that the cluster began with has its running pods on it, also when it comes again."""
        own, free = self.own.get(node.name, (None, node.available))
        capacity = free if own is node else node.available
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
            self._add_node(node, self.fleet.type_of(name))
        elif name not in self.nodes:
            self._add_node(node, self.settings.node_type(node))

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

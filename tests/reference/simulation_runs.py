"""Small random runs: a cluster, jobs on it, nodes that come and go, pods that fail, any scheduler."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from reference.cluster import Application, Cluster, Constraints, Node, Queue, QueueTree, Resources, TaskGroup
from reference.simulation import (
    AutoscalerSettings,
    Job,
    NodeChange,
    NodeTypeSettings,
    PodFailure,
    Run,
    Settings,
    Workload,
    make,
    simulate,
)
from reference.simulation.log import lines
from reference.simulation.ray_autoscaler import RayAutoscaler
from reference.strategies import clusters

POLICIES = ("yunikorn", "volcano", "kubernetes", "first-fit", "best-fit", "dot-product")
LAUNCHED = NodeTypeSettings("small", Resources(vcore=6, memory=6), 2, launch_ms=700)


@dataclass(frozen=True)
class Case:
    cluster: Cluster
    workload: Workload
    policy: str
    order: str
    strict: bool
    release_ms: int
    settings: Settings

    def run(self) -> Run:
        scheduler = make(self.policy, self.cluster, self.order, strict=self.strict, release_ms=self.release_ms)
        scaling = self.settings.autoscaler
        return simulate(
            self.cluster, self.workload, scheduler, self.settings, RayAutoscaler(scaling) if scaling else None
        )

    def text(self, run: Run) -> list[str]:
        return list(lines({"policy": self.policy}, run.log))


def _orders(policy: str) -> st.SearchStrategy[tuple[str, bool]]:
    """What a policy may be told of the order of gangs, and whether one that waits holds up others."""
    if policy in ("volcano", "kubernetes"):
        return st.just(("fifo", False))
    orders = ("fifo",) if policy == "yunikorn" else ("fifo", "size", "density")
    return st.tuples(st.sampled_from(orders), st.booleans())


@st.composite
def jobs(draw: st.DrawFn, cluster: Cluster) -> tuple[Job, ...]:
    found = []
    for app in cluster.applications:
        timeout = draw(st.integers(1, 3))
        durations = tuple(draw(st.sampled_from((1, 400, 1500, 3000))) for _ in app.task_groups)
        arrival = draw(st.sampled_from((0, 0, 500, 1000, 1500)))
        found.append(Job(replace(app, placeholder_timeout_seconds=timeout), arrival, durations))
    return tuple(found)


@st.composite
def cases(draw: st.DrawFn, policies: tuple[str, ...] = POLICIES, *, quiet: bool = False) -> Case:
    """``quiet``: no node comes or goes, and no pod fails."""
    cluster = draw(clusters(max_nodes=3, max_apps=4))
    work = draw(jobs(cluster))
    changes: list[NodeChange] = []
    failures: list[PodFailure] = []
    settings = Settings(seed=draw(st.integers(0, 3)), patience_ms=20_000)
    if not quiet:
        for node in cluster.nodes[: draw(st.integers(0, 2))]:
            gone = draw(st.sampled_from((0, 400, 800, 1000)))
            changes.append(NodeChange(gone, node.name))
            if draw(st.booleans()):
                changes.append(NodeChange(gone + draw(st.sampled_from((1, 600))), node.name, node))
        for job in work[: draw(st.integers(0, 2))]:
            failures.append(PodFailure(draw(st.sampled_from((100, 700, 1500))), job.name, "g0"))
        settings = replace(
            settings,
            attempts=draw(st.integers(1, 3)),
            pod_mtbf_ms=draw(st.sampled_from((None, 2000))),
            node_mtbf_ms=draw(st.sampled_from((None, None, 3000))) if not changes else None,
            node_repair_ms=500,
            prices={"small": 250_000},
            type_label="zone",
        )
        if draw(st.booleans()) and all(plain(job) for job in work):
            settings = replace(settings, autoscaler=AutoscalerSettings((LAUNCHED,), 300, 1000))
    policy = draw(st.sampled_from(policies))
    order, strict = draw(_orders(policy))
    release = draw(st.sampled_from((0, 0, 50)))
    return Case(cluster, Workload(work, tuple(changes), tuple(failures)), policy, order, strict, release, settings)


def plain(job: Job) -> bool:
    """Whether an autoscaler of Ray can say where the job's pods may run."""
    return not any(group.constraints.affinity_terms for group in job.application.task_groups)


_SMALL = st.integers(1, 3)
_GROUPS = st.lists(st.tuples(_SMALL, st.integers(1, 2), st.integers(0, 2)), min_size=1, max_size=2)
_JOBS = st.lists(
    st.tuples(_GROUPS, st.integers(0, 5), _SMALL, st.integers(0, 1), st.integers(0, 3)), min_size=4, max_size=8
)
_NODES = st.lists(st.tuples(st.integers(2, 6), st.integers(1, 5), st.booleans()), min_size=1, max_size=3)
_LIMITS = st.tuples(st.sampled_from((None, None, 1, 2)), st.sampled_from((None, None, 4, 7)))


@st.composite
def crowded(draw: st.DrawFn, policies: tuple[str, ...] = POLICIES) -> Case:
    """Many jobs that have to wait for each other, on few nodes, some of them in a zone of their own; all is quiet."""
    nodes = tuple(
        Node(f"n{i}", Resources(vcore=cpu, memory=memory), {"zone": "a"} if zone else {})
        for i, (cpu, memory, zone) in enumerate(draw(_NODES))
    )
    most, quota = draw(_LIMITS)
    maximum = Resources() if quota is None else Resources(vcore=quota)
    tree = QueueTree(Queue("root", children=(Queue("root.a", maximum, max_applications=most), Queue("root.b"))))
    work = []
    for number, (groups, arrival, duration, leaf, place) in enumerate(draw(_JOBS)):
        where = Constraints((("zone", "a"),)) if place == 0 else Constraints()
        shapes = tuple(
            TaskGroup(f"g{i}", members, Resources(vcore=cpu, memory=memory), where)
            for i, (members, cpu, memory) in enumerate(groups)
        )
        app = Application(
            f"a{number}", ("root.a", "root.b")[leaf], shapes, weight=duration, placeholder_timeout_seconds=1
        )
        work.append(Job(app, arrival * 100, tuple(duration * 100 + 10 * i for i in range(len(shapes)))))
    policy = draw(st.sampled_from(policies))
    order, strict = draw(_orders(policy))
    cluster = Cluster(nodes, tree, ())
    return Case(cluster, Workload(tuple(work)), policy, order, strict, 0, Settings())

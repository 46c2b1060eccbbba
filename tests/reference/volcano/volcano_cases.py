"""Hypothesis: small clusters of Volcano's own kind, what happens to them, and what they look like to the judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from reference.cluster import (
    ANYWHERE,
    MEMORY,
    PODS,
    VCORE,
    Application,
    Assignment,
    Cluster,
    Constraints,
    Node,
    Placement,
    QueueTree,
    Resources,
    TaskGroup,
)
from reference.cluster import Queue as ClusterQueue
from reference.schedulers.volcano import (
    Configuration,
    Edition,
    HyperNode,
    JobSpec,
    NetworkTopology,
    Queue,
    Record,
    Scheduler,
    TaskSpec,
    TaskStatus,
    TopologyMode,
    tiers,
)

ACTIONS = (
    ("enqueue", "allocate", "backfill"),
    ("enqueue", "reclaim", "allocate", "backfill", "preempt"),
    ("allocate", "preempt", "reclaim"),
)
SHARING = ("proportion", "capacity", "capacity+hierarchy")
_IN_A = Constraints(node_selector=(("zone", "a"),))
Event = Callable[[Scheduler], Record]


@dataclass(frozen=True)
class Case:
    """What a scheduler is made of, and what happens then: the events are told by name for a reader of a failure."""

    configuration: Configuration
    nodes: tuple[Node, ...]
    queues: tuple[Queue, ...]
    hyper_nodes: tuple[HyperNode, ...]
    jobs: tuple[JobSpec, ...]
    events: tuple[tuple[str, str], ...]

    def scheduler(self) -> Scheduler:
        """A scheduler with everything but the jobs, which are events."""
        return Scheduler(self.configuration, self.nodes, self.queues, self.hyper_nodes)

    def apply(self, scheduler: Scheduler, event: tuple[str, str]) -> Record:
        """Let an event happen."""
        name, subject = event
        specs = {spec.name: spec for spec in self.jobs}
        nodes = {node.name: node for node in self.nodes}
        match name:
            case "job":
                return scheduler.add_job(specs[subject])
            case "session":
                return scheduler.run_session()
            case "ended":
                return scheduler.task_ended(subject)
            case "delete":
                return scheduler.delete_job(subject)
            case "remove":
                return scheduler.remove_node(subject)
            case "add":
                return scheduler.add_node(nodes[subject])
            case "fail":
                scheduler.failing_binds.add(subject)
                return scheduler.run_session()
            case _:
                return scheduler.set_quota("ns0", "q", len(subject))


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    """Up to six cores and memory; sometimes a limit of pods, half of them in zone a."""
    capacity = {VCORE: draw(st.integers(1, 6)), MEMORY: draw(st.integers(0, 6))}
    if draw(st.booleans()):
        capacity[PODS] = draw(st.integers(1, 4))
    return Node(name, Resources(capacity), {"zone": draw(st.sampled_from("ab"))})


@st.composite
def jobs(draw: st.DrawFn, number: int, queues: list[str], topology: bool) -> JobSpec:
    """Up to four tasks of one or two roles, some mixed, some that ask for nothing."""
    specs = []
    for i in range(draw(st.integers(1, 4))):
        asked = Resources({VCORE: draw(st.integers(0, 3)), MEMORY: draw(st.integers(0, 2))})
        specs.append(
            TaskSpec(
                f"j{number}t{i}",
                asked,
                draw(st.sampled_from(("", "r", "s"))),
                draw(st.sampled_from((ANYWHERE, ANYWHERE, _IN_A))),
                draw(st.integers(1, 2)),
                draw(st.booleans()),
            )
        )
    least = draw(st.integers(0, len(specs)))
    roles = {"r": 1} if draw(st.booleans()) and any(spec.role == "r" for spec in specs) else {}
    wish = None
    if topology:
        mode = draw(st.sampled_from((None, TopologyMode.SOFT, TopologyMode.HARD)))
        wish = mode and NetworkTopology(mode, draw(st.integers(1, 2)))
    needs = None
    if draw(st.booleans()):
        needs = Resources({VCORE: draw(st.integers(0, 4))})
    return JobSpec(
        f"j{number}",
        draw(st.sampled_from(queues)),
        least,
        tuple(specs),
        f"ns{number % 2}",
        roles,
        draw(st.integers(0, 2)),
        needs,
        network_topology=wish,
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A whole case; about half have HyperNodes, every edition and every sharing of queues comes up."""
    named = tuple(draw(nodes(f"n{i}")) for i in range(draw(st.integers(1, 4))))
    sharing = draw(st.sampled_from(SHARING))
    tree = sharing == "capacity+hierarchy"
    queues = []
    for name, parent in (("p", "root"), ("a", "p" if tree else "root"), ("b", "p" if tree else "root")):
        limit = draw(st.sampled_from((None, None, 2, 5)))
        queues.append(
            Queue(
                name,
                draw(st.integers(1, 3)),
                Resources({} if limit is None else {VCORE: limit}),
                Resources({VCORE: draw(st.integers(0, 3))}),
                Resources({VCORE: draw(st.integers(0, 1))}),
                parent,
                draw(st.integers(0, 1)),
            )
        )
    topology = draw(st.booleans())
    hyper_nodes: tuple[HyperNode, ...] = ()
    if topology:
        halves = [tuple(n.name for n in named[i::2]) for i in range(2)]
        hyper_nodes = (HyperNode("s0", 1, halves[0]), HyperNode("s1", 1, halves[1]), HyperNode("s2", 2, ("s0", "s1")))
    specs = tuple(
        draw(jobs(i, ["a", "b"] if tree else ["p", "a", "b"], topology)) for i in range(draw(st.integers(1, 4)))
    )
    configuration = Configuration(
        draw(st.sampled_from(ACTIONS)),
        tiers(
            ("priority", "gang", "conformance"), ("drf", "predicates", sharing, "nodeorder", "network-topology-aware")
        ),
        draw(st.sampled_from(Edition)),
        draw(st.booleans()),
    )
    tasks = [task.name for spec in specs for task in spec.tasks]
    others = st.one_of(
        st.just(("session", "")),
        st.just(("session", "")),
        st.tuples(st.just("ended"), st.sampled_from(tasks)),
        st.tuples(st.just("fail"), st.sampled_from(tasks)),
        st.tuples(st.just("delete"), st.sampled_from([s.name for s in specs])),
        st.tuples(st.sampled_from(("add", "remove")), st.sampled_from([n.name for n in named])),
        st.tuples(st.just("quota"), st.sampled_from(("", "x", "xx"))),
        st.tuples(st.just("job"), st.sampled_from([s.name for s in specs])),
    )
    begin = tuple(("job", spec.name) for spec in specs)
    return Case(configuration, named, tuple(queues), hyper_nodes, specs, (*begin, *draw(st.lists(others, max_size=8))))


def as_placement(scheduler: Scheduler) -> tuple[Cluster, Placement]:
    """What runs, for the judge: a gang for each task that runs, in the queues as a tree with their capability."""

    def queue(name: str) -> ClusterQueue:
        children = tuple(queue(n) for n, q in scheduler.queues.items() if q.parent == name and n != "root")
        return ClusterQueue(paths[name], scheduler.queues[name].capability, children=children)

    paths = {name: ".".join(reversed(_path(scheduler, name))) for name in scheduler.queues}
    running = [t for t in scheduler.tasks.values() if t.status in (TaskStatus.RUNNING, TaskStatus.RELEASING)]
    applications = tuple(
        Application(t.name, paths[t.job.queue], (TaskGroup("g", 1, t.spec.resreq, t.spec.constraints),))
        for t in running
    )
    placement = Placement(
        tuple(sorted(Assignment(t.name, "g", t.node, 1) for t in running)), tuple(sorted(t.name for t in running))
    )
    return Cluster(tuple(n.node for n in scheduler.nodes.values()), QueueTree(queue("root")), applications), placement


def _path(scheduler: Scheduler, name: str) -> list[str]:
    return [name] if name == "root" else [name, *_path(scheduler, scheduler.queues[name].parent)]


def picture(scheduler: Scheduler) -> object:
    """All of the scheduler's state that a discarded statement must leave as it was, with no zeros."""
    plain = [
        (
            n.name,
            *({k: v for k, v in amounts.items() if v} for amounts in (n.idle, n.releasing, n.pipelined)),
            list(n.tasks),
        )
        for n in scheduler.nodes.values()
    ]
    jobs_now = [
        (j.name, j.phase, dict(j.counts), {k: v for k, v in j.allocated.items() if v}, j.best_effort_pending)
        for j in scheduler.jobs.values()
    ]
    roles = [
        ({k: v for k, v in r.items() if v}) for j in scheduler.jobs.values() for r in (j.ready_roles, j.waiting_roles)
    ]
    tasks = [(t.name, t.status, t.node, t.number) for t in scheduler.tasks.values()]
    return plain, jobs_now, roles, tasks

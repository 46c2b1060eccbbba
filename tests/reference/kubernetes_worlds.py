"""Random clusters and events for the Kubernetes reference, and the independent judge on what it has decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from reference.cluster import (
    MEMORY,
    PODS,
    VCORE,
    Application,
    Assignment,
    Cluster,
    Constraints,
    Node,
    Operator,
    Placement,
    Queue,
    QueueTree,
    Requirement,
    Resources,
    Taint,
    TaintEffect,
    TaskGroup,
    Toleration,
)
from reference.schedulers.kubernetes import (
    CompositePodGroup,
    DisruptionMode,
    Options,
    Phase,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodGroup,
    PodSpec,
    PreferredSchedulingTerm,
    Record,
    Scheduler,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
    WhenUnsatisfiable,
)
from reference.validate import validate

APP = (Requirement("app", Operator.IN, ("a",)),)
QUEUES = QueueTree(Queue("root", children=(Queue("root.default"),)))
TAINTS = (Taint("t", "", TaintEffect.NO_SCHEDULE), Taint("soft", "", TaintEffect.PREFER_NO_SCHEDULE))
CONSTRAINTS = (
    Constraints(),
    Constraints(),
    Constraints(node_selector=(("zone", "z0"),)),
    Constraints(tolerations=(Toleration("t", True),)),
    Constraints(tolerations=(Toleration("", True),)),
    Constraints(affinity_terms=((Requirement("zone", Operator.NOT_IN, ("z0",)),),)),
)


def node(draw: Random, name: str) -> Node:
    capacity = {VCORE: draw.randint(0, 6), MEMORY: draw.randint(1, 6)}
    if draw.random() < 0.3:
        capacity[PODS] = draw.randint(1, 4)
    if draw.random() < 0.2:
        capacity["gpu"] = 2
    labels = {"zone": f"z{draw.randint(0, 1)}", "kubernetes.io/hostname": name}
    if draw.random() < 0.8:
        labels["rack"] = f"r{draw.randint(0, 2)}"
    taints = tuple(taint for taint in TAINTS if draw.random() < 0.2)
    return Node(name, Resources(capacity), labels, taints, draw.random() < 0.9, Resources({VCORE: draw.randint(0, 1)}))


def spec(draw: Random, priority: int = 0, minds: bool = True) -> PodSpec:
    request = {VCORE: draw.randint(0, 3), MEMORY: draw.randint(0, 3)}
    if draw.random() < 0.1:
        request["gpu"] = 1
    if draw.random() < 0.1:
        del request[MEMORY]
    more: dict[str, object] = {}
    kind = draw.randint(0, 11) if minds else 11
    term = PodAffinityTerm(draw.choice(("zone", "rack")), APP)
    if kind == 0:
        more["pod_affinity"] = PodAffinity((term,))
    elif kind == 1:
        more["pod_anti_affinity"] = PodAffinity((term,))
    elif kind == 2:
        more["pod_affinity"] = PodAffinity((), (WeightedPodAffinityTerm(10, term),))
    elif kind in (3, 4):
        when = WhenUnsatisfiable.DO_NOT_SCHEDULE if kind == 3 else WhenUnsatisfiable.SCHEDULE_ANYWAY
        key = draw.choice(("zone", "rack", "kubernetes.io/hostname"))
        more["topology_spread_constraints"] = (TopologySpreadConstraint(1, key, when, APP),)
    if draw.random() < 0.3:
        wish = Requirement("zone", Operator.IN, ("z1",))
        more["preferred_node_affinity"] = (PreferredSchedulingTerm(5, (wish,)),)
    labels = {"app": "a"} if draw.random() < 0.6 else {}
    constraints = draw.choice(CONSTRAINTS)
    return PodSpec(Resources(request), constraints, labels=labels, priority=priority, **more)  # type: ignore[arg-type]


@dataclass
class World:
    """A scheduler, and events for it drawn at random; ``log`` has the records."""

    draw: Random
    options: Options
    minds: bool = True
    scheduler: Scheduler = field(init=False)
    log: list[Record] = field(default_factory=list)
    names: int = 0

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(self.options)
        for i in range(self.draw.randint(1, 5)):
            self.scheduler.add_node(node(self.draw, f"n{i}"))
        registry = self.scheduler.registry
        for i in range(self.draw.randint(1, 4)):
            parent = ""
            if registry.composites and self.draw.random() < 0.6:
                parent = self.draw.choice(sorted(registry.composites))
            priority = registry.composites[parent].priority if parent else self.draw.randint(0, 2)
            key = self.draw.choice(("", "", "rack", "zone"))
            mode = self.draw.choice(tuple(DisruptionMode))
            if self.draw.random() < 0.3:
                least = self.draw.choice((None, 1, 2))
                self.scheduler.create_pod_group(CompositePodGroup(f"c{i}", least, priority, key, parent))
            else:
                least = self.draw.choice((None, 1, 2, 3))
                self.scheduler.create_pod_group(PodGroup(f"g{i}", least, priority, key, parent, mode))

    def step(self) -> Record | None:
        """One more event; some of them impossible."""
        draw, scheduler = self.draw, self.scheduler
        pods, groups = sorted(scheduler.registry.pods), sorted(scheduler.registry.groups)
        assumed = [name for name in pods if scheduler.registry.pods[name].phase is Phase.ASSUMED]
        kind = draw.randint(0, 19)
        record: Record | None = None
        if kind <= 6:
            group = draw.choice([*groups, ""])
            priority = scheduler.registry.groups[group].priority if group else draw.randint(0, 1)
            self.names += 1
            record = scheduler.create_pod(Pod(f"p{self.names}", spec(draw, priority, self.minds), group))
        elif kind <= 11:
            record = scheduler.cycle()
        elif kind <= 14 and assumed:
            name = draw.choice(assumed)
            record = scheduler.bind_failed(name) if draw.random() < 0.3 else scheduler.bind_succeeded(name)
        elif kind == 15 and pods:
            leaving = sorted(scheduler.registry.terminating)
            record = scheduler.delete_pod(draw.choice(leaving or pods))
        elif kind == 16:
            record = scheduler.advance(draw.randint(0, 12))
        elif kind == 17:
            name = f"n{draw.randint(0, 6)}"
            record = scheduler.remove_node(name) if draw.random() < 0.5 else scheduler.add_node(node(draw, name))
        elif kind == 18 and draw.random() < 0.3:
            record = scheduler.delete_pod_group(draw.choice([*groups, *scheduler.registry.composites, "nobody"]))
        else:
            odd = draw.choice((scheduler.bind_failed, scheduler.bind_succeeded, scheduler.delete_pod))
            record = odd(draw.choice((*pods, "nobody"))) if draw.random() < 0.3 else scheduler.pop()
        if record is not None:
            self.log.append(record)
        return record


def judged(scheduler: Scheduler) -> list[str]:
    """What the independent judge says of the pods on the nodes that are there, each as an application of its own."""
    cache = scheduler.cache
    placed = {name: where for name, where in sorted(cache.node_of.items()) if where in cache.infos}
    applications, assignments = [], []
    for name, where in placed.items():
        pod = cache.pods[name].spec
        group = TaskGroup("pod", 1, pod.request, pod.constraints)
        applications.append(Application(name, "root.default", (group,)))
        assignments.append(Assignment(name, "pod", where, 1))
    nodes = tuple(info.node for info in cache.infos.values())
    cluster = Cluster(nodes, QUEUES, tuple(applications))
    return [str(v) for v in validate(cluster, Placement(tuple(assignments), tuple(placed)))]

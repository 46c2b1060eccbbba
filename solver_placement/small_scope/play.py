"""Policies on a world: how many of its gangs each one admits.

Plain gangs go to every reference scheduler and heuristic as a cluster; what only Kubernetes can say (pods that mind
each other, topology, composites, minCount below the size) goes to its event machine.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from reference.cluster import (
    MEMORY,
    VCORE,
    Application,
    Cluster,
    Constraints,
    Node,
    Operator,
    Queue,
    QueueTree,
    Requirement,
    Resources,
    TaskGroup,
)
from reference.schedulers import POLICIES, schedule
from reference.schedulers.heuristics import HEURISTICS
from reference.schedulers.kubernetes import (
    CompositePodGroup,
    Options,
    Outcome,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodGroup,
    PodSpec,
    Scheduler,
    ScoringStrategy,
    TopologySpreadConstraint,
    WhenUnsatisfiable,
)
from solver_placement.small_scope.world import Gang, Machine, Member, World

Play = Callable[[World], int]

UNITS = ((VCORE, 1000), (MEMORY, 2**30))


def resources(units: tuple[int, ...]) -> Resources:
    """Units as cores, and as GiB."""
    return Resources({name: unit * amount for (name, unit), amount in zip(UNITS, units, strict=False)})


def node(machine: Machine, name: str) -> Node:
    """The node of that name."""
    labels = {"host": name, "kind": machine.kind, "rack": machine.rack, "zone": machine.zone}
    return Node(name, resources(machine.room), {key: value for key, value in labels.items() if value})


def _constraints(member: Member) -> Constraints:
    return Constraints(node_selector=(("kind", member.kind),) if member.kind else ())


def cluster_of(world: World) -> Cluster:
    """The world as a cluster; equal pods that stand side by side are a task group. ValueError for what a cluster cannot
    say."""
    apps = []
    for i, gang in enumerate(world.gangs):
        (group,) = gang.groups
        plain = group.least == len(group.members) and not group.within
        if not plain or any(member.minds_others or member.role for member in group.members):
            raise ValueError("only plain gangs make a cluster")
        runs = [(member, len(list(run))) for member, run in itertools.groupby(group.members)]
        groups = tuple(
            TaskGroup(f"group-{g}", count, resources(member.asks), _constraints(member))
            for g, (member, count) in enumerate(runs)
        )
        apps.append(Application(f"gang-{i}", f"root.q{i}" if world.quota else "root.q", groups, submitted=i))
    names = sorted({app.queue for app in apps})
    root = Queue("root", resources((world.quota,) if world.quota else ()), children=tuple(map(Queue, names)))
    nodes = tuple(node(machine, f"node-{n}") for n, machine in enumerate(world.machines))
    return Cluster(nodes, QueueTree(root), tuple(apps))


def _scheduler(name: str) -> Play:
    return lambda world: len(schedule(cluster_of(world), policy=name).placement.admitted)


def _heuristic(name: str) -> Play:
    return lambda world: len(HEURISTICS[name](cluster_of(world)).admitted)


PLAIN: Final[Mapping[str, Play]] = MappingProxyType(
    {**{name: _scheduler(name) for name in POLICIES}, **{name: _heuristic(name) for name in HEURISTICS}}
)
"""Every policy, for plain gangs."""


def pod_groups(world: World, strategy: ScoringStrategy) -> int:
    """How many gangs kube-scheduler's PodGroup cycle schedules, in the order of the world."""
    scheduler = Scheduler(Options(scoring_strategy=strategy))
    for n, machine in enumerate(world.machines):
        scheduler.add_node(node(machine, f"node-{n}"))
    admitted = 0
    for i, gang in enumerate(world.gangs):
        _create(scheduler, gang, f"gang-{i}")
        record = scheduler.cycle()
        assert record is not None, f"gang-{i} is not in the queue"
        assert record.outcome in (Outcome.SCHEDULED, Outcome.UNSCHEDULABLE), record
        admitted += record.outcome is Outcome.SCHEDULED
    return admitted


def _create(scheduler: Scheduler, gang: Gang, name: str) -> None:
    parent = ""
    if gang.is_composite:
        parent = name
        scheduler.create_pod_group(CompositePodGroup(name, gang.least, topology_key=gang.within))
    leaves = [f"{name}-{g}" if parent else name for g in range(len(gang.groups))]
    for leaf, group in zip(leaves, gang.groups, strict=True):
        scheduler.create_pod_group(PodGroup(leaf, group.least, topology_key=group.within, parent=parent))
    for leaf, group in zip(leaves, gang.groups, strict=True):
        for p, member in enumerate(group.members):
            scheduler.create_pod(Pod(f"{leaf}-pod-{p}", _spec(member), leaf))


def _spec(member: Member) -> PodSpec:
    def terms(pairs: tuple[tuple[str, str], ...]) -> PodAffinity:
        return PodAffinity(tuple(PodAffinityTerm(key, _selector(role)) for key, role in pairs))

    return PodSpec(
        resources(member.asks),
        _constraints(member),
        pod_affinity=terms(member.near),
        pod_anti_affinity=terms(member.apart),
        topology_spread_constraints=tuple(
            TopologySpreadConstraint(skew, key, WhenUnsatisfiable.DO_NOT_SCHEDULE, _selector(member.role))
            for key, skew in member.spread
        ),
        labels={"role": member.role} if member.role else {},
    )


def _selector(role: str) -> tuple[Requirement, ...]:
    return (Requirement("role", Operator.IN, (role,)),)


def _strategy(strategy: ScoringStrategy) -> Play:
    return lambda world: pod_groups(world, strategy)


POD_GROUPS: Final[Mapping[str, Play]] = MappingProxyType(
    {f"kubernetes, {strategy.value}": _strategy(strategy) for strategy in ScoringStrategy}
)
"""kube-scheduler with its default score of nodes, and with the one that fills them."""

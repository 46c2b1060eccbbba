"""The inputs of bench/place.py: clusters made from a seed, of openb's tables or of random numbers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

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
    RunningPod,
    TaskGroup,
    TopologyConstraint,
)
from reference.manifests import load

GPU = "gpu"
GIB = 2**30
RACK = 16
"""Nodes in one rack: racks are a node's index // 16."""

Input = Callable[[Path, int], Cluster]


def openb(data: Path, seed: int, pods: str = "openb_pod_list_default.csv", shared_gpus: bool = False) -> Cluster:
    """openb's 1,213 GPU nodes and 8,152 pods in gangs."""
    files = [data / "openb" / "openb_node_list_gpu_node.csv", data / "openb" / pods]
    return load(files, gang_seed=seed, shared_gpus=shared_gpus).cluster


def gpu_models(data: Path, seed: int) -> Cluster:
    """The same, a third of the pods bound to GPU models."""
    return openb(data, seed, "openb_pod_list_gpuspec33.csv.gz")


def shared(data: Path, seed: int) -> Cluster:
    """Shares of GPUs as they are; three gangs in ten come twice, or all of them would fit."""
    cluster = openb(data, seed, shared_gpus=True)
    again = random.Random(seed).sample(cluster.applications, len(cluster.applications) * 3 // 10)
    more = tuple(replace(app, name=f"{app.name}-again") for app in again)
    return replace(cluster, applications=(*cluster.applications, *more))


def filled(percent: int) -> Input:
    """openb after gangs in random order, each pod on a random node that has room, hold ``percent`` of the GPUs."""

    def make(data: Path, seed: int) -> Cluster:
        cluster, chance = openb(data, seed), random.Random(seed)
        total = sum(node.capacity.amount(GPU) for node in cluster.nodes)
        free = {node.name: dict(node.capacity) for node in cluster.nodes}
        names = list(free)
        running: list[RunningPod] = []
        waiting = list(cluster.applications)
        chance.shuffle(waiting)
        held = 0
        while held * 100 < total * percent:
            app = waiting.pop()
            [group] = app.task_groups
            for member in range(group.min_member):
                chance.shuffle(names)
                fits = (n for n in names if all(free[n].get(r, 0) >= a for r, a in group.min_resource.items()))
                if (node := next(fits, None)) is None:
                    continue
                for r, amount in group.min_resource.items():
                    free[node][r] -= amount
                running.append(RunningPod(f"{app.name}-{member}", node, app.queue, group.pod_resource))
                held += group.min_resource.amount(GPU)
        waiting.sort(key=lambda app: app.name)
        return replace(cluster, applications=tuple(waiting), running=tuple(running))

    return make


def queues(data: Path, seed: int) -> Cluster:
    """openb under three parent queues with four leaves each; maxima of leaves add up to more than their parent's."""
    cluster, chance = openb(data, seed), random.Random(seed)
    total = {r: sum(node.capacity.amount(r) for node in cluster.nodes) for r in (VCORE, GPU)}

    def limit(per_mille: int) -> Resources:
        return Resources({r: amount * per_mille // 1000 for r, amount in total.items()})

    parents: list[Queue] = []
    for p in range(3):
        name = f"root.p{p}"
        leaves = tuple(Queue(f"{name}.q{i}", maximum=limit(chance.randrange(60, 130))) for i in range(4))
        parents.append(Queue(name, maximum=limit(chance.randrange(250, 350)), children=leaves))
    tree = QueueTree(Queue("root", children=tuple(parents)))
    names = [queue.name for queue in tree.leaves()]
    apps = tuple(replace(app, queue=chance.choice(names)) for app in cluster.applications)
    return replace(cluster, queues=tree, applications=apps)


def racks(data: Path, seed: int) -> Cluster:
    """openb in 76 racks; every gang of two to sixteen pods has to be in one."""
    cluster = openb(data, seed)
    nodes = tuple(replace(n, labels={**n.labels, "rack": str(i // RACK)}) for i, n in enumerate(cluster.nodes))
    near = (TopologyConstraint(("rack",)),)
    apps = tuple(replace(a, topology=near) if 2 <= a.members <= 16 else a for a in cluster.applications)
    return replace(cluster, nodes=nodes, applications=apps)


NODE_KINDS = (((32, 128, 4), "A", 30), ((64, 256, 8), "B", 40), ((96, 384, 8), "C", 20), ((64, 512, 0), "D", 10))
"""Cores, GiB and GPUs; model; how often of a hundred."""


def mixed(pods: int, nodes: int, kinds: int) -> Input:
    """Nodes of four types, each partly taken; ``pods`` pods of ``kinds`` kinds in gangs, three in ten of two kinds."""

    def make(data: Path, seed: int) -> Cluster:
        chance = random.Random(seed)
        made = tuple(_mixed_node(chance, i) for i in range(nodes))
        groups = [_mixed_group(chance, k) for k in range(kinds)]
        return Cluster(made, QueueTree(Queue("root")), tuple(_mixed_gangs(chance, groups, pods)))

    return make


def _mixed_node(chance: random.Random, index: int) -> Node:
    (cores, memory, gpus), model, _ = chance.choices(NODE_KINDS, [often for *_, often in NODE_KINDS])[0]
    taken = chance.randrange(70)
    left = [n - n * taken * chance.randrange(50, 101) // 10_000 for n in (cores, memory)]
    capacity = {VCORE: left[0] * 1000, MEMORY: left[1] * GIB, GPU: (gpus - gpus * taken // 100) * 1000}
    return Node(f"node-{index:05}", Resources(capacity), {"model": model})


def _mixed_group(chance: random.Random, kind: int) -> TaskGroup:
    gpus = chance.choices((0, 1, 2, 4), (15, 45, 25, 15))[0]
    cores = max(gpus, 1) * chance.choice((2, 3, 4, 6, 8))
    memory = max(gpus, 1) * chance.choice((8, 12, 16, 24, 32))
    constraints = Constraints()
    if chance.randrange(10) < 3:
        models = tuple(chance.sample("ABC" if gpus else "ABCD", 2))
        constraints = Constraints(affinity_terms=((Requirement("model", Operator.IN, models),),))
    amounts = Resources({VCORE: cores * 1000, MEMORY: memory * GIB, **({GPU: gpus * 1000} if gpus else {})})
    return TaskGroup(f"kind{kind}", 1, amounts, constraints)


def _mixed_gangs(chance: random.Random, groups: list[TaskGroup], pods: int) -> Iterator[Application]:
    number = 0
    while pods > 0:
        members = min(chance.choices((1, 2, 4, 8, 16), (35, 20, 20, 15, 10))[0], pods)
        pods -= members
        if members > 1 and chance.randrange(10) < 3:
            leader, worker = chance.sample(groups, 2)
            parts = (replace(leader, min_member=1), replace(worker, min_member=members - 1))
        else:
            parts = (replace(chance.choice(groups), min_member=members),)
        weight = (3 + chance.randrange(3)) * members
        yield Application(f"gang-{number:05}", "root", parts, number, weight)
        number += 1

"""A cluster of 1,200 nodes, from a seed: racks of 16, four kinds of nodes, running pods, queues on two levels."""

from __future__ import annotations

import random

from reference.cluster import (
    MEMORY,
    PODS,
    VCORE,
    Application,
    Cluster,
    Constraints,
    Node,
    Queue,
    QueueTree,
    Resources,
    RunningPod,
    Taint,
    TaintEffect,
    TaskGroup,
    TopologyConstraint,
)

GPU = "nvidia.com/gpu"
GIB = 2**30
KINDS = (("A100", 8), ("V100", 4), ("T4", 2), ("none", 0))
TAINT = Taint("maintenance", "soon", TaintEffect.NO_SCHEDULE)


def large_cluster(seed: int, nodes: int = 1200) -> Cluster:
    """Running pods of 12 leaf queues hold some of the GPUs and cores of most nodes."""
    chance = random.Random(seed)
    made, running = [], []
    for n in range(nodes):
        model, gpus = chance.choice(KINDS)
        cores = chance.choice((32, 64, 96))
        capacity = {VCORE: cores * 1000, MEMORY: cores * 4 * GIB, PODS: 110}
        if gpus:
            capacity[GPU] = gpus * 1000
        labels = {"gpu": model, "rack": f"r{n // 16}", "zone": f"z{n // 400}"}
        name = f"n{n:04}"
        taints = (TAINT,) if chance.random() < 0.1 else ()
        made.append(Node(name, Resources(capacity), labels, taints, schedulable=chance.random() > 0.02))
        for i in range(chance.randrange(4)):
            share = Resources({VCORE: cores * 1000 // 4, MEMORY: cores * GIB, GPU: gpus // 4 * 1000, PODS: 1})
            running.append(RunningPod(f"p{n}-{i}", name, f"root.t{chance.randrange(3)}.q{chance.randrange(4)}", share))
    leaves = [[Queue(f"root.t{t}.q{q}", Resources({GPU: 900_000})) for q in range(4)] for t in range(3)]
    teams = tuple(Queue(f"root.t{t}", Resources({GPU: 1_500_000}), children=tuple(leaves[t])) for t in range(3))
    return Cluster(tuple(made), QueueTree(Queue("root", children=teams)), gangs(), tuple(running))


def gangs() -> tuple[Application, ...]:
    """Gangs that are pending for different reasons."""

    def group(name: str, members: int, gpus: int, cores: int, *selector: tuple[str, str], **more: object) -> TaskGroup:
        request = Resources({VCORE: cores * 1000, MEMORY: cores * 3 * GIB, GPU: gpus * 1000})
        return TaskGroup(name, members, request, Constraints(node_selector=selector), **more)  # type: ignore[arg-type]

    rack, zone = TopologyConstraint(("rack",)), TopologyConstraint(("zone",))
    a100 = ("gpu", "A100")
    return (
        Application("rack", "root.t0.q0", (group("worker", 40, 2, 8, a100),), topology=(rack,)),
        Application("quota", "root.t0.q1", (group("worker", 250, 4, 8),)),
        Application("roles", "root.t1.q0", (group("ps", 600, 0, 24), group("worker", 180, 4, 16, a100))),
        Application(
            "levels",
            "root.t2.q0",
            (group("ps", 30, 0, 16, topology=(rack,)), group("worker", 200, 4, 12, a100)),
            topology=(zone,),
        ),
        Application(
            "many",
            "root.t2.q1",
            tuple(group(f"role{i}", 12 + i, 1 + i % 4, 7 + 5 * i, a100) for i in range(8)),
            topology=(rack,),
        ),
        Application(
            "tight", "root.t2.q2", tuple(group(f"role{i}", 40 + 9 * i, 1 + i % 4, 9 + 4 * i) for i in range(6))
        ),
    )

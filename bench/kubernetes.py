"""How long the Kubernetes reference takes to place a large cluster, by processor time.

    python bench/kubernetes.py [--nodes N] [--pods N] [--openb FOLDER]

Without a folder that holds openb's tables: a cluster of four sizes of nodes in three zones, and gangs of 1 to 32 pods
of 60 kinds. Aimed at: openb (8,152 pods) in 10 s, 50,000 pods on 5,000 nodes in two minutes.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from reference.cluster import (  # noqa: E402  after the path is set
    Application,
    Cluster,
    Node,
    Queue,
    QueueTree,
    Resources,
    TaskGroup,
)
from reference.manifests import load  # noqa: E402
from reference.schedulers import schedule  # noqa: E402
from reference.validate import validate  # noqa: E402

GIB = 2**30


def cluster(nodes: int, pods: int) -> Cluster:
    """A cluster that its gangs nearly fill; the same for the same sizes."""
    draw = random.Random(1)
    sizes = ((16_000, 64), (32_000, 128), (64_000, 256), (96_000, 384))
    machines = []
    for i in range(nodes):
        cpu, memory = sizes[i % 4]
        capacity = {"vcore": cpu, "memory": memory * GIB, "pods": 110, **({"gpu": 8000} if i % 5 == 0 else {})}
        machines.append(Node(f"n{i:05}", Resources(capacity), {"zone": f"z{i % 3}"}))
    kinds = []
    for i in range(60):
        request = {"vcore": draw.choice((500, 1000, 2000, 4000, 8000)), "memory": draw.choice((1, 2, 4, 8, 16)) * GIB}
        kinds.append(Resources({**request, **({"gpu": 1000} if i % 5 == 0 else {})}))
    gangs: list[Application] = []
    while pods:
        members = min(pods, draw.choice((1, 1, 2, 4, 8, 16, 32)))
        pods -= members
        group = TaskGroup("pods", members, draw.choice(kinds))
        gangs.append(Application(f"g{len(gangs):05}", "root.default", (group,), len(gangs)))
    queues = QueueTree(Queue("root", children=(Queue("root.default"),)))
    return Cluster(tuple(machines), queues, tuple(gangs))


def main() -> int:
    """Places one cluster. Exit status 1 where the judge refuses the placement."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--nodes", type=int, default=5_000)
    options.add_argument("--pods", type=int, default=50_000)
    options.add_argument("--openb", type=Path)
    chosen = options.parse_args()
    if chosen.openb is None:
        given = cluster(chosen.nodes, chosen.pods)
    else:
        tables = ("openb_node_list_gpu_node.csv", "openb_pod_list_default.csv")
        given = load([str(chosen.openb / table) for table in tables], gang_seed=1).cluster
    pods = sum(app.members for app in given.applications)
    print(f"{pods:,} pods in {len(given.applications):,} gangs on {len(given.nodes):,} nodes")
    for strategy in ("LeastAllocated", "MostAllocated"):
        began = time.process_time()
        placement = schedule(given, "kubernetes", scoring_strategy=strategy).placement
        seconds = time.process_time() - began
        print(f"{strategy}: {seconds:.1f} s, {len(placement.admitted):,} gangs admitted", flush=True)
        refused = validate(given, placement)
        if refused:
            print(refused[0])
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

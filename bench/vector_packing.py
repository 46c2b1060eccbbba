"""Vector bin packing with known optima: the fewest bins for all items, against the optima and the best heuristics.

    python bench/vector_packing.py --data DIR [--every 21] [--seconds 60] [--set New] [--json]

DIR has ``vbp_vectorpack``, the sets Panigrahy, New and Triplet of Vectorpack/experiments_vector_paper (GANGPROOF_DATA
names it, too). Of the instances whose optimum is known, sorted by set and name, every 21st is placed: an item is a gang
of one pod, a bin is a node. An instance is matched where all items are on as many nodes as the optimum has bins.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from reference.cluster import Application, Cluster, Node, Queue, QueueTree, Resources, TaskGroup  # noqa: E402
from reference.validate import validate  # noqa: E402
from solver_placement import solve  # noqa: E402

SETS = ("Panigrahy", "New", "Triplet")


@dataclass(frozen=True)
class Instance:
    """One instance, with the bins of the optimum and of the best published heuristic."""

    set_name: str
    name: str
    optimum: int
    heuristic: int
    text: str

    @property
    def group(self) -> str:
        """Set and class, such as ``New class3``."""
        return f"{self.set_name} {self.name.partition('_')[0]}"

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.name.split("_")[1])

    def cluster(self) -> Cluster:
        """One node more than the best heuristic has bins, and a gang of one pod for each item."""
        lines = [[int(token) for token in line.split()] for line in self.text.splitlines() if line.strip()]
        capacity = Resources({f"dimension{d:02}": amount for d, amount in enumerate(lines[1])})
        apps: list[Application] = []
        for *sizes, count in lines[3:]:
            size = Resources({f"dimension{d:02}": amount for d, amount in enumerate(sizes)})
            for _ in range(count):
                apps.append(Application(f"item{len(apps):04}", "root", (TaskGroup("item", 1, size),)))
        nodes = tuple(Node(f"bin{b:04}", capacity) for b in range(self.heuristic + 1))
        return Cluster(nodes, QueueTree(Queue("root")), tuple(apps))


def instances(data: Path, sets: list[str]) -> Iterator[Instance]:
    """The instances with a known optimum, sorted by set and name."""
    for set_name in sorted(sets):
        folder = data / "vbp_vectorpack"
        with tarfile.open(folder / f"{set_name}_instances.tar.gz") as archive:
            files = {Path(m.name).stem: m for m in archive.getmembers() if m.name.endswith(".vbp")}
            table = (folder / f"{set_name}_summary_known.csv").read_text().splitlines()
            for row in sorted(csv.DictReader(table, delimiter="\t"), key=lambda row: row["instance_name"]):
                if int(row["OPT"]) < 0:
                    continue
                name = row["instance_name"]
                opened = archive.extractfile(files[name])
                assert opened is not None, name
                yield Instance(set_name, name, int(row["OPT"]), int(row["best_overall"]), opened.read().decode())


def main() -> int:
    """Places every n-th instance. Exit status 1 where a class has no more matches than the best heuristic."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=Path(os.environ.get("GANGPROOF_DATA", "data")))
    options.add_argument("--every", type=int, default=21)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--set", choices=SETS, action="append")
    options.add_argument("--most-items", type=int, default=10**6)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    every = list(instances(chosen.data, chosen.set or list(SETS)))[:: chosen.every]
    rows: dict[str, dict[str, int]] = {}
    for each in every:
        if each.items > chosen.most_items:
            continue
        cluster = each.cluster()
        answer = solve(cluster, time_limit=chosen.seconds)
        whole = len(answer.placement.admitted) == len(cluster.applications)
        if validate(cluster, answer.placement):
            raise AssertionError(f"{each.name}: the judge refuses the placement")
        if whole and answer.objective.nodes < each.optimum:
            raise AssertionError(f"{each.name}: {answer.objective.nodes} bins, the published optimum is {each.optimum}")
        row = rows.setdefault(each.group, dict.fromkeys(("instances", "matched", "proved", "heuristic"), 0))
        matched = whole and answer.objective.nodes == each.optimum
        row["instances"] += 1
        row["matched"] += matched
        row["proved"] += matched and answer.nodes_bound == each.optimum
        row["heuristic"] += each.heuristic == each.optimum
        if not chosen.json:
            found = answer.objective.nodes if whole else None
            shown = f"{each.group:20} {each.name:24} optimum {each.optimum:4} found {found} bound {answer.nodes_bound}"
            print(f"{shown} heuristic {each.heuristic} {answer.seconds:.1f} s", flush=True)
    print(json.dumps(rows, indent=2) if chosen.json else "\n".join(f"{name}: {row}" for name, row in rows.items()))
    return int(any(row["matched"] < row["heuristic"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())

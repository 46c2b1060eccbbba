"""How near to its bound the placement of large clusters gets, HiGHS and plain CP-SAT beside it in the same run.

    python bench/place.py --data DIR [--case NAME] [--seeds 1,2] [--peers] [--stretch N] [--json]

DIR has the folder ``openb`` with the tables of Alibaba's cluster-trace-gpu-v2023 (GANGPROOF_DATA names it, too); cases
without openb need none. Each case runs on five seeds, each in a process of its own, and the worst is reported beside
what is aimed at. The judge looks at every placement. A gap means something only where not everything fits: the weight
submitted has to be 1.1 times the bound. ``--stretch`` lengthens the time limits where other work has the machine; CPU
seconds are then held against the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import placement_inputs as inputs  # noqa: E402  after the path is set
import placement_peers as peers  # noqa: E402

from reference.validate import validate  # noqa: E402
from solver_placement import solve  # noqa: E402
from solver_placement.reduction import reduce_cluster  # noqa: E402

Json = dict[str, Any]
LOAD = Fraction(11, 10)


@dataclass(frozen=True)
class Case:
    """An input, and what is aimed at: gap (a fraction of the bound), seconds, megabytes."""

    make: inputs.Input
    gap: Fraction
    seconds: int
    megabytes: int = 8000


CASES = {
    "openb": Case(inputs.openb, Fraction(1, 10_000), 30, 500),
    "gpu-models": Case(inputs.gpu_models, Fraction(1, 1000), 60),
    "filled-30": Case(inputs.filled(30), Fraction(1, 1000), 60),
    "filled-60": Case(inputs.filled(60), Fraction(1, 1000), 60),
    "filled-80": Case(inputs.filled(80), Fraction(1, 1000), 60),
    "shared-gpus": Case(inputs.shared, Fraction(1, 100), 120),
    "queues": Case(inputs.queues, Fraction(1, 1000), 60),
    "racks": Case(inputs.racks, Fraction(2, 100), 120),
    "mixed-1000x200": Case(inputs.mixed(1_000, 200, 25), Fraction(0), 10),
    "mixed-50000x10000": Case(inputs.mixed(50_000, 10_000, 40), Fraction(1, 100), 600),
}


def one(name: str, seed: int, data: Path, stretch: int, engine: str) -> Json:
    """One run of one engine in this process."""
    case = CASES[name]
    cluster = case.make(data, seed)
    limit = case.seconds * stretch
    if engine != "gangproof":
        return peers.run(engine, reduce_cluster(cluster), limit)
    began, cpu = time.monotonic(), time.process_time()
    solution = solve(cluster, time_limit=limit, fewest_nodes=False)
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    submitted = sum(app.weight for app in cluster.applications)
    return {
        "case": name,
        "seed": seed,
        "objective": solution.objective.weight,
        "bound": solution.bound,
        "gap": float(solution.gap),
        "load": round(submitted / solution.bound, 3),
        "status": solution.status.value,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "refusals": len(validate(cluster, solution.placement)),
    }


def missed(row: Json, stretch: int) -> list[str]:
    """What of the aims one run does not reach."""
    case = CASES[row["case"]]
    seconds = row["seconds"] if stretch == 1 else row["cpu_seconds"]
    # a second for what comes before and after the search
    checks = {
        "gap": Fraction(row["bound"] - row["objective"], row["bound"]) <= case.gap,
        "seconds": seconds <= case.seconds + 1,
        "megabytes": row["megabytes"] <= case.megabytes,
        "load": Fraction(row["load"]) >= LOAD,
        "judge": row["refusals"] == 0,
    }
    return [name for name, held in checks.items() if not held]


def child(name: str, seed: int, data: Path, stretch: int, engine: str) -> Json:
    """One run in a process of its own."""
    command = [sys.executable, __file__, "--one", engine, "--case", name, "--seeds", str(seed)]
    command += ["--data", str(data), "--stretch", str(stretch)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # HiGHS prints who it is
    answer: Json = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> int:
    """Runs the cases. Exit status 1 where the worst seed of one misses an aim."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--case", choices=CASES, action="append")
    options.add_argument("--seeds", default="1,2,3,4,5")
    options.add_argument("--data", type=Path, default=Path(os.environ.get("GANGPROOF_DATA", "data")))
    options.add_argument("--stretch", type=int, default=1)
    options.add_argument("--peers", action="store_true")
    options.add_argument("--json", action="store_true")
    options.add_argument("--one", choices=("gangproof", *peers.ENGINES), help=argparse.SUPPRESS)
    chosen = options.parse_args()
    seeds = [int(seed) for seed in chosen.seeds.split(",")]
    if chosen.one:
        print(json.dumps(one(chosen.case[0], seeds[0], chosen.data, chosen.stretch, chosen.one)))
        return 0
    rows: list[Json] = []
    failed = False
    for name in chosen.case or CASES:
        runs = [child(name, seed, chosen.data, chosen.stretch, "gangproof") for seed in seeds]
        worst = max(runs, key=lambda row: (bool(missed(row, chosen.stretch)), row["gap"], row["cpu_seconds"]))
        row = {**worst, "missed": sorted({each for run in runs for each in missed(run, chosen.stretch)})}
        row["all_gaps"] = [round(run["gap"], 6) for run in runs]
        for engine in peers.ENGINES if chosen.peers else ():
            theirs = child(name, worst["seed"], chosen.data, chosen.stretch, engine)
            row[engine] = theirs
            if theirs.get("seconds"):
                row[f"{engine} ratio"] = round(theirs["seconds"] / max(worst["seconds"], 0.1), 1)
        failed |= bool(row["missed"])
        rows.append(row)
        if not chosen.json:
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if chosen.json:
        print(json.dumps(rows, indent=2))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

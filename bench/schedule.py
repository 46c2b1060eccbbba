"""The reference of Ray's scheduler against the real one, on the same problems in the same run.

    python bench/schedule.py [--case NAME] [--repeat N] [--json]

Where ``make peer-ray`` has installed Ray (or GANGPROOF_RAY names a Python that has it), each answer must be the same,
and the ratio is printed with what is aimed at; without Ray, only our own seconds. Seconds are of the decision alone,
the best of ``--repeat`` for ours and one run for Ray's, which can take minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from reference.manifests.document import json_field  # noqa: E402  after the path is set
from reference.schedulers.ray import read_problem, reply_json, schedule  # noqa: E402

Json = dict[str, Any]
AIM = 20
"""How many times faster than Ray the reference is meant to be."""


def types(most: int = 100_000) -> Json:
    """Ten node types, four of them with GPUs."""
    made: Json = {}
    for index in range(10):
        cpus = (4, 8, 16, 32, 64)[index % 5]
        resources = {"CPU": cpus, "memory": cpus * 4 * 2**30}
        if index >= 6:
            resources["GPU"] = (1, 2, 4, 8)[index - 6]
        made[f"type-{index}"] = {"resources": dict(sorted(resources.items())), "max": most}
    return made


def shapes(count: int, random_: random.Random) -> list[Json]:
    """Different bundles: CPUs and memory, every fifth with a GPU."""
    found: dict[str, Json] = {}
    while len(found) < count:
        bundle: Json = {"CPU": random_.randint(1, 16), "memory": random_.randint(1, 64) * 2**28}
        if len(found) % 5 == 0:
            bundle["GPU"] = 1
        found.setdefault(json.dumps(bundle), dict(sorted(bundle.items())))
    return list(found.values())


def identical() -> Json:
    """10,000 requests that are alike."""
    return {"node_types": types(), "requests": [{"resources": {"CPU": 3, "memory": 2**30}, "count": 10_000}]}


def fifty_shapes() -> Json:
    """10,000 requests of 50 shapes, on new nodes."""
    drawn = shapes(50, random.Random(1))
    return {"node_types": types(), "requests": [{"resources": each, "count": 200} for each in drawn]}


def idle_nodes(count: int = 1_000) -> Json:
    """1,000 requests of 50 shapes over nodes that run and are idle, each by another time."""
    made = types(count)
    nodes = [{"id": f"i{n}", "type": f"type-{n % 10}", "idle_ms": n, "labels": {"node": str(n)}} for n in range(count)]
    requests = [{"resources": each, "count": 20} for each in shapes(50, random.Random(2))]
    return {"node_types": made, "instances": nodes, "requests": requests, "idle_timeout_s": 0}


def gangs() -> Json:
    """100 gangs of 8, one to a node, over 200 nodes in use."""
    nodes = [{"id": f"i{n}", "type": f"type-{n % 5}", "available": {"CPU": n % 4, "memory": 2**34}} for n in range(200)]
    wanted = [{"id": f"g{n}", "strategy": "STRICT_SPREAD", "bundles": [{"CPU": 1 + n % 4}] * 8} for n in range(100)]
    return {"node_types": types(), "instances": nodes, "gangs": wanted}


CASES: dict[str, Callable[[], Json]] = {
    "identical": identical,
    "fifty-shapes": fifty_shapes,
    "idle-nodes": idle_nodes,
    "gangs": gangs,
}


def ray_python() -> str | None:
    """The Python of an environment with Ray, None where there is none."""
    named = os.environ.get("GANGPROOF_RAY") or str(HERE.parent / ".venv" / "peer-ray" / "bin" / "python")
    return named if Path(named).exists() else None


def by_ray(python: str, problem: Json) -> Json:
    """The real scheduler's answer."""
    command = [python, str(HERE / "ray_peer.py")]
    done = subprocess.run(command, input=json.dumps(problem) + "\n", capture_output=True, text=True, check=True)
    answer: Json = json.loads(done.stdout)
    return answer


def comparable(answer: Json) -> Json:
    """What has to be the same: numbers of nodes launched, terminated nodes, what is infeasible, and where all goes."""
    kept = {key: answer[key] for key in ("to_launch", "to_terminate", "infeasible_gangs", "placement")}
    infeasible = [json.dumps(each, sort_keys=True) for each in answer["infeasible_requests"]]
    return {**kept, "infeasible_requests": sorted(infeasible)}


def main() -> int:
    """Runs the cases. Exit status 1 where an answer differs or a ratio is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--case", choices=CASES, action="append")
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    python = ray_python()
    if python is None:
        print("Ray is not installed (make peer-ray): our own seconds only", file=sys.stderr)
    rows = []
    for name in chosen.case or CASES:
        problem = CASES[name]()
        request = read_problem(json_field(json.dumps(problem), name))
        seconds = []
        for _ in range(chosen.repeat):
            started = time.perf_counter()
            reply = schedule(request)
            seconds.append(time.perf_counter() - started)
        row: Json = {"case": name, "ours": round(min(seconds), 4)}
        if python is not None:
            theirs = by_ray(python, problem)
            same = comparable(reply_json(reply)) == comparable(theirs)
            row |= {"ray": round(theirs["seconds"], 3), "version": theirs["ray_version"], "same": same}
            row["ratio"] = round(theirs["seconds"] / min(seconds), 1)
        rows.append(row)
        if not chosen.json:
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if chosen.json:
        print(json.dumps(rows, indent=2))
    return int(any(not row.get("same", True) or row.get("ratio", AIM) < AIM for row in rows))


if __name__ == "__main__":
    sys.exit(main())

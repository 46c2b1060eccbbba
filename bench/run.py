"""The speed benchmark: the gang model at three sizes, here, in Spin and in plain Python, all measured in one run.

    python bench/run.py [--sizes S,M,L] [--repeat N] [--json]

Wall and CPU seconds, the best of ``--repeat`` runs, and memory. Every tool must find the same states. A peer that is
not installed is left out, and said so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

SIZES = {
    "S": {"apps": 4, "size": 3, "nodes": 2, "capacity": 4, "quota": 7},
    "M": {"apps": 5, "size": 3, "nodes": 2, "capacity": 4, "quota": 8},
    "L": {"apps": 5, "size": 2, "nodes": 3, "capacity": 4, "quota": 8},
}
STATES = {"S": 90_428, "M": 939_194, "L": 8_180_824}


@dataclass(frozen=True)
class Run:
    """One tool on one size. ``memory`` in bytes: the tool's own account where it has one, else the process's peak."""

    tool: str
    states: int
    wall: float
    cpu: float
    memory: float


def processor() -> str:
    """What this runs on."""
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} cores"
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def child(command: list[str], cwd: Path | None = None) -> tuple[str, float, float, float]:
    """Output, wall and CPU seconds, and peak memory in bytes of a command."""
    with tempfile.TemporaryFile("w+") as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{text}")
    return text, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024.0


def ours(threads: int) -> Callable[[str], Run]:
    """The explorer's search alone, by number of threads, with its own account of memory."""

    def run(size: str) -> Run:
        command = [sys.executable, str(HERE / "worker.py"), str(threads), "0", *map(str, SIZES[size].values())]
        found = json.loads(child(command)[0])
        name = f"gangproof, {threads} thread{'s' if threads > 1 else ''}"
        return Run(name, found["states"], found["wall"], found["cpu"], found["peak"])

    return run


def new_process(size: str) -> Run:
    """The explorer in a new process, all in: imports, compilation, search, verdict."""
    command = [sys.executable, str(HERE / "worker.py"), "2", "0", *map(str, SIZES[size].values())]
    text, *measured = child(command)
    return Run("gangproof, new process, all in", json.loads(text)["states"], *measured)


def spin(*flags: str) -> Callable[[str], Run]:
    """Spin's exact search, compiled with ``flags``; compilation not counted."""
    from promela import promela

    def run(size: str) -> Run:
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory)
            (folder / "gang.pml").write_text(promela(**SIZES[size]))
            subprocess.run(["spin", "-a", "gang.pml"], cwd=folder, check=True, capture_output=True)
            options = ["-O3", "-w", "-DSAFETY", "-DNOFAIR", "-DNOREDUCE", *flags]
            subprocess.run(["gcc", *options, "-o", "pan", "pan.c"], cwd=folder, check=True)
            text, *measured = child(["./pan", "-m100000", "-w24"], cwd=folder)
        found = re.search(r"(\d+) states, stored", text)
        if found is None or "errors: 0" not in text:
            raise SystemExit(f"spin said:\n{text}")
        return Run(f"spin {' '.join(flags)}".strip(), int(found[1]), *measured)

    return run


def plain(size: str) -> Run:
    """Plain Python in a new process."""
    command = [sys.executable, str(HERE / "plain.py"), *map(str, SIZES[size].values())]
    text, _, cpu, memory = child(command)
    states, _, _, seconds = text.split()
    return Run("plain Python", int(states), float(seconds), cpu, memory)


def best(run: Callable[[str], Run], size: str, repeat: int) -> Run:
    """The fastest of some runs, which must have found all states."""
    runs = [run(size) for _ in range(repeat)]
    for each in runs:
        if each.states != STATES[size]:
            raise SystemExit(f"{each.tool} found {each.states} states at size {size}, expected {STATES[size]}")
    return min(runs, key=lambda r: r.wall)


def peers() -> tuple[list[tuple[Callable[[str], Run], str]], list[str]]:
    """What can be compared with here, each with the sizes it is run on; and what cannot, in words."""
    # Plain Python takes minutes at L.
    found: list[tuple[Callable[[str], Run], str]] = [(plain, "SM")]
    missing = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]
    if missing:
        return found, [f"Spin is left out: {' and '.join(missing)} not installed"]
    return [(spin(), "SML"), (spin("-DBFS"), "SML"), *found], []


def table(size: str, ours_: list[Run], others: list[Run]) -> list[str]:
    """The runs of one size, and how many times longer each peer took than our fastest and than one thread."""
    head = f"size {size}: {STATES[size]:,} states"
    lines = ["", head, f"  {'tool':<32}{'wall s':>9}{'CPU s':>9}{'MB':>8}{'B/state':>9}   times longer"]
    for run in (*ours_, *others):
        figures = f"{run.wall:9.3f}{run.cpu:9.2f}{run.memory / 1e6:8.1f}{run.memory / run.states:9.1f}"
        ratios = "" if run in ours_ else "   " + ", ".join(f"{run.wall / o.wall:.1f} ({o.tool})" for o in ours_[:2])
        lines.append(f"  {run.tool:<32}{figures}{ratios}")
    return lines


def compilation() -> list[dict[str, float]]:
    """How long specs of more and more actions take to compile."""
    from growing import growing

    from model.explore.codegen.native import Native
    from model.explore.packing import pack

    found: list[dict[str, float]] = []
    for actions in (10, 20, 40, 80):
        machine = growing(actions)
        started = time.process_time()
        program = pack(machine)
        native = Native(program)
        first = time.process_time() - started
        native.improve()
        better = time.process_time() - started - first
        found.append(
            {
                "actions": actions,
                "instances": len(program.instances),
                "cells": len(program.layout.fields),
                "first": round(first, 3),
                "better": round(better, 3),
            }
        )
    return found


def arguments(description: str) -> tuple[argparse.Namespace, list[str]]:
    """The command line's options, and the names of the sizes to run."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--sizes", default="S,M,L", help=f"which of {', '.join(SIZES)}, with commas between")
    parser.add_argument("--repeat", type=int, default=3, help="rounds; the best of each tool counts")
    parser.add_argument("--json", action="store_true", help="all as JSON")
    options = parser.parse_args()
    sizes = options.sizes.split(",")
    if unknown := [s for s in sizes if s not in SIZES]:
        parser.error(f"--sizes takes {', '.join(SIZES)}, found {', '.join(unknown)}")
    return options, sizes


def main() -> None:
    """Measure and print."""
    options, sizes = arguments("The gang model at three sizes: gangproof, Spin and plain Python.")
    # Compilation is measured too: code of earlier runs has no part in this.
    os.environ["GANGPROOF_CACHE"] = ""
    others, notes = peers()
    if not options.json:
        print(processor(), *notes, sep="\n", flush=True)
    results: dict[str, list[dict[str, object]]] = {}
    for size in sizes:
        mine = [best(run, size, options.repeat) for run in (ours(1), ours(2), new_process)]
        repeat = 1 if size == "L" else options.repeat
        theirs = [best(run, size, repeat) for run, run_on in others if size in run_on]
        results[size] = [asdict(run) for run in (*mine, *theirs)]
        if not options.json:
            print(*table(size, mine, theirs), sep="\n", flush=True)
    # Last: what it imports makes this process large, and a child's peak of memory is never below its parent's.
    growth = compilation()
    if options.json:
        found = {"processor": processor(), "left_out": notes, "sizes": results, "compilation": growth}
        print(json.dumps(found, indent=2))
    else:
        print(
            "",
            "compilation, CPU seconds until the search starts, and of the better code that follows if it lasts",
            sep="\n",
        )
        for c in growth:
            size = f"{c['actions']} actions, {c['instances']} instances, {c['cells']} cells"
            print(f"  {size:<48}{c['first']:7.2f}{c['better']:8.2f}")


if __name__ == "__main__":
    main()

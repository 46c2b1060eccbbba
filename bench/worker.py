"""One exploration in a process of its own, told as JSON.

``worker.py THREADS SYMMETRY APPS SIZE NODES CAPACITY QUOTA``; SYMMETRY is 0 or 1.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def measure(threads: int, symmetry: bool, parameters: list[int]) -> dict[str, float]:
    """States, wall and CPU seconds of the search alone, seconds of compilation, most bytes in use and those in use when
    it is done."""
    from model.explore import Exploration
    from specs.gang import gang

    machine = gang(*parameters)
    before = time.process_time()
    exploration = Exploration(machine, threads=threads, symmetry=symmetry)
    cpu = time.process_time() - before
    coverage = exploration.verdict.coverage
    return {
        "states": coverage.distinct_states,
        "wall": coverage.seconds,
        "cpu": cpu,
        "compile": coverage.compile_seconds,
        "peak": exploration.search.peak_memory,
        "after": exploration.search.memory,
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), bool(int(sys.argv[2])), [int(x) for x in sys.argv[3:]])))

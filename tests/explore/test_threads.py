"""Numbers of threads that are refused, and what ends a search between the start of its threads and their first meeting:
it is raised, and nothing waits for a thread that never comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from model.explore import Exploration, explore, simulate
from model.explore.codegen.native import Native
from model.explore.packing import pack
from model.explore.search.limits import Limits
from model.explore.search.search import Search
from specs.gang import gang

ROOT = Path(__file__).resolve().parent.parent.parent

RAISING = """
import sys
from concurrent.futures import ThreadPoolExecutor
from model.explore import explore
from model.explore.search import search
from specs.gang import gang

which, after = int(sys.argv[1]), sys.argv[2] == "after"

class Failing(ThreadPoolExecutor):
    submitted = 0

    def submit(self, *arguments):
        self.submitted += 1
        if self.submitted < which:
            return super().submit(*arguments)
        if after:
            super().submit(*arguments)
        raise KeyboardInterrupt("in the wrong moment")

search.ThreadPoolExecutor = Failing
search._ALONE = 0
try:
    explore(gang(), threads=4)
except KeyboardInterrupt as error:
    print(error)
"""


@pytest.mark.parametrize("after", ["before", "after"])
@pytest.mark.parametrize("which", [1, 2, 3])
def test_what_is_raised_while_threads_are_started_ends_the_search(which: int, after: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RAISING, str(which), after],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "in the wrong moment\n"


@pytest.mark.parametrize("threads", [0, -1])
def test_no_threads(threads: int) -> None:
    said = f"threads is at least 1, found {threads}"
    with pytest.raises(ValueError, match=said):
        explore(gang(), threads=threads)
    with pytest.raises(ValueError, match=said):
        Exploration(gang(), threads=threads)
    with pytest.raises(ValueError, match=said):
        simulate(gang(), threads=threads)
    program = pack(gang())
    with pytest.raises(ValueError, match=said):
        Search(program, Native(program), Limits(), threads=threads)

"""Lines of Ray's instance manager: runs of the reference's autoscaler conform, and what is spoilt is refused."""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from ray_lines import lines_of

from model.conform import Conformance, Ending, conform
from model.errors import FileError
from model.language import Machine
from specs.loading import build_spec
from specs.logs import read as read_file
from specs.ray import Edition
from specs.ray.log import read

SCOPES: dict[str, dict[str, Any]] = {
    "current": {"instances": 2, "jobs": 1},
    "seed": {"edition": Edition.SEED, "crash": False, "instances": 2, "jobs": 1},
    "kuberay": {"kuberay": True, "instances": 3, "min_workers": 1},
}
STATUSES = "QUEUED REQUESTED ALLOCATED RAY_INSTALLING RAY_RUNNING RAY_STOP_REQUESTED RAY_STOPPED TERMINATING TERMINATED"
HEAD = "2001-09-09 01:46:40,000\tINFO x -- New instance ALLOCATED (id=h, type=head, cloud_instance_id=, ray_id=): "
HEAD += "allocated unmanaged worker cloud instance from ray node: h"


@functools.cache
def machine_for(name: str) -> Machine:
    return build_spec("ray", {"errors": True, **SCOPES[name]})


def spoilt(lines: list[str], how: str, chance: random.Random) -> list[str]:
    """One line dropped, swapped with the next, doubled, or telling of another status."""
    lines = list(lines)
    at = chance.randrange(len(lines) - 1)
    if how == "dropped":
        del lines[at]
    elif how == "swapped":
        lines[at : at + 2] = reversed(lines[at : at + 2])
    elif how == "doubled":
        lines.insert(at, lines[at])
    else:
        (told,) = re.findall(r"(?:->|New instance )(\w+)", lines[at])
        other = chance.choice([s for s in STATUSES.split() if s != told])
        lines[at] = re.sub(rf"(->|New instance ){told}", rf"\1{other}", lines[at])
    return lines


def run(name: str, lines: list[str]) -> Conformance:
    machine = machine_for(name)
    return conform(machine, read(machine, lines, "monitor.log"))


@pytest.mark.parametrize(("name", "seeds"), [("current", 3), ("seed", 1), ("kuberay", 1)])
def test_runs_of_the_reference_conform(name: str, seeds: int) -> None:
    for seed in range(seeds):
        lines = lines_of(machine_for(name), random.Random(seed), 40)
        found = run(name, lines)
        assert found.ending is Ending.CONFORMS, found.divergence
        assert found.matched >= len(lines) > 5


@pytest.mark.slow
@pytest.mark.parametrize("name", SCOPES)
def test_long_runs_of_the_reference_conform(name: str) -> None:
    for seed in range(40):
        found = run(name, [HEAD, *lines_of(machine_for(name), random.Random(seed), 80)])
        assert found.ending is Ending.CONFORMS, (seed, found.divergence)


@pytest.mark.slow
def test_how_many_spoilt_runs_are_refused() -> None:
    """What is not refused is a run that Ray may take; see docs/conformance.md."""
    refused: Counter[str] = Counter()
    runs = 0
    for seed in range(30):
        chance = random.Random(seed)
        lines = lines_of(machine_for("current"), chance, 40)
        if len(lines) < 4:
            continue
        runs += 1
        for how in ("dropped", "swapped", "doubled", "altered"):
            refused[how] += run("current", spoilt(lines, how, chance)).ending is Ending.DIVERGES
    assert runs == 30
    assert refused == {"dropped": 28, "swapped": 23, "doubled": 30, "altered": 30}


@pytest.mark.parametrize("how", ["doubled", "altered"])
def test_a_spoilt_run_is_refused(how: str) -> None:
    chance = random.Random(1)
    lines = lines_of(machine_for("current"), chance, 30)
    assert run("current", spoilt(lines, how, chance)).ending is Ending.DIVERGES


def told(second: int, what: str, instance: str = "a", handler: str = "\tINFO im.py:263 -- ") -> str:
    when = f"2001-09-09 01:46:{second:02d},088"
    return f"{when}{handler}{what} (id={instance}, type=w, cloud_instance_id=, ray_id=): why"


def test_what_both_handlers_write_is_read_once() -> None:
    lines = [
        told(45, what, handler=handler)
        for what in ("New instance QUEUED", "Update instance QUEUED->REQUESTED")
        for handler in (" - INFO - ", "\tINFO im.py:263 -- ")
    ]
    found = run("current", [HEAD, *lines])
    assert (found.ending, found.records) == (Ending.CONFORMS, 2)


def test_a_loop_that_failed_is_a_gap() -> None:
    """Its lines may have taken effect or not; what follows is judged with both."""
    lines = [told(45, "New instance QUEUED"), "2001 ERROR Invalid status transition from QUEUED to QUEUED"]
    for next_line in ("New instance QUEUED", "Update instance QUEUED->REQUESTED"):
        assert run("current", [*lines, told(50, next_line)]).ending is Ending.CONFORMS
    assert run("current", [lines[0], told(50, "New instance QUEUED")]).ending is Ending.DIVERGES


def test_an_ended_instance_leaves_its_row() -> None:
    """With two rows, a third instance is too many until the next loop after one has ended."""
    machine = build_spec("ray", {"instances": 2, "jobs": 2})
    both = [told(45, "New instance QUEUED", i) for i in "ab"]
    lines = [*both, told(50, "New instance QUEUED", "c")]
    with pytest.raises(FileError, match="line 3: 'c' is one Instance more than the spec has"):
        conform(machine, read(machine, lines, "monitor.log"))


def test_a_file_is_known_by_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "monitor.log"
    path.write_text("something else\n" + told(45, "New instance QUEUED") + "\n")
    assert len(read_file(machine_for("current"), path).records) == 1
    with pytest.raises(FileError, match="a log of ray, expected one of gang"):
        read_file(build_spec("gang", {}), path)
    path.write_text("nothing of the kind\n")
    with pytest.raises(FileError, match="no line tells of an instance"):
        read_file(machine_for("current"), path, "ray")
    path.write_text(told(45, "New instance QUEUED").removeprefix("2001-09-09 "))
    with pytest.raises(FileError, match=r"line 1: .* expected a time"):
        read_file(machine_for("current"), path)

"""States on disk instead of in memory: the same answers, within the budget, and nothing left behind."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from model.explore import Exploration, Saving, SpillError
from model.explore.search import memory, spill
from model.explore.search.memory import Array
from model.verdict import Outcome
from specs.gang import gang
from specs.loading import load_spec

MEDIUM = {"apps": 5, "size": 3, "nodes": 2, "capacity": 4, "quota": 8}


@pytest.fixture(scope="module")
def whole() -> Exploration:
    return Exploration(gang(**MEDIUM))


def assert_same(one: Exploration, other: Exploration) -> None:
    """Verdicts and counts, and traces of the same lengths: when states are moved decides in which order others are
    found, and so which of several shortest traces is told."""
    for p, q in zip(one.verdict.properties, other.verdict.properties, strict=True):
        assert (p.name, p.outcome, p.how) == (q.name, q.outcome, q.how)
        assert (p.trace and len(p.trace)) == (q.trace and len(q.trace))
    assert one.verdict.coverage.actions == other.verdict.coverage.actions
    assert (np.bincount(one.distances) == np.bincount(other.distances)).all()


def packed(of: Exploration) -> NDArray[np.uint64]:
    """The states, of one word each, in order."""
    assert of.program.layout.words == 1
    return np.sort(np.concatenate([s.states[:, 0] for s in of.search.shards]))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("megabytes", [6, 8, 10])
def test_the_same_answers_in_less_memory(tmp_path: Path, whole: Exploration, megabytes: int, threads: int) -> None:
    budget = megabytes << 20
    assert Exploration(gang(**MEDIUM), max_memory=budget).verdict.outcome is Outcome.UNKNOWN
    run = Exploration(gang(**MEDIUM), max_memory=budget, spill=tmp_path, threads=threads)
    assert run.search.peak_memory <= budget
    assert run.search.growth.spilled > 0
    assert_same(run, whole)
    assert (packed(run) == packed(whole)).all()
    assert list(tmp_path.iterdir()) == []


def test_traces_and_goals_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page of states is moved as soon as it can be; traces and steps backwards then read from the file."""
    from model.explore.search.growth import Growth

    monkeypatch.setattr(Growth, "_crowded", property(lambda self: self._move() and False))
    monkeypatch.setattr("model.explore.search.growth._LEAST", 0)
    machine = load_spec("yunikorn", ("edition=seed", "apps=3"))
    run, plain = Exploration(machine, spill=tmp_path), Exploration(machine)
    assert run.search.growth.spilled > run.search.count * 4
    assert_same(run, plain)


def test_where_tables_alone_are_too_large(tmp_path: Path) -> None:
    run = Exploration(gang(**MEDIUM), max_memory=3 << 20, spill=tmp_path)
    assert run.verdict.outcome is Outcome.UNKNOWN
    assert run.search.peak_memory <= 3 << 20
    assert run.verdict.coverage.budget == f"memory budget of {3 << 20:,} bytes ran out"


def test_a_checkpoint_of_states_on_disk_and_back(tmp_path: Path, whole: Exploration) -> None:
    path, budget, asked = tmp_path / "run", 9 << 20, 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 90

    part = Exploration(gang(**MEDIUM), max_memory=budget, spill=tmp_path, stop=stop, saving=Saving(path))
    assert part.search.growth.spilled > 0
    assert not part.verdict.coverage.complete
    for more in ({}, {"max_memory": budget, "spill": tmp_path}):
        again = Exploration(gang(**MEDIUM), resume=path, **more)  # type: ignore[arg-type]
        assert_same(again, whole)


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spill.os, "pwrite", full)
    run = Exploration(gang(**MEDIUM), max_memory=8 << 20, spill=tmp_path)
    said = f"memory budget of {8 << 20:,} bytes ran out, and states could not be moved to {tmp_path}: "
    assert run.verdict.coverage.budget == f"{said}No space left on device"
    assert run.verdict.outcome is Outcome.UNKNOWN


def test_directories_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place, why in ((tmp_path / "none", "No such file or directory"), (tmp_path / "file", "Not a directory")):
        with pytest.raises(SpillError, match=f"cannot be moved to {place}: {why}"):
            Exploration(gang(), spill=place)


def test_an_array_grows_in_place_and_its_beginning_may_be_a_file(tmp_path: Path) -> None:
    page = mmap.PAGESIZE
    array = Array(page, memory.reserve(beyond=True))
    address = array.address
    for pages in (2, 100, 5000):
        array.grow(pages * page)
        assert array.address == address
    words = array.view(4 * page // 8)
    words[:] = np.arange(len(words))
    file = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    os.pwrite(file, np.arange(7, 7 + page // 8, dtype=np.uint64).tobytes(), page)
    array.replace(page, 2 * page, file)
    os.close(file)
    assert words[: page // 8].tolist() == list(range(page // 8))
    assert words[page // 8 : 2 * page // 8].tolist() == list(range(7, 7 + page // 8))
    assert words[2 * page // 8 :].tolist() == list(range(2 * page // 8, 4 * page // 8))
    array.grow(6000 * page)
    assert array.view(6000 * page // 8)[-1] == 0


@pytest.mark.parametrize("reserved", [0, 1])
def test_an_array_without_reserve_moves(monkeypatch: pytest.MonkeyPatch, reserved: int) -> None:
    monkeypatch.setattr(memory, "_addresses_count", lambda: True)
    array = Array(mmap.PAGESIZE, reserved << 30)
    array.view(10)[:] = np.arange(10)
    array.grow(1 << 24)
    assert array.view(10).tolist() == list(range(10))
    assert array.view(1 << 21)[-1] == 0
    with pytest.raises(MemoryError, match="could not be mapped"):
        array.grow(1 << 60)

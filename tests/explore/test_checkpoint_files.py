"""Files and places of checkpoints that are no good: what is noticed, told, and left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from checkpointing import SMALL, after, interrupted, resume, sized

from model.explore import INTERRUPTED, CheckpointError, Exploration, Saving
from model.explore.codegen.native import Native
from model.explore.packing import PackedProgram, pack
from model.explore.search import checkpoint, search
from model.explore.search.limits import Limits
from model.language import Expr, Machine, all_
from model.verdict import Outcome
from specs.gang import gang
from specs.loading import load_spec

# ---- files that are no good


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.checkpoint"
    interrupted(sized(), path, 6)
    return path


@pytest.fixture(scope="module")
def compiled() -> tuple[PackedProgram, Native]:
    program = pack(sized())
    return program, Native(program)


def test_any_flipped_bit_is_noticed(good: Path, compiled: tuple[PackedProgram, Native]) -> None:
    data = good.read_bytes()
    checkpoint.read(good, search.Search(*compiled, Limits()))
    places = {*range(40), *range(40, len(data), len(data) // 60), *range(len(data) - 40, len(data))}
    for place in sorted(places):
        good.write_bytes(data[:place] + bytes([data[place] ^ (1 << place % 8)]) + data[place + 1 :])
        with pytest.raises(CheckpointError, match=r"is damaged|is not a checkpoint of gangproof|has format"):
            checkpoint.read(good, search.Search(*compiled, Limits()))


def test_any_missing_or_added_byte_is_noticed(good: Path, compiled: tuple[PackedProgram, Native]) -> None:
    data = good.read_bytes()
    for size in {0, 1, 20, 22, 23, 30, 31, 400, *range(500, len(data), len(data) // 20), len(data) - 1}:
        good.write_bytes(data[:size])
        with pytest.raises(CheckpointError, match=r"is damaged|is not a checkpoint of gangproof|has format"):
            checkpoint.read(good, search.Search(*compiled, Limits()))
    good.write_bytes(data + b"x")
    with pytest.raises(CheckpointError, match=r"damaged: it has [\d,]+ bytes instead of [\d,]+$"):
        checkpoint.read(good, search.Search(*compiled, Limits()))


def test_a_checkpoint_of_something_else(good: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"is a checkpoint of gang apps=4 .* not of gang apps=4 .*quota=8"):
        resume(good, quota=8)
    with pytest.raises(CheckpointError, match=r"is a checkpoint of gang .*, not of autoscaled_gang"):
        Exploration(load_spec("autoscaled_gang", ()), resume=good)
    changed = sized()

    placeholders = next(v for v in changed.variables if v.name == "placeholders")
    app, node = placeholders.sorts

    @changed.always
    def one_more_claim() -> Expr:
        return all_(placeholders[a, n] < 9 for a in app for n in node)

    with pytest.raises(CheckpointError, match="is stale: the spec gang has changed since it was written"):
        Exploration(changed, resume=good)
    newer = tmp_path / "newer"
    newer.write_bytes(good.read_bytes().replace(b"checkpoint 1\n", b"checkpoint 9\n", 1))
    with pytest.raises(CheckpointError, match="has format 9; this version of gangproof reads format 1"):
        resume(newer)
    text = tmp_path / "text"
    text.write_text("states: 12\n")
    with pytest.raises(CheckpointError, match="text is not a checkpoint of gangproof"):
        resume(text)
    with pytest.raises(CheckpointError, match="none cannot be read: No such file or directory"):
        resume(tmp_path / "none")
    with pytest.raises(CheckpointError, match="cannot be read: Is a directory"):
        resume(tmp_path)


def test_another_form_of_the_compiled_spec(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = checkpoint.identity
    monkeypatch.setattr(checkpoint, "identity", lambda program, native: {**real(program, native), "code": "other"})
    with pytest.raises(CheckpointError, match=r"written with other options .* or by another version"):
        resume(good)


def test_budgets_smaller_than_the_checkpoint(good: Path) -> None:
    machine = sized()
    with pytest.raises(CheckpointError, match=r"has [\d,]+ states, more than the state budget of 10$"):
        Exploration(machine, resume=good, max_states=10)
    with pytest.raises(CheckpointError, match=r"has [\d,]+ states; there is not enough memory for them"):
        Exploration(machine, resume=good, max_memory=100_000)


# ---- places that are no good


def test_nothing_but_a_checkpoint_is_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "thesis.txt"
    mine.write_text("forty years of work")
    saving = Saving(mine)
    said = f"{mine} exists and is not a checkpoint; it is not overwritten, name another file"
    with pytest.raises(CheckpointError, match=f"^{said}$"):
        Exploration(gang(**SMALL), stop=lambda: True, saving=saving)
    run = Exploration(gang(**SMALL), stop=lambda: True, saving=Saving(mine, required=False))
    assert run.verdict.warnings == (said,)
    assert mine.read_text() == "forty years of work"
    assert saving.written is None
    with pytest.raises(CheckpointError, match="there is no directory"):
        checkpoint.check_target(tmp_path / "no" / "where")
    with pytest.raises(CheckpointError, match="is not a regular file"):
        checkpoint.check_target(Path(os.devnull))
    with pytest.raises(CheckpointError, match="is not a regular file"):
        checkpoint.check_target(tmp_path)


def test_a_disk_that_is_full_ends_neither_the_run_nor_the_last_checkpoint(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, told = good.read_bytes(), list[str]()

    def full(file: object, data: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "_put", full)
    run = Exploration(sized(), saving=Saving(good, every=0.05, warn=told.append))
    assert run.verdict.coverage.complete
    run = Exploration(sized(), stop=after(5), saving=Saving(good, warn=told.append))
    assert run.verdict.coverage.budget == INTERRUPTED
    assert run.verdict.warnings == (f"no checkpoint in {good}: No space left on device",)
    assert told[-1] == run.verdict.warnings[0]
    assert good.read_bytes() == before
    assert [p.name for p in good.parent.iterdir()] == [good.name]


def test_two_runs_with_one_name(good: Path) -> None:
    before = good.read_bytes()
    real, told = checkpoint._write, list[str]()

    def slow(file: object, search: search.Search) -> int:
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(checkpoint, "_write", real)
            other = Exploration(sized(), stop=after(3), saving=Saving(good, warn=told.append))
        assert other.verdict.coverage.budget == INTERRUPTED
        assert good.read_bytes() != before
        resume(good)
        return real(file, search)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "_write", slow)
        interrupted(sized(), good, 8)
    assert told == []
    assert [p.name for p in good.parent.iterdir()] == [good.name]
    resume(good)


def test_files_beside_it_are_left_alone(tmp_path: Path) -> None:
    part = tmp_path / "run.part"
    part.write_text("mine")
    interrupted(gang(**SMALL), tmp_path / "run", 1)
    assert part.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run", "run.part"]


def test_a_checkpoint_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run"
    interrupted(sized(), path, 6)
    before = path.read_bytes()
    for machine, more, said in [
        (sized(quota=8), {}, r"is a checkpoint of gang apps=4 .*, not of gang apps=4 .*quota=8"),
        (load_spec("yunikorn"), {}, "is a checkpoint of gang .*, not of yunikorn"),
        (sized(), {"symmetry": True}, "was written with other options"),
    ]:
        with pytest.raises(CheckpointError, match=f"{said}.*; it is not overwritten, name another file"):
            interrupted(machine, path, 1, **more)
        assert path.read_bytes() == before
    path.write_bytes(before[:100])
    with pytest.raises(CheckpointError, match=r"is damaged: .*; it is not overwritten, name another file"):
        interrupted(sized(), path, 1)
    path.write_bytes(before)
    interrupted(sized(), path, 8)
    assert path.read_bytes() != before


def test_a_name_of_its_own(tmp_path: Path) -> None:
    runs: list[tuple[Machine, dict[str, bool]]] = [(sized(), {}), (sized(quota=8), {}), (sized(), {"symmetry": True})]
    paths = []
    for machine, more in runs:
        saving = Saving(tmp_path / "gang.checkpoint", required=False, own_name=True)
        Exploration(machine, stop=lambda: True, saving=saving, **more)  # type: ignore[arg-type]
        assert saving.path.stat().st_size == saving.written
        paths.append(saving.path)
    assert {*paths} == {*tmp_path.iterdir()}
    assert len({*paths}) == 3
    saving = Saving(tmp_path / "gang.checkpoint", required=False, own_name=True)
    assert Exploration(sized(), saving=saving, resume=paths[0]).verdict.coverage.complete
    assert saving.path == paths[0]


def test_a_place_that_is_no_good_is_told_early(tmp_path: Path) -> None:
    told = list[str]()
    saving = Saving(tmp_path / "no" / "run", required=False, warn=told.append)
    assert Exploration(sized(), saving=saving).verdict.coverage.complete
    assert told == [
        f"the checkpoint {saving.path} cannot be written: there is no directory {tmp_path / 'no'}; "
        "an interruption will leave none"
    ]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "far" / "real")
    Exploration(gang(**SMALL), stop=lambda: True, saving=Saving(link))
    assert link.is_symlink()
    assert Exploration(gang(**SMALL), resume=link).verdict.outcome is Outcome.HOLDS

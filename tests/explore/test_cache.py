"""Compiled code that is kept between runs: the same answers, whatever has happened to the files."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from model.explore import explore
from model.explore.codegen import cache, jit
from model.explore.codegen.native import Native
from model.explore.packing import pack
from model.verdict import Outcome
from specs.gang import gang

TEXT = "define i64 @twice(i64 %x) {\n%y = add i64 %x, %x\nret i64 %y\n}"


@pytest.fixture
def kept_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GANGPROOF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def twice(code: jit.Code) -> int:
    word = jit.ctypes.c_uint64
    return int(code.function("twice", word, word)(21))


def test_code_is_kept_and_loaded(kept_in: Path) -> None:
    assert jit.kept(TEXT) is None
    assert twice(jit.fast(TEXT)) == 42
    (file,) = kept_in.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert kept_in.stat().st_mode & 0o077 == 0
    loaded = jit.kept(TEXT)
    assert loaded is not None
    assert twice(loaded) == 42
    assert jit.kept(TEXT.replace("add", "mul")) is None


@pytest.mark.parametrize("harm", ["cut", "flipped", "empty", "other"])
def test_a_file_that_is_not_whole_is_not_loaded(kept_in: Path, harm: str) -> None:
    jit.fast(TEXT)
    (file,) = kept_in.iterdir()
    whole = file.read_bytes()
    flipped = bytes([*whole[:-1], whole[-1] ^ 1])
    file.write_bytes({"cut": whole[:-9], "flipped": flipped, "empty": b"", "other": b"text" * 99}[harm])
    assert jit.kept(TEXT) is None
    assert twice(jit.fast(TEXT)) == 42
    assert file.read_bytes() == whole


def test_what_another_user_has_put_there_is_not_run(kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jit.fast(TEXT)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert jit.kept(TEXT) is None


def test_a_second_search_starts_with_the_better_code(kept_in: Path) -> None:
    program = pack(gang(apps=2))
    first = Native(program)
    assert first.improving_seconds < math.inf
    before = first.expand_address
    first.improve()
    assert first.expand_address != before
    second = Native(program)
    assert second.improving_seconds == math.inf
    assert second.problems == []
    verdict = explore(gang(apps=2))
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.coverage.distinct_states == explore(gang(apps=2)).coverage.distinct_states == 144


def test_symmetry_and_plain_are_kept_apart(kept_in: Path) -> None:
    for symmetry in (False, True):
        Native(pack(gang(apps=3), symmetry=symmetry)).improve()
    counts = [explore(gang(apps=3), symmetry=s).coverage.distinct_states for s in (False, True, False)]
    assert counts[0] == counts[2] > counts[1]


def test_a_cache_that_cannot_be_written_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    place = tmp_path / "a-file"
    place.write_text("")
    command = [sys.executable, "-m", "gangproof", "check", "gang"]
    environment = {**os.environ, "GANGPROOF_CACHE": str(place)}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0
    assert "HOLDS" in found.stdout
    assert f"compiled code cannot be kept in {place}" in " ".join(found.stdout.split())


def test_the_oldest_go_when_all_take_too_much(kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_BYTES", 250)
    for number in range(4):
        assert cache.keep(f"key{number}", bytes(68)) is None
        os.utime(kept_in / f"key{number}.o", (number, number))
    assert sorted(p.name for p in kept_in.iterdir()) == ["key2.o", "key3.o"]
    assert cache.load("key3") == bytes(68)


def test_nothing_is_kept_where_it_is_turned_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GANGPROOF_CACHE", "")
    assert cache.directory() is None
    assert cache.keep("key", b"code") is None
    assert cache.load("key") is None
    monkeypatch.delenv("GANGPROOF_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.directory() == tmp_path / "gangproof"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.directory() == tmp_path / ".cache" / "gangproof"


@pytest.mark.parametrize("make", ["quick", "fast"])
def test_code_in_a_circle_of_references_is_freed_in_order(make: str) -> None:
    """The garbage collector comes to an engine and to the context of its module in any order."""
    script = f"""
import gc
from model.explore.codegen import jit

class Holder:
    pass

gc.disable()
for _ in range(60):
    holder = Holder()
    holder.itself, holder.code = holder, jit.{make}({TEXT!r})
    del holder
    gc.collect()
print("freed")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "freed\n")

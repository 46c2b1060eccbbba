"""``gangproof check`` under real signals: what is said, what is left, and that ``--resume`` ends as if nothing had
happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gangproof import cli
from model.explore import Exploration
from specs.loading import load_spec

ROOT = Path(__file__).resolve().parent.parent.parent
# `interrupted` gets a signal when it is built for the second time.
SPEC = """
import os
import signal
import threading
from specs.gang import gang
from specs.yunikorn import yunikorn
from model.language import Machine, require

builds = []

def large():
    return gang(apps=5, size=2, nodes=3, capacity=4, quota=8)

def interrupted():
    builds.append(None)
    if len(builds) == 2:
        os.kill(os.getpid(), signal.SIGTERM)
    return gang()

def soon_interrupted():
    threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT)).start()
    return yunikorn()

def far():
    m = Machine("far")
    x = m.scalar("x", range(300_000), init=0)

    @m.action
    def up():
        require(x < 5)
        x.next += 1

    @m.always
    def small():
        return x < 290_000

    @m.terminal
    def full():
        return x >= 5

    return m
"""
COMMAND = [sys.executable, "-m", "gangproof.cli"]
LARGE = ["gang", "apps=5", "size=2", "nodes=3", "capacity=4", "quota=8"]
MEDIUM = ["gang", "apps=5", "size=3", "nodes=2", "capacity=4", "quota=8"]


def start(directory: Path, *arguments: str, command: str = "check") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, command, *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(directory: Path, *arguments: str, command: str = "check") -> tuple[int, str, str]:
    process = start(directory, *arguments, command=command)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_checkpoint(tmp_path: Path, number: signal.Signals) -> None:
    mark = tmp_path / "mark"
    process = start(tmp_path, *LARGE, "--json", "--checkpoint", "mark", "--checkpoint-every", "0.2")
    wait_for(mark, process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    found = json.loads(out)
    assert process.returncode == 3
    assert (found["verdict"], found["budget"], found["checkpoint"]) == ("unknown", "interrupted", "mark")
    assert 0 < found["distinct_states"] < 8_180_824
    size = mark.stat().st_size
    command = f"gangproof check {' '.join(LARGE)} --checkpoint-every 0.2 --json --resume mark"
    assert err == f"checkpoint of {size:,} bytes: mark\nto go on: {command}\n"
    assert [p.name for p in tmp_path.iterdir()] == ["mark"]


def wait_until_caught(number: signal.Signals, process: subprocess.Popen[str]) -> None:
    """Until the process has a handler for this signal, which by default it has not."""
    deadline = time.monotonic() + 60
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
        if int(caught, 16) >> (number - 1) & 1:
            return
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_without_a_name_it_lies_in_the_working_directory_and_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(SPEC)
    process = start(tmp_path, "spec.py:large")
    # Python itself always catches SIGINT; both handlers are installed together, this one last.
    wait_until_caught(signal.SIGTERM, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "UNKNOWN: interrupted" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    (name,) = (p.name for p in tmp_path.glob("gang-*.checkpoint"))
    assert err.endswith(f"to go on: gangproof check spec.py:large --resume {name}\n")
    status, out, err = run(tmp_path, "spec.py:large", "--json", "--resume", name)
    found = json.loads(out)
    assert (status, err, found["checkpoint"]) == (0, "", None)
    assert (found["distinct_states"], found["transitions"], found["depth"]) == (8_180_824, 53_149_730, 30)


def test_a_signal_ends_the_mutants_too(tmp_path: Path) -> None:
    """The spec is built for the mutants when the machine itself has been explored."""
    (tmp_path / "spec.py").write_text(SPEC)
    status, out, err = run(tmp_path, "spec.py:interrupted", "--vacuity", "--json")
    found = json.loads(out)
    assert (status, err, found["verdict"], found["budget"]) == (3, "", "unknown", None)
    assert (found["vacuity"]["budget"], found["vacuity"]["tried"]) == ("interrupted", 0)
    assert (found["vacuity"]["unbroken"], len(found["vacuity"]["undecided"])) == ([], 5)


def test_mutants_keep_to_the_memory_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.py").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    assert cli.run(["check", "spec.py:far", "--vacuity", "--max-memory", "1M", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    words = "1 mutant was not explored to the end: memory budget of 1,048,576 bytes ran out"
    assert (found["budget"], found["vacuity"]["budget"]) == (None, words)


def test_kill_in_the_middle_never_leaves_an_unreadable_one(tmp_path: Path) -> None:
    """The file is written over and over; whenever the process is killed, what is there is whole."""
    path = tmp_path / "run"
    for round_ in range(2):
        process = start(tmp_path, *MEDIUM, "--checkpoint", "run", "--checkpoint-every", "0.0001")
        wait_for(path, process)
        # Right after a new one was begun, at different moments.
        deadline = time.monotonic() + 5
        while not any(tmp_path.glob("run.*.part")) and process.poll() is None and time.monotonic() < deadline:
            pass
        time.sleep(0.0005 * round_)
        process.kill()
        process.communicate()
        for part in tmp_path.glob("run.*.part"):
            part.unlink()
        verdict = Exploration(load_spec("gang", MEDIUM[1:]), resume=path).verdict
        assert (verdict.coverage.distinct_states, verdict.coverage.transitions) == (939_194, 5_192_755)


def test_a_checkpoint_of_other_parameters_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["check", "gang", "apps=3", "--max-states", "100", "--checkpoint", "run"]) == 3
    before = Path("run").read_bytes()
    capsys.readouterr()
    assert cli.run(["check", "gang", "apps=4", "--checkpoint", "run"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: run is a checkpoint of gang apps=3 ")
    assert err.endswith("; it is not overwritten, name another file\n")
    assert Path("run").read_bytes() == before


def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("hello")
    for arguments, said in [
        (["--resume", "none"], "the checkpoint none cannot be read: No such file or directory"),
        (["--resume", "text"], "text is not a checkpoint of gangproof"),
        (["--checkpoint", "text"], "text exists and is not a checkpoint; it is not overwritten, name another file"),
        (["--checkpoint", "no/where"], "the checkpoint no/where cannot be written: there is no directory no"),
        (["--spill", "nowhere"], "states cannot be moved to nowhere: No such file or directory"),
    ]:
        assert cli.run(["check", "gang", *arguments]) == 2
        assert capsys.readouterr() == ("", f"error: {said}\n")
    assert cli.run(["check", "gang", "--checkpoint-every", "5"]) == 2
    assert "--checkpoint-every needs --checkpoint, which says where" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_directory_that_nothing_may_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o500)
    monkeypatch.chdir(tmp_path)
    assert cli.run(["check", "gang", "--checkpoint", "run"]) == 2
    assert "cannot be written: no permission in" in capsys.readouterr().err


def test_a_budget_leaves_a_checkpoint_where_one_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = ["check", "gang", "apps=3", "nodes=2"]
    assert cli.run([*spec, "--max-states", "100"]) == 3
    assert list(tmp_path.iterdir()) == []
    assert cli.run([*spec, "--max-states", "100", "--checkpoint", "run"]) == 3
    _, err = capsys.readouterr()
    assert err.endswith("\nto go on: gangproof check gang apps=3 nodes=2 --resume run\n")
    assert cli.run([*spec, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert cli.run([*spec, "--json", "--resume", "run"]) == 0
    again = json.loads(capsys.readouterr().out)
    for key in ("verdict", "properties", "distinct_states", "transitions", "depth", "actions", "trace"):
        assert again[key] == whole[key]


def test_a_signal_leaves_no_process_behind(tmp_path: Path) -> None:
    """The workers of `gangproof mutants` end with it, also when nothing told them to."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gangproof.cli", "mutants", "yunikorn", "--workers", "2"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while len(workers := children.read_text().split()) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    process.kill()
    process.wait(timeout=60)
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_no_checkpoint_is_not_passed_over(tmp_path: Path) -> None:
    """Where the budget ended before all initial states there is nothing to go on from."""
    (tmp_path / "ini.py").write_text(
        "from model.language import *\n"
        "class A(Sort): 'An element.'\n"
        "def ini():\n"
        "    m = Machine('ini')\n"
        "    m.sort(A, 4)\n"
        "    x = m.variable('x', A, range(3), init=one_of(0, 1))\n"
        "    @m.action\n"
        "    def up(a: A):\n"
        "        require(x[a] < 2)\n"
        "        x[a] += 1\n"
        "    return m\n"
    )
    status, _, err = run(tmp_path, "ini.py:ini", "--max-states", "5", "--checkpoint", "ini.ck")
    assert (status, err) == (3, "there is no checkpoint of this run\n")
    assert not (tmp_path / "ini.ck").exists()


def test_a_proof_tells_what_is_known_by_then(tmp_path: Path) -> None:
    """The signal comes while the solver is at work, which takes Ctrl-C for itself."""
    (tmp_path / "spec.py").write_text(SPEC)
    status, out, err = run(tmp_path, "spec.py:soon_interrupted", "--json", command="prove")
    found = json.loads(out)
    assert (status, err, found["verdict"]) == (3, "", "unknown")
    unknown = [p for p in found["properties"] if p["verdict"] == "unknown"]
    assert unknown
    assert all(p["how"].endswith("; interrupted") for p in unknown)

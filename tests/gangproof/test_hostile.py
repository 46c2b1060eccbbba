"""Streams that close, files that are not files, specs that do what they should not: one message, the right status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gangproof.cli import run
from gangproof.commands.review_ import write

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "spark-gangs"
SPEC = """
from model.language import Machine, require
{before}
def spec(n: int = 1) -> Machine:
    m = Machine("spec")
    x = m.scalar("x", range(2), init=0)
    {inside}
    @m.action
    def flip() -> None:
        x.next = 1 - x
    return m
"""


def spec(folder: Path, before: str = "", inside: str = "") -> str:
    path = folder / "hostile.py"
    path.write_text(SPEC.format(before=before, inside=inside))
    return f"{path}:spec"


def shell(command: str) -> int:
    """The exit status of ``command``, in which GP is the command line in a process of its own."""
    python = f"{sys.executable} -m gangproof.cli"
    return subprocess.run(["bash", "-c", command.replace("GP", python)], check=False, capture_output=True).returncode


def test_a_reader_that_goes_away_is_no_verdict() -> None:
    assert shell("GP list | true; exit ${PIPESTATUS[0]}") in (0, 141)  # 0 where all was written before the reader left
    assert shell("GP check gang nosuch 2>&-") == 2
    assert shell("GP check gang --max-states 5 >&-") == 3


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_told() -> None:
    assert shell("GP check gang > /dev/full") == 2


@pytest.mark.parametrize(
    ("before", "inside", "told"),
    [
        ("raise BaseException('boom')", "", "hostile.py:3: BaseException: boom"),
        ("", "raise GeneratorExit('gone')", "hostile.py:7: GeneratorExit: gone"),
        ("import sys; sys.path.clear(); raise ValueError('no path')", "", "ValueError: no path"),
        ("import sys; del sys.modules[__name__]; raise ValueError('gone')", "", "ValueError: gone"),
    ],
)
def test_whatever_a_spec_raises_is_told_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, inside: str, told: str
) -> None:
    path = list(sys.path)
    assert run(["check", spec(tmp_path, before, inside)]) == 2
    assert told in capsys.readouterr().err
    assert sys.path == path


def test_what_a_spec_prints_is_not_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", spec(tmp_path, "print('loading')", "print('building')"), "--json"]) == 0
    out = capsys.readouterr()
    assert json.loads(out.out)["verdict"] == "holds"
    assert out.err.split() == ["loading", "building"]


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1"])
def test_a_time_limit_is_a_number_of_seconds(capsys: pytest.CaptureFixture[str], seconds: str) -> None:
    assert run(["check", "gang", "--time-limit", seconds]) == 2
    assert seconds in capsys.readouterr().err


def test_a_page_goes_where_the_link_points_and_leaves_other_files_alone(tmp_path: Path) -> None:
    page, link, other = tmp_path / "page.html", tmp_path / "link.html", tmp_path / "page.html.part"
    page.write_text("old")
    other.write_text("mine")
    link.symlink_to(page)
    write(link, "new")
    assert (page.read_text(), other.read_text()) == ("new", "mine")
    assert link.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.html", "page.html", "page.html.part"]
    assert page.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def test_a_page_may_go_into_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        write(pipe, "page")
        assert reader.communicate(timeout=20)[0] == "page"
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["", ".", "x" * 300 + ".html"])
def test_a_page_without_a_possible_name_is_refused(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert run(["review", str(EXAMPLE), "-o", name]) == 2
    assert "-o" in capsys.readouterr().err


def test_a_review_that_decides_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    assert run(["review", str(EXAMPLE), "-o", str(page), "--check-time-limit", "0.000001"]) == 3
    assert "UNKNOWN" in capsys.readouterr().out
    assert page.exists()


def test_a_gang_of_a_billion_is_refused_by_the_reference_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    native = {
        "gangproof": "cluster/v1",
        "nodes": [{"name": "n1", "capacity": {"vcore": 1000}}],
        "queues": {"name": "root"},
        "applications": [
            {
                "name": "a",
                "queue": "root",
                "task_groups": [{"name": "g", "min_member": 10**9, "min_resource": {"vcore": 1}}],
            }
        ],
    }
    (tmp_path / "big.json").write_text(json.dumps(native))
    assert run(["schedule", str(tmp_path / "big.json")]) == 2
    assert "1,000,000,000 pods in all gangs" in capsys.readouterr().err
    assert run(["place", str(tmp_path / "big.json"), "--time-limit", "10"]) == 0

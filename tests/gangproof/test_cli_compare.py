"""``compare`` with every policy, metrics, compaction and plots, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import EXAMPLE, answer

from gangproof.cli import run
from reference.schedulers.all_policies import ALL_POLICIES


def test_all_policies_with_their_metrics(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ["--policy", "all", "--compaction", "2", "--plots", str(tmp_path / "plots")]
    status, said, _ = answer(capsys, "compare", str(EXAMPLE), *options)
    assert status == 0
    assert [p["name"] for p in said["policies"]] == list(ALL_POLICIES)
    for policy in said["policies"]:
        assert policy["metrics"]["admission"] == round(policy["admitted_gangs"] / 3, 6)
        assert policy["metrics"]["nodes_used"] == policy["nodes_used"]
        assert len(policy["compaction"]) == 2
    assert sorted(p.name for p in (tmp_path / "plots").iterdir()) == ["gap.svg", "nodes.svg", "utilisation.svg"]


def test_the_text_of_several_policies_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(["compare", str(EXAMPLE), "--policy", "fgd", "--policy", "best-fit-by-density", "--compaction", "1"]) == 0
    )
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "fragmented" in out
    assert "The fewest nodes" in out


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--policy", "lifo"], "--policy is one of yunikorn"), (["--compaction", "0"], "--compaction")],
)
def test_a_mistake_is_one_message(capsys: pytest.CaptureFixture[str], options: list[str], told: str) -> None:
    assert run(["compare", str(EXAMPLE), *options]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert len(err.splitlines()) == 1


def test_plots_that_cannot_be_written_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert run(["compare", str(EXAMPLE), "--plots", str(tmp_path / "file")]) == 2
    assert str(tmp_path / "file") in capsys.readouterr().err

"""``explain-pending`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import EXAMPLE, answer

from gangproof.cli import run
from reference.manifests.load import load
from reference.manifests.native_write import to_native


def test_beside_a_scheduler_the_quota_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    status, said, _ = answer(capsys, "explain-pending", str(EXAMPLE), "churn-features", "--after", "yunikorn")
    assert (status, said["status"], said["after"]) == (0, "BLOCKED", "yunikorn")
    assert [each["kind"] for each in said["blocking"]] == ["queue maximum", "running pods"]
    assert [each["steps"] for each in said["corrections"]] == [
        ["raise max vcore of queue root.spark from 20 to 24"],
        ["wait for the running pods of gang hourly-report to end, or preempt them"],
    ]
    assert sum(each["count"] for each in said["corrections"][0]["placements"]) == 8


def test_alone_it_fits(capsys: pytest.CaptureFixture[str]) -> None:
    status, said, _ = answer(capsys, "explain-pending", str(EXAMPLE), "churn-features")
    assert (status, said["status"], said["blocking"], said["corrections"]) == (0, "FITS", [], [])
    assert said["placements"]


@pytest.mark.parametrize("arguments", [["churn-features"], ["churn-features", "--after", "yunikorn"]])
def test_the_text_fits_80_columns(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert run(["explain-pending", str(EXAMPLE), *arguments]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert out.startswith(("FITS: churn-features", "BLOCKED: churn-features"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nobody"], "a gang that waits: churn-features"),
        (["hourly-report", "--after", "yunikorn"], "which yunikorn admits"),
        (["churn-features", "--after", "lifo"], "--after is one of yunikorn"),
        ([], "no/such"),
    ],
)
def test_a_users_mistake_is_one_message(capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    assert run(["explain-pending", str(EXAMPLE) if arguments else "no/such", *(arguments or ["x"])]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert len(err.splitlines()) == 1


def test_what_is_not_known_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    native = to_native(load(str(EXAMPLE)).cluster)
    native["node_types"] = [{"name": "spot", "capacity": {"vcore": 4000}}]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(native))
    _, said, err = answer(capsys, "explain-pending", str(path), "churn-features")
    assert any("node types" in warning for warning in said["warnings"])
    assert "only nodes that are there are used" in err

"""``prove --certificate`` and ``verify-certificate``: exit statuses, JSON, and mistakes told in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import answer

from gangproof.cli import run


def test_a_proof_is_written_and_verified(capsys: pytest.CaptureFixture[str], toy: str, tmp_path: Path) -> None:
    file = str(tmp_path / "toy.smt2")
    assert run(["prove", toy, "slots=2", "--certificate", file]) == 0
    assert f"certificate of 4 of 4 properties: {file}" in capsys.readouterr().err
    status, parsed, _ = answer(capsys, "verify-certificate", file, toy, "slots=2")
    assert (status, parsed["verdict"], parsed["spec"], parsed["k"]) == (0, "verified", "toy", 1)
    assert parsed["passed"] == parsed["checks"] > 4
    status, parsed, _ = answer(capsys, "verify-certificate", file, toy)
    assert (status, parsed["verdict"]) == (1, "refused")
    assert parsed["problem"] == "it is of other parameters: slots=2 where slots=1 is expected"
    assert run(["verify-certificate", file]) == 2
    assert "is of toy, which is not shipped" in capsys.readouterr().err
    assert run(["verify-certificate", file, toy, "slots=2", "--time-limit", "0.001"]) == 3
    assert "UNKNOWN" in capsys.readouterr().out


def test_a_certificate_without_a_spec_is_of_the_one_that_it_names(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = str(tmp_path / "gang.smt2")
    assert run(["prove", "gang", "apps=1", "--property", "quota_never_exceeded", "--certificate", file]) == 0
    assert run(["verify-certificate", file]) == 0
    assert "VERIFIED: 1 claim of gang apps=1 size=2" in capsys.readouterr().out
    (tmp_path / "gang.smt2").write_text("(exit)")
    assert run(["verify-certificate", file]) == 2
    assert "gang.smt2:1: not a certificate" in capsys.readouterr().err


def test_spacer_is_a_method_of_its_own(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, parsed, _ = answer(capsys, "prove", toy, "--method", "spacer", "--time-limit", "60")
    assert (status, parsed["verdict"]) == (0, "holds")
    assert {p["method"] for p in parsed["properties"]} == {"Spacer"}
    status, parsed, _ = answer(capsys, "prove", toy, "leak=true", "--method", "spacer", "--time-limit", "60")
    assert (status, parsed["verdict"], parsed["trace_property"], len(parsed["trace"])) == (
        1,
        "violated",
        "slots_suffice",
        3,
    )


def test_nothing_proved_is_no_certificate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "none.smt2"
    assert run(["prove", "gang", "--time-limit", "0.001", "--certificate", str(file)]) == 3
    assert "nothing is proved by induction" in capsys.readouterr().err
    assert not file.exists()
    assert run(["prove", "gang", "apps=1", "--certificate", str(tmp_path / "no" / "file")]) == 2
    assert "cannot be written: there is no directory" in capsys.readouterr().err

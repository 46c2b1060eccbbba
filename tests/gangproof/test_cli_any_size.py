"""``gangproof prove --any-size``: what it tells, in text and in JSON."""

from __future__ import annotations

import pytest
from command_line import answer

from gangproof.any_size_text import without_slice
from gangproof.cli import run
from model.prove.any_size import prove_any_size
from model.prove.solving import OutOfTime
from model.verdict import Outcome
from specs.families import SpecFamily
from specs.volcano.slice import volcano_slice


def test_a_spec_of_ones_own_is_proved_for_any_size(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, told, _ = answer(capsys, "prove", toy, "--any-size")
    assert (status, told["verdict"], told["slice"]) == (0, "holds", None)
    assert told["any_size"]["sorts"] == {"Job": ["jobs"]}
    assert told["any_size"]["counters"] == 1
    assert {p["method"] for p in told["properties"]} == {"induction for any size"}
    assert run(["prove", toy, "--any-size"]) == 0
    text = capsys.readouterr().out
    assert "HOLDS: 3 properties for any number of Job (jobs), in runs of any length" in text
    assert "1 sum is a counter" in " ".join(text.split())


def test_a_fault_is_violated_with_a_trace(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    status, told, _ = answer(capsys, "prove", toy, "leak=true", "--any-size", "--property", "slots_suffice")
    assert (status, told["verdict"], told["trace_property"]) == (1, "violated", "slots_suffice")
    assert len(told["trace"]) == 3


def test_what_is_not_inductive_is_unknown_with_a_state(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    arguments = ("prove", toy, "leak=true", "--any-size", "--property", "slots_suffice", "--samples", "1")
    status, told, _ = answer(capsys, *arguments)
    assert (status, told["verdict"]) == (3, "unknown")
    assert told["properties"][0]["blocked_by"]["call"] == "start(j)"
    assert run([*arguments]) == 3
    assert "What blocks slots_suffice" in capsys.readouterr().out


def test_options_of_longer_inductions_are_refused(capsys: pytest.CaptureFixture[str], toy: str) -> None:
    assert run(["prove", toy, "--any-size", "--k", "2"]) == 2
    assert "--k is not for --any-size" in capsys.readouterr().err
    assert run(["prove", toy, "--any-size", "--certificate", "proof.txt"]) == 2
    assert "leave --any-size out" in " ".join(capsys.readouterr().err.split())
    assert run(["prove", toy, "--any-size", "--property", "nothing"]) == 2
    assert run(["prove", toy, "--any-size", "jobs=many"]) == 2
    assert run(["prove", "yunikorn", "--any-size", "edition=current"]) == 2
    assert run(["prove", "kubernetes", "--any-size", "pods=2", "nodes=2", "misfits=0", "late=true"]) == 2


@pytest.mark.slow
def test_a_spec_with_a_slice_is_proved_through_it(capsys: pytest.CaptureFixture[str]) -> None:
    status, told, _ = answer(capsys, "prove", "volcano", "--any-size", "capacity=3")
    assert (status, told["verdict"], told["slice"]["of"], told["slice"]["steps"]) == (0, "holds", "volcano", 2439)
    assert "tried" in told["slice"]["removed"]
    status, told, _ = answer(capsys, "prove", "volcano", "--any-size", "edition=current", "bind_failures=1")
    assert (status, told["verdict"], told["slice"]["is_slice"]) == (3, "unknown", False)
    assert run(["prove", "volcano", "--any-size", "capacity=3"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "What is proved is a slice of volcano" in text
    assert "HOLDS: of the slice of volcano, 8 properties for any number of Queue (queues) and Job (jobs)" in text
    assert "; the spec's own steps were compared with the slice at the sizes told below only (" in text


def test_the_time_limit_is_for_the_comparison_too(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("prove", "volcano", "--any-size", "jobs=2", "drains=2", "--time-limit", "0.05")
    status, told, _ = answer(capsys, *arguments)
    assert (status, told["verdict"], told["slice"]["is_slice"], told["slice"]["states"]) == (3, "unknown", None, None)
    assert 0.05 <= told["seconds"] < 5
    assert {p["how"] for p in told["properties"]} == {"time limit of 0.05 s ran out"}
    assert run([*arguments]) == 3
    assert "That it is a slice of volcano edition=" in capsys.readouterr().out


@pytest.mark.parametrize("why", ["interrupted", "z3 gave up after 0.1 s: unknown"])
def test_without_a_whole_comparison_nothing_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    def compare(*_: object) -> None:
        raise OutOfTime(why)

    monkeypatch.setattr(SpecFamily, "compare", compare)
    arguments = ("prove", "volcano", "--any-size", "queues=1", "jobs=1", "--property", "jobs_do_not_grow")
    status, told, _ = answer(capsys, *arguments)
    assert (status, told["verdict"], told["slice"]["is_slice"]) == (3, "unknown", None)
    assert told["properties"][0]["how"].endswith(why)


def test_nothing_is_shown_through_what_is_no_slice() -> None:
    proof = prove_any_size(volcano_slice, {"queues": 1, "jobs": 1}, properties=("jobs_do_not_grow",))
    assert proof.outcome is Outcome.HOLDS
    assert without_slice(proof).outcome is Outcome.UNKNOWN

"""``gangproof conform``: answers by the schema, statuses, and mistakes in a log told with their line."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import answer

from gangproof.cli import run

SUBMIT = '{"action": "submit", "args": {"a": "job-7"}}\n'


def conform(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str) -> tuple[int, dict[str, object], str]:
    log = tmp_path / "log.jsonl"
    log.write_text(text)
    return answer(capsys, "conform", "gang", str(log))


@pytest.mark.parametrize(
    ("text", "status", "verdict", "matched"),
    [
        (SUBMIT, 0, "conforms", 1),
        (SUBMIT * 2, 1, "diverges", 1),
        ("", 4, "vacuous", 0),
        ('{"gap": true}\n', 4, "vacuous", 1),
        (SUBMIT + '{"end": true}\n', 1, "diverges", 1),
        (SUBMIT + '{"state": {"state[job-7]": "RUNNING"}}\n', 1, "diverges", 1),
        (
            '{"observed": ["state"]}\n{"state": {"state[x]": "PENDING"}}\n{"state": {"state[x]": "RUNNING"}}',
            0,
            "conforms",
            2,
        ),
        ('{"observed": ["state"]}\n{"state": {"state[x]": "RUNNING"}}\n', 1, "diverges", 0),
        ('{"unobserved": ["allocate"]}\n' + SUBMIT + '{"state": {"state[job-7]": "RUNNING"}}\n', 0, "conforms", 2),
    ],
)
def test_verdicts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, status: int, verdict: str, matched: int
) -> None:
    found, told, _ = conform(capsys, tmp_path, text)
    assert (found, told["verdict"], told["matched"]) == (status, verdict, matched)


def test_a_budget_is_unknown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"gap": true}\n' + SUBMIT)
    status, told, _ = answer(capsys, "conform", "gang", str(log), "--max-candidates", "100")
    assert (status, told["verdict"], told["budget"]) == (3, "unknown", "more than 100 candidate states")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "log.jsonl: line 1: not JSON"),
        ("[1]\n", "line 1: found [1], expected an object"),
        (SUBMIT + '{"action": "submit", "arg": {}}\n', "line 2: a record has no 'arg'; expected action, args"),
        ('{"gap": true, "gap": true}', "line 1: 'gap' stands twice in one object"),
        (SUBMIT.replace("job-7", "\\ud800"), 'line 1: "\\ud800" has half of a character'),
        ('{"time": ' + "1" * 5000 + "}", "line 1: a number of 5,000 digits, expected at most 4,000"),
        ('{"action": "go"}\n', "log.jsonl: line 1: gang has no action 'go': submit, allocate"),
        ('{"action": "submit", "args": {"b": "job"}}\n', "line 1: submit has no parameter 'b': a"),
        ('{"state": {"stat[job]": 1}}\n', "line 1: gang has no variable 'stat'"),
        ('{"state": {"state[job, x]": "NEW"}}\n', "line 1: found 'state[job, x]', expected state[App]"),
        ('{"state": {"state[job]": "OLD"}}\n', "line 1: state[app1] is 'OLD', expected one of NEW, PENDING"),
        ('{"action": "submit", "gap": true}\n', "line 1: expected one of: action and state, gap"),
        ('{"unobserved": "allocate"}\n', 'line 1: unobserved: found "allocate", expected a list'),
        ('{"observed": ["state"]}\n' + SUBMIT, "line 2: a log of changes (observed) tells of no action"),
        ('{"observed": ["stat"]}\n{"state": {"state[x]": "NEW"}}', "observed: gang has no variable 'stat'"),
        ('{"unobserved": ["allot"]}\n', "unobserved: gang has no action 'allot'"),
        ('{"names": {"App": {"job": "app9"}}}\n', "names: App: 'job' is 'app9', expected one of app1, app2"),
        ('{"names": {"App": {"a": "app1", "b": "app1"}}}\n', "two names stand for app1"),
        ("".join(SUBMIT.replace("7", n) for n in "123"), "line 3: 'job-3' is one App more than the spec has (2)"),
        (
            '{"ties": "any"}\n' + SUBMIT.replace("}}", '}, "time": 1}') * 17,
            "17 records of one time, expected at most 16",
        ),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, expected: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(text)
    assert run(["conform", "gang", str(log)]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert expected in out.err
    assert "Traceback" not in out.err


def test_a_file_that_is_no_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\xff\xfe\x00")
    assert run(["conform", "gang", str(log)]) == 2
    assert "not a text file in UTF-8" in capsys.readouterr().err
    assert run(["conform", "gang", str(tmp_path)]) == 2
    assert "found no such file" in capsys.readouterr().err

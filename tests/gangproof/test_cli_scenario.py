"""``gangproof scenario``: each scenario in a line, mistakes with file and path. The system here is a toy."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import answer

import reference.schedulers
from gangproof.cli import run

TOY = '''
"""A counter: ``add`` adds, ``expect`` compares."""
from reference.manifests.document import value_field

def run(scenario):
    total, differences = 0, []
    for step in value_field(scenario).list_of("steps"):
        if step.need("op", "an op").string() == "add":
            total += step.need("by", "how much").integer(0, 9)
        elif total != step.value["total"]:
            differences.append(f"{step.where}: expected {step.value['total']}, found {total}")
    return (*differences, *(["old"] if scenario.get("edition") == "old" else []))
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package = tmp_path / "schedulers" / "toy"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "scenario.py").write_text(TOY)
    monkeypatch.setattr(
        reference.schedulers, "__path__", [*reference.schedulers.__path__, str(tmp_path / "schedulers")]
    )
    importlib.invalidate_caches()
    yield
    for name in [n for n in sys.modules if n.startswith("reference.schedulers.toy")]:
        del sys.modules[name]


def file_of(tmp_path: Path, content: object) -> str:
    path = tmp_path / "toy.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return str(path)


def counting(*totals: int, **more: object) -> dict[str, object]:
    steps = [{"op": "add", "by": 2}, *({"op": "expect", "total": t} for t in totals)]
    return {"id": "-".join(map(str, totals)), "upstream": "none", "steps": steps, **more}


def test_each_scenario_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], toy: None) -> None:
    file = file_of(tmp_path, {"system": "toy", "scenarios": [counting(2), counting(3, 2, 4)]})
    assert run(["scenario", file]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "2      passed",
        "3-2-4  failed",
        "  steps[1]: expected 3, found 2",
        "  steps[3]: expected 4, found 2",
        "",
        "2 scenarios: 1 passed, 1 failed.",
    ]


def test_all_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str], toy: None) -> None:
    status, told, _ = answer(capsys, "scenario", file_of(tmp_path, {"system": "toy", "scenarios": [counting(2)]}))
    assert status == 0
    assert [(s["id"], s["passed"], s["difference"], s["system"]) for s in told["scenarios"]] == [("2", True, [], "toy")]


def test_an_edition_of_the_file_is_that_of_scenarios_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], toy: None
) -> None:
    scenarios = [counting(2), counting(2, 2, edition="new")]
    file = file_of(tmp_path, {"system": "toy", "edition": "old", "scenarios": scenarios})
    status, told, _ = answer(capsys, "scenario", file)
    assert status == 1
    assert [(s["edition"], s["difference"]) for s in told["scenarios"]] == [("old", ["old"]), ("new", [])]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[", "toy.json:1:2: found bad JSON"),
        ([], "toy.json:1:1: found an empty list, expected at least one scenario"),
        (3, "toy.json:1:1: found 3, expected a list of scenarios"),
        ({"scenarios": [counting(2)]}, "toy.json:1:1: system: found nothing, expected one of "),
        ({"system": "cobalt", "scenarios": []}, "toy.json:2:12: system: found 'cobalt', expected one of "),
        ({"system": "toy", "scenarios": [], "more": 1}, "more: found the unknown key 'more'"),
        ({"system": "toy", "scenarios": [counting(2), counting(2)]}, "scenarios[1].id: found '2', expected an id of"),
        ({"system": "toy", "scenarios": [counting(2, steps=[])]}, "scenarios[0].steps: found an empty list"),
        ({"system": "toy", "scenarios": [counting(2, steps=[{}])]}, "scenarios[0].steps[0].op: found nothing"),
        ({"system": "toy", "scenarios": [counting()]}, "scenarios[0].steps: found none, expected a step that says"),
        (
            {
                "system": "toy",
                "scenarios": [counting(2), counting(4, steps=[{"op": "add", "by": "x"}, {"op": "expect"}])],
            },
            "toy.json:24:12: scenarios[1].steps[0].by: found 'x', expected a whole number from 0 to 9",
        ),
    ],
)
def test_mistakes_name_file_and_path(
    content: object, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], toy: None
) -> None:
    assert run(["scenario", file_of(tmp_path, content)]) == 2
    out = capsys.readouterr()
    assert out.out == ""
    assert told in out.err
    assert out.err.startswith("error: ")
    assert len(out.err.splitlines()) == 1

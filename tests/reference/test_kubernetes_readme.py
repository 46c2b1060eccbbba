"""The page of the Kubernetes reference names files, tests and scenarios that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "reference" / "schedulers" / "kubernetes"


def page() -> str:
    return (HOME / "README.md").read_text()


def test_every_file_is_in_the_table() -> None:
    named = set(re.findall(r"\w+\.py", "".join(re.findall(r"^\| ([^|]*\.py[^|]*) \|", page(), re.MULTILINE))))
    assert named | {"__init__.py", "api.py", "events.py", "options.py"} == {path.name for path in HOME.glob("*.py")}


def test_every_rule_names_tests_that_there_are() -> None:
    rules = page().partition("## Rules")[2].partition("## Not as upstream")[0]
    tests = "".join(path.read_text() for path in (ROOT / "tests").glob("*/test_kubernetes_*.py"))
    known = {
        each["id"] for path in (ROOT / "tests/data/scenarios").glob("kubernetes*.json") for each in scenarios(path)
    }
    for name in re.findall(r"`([^`]+)`", rules):
        assert f"def {name}(" in tests or name in known, name
    numbers = {int(n) for n in re.findall(r"\bK(\d+)", rules)}
    assert {1, 2, 3, 4, 5, 7, 9, 11, 12, 13, 14, 15, 16, 21} <= numbers


def scenarios(path: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(path.read_text())["scenarios"]
    return found

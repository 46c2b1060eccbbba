"""Every rule of Ray's design text is in the README's table: with the actions and properties that follow it, or left out
and why; and every finding and every action is told of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rules import Rules

import specs.ray
from specs.ray import Edition, Timers, ray
from specs.ray.mutants import MUTANTS

FOLDER = Path(specs.ray.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
# Together these have every action and every property.
MACHINES = (
    ray(),
    ray(edition=Edition.SEED),
    ray(timers=Timers.FREE, late_launches=1, late_start=True, errors=True),
    ray(reconfigure=True, drains=True, request_resources=1, min_workers=1),
    ray(split=True),
    ray(types=2, max_workers=1, max_nodes=1),
    ray(vanish=False, crash=False),
    ray(split=True, jobs=1),
)
RULES = Rules("R", README, MACHINES)


def test_no_rule_is_lost() -> None:
    RULES.assert_none_is_lost(19)


@pytest.mark.parametrize("rule", RULES.rows)
def test_a_rule_is_followed_or_left_out_with_a_reason(rule: str) -> None:
    RULES.assert_followed_or_left_out(rule)


def test_every_action_and_property_is_in_the_readme() -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE))
    names = {each.name for m in MACHINES for each in (*m.actions, *m.properties)}
    assert rows == names


def test_every_finding_is_in_the_readme_and_says_whether_it_is_confirmed() -> None:
    linked = set(re.findall(r"\(findings/([\w-]+\.md)\)", README))
    assert linked == {path.name for path in (FOLDER / "findings").glob("*.md")}
    for name in linked:
        assert re.search(r"^Confirmed: (yes|no)", (FOLDER / "findings" / name).read_text("utf-8"), re.MULTILINE)


def test_every_report_of_the_museum_is_in_the_readme() -> None:
    rows = re.findall(r"^\| ((?:kube)?ray#\d+) \| .+ \| `(\w+)` \| \d+ \|$", README, re.MULTILINE)
    assert rows == [(m.report, m.violated) for m in MUTANTS if m.report]

"""Every rule of "Namespace fair share" is in the README's table: with what follows it, or left out and why.

The table and the docstrings must cite each other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

import specs.volcano
from specs.volcano import Edition, Layout, volcano
from specs.volcano.reclaim import volcano_reclaim

README = (Path(specs.volcano.__file__).parent / "README.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (V\d+) \| .+ \| (.+) \|$", README, re.MULTILINE))
# Together these have every action and every property.
MACHINES = (
    volcano(),
    volcano(edition=Edition.CURRENT),
    volcano(quota_changes=1, drains=1, scale_ups=1, bind_failures=1),
    volcano(layout=Layout.EXAMPLE),
    volcano_reclaim(),
)


def cited() -> dict[str, set[str]]:
    """For each rule the actions and properties whose docstrings cite it."""
    found: dict[str, set[str]] = defaultdict(set)
    for machine in MACHINES:
        documented = [(a.name, a.doc) for a in machine.actions] + [(p.name, p.doc) for p in machine.properties]
        for name, doc in documented:
            for rule in re.findall(r"\bV\d+\b", doc):
                found[rule].add(name)
    return found


def test_no_rule_is_lost() -> None:
    assert list(ROWS) == [f"V{i}" for i in range(1, 12)]
    assert cited().keys() <= ROWS.keys()


@pytest.mark.parametrize("rule", ROWS)
def test_a_rule_is_followed_or_left_out_with_a_reason(rule: str) -> None:
    named = set(re.findall(r"`(\w+)`", ROWS[rule]))
    assert named == cited()[rule]
    if not named:
        assert re.fullmatch(r"left out: .{20,}", ROWS[rule])


def test_every_action_says_which_rule_it_follows() -> None:
    claimed = set().union(*cited().values())
    assert {a.name for m in MACHINES for a in m.actions} <= claimed

"""Every rule of YuniKorn's design is in the README's table: with the actions and properties that follow it in the code
of today, or left out and why. The table and the docstrings must cite each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rules import Rules

import specs.yunikorn.current
from specs.yunikorn.current import Style, yunikorn_current

README = (Path(specs.yunikorn.current.__file__).parent / "README.md").read_text(encoding="utf-8")
# Together these have every action and every property.
MACHINES = (
    yunikorn_current(
        duplicates=1,
        deletions=1,
        bind_failures=1,
        preemptions=1,
        node_removals=1,
        app_removals=1,
        restarts=1,
        max_apps=1,
    ),
    yunikorn_current(style=Style.HARD, real=2, capacity=4),
    yunikorn_current(size=5),
    yunikorn_current(split_timeout=True, async_asks=True, user_limit=2, config_updates=1, autoscaler=True),
)
RULES = Rules("Y", README, MACHINES)


def test_no_rule_is_lost() -> None:
    RULES.assert_none_is_lost(30)


@pytest.mark.parametrize("rule", RULES.rows)
def test_a_rule_is_followed_or_left_out_with_a_reason(rule: str) -> None:
    RULES.assert_followed_or_left_out(rule)


def test_every_action_cites_a_rule_or_a_report() -> None:
    for machine in MACHINES:
        for action in machine.actions:
            assert re.search(r"\b(Y\d+|YUNIKORN-\d+)\b", action.doc), action.name

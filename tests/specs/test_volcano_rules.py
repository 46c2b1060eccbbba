"""Every rule of "Namespace fair share" is in the README's table: with what follows it, or left out and why.

The table and the docstrings must cite each other.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rules import Rules

import specs.volcano
from specs.volcano import Edition, Layout, volcano
from specs.volcano.reclaim import volcano_reclaim

README = (Path(specs.volcano.__file__).parent / "README.md").read_text(encoding="utf-8")
# Together these have every action and every property.
MACHINES = (
    volcano(),
    volcano(edition=Edition.CURRENT),
    volcano(quota_changes=1, drains=1, scale_ups=1, bind_failures=1, slow_ends=1),
    volcano(layout=Layout.EXAMPLE),
    volcano_reclaim(),
    volcano_reclaim(repaired=True),
)
RULES = Rules("V", README, MACHINES)


def test_no_rule_is_lost() -> None:
    RULES.assert_none_is_lost(11)


@pytest.mark.parametrize("rule", RULES.rows)
def test_a_rule_is_followed_or_left_out_with_a_reason(rule: str) -> None:
    RULES.assert_followed_or_left_out(rule)


def test_every_action_says_which_rule_or_report_it_follows() -> None:
    """What happens to the scheduler, like a drained node, is no rule of the design's: reports tell of it."""
    documented = {a.name: a.doc for machine in MACHINES for a in machine.actions}
    assert [name for name, doc in documented.items() if not re.search(r"\bV\d+\b|\bvolcano#\d+\b", doc)] == []

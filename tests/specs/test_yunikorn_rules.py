"""Every rule of the design is in the README's table: with the actions and properties that follow it, or left out and
why.

The table and the docstrings must cite each other: a rule that a docstring claims is in its row, and the other way
round.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

import specs.yunikorn
from specs.yunikorn import Policy, Queues, yunikorn

README = (Path(specs.yunikorn.__file__).parent / "README.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (Y\d+) \| .+ \| (.+) \|$", README, re.MULTILINE))
# Together these have every action and every property.
MACHINES = (yunikorn(), yunikorn(policy=Policy.FAIR), yunikorn(size=(3, 5)), yunikorn(queues=Queues.TWO_LEAVES))


def cited() -> dict[str, set[str]]:
    """For each rule the actions and properties whose docstrings cite it."""
    found: dict[str, set[str]] = defaultdict(set)
    for machine in MACHINES:
        for each in (*machine.actions, *machine.properties):
            for rule in re.findall(r"\bY\d+\b", each.doc):
                found[rule].add(each.name)
    return found


def test_no_rule_is_lost() -> None:
    assert list(ROWS) == [f"Y{i}" for i in range(1, 31)]


@pytest.mark.parametrize("rule", ROWS)
def test_a_rule_is_followed_or_left_out_with_a_reason(rule: str) -> None:
    where = ROWS[rule]
    named = set(re.findall(r"`(\w+)`", where))
    assert named == cited()[rule]
    if not named:
        assert re.fullmatch(r"left out: .{20,}", where)


def test_no_docstring_cites_a_rule_that_is_none() -> None:
    assert cited().keys() <= ROWS.keys()


def test_every_action_says_which_rule_it_follows() -> None:
    claimed = set().union(*cited().values())
    assert {a.name for m in MACHINES for a in m.actions} <= claimed

"""Every rule of the design is in the README's table: with the actions and properties that follow it, or left out and
why.

The table and the docstrings must cite each other: a rule that a docstring claims is in its row, and the other way
round.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rules import Rules

import specs.yunikorn.seed
from specs.yunikorn.seed import Policy, Queues, yunikorn_seed

README = (Path(specs.yunikorn.seed.__file__).parent / "README.md").read_text(encoding="utf-8")
# Together these have every action and every property.
MACHINES = (
    yunikorn_seed(),
    yunikorn_seed(policy=Policy.FAIR),
    yunikorn_seed(size=(3, 5)),
    yunikorn_seed(queues=Queues.TWO_LEAVES),
)
RULES = Rules("Y", README, MACHINES)


def test_no_rule_is_lost() -> None:
    RULES.assert_none_is_lost(30)


@pytest.mark.parametrize("rule", RULES.rows)
def test_a_rule_is_followed_or_left_out_with_a_reason(rule: str) -> None:
    RULES.assert_followed_or_left_out(rule)


def test_every_action_says_which_rule_it_follows() -> None:
    RULES.assert_every_action_cites_one()

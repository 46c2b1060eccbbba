"""A README's table of the rules of a design: each is followed by the actions and properties that it names, or left out
and why. The table and the docstrings must cite each other: a rule that a docstring claims is in its row, and the other
way round."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from model.language import Machine


class Rules:
    """The rules ``letter``1, ``letter``2, ...; the ``machines`` together have every action and every property."""

    def __init__(self, letter: str, readme: str, machines: Sequence[Machine]) -> None:
        self.rows = dict(re.findall(rf"^\| ({letter}\d+) \| .+ \| (.+) \|$", readme, re.MULTILINE))
        self.actions = {a.name for m in machines for a in m.actions}
        self.cited: dict[str, set[str]] = defaultdict(set)
        for machine in machines:
            documented = [(a.name, a.doc) for a in machine.actions] + [(p.name, p.doc) for p in machine.properties]
            for name, doc in documented:
                for rule in re.findall(rf"\b{letter}\d+\b", doc):
                    self.cited[rule].add(name)
        self._letter = letter

    def assert_none_is_lost(self, count: int) -> None:
        """All are in the table, in order, and no docstring cites one that is none."""
        assert list(self.rows) == [f"{self._letter}{i}" for i in range(1, count + 1)]
        assert self.cited.keys() <= self.rows.keys()

    def assert_followed_or_left_out(self, rule: str) -> None:
        """Its row names exactly what cites it, or says at length why nothing does."""
        named = set(re.findall(r"`(\w+)`", self.rows[rule]))
        assert named == self.cited[rule]
        if not named:
            assert re.fullmatch(r"left out: .{20,}", self.rows[rule])

    def assert_every_action_cites_one(self) -> None:
        """No action is without a rule."""
        assert self.actions <= set().union(*self.cited.values())

"""What the README of the benchmark model says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tables import found, load, rows, told

import specs.gang
from model.explore import explore
from specs.gang import gang

README = (Path(specs.gang.__file__).parent / "README.md").read_text(encoding="utf-8")
ROWS = rows(README)


@pytest.mark.parametrize("parameters", ROWS)
def test_the_table_tells_what_is_found(parameters: str) -> None:
    assert found(explore(load("gang", parameters))) == told(ROWS[parameters])


def test_actions_properties_and_rules_are_those_of_the_spec() -> None:
    docs = {each.name: each.doc.rstrip(".") for each in (*gang().actions, *gang().properties)}
    told_of = dict(re.findall(r"^\| `(\w+)` \| (?:\w+ \| )?(.+) \|$", README, re.MULTILINE))
    assert told_of == docs
    cited = set(re.findall(r"\bY\d+\b", " ".join(docs.values())))
    assert re.findall(r"^\| (Y\d+) \|", README, re.MULTILINE) == sorted(cited, key=lambda rule: int(rule[1:]))

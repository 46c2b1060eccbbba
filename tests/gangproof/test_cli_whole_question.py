"""``gangproof schedule`` answers the whole question where the policy knows it: nothing is dropped on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gangproof.cli import run
from reference.cluster.features import RULES
from reference.schedulers import KNOWS

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("example", "policy"), [("volcano-queues", "volcano"), ("podgroup-topology", "kubernetes")])
def test_an_example_of_its_system_is_answered_whole(
    example: str, policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schedule", str(EXAMPLES / example), "--policy", policy, "--json"]) == 0
    told = capsys.readouterr()
    answer = json.loads(told.out)
    assert answer["refusals"] == answer["pending"] == []
    for rule in KNOWS[policy] & RULES:
        assert f"{policy} does not know {rule.value}" not in told.err
    assert "dropped, pods may be placed apart" not in told.err


def test_yunikorn_says_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    run(["schedule", str(EXAMPLES / "podgroup-topology"), "--policy", "yunikorn", "--json"])
    assert "yunikorn does not know required topology" in capsys.readouterr().err

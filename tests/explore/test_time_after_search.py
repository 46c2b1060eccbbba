"""What is told after the search keeps to the time limit, but for the traces of violations; and long runs are quick."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import pytest

from model.explore import Exploration
from model.explore.search.budget import Budget
from model.explore.search.search import Found, Occurrence
from model.explore.traces import recover
from model.explore.traces.recover import Recovery
from model.language import Expr, Machine, one_of, require
from model.semantics import Semantics
from model.verdict import Outcome, PropertyVerdict

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


def ladder(length: int) -> Machine:
    """Up to the end, on one of three sides, which may be changed on every rung; one action never happens."""
    m = Machine("ladder")
    at = m.scalar("at", range(length + 1), init=0)
    side = m.scalar("side", range(3), init=one_of(0, 1))

    @m.action
    def up() -> None:
        require(at < length)
        at.next += 1

    @m.action
    def cross() -> None:
        side.next = (side + 1) % 3

    @m.action
    def rest() -> None:
        at.next = at

    @m.action
    def fall() -> None:
        require(at > length)
        at.next = 0

    @m.always
    def never_there() -> Expr:
        return (at < length) | (side != 2)

    @m.sometimes
    def there() -> Expr:
        return at == length

    return m


def late(exploration: Exploration) -> None:
    """Let the time of what comes after the search be over."""
    exploration.search.seconds = 1e9
    exploration._budget = Budget(exploration.search)
    exploration._recovery = Recovery(exploration.search, budget=exploration._budget)


def answers(exploration: Exploration) -> list[PropertyVerdict]:
    return [exploration._property(p) for p in exploration.program.machine.properties]


def test_a_violation_has_a_shortest_trace_also_when_time_is_out() -> None:
    machine = ladder(20)
    exploration = Exploration(machine, time_limit=60)
    late(exploration)
    bad, goal = answers(exploration)
    assert bad.trace is not None
    assert len(bad.trace) == 21
    assert Semantics(machine).replay(bad.trace) is None
    assert bad.note is not None
    assert bad.note.endswith("time limit of 60 s ran out")
    assert goal.trace is not None


def test_a_long_run_to_a_goal_is_not_looked_up_then() -> None:
    exploration = Exploration(ladder(1_200), time_limit=60)
    late(exploration)
    bad, goal = answers(exploration)
    assert bad.trace is not None
    assert (goal.outcome, goal.how, goal.trace) == (Outcome.HOLDS, "reached after 1200 steps", None)
    assert goal.note == "the run was not looked up: time limit of 60 s ran out"


def test_what_was_not_seen_is_told_as_far_as_there_is_time() -> None:
    whole = Exploration(ladder(20), time_limit=60)
    late(whole)
    some = whole.unseen
    assert (some.blocked, some.idle, some.stuck) == ((), (), None)
    assert some.unfinished == "time limit of 60 s ran out"
    assert some.warnings == ("time limit of 60 s ran out before all was told of what was not seen",)
    full = Exploration(ladder(20), time_limit=60).unseen
    assert full.values == some.values
    assert [b.action for b in full.blocked] == ["fall"]
    assert [i.action for i in full.idle] == ["rest"]
    assert full.unfinished is None
    schema = json.loads((files("gangproof") / "schemas" / "check.json").read_text())["properties"]["coverage"]
    for told, reason in ((some, "time limit of 60 s ran out"), (full, None)):
        written = told.to_json()
        jsonschema.validate(written, schema)
        assert written["unfinished"] == reason
        assert (written["blocked"] == []) == (reason is not None)


def test_a_run_through_many_small_levels_is_a_shortest_one(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = ladder(1_500)
    search = Exploration(machine, any_traces=True).search
    semantics = Semantics(machine)
    for window in (recover._WINDOW, 0):
        monkeypatch.setattr(recover, "_WINDOW", window)
        found = Recovery(search)
        for shard, count in enumerate(search.counts):
            state = Found(shard, count - 1)
            trace = found.trace(Occurrence(state, None))
            assert len(trace) == search.depth_of(state) > 1_000
            assert semantics.replay(trace) is None
        # Again, with what is known by now.
        again = found.trace(Occurrence(state, None))
        assert again == trace

"""Why a state is reachable: the nearest state, against all states of small machines."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.explain.reach import nearest
from model.language import Machine
from model.query import read_condition
from model.semantics import Semantics, explore
from model.strategies import machines
from model.trace import named_state
from model.verdict import Outcome
from specs.gang import gang
from specs.loading import load_spec

SLOW_TO_DRAW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def check(machine: Machine, text: str) -> Outcome:
    """``text`` is answered as all states of the machine say."""
    query = read_condition(machine, text)
    s = Semantics(machine)
    explored = explore(machine)
    such = [d for x, d in explored.distance.items() if s.evaluate(query.expr, x, dict(query.elements))]
    found = nearest(machine, query)
    if such:
        assert found.outcome is Outcome.HOLDS
        assert found.trace is not None
        assert len(found.trace) == min(such)
        assert s.replay(found.trace) is None
        (last,) = [x for x in explored.distance if named_state(machine, x) == found.trace.last]
        assert s.evaluate(query.expr, last, dict(query.elements))
    else:
        assert found.outcome is Outcome.VACUOUS
        count = len(explored.distance)
        assert found.how == f"unreachable, in no state of all {count:,} state{'' if count == 1 else 's'}"
        assert found.states == count
    return found.outcome


@settings(max_examples=25, deadline=None, suppress_health_check=SLOW_TO_DRAW)
@given(machines(200), st.data())
def test_random_questions_about_random_machines(machine: Machine, data: st.DataObject) -> None:
    texts = []
    for cell in data.draw(st.lists(st.sampled_from(machine.cells()), min_size=1, max_size=3)):
        raw = data.draw(st.sampled_from(list(machine.values(cell.variable.domain))))
        operator = data.draw(st.sampled_from(["==", "==", "!="]))
        texts.append(f"{machine.show_cell(cell)} {operator} {machine.show(cell.variable.domain, raw)}")
    check(machine, " and ".join(texts))


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("state[app1] == NEW", Outcome.HOLDS),
        ("state[app1] == RUNNING and state[app2] == KILLED", Outcome.HOLDS),
        ("all(state[a] == FINISHED for a in App)", Outcome.HOLDS),
        ("any(state[a] == RUNNING for a in App) and sum(reals[a, n] for a in App for n in Node) == 0", Outcome.HOLDS),
        ("sum(reals[a, n] for a in App for n in Node) > 3", Outcome.VACUOUS),
        ("all(state[a] == RUNNING for a in App)", Outcome.VACUOUS),
    ],
)
def test_gang(text: str, outcome: Outcome) -> None:
    assert check(gang(), text) is outcome


def test_it_stops_when_the_answer_is_known() -> None:
    machine = load_spec("gang", ["apps=5", "size=3", "nodes=2", "capacity=4", "quota=8"])
    found = nearest(machine, read_condition(machine, "state[app3] == KILLED"))
    assert found.trace is not None
    assert [s.call for s in found.trace.steps] == ["submit(app3)", "allocate(app3, node1)", "timeout(app3)"]
    assert found.states < 100_000


def test_a_budget_that_runs_out_is_unknown() -> None:
    machine = load_spec("gang", ["apps=4", "size=3", "nodes=2", "capacity=4", "quota=7"])
    query = read_condition(machine, "sum(reals[a, n] for a in App for n in Node) > 7")
    found = nearest(machine, query, max_states=1000)
    assert found.outcome is Outcome.UNKNOWN
    assert found.how.startswith("state budget of 1,000 ran out; no state of the 1,000 states found")
    assert nearest(machine, query).outcome is Outcome.VACUOUS


def test_the_machine_is_as_before() -> None:
    machine = gang()
    names = [p.name for p in machine.properties]
    nearest(machine, read_condition(machine, "state[app1] == KILLED"))
    assert [p.name for p in machine.properties] == names

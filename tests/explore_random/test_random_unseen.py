"""What an exploration says that it did not see, against the golden interpreter's states, on random machines."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from model.explore import Exploration
from model.explore.coverage.blocked import Blockers, conjuncts_of
from model.language import Action, Machine
from model.lowering.grounding import Grounder
from model.semantics import Explored, Semantics, State, explore
from model.strategies import machines

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

RANDOM = settings(
    max_examples=60,
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def taken_values(machine: Machine, states: list[State]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {v.name: set() for v in machine.variables}
    for state in states:
        for cell, value in zip(machine.cells(), state, strict=True):
            found[cell.variable.name].add(machine.show(cell.variable.domain, value))
    return found


def check_values(machine: Machine, exploration: Exploration, golden: Explored) -> None:
    seen = taken_values(machine, list(golden.distance))
    for variable, taken in zip(machine.variables, exploration.unseen.values, strict=True):
        every = [machine.show(variable.domain, raw) for raw in machine.values(variable.domain)]
        missing = [value for value in every if value not in seen[variable.name]]
        told = []
        for run in taken.never:
            first, _, last = run.partition("..")
            told += every[every.index(first) : every.index(last or first) + 1]
        assert (taken.variable, told) == (variable.name, missing)
        assert (taken.taken, taken.size) == (len(every) - len(missing), len(every))


def check_conjuncts(machine: Machine, action: Action, exploration: Exploration, states: list[State]) -> None:
    """Counted one by one, for an action that may well have fired."""
    s = Semantics(machine)
    grounder = Grounder(machine, exploration.program.graph)
    blockers = Blockers(s, exploration.program, exploration.search.native, grounder, len(states), 10**9)
    own = next(a for a in s.machine.actions if a is action)
    shards = [shard.states for shard in exploration.search.shards]
    told = blockers.explain(own, lambda: iter(shards))
    instances = [i for i in s.instances if i.action is action]
    conjuncts = conjuncts_of(action)
    false, alone, patterns = Counter[int](), Counter[int](), set()
    nearest: dict[int, Counter[int]] = {n: Counter() for n in range(len(conjuncts))}
    for number, instance in enumerate(instances):
        for state in states:
            holds = [bool(s.evaluate(c, state, instance.environment())) for c in conjuncts]
            assert all(holds) == s.is_enabled(instance, state)
            patterns.add(tuple(holds))
            for n, each in enumerate(holds):
                false[n] += not each
                if not each and holds.count(False) == 1:
                    alone[n] += 1
                    nearest[n][number] += 1
    assert (told.instances, told.looked_at) == (len(instances), len(instances))
    assert told.cases == len(instances) * len(states)
    for n, conjunct in enumerate(told.conjuncts):
        assert (conjunct.false, conjunct.alone) == (false[n], alone[n])
        assert conjunct.nearest_states == max(nearest[n].values(), default=0)
        if conjunct.nearest is not None:
            chosen = next(i for i, each in enumerate(instances) if s.arguments(each) == conjunct.nearest)
            assert nearest[n][chosen] == conjunct.nearest_states
    for chosen in told.never_together:
        assert not any(all(holds[n] for n in chosen) for holds in patterns)
    fulfilled = {n for n in range(len(conjuncts)) if any(holds[n] for holds in patterns)}
    if len(fulfilled) < len(conjuncts):
        assert {n for (n,) in told.never_together} == set(range(len(conjuncts))) - fulfilled


@RANDOM
@given(machines(300))
def test_what_was_not_seen(machine: Machine) -> None:
    golden = explore(machine)
    exploration = Exploration(machine)
    unseen = exploration.unseen
    check_values(machine, exploration, golden)
    assert [b.action for b in unseen.blocked] == [name for name, fired in golden.fired.items() if not fired]
    assert {i.action: i.idle for i in unseen.idle} == {name: n for name, n in golden.idle.items() if n}
    assert {i.action: i.fired for i in unseen.idle} == {n: golden.fired[n] for n in golden.fired if golden.idle[n]}
    if not golden.stuck:
        assert unseen.stuck is None
    else:
        assert unseen.stuck is not None
        assert (unseen.stuck.states, len(unseen.stuck.trace)) == (len(golden.stuck), min(golden.stuck))
        assert Semantics(machine).replay(unseen.stuck.trace) is None
    for action in machine.actions:
        check_conjuncts(machine, action, exploration, list(golden.distance))

"""Holds the compiled exploration of a machine against the golden interpreter."""

from __future__ import annotations

from model import semantics
from model.explore import Exploration
from model.language import Machine, PropertyKind
from model.semantics import Semantics
from model.verdict import Outcome


def assert_agrees(machine: Machine) -> Exploration:
    """Same states at the same distances, same counts, same verdicts; every trace is as short and replays."""
    golden = semantics.explore(machine)
    exploration = Exploration(machine)
    verdict = exploration.verdict
    assert verdict.coverage.complete
    found = dict(zip(map(tuple, exploration.states.tolist()), exploration.distances.tolist(), strict=True))
    assert found == golden.distance
    assert verdict.coverage.distinct_states == len(golden.distance)
    assert verdict.coverage.transitions == golden.transitions
    assert verdict.coverage.depth == golden.depth
    assert verdict.coverage.actions == golden.fired
    replay = Semantics(machine)
    for p in verdict.properties:
        goal = p.kind == PropertyKind.SOMETIMES.value
        reached = golden.reached if goal else golden.violated
        if p.name in reached:
            assert p.outcome is (Outcome.HOLDS if goal else Outcome.VIOLATED), p
            assert p.trace is not None
            assert len(p.trace) == reached[p.name], p
            assert replay.replay(p.trace) is None, p
        elif not golden.distance or goal or p.name in golden.unreached_premises:
            assert p.outcome is Outcome.VACUOUS, p
        else:
            assert p.outcome is Outcome.HOLDS, p
    return exploration

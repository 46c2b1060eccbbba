"""What it means that the compiled explorer and the golden interpreter agree on a machine."""

from __future__ import annotations

from model.explore import Exploration
from model.language import Machine, PropertyKind
from model.semantics import Explored, Semantics, explore
from model.verdict import Outcome, PropertyVerdict

BUILT_IN = ("deadlock_free", "values_in_range", "one_write_per_cell")


def check_agreement(machine: Machine) -> Explored:
    """Assert that both find the same states, steps and verdicts, and that every trace is a run. What was found."""
    expected = explore(machine)
    found = Exploration(machine)
    coverage = found.verdict.coverage
    assert coverage.complete
    distances = zip(map(tuple, found.states.tolist()), found.distances.tolist(), strict=True)
    assert dict(distances) == expected.distance
    assert coverage.distinct_states == len(expected.distance)
    assert coverage.transitions == expected.transitions
    assert coverage.depth == expected.depth
    assert dict(coverage.actions) == expected.fired
    names = [p.name for p in machine.properties]
    assert [p.name for p in found.verdict.properties] == [*names, *BUILT_IN]
    semantics = Semantics(machine)
    for each in found.verdict.properties:
        _check_property(machine, each, expected)
        if each.trace is not None:
            assert semantics.replay(each.trace) is None, each.name
    _check_outcome(machine, found.verdict.outcome, expected)
    return expected


def _check_property(machine: Machine, found: PropertyVerdict, expected: Explored) -> None:
    kinds = {p.name: p.kind for p in machine.properties}
    kind = kinds.get(found.name)
    if kind is PropertyKind.SOMETIMES:
        steps = expected.reached.get(found.name)
        outcome = Outcome.VACUOUS if steps is None else Outcome.HOLDS
    else:
        steps = expected.violated.get(found.name)
        vacuous = found.name in expected.unreached_premises
        outcome = Outcome.VIOLATED if steps is not None else Outcome.VACUOUS if vacuous else Outcome.HOLDS
    assert (found.name, found.outcome) == (found.name, outcome)
    assert (None if found.trace is None else len(found.trace)) == steps, found.name


def _check_outcome(machine: Machine, found: Outcome, expected: Explored) -> None:
    unreached = [p for p in machine.properties if p.kind is PropertyKind.SOMETIMES and p.name not in expected.reached]
    vacuous = unreached or expected.unreached_premises or 0 in expected.fired.values()
    assert found is (Outcome.VIOLATED if expected.violated else Outcome.VACUOUS if vacuous else Outcome.HOLDS)

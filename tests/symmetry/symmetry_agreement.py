"""What it means that an exploration up to symmetry agrees with the golden interpreter, which knows of none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model.explore import Exploration
from model.explore.symmetry.canonical import Canonical
from model.language import Machine, Sort
from model.semantics import Explored, Semantics, State, explore
from model.verdict import Outcome


def check_symmetric_agreement(machine: Machine) -> Explored:
    """Assert: exactly one state of each orbit, same distances, same verdicts, shortest traces that are runs."""
    golden = explore(machine)
    found = Exploration(machine, symmetry=True)
    canonical = found.program.canonical
    assert canonical is not None
    orbits = {}
    for state, distance in golden.distance.items():
        orbit = canonical.of(state)[0]
        orbits[orbit] = min(distance, orbits.get(orbit, distance))
    assert dict(zip(map(tuple, found.states.tolist()), found.distances.tolist(), strict=True)) == orbits
    coverage = found.verdict.coverage
    assert coverage.distinct_states == len(orbits)
    # A start that is not symmetric may reach one state of an orbit later than another.
    assert coverage.depth == max(orbits.values())
    assert {a for a, n in coverage.actions.items() if n} == {a for a, n in golden.fired.items() if n}
    assert (coverage.transitions == 0) == (golden.transitions == 0)
    semantics = Semantics(machine)
    for p in found.verdict.properties:
        if p.kind in ("eventually", "leads_to"):
            assert p.outcome is Outcome.UNKNOWN
            continue
        steps = (golden.reached if p.kind == "sometimes" else golden.violated).get(p.name)
        if steps is not None:
            assert p.outcome is (Outcome.HOLDS if p.kind == "sometimes" else Outcome.VIOLATED), p.name
            assert p.trace is not None
            assert len(p.trace) == steps, p.name
            assert semantics.replay(p.trace) is None, p.name
        else:
            vacuous = p.kind == "sometimes" or p.name in golden.unreached_premises
            assert p.outcome is (Outcome.VACUOUS if vacuous else Outcome.HOLDS), p.name
    return golden


def permuted(canonical: Canonical, state: Sequence[int], by: Mapping[type[Sort], Sequence[int]]) -> State:
    """Raw ``state`` with the elements of the sorts ``by`` exchanged: what was said of e is said of ``by[sort][e]``."""
    machine = canonical.machine
    cells = machine.cells()
    index = {(c.variable.name, c.indices): i for i, c in enumerate(cells)}
    new = list(state)
    for value, cell in zip(state, cells, strict=True):
        image = tuple(by[s][e] if s in by else e for s, e in zip(cell.variable.sorts, cell.indices, strict=True))
        new[index[cell.variable.name, image]] = value
    return tuple(new)

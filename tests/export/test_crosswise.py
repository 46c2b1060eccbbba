"""Explorer and bounded model checking: of every shipped spec, edition and mutant the same verdicts and lengths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from peers_agreement import MUTANTS, SIZES, disagreement_of_bounded, expected_of

from model.explore import explore
from specs.editions import editions
from specs.loading import load_spec
from specs.registry import SHIPPED, spec_function

pytestmark = pytest.mark.no_cover

DEPTH = 12
SHORT = 4
"""Runs of every claim of a spec are looked at up to here; that they hold, they may do for as long as one waits."""
EDITIONS = tuple(f"{name} edition={each}" for name in SHIPPED for each in editions(spec_function(name)))
FAST = ("gang", "coscheduling", "gang-runs_one_early")


def some(names: Iterable[str]) -> list[Any]:
    """Those in FAST for the fast tests."""
    return [pytest.param(n, marks=[] if n in FAST else [pytest.mark.slow]) for n in dict.fromkeys(names)]


@pytest.mark.parametrize("call", some([*SIZES, *EDITIONS]))
def test_a_shipped_spec(call: str) -> None:
    name, *given = call.split()
    machine = load_spec(name, given)
    wanted = expected_of(explore(machine))
    names = {p.name for p in machine.properties} | {"deadlock_free", "values_in_range", "one_write_per_cell"}
    names -= {p.name for p in machine.properties if p.kind.value == "sometimes"}
    assert disagreement_of_bounded(machine, names, wanted, SHORT) is None
    for violated, steps in wanted.violated.items():
        if SHORT < steps <= DEPTH:
            assert disagreement_of_bounded(machine, {violated}, wanted, steps) is None, violated


@pytest.mark.parametrize("name", some(MUTANTS))
def test_a_mutant(name: str) -> None:
    """What it is meant to break is broken in as many steps; beyond the depth, nothing is found up to it. Where it
    breaks a claim on runs, of the other claims the same is said."""
    mutant = MUTANTS[name]
    machine = mutant.make()
    wanted = expected_of(explore(machine))
    if mutant.violated not in wanted.violated:
        names = {n for n, kind in wanted.kinds.items() if kind.value in ("always", "step")}
        assert disagreement_of_bounded(machine, names, wanted, SHORT) is None
        return
    steps = min(DEPTH, wanted.violated[mutant.violated])
    assert disagreement_of_bounded(machine, {mutant.violated}, wanted, steps) is None

"""No two mutants of a spec are the same machine, none is the spec itself, and none is a whole edition of it: each tells
one fault, and another one than the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import pytest

from model.language import Machine
from model.language.machine import Action
from model.language.mutation import mutated, without_guard
from specs.editions import EDITION
from specs.gang import gang
from specs.mutant import Mutant
from specs.parameters import parameters_of, shown
from specs.registry import SHIPPED, mutants

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover


def _written(action: Action) -> str:
    """An action as it is written, whatever its name and the order of its guards and writes."""
    guards = sorted(repr(g.condition) for g in action.guards)
    writes = sorted(repr((u.variable.name, u.indices, u.adds, u.value, u.binders, u.condition)) for u in action.updates)
    return repr(([(s.name, s.type) for s in action.symbols], guards, writes))


def form(machine: Machine) -> tuple[str, ...]:
    """All that a machine is but for its properties, as text: the same for two machines that do the same in the same
    words."""
    return (
        repr([(s.__name__, d.size, d.symmetric, d.ordered) for s, d in machine.sorts.items()]),
        repr([(v.name, v.sorts, v.domain, v.initial) for v in machine.variables]),
        repr([(t.name, sorted(t.values.items())) for t in machine.tables]),
        repr([c.condition for c in machine.initial_constraints]),
        *sorted(_written(a) for a in machine.actions),
    )


def claims(machine: Machine) -> tuple[str, ...]:
    """What its properties say."""
    return tuple(repr((p.name, p.condition, p.trigger, p.fairness)) for p in machine.properties)


Told = tuple[tuple[str, ...], tuple[str, ...]]


def told(machine: Machine) -> Told:
    """What a machine does, and what it claims."""
    return form(machine), claims(machine)


def alike(some: Mapping[str, Told]) -> list[list[str]]:
    """Names of those that are the same machine."""
    found: dict[Told, list[str]] = defaultdict(list)
    for name, machine in some.items():
        found[machine].append(name)
    return [names for names in found.values() if len(names) > 1]


MANY = ("yunikorn", "ray", "kubernetes", "autoscaled_gang", "composite", "kueue", "volcano")
"""Specs with so many mutants, of so large machines, that building all takes long."""


@pytest.mark.parametrize(
    "spec", [pytest.param(spec, marks=pytest.mark.slow) if spec in MANY else spec for spec in SHIPPED]
)
def test_no_two_mutants_are_the_same_machine_and_none_is_the_spec_itself(spec: str) -> None:
    made = {m.name: told(m.make()) for m in mutants(spec)}
    assert alike(made) == []
    bases = {repr(dict(m.parameters)): m for m in mutants(spec)}
    unchanged = {scope: told(m.base()) for scope, m in bases.items()}
    assert [m.name for m in mutants(spec) if made[m.name] == unchanged[repr(dict(m.parameters))]] == []


@pytest.mark.parametrize("spec", SHIPPED)
def test_no_mutant_is_an_edition_or_lacks_every_repair(spec: str) -> None:
    assert [m.name for m in mutants(spec) if {"edition", "repaired"} & m.changed.keys()] == []


def defaults_again(mutant: Mutant) -> set[str]:
    """The parameters that a fault sets back to their defaults: what then violates a property is the spec itself."""
    edition = str(shown(mutant.parameters[EDITION])) if EDITION in mutant.parameters else ""
    own = {p.name: p.by_edition.get(edition, p.default) for p in parameters_of(mutant.build)}
    return {name for name, value in mutant.changed.items() if value == own[name]}


@pytest.mark.parametrize("spec", SHIPPED)
def test_no_fault_is_a_default(spec: str) -> None:
    assert [m.name for m in mutants(spec) if defaults_again(m)] == []


def test_a_fault_that_is_a_default_is_told() -> None:
    mutant = Mutant("x", "a reason to be", "p", gang, parameters={"quota": 2}, changed={"quota": 3, "nodes": 9})
    assert defaults_again(mutant) == {"quota"}


def test_what_is_the_same_machine() -> None:
    unlimited = [without_guard("allocate", "< 3")]
    some = {"first": mutated(gang, *unlimited), "second": mutated(gang, *unlimited), "base": gang()}
    assert alike({name: told(machine) for name, machine in some.items()}) == [["first", "second"]]
    large = mutated(lambda: gang(apps=3), *unlimited)
    assert alike({"small": told(some["first"]), "large": told(large), "base": told(gang())}) == []

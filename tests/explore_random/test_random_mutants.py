"""The compiled explorer against the golden interpreter on mutants of random machines: faults that no author writes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from random_agreement import check_agreement

from model.language import Machine, SpecError
from model.language.checks import check_action
from model.language.generic_mutants import generic_mutants
from model.strategies import machines

# A tracer would take more time here than the tests do; what they run is run by others too.
pytestmark = pytest.mark.no_cover

RANDOM = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@RANDOM
@given(machines(200), st.data())
def test_the_explorer_agrees_on_mutants(machine: Machine, data: st.DataObject) -> None:
    edit = data.draw(st.sampled_from(generic_mutants(machine))).edit
    changed = [edit.change(a) if a.name == edit.action else a for a in machine.actions]
    assert sum(a is not b for a, b in zip(changed, machine.actions, strict=True)) == 1
    machine.actions = changed
    try:
        for action in machine.actions:
            check_action(machine, action)
    except SpecError:
        assume(False)
    check_agreement(machine)

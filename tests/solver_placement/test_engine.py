"""One call to CP-SAT: what it answers is exact."""

from __future__ import annotations

import time

import pytest
from ortools.sat.python import cp_model

from solver_placement.engine import Effort, Outcome, run


@pytest.mark.parametrize("maximise", [True, False])
def test_objectives_that_no_float_can_tell_apart(maximise: bool) -> None:
    """CP-SAT tells its objective as a float, and 2**54 + 1 is none."""
    model = cp_model.CpModel()
    one, other = model.new_bool_var("one"), model.new_bool_var("other")
    model.add(one + other == 1)
    total = (2**54 + 1) * one + (2**54 + 2) * other
    if maximise:
        model.maximize(total)
    else:
        model.minimize(total)
    found = run(model, Effort(time.monotonic() + 20), maximise)
    assert found.outcome is Outcome.OPTIMAL
    assert found.objective == found.bound == 2**54 + 1 + maximise

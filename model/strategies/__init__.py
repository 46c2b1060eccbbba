"""Hypothesis strategies: random machines, to hold engines against `model.semantics`.

@given(machines())
def test_my_engine(machine: Machine) -> None: ...
"""

from model.strategies.liveness import live_machines
from model.strategies.machines import machines

__all__ = ["live_machines", "machines"]

"""Hypothesis strategies: random machines, to hold engines against `model.semantics`.

@given(machines())
def test_my_engine(machine: Machine) -> None: ...
"""

from model.strategies.machines import machines

__all__ = ["machines"]

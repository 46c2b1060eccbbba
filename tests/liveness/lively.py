"""Holds the compiled answers about liveness against their meaning."""

from __future__ import annotations

from model.explore import Exploration
from model.language import Machine
from model.semantics import Explored, Semantics, explore
from model.semantics_liveness import refutes
from model.verdict import Outcome, PropertyVerdict


def check_liveness(machine: Machine) -> tuple[Explored, dict[str, PropertyVerdict]]:
    """Assert that each liveness property gets the answer that the interpreter gives, with a shortest stem, and that
    each lasso is a fair run that violates it. What both found."""
    expected = explore(machine)
    semantics = Semantics(machine)
    found = {p.name: p for p in Exploration(machine).verdict.properties}
    for p in machine.properties:
        if not p.kind.is_liveness:
            continue
        answer = found[p.name]
        stem = expected.violated.get(p.name)
        assert answer.kind == p.kind.value
        if stem is None:
            vacuous = p.name in expected.unreached_premises
            assert answer.outcome is (Outcome.VACUOUS if vacuous else Outcome.HOLDS), answer
            assert answer.trace is None
        else:
            assert answer.outcome is Outcome.VIOLATED, answer
            assert answer.trace is not None
            assert refutes(semantics, p, answer.trace) is None, answer
            assert answer.trace.loop_start == stem, answer
    return expected, found

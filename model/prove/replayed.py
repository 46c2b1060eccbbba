"""Whether a run that a solver found violates the claim that it was found for: as `model.semantics` sees it."""

from __future__ import annotations

from collections.abc import Sequence

from model.language import Const, Expr
from model.prove.claims import Claim, premise_name
from model.semantics import Fault, FaultKind, Semantics, State


def assert_violated(semantics: Semantics, claim: Claim, start: State, numbers: Sequence[int]) -> None:
    """AssertionError, with the claim's name, unless the run from ``start`` by the instances with these numbers, each
    enabled, begins in an initial state, and its last state or step violates ``claim``, or is the goal looked for."""
    assert _is_initial(semantics, start), f"{claim.name}: the run that violates it does not begin in an initial state"
    before, last = start, start
    for place, number in enumerate(numbers, 1):
        result = semantics.fire(semantics.instances[number], last)
        if isinstance(result, Fault):
            found = claim.leads_nowhere and place == len(numbers) and result.kind is FaultKind(claim.name)
            assert found, f"{claim.name}: the run that violates it ends in a fault: {result.message}"
            return
        before, last = last, result
    assert _is_violated(semantics, claim, before, last), f"{claim.name}: the run that violates it does not"


def _is_initial(semantics: Semantics, state: State) -> bool:
    machine = semantics.machine
    choices = [o for v in machine.variables for _, o in machine.initial_choices(v)]
    return all(
        any(Const(v).raw == raw for v in one_of.values) for raw, one_of in zip(state, choices, strict=True)
    ) and all(semantics.evaluate(c.condition, state, {}) for c in machine.initial_constraints)


def _is_violated(semantics: Semantics, claim: Claim, before: State, last: State) -> bool:
    if claim.leads_nowhere:
        return False
    if claim.name == "deadlock_free":
        return not any(semantics.is_enabled(i, last) for i in semantics.instances) and not semantics.is_terminal(last)
    condition, expected = _condition(semantics, claim)
    holds = (
        semantics.evaluate(condition, before, {}, last) if claim.of_steps else semantics.evaluate(condition, last, {})
    )
    return bool(holds) == expected


def _condition(semantics: Semantics, claim: Claim) -> tuple[Expr, bool]:
    """What decides ``claim``, and what it is where the claim is violated."""
    for p in semantics.machine.properties:
        if p.name == claim.name:
            return p.condition, claim.is_goal
        for n, premise in enumerate(p.premises):
            if premise_name(p.name, n) == claim.name:
                return premise, True
    raise AssertionError(f"{claim.name} is no claim of {semantics.machine.name}")


__all__ = ["assert_violated"]

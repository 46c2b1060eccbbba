"""What an expression is after a step, said in the state before it: against `model.semantics`, on random machines."""

from __future__ import annotations

import pytest
from families import families
from few_examples import a_few
from hypothesis import given, settings

from model.language import Expr, Machine, Op, PropertyKind, Quantified, Sort, Symbol
from model.language.types import BOOL
from model.prove.any_size.effects import step_of
from model.prove.any_size.obligations import Obligations
from model.prove.any_size.sums import Piece, Sums, ghosts
from model.prove.any_size.terms import ONE, TRUE, Unreadable, all_of, freshened
from model.prove.any_size.words import Words
from model.prove.solving import Deadline
from model.semantics import Fault, Semantics, explore
from specs.gang import gang

pytestmark = pytest.mark.no_cover

RANDOM = a_few(4)
_STATES = 12


class App(Sort):
    pass


def agree(machine: Machine, most: int) -> int:
    """Compare claims, guards and sums of ``machine``, and what they are after each step, with the interpreter; how many
    steps were compared."""
    semantics = Semantics(machine)
    states = list(explore(machine).distance)[:most]
    sums = Sums(Obligations(Words(machine), Deadline(60)).prove)
    of_states = (PropertyKind.ALWAYS, PropertyKind.SOMETIMES, PropertyKind.POSSIBLE)
    written = [p.condition for p in machine.properties if p.kind in of_states]
    written += [
        Quantified("any", a.symbols, all_of(g.condition for g in a.guards)) for a in machine.actions if a.symbols
    ]
    pairs: list[tuple[Expr, Expr]] = []
    for expr in written:
        try:
            pairs.append((expr, sums.normal(freshened(expr))))
        except Unreadable:
            continue
    for state in states:
        for expr, normal in pairs:
            assert semantics.evaluate(expr, state, {}) == semantics.evaluate(normal, state, {})
    count = 0
    steps = {}
    for action in machine.actions:
        try:
            step = step_of(action, sums)
            across = [
                (p.condition, step.across(freshened(p.condition)))
                for p in machine.properties
                if p.kind is PropertyKind.STEP
            ]
            steps[action.name] = (step, [(expr, step.after(normal)) for expr, normal in pairs], across)
        except Unreadable:
            continue
    for instance in semantics.instances:
        if instance.action.name not in steps:
            continue
        env = instance.environment()
        _, after, across = steps[instance.action.name]
        for state in states:
            if semantics.is_enabled(instance, state) and not isinstance(new := semantics.fire(instance, state), Fault):
                count += 1
                for expr, before in after:
                    assert semantics.evaluate(expr, new, {}) == semantics.evaluate(before, state, env), expr
                for expr, before in across:
                    assert semantics.evaluate(expr, state, {}, new) == semantics.evaluate(before, state, env), expr
    return count


@RANDOM
@given(families(200))
def test_what_a_claim_is_after_a_step_is_what_it_was_said_to_be(machine: Machine) -> None:
    agree(machine, _STATES)


@pytest.mark.slow
@settings(RANDOM, max_examples=300, derandomize=False)
@given(families(200))
def test_many_claims_after_steps_are_what_they_were_said_to_be(machine: Machine) -> None:
    agree(machine, 40)


def test_sums_of_gang_after_steps() -> None:
    assert agree(gang(), 16) > 20


def test_double_sums_have_one_normal_form() -> None:
    """The sum over nodes of what a node holds is the sum over all pairs, in whatever order."""
    machine = gang()
    sums = Sums(Obligations(Words(machine), Deadline(60)).prove)
    total = next(p for p in machine.properties if p.name == "quota_never_exceeded")
    found = list(ghosts(sums.normal(total.condition)))
    assert len(found) == 2
    assert all(len(counter.symbols) == 2 for counter in found)


@pytest.mark.parametrize("wrong", ["elements are lost", "asked outside", "a fixed element"])
def test_pieces_that_the_laws_do_not_allow_are_errors(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the solver would say of them."""
    a, b = Symbol("a", App), Symbol("b", App)
    same = Op("==", BOOL, a, b)
    piece = {
        "elements are lost": Piece(1, TRUE, (), (a,), ONE),
        "asked outside": Piece(1, same, (), (a, b), ONE),
        "a fixed element": Piece(1, TRUE, ((a, b),), (b,), same),
    }[wrong]
    monkeypatch.setattr("model.prove.any_size.sums._pieces", lambda *_: [piece])
    with pytest.raises(AssertionError, match=wrong):
        Sums(lambda _: None).sum_of((a, b), ONE)

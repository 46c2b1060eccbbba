"""What lemmas are made of: sums that are equal, and what a step makes of an expression."""

from __future__ import annotations

import numpy as np
import pytest
from few_examples import a_few
from hypothesis import given

from model.explore import Exploration
from model.language import Expr, Machine, implies, one_of, require
from model.lowering.lower import lower
from model.proof import Method
from model.prove import prove
from model.prove.strengthen.equalities import equalities
from model.prove.strengthen.samples import Values
from model.prove.strengthen.steps import Steps
from model.prove.words import Words
from model.semantics import Fault, Semantics, explore
from model.strategies import machines
from model.verdict import Outcome

pytestmark = pytest.mark.no_cover


def tokens(premise_at: int = 5) -> Machine:
    """Ten tokens move between two places; nothing but their sum keeps the places in range."""
    m = Machine("tokens")
    here = m.scalar("here", range(11), init=10)
    there = m.scalar("there", range(11), init=0)

    @m.action
    def go() -> None:
        require(here > 0)
        here.next -= 1
        there.next += 1

    @m.action
    def come() -> None:
        require(there > 0)
        here.next += 1
        there.next -= 1

    @m.always
    def nothing_is_lost() -> Expr:
        return implies(here == premise_at, there == 10 - premise_at)

    return m


def test_sums_are_found_and_prove_what_rests_on_them() -> None:
    machine = tokens()
    program = lower(machine)
    found = equalities(program, Exploration(machine).states)
    assert [Words(machine).of(node) for node in found] == ["here + there == 10"]
    proof = prove(machine, most_k=1)
    assert proof.outcome is Outcome.HOLDS
    claimed = proof["nothing_is_lost"]
    assert claimed.method is Method.LEMMAS
    assert claimed.atoms == 1
    assert claimed.verdict.how == "inductive at k = 1, with 1 lemma of 1 atom"


def test_a_sum_of_some_states_only_is_none() -> None:
    """Every sample counts, not only those that coefficients are computed from."""
    program = lower(tokens())
    states = np.array([[10 - n, n] for n in range(11)] * 300 + [[3, 3]], np.int64)
    assert equalities(program, states) == []


@a_few(8)
@given(machines(60))
def test_what_a_step_leads_into_is_said_of_the_state_before(machine: Machine) -> None:
    program = lower(machine)
    steps, s = Steps(program), Semantics(machine)
    states = sorted(explore(machine).distance)
    for _, bad in program.state_events[:3]:
        into = Values(steps.into(bad))
        before, holds = Values([bad]), {}
        for state in states:
            holds[state] = bool(before.truth(state)[0])
        for state in states:
            after = [s.fire(i, state) for i in s.instances if s.is_enabled(i, state)]
            reached = [each for each in after if not isinstance(each, Fault)]
            leads = bool(into.truth(state).any())
            entered = any(holds[each] for each in reached)
            # A step that writes nothing that is read may be left out: it stays where it was.
            assert leads == entered or (entered and holds[state])


def test_a_premise_that_is_never_true_is_vacuous() -> None:
    machine = tokens()
    there = next(v for v in machine.variables if v.name == "there")
    here = next(v for v in machine.variables if v.name == "here")

    @machine.always
    def both_are_full() -> Expr:
        return implies((here == 9) & (there == 9), here == 1)  # type: ignore[operator]

    proof = prove(machine)
    verdict = proof["both_are_full"].verdict
    assert verdict.outcome is proof.outcome is Outcome.VACUOUS
    assert verdict.how.startswith("premise never true: ")
    assert proof["nothing_is_lost"].verdict.outcome is Outcome.HOLDS


def test_a_premise_that_is_true_at_the_start_is_not_vacuous() -> None:
    """Of the initial states one is a sample; in one that is not the premise is true."""
    m = Machine("starts")
    x = m.scalar("x", range(4), init=one_of(*range(4)))
    y = m.scalar("y", range(2), init=0)

    @m.action
    def flip() -> None:
        require(y == 0)
        y.next += 1

    @m.always
    def three_is_not_one() -> Expr:
        return implies((x == 3) & (y == 0), x != 1)

    for samples in (1, 100):
        verdict = prove(m, samples=samples)["three_is_not_one"].verdict
        assert verdict.outcome is Outcome.HOLDS, verdict.how
        assert "premise" not in verdict.how


def test_a_premise_that_is_only_not_seen_is_a_caution() -> None:
    """Five states are explored, the premise is true in the sixth."""
    proof = prove(tokens(), samples=3)
    verdict = proof["nothing_is_lost"].verdict
    assert verdict.outcome is Outcome.HOLDS
    assert "premise not seen to be true in 3 states: " in verdict.how
    short = prove(tokens(), strengthen=False, most_k=1, length=2)
    assert "premise not seen" not in short["values_in_range"].verdict.how


def test_what_is_asked_to_stop_says_so() -> None:
    """What was proved before stays."""
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 12

    proof = prove(tokens(), stop=stop)
    assert proof.outcome is Outcome.UNKNOWN
    assert any("interrupted" in c.verdict.how for c in proof.claimed)
    assert prove(tokens(), stop=lambda: False).outcome is Outcome.HOLDS

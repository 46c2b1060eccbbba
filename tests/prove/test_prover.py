"""What is proved is true, and what is found is shortest: against `model.semantics`, and on the shipped specs."""

from __future__ import annotations

import pytest
from few_examples import a_few
from hypothesis import given

from model.explore import explore as explore_fast
from model.language import Expr, Machine, SpecError, after, require
from model.lowering.lower import lower
from model.proof import Claimed, Method
from model.prove import prove
from model.prove.bounded import bounded
from model.prove.claims import claims
from model.prove.encoding import Encoding
from model.prove.needs import Limits, claim_atoms
from model.prove.solving import Deadline
from model.semantics import Semantics, explore
from model.strategies import machines
from model.verdict import Outcome
from specs.gang import gang
from specs.loading import load_spec

pytestmark = pytest.mark.no_cover

RANDOM = a_few(8)


@RANDOM
@given(machines(200))
def test_bounded_search_finds_shortest_violations(machine: Machine) -> None:
    known = explore(machine)
    expected = {**known.violated, **known.reached}
    found = bounded(Encoding(lower(machine)), claims(lower(machine)), known.depth + 1, Deadline(60))
    assert found.why is None
    assert {name: len(trace) for name, trace in found.traces.items()} == {
        c.name: expected[c.name] for c in claims(lower(machine)) if c.name in expected
    }
    s = Semantics(machine)
    for trace in found.traces.values():
        assert s.replay(trace) is None


@pytest.mark.parametrize("name", ["not_two", "never_back", "deadlock_free", "values_in_range", "three"])
def test_a_violation_that_the_semantics_does_not_see_is_an_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that is told that every state and every step is a violation."""
    m = Machine("counter")
    x = m.scalar("x", range(4), init=0)

    @m.action
    def up() -> None:
        require(x < 3)
        x.next += 1

    @m.always
    def not_two() -> Expr:
        return x != 2

    @m.step
    def never_back() -> Expr:
        return after(x) >= x

    @m.sometimes
    def three() -> Expr:
        return x == 3

    program = lower(m)
    [claim] = [c for c in claims(program) if c.name == name]
    assert bounded(Encoding(program), [claim], 4, Deadline(60)).traces.keys() <= {"not_two", "deadlock_free", "three"}
    for each in ("violated_in", "violated_by"):
        monkeypatch.setattr(f"model.prove.unrolling.{each}", lambda of, *_: of.words.truth(True))
    with pytest.raises(AssertionError, match=name):
        bounded(Encoding(program), [claim], 4, Deadline(60))


def test_a_run_that_begins_elsewhere_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    program = lower(gang())
    monkeypatch.setattr(Encoding, "initial", lambda of, *_: of.words.truth(True))
    with pytest.raises(AssertionError, match="initial state"):
        bounded(Encoding(program), claims(program), 1, Deadline(60))


@RANDOM
@given(machines(200))
def test_what_is_proved_is_true(machine: Machine) -> None:
    known = explore(machine)
    proof = prove(machine, length=3, time_limit=30)
    for claimed in proof.claimed:
        v = claimed.verdict
        if v.outcome is Outcome.HOLDS:
            assert v.name not in known.violated
        elif v.outcome is Outcome.VIOLATED:
            assert v.trace is not None
            assert len(v.trace) == known.violated[v.name]
            assert Semantics(machine).replay(v.trace) is None


@RANDOM
@given(machines(200))
def test_lemmas_from_all_states_prove_all_that_holds(machine: Machine) -> None:
    """Where every state is a sample, each that blocks can be excluded, though perhaps not by few literals."""
    proof = prove(machine, time_limit=30)
    unknown = [c for c in proof.claimed if c.verdict.outcome is Outcome.UNKNOWN]
    assert not unknown


def test_gang_holds_for_every_depth() -> None:
    proof = prove(gang())
    assert proof.outcome is Outcome.HOLDS
    assert proof["quota_never_exceeded"].method is Method.INDUCTION
    partial = proof["no_partial_gang_runs"]
    assert (partial.method, partial.k) == (Method.LEMMAS, 1)
    assert partial.lemmas
    assert all(c.atoms <= 200 for c in proof.claimed)
    assert proof.left_out == ("every_app_finishes",)


def test_what_is_not_inductive_is_unknown_and_says_what_blocks() -> None:
    proof = prove(gang(), strengthen=False, most_k=2, length=4)
    partial = proof["no_partial_gang_runs"]
    assert proof.outcome is partial.verdict.outcome is Outcome.UNKNOWN
    assert partial.blocked is not None
    assert partial.blocked.k == 2
    assert partial.blocked.call is not None
    state = partial.blocked.state
    # The lemma that is missing: only a gang that runs has pods.
    assert any(
        state[f"reals[{a}, {n}]"]
        for a in ("app1", "app2")
        for n in ("node1", "node2")
        if state[f"state[{a}]"] != "RUNNING"
    )


def test_every_lemma_holds_in_every_state() -> None:
    from model.explore import Exploration
    from model.query import read_query

    machine = gang()
    states = Exploration(machine).states
    s = Semantics(machine)
    texts = {lemma.text for c in prove(machine).claimed for lemma in c.lemmas}
    assert texts
    assert any(text.startswith("for all ") for text in texts)
    for text in texts:
        of_all, _, clause = text.rpartition(": ")
        condition = " or ".join(f"({part})" for part in clause.split(" | "))
        if of_all:
            names, _, different = of_all.removeprefix("for all ").partition(" with ")
            equal = [f"({each.replace('!=', '==')})" for each in different.split(", ") if each]
            loops = " ".join(f"for {each}" for each in names.split(", "))
            condition = f"all({' or '.join([*equal, condition])} {loops})"
        asked = read_query(machine, condition).condition
        for raw in states:
            assert s.evaluate(asked, tuple(raw.tolist()), {}), text


def test_a_violation_beyond_short_runs_is_found_in_the_samples() -> None:
    """12 steps to all finished; a claim that it never happens is violated there."""
    from model.language.quantifiers import all_
    from specs.gang.machine import App, AppState

    machine = gang()
    state = next(v for v in machine.variables if v.name == "state")

    @machine.always
    def not_all_finish() -> Expr:
        return ~all_(state[a] == AppState.FINISHED for a in App)  # type: ignore[index]

    proof = prove(machine, length=4)
    verdict = proof["not_all_finish"].verdict
    assert (verdict.outcome, proof["not_all_finish"].method) == (Outcome.VIOLATED, Method.EXPLORED)
    assert verdict.trace is not None
    assert len(verdict.trace) == 12


def far(steps: int) -> Machine:
    """A run stays at 0; from 1 it would be bad after so many steps."""
    m = Machine("far")
    x = m.scalar("x", range(steps + 2), init=0)

    @m.action
    def on() -> None:
        require(x > 0, x <= steps)
        x.next += 1

    @m.action
    def stay() -> None:
        require(x == 0)
        x.next = 0

    @m.always
    def not_there() -> Expr:
        return x != steps + 1

    return m


def test_more_steps_than_five_are_no_proof_unless_that_is_asked_for() -> None:
    def answer(k: int, limits: Limits) -> Claimed:
        return prove(far(6), strengthen=False, most_k=k, length=8, limits=limits)["not_there"]

    beyond = answer(15, Limits())
    assert (beyond.verdict.outcome, beyond.k) == (Outcome.UNKNOWN, 7)
    assert beyond.verdict.how == "inductive at k = 7: more than the 5 steps that a proof has at most (--max-k)"
    raised = answer(15, Limits(k=7))
    assert raised.verdict.outcome is Outcome.HOLDS
    assert raised.verdict.how == "inductive at k = 7; more than 5 steps, as --max-k 7 allows"
    assert answer(15, Limits(k=6)).verdict.outcome is Outcome.UNKNOWN
    assert answer(5, Limits()).k is None


def test_more_atoms_than_allowed_are_no_proof() -> None:
    """Lemmas and properties that help count."""
    usual = prove(gang())
    atoms = {c.verdict.name: c.atoms for c in usual.claimed if c.method is Method.LEMMAS}
    least, most = min(atoms.values()), max(atoms.values())
    assert 0 < least < most - 1 < 200
    for allowed in (least - 1, least):
        fewer = prove(gang(), limits=Limits(atoms=allowed))
        assert fewer.outcome is Outcome.UNKNOWN
        for claim in fewer.claimed:
            too_many = atoms.get(claim.verdict.name, 0) > allowed
            assert (claim.verdict.outcome is Outcome.UNKNOWN) == too_many
            assert (f"more than the {allowed} atoms that a proof has at most" in claim.verdict.how) == too_many
    assert usual["node_capacity"].helped_by == ("quota_never_exceeded",)
    assert usual["node_capacity"].atoms == claim_atoms(gang(), "quota_never_exceeded") == 1


def test_no_time_is_unknown_with_the_time() -> None:
    proof = prove(gang(), time_limit=0)
    assert proof.outcome is Outcome.UNKNOWN
    assert proof.length == -1
    assert all("time limit of 0 s ran out" in c.verdict.how for c in proof.claimed)


def test_a_property_about_runs_is_refused() -> None:
    with pytest.raises(SpecError, match="every_application_can_end is of kind possible"):
        prove(load_spec("yunikorn", []), properties=["every_application_can_end"])


def test_a_goal_is_searched_for_when_asked() -> None:
    proof = prove(gang(), properties=["every_app_finishes"], length=12)
    assert proof["every_app_finishes"].verdict.how == "reached after 12 steps"


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["gang", "coscheduling", "ray", "yunikorn", "kueue", "volcano"])
def test_a_shipped_spec_is_proved(spec: str) -> None:
    machine = load_spec(spec, [])
    proof = prove(machine, time_limit=900)
    known = explore_fast(machine)
    for claimed in proof.claimed:
        assert claimed.verdict.outcome is known[claimed.verdict.name].outcome, claimed.verdict.name
        assert claimed.atoms <= 200


def test_nothing_rests_on_a_claim_that_was_given_up() -> None:
    """From one state nothing is learned. The false claim is beyond the runs that are looked at, and helps the other."""
    machine = Machine("far")
    x = machine.scalar("x", range(20), init=0)

    @machine.action
    def up() -> None:
        require(x < 19)
        x.next = x + 1

    @machine.terminal
    def top() -> Expr:
        return x == 19

    @machine.always
    def not_ten() -> Expr:
        return x != 10

    @machine.always
    def not_eleven() -> Expr:
        return x != 11

    proof = prove(machine, samples=1, length=3, most_k=1)
    assert [proof[name].verdict.outcome for name in ("not_ten", "not_eleven")] == [Outcome.UNKNOWN] * 2

"""Invariants from Spacer: what they prove is true, what they are told to be is checked, and violations replay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from certificates import checked, lights
from few_examples import a_few
from hypothesis import given

from model.language import Expr, Machine, implies, require
from model.lowering.ground import Node
from model.proof import Method
from model.prove import prove
from model.prove.certificate.check import Answer
from model.prove.certificate.making import certificate_of
from model.prove.claims import Claim
from model.prove.horn.clauses import Horn
from model.prove.solving import Deadline
from model.semantics import Semantics, explore
from model.strategies import machines
from model.verdict import Outcome
from specs.loading import load_spec

pytestmark = pytest.mark.no_cover

RANDOM = a_few(4)


def far(most: int) -> Machine:
    """A counter that reaches ``most``."""
    m = Machine("far")
    x = m.scalar("x", range(40), init=0)

    @m.action
    def up() -> None:
        require(x < most)
        x.next += 1

    @m.terminal
    def top() -> Expr:
        return x == most

    @m.always
    def below() -> Expr:
        return x < 20

    return m


def test_an_invariant_is_found_told_and_certified(tmp_path: Path) -> None:
    proof = prove(lights(), method=Method.SPACER, time_limit=60)
    never = proof["never_three"]
    assert (never.verdict.outcome, never.method, never.k) == (Outcome.HOLDS, Method.SPACER, 1)
    assert [lemma.text for lemma in never.lemmas] == ["x <= 1"]
    assert never.verdict.how == "inductive invariant of 1 atom"
    written = certificate_of(lights(), proof)
    assert written is not None
    assert checked(written.text, lights(), tmp_path).answer is Answer.VERIFIED


def test_a_violation_has_its_shortest_trace_however_long() -> None:
    proof = prove(far(30), method=Method.SPACER, time_limit=60, length=2)
    verdict = proof["below"].verdict
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert len(verdict.trace) == 20
    assert Semantics(far(30)).replay(verdict.trace) is None
    assert prove(far(19), method=Method.SPACER, time_limit=60).outcome is Outcome.HOLDS


def test_premises_are_looked_for_in_runs_though_no_claim_needed_any() -> None:
    m = Machine("rising")
    x = m.scalar("x", range(40), init=0)

    @m.action
    def up() -> None:
        require(x < 19)
        x.next += 1

    @m.always
    def soon() -> Expr:
        return implies(x == 2, x < 20)

    @m.always
    def late() -> Expr:
        return implies(x == 3, x < 20)

    proof = prove(m, properties=["soon", "late"], method=Method.SPACER, time_limit=60)
    assert "premise" not in proof["soon"].verdict.how
    assert "premise not seen to be true in runs of up to 2 steps: " in proof["late"].verdict.how


@RANDOM
@given(machine=machines(100))
def test_answers_are_those_of_the_semantics(machine: Machine) -> None:
    known = explore(machine)
    for claimed in prove(machine, method=Method.SPACER, time_limit=8, length=2).claimed:
        v = claimed.verdict
        if v.outcome is Outcome.HOLDS:
            assert v.name not in known.violated
        elif v.outcome is Outcome.VIOLATED:
            assert v.trace is not None
            assert len(v.trace) == known.violated[v.name]
            assert Semantics(machine).replay(v.trace) is None


@pytest.mark.parametrize("wrong", ["x < 1", "x < 3", "x < 4"])
def test_what_spacer_answers_is_not_trusted(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No step keeps the first, x = 2 breaks the second, the third does not imply the claim."""

    def invariant(horn: Horn, claim: Claim, known: Sequence[Node], seed: int, deadline: Deadline) -> list[Node]:
        graph = horn.program.graph
        return [graph.less(graph.cell(0, range(4), False), graph.const(int(wrong[-1])))]

    monkeypatch.setattr(Horn, "invariant", invariant)
    proof = prove(lights(), properties=["never_three"], method=Method.SPACER, length=2)
    verdict = proof["never_three"].verdict
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.how.endswith("what Spacer answers is no invariant")


def test_numbers_beyond_the_words_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def invariant(horn: Horn, claim: Claim, known: Sequence[Node], seed: int, deadline: Deadline) -> list[Node]:
        graph = horn.program.graph
        return [graph.less(graph.mul(graph.cell(0, range(4), False), graph.const(2**20)), graph.const(2**20 + 1))]

    monkeypatch.setattr(Horn, "invariant", invariant)
    proof = prove(lights(), properties=["never_three"], method=Method.SPACER, length=2)
    assert proof["never_three"].verdict.how.endswith("what Spacer answers has numbers that are too large")


def test_a_violation_that_no_run_has_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Horn, "invariant", lambda *_: None)
    proof = prove(lights(), properties=["never_three"], method=Method.SPACER, time_limit=0.5)
    assert proof.outcome is Outcome.UNKNOWN


def test_no_time_is_unknown_with_the_time() -> None:
    proof = prove(load_spec("gang", []), method=Method.SPACER, time_limit=0)
    assert proof.outcome is Outcome.UNKNOWN
    assert all("time limit of 0 s ran out" in c.verdict.how for c in proof.claimed)


def test_named_values_are_told_by_name() -> None:
    """Members have no order in a spec, though Spacer compares their numbers."""
    proof = prove(load_spec("gang", ["apps=1", "nodes=1"]), method=Method.SPACER, time_limit=60)
    assert proof.outcome is Outcome.HOLDS
    texts = {lemma.text for c in proof.claimed for lemma in c.lemmas}
    assert any("state[app1] == RUNNING" in text or "state[app1] != RUNNING" in text for text in texts)
    assert not any("state[app1] <" in text for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["gang", "coscheduling"])
def test_a_shipped_spec_is_never_answered_wrongly(spec: str) -> None:
    machine = load_spec(spec, [])
    proof = prove(machine, method=Method.SPACER, time_limit=300)
    assert proof.outcome in (Outcome.HOLDS, Outcome.UNKNOWN)
    assert proof.claimed[0].verdict.outcome is Outcome.HOLDS

"""Certificates are written from the spec, say what it does, and are refused when they say anything else."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import z3
from certificates import checked, lights, with_lemmas, written
from few_examples import a_few
from hypothesis import given, settings

from model.errors import FileError
from model.language import Expr, Machine, require
from model.lowering.lower import lower
from model.prove import prove
from model.prove.arithmetic import Formula
from model.prove.certificate.check import Answer
from model.prove.certificate.making import certificate_of, may_be_written, write_certificate
from model.prove.certificate.read import read_certificate
from model.prove.certificate.syntax import symbol
from model.prove.claims import claims
from model.prove.solving import Deadline, OutOfTime, ask, ask_also
from model.prove.strengthen.learn import Learned, Learner
from model.semantics import Fault, Semantics, explore
from model.strategies import machines
from specs.loading import load_spec

pytestmark = pytest.mark.no_cover

RANDOM = a_few(4)


def test_a_solver_says_unsat_to_every_check_of_the_file_alone(text: str) -> None:
    answers = z3.Z3_eval_smtlib2_string(z3.main_ctx().ref(), text).split()
    assert set(answers) == {"unsat"}
    assert len(answers) == text.count("(check-sat)") == 12


def test_gang_is_verified(text: str, gang: Machine, tmp_path: Path) -> None:
    found = checked(text, gang, tmp_path)
    assert found.answer is Answer.VERIFIED
    assert (found.passed, found.checks, found.problem) == (12, 12, None)
    assert found.certified.claims[:2] == ("node_capacity", "quota_never_exceeded")
    assert found.lemmas == text.count("; Lemma ") >= 3


def test_names_are_those_of_the_spec(text: str) -> None:
    for name in ("|state[app1]'|", "AppState.RUNNING", "|step allocate(app1, node2)|", "|claim no_partial_gang_runs|"):
        assert name in text
    lemmas = re.findall(r"^; Lemma \d+: (.*)", text, re.MULTILINE)
    assert "for all a in App, n in Node: state[a] == RUNNING | reals[a, n] == 0" in lemmas


def test_a_lemma_about_all_elements_is_written_once(text: str) -> None:
    """And said of each of them, in each state."""
    [(number, parameters)] = re.findall(
        r"\(define-fun \|lemma (\d+)\| (\(\(\|state\[a\]\| Int\) \(\|reals.*?\)\)) Bool", text
    )
    assert parameters == "((|state[a]| Int) (|reals[a, n]| Int))"
    for mark in ("", "'"):
        for app, node in itertools.product((1, 2), repeat=2):
            cells = f"|state[app{app}]{mark}| |reals[app{app}, node{node}]{mark}|"
            assert f"(|lemma {number}| {cells})" in text


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("(|lemma 1| |state[app1]| ", "(|lemma 1| 3 ", "not applied to cells"),
        ("(|lemma 1| |state[app1]| ", "(|lemma 1| ", "not applied to cells"),
        ("|lemma 1 of all| ()", "|lemma 1 of some| ()", "does not say of which"),
        ("((|state[a]| Int) (", "((|state[a]| Real) (", "expected a symbol and its sort"),
        ("((|state[a]| Int) (", "((|reals[a, n]| Int) (", "expected a symbol and its sort, once"),
    ],
)
def test_a_lemma_about_all_elements_is_about_cells(
    text: str, gang: Machine, tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in text
    with pytest.raises(FileError, match=problem):
        checked(text.replace(old, new, 1), gang, tmp_path)


def test_a_lemma_that_is_not_said_of_all_is_not_enough(text: str, gang: Machine, tmp_path: Path) -> None:
    """In the place of one element stands another, in both states."""
    for mark in ("", "'"):
        text = text.replace(f"(|lemma 1| |state[app2]{mark}| ", f"(|lemma 1| |state[app1]{mark}| ")
    assert checked(text, gang, tmp_path).answer is Answer.REFUSED


@RANDOM
@given(machine=machines(100))
def test_the_steps_are_those_of_the_semantics(machine: Machine) -> None:
    s = Semantics(machine)
    cells = [machine.show_cell(c) for c in machine.cells()]
    head = with_lemmas(machine).split("; Check, ")[0]
    solver = z3.SolverFor("QF_LIA")
    solver.from_string(f"{head}(assert {symbol('some step')})")
    before, after = ([_unknown(machine, i, f"{c}{mark}") for i, c in enumerate(cells)] for mark in ("", "'"))
    for state in list(explore(machine).distance)[:6]:
        expected = {r for i in s.instances if s.is_enabled(i, state) and not isinstance(r := s.fire(i, state), Fault)}
        found = set()
        solver.push()
        solver.add([u == (bool(v) if z3.is_bool(u) else v) for u, v in zip(before, state, strict=True)])
        while solver.check() == z3.sat:
            model = solver.model()
            values = [model.eval(u, model_completion=True) for u in after]
            found.add(tuple(int(z3.is_true(v)) if z3.is_bool(v) else v.as_long() for v in values))
            assert len(found) <= len(expected)
            solver.add(z3.Or([u != v for u, v in zip(after, values, strict=True)]))
        solver.pop()
        assert found == expected


def _unknown(machine: Machine, index: int, name: str) -> z3.ExprRef:
    return (z3.Bool if machine.cells()[index].variable.domain is bool else z3.Int)(name)


@RANDOM
@given(machine=machines(100))
def test_what_is_proved_of_a_random_machine_is_verified(
    machine: Machine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = certificate_of(machine, prove(machine, time_limit=30))
    if found is not None:
        assert checked(found.text, machine, tmp_path_factory.mktemp("random")).answer is Answer.VERIFIED


@pytest.mark.slow
@settings(RANDOM, max_examples=60)
@given(machine=machines(200))
def test_what_is_proved_of_many_machines_is_verified(
    machine: Machine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = certificate_of(machine, prove(machine, time_limit=60))
    if found is not None:
        assert checked(found.text, machine, tmp_path_factory.mktemp("random")).answer is Answer.VERIFIED


@RANDOM
@given(machine=machines(100))
def test_no_claim_that_is_violated_is_verified(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> None:
    violated = {c.name for c in claims(lower(machine))} & explore(machine).violated.keys()
    for lemmas in ((), ("false",), ("true",)):
        if violated:
            found = checked(with_lemmas(machine, *lemmas), machine, tmp_path_factory.mktemp("violated"))
            assert found.answer is Answer.REFUSED


def test_two_steps_of_induction(tmp_path: Path) -> None:
    proof = prove(lights(), properties=["never_three"], strengthen=False)
    assert proof["never_three"].k == 2
    found = certificate_of(lights(), proof)
    assert found is not None
    assert (found.k, found.lemmas) == (2, 0)
    assert "; Check, unsat is expected: the invariant holds in every run of 1 steps." in found.text
    assert checked(found.text, lights(), tmp_path).answer is Answer.VERIFIED
    one = checked(with_lemmas(lights()), lights(), tmp_path)
    assert one.problem == "this check fails: leave preserves the invariant"
    assert checked(with_lemmas(lights(), ("<", "x", "2")), lights(), tmp_path).answer is Answer.VERIFIED


def test_short_runs_are_part_of_two_steps_of_induction(tmp_path: Path) -> None:
    """From 0 straight to 2 and 3: after two steps of any run, the claim holds for good, but not in the second."""
    m = Machine("rush")
    x = m.scalar("x", range(4), init=0)

    @m.action
    def rush() -> None:
        require(x < 3)
        x.next = x + 1

    @m.terminal
    def done() -> Expr:
        return x == 3

    @m.always
    def never_one() -> Expr:
        return x != 1

    found = checked(with_lemmas(m, k=2), m, tmp_path)
    assert found.problem == "this check fails: the invariant holds in every run of 1 steps"


@pytest.mark.parametrize("answered", [0, 1, 9])
def test_what_ran_out_of_time_leaves_nothing_behind(
    answered: int, gang: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of the questions by which lemmas are made fewer only some have an answer; what there is is a proof all the
    same."""
    asked = itertools.count()

    def sometimes(solver: z3.Solver, deadline: Deadline, assumptions: Sequence[Formula] = ()) -> z3.ModelRef | None:
        if next(asked) >= answered:
            raise OutOfTime("of time")
        return ask(solver, deadline, assumptions)

    def shrink(learner: Learner, learned: Learned, weigh: Callable[[str], int], deadline: Deadline) -> Learned:
        monkeypatch.setattr("model.prove.solving.ask", sometimes)
        return whole(learner, learned, weigh, deadline)

    whole = Learner.shrink
    monkeypatch.setattr(Learner, "shrink", shrink)
    found = checked(written(gang), gang, tmp_path)
    assert (found.answer, found.problem) == (Answer.VERIFIED, None)
    assert next(asked) > answered


def test_a_question_that_has_no_answer_does_not_stay() -> None:
    solver = z3.SolverFor("QF_BV")
    with pytest.raises(OutOfTime):
        ask_also(solver, z3.BoolVal(False), Deadline(0))
    assert (solver.num_scopes(), len(solver.assertions())) == (0, 0)
    assert ask_also(solver, z3.Bool("free"), Deadline(None))[0] is not None
    assert solver.num_scopes() == 0


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["coscheduling", "ray", "kueue", "predicate_cache", "composite"])
def test_a_shipped_spec_is_verified(spec: str, tmp_path: Path) -> None:
    machine = load_spec(spec, [])
    found = checked(written(machine), machine, tmp_path, 300)
    assert found.answer is Answer.VERIFIED


def test_different_names_are_different_symbols() -> None:
    names = ["a|b", "a_b", "a\\b", "a~b", "a~7cb", "a b", "a~5cb"]
    assert len(set(map(symbol, names))) == len(names)


def test_what_is_no_certificate_is_not_replaced(text: str, gang: Machine, tmp_path: Path) -> None:
    spec, old = tmp_path / "victim.py", tmp_path / "old.smt2"
    spec.write_text("a spec")
    with pytest.raises(FileError, match=r"victim\.py: is there and is no certificate"):
        may_be_written(spec)
    old.write_text(text)
    may_be_written(old)
    may_be_written(tmp_path / "new.smt2")
    for where in (Path("/dev/full"), tmp_path / "none" / "a", tmp_path):
        with pytest.raises(FileError, match="cannot be written"):
            may_be_written(where)
    write_certificate(gang, prove(gang), old)
    assert [each.name for each in sorted(tmp_path.iterdir())] == ["old.smt2", "victim.py"]


def test_a_device_is_not_read() -> None:
    with pytest.raises(FileError, match="/dev/zero: no regular file"):
        read_certificate(Path("/dev/zero"))

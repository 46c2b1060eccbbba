"""Whatever is edited in a certificate, it is refused, and what was edited is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from certificates import checked, lights, with_lemmas

from model.errors import FileError
from model.language import Machine
from model.prove.certificate.check import Answer
from model.prove.certificate.read import LARGEST, read_certificate
from model.prove.certificate.syntax import NotSMT, SExpr, commands, printed

pytestmark = pytest.mark.no_cover

Edit = Callable[[str], str]


def without(first: str, last: str) -> Edit:
    return lambda text: re.sub(re.escape(first) + r".*?(?=" + re.escape(last) + ")", "", text, count=1, flags=re.DOTALL)


def change(old: str, new: str) -> Edit:
    return lambda text: text.replace(old, new, 1)


TAMPERED: dict[str, tuple[Edit, str]] = {
    "a step that can always be taken": (
        lambda t: re.sub(
            r"\(define-fun \|can submit\(app1\)\| \(\) Bool .*\)", "(define-fun |can submit(app1)| () Bool true)", t
        ),
        "the guard of submit(app1)",
    ),
    "a weaker step": (change("(= |reals[app2, node2]'| |reals[app2, node2]|)", "true"), "the step submit(app1)"),
    "an action that is gone": (
        without("(define-fun |step timeout(app1)|", "(define-fun |step timeout(app2)|"),
        "timeout(app1)",
    ),
    "a step that the relation has not": (
        without("    |step timeout(app1)|\n", "    |step timeout(app2)|"),
        "the steps",
    ),
    "no initial state": (change("(= |state[app1]| AppState.NEW)", "false"), "the initial condition"),
    "a smaller domain": (change("(<= 0 |state[app1]| 4)", "(<= 0 |state[app1]| 1)"), "the domains"),
    "a domain of nothing": (
        change("(push 1)", "(assert false)\n(push 1)"),
        "the check that the invariant holds initially",
    ),
    "another value for a name": (change("AppState.RUNNING () Int 2", "AppState.RUNNING () Int 3"), "AppState.RUNNING"),
    "a claim that says nothing": (
        lambda t: re.sub(
            r"(\|claim no_partial_gang_runs\| \(\) Bool)\s+\(and.*?\n\n", r"\1 true)\n\n", t, flags=re.DOTALL
        ),
        "the claim no_partial_gang_runs",
    ),
    "the invariant true": (
        change(
            "(define-fun |the invariant| () Bool",
            "(define-fun |the invariant| () Bool true)\n(define-fun |rest| () Bool",
        ),
        "the invariant",
    ),
    "the invariant false": (
        change(
            "(define-fun |the invariant'| () Bool",
            "(define-fun |the invariant'| () Bool false)\n(define-fun |rest| () Bool",
        ),
        "the invariant",
    ),
    "a claim unclaimed": (change('(set-info :claim "deadlock_free")\n', ""), "the invariant"),
    "a claim that there is not": (change('"deadlock_free"', '"all_is_well"'), "it claims all_is_well"),
    "a claim twice": (change('"deadlock_free"', '"node_capacity"'), "it claims node_capacity"),
    "no claim": (lambda t: re.sub(r"\(set-info :claim .*\)\n", "", t), "it claims nothing"),
    "another logic": (change("QF_LIA", "QF_BV"), "the logic"),
    "an exit": (change("(push 1)", "(exit)\n(push 1)"), "found (exit)"),
    "an exit at the end": (lambda t: t + "(exit)\n", "nothing may follow"),
    "an option": (change("(push 1)", "(set-option :produce-models true)\n(push 1)"), "found (set-option"),
    "a check that is gone": (
        without("(push 1)", "(push 1)\n(assert |the invariant|)"),
        "the check that the invariant holds initially",
    ),
    "no question": (change("(check-sat)\n", ""), "the check that the invariant holds initially"),
    "another question": (
        change("(assert (not |the invariant|))", "(assert false)"),
        "the check that the invariant holds initially",
    ),
    "truncated between commands": (
        lambda t: t[: t.rindex("(push 1)")],
        "it ends before the check that no step violates",
    ),
    "more steps of induction": (change(':k "1"', ':k "2"'), "the cell state[app1]"),
    "other parameters": (change('"quota=3"', '"quota=2"'), "it is of other parameters: quota=2 where quota=3"),
    "another spec": (change(':spec "gang"', ':spec "ray"'), "it is of the spec ray"),
    "a lemma that only the first state keeps": (
        lambda t: re.sub(
            r"\(define-fun \|lemma 1 of all'\|.*?(?=\n;|\n\(define)",
            "(define-fun |lemma 1 of all'| () Bool true)",
            t,
            flags=re.DOTALL,
        ),
        "lemma 1",
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_an_edited_certificate_is_refused(name: str, text: str, gang: Machine, tmp_path: Path) -> None:
    edit, told = TAMPERED[name]
    edited = edit(text)
    assert edited != text
    found = checked(edited, gang, tmp_path)
    assert found.answer is Answer.REFUSED
    assert told in (found.problem or "")
    assert found.solver is None


def lemma(body: str) -> Edit:
    """All states keep another first lemma, which is not about all elements as that of gang is."""

    def edit(text: str) -> str:
        text = re.sub(r"\(define-fun \|lemma 1\| .*?(?=\n\(define)\n", "", text, count=1, flags=re.DOTALL)
        text = re.sub(r"\|lemma 1 of all('?)\|", r"|lemma 1\1|", text)
        primed = re.sub(r"(\|[a-z]+\[[^|]*)\|", r"\1'|", body)
        for mark, new in (("", body), ("'", primed)):
            text = re.sub(
                rf"\(define-fun \|lemma 1{mark}\|.*?(?=\n;|\n\(define)",
                lambda _, mark=mark, new=new: f"(define-fun |lemma 1{mark}| () Bool {new})",
                text,
                flags=re.DOTALL,
            )
        return text

    return edit


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("false", "the invariant holds initially"),
        ("(= |state[app1]| AppState.NEW)", "submit preserves the invariant"),
        ("true", "preserves the invariant"),
    ],
)
def test_a_lemma_that_is_wrong_or_missing_fails_its_check(
    body: str, told: str, text: str, gang: Machine, tmp_path: Path
) -> None:
    found = checked(lemma(body)(text), gang, tmp_path)
    assert found.answer is Answer.REFUSED
    assert found.problem is not None
    assert told in found.problem
    assert found.solver is not None


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("|state[app9]|", "lemma 1 speaks of |state[app9]|, which is no cell and no number"),
        ("|the invariant'|", "lemma 1 speaks of |the invariant'|"),
        ("(= |state[app1]'| 1)", "lemma 1 speaks of |state[app1]'|"),
        ("|state[app1]|", "lemma 1 is a number, expected a condition"),
        ("(and true 1)", "lemma 1 has (and true 1), which a lemma may not have"),
        ("(= (div |state[app1]| 0) 1)", "lemma 1 has (div |state[app1]| 0)"),
        ("(exists ((z Int)) (= z 1))", "lemma 1 has ((z Int)), which applies no operator"),
        ("((_ bv1 2))", "lemma 1"),
        ("()", "lemma 1 has ()"),
    ],
)
def test_a_lemma_is_a_formula_over_the_cells(body: str, told: str, text: str, gang: Machine, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=re.escape(told)) as caught:
        checked(lemma(body)(text), gang, tmp_path)
    assert re.search(r"certificate\.smt2:\d+: ", str(caught.value))


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda t: "", r":1: not a certificate: expected \(set-info :gangproof-certificate"),
        (lambda t: "hello", ":1: expected a command, found hello"),
        (lambda t: t + ")", ": a ) that closes nothing"),
        (lambda t: t[: t.rindex("(push 1)") + 3], ": this command has no end"),
        (lambda t: t + "(a |b)", ": unexpected '|'"),
        (lambda t: t + "(" * 400 + ")" * 400, ": nested deeper than 300"),
        (change('certificate "1"', 'certificate "2"'), ":1: version 2 of certificates"),
        (change(':k "1"', ':k "999"'), ":1: the induction has 1 to 50 steps, found 999"),
        (change(':k "1"', ":k 1"), ":k is told once, and as a string"),
        (lambda t: t + '(set-info :k "1")', ":k is told once"),
        (change("|lemma 2|", "|lemma 3|"), ": expected lemma 2, found lemma 3"),
        (lambda t: t + "\n" + ";" * LARGEST, ": larger than 16 MiB"),
    ],
)
def test_what_is_no_certificate_is_bad_input(edit: Edit, told: str, text: str, gang: Machine, tmp_path: Path) -> None:
    with pytest.raises(FileError) as caught:
        checked(edit(text), gang, tmp_path)
    assert re.search(told if "\\" in told else re.escape(told), str(caught.value))


def test_a_file_that_is_no_text_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="not a text in UTF-8"):
        read_certificate(tmp_path / "file")


def test_comments_and_line_breaks_do_not_matter(text: str, gang: Machine, tmp_path: Path) -> None:
    plain = re.sub(r"\s+", " ", re.sub(r";.*", "", text)).replace(") (", ")\n(")
    assert checked(plain, gang, tmp_path).answer is Answer.VERIFIED


def test_the_certificate_of_another_machine_is_refused(tmp_path: Path) -> None:
    """Same name, other steps."""
    found = checked(with_lemmas(lights()), lights(step=0), tmp_path)
    assert found.answer is Answer.REFUSED
    assert "the step leave()" in (found.problem or "")


def test_no_time_is_unknown_with_the_time(text: str, gang: Machine, tmp_path: Path) -> None:
    found = checked(text, gang, tmp_path, 0)
    assert found.answer is Answer.UNKNOWN
    assert re.fullmatch(
        r"cvc5 had no answer when the time limit ran out at the check: .*; after \d.* s", found.problem or ""
    )


def test_expressions_are_read_as_they_are_printed() -> None:
    expr: SExpr = (
        "define-fun",
        "|a b|",
        (),
        "Bool",
        ("and", *(("=", f"|cell {n}|", ("-", str(n))) for n in range(40))),
    )
    assert [c.expr for c in commands(printed(expr))] == [expr]
    assert max(map(len, printed(expr).splitlines())) <= 120
    with pytest.raises(NotSMT, match="line 3: unexpected"):
        list(commands("(a)\n\n|b"))

"""Certificates of small machines, and what is said of edited ones."""

from __future__ import annotations

from pathlib import Path

from model.language import Expr, Machine, require
from model.lowering.lower import lower
from model.prove import prove
from model.prove.certificate.check import Checked, check_certificate
from model.prove.certificate.making import certificate_of
from model.prove.certificate.read import read_certificate
from model.prove.certificate.syntax import SExpr
from model.prove.certificate.write import Invariant, certificate, text_of
from model.prove.claims import claims


def checked(text: str, machine: Machine, tmp_path: Path, time_limit: float | None = 60) -> Checked:
    """The answer about a file with this text."""
    path = tmp_path / "certificate.smt2"
    path.write_text(text, encoding="utf-8")
    return check_certificate(read_certificate(path), machine, time_limit)


def written(machine: Machine) -> str:
    """The certificate of all that can be proved."""
    found = certificate_of(machine, prove(machine, time_limit=60))
    assert found is not None
    return found.text


def lights(step: int = 1) -> Machine:
    """x is 0 or 1, by turns. No run comes to 2, from which it would be 3: that needs a lemma, or two steps."""
    m = Machine("lights")
    x = m.scalar("x", range(4), init=0)

    @m.action
    def turn() -> None:
        require(x < 2)
        x.next = 1 - x.now

    @m.action
    def leave() -> None:
        require(x == 2)
        x.next = x + step

    @m.always
    def never_three() -> Expr:
        return x != 3

    return m


def with_lemmas(machine: Machine, *lemmas: SExpr, k: int = 1) -> str:
    """A certificate of all claims, whatever they are worth."""
    program = lower(machine)
    every = tuple(c.name for c in claims(program) if not c.is_goal)
    return text_of(certificate(program, Invariant(every, k, lemmas)))

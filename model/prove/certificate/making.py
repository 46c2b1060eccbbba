"""The certificate of a proof."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model.errors import FileError
from model.language import Machine
from model.lowering.lower import lower
from model.proof import Lemma, Proof
from model.prove.certificate.cells import CellNames
from model.prove.certificate.check import Answer, solve
from model.prove.certificate.read import LARGEST
from model.prove.certificate.syntax import SExpr, symbol
from model.prove.certificate.terms import Terms
from model.prove.certificate.write import Invariant, OfAll, certificate, renamed, text_of
from model.prove.solving import Deadline
from model.prove.words import Words
from model.verdict import Outcome

_SHORTER_SECONDS = 20
_HEAD = 65_536
"""Bytes of a file in which a certificate has said that it is one."""


@dataclass(frozen=True, slots=True)
class Written:
    """A certificate of ``claims``, inductive over ``k`` steps with so many ``lemmas``."""

    text: str
    claims: tuple[str, ...]
    k: int
    lemmas: int


def certificate_of(machine: Machine, proof: Proof) -> Written | None:
    """The certificate of what ``proof`` has proved of ``machine``; None if that is nothing.

    All that is proved is one invariant: what each claim rests on, together. Its induction is as long as the longest of
    the proof, or shorter if cvc5 finds in a few seconds that it can be.
    """
    proved = [c for c in proof.claimed if c.k is not None and c.verdict.outcome is Outcome.HOLDS]
    if not proved:
        return None
    # With what helps them, also where that alone would take more than a proof may.
    rests_on = {name for c in proved for name in (c.verdict.name, *c.helped_by)}
    names = tuple(c.verdict.name for c in proof.claimed if c.verdict.name in rests_on)
    longest = max(c.k or 1 for c in proved)
    lemmas = list({lemma.text: lemma for c in proved for lemma in c.lemmas}.values())
    words = [lemma.text for lemma in lemmas]
    formulas = _formulas(machine, lemmas)
    program, deadline = lower(machine), Deadline(_SHORTER_SECONDS)
    k = 1
    while (
        k < longest
        and solve(certificate(program, Invariant(names, k, formulas)), deadline).answer is not Answer.VERIFIED
    ):
        k += 1
    return Written(text_of(certificate(program, Invariant(names, k, formulas), words)), names, k, len(lemmas))


def write_certificate(machine: Machine, proof: Proof, path: Path) -> Written | None:
    """Write the certificate of ``proof`` into the file ``path``, if there is anything to certify; what is there by then
    is whole, the old one or the new one. FileError if it cannot be written."""
    may_be_written(path)
    written = certificate_of(machine, proof)
    if written is None:
        return None
    if len(data := written.text.encode()) > LARGEST:
        raise FileError(
            f"{path}: the certificate has more than {LARGEST // 2**20} MiB; prove less at once, by --property"
        )
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        try:
            part.write_bytes(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None
    return written


def may_be_written(path: Path) -> None:
    """FileError if a certificate cannot be written into the file ``path``, or would replace what is none."""
    try:
        if path.exists():
            if not path.is_file():
                raise FileError(f"{path}: cannot be written: it is no regular file")
            with path.open("rb") as there:
                if there.read(_HEAD) and not _is_certificate(path):
                    raise FileError(f"{path}: is there and is no certificate; it is not replaced")
        elif not path.parent.is_dir():
            raise FileError(f"{path}: cannot be written: there is no directory {path.parent}")
        if not os.access(path.parent, os.W_OK):
            raise FileError(f"{path}: cannot be written: nothing can be written into {path.parent}")
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None


def _is_certificate(path: Path) -> bool:
    with path.open("rb") as there:
        return b":gangproof-certificate" in there.read(_HEAD)


def _formulas(machine: Machine, lemmas: Sequence[Lemma]) -> tuple[SExpr | OfAll, ...]:
    # Written out in full: they come from another run of the lowering, in which other expressions have these numbers.
    cells = CellNames(machine)
    terms = Terms(cells, 0)
    found: list[SExpr | OfAll] = []
    for lemma in lemmas:
        each = [terms.of(node) for node in lemma.clauses[0]]
        body: SExpr = each[0] if len(each) == 1 else ("or", *each)
        if lemma.schema is None:
            found.append(body)
            continue
        words, schema = Words(machine, lemma.schema.names), lemma.schema
        names = {cells.cell(n, 0): symbol(words.cell(n)) for n in schema.cells}
        parameters = tuple((names[cells.cell(n, 0)], cells.sort(n)) for n in schema.cells)
        arguments = tuple(tuple(cells.cell(n, 0) for n in instance) for instance in schema.instances)
        found.append(OfAll(parameters, renamed(body, names), arguments))
    return tuple(found)


__all__ = ["Written", "certificate_of", "write_certificate"]

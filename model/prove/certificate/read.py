"""What a file says that it certifies, and the lemmas in it. The rest of it is compared and not read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.errors import FileError
from model.language import Machine
from model.proof_limits import LONGEST_K
from model.prove.certificate.cells import CellNames
from model.prove.certificate.syntax import Command, NotSMT, SExpr, commands, one_line, symbol, unquoted
from model.prove.certificate.write import VERSION, Invariant, OfAll

LARGEST: Final = 16 * 2**20
"""Bytes of a file that is read."""
MOST_LEMMAS: Final = 10_000
_NUMERAL = re.compile(r"0|[1-9][0-9]{0,18}")
_LEMMA = re.compile(r"\|lemma ([1-9][0-9]*)\|")
_ONCE = (":gangproof-certificate", ":spec", ":k")
_INFO = (*_ONCE, ":parameter", ":claim")


@dataclass(frozen=True, slots=True)
class Certified:
    """A file: the spec that it names and the parameters, as ``name=value``; its claims, and all its commands."""

    path: Path
    spec: str
    parameters: tuple[str, ...]
    claims: tuple[str, ...]
    k: int
    commands: tuple[Command, ...] = field(repr=False)

    def wrong(self, line: int, problem: str) -> FileError:
        """What is wrong, with the place."""
        return FileError(f"{self.path}:{line}: {problem}")

    def invariant(self, machine: Machine) -> Invariant:
        """What it claims, with its lemmas, which must be formulas over the cells of ``machine``. FileError if not."""
        return Invariant(self.claims, self.k, tuple(_lemmas(self, machine)))


def read_certificate(path: Path) -> Certified:
    """The certificate in the file ``path``. FileError if there is none; where it ends, or what a command means, is not
    looked at yet."""
    try:
        if not path.is_file():  # reading a pipe or a device may have no end
            path.stat()
            raise FileError(f"{path}: no regular file")
        if path.stat().st_size > LARGEST:
            raise FileError(f"{path}: larger than {LARGEST // 2**20} MiB, which no certificate is")
        read = tuple(commands(path.read_text(encoding="utf-8")))
    except NotSMT as error:
        raise FileError(f"{path}:{error.line}: {error.problem}") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a text in UTF-8: byte {error.start}") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    found: dict[str, list[str]] = {name: [] for name in _INFO}
    for command in read:
        match command.expr:
            case ("set-info", str(name), str(value)) if name in found:
                text = unquoted(value)
                if text is None or (found[name] and name in _ONCE):
                    raise FileError(f"{path}:{command.line}: {name} is told once, and as a string")
                found[name].append(text)
    for name in _ONCE:
        if not found[name]:
            raise FileError(f"{path}:1: not a certificate: expected (set-info {name} ...), found none")
    version, k = found[":gangproof-certificate"][0], found[":k"][0]
    if version != VERSION:
        raise FileError(f"{path}:1: version {version} of certificates; this gangproof knows {VERSION}")
    if not _NUMERAL.fullmatch(k) or not 1 <= int(k) <= LONGEST_K:
        raise FileError(f"{path}:1: the induction has 1 to {LONGEST_K} steps, found {k}")
    return Certified(path, found[":spec"][0], tuple(found[":parameter"]), tuple(found[":claim"]), int(k), read)


def _lemmas(certified: Certified, machine: Machine) -> Sequence[SExpr | OfAll]:
    cells = CellNames(machine)
    sorts = {cells.cell(i, 0): cells.sort(i) for i in range(len(cells.cells))}
    sorts |= {symbol(name): "Int" for name in cells.constants} | {"true": "Bool", "false": "Bool"}
    found: list[SExpr | OfAll] = []
    for at, command in enumerate(certified.commands):
        match command.expr:
            case ("define-fun", str(name), parameters, _, body) if (told := _LEMMA.fullmatch(name)) is not None:
                if int(told[1]) != len(found) + 1 or len(found) == MOST_LEMMAS:
                    raise certified.wrong(command.line, f"expected lemma {len(found) + 1}, found lemma {told[1]}")
                try:
                    own = _parameters(parameters)
                    if _sort(body, {**sorts, **dict(own)}) != "Bool":
                        raise _WrongTerm("is a number, expected a condition")
                    found.append(OfAll(own, body, _arguments(certified, at, told[1], own, sorts)) if own else body)
                except _WrongTerm as error:
                    raise certified.wrong(command.line, f"lemma {told[1]} {error}") from None
    return found


def _parameters(parameters: SExpr) -> tuple[tuple[str, str], ...]:
    """Those of a lemma about all elements, each a symbol and a sort; none of another."""
    found: list[tuple[str, str]] = []
    for each in parameters:
        match each:
            case (str(name), "Bool" | "Int" as sort) if name not in dict(found):
                found.append((name, str(sort)))
            case _:
                raise _WrongTerm(f"has the parameter {one_line(each)[:60]}, expected a symbol and its sort, once")
    return tuple(found)


def _arguments(
    certified: Certified, at: int, number: str, own: Sequence[tuple[str, str]], sorts: Mapping[str, str]
) -> tuple[tuple[str, ...], ...]:
    """The cells that the next command puts in the place of the parameters."""
    name, wanted = symbol(f"lemma {number}"), [sort for _, sort in own]
    match certified.commands[at + 1].expr if at + 1 < len(certified.commands) else None:
        case ("define-fun", str(of_all), (), "Bool", ("and", *every)) if of_all == symbol(f"lemma {number} of all"):
            for each in every:
                if not (
                    isinstance(each, tuple) and each[:1] == (name,) and [_cell(a, sorts) for a in each[1:]] == wanted
                ):
                    raise _WrongTerm(f"is not applied to cells by {one_line(each)[:60]}")
            return tuple(tuple(str(a) for a in each[1:]) for each in every)
    raise _WrongTerm("is about all elements, and what follows does not say of which")


def _cell(argument: SExpr, sorts: Mapping[str, str]) -> str | None:
    """The sort of a cell; None for what is none."""
    return sorts.get(argument) if isinstance(argument, str) and argument not in ("true", "false") else None


class _WrongTerm(Exception):
    """What a lemma has that it may not have."""


_OF = {
    **dict.fromkeys(("and", "or", "=>", "not"), ("Bool", "Bool")),
    **dict.fromkeys(("<", "<=", ">", ">="), ("Int", "Bool")),
    **dict.fromkeys(("+", "-", "*"), ("Int", "Int")),
}
"""The sorts of what an operator takes and gives."""


def _sort(term: SExpr, sorts: Mapping[str, str]) -> str:
    """Bool or Int. `_WrongTerm` for what is not made of cells, numbers and these few operators."""
    if isinstance(term, str):
        if term not in sorts and not _NUMERAL.fullmatch(term):
            raise _WrongTerm(f"speaks of {term[:60]}, which is no cell and no number")
        return sorts.get(term, "Int")
    if not term or not isinstance(term[0], str):
        raise _WrongTerm(f"has {one_line(term)[:60]}, which applies no operator")
    operator, of = term[0], [_sort(each, sorts) for each in term[1:]]
    if operator in _OF and of and set(of) == {_OF[operator][0]} and (operator != "not" or len(of) == 1):
        if len(of) > 1 or operator in ("not", "-", "and", "or"):
            return _OF[operator][1]
    if operator == "=" and len(of) == 2 and of[0] == of[1]:
        return "Bool"
    if operator == "ite" and len(of) == 3 and of[0] == "Bool" and of[1] == of[2]:
        return of[1]
    if (
        operator in ("div", "mod")
        and of == ["Int", "Int"]
        and isinstance(by := term[2], str)
        and _NUMERAL.fullmatch(by)
    ):
        if by != "0":
            return "Int"
    raise _WrongTerm(f"has {one_line(term)[:60]}, which a lemma may not have")


__all__ = ["LARGEST", "Certified", "read_certificate"]

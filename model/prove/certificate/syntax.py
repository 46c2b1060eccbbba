"""S-expressions: what SMT-LIB is written in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

SExpr: TypeAlias = "str | tuple[SExpr, ...]"
"""A symbol, number or string as it is written, or a list."""

WIDTH = 120
DEEPEST: Final = 300
_SIMPLE = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*")
_TOKEN = re.compile(r'[()]|\|[^|\\]*\||"(?:[^"]|"")*"|;[^\n]*|[^\s()|";]+')


class NotSMT(Exception):
    """A text that is not a list of S-expressions: the line, counted from 1, and what is wrong there."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line: Final = line
        self.problem: Final = problem


def symbol(name: str) -> str:
    """``name`` as a symbol. SMT-LIB has no place for ``|`` and ``\\`` in one: they become ``~7c`` and ``~5c``, and so
    that different names stay different ``~`` itself becomes ``~7e``."""
    if re.search(r"[|\\~]", name):
        name = re.sub(r"[|\\~]", lambda m: f"~{ord(m[0]):x}", name)
    return name if _SIMPLE.fullmatch(name) else f"|{name}|"


def number(value: int) -> SExpr:
    """An integer."""
    return str(value) if value >= 0 else ("-", str(-value))


def quoted(text: str) -> str:
    """A string."""
    return '"' + text.replace('"', '""') + '"'


def unquoted(text: str) -> str | None:
    """What `quoted` made ``text`` of; None if it is not a string."""
    return text[1:-1].replace('""', '"') if len(text) >= 2 and text[0] == text[-1] == '"' else None


def one_line(expr: SExpr) -> str:
    """``expr`` without line breaks."""
    return expr if isinstance(expr, str) else f"({' '.join(map(one_line, expr))})"


def printed(expr: SExpr, indent: int = 0) -> str:
    """``expr`` in lines of at most `WIDTH` characters where that can be, from column ``indent`` on."""
    text = one_line(expr)
    if isinstance(expr, str) or indent + len(text) <= WIDTH or len(expr) < 2:
        return text
    # A definition keeps its name, parameters and sort on the first line, an operator stands alone.
    head = 4 if expr[0] == "define-fun" else 1
    lines = [printed(each, indent + 2) for each in expr[head:]]
    return f"({' '.join(map(one_line, expr[:head]))}" + "".join(f"\n{' ' * (indent + 2)}{each}" for each in lines) + ")"


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a file, and the line on which it begins."""

    line: int
    expr: SExpr


def commands(text: str) -> Iterator[Command]:
    """The commands of ``text``, comments left out. NotSMT where it is none."""
    open_: list[list[SExpr]] = []
    begins, line, at = 0, 1, 0
    for found in _TOKEN.finditer(text):
        between, token = text[at : found.start()], found[0]
        if between.strip():
            raise NotSMT(line + _lines_before(between), f"unexpected {between.strip()[0]!r}")
        line += between.count("\n")
        at = found.end()
        if token == "(":
            if not open_:
                begins = line
            if len(open_) >= DEEPEST:
                raise NotSMT(line, f"nested deeper than {DEEPEST}")
            open_.append([])
        elif token == ")":
            if not open_:
                raise NotSMT(line, "a ) that closes nothing")
            done: SExpr = tuple(open_.pop())
            if open_:
                open_[-1].append(done)
            else:
                yield Command(begins, done)
        elif not token.startswith(";"):
            if not open_:
                raise NotSMT(line, f"expected a command, found {token[:40]}")
            open_[-1].append(token)
        line += token.count("\n")
    if text[at:].strip():
        raise NotSMT(line + _lines_before(text[at:]), f"unexpected {text[at:].strip()[0]!r}")
    if open_:
        raise NotSMT(begins, "this command has no end")


def _lines_before(text: str) -> int:
    """Line breaks before the first character that is no space."""
    return text[: len(text) - len(text.lstrip())].count("\n")


__all__ = [
    "DEEPEST",
    "Command",
    "NotSMT",
    "SExpr",
    "commands",
    "number",
    "one_line",
    "printed",
    "quoted",
    "symbol",
    "unquoted",
]

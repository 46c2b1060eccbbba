"""What we tell a user whose input cannot be used as it stands.

``InputError`` is the base of every error that a user can cause and mend: a file, a field, an option. A program prints
``str(error)``, one line, and exits with status 2; it never shows a traceback for it. ``InputWarning`` is its mild
sister: the input was used, but something in it was dropped or assumed.

The line reads like a compiler's, so editors can jump to it::

    queues.yaml:12:17: partitions[0].queues[0].resources.max.memory: found '10Q', expected a quantity such as 10G
"""

from __future__ import annotations

from dataclasses import dataclass


class InputError(Exception):
    """Input that cannot be used.

    ``file`` is the path as the user gave it ("" where there is none), ``line`` and ``column`` count from 1 (None where
    they are unknown), ``where`` is the field or option, ``found`` what is there and ``expected`` what should be.
    """

    def __init__(
        self,
        found: str,
        expected: str,
        file: str = "",
        line: int | None = None,
        column: int | None = None,
        where: str = "",
    ) -> None:
        super().__init__(found, expected, file, line, column, where)  # all of them, so that the error can be pickled
        self.found = found
        self.expected = expected
        self.file = file
        self.line = line
        self.column = column
        self.where = where

    def __str__(self) -> str:
        head = [_place(self.file, self.line, self.column), one_line(self.where)]
        return ": ".join([*filter(None, head), f"found {one_line(self.found)}, expected {one_line(self.expected)}"])


@dataclass(frozen=True, slots=True)
class InputWarning:
    """Input that was used, but not as it stands; ``text`` says what was dropped or assumed."""

    text: str
    file: str = ""
    line: int | None = None
    where: str = ""

    def __str__(self) -> str:
        head = [_place(self.file, self.line, None), one_line(self.where)]
        return ": ".join([*filter(None, head), one_line(self.text)])


def _place(file: str, line: int | None, column: int | None) -> str:
    parts = [one_line(file)] if file else []
    if file and line is not None:
        parts.append(str(line))
        if column is not None:
            parts.append(str(column))
    return ":".join(parts)


def one_line(text: str) -> str:
    """``text`` without line breaks and other characters that would tear a message apart."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shorten(text: str, limit: int = 120) -> str:
    """``text``, or its head and an ellipsis where it is longer than ``limit`` characters."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def sample(names: list[str], limit: int = 5) -> str:
    """The first few of ``names``, comma-separated, and how many more there are."""
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")

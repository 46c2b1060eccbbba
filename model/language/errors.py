"""Where in the user's file something stands, and the error that says so."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

_LANGUAGE = str(Path(__file__).resolve().parent)


@dataclass(frozen=True, slots=True)
class Location:
    """A line in a spec's source file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class SpecError(Exception):
    """A mistake in a spec, told with the line where it was made."""

    def __init__(self, message: str, at: Location | None) -> None:
        self.message = message
        self.at = at
        super().__init__(f"{at}: {message}" if at else message)


def where() -> Location:
    """The innermost line outside the language package: the user's line that is being executed."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LANGUAGE):
        frame = frame.f_back
    return Location(frame.f_code.co_filename, frame.f_lineno)

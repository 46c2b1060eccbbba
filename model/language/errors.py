"""Where in the user's file something stands, and the error that says so."""

from __future__ import annotations

import contextlib
import enum
import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, TracebackType

_LANGUAGE = str(Path(__file__).parent) + os.sep
_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep


@dataclass(frozen=True, slots=True)
class Location:
    """A line in a spec's source file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.shown_file}:{self.line}"

    @property
    def shown_file(self) -> str:
        """The file as a user in the working directory would name it: relative where it is below."""
        path = Path(self.file)
        try:
            here = Path.cwd()
        except FileNotFoundError:  # the working directory was deleted
            return self.file
        return str(path.relative_to(here)) if path.is_relative_to(here) else self.file


class SpecError(Exception):
    """A mistake in a spec, told with the line where it was made."""

    def __init__(self, message: str, at: Location | None) -> None:
        self.message = message
        self.at = at
        super().__init__(f"{at}: {message}" if at else message)


def is_language(code: CodeType) -> bool:
    """Whether ``code`` is of this package, and so not the user's."""
    return code.co_filename.startswith(_LANGUAGE)


def user_frame(frame: FrameType) -> FrameType:
    """``frame``, or the nearest caller that is the user's."""
    while frame.f_back is not None and is_language(frame.f_code):
        frame = frame.f_back
    return frame


def line_of(frame: FrameType) -> Location:
    """The line that ``frame``, or its nearest caller outside this package, executes."""
    frame = user_frame(frame)
    return Location(frame.f_code.co_filename, frame.f_lineno)


def spec_line(frame: FrameType) -> Location:
    """The line that the nearest caller executes that is neither of this package nor of Python's library."""
    found: FrameType | None = frame
    while found is not None and (is_language(found.f_code) or found.f_code.co_filename.startswith(_LIBRARY)):
        found = found.f_back
    return line_of(found or frame)


_standing: list[Location] = []


@contextlib.contextmanager
def standing_at(at: Location) -> Iterator[None]:
    """What is built inside belongs to line ``at``: writes that are put together at the end of a body."""
    _standing.append(at)
    try:
        yield
    finally:
        _standing.pop()


def where() -> Location:
    """The innermost line outside the language package: the user's line that is being executed."""
    return _standing[-1] if _standing else line_of(sys._getframe(1))


def definition(code: CodeType) -> Location:
    """The line of ``def``: that of the code object is the line of its first decorator."""
    line = code.co_firstlineno
    for number in range(line, line + 20):
        if linecache.getline(code.co_filename, number).lstrip().startswith(("def ", "async def ")):
            return Location(code.co_filename, number)
    return Location(code.co_filename, line)


def raised_at(traceback: TracebackType | None) -> Location | None:
    """The innermost of the user's lines in ``traceback``: none of this package, and none of Python's library."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_language(code) and not code.co_filename.startswith(_LIBRARY):
            found = Location(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def explained(error: BaseException) -> str:
    """What ``error`` says, in words: for a misspelt member of an enum, which members there are."""
    if isinstance(error, AttributeError) and isinstance(error.obj, enum.EnumType):
        members: list[enum.Enum] = list(error.obj)
        names = ", ".join(member.name for member in members)
        return f"{error.obj.__name__} has no member {error.name}; it has {names or 'none'}"
    return f"{type(error).__name__}: {error}"

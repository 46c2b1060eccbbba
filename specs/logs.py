"""Logs of real systems: which formats there are, and who reads each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from model.conform import Log, read_log
from model.errors import FileError
from model.language import Machine
from specs.ray import log as ray
from specs.yunikorn import log as yunikorn

Reader: TypeAlias = Callable[[Machine, Iterable[str], str], Log]

READERS: Final[Mapping[str, tuple[str, Reader]]] = {
    "ray": ("ray", ray.read),
    "yunikorn": ("yunikorn", yunikorn.read),
}
"""For each format the system whose specs it speaks of, and its reader."""
FORMATS: Final = ("auto", "jsonl", *READERS)
_PIECE: Final = 1 << 16


def read(machine: Machine, path: Path, form: str = "auto") -> Log:
    """The log in ``path``. FileError where it is none, or one of another system's spec."""
    try:
        with path.open(encoding="utf-8") as lines:
            found = _form(lines.read(_PIECE)) if form == "auto" else form
            if found == "jsonl":
                return read_log(path)
            lines.seek(0)
            system, reader = READERS[found]
            if machine.name != system:
                raise FileError(f"{path}: a log of {system}, expected one of {machine.name}")
            return reader(machine, lines, str(path))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a text file in UTF-8: {error.reason} at byte {error.start}") from None


def _form(beginning: str) -> str:
    known = {"ray": ray.looks_like, "yunikorn": yunikorn.looks_like}
    return next((name for name, looks_like in known.items() if looks_like(beginning)), "jsonl")


__all__ = ["FORMATS", "READERS", "read"]

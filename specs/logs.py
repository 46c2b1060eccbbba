"""Logs of real systems: which formats there are, and who reads each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from model.conform import Log, read_log
from model.errors import FileError
from model.language import Machine
from specs.kubernetes import log as kubernetes
from specs.ray import log as ray
from specs.yunikorn import log as yunikorn

Reader: TypeAlias = Callable[[Machine, Iterable[str], str], Log]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the ``spec`` that its logs speak of, whether a piece of a file looks like it, and who reads it."""

    spec: str
    looks_like: Callable[[str], bool]
    read: Reader


FORMATS: Final[Mapping[str, Format]] = {
    "kubernetes": Format("kubernetes", kubernetes.looks_like, kubernetes.read),
    "ray": Format("ray", ray.looks_like, ray.read),
    "yunikorn": Format("yunikorn", yunikorn.looks_like, yunikorn.read),
}
_PIECE: Final = 1 << 16


def read(machine: Machine, path: Path, form: str = "auto", formats: Mapping[str, Format] = FORMATS) -> Log:
    """The log in ``path``: ``form`` is one of ``formats``, jsonl, or auto. FileError where it is none, or one of
    another system's spec."""
    try:
        with path.open(encoding="utf-8") as lines:
            beginning = lines.read(_PIECE)
            fitting = (name for name, each in formats.items() if each.looks_like(beginning))
            found = next(fitting, "jsonl") if form == "auto" else form
            if found == "jsonl":
                return read_log(path)
            lines.seek(0)
            if machine.name != formats[found].spec:
                raise FileError(f"{path}: a log of {formats[found].spec}, expected one of {machine.name}")
            return formats[found].read(machine, lines, str(path))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not a text file in UTF-8: {error.reason} at byte {error.start}") from None


__all__ = ["FORMATS", "Format", "read"]

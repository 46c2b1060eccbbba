"""Where a value stands in a text: lines and columns for error messages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

Step = str | int
Path = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """A line and a column, both counted from 1."""

    line: int
    column: int


@dataclass(slots=True)
class Spot:
    """The position of one value, of the keys and values in it, and how it was written.

    ``text`` is a scalar as written where it is not text (``0.50``, ``true``). ``indent`` is set for a literal block
    scalar (``|``), whose lines stand one to one below its own, indented by so much.
    """

    line: int
    column: int
    keys: dict[str, Spot]
    children: dict[Step, Spot]
    text: str | None = None
    indent: int | None = None

    @property
    def position(self) -> Position:
        """Line and column."""
        return Position(self.line, self.column)

    def find(self, path: Path) -> Spot | None:
        """The spot below this one that ``path`` leads to."""
        spot: Spot | None = self
        for step in path:
            spot = spot.children.get(step) if spot else None
        return spot


# shared by all scalars, of which there are millions; a container has dicts of its own
NO_KEYS: Final[dict[str, Spot]] = {}
NO_CHILDREN: Final[dict[Step, Spot]] = {}


class SyntaxProblem(Exception):
    """A text that is not the YAML or JSON that it should be."""

    def __init__(self, found: str, expected: str, at: Position | None) -> None:
        super().__init__(found, expected, at)
        self.found = found
        self.expected = expected
        self.at = at


def position_of(text: str, offset: int) -> Position:
    """Line and column of a character offset."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def path_text(path: Path) -> str:
    """A path as users write it: ``items[3].metadata.annotations["yunikorn.apache.org/task-groups"][0]``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step and step.replace("_", "a").replace("-", "a").isalnum() and step.isascii():
            text += f".{step}" if text else step
        else:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{escaped}"]'
    return text


_STEP: Final = re.compile(r'\.?(?P<name>[^.\[\]"]+)|\[(?P<index>\d+)\]|\[(?P<text>"(?:[^"\\]|\\.)*")\]')


def steps_of(text: str) -> Path:
    """The path that ``path_text`` wrote as ``text``; as far as it can be read, where someone else wrote it."""
    steps: list[Step] = []
    at = 0
    while (found := _STEP.match(text, at)) is not None:
        name, index, quoted = found.group("name", "index", "text")
        steps.append(int(index) if index is not None else name if quoted is None else str(json.loads(quoted)))
        at = found.end()
    return tuple(steps)

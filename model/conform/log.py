"""What a log tells of a run: records in order, and which steps it leaves out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from model.errors import FileError
from model.trace import Value

Told: TypeAlias = "Value | list[object] | dict[str, object] | None"
"""A value as a log has it: as in the JSON of traces, where sets and channels are lists. None: nobody knows."""


MOST_TIED: Final = 16
"""So many records of one time are tried in every order."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Steps of one action. ``arguments``: the values that one may have, by the parameter's name; those not named may
    have any. A value is the name of an element (the log's own), or a value of another domain as traces show it."""

    action: str
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        told = [f"{name}={'|'.join(values)}" for name, values in self.arguments.items()]
        return f"{self.action}({', '.join(told)})"


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a log. ``where`` names it, as in "line 7".

    ``patterns``: a step happened that fits one of them; without any, no step is told. ``state``: what was seen
    afterwards, by cell. ``gap``: records were lost here, and any steps may have been taken. ``forget``: names that now
    stand for nothing; when they come again they stand for something else. ``end``: the run ended here, as the spec's
    terminal states say. Records of equal ``time`` may have happened in any order; None is a time of its own. ``told``:
    the source's own words.
    """

    where: str
    patterns: tuple[Pattern, ...] = ()
    state: Mapping[str, Told] = field(default_factory=dict)
    time: str | None = None
    gap: bool = False
    forget: tuple[str, ...] = ()
    end: bool = False
    told: str = ""

    def __str__(self) -> str:
        if self.told:
            return self.told
        told = [" or ".join(map(str, self.patterns))] if self.patterns else []
        told += [f"{cell} = {value}" for cell, value in self.state.items()]
        told += ["a gap"] if self.gap else []
        told += [f"{name} is gone" for name in self.forget]
        told += ["the end"] if self.end else []
        return ", ".join(told)

    @property
    def says_something(self) -> bool:
        """Whether it could be refused: a step, the end, or a value that is known."""
        return bool(self.patterns) or self.end or any(value is not None for value in self.state.values())


@dataclass(frozen=True, slots=True)
class Log:
    """``unobserved``: steps that fit one of these may happen without a record; all others have one.

    With ``observed``, variables by what traces call them, the log tells of changes: of these variables nothing changes
    but what records tell, no record names an action, and one step may have several records that follow each other.

    ``names``: which element a name stands for, by sort; a name that is an element's own stands for it, and any other
    for one that has no name yet.
    """

    records: tuple[Record, ...]
    unobserved: tuple[Pattern, ...] = ()
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    observed: tuple[str, ...] = ()


def groups(records: Sequence[Record]) -> list[list[Record]]:
    """Records of one time together, where they may have happened in any order; others by themselves, and so are a gap,
    an end and names that are forgotten. FileError where there are more than can be tried."""
    found: list[list[Record]] = []
    numbered = enumerate(records)
    for _, pairs in itertools.groupby(numbered, lambda pair: pair[0] if pair[1].time is None else pair[1].time):
        group = [record for _, record in pairs]
        for alone, part in itertools.groupby(group, lambda r: r.gap or bool(r.forget) or r.end):
            some = list(part)
            if alone:
                found += [[r] for r in some]
                continue
            if len(some) > MOST_TIED:
                raise FileError(
                    f"{some[0].where}: {len(some)} records of one time, expected at most {MOST_TIED}: they are tried "
                    'in every order; with "ties": "file" their order is that of the file'
                )
            found.append(some)
    return found


__all__ = ["Log", "Pattern", "Record", "Told", "groups"]

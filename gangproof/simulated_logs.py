"""Logs of `gangproof simulate --policy yunikorn`, as records of the spec: what happened in the core, by the binding."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from model.conform import Log, Pattern, Record
from model.conform.stream import no_half_characters, whole_number
from model.errors import FileError
from model.language import Machine
from reference.simulation.log import FORMAT
from reference.simulation.schedulers.yunikorn import record_of
from specs.yunikorn.binding import calls
from specs.yunikorn.parameters import Edition

UNOBSERVED = ("complete",)
"""The core ends an application with its last confirmed release, the spec in a step of its own."""


def looks_like(text: str) -> bool:
    """Whether ``text``, a piece of a file, is the beginning of such a log."""
    first = text.partition("\n")[0]
    return '"gangproof"' in first and f'"{FORMAT}"' in first


def read(machine: Machine, lines: Iterable[str], name: str) -> Log:
    """The log in ``lines``; ``name`` is what messages call the file. FileError for what is none."""
    if Edition(machine.parameters["edition"]) is not Edition.SEED:
        raise FileError(f"{name}: the simulated core is that of edition=seed")
    return Log(tuple(_records(machine, lines, name)), tuple(map(Pattern, UNOBSERVED)))


def _records(machine: Machine, lines: Iterable[str], name: str) -> Iterator[Record]:
    parameters = {a.name: [s.name for s in a.symbols] for a in machine.actions}
    for number, text in enumerate(lines, 1):
        where = f"line {number}"
        try:
            line = json.loads(text, parse_int=whole_number)
            no_half_characters(text)
            if not isinstance(line, dict) or (number == 1 and line.get("gangproof") != FORMAT):
                raise ValueError(f"expected an object, the first with gangproof: {FORMAT}")
            told = calls(record_of(line)) if line.get("by") == "yunikorn" else []
            _check_names(told)
        except (KeyError, RecursionError, TypeError, ValueError) as error:
            raise FileError(f"{name}: {where}: no event of a simulated core: {error}") from None
        for action, arguments in told:
            if action not in parameters:
                raise FileError(f"{name}: {where}: the spec with these parameters has no action {action}")
            pairs = zip(parameters[action], arguments, strict=False)
            yield Record(where, (Pattern(action, {p: (a,) for p, a in pairs}),))


def _check_names(told: Iterable[tuple[str, tuple[object, ...]]]) -> None:
    for action, arguments in told:
        for each in arguments:
            if not isinstance(each, str):
                raise ValueError(f"{action} of {each!r}, expected a name")


__all__ = ["looks_like", "read"]

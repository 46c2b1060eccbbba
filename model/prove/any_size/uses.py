"""What a spec function does with the sizes it is given, from calls with sizes that record their use.

Why a few sizes are enough. Say that a function does nothing with its sizes but give them to `Machine.sort`, have them
checked, and compare them with integers. What it does then depends on them only through the answers, and the answers
are the same for all sizes that lie alike to every integer that is compared with: below, at, between or above. One size
of each such region is called, for all parameters together; if a call compares with another integer, regions are split
and called again, until no call does. Any other size then takes, comparison by comparison, the way of the one that was
called for its region. A check is no region, for a size that it refuses is none of the family: each is made to fail
once, to see that the spec is refused then. Any other use may make any size a case of its own, and none is known.

How many elements there are a function could also ask the machine; that is recorded as well. What is believed is that it
does not ask for the type or identity of what it is given, nor tries what the language refuses to learn a size; and, as
everywhere, that it does the same each time it is called.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import prod
from typing import Any, Final, TypeAlias

from model.language import Machine, SpecError
from model.language.sizes import Record, Size, Use
from model.prove.any_size.terms import Unreadable

Build: TypeAlias = Callable[..., Machine]
"""A spec function, with all its parameters as keywords."""

Text: TypeAlias = tuple[str, ...]
Read: TypeAlias = Callable[[Machine], Text]
"""What a machine says but for the number of elements."""

MOST_COMPARED: Final = 100
"""An integer that sizes are compared with is at most this: a machine is built on each side of it."""

_MOST_POINTS: Final = 100
_MOST_ELEMENTS: Final = 10_000
_UNKNOWN: Final = "the spec may say something else at sizes that were not tried"


def points(
    build: Build, parameters: Mapping[str, Any], sizes: Iterable[str], read: Read
) -> list[tuple[dict[str, int], Text | str]]:
    """Sizes, one of each region, and what ``read`` says of the machine that a recorded call makes of them, or why they
    are refused. Unreadable where a use of ``sizes`` leaves some size unknown, with its place."""
    compared: dict[str, dict[int, Use]] = {name: {} for name in sizes}
    made: dict[tuple[int, ...], Text | str] = {}
    while True:
        regions = [_representatives(parameters[name], found) for name, found in compared.items()]
        _check_cost(regions, compared)
        wanted = list(itertools.product(*regions))
        new = [point for point in wanted if point not in made]
        if not new:
            return [(dict(zip(compared, point, strict=True)), made[point]) for point in wanted]
        for point in new:
            given = dict(zip(compared, point, strict=True))
            call = partial(_called, build, parameters, given, compared, read)
            made[point], bounds = call()
            for number in range(bounds):
                if not isinstance(call(number)[0], str):
                    where = " ".join(f"{name}={value}" for name, value in given.items())
                    raise Unreadable(f"a check of sizes fails at {where}, and the spec goes on: {_UNKNOWN}")


def _representatives(given: int, compared: Iterable[int]) -> list[int]:
    """One size of each region, in order; ``given`` where there is one region."""
    found = {near for number in compared for near in (number - 1, number, number + 1) if near >= 1}
    return sorted(found) or [max(given, 1)]


def _check_cost(regions: list[list[int]], compared: Mapping[str, Mapping[int, Use]]) -> None:
    uses = [use for found in compared.values() for use in found.values()]
    large = [use for found in compared.values() for number, use in found.items() if number > MOST_COMPARED]
    if large:
        raise Unreadable(f"{large[0]}, more than the {MOST_COMPARED} that can be tried: {_UNKNOWN}")
    if uses and (prod(map(len, regions)) > _MOST_POINTS or prod(map(max, regions)) > _MOST_ELEMENTS):
        raise Unreadable(f"sizes are compared too often to try all sides, the last time {uses[-1]}: {_UNKNOWN}")


def _called(
    build: Build,
    parameters: Mapping[str, Any],
    given: Mapping[str, int],
    compared: Mapping[str, dict[int, Use]],
    read: Read,
    refused: int = -1,
) -> tuple[Text | str, int]:
    """What one recorded call makes, and how many checks it passes. Comparisons go to ``compared``; any other use is
    Unreadable."""
    record = Record(refused)
    made: Text | str
    try:
        machine = build(**{**parameters, **{name: Size(name, value, record) for name, value in given.items()}})
        machine.parameters = {}  # those that were given, which the loader keeps
        made = read(machine.finish())
    except (ValueError, SpecError, TypeError, AttributeError) as error:
        made = str(error)
    uses = record.uses + ([] if isinstance(made, str) or refused >= 0 else record.told)
    if uses:
        raise Unreadable(f"{uses[0]}: {_UNKNOWN}")
    for (name, number), use in record.compared.items():
        compared[name].setdefault(number, use)
    return made, record.bounds


__all__ = ["MOST_COMPARED", "points"]

"""A family of machines: one spec function, at all sizes of its sorts.

A spec is a Python function, and could say something else at each size. So it is called at several sizes, and what it
says must be the same text each time, up to how many elements the sorts have.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from model.language import Machine, SpecError
from model.language.describe import describe
from model.prove.any_size.effects import uniform_start
from model.prove.any_size.terms import Unreadable

SIZES: Final = (1, 2, 3, 4, 5, 8)
"""Values of a parameter that a machine is built with, to see what it decides and whether the text stays the same."""

Build = Callable[..., Machine]
"""A spec function, with all its parameters as keywords."""


@dataclass(frozen=True, slots=True)
class Family:
    """``machine`` at the parameters that were asked for, ``sizes``: for each parameter that decides how many elements
    some sorts have, those sorts by name. ``compared``: at so many sizes the text was the same; ``least``: for a
    parameter with which it differs at 1, the least for which it does not."""

    machine: Machine
    sizes: Mapping[str, tuple[str, ...]]
    compared: int
    least: Mapping[str, int]

    def at(self, size: int) -> Machine:
        """The machine with so many elements of each sort."""
        return resized(self.machine, {sort.__name__: size for sort in self.machine.sorts})


def resized(machine: Machine, sizes: Mapping[str, int]) -> Machine:
    """The same machine with other numbers of elements; it must have no tables, and its elements all start alike."""
    other = copy.copy(machine)
    other.sorts = {
        sort: replace(d, names=tuple(f"{sort.__name__.lower()}{i + 1}" for i in range(sizes[sort.__name__])))
        if sort.__name__ in sizes
        else d
        for sort, d in machine.sorts.items()
    }
    return other


def family_of(build: Build, parameters: Mapping[str, Any]) -> Family:
    """The family of ``build`` around ``parameters``. Unreadable if the machine is another one at other sizes."""
    machine = build(**parameters).finish()
    wanted = _text(machine)
    for variable in machine.variables:
        variable.initial = uniform_start(machine, variable)  # not a list, which has a length
    numbers = [name for name, value in parameters.items() if type(value) is int]
    sizes = {name: found for name in numbers if (found := _decides(build, parameters, name, machine))}
    compared, least = 1, {}
    for name in sizes:
        same, first = _same(build, parameters, name, wanted)
        compared += same
        if first > 1:
            least[name] = first
    compared += _all_at_once(build, parameters, sizes, wanted, least)
    return Family(machine, sizes, compared, least)


def _decides(build: Build, parameters: Mapping[str, Any], name: str, machine: Machine) -> tuple[str, ...]:
    """The sorts whose size ``name`` changes."""
    mine = {sort.__name__: d.size for sort, d in machine.sorts.items()}
    for value in (parameters[name] + 1, parameters[name] - 1):
        other = built(build, {**parameters, name: value})
        if other is not None:
            theirs = {sort.__name__: d.size for sort, d in other.sorts.items()}
            if theirs.keys() != mine.keys():
                return ()
            return tuple(sort for sort, size in mine.items() if theirs[sort] != size)
    return ()


def _same(build: Build, parameters: Mapping[str, Any], name: str, wanted: tuple[str, ...]) -> tuple[int, int]:
    """At how many other values of ``name`` the text is the same, and the least of them."""
    count, first = 0, 1
    for value in SIZES:
        other = built(build, {**parameters, name: value})
        if other is None or value == parameters[name]:
            continue
        difference = _difference(wanted, _text(other))
        if difference is None:
            count += 1
        elif value == 1 and parameters[name] > 1:
            first = 2
        else:
            raise Unreadable(f"the spec is another one at {name}={value}: {difference}")
    if not count:
        raise Unreadable(f"the spec cannot be had at another {name}, to see whether it stays the same")
    return count, first


def _all_at_once(
    build: Build, parameters: Mapping[str, Any], sizes: Mapping[str, Any], wanted: tuple[str, ...], least: Mapping[str, int]
) -> int:
    count = 0
    if len(sizes) < 2:
        return 0
    for values in itertools.islice(itertools.product((2, 3), repeat=len(sizes)), 16):
        other = built(build, {**parameters, **dict(zip(sizes, values, strict=True))})
        if other is None:
            continue
        difference = _difference(wanted, _text(other))
        if difference is not None:
            where = " ".join(f"{n}={v}" for n, v in zip(sizes, values, strict=True))
            raise Unreadable(f"the spec is another one at {where}: {difference}")
        count += 1
    return count


def built(build: Build, values: Mapping[str, Any]) -> Machine | None:
    """The machine, or None where the spec refuses these sizes."""
    try:
        return build(**values).finish()
    except (ValueError, SpecError):
        return None


def _text(machine: Machine) -> tuple[str, ...]:
    """What ``machine`` says but for the number of elements, line by line."""
    lines = [line.strip() for line in describe(machine).splitlines()]
    rest = [line for line in lines if not any(f"m.{kind}(" in line for kind in ("sort", "constant", "variable", "scalar"))]
    sorts = [f"sort {s.__name__} ordered={d.ordered} symmetric={d.symmetric}" for s, d in machine.sorts.items()]
    tables = [f"constant {t.name}: {sorted(set(t.values.values()))}" for t in machine.tables]
    variables = [
        f"{v.name}: {[s.__name__ for s in v.sorts]} {v.domain} from {sorted(map(str, uniform_start(machine, v).values))}"
        for v in machine.variables
    ]
    return (*sorts, *tables, *variables, *rest)


def _difference(mine: tuple[str, ...], theirs: tuple[str, ...]) -> str | None:
    """The first lines that differ, or None."""
    for a, b in itertools.zip_longest(mine, theirs, fillvalue="nothing"):
        if a != b:
            return f"{b!r}, where it has {a!r}"
    return None


__all__ = ["SIZES", "Build", "Family", "built", "family_of", "resized"]

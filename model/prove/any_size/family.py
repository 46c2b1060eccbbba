"""A family of machines: one spec function, at all sizes of its sorts.

A spec is a Python function, and could say something else at each size. So it is called with sizes that record what it
does with them (`uses`), at so many that its answer at any other is known; and what it says must be the same text each
time, up to how many elements the sorts have.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from model.language import Machine, SpecError
from model.language.describe import describe
from model.language.sizes import names_of
from model.language.variables import VariableBase
from model.prove.any_size.effects import uniform_start
from model.prove.any_size.terms import Unreadable
from model.prove.any_size.uses import Build, points

SIZES: Final = (1, 2, 3, 5)
"""Values of a parameter that a machine is built with, to see what it decides and whether the text stays the same."""

_FEW: Final = 2
_LEAST_COMPARED: Final = 2
_MOST_TOGETHER: Final = 4
_DECORATOR: Final = "    @m."
_ACTION: Final = "m.action"


@dataclass(frozen=True, slots=True)
class Family:
    """``machine`` has every action that any of them has. ``sizes``: for each parameter that decides how many elements
    some sorts have, those sorts by name. ``compared``: at so many sizes the text was the same; ``fewer``: sizes, in
    words, at which actions are missing, so that what holds of all of them holds there too."""

    machine: Machine
    sizes: Mapping[str, tuple[str, ...]]
    compared: int
    fewer: tuple[str, ...]


def resized(machine: Machine, sizes: Mapping[str, int]) -> Machine:
    """The same machine with other numbers of elements; it must have no tables, and its elements all start alike."""
    other = copy.copy(machine)
    other.sorts = {
        sort: replace(d, names=names_of(sort.__name__.lower(), sizes[sort.__name__])) if sort.__name__ in sizes else d
        for sort, d in machine.sorts.items()
    }
    return other


def family_of(build: Build, parameters: Mapping[str, Any]) -> Family:
    """The family of ``build`` around ``parameters``. Unreadable if the machine is another one at other sizes."""
    machine = build(**parameters).finish()
    if len({sort.__name__ for sort in machine.sorts}) < len(machine.sorts):
        raise Unreadable("two sorts have one name")
    numbers = [name for name, value in parameters.items() if type(value) is int]
    sizes = {name: found for name in numbers if (found := _decides(build, parameters, name, machine))}
    # Of one element there may be less to say: the text to compare with is that of a few.
    larger = {name: max(parameters[name], _FEW) for name in sizes}
    widest = built(build, {**parameters, **larger})
    machine = machine if widest is None else widest
    wanted = _text(machine)
    texts = dict[tuple[int, ...], tuple[str, ...] | None]()
    fewer = list[dict[str, int]]()

    def compare(values: dict[str, int]) -> None:
        if (key := tuple(values.values())) in texts:
            return
        other = built(build, {**parameters, **values})
        texts[key] = theirs = None if other is None else _text(other)
        if theirs is None:
            return
        if (difference := _difference(wanted, theirs)) is not None:
            raise Unreadable(f"the spec is another one at {_told(values)}: {difference}")
        if len(theirs) < len(wanted):
            fewer.append(values)

    for values in _others(parameters, sizes):
        compare(values)
    for values, text in points(build, parameters, sizes, _text) if sizes else ():
        compare(values)
        _check_alike(values, text, texts[tuple(values.values())])
    compared = sum(text is not None for text in texts.values())
    if sizes and compared < _LEAST_COMPARED:
        raise Unreadable("the spec cannot be had at other sizes, to see whether it stays the same")
    for variable in machine.variables:
        variable.initial = uniform_start(machine, variable)  # not a list, which has a length
    return Family(machine, sizes, compared, _in_words(fewer))


def _check_alike(values: dict[str, int], recorded: tuple[str, ...] | str, plain: tuple[str, ...] | None) -> None:
    """Unreadable if the spec is another one where its uses of sizes are recorded."""
    if plain == (None if isinstance(recorded, str) else recorded):
        return
    why = f": {recorded}" if isinstance(recorded, str) else ""
    raise Unreadable(f"what the spec does with its sizes cannot be recorded at {_told(values)}{why}")


def _told(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _others(parameters: Mapping[str, Any], sizes: Mapping[str, Any]) -> list[dict[str, int]]:
    """Sizes to compare at: those asked for; for each parameter several; and a few for all together."""
    found = [{name: parameters[name] for name in sizes}]
    found += [{**found[0], name: value} for name in sizes for value in SIZES]
    together = itertools.islice(itertools.product((1, 3), repeat=len(sizes)), 2**_MOST_TOGETHER)
    found += [dict(zip(sizes, values, strict=True)) for values in together]
    return [dict(each) for each in dict.fromkeys(tuple(each.items()) for each in found)]


def _in_words(found: list[dict[str, int]]) -> tuple[str, ...]:
    """What all these sizes have in common, if they do, else each of them: ``nodes=1``."""
    common = [item for item in found[0].items() if all(item in each.items() for each in found)] if found else []
    told = [dict(common)] if common else found
    return tuple(map(_told, told))


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


def built(build: Build, values: Mapping[str, Any]) -> Machine | None:
    """The machine, or None where the spec refuses these sizes."""
    try:
        return build(**values).finish()
    except (ValueError, SpecError):
        return None


def _text(machine: Machine) -> tuple[str, ...]:
    """What ``machine`` says but for the number of elements: declarations line by line, then actions and claims."""
    lines = describe(machine).splitlines()
    rest = [
        line for line in lines if not any(f"m.{kind}(" in line for kind in ("sort", "constant", "variable", "scalar"))
    ]
    sorts = [f"sort {s.__name__} ordered={d.ordered} symmetric={d.symmetric}" for s, d in machine.sorts.items()]
    tables = [f"constant {t.name}: {sorted(set(t.values.values()))}" for t in machine.tables]
    variables = [
        f"{v.name}: {[s.__name__ for s in v.sorts]} {v.domain} from {_start(machine, v)}" for v in machine.variables
    ]
    blocks = "\n".join(rest).split(_DECORATOR)
    return (*sorts, *tables, *variables, *(f"m.{block.strip()}" for block in blocks))


def _start(machine: Machine, variable: VariableBase) -> list[str]:
    return sorted(map(str, uniform_start(machine, variable).values))


def _difference(mine: tuple[str, ...], theirs: tuple[str, ...]) -> str | None:
    """What of ``theirs`` is not in ``mine``, or missing and no action; or None."""
    number = 0
    for part in theirs:
        while number < len(mine) and mine[number] != part and mine[number].startswith(_ACTION):
            number += 1
        if number == len(mine) or mine[number] != part:
            return f"{_first(part, mine)}"
        number += 1
    left = [part for part in mine[number:] if not part.startswith(_ACTION)]
    return f"{left[0]!r} is missing" if left else None


def _first(part: str, mine: tuple[str, ...]) -> str:
    """The line of ``part`` that ``mine`` does not have."""
    known = {line for each in mine for line in each.splitlines()}
    lines = part.splitlines()
    return repr(next((line.strip() for line in lines if line not in known), " ".join(lines[:2])))


__all__ = ["SIZES", "Build", "Family", "built", "family_of", "resized"]

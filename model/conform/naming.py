"""Which element of the spec a name of the log stands for.

A name that is an element's own stands for it. Any other is given an element when it comes first, and there may be
several ways: each is a `World`. Where elements can be exchanged, those that no name ever stood for are alike: what the
log told so far, and all steps that it did not tell, are as true with any two of them exchanged. So one of them will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from model.conform.log import Log, Pattern, Record, Told
from model.conform.value_names import Key, ValueNames
from model.errors import FileError
from model.explore.symmetry import symmetry_of
from model.language import Machine, Sort, SpecError
from model.language.types import SortType, domain_type


@dataclass(frozen=True, slots=True)
class World:
    """``elements``: for each name the element that it stands for now; ``used``: those that a name ever stood for."""

    elements: tuple[tuple[Key, int], ...] = ()
    used: frozenset[tuple[str, int]] = frozenset()
    _by_name: dict[Key, int] = field(default_factory=dict, compare=False, hash=False, repr=False)

    def element(self, sort: str, name: str) -> int | None:
        """The element, or None if the name stands for nothing."""
        if not self._by_name and self.elements:
            self._by_name.update(self.elements)
        return self._by_name.get((sort, name))

    def bind(self, key: Key, element: int) -> World:
        """The world in which ``key`` stands for ``element``."""
        return World(tuple(sorted((*self.elements, (key, element)))), self.used | {(key[0], element)})

    def forget(self, names: Iterable[str]) -> World:
        """The world in which ``names`` stand for nothing."""
        gone = set(names)
        return World(tuple((key, e) for key, e in self.elements if key[1] not in gone), self.used)


class Naming:
    """The names of one log, for one machine. FileError for a name of a sort, an action, a parameter or a cell that the
    machine does not have."""

    def __init__(self, machine: Machine, log: Log) -> None:
        self.machine: Final = machine
        self.sorts: Final = {s.__name__: s for s in machine.sorts}
        self._labels: Final = _labels(machine)
        self._values: Final = ValueNames(machine, self._labels)
        self._parameters: Final = {a.name: {s.name: domain_type(s.domain) for s in a.symbols} for a in machine.actions}
        self._classes: Final = _exchangeable(machine)
        self.start: Final = self._start(log)

    def _start(self, log: Log) -> World:
        """Names that are told, and those that are an element's own, stand for it from the start."""
        world = World()
        given: dict[Key, int] = {}
        for sort, names in log.names.items():
            for name, element in names.items():
                if sort not in self.sorts or element not in self._names(sort):
                    have = f"one of {', '.join(self._names(sort))}" if sort in self.sorts else self._known_sorts()
                    raise FileError(f"names: {sort}: {name!r} is {element!r}, expected {have}")
                given[sort, name] = self._names(sort).index(element)
        for pattern in log.unobserved:
            for sort, name in self._named_by((pattern,), {}, "unobserved"):
                if (sort, name) not in given:
                    if name not in self._names(sort):
                        have = ", ".join(self._names(sort))
                        raise FileError(
                            f"unobserved: {pattern}: {name!r} is no {sort}, and 'names' gives it none: {have}"
                        )
                    given[sort, name] = self._names(sort).index(name)
        for record in log.records:
            for sort, name in self.names_of(record):
                if (sort, name) not in given and name in self._names(sort):
                    given[sort, name] = self._names(sort).index(name)
        for key, index in sorted(given.items()):
            if any(e == index and k[0] == key[0] for k, e in world.elements):
                raise FileError(f"two names stand for {self._names(key[0])[index]}, one of them is {key[1]!r}")
            world = world.bind(key, index)
        return world

    def _names(self, sort: str) -> tuple[str, ...]:
        return self.machine.sorts[self.sorts[sort]].names

    def _known_sorts(self) -> str:
        return f"a sort of {self.machine.name}: {', '.join(self.sorts)}"

    def names_of(self, record: Record) -> list[Key]:
        """The names in ``record``, each once, in order."""
        return self._named_by(record.patterns, record.state, record.where)

    def _named_by(self, patterns: Iterable[Pattern], state: Mapping[str, Told], where: str) -> list[Key]:
        found: dict[Key, None] = {}
        for pattern in patterns:
            if pattern.action not in self._parameters:
                raise FileError(
                    f"{where}: {self.machine.name} has no action {pattern.action!r}: {', '.join(self._parameters)}"
                )
            kinds = self._parameters[pattern.action]
            for parameter, values in pattern.arguments.items():
                if parameter not in kinds:
                    have = ", ".join(kinds) or "it has none"
                    raise FileError(f"{where}: {pattern.action} has no parameter {parameter!r}: {have}")
                kind = kinds[parameter]
                if isinstance(kind, SortType):
                    found.update(dict.fromkeys((kind.sort.__name__, v) for v in values))
        for cell, value in state.items():
            label, sorts, names = self._cell(cell, where)
            found.update(dict.fromkeys(zip(sorts, names, strict=True)))
            found.update(dict.fromkeys(self._values.keys(label, value, where)))
        return list(found)

    def _cell(self, text: str, where: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """What a cell is called, and the sorts and names in its brackets."""
        label, _, inner = text.partition("[")
        names = tuple(part.strip() for part in inner.removesuffix("]").split(",")) if inner else ()
        sorts = self._labels.get(label)
        if sorts is None:
            have = ", ".join(sorted(self._labels))
            raise FileError(f"{where}: {self.machine.name} has no variable {label!r}: {have}")
        if len(names) != len(sorts) or (inner and not inner.endswith("]")):
            raise FileError(f"{where}: found {text!r}, expected {label}[{', '.join(sorts)}]")
        return label, sorts, names

    def cell_in(self, world: World, text: str, where: str) -> str:
        """A cell's name in the spec's words."""
        label, sorts, names = self._cell(text, where)
        shown = []
        for sort, name in zip(sorts, names, strict=True):
            element = world.element(sort, name)
            assert element is not None, f"{name} was given no element"
            shown.append(self._names(sort)[element])
        return f"{label}[{', '.join(shown)}]" if shown else label

    def worlds(self, world: World, keys: Iterable[Key], where: str) -> list[World]:
        """The worlds in which ``keys`` stand for something too. FileError where the spec has too few elements."""
        worlds = [world]
        for key in keys:
            worlds = [new for old in worlds for new in self._bound(old, key, where)]
        return worlds

    def _bound(self, world: World, key: Key, where: str) -> Iterator[World]:
        sort, name = key
        if world.element(sort, name) is not None:
            yield world
            return
        taken = {e for (s, _), e in world.elements if s == sort}
        size = len(self._names(sort))
        if len(taken) == size:
            raise FileError(
                f"{where}: {name!r} is one {sort} more than the spec has ({size}); give it more, or say with "
                "'forget' when a name is no longer used"
            )
        fresh: set[int] = set()
        for element in range(size):
            if element in taken:
                continue
            like = self._classes[sort][element]
            if (sort, element) not in world.used:
                if like in fresh:
                    continue
                fresh.add(like)
            yield world.bind(key, element)

    def shown(self, world: World, sort: type[Sort], element: int) -> str:
        """The log's name for ``element``, or the spec's."""
        names = (n for (s, n), e in world.elements if s == sort.__name__ and e == element)
        return next(names, self.machine.sorts[sort].names[element])

    def own_name(self, sort: str, element: int) -> str:
        """The spec's name for ``element``."""
        return self._names(sort)[element]

    def of_value(self, world: World, cell: str, told: Told, where: str) -> Told:
        """What was told of ``cell`` in the spec's words: names within it are those of their elements."""

        def element(sort: str | None, name: str) -> str:
            found = [(s, e) for (s, n), e in world.elements if n == name and sort in (None, s)]
            return self._names(found[0][0])[found[0][1]] if len(found) == 1 else name

        return self._values.translated(self._cell(cell, where)[0], told, element)


def _labels(machine: Machine) -> dict[str, tuple[str, ...]]:
    """The sorts in the brackets of what traces call a variable, a set or a channel."""
    found: dict[str, tuple[str, ...]] = {}
    values = {(c.variable.name, c.indices): machine.values(c.variable.domain)[0] for c in machine.cells()}
    held = {id(v) for view in machine.views for v in view.variables}
    for variable in machine.variables:
        if id(variable) not in held:
            found[variable.label] = tuple(s.__name__ for s in variable.sorts)
    whose = {name: sort.__name__ for sort, declared in machine.sorts.items() for name in declared.names}
    for view in machine.views:
        for cell in view.show(values):
            label, _, inner = cell.partition("[")
            found[label] = tuple(whose[n.strip()] for n in inner.removesuffix("]").split(",")) if inner else ()
    return found


def _exchangeable(machine: Machine) -> dict[str, list[int]]:
    """For each sort and element a number; elements with one number can be exchanged, all else being equal."""
    numbers = {s.__name__: list(range(d.size)) for s, d in machine.sorts.items()}
    try:
        classes = symmetry_of(machine).classes
    except SpecError:
        return numbers
    for each in classes:
        for element in each.elements:
            numbers[each.sort.__name__][element] = each.elements[0]
    return numbers


__all__ = ["Key", "Naming", "World"]

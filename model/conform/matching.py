"""Which steps and which states fit what a record tells, in one world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.conform.log import Pattern, Record, Told
from model.conform.naming import Naming, World
from model.errors import FileError
from model.explore.layout import Field, Layout
from model.explore.packing import PackedProgram
from model.explore.walks.stepper import Packed
from model.language import Action, Machine
from model.language.data.shown import SetText, in_json
from model.language.types import BOOL, INT, SortType, domain_type
from model.semantics import Semantics
from model.trace import named_state


class Steps:
    """Steps by the numbers of their instances."""

    def __init__(self, semantics: Semantics, naming: Naming) -> None:
        self._naming: Final = naming
        self._machine: Final = semantics.machine
        self._count: Final = len(semantics.instances)
        numbers: dict[str, list[int]] = {a.name: [] for a in semantics.machine.actions}
        for number, instance in enumerate(semantics.instances):
            numbers[instance.action.name].append(number)
        self._numbers: Final = {name: np.array(found, np.int64) for name, found in numbers.items()}
        self._values: Final = {
            name: np.array([semantics.instances[n].values for n in found], np.int64).reshape(len(found), -1)
            for name, found in numbers.items()
        }
        self._actions: Final = {a.name: a for a in semantics.machine.actions}

    def fitting(self, patterns: Iterable[Pattern], world: World, where: str) -> NDArray[np.bool_]:
        """For each instance whether it fits one of ``patterns``. FileError for a value that no argument has."""
        fits = np.zeros(self._count, np.bool_)
        for pattern in patterns:
            action, values = self._actions[pattern.action], self._values[pattern.action]
            kept = np.ones(len(values), np.bool_)
            for column, symbol in enumerate(action.symbols):
                told = pattern.arguments.get(symbol.name)
                if told is not None:
                    kept &= np.isin(values[:, column], self._raw(action, column, told, world, where))
            fits[self._numbers[pattern.action][kept]] = True
        return fits

    def _raw(self, action: Action, column: int, told: tuple[str, ...], world: World, where: str) -> list[int]:
        symbol = action.symbols[column]
        kind = domain_type(symbol.domain)
        if isinstance(kind, SortType):
            elements = (world.element(kind.sort.__name__, name) for name in told)
            return [e for e in elements if e is not None]
        known = {self._machine.show(symbol.domain, v): v for v in self._machine.values(symbol.domain)}
        for value in told:
            if value not in known:
                few = ", ".join(list(known)[:20]) + (" ..." if len(known) > 20 else "")
                raise FileError(f"{where}: {action.name}: {symbol.name} is {value!r}, expected one of {few}")
        return [known[value] for value in told]


class States:
    """States by what they show."""

    def __init__(self, program: PackedProgram, naming: Naming) -> None:
        self._machine: Final[Machine] = program.machine
        self._layout: Final[Layout] = program.layout
        self._naming: Final = naming
        held = {id(v) for view in program.machine.views for v in view.variables}
        self._places: Final = {
            program.machine.show_cell(cell): (place, cell.variable.domain)
            for place, cell in enumerate(program.machine.cells())
            if id(cell.variable) not in held
        }

    def fitting(self, states: Packed, record: Record, world: World) -> NDArray[np.bool_]:
        """For each of the packed ``states`` whether it shows what ``record`` tells of it."""
        return self.showing(states, self.told(record, world), record.where)

    def showing(self, states: Packed, cells: Mapping[str, Told], where: str) -> NDArray[np.bool_]:
        """For each of the packed ``states`` whether its ``cells`` have these values."""
        fits = np.ones(len(states), np.bool_)
        for cell, told in cells.items():
            rows = np.flatnonzero(fits)
            if told is None:  # it may have changed, to whatever
                continue
            if cell in self._places:
                fits[rows] = self._column(states[rows], cell) == self._raw(cell, told, where)
            else:
                fits[rows] = [_same(self._shown(s, cell), told) for s in states[rows]]
        return fits

    def field(self, cell: str, where: str) -> Field:
        """Where ``cell`` lies. FileError for a set or a channel, which is many cells."""
        if cell not in self._places:
            raise FileError(f"{where}: {cell} is a set or a channel: a log of changes tells of plain variables only")
        return self._layout.fields[self._places[cell][0]]

    def told(self, record: Record, world: World) -> Mapping[str, Told]:
        """What ``record`` tells of the state after it, in the spec's words."""
        found: dict[str, Told] = {}
        for cell, value in record.state.items():
            name = self._naming.cell_in(world, cell, record.where)
            value = self._naming.of_value(world, cell, value, record.where)
            if found.setdefault(name, value) != value:
                raise FileError(f"{record.where}: {cell} is told twice, and not alike")
        return found

    def shown(self, states: Packed, cell: str) -> tuple[str, ...]:
        """The values of ``cell`` in these states, each once, as text."""
        if cell in self._places:
            domain = self._places[cell][1]
            raws = sorted(set(self._column(states, cell).tolist()))
            return tuple(self._machine.show(domain, raw) for raw in raws)
        return tuple(sorted({str(self._shown(s, cell)) for s in states}))

    def _column(self, states: Packed, cell: str) -> NDArray[np.int64]:
        f = self._layout.fields[self._places[cell][0]]
        raw = (states[:, f.word] >> np.uint64(f.shift)) & np.uint64((1 << f.bits) - 1)
        return raw.astype(np.int64) + f.start

    def _shown(self, state: Packed, cell: str) -> object:
        return named_state(self._machine, self._layout.unpack(state.tolist()))[cell]

    def _raw(self, cell: str, told: Told, where: str) -> int:
        domain = self._places[cell][1]
        kind, values = domain_type(domain), self._machine.values(domain)
        if kind in (BOOL, INT):
            if isinstance(told, bool) is (kind == BOOL) and isinstance(told, int) and int(told) in values:
                return int(told)
        else:
            for raw in values:
                if self._machine.show(domain, raw) == told:
                    return raw
        few = ", ".join(self._machine.show(domain, v) for v in values[:20]) + (" ..." if len(values) > 20 else "")
        raise FileError(f"{where}: {cell} is {told!r}, expected one of {few}")


def _same(value: object, told: Told) -> bool:
    """Whether a value of several cells is what was told: as text, or as JSON has it, a set in any order."""
    if isinstance(told, str):
        return str(value) == told
    mine = in_json(value)  # type: ignore[arg-type]
    if isinstance(value, SetText) and isinstance(told, list) and isinstance(mine, list):
        return sorted(map(repr, mine)) == sorted(map(repr, told))
    return bool(mine == told)


__all__ = ["States", "Steps"]

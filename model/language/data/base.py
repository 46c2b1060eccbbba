"""What the data constructs share: handles that Python cannot misuse, the primitives under them, how they are shown.

A construct (a set, a channel, a timer, ...) is a handle on ordinary variables. Its methods build ordinary expressions,
guards and updates, so that no engine and no export needs to know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from model.language.errors import Location, SpecError, where
from model.language.expressions import Const, Expr, Op, Quantified, Read, Symbol, arithmetic, boolean, ite
from model.language.sorts import Sort, is_sort
from model.language.tracing import OPEN, Kind, Recording, Update, recording
from model.language.types import BOOL, Domain, SortType
from model.language.variables import Value, VariableBase

if TYPE_CHECKING:
    from model.language.machine import Machine

Indices: TypeAlias = tuple[Symbol, ...]
Shown: TypeAlias = Mapping[str, "int | bool | str"]
CellValues: TypeAlias = Mapping[tuple[str, tuple[int, ...]], int]
"""Raw value of each cell, by its variable's name and its position."""

TRUE = Const(True)


@dataclass(frozen=True, slots=True, eq=False)
class Holder:
    """A set or a ``channel``, or one for each element of ``over``: ``size`` is how much is in it."""

    name: str
    over: tuple[type[Sort], ...]
    channel: bool
    size: Callable[[Indices], Expr]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """How the cells of ``variables`` are shown together: ``show`` gives names and values in their place.

    ``words``: what people call a variable, by name, where that is not its label. ``holder``: the set or channel that
    they are.
    """

    variables: tuple[VariableBase, ...]
    show: Callable[[CellValues], Shown]
    words: Mapping[str, str] = field(default_factory=dict)
    holder: Holder | None = None


class Handle:
    """What a spec's Python name may hold that is no plain variable: setting the name in an action is a mistake."""

    __slots__ = ()


class Derived(Handle):
    """Base of handles. ``name`` is what people see; no Python operator has a meaning for a handle itself."""

    name: str
    at: Location
    _hint = ""

    def __init__(self, machine: Machine, name: str) -> None:
        self.machine = machine
        self.name = name
        self.at = where()

    def __repr__(self) -> str:
        return self.name

    __hash__ = object.__hash__

    if not TYPE_CHECKING:  # to a type checker such a use stays the mistake that it is

        def _misused(self, how: str) -> NoReturn:
            raise SpecError(f"{self.name} {how}{self._hint}", where())

        def __bool__(self):
            if OPEN.recording is not None:
                self._misused("has no truth value while the spec is read")
            return True

        def __eq__(self, other):
            return NotImplemented if OPEN.recording is None else self._misused("cannot be compared")

        def __ne__(self, other):
            return NotImplemented if OPEN.recording is None else self._misused("cannot be compared")

        def __iter__(self):
            self._misused("has no elements while the spec is read")

        def __len__(self):
            self._misused("has no length while the spec is read")

        def __contains__(self, _):
            self._misused("has no elements while the spec is read")

        def __getitem__(self, _):
            self._misused("is not indexed")

        def __setitem__(self, _, value):
            self._misused("is not assigned")

        def __setattr__(self, name, value):
            if OPEN.recording is not None and name != "next":
                raise SpecError(f"{self.name}.{name} cannot be set{self._hint}", where())
            super().__setattr__(name, value)


def sorts_of(machine: Machine, name: str, index: object, most: int) -> tuple[type[Sort], ...]:
    """``index`` (None, a sort or a tuple of sorts) as at most ``most`` sorts that ``machine`` declares."""
    sorts: tuple[object, ...] = () if index is None else index if isinstance(index, tuple) else (index,)
    checked: list[type[Sort]] = []
    for sort in sorts:
        if not (isinstance(sort, type) and is_sort(sort) and issubclass(sort, Sort)):
            raise SpecError(f"{name}: an index is a sort, found {sort!r}", where())
        if sort not in machine.sorts:
            raise SpecError(f"{name}: declare the sort first, with m.sort({sort.__name__}, ...)", where())
        checked.append(sort)
    if len(checked) > most:
        raise SpecError(f"{name}: at most {most} sorts, found {len(checked)}", where())
    return tuple(checked)


def variable_over(
    machine: Machine, name: str, sorts: tuple[type[Sort], ...], domain: Domain, init: Value, label: str | None = None
) -> VariableBase:
    """A new variable over ``sorts``, or a single cell; ``label`` is what people see."""
    declare: Any = machine.variable
    made: VariableBase = declare(name, sorts, domain, init) if sorts else machine.scalar(name, domain, init)
    made.label = label or name
    return made


def element_of(name: str, sort: type[Sort], given: object) -> Symbol:
    """``given`` as an element of ``sort``, or SpecError that names ``name``."""
    if isinstance(given, Symbol) and given.type == SortType(sort):
        return given
    found = f"{given!r}, which is {given.type}" if isinstance(given, Expr) else repr(given)
    raise SpecError(f"{name} takes an element of {sort.__name__}, found {found}", where())


def elements_of(name: str, sorts: tuple[type[Sort], ...], given: Sequence[object]) -> Indices:
    """``given`` as one element of each of ``sorts``, or SpecError that names ``name``."""
    if len(given) != len(sorts):
        wanted = ", ".join(s.__name__ for s in sorts) or "nothing"
        raise SpecError(f"{name} takes {wanted} as its elements, found {len(given)}", where())
    return tuple(element_of(name, sort, each) for sort, each in zip(sorts, given, strict=True))


def fresh(sorts: tuple[type[Sort], ...]) -> Indices:
    """A new symbol for each sort, to be bound."""
    return tuple(sort(sort.__name__.lower()) for sort in sorts)


def read(variable: VariableBase, indices: Indices) -> Expr:
    """A cell's value before the step; an action that wrote the variable before is told so."""
    return variable._read(indices)


def note(variable: VariableBase) -> None:
    """The variable is read here; an action that wrote it before is told so."""
    if OPEN.recording is not None and OPEN.recording.kind is Kind.ACTION:
        OPEN.recording.note_read(Read(variable, ()), variable)


def before(variable: VariableBase, indices: Indices) -> Expr:
    """A cell's value before the step, wherever in the body this is built: for writes of the constructs themselves."""
    return Read(variable, indices)


def write(
    current: Recording,
    variable: VariableBase,
    indices: Indices,
    value: Expr,
    *,
    adds: bool = False,
    binders: Indices = (),
    condition: Expr = TRUE,
) -> None:
    """Record an update as it stands: no loop or when block around it is added."""
    current.updates.append(Update(variable, indices, adds, value, binders, condition, where()))


def in_action(use: str) -> Recording:
    """The action that is being read; SpecError that names ``use`` if there is none."""
    return recording(use, Kind.ACTION)


def at_top(use: str) -> Recording:
    """The action that is being read, outside of its loops, when blocks and generators: a part of its guard."""
    current = in_action(use)
    if current.loops or current.conditions or OPEN.quantifiers:
        raise SpecError(f"{use} inside a for statement, a when block or a generator; it belongs before it", where())
    return current


def both(parts: Sequence[Expr]) -> Expr:
    """All of ``parts``, those that are plainly true left out."""
    kept = [p for p in parts if not is_true(p)]
    return _joined("&", kept) if kept else TRUE


def either(parts: Sequence[Expr]) -> Expr:
    """Any of ``parts``."""
    if any(is_true(p) for p in parts):
        return TRUE
    return _joined("|", parts) if parts else Const(False)


def total(parts: Sequence[Expr]) -> Expr:
    """The sum of ``parts``."""
    if len(parts) > 1:
        half = len(parts) // 2
        return arithmetic("+", total(parts[:half]), total(parts[half:]))
    return parts[0] if parts else Const(0)


def _joined(op: str, parts: Sequence[Expr]) -> Expr:
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return Op(op, BOOL, _joined(op, parts[:half]), _joined(op, parts[half:]))


def negation(condition: Expr) -> Expr:
    """Not ``condition``."""
    return Op("~", BOOL, boolean(condition, "not"))


def is_true(condition: Expr) -> bool:
    """Whether ``condition`` is the literal True."""
    return isinstance(condition, Const) and condition.raw == 1


def quantified(kind: str, symbols: Indices, body: Expr) -> Expr:
    """``body`` quantified over ``symbols``; itself if there are none (a count: 0 or 1)."""
    if symbols:
        return Quantified(kind, symbols, body)
    return number(body) if kind == "count" else body


def number(condition: Expr) -> Expr:
    """1 where ``condition`` holds, else 0."""
    return Const(1) if is_true(condition) else ite(condition, 1, 0)

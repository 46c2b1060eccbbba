"""Variables and constant tables: what a state consists of, and what never changes."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeAlias, TypeVar

from model.language.errors import Location, SpecError, where
from model.language.expressions import Expr, Lookup, Operand, Read, Symbol, integer, lift
from model.language.sorts import Sort
from model.language.tracing import OPEN, Kind, recording
from model.language.types import INT, Domain, SortType, check_value_domain, domain_type

I = TypeVar("I")  # noqa: E741
Value: TypeAlias = int | bool | enum.Enum


@dataclass(frozen=True)
class OneOf:
    """An initial value that may be any of ``values``: every choice is an initial state."""

    values: tuple[Value, ...]


def one_of(*values: Value) -> OneOf:
    """Any of ``values`` at the start; each cell chooses on its own. Narrow it down with ``@m.initially``."""
    if not values:
        raise SpecError("one_of() takes at least one value", where())
    return OneOf(values)


Initial: TypeAlias = "Value | OneOf | list[Any] | tuple[Any, ...]"


class Addition(Expr):
    """What ``x[i] += e`` hands to ``__setitem__``; it has no other use."""

    __slots__ = ("amount", "read")

    def __init__(self, read: Read, amount: Expr) -> None:
        super().__init__(read.type)
        self.read = read
        self.amount = amount

    def operand(self) -> Expr:
        raise SpecError(
            f"+= and -= add to a cell; for a Python name that holds {self.read!r} write name = name + ...", where()
        )

    def __repr__(self) -> str:
        return f"{self.read!r} += {self.amount!r}"


class _NoValue:
    """What has no value before it is indexed: each use of it as one is an error while a spec is read."""

    name: str

    if not TYPE_CHECKING:  # to a type checker such a use stays the mistake that it is

        def _misused(self, how: str) -> NoReturn:
            raise SpecError(f"{self.name} is {how} without its index; write {self.name}[...]", where())

        def __eq__(self, other):
            return NotImplemented if OPEN.recording is None else self._misused("compared")

        def __ne__(self, other):
            return NotImplemented if OPEN.recording is None else self._misused("compared")

        def __hash__(self):
            return object.__hash__(self) if OPEN.recording is None else self._misused("looked up")

        def __bool__(self):
            return True if OPEN.recording is None else self._misused("used as a truth value")

        def __iter__(self):
            raise SpecError(f"{self.name} is indexed by elements ({self.name}[a]), it cannot be iterated", where())


def _frozen(initial: Any) -> Any:
    """``initial`` as it is now: a list that its author goes on to change does not change the machine."""
    return tuple(map(_frozen, initial)) if isinstance(initial, (list, tuple)) else initial


class _Next(Read):
    """``x.next`` where it is not assigned: only ``+=`` and ``-=`` may take it."""

    __slots__ = ()

    def operand(self) -> NoReturn:
        name = self.variable.name
        raise SpecError(
            f"{name}.next is assigned, it cannot be read; {name} is the value before the step, and in a step property "
            f"after({name}) the value after it",
            where(),
        )


class VariableBase:
    """A named array of cells over 0 to 3 sorts, each in ``domain``; ``initial`` has a value for each.

    ``label`` is what people see in place of the name: ``pod.phase`` for a field of a record.
    """

    def __init__(self, name: str, sorts: tuple[type[Sort], ...], domain: Domain, initial: Initial) -> None:
        self.name = name
        self.label = name
        self.sorts = sorts
        self.domain = check_value_domain(domain, name)
        self.initial = _frozen(initial)
        self.at: Location = where()

    def __repr__(self) -> str:
        return self.name

    if not TYPE_CHECKING:  # a type checker would then let any attribute be set

        def __setattr__(self, name: str, value: object) -> None:
            if OPEN.recording is not None and not (name == "next" and not self.sorts):
                how = f"{self.name}[...] = ..." if self.sorts else f"{self.name}.next = ..."
                raise SpecError(f"{self.name}.{name} cannot be set; a write is {how}", where())
            super().__setattr__(name, value)

    def _indices(self, index: object) -> tuple[Expr, ...]:
        return check_indices(self.name, self.sorts, index)

    def _read(self, indices: tuple[Expr, ...], kind: type[Read] = Read) -> Read:
        read = kind(self, indices)
        if OPEN.recording is not None and OPEN.recording.kind is Kind.ACTION:
            OPEN.recording.note_read(read, self)
        return read

    def _write(self, indices: tuple[Expr, ...], value: object) -> None:
        current = recording(f"writing {self.name}", Kind.ACTION)
        if isinstance(value, Addition):
            current.take_back_read(value.read)
            same = value.read.variable is self and all(x is y for x, y in zip(value.read.indices, indices, strict=True))
            if not same:
                raise SpecError(f"{self.name}: += must add to the cell it writes", where())
            if domain_type(self.domain) != INT:
                raise SpecError(f"{self.name}: += needs an integer variable", where())
            current.write(self, indices, True, value.amount)
            return
        expr = lift(value)
        if expr.type != domain_type(self.domain):
            raise SpecError(
                f"{self.name} holds {domain_type(self.domain)}, found {expr!r}, which is {expr.type}", where()
            )
        current.write(self, indices, False, expr)


class Variable(_NoValue, VariableBase, Generic[I]):
    """A variable over one to three sorts: ``x[a]``, ``x[a, n]``; in an action also ``x[a] = e``, ``x[a] += e``."""

    def __getitem__(self, index: I) -> Expr:
        return self._read(self._indices(index))

    def __setitem__(self, index: I, value: Operand) -> None:
        self._write(self._indices(index), value)


class Scalar(VariableBase, Expr):
    """A variable that is one cell: read by its name, written in an action with ``x.next = e`` or ``x.next += e``.

    A Python name for it (``old = x``) is the variable, read where ``old`` is used; ``old = x.now`` reads it here.
    """

    __slots__ = ()

    def __init__(self, name: str, domain: Domain, initial: Initial) -> None:
        VariableBase.__init__(self, name, (), domain, initial)
        self.type = domain_type(self.domain)

    def operand(self) -> Expr:
        return self._read(())

    def __iadd__(self, _: Operand) -> NoReturn:
        raise SpecError(f"{self.name} is a variable; write {self.name}.next += ...", where())

    def __isub__(self, _: Operand) -> NoReturn:
        raise SpecError(f"{self.name} is a variable; write {self.name}.next -= ...", where())

    @property
    def now(self) -> Expr:
        """The value before the step, read at this point: for a name that is used after ``x`` is written."""
        return self._read(())

    @property
    def next(self) -> Expr:
        """The value after the step, to be assigned."""
        return self._read((), _Next)

    @next.setter
    def next(self, value: Operand) -> None:
        self._write((), value)


class Table(_NoValue, Generic[I]):
    """A constant integer per element, per pair or per triple of elements."""

    def __init__(self, name: str, sorts: tuple[type[Sort], ...], values: Mapping[tuple[int, ...], int]) -> None:
        self.name = name
        self.sorts = sorts
        self.values = values

    def __getitem__(self, index: I) -> Expr:
        return Lookup(self, check_indices(self.name, self.sorts, index))

    if not TYPE_CHECKING:

        def __setitem__(self, index, value):
            raise SpecError(f"{self.name} is a table of constants, it cannot be written", where())


def check_indices(name: str, sorts: tuple[type[Sort], ...], index: object) -> tuple[Expr, ...]:
    """``index`` as one symbol per sort, or SpecError: too many, too few, of another sort."""
    given = index if isinstance(index, tuple) else (index,)
    wanted = ", ".join(s.__name__ for s in sorts)
    if len(given) != len(sorts):
        raise SpecError(f"{name} is indexed by [{wanted}], found {len(given)} indices", where())
    for each, sort in zip(given, sorts, strict=True):
        if not isinstance(each, Symbol) or each.type != SortType(sort):
            found = f"{each!r}, which is {each.type}," if isinstance(each, Expr) else repr(each)
            if isinstance(each, Expr) and each.type == SortType(sort):
                found = f"the expression {each!r}"
            belongs = f"a parameter, choice or bound variable of {sort.__name__} belongs"
            raise SpecError(f"{name} is indexed by [{wanted}], found {found} where {belongs}", where())
    return given


__all__ = ["Addition", "Initial", "OneOf", "Scalar", "Table", "Value", "Variable", "VariableBase", "integer", "one_of"]

"""Sets of the elements of a sort: a boolean for each element.

    waiting = m.set("waiting", App)                 # waiting.add(a), waiting.contains(a), waiting.size()
    members = m.set("members", App, over=Queue)     # members[q].add(a)
    pairs = m.set("pairs", (App, Node))             # pairs.add((a, n))

A trace shows ``waiting = {app1, app3}``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from model.language.data.base import (
    CellValues,
    Derived,
    Handle,
    Holder,
    Indices,
    Shown,
    View,
    before,
    elements_of,
    fresh,
    in_action,
    negation,
    note,
    quantified,
    read,
    sorts_of,
    variable_over,
    write,
)
from model.language.data.shown import SetText
from model.language.errors import SpecError, where
from model.language.expressions import Const, Expr, Op, logic
from model.language.refused import NoPythonValue
from model.language.sorts import Sort
from model.language.types import BOOL
from model.language.variables import VariableBase
from model.language.walking import conjunction

if TYPE_CHECKING:
    from model.language.machine import Machine

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741


class SetValue(NoPythonValue, Generic[T]):
    """A set in the state before the step: one of the spec's, or what ``| & -`` make of two."""

    def __init__(self, name: str, sorts: tuple[type[Sort], ...], holds: Callable[[Indices], Expr]) -> None:
        self._name = name
        self._sorts = sorts
        self._holds = holds

    def __repr__(self) -> str:
        return self._name

    def contains(self, element: T) -> Expr:
        """Whether ``element`` is in the set."""
        given = element if isinstance(element, tuple) else (element,)
        return self._holds(elements_of(f"{self._name}.contains()", self._sorts, given))

    def size(self) -> Expr:
        """How many elements it has."""
        symbols = fresh(self._sorts)
        return quantified("count", symbols, self._holds(symbols))

    def is_empty(self) -> Expr:
        """Whether it has none."""
        symbols = fresh(self._sorts)
        return quantified("all", symbols, negation(self._holds(symbols)))

    def _other(self, other: object, use: str) -> SetValue[T]:
        if not isinstance(other, SetValue) or other._sorts != self._sorts:
            wanted = ", ".join(s.__name__ for s in self._sorts)
            raise SpecError(f"{use} takes a set of {wanted}, found {other!r}", where())
        return other

    def _combined(self, op: str, other: object, how: Callable[[Expr, Expr], Expr]) -> SetValue[T]:
        second = self._other(other, f"'{op}'")
        return SetValue(
            f"({self._name} {op} {second._name})", self._sorts, lambda s: how(self._holds(s), second._holds(s))
        )

    def __or__(self, other: SetValue[T]) -> SetValue[T]:
        return self._combined("|", other, lambda a, b: logic("|", a, b))

    def __and__(self, other: SetValue[T]) -> SetValue[T]:
        return self._combined("&", other, lambda a, b: logic("&", a, b))

    def __sub__(self, other: SetValue[T]) -> SetValue[T]:
        return self._combined("-", other, lambda a, b: logic("&", a, negation(b)))

    def __le__(self, other: SetValue[T]) -> Expr:
        return self._everywhere("<=", other, "=>")

    def __ge__(self, other: SetValue[T]) -> Expr:
        return self._other(other, "'>='")._everywhere("<=", self, "=>")

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return self._everywhere("==", other, "==")

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return negation(self._everywhere("!=", other, "=="))

    def _everywhere(self, op: str, other: object, boolean: str) -> Expr:
        second, symbols = self._other(other, f"'{op}'"), fresh(self._sorts)
        return quantified("all", symbols, Op(boolean, BOOL, self._holds(symbols), second._holds(symbols)))

    __hash__ = NoPythonValue.__hash__

    if not TYPE_CHECKING:

        def __contains__(self, _):
            raise SpecError(f"'in' has no meaning in a spec; write {self._name}.contains(...)", where())

        def __iter__(self):
            sorts = ", ".join(s.__name__ for s in self._sorts)
            raise SpecError(
                f"{self._name} has no elements while the spec is read; go through {sorts} and ask "
                f"{self._name}.contains(...)",
                where(),
            )

        def __len__(self):
            raise SpecError(f"len() is not known while the spec is read; write {self._name}.size()", where())

        def __getitem__(self, _) -> NoReturn:
            raise SpecError(f"{self._name} is not indexed; write {self._name}.contains(...)", where())

        def __lt__(self, _) -> NoReturn:
            raise SpecError("sets compare with <= >= == !=", where())

        __gt__ = __lt__


class BoundedSet(SetValue[T], Handle):
    """A set that is part of the state. In an action ``add``, ``discard``, ``assign`` and ``clear`` change it."""

    def __init__(self, name: str, variable: VariableBase, over: Indices) -> None:
        super().__init__(name, variable.sorts[len(over) :], lambda symbols: read(variable, (*over, *symbols)))
        self._variable = variable
        self._over = over

    @property
    def now(self) -> SetValue[T]:
        """The set before the step, read at this point: for a name that is used after the set is written."""
        note(self._variable)
        return SetValue(self._name, self._sorts, lambda symbols: before(self._variable, (*self._over, *symbols)))

    def _write(self, element: T, use: str, value: bool) -> None:
        given = element if isinstance(element, tuple) else (element,)
        symbols = elements_of(f"{self._name}.{use}()", self._sorts, given)
        self._variable._write((*self._over, *symbols), value)

    def add(self, element: T) -> None:
        """``element`` is in the set after the step."""
        self._write(element, "add", True)

    def discard(self, element: T) -> None:
        """``element`` is not in the set after the step."""
        self._write(element, "discard", False)

    def assign(self, value: SetValue[T]) -> None:
        """After the step the set is what ``value`` is before it."""
        symbols = fresh(self._sorts)
        self._assign("assign", symbols, self._other(value, "assign()")._holds(symbols))

    def clear(self) -> None:
        """The set is empty after the step."""
        self._assign("clear", fresh(self._sorts), Const(False))

    def _assign(self, use: str, symbols: Indices, value: Expr) -> None:
        current = in_action(f"{self._name}.{use}()")
        binders, condition = (*current.loops, *symbols), conjunction(tuple(current.conditions))
        write(current, self._variable, (*self._over, *symbols), value, binders=binders, condition=condition)

    if not TYPE_CHECKING:

        def __ior__(self, _) -> NoReturn:
            raise SpecError(f"{self._name} is changed by add(), discard(), assign() and clear()", where())

        __iand__ = __isub__ = __ior__


class SetHandle(Derived):
    """Declares the variable behind one set or one per element of ``over``, and how it is shown."""

    def __init__(self, machine: Machine, name: str, of: object, over: object, full: bool) -> None:
        super().__init__(machine, name)
        self.over = sorts_of(machine, name, over, 2)
        self.of = sorts_of(machine, name, of, 3 - len(self.over))
        if not self.of:
            raise SpecError(f"{name}: a set holds elements of a sort, found {of!r}", where())
        if not isinstance(full, bool):
            raise SpecError(f"{name}: full is True or False, found {full!r}", where())
        self.variable = variable_over(machine, name, (*self.over, *self.of), bool, full)
        machine.views.append(View((self.variable,), self.show, {}, Holder(name, self.over, False, self._size)))

    def show(self, values: CellValues) -> Shown:
        """``waiting``: ``{app1, app2}``."""
        sizes = [range(self.machine.sorts[s].size) for s in self.over]
        return {self._label(index): self._members(index, values) for index in itertools.product(*sizes)}

    def _size(self, over: Indices) -> Expr:
        symbols = fresh(self.of)
        return quantified("count", symbols, before(self.variable, (*over, *symbols)))

    def _label(self, index: tuple[int, ...]) -> str:
        names = [self.machine.sorts[s].names[i] for s, i in zip(self.over, index, strict=True)]
        return f"{self.name}[{', '.join(names)}]" if names else self.name

    def _members(self, index: tuple[int, ...], values: CellValues) -> str:
        names = [self.machine.sorts[s].names for s in self.of]
        found = [
            tuple(n[i] for n, i in zip(names, position, strict=True))
            for position in itertools.product(*(range(len(n)) for n in names))
            if values[self.name, (*index, *position)]
        ]
        return SetText(f if len(f) > 1 else f[0] for f in found)


class SetFamily(Derived, Generic[I, T]):
    """A set for each element (or pair): ``members[q]``."""

    _hint = "; each of its sets is, by its element"

    def __init__(self, handle: SetHandle) -> None:
        super().__init__(handle.machine, handle.name)
        self._handle = handle

    def __getitem__(self, index: I) -> BoundedSet[T]:
        given = index if isinstance(index, tuple) else (index,)
        over = elements_of(f"{self.name}[...]", self._handle.over, given)
        return BoundedSet(f"{self.name}[{', '.join(map(repr, over))}]", self._handle.variable, over)


def declare_set(machine: Machine, name: str, of: object, over: object, full: bool) -> Any:
    """What ``m.set(...)`` returns."""
    handle = SetHandle(machine, name, of, over, full)
    return SetFamily(handle) if handle.over else BoundedSet(name, handle.variable, ())

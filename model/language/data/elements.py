"""A variable whose value is an element of a sort, or none.

    holder = m.element("holder", App)               # holder == a, holder.is_none(), holder.next = a
    node = m.element("node", Node, over=Pod)        # node[p] == n, node[p] = n, node[p] = None

It is a boolean for each element, at most one of which is true: so elements stay exchangeable, and no element needs a
number. A trace shows ``node[pod1]: none -> node2``.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from model.language.data.base import (
    CellValues,
    Derived,
    Handle,
    Indices,
    Shown,
    View,
    before,
    element_of,
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
from model.language.errors import SpecError, where
from model.language.expressions import Const, Expr, Op, Symbol, compare
from model.language.refused import NoPythonValue
from model.language.sorts import Sort
from model.language.types import BOOL
from model.language.variables import VariableBase
from model.language.walking import conjunction

if TYPE_CHECKING:
    from model.language.machine import Machine

S = TypeVar("S", bound=Sort)
I = TypeVar("I")  # noqa: E741


class ElementValue(NoPythonValue, Generic[S]):
    """The element that a variable holds before the step, or none: ``== a``, ``== other``, ``is_none()``."""

    def __init__(self, name: str, variable: VariableBase, over: Indices) -> None:
        self._name = name
        self._variable = variable
        self._over = over

    @property
    def _sort(self) -> type[Sort]:
        return self._variable.sorts[-1]

    def __repr__(self) -> str:
        return self._name

    def is_(self, element: S) -> Expr:
        """Whether it is ``element``."""
        return self._holds(element_of(self._name, self._sort, element))

    def is_none(self) -> Expr:
        """Whether it is no element."""
        (symbol,) = fresh((self._sort,))
        return quantified("all", (symbol,), negation(self._holds(symbol)))

    def consistent(self) -> Expr:
        """That it is not two elements at once: true in every reachable state, for provers that do not explore."""
        (symbol,) = fresh((self._sort,))
        return compare("<=", quantified("count", (symbol,), self._holds(symbol)), 1)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        if other is None:
            return self.is_none()
        if isinstance(other, ElementValue):
            (symbol,) = fresh((self._sort,))
            same = Op("==", BOOL, self._holds(symbol), _value_at(self._sort, other, symbol, f"{self._name} =="))
            return quantified("all", (symbol,), same)
        return self._holds(element_of(f"{self._name} ==", self._sort, other))

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return negation(self == other)

    __hash__ = NoPythonValue.__hash__

    def _holds(self, symbol: Symbol) -> Expr:
        return before(self._variable, (*self._over, symbol))

    def _assign(self, value: object) -> None:
        current, (symbol,) = in_action(f"writing {self._name}"), fresh((self._sort,))
        new = _value_at(self._sort, value, symbol, self._name)
        binders, condition = (*current.loops, symbol), conjunction(tuple(current.conditions))
        write(current, self._variable, (*self._over, symbol), new, binders=binders, condition=condition)


def _value_at(sort: type[Sort], value: object, symbol: Symbol, use: str) -> Expr:
    """Whether ``value`` (an element, another variable's value, or None) is ``symbol``."""
    if value is None:
        return Const(False)
    if isinstance(value, ElementValue):
        if value._sort is not sort:
            raise SpecError(f"{use} takes an element of {sort.__name__}, found {value!r}", where())
        return value._holds(symbol)
    return compare("==", symbol, element_of(use, sort, value))


class ElementScalar(ElementValue[S], Handle):
    """A single variable of this kind: written ``holder.next = a`` or ``= None``."""

    def _holds(self, symbol: Symbol) -> Expr:
        return read(self._variable, (*self._over, symbol))

    @property
    def now(self) -> ElementValue[S]:
        """The value before the step, read at this point: for a name that is used after ``holder`` is written."""
        note(self._variable)
        return ElementValue(self._name, self._variable, self._over)

    @property
    def next(self) -> Any:
        """The value after the step, to be assigned."""
        raise SpecError(f"{self._name}.next is assigned, it cannot be read", where())

    @next.setter
    def next(self, value: S | ElementValue[S] | None) -> None:
        self._assign(value)


class ElementArray(Derived, Generic[I, S]):
    """A variable of this kind for each element of one or two sorts: ``node[p]``, ``node[p] = n``."""

    _hint = "; its values are, by element"

    def __init__(self, machine: Machine, name: str, label: str, variable: VariableBase) -> None:
        super().__init__(machine, name)
        self.label = label
        self.variable = variable

    def _value(self, index: object) -> ElementValue[S]:
        given = index if isinstance(index, tuple) else (index,)
        over = elements_of(f"{self.label}[...]", self.variable.sorts[:-1], given)
        return ElementValue(f"{self.label}[{', '.join(map(repr, over))}]", self.variable, over)

    def __getitem__(self, index: I) -> ElementValue[S]:
        note(self.variable)
        return self._value(index)

    def __setitem__(self, index: I, value: S | ElementValue[S] | None) -> None:
        self._value(index)._assign(value)


def declare_element(machine: Machine, name: str, sort: object, over: object, label: str | None = None) -> Any:
    """What ``m.element(...)`` returns."""
    sorts = sorts_of(machine, name, over, 2)
    of = sorts_of(machine, name, sort, 1)
    if not of:
        raise SpecError(f"{name}: expected a sort, found {sort!r}", where())
    variable = variable_over(machine, name, (*sorts, *of), bool, False, label)
    machine.views.append(View((variable,), lambda values: _show(machine, variable, values)))
    if sorts:
        return ElementArray(machine, name, variable.label, variable)
    return ElementScalar(variable.label, variable, ())


def held_elements(machine: Machine, variable: VariableBase, index: tuple[int, ...], values: CellValues) -> list[str]:
    """The names of the elements that are held at ``index``: none or one, but in a spec that was edited."""
    names = machine.sorts[variable.sorts[-1]].names
    return [n for i, n in enumerate(names) if values[variable.name, (*index, i)]]


def _show(machine: Machine, variable: VariableBase, values: CellValues) -> Shown:
    sizes = [range(machine.sorts[s].size) for s in variable.sorts[:-1]]
    shown: dict[str, int | bool | str] = {}
    for index in itertools.product(*sizes):
        names = [machine.sorts[s].names[i] for s, i in zip(variable.sorts, index, strict=False)]
        label = f"{variable.label}[{', '.join(names)}]" if names else variable.label
        shown[label] = "+".join(held_elements(machine, variable, index, values)) or "none"
    return shown


__all__ = ["ElementArray", "ElementScalar", "ElementValue", "declare_element", "held_elements"]

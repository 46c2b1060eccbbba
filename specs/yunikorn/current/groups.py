"""Task groups: what an application has of each, where it has several.

With one group there is no sort of groups: a variable is one number of each application, as if there were none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from model.language import Expr, Machine, Operand, Sort, choose, ite, sum_, when
from model.language.expressions import lift


class Group(Sort):
    """A task group of an application. Placeholders take turns: the first is of the first group, and so on."""


class Groups:
    """The task groups of each application; ``member`` is the sort of its placeholders, of which there are ``size``."""

    def __init__(self, m: Machine, member: type[Sort], size: int, number: int) -> None:
        self.several = number > 1
        if self.several:
            m.sort(Group, number)
            self._group_of = m.constant("group_of", member, [i % number for i in range(size)])
            self._number = m.constant("group_number", Group, list(range(number)))

    def each(self) -> Iterable[Group | None]:
        """For a for statement: every group; None is the only one."""
        return Group if self.several else (None,)

    def chosen(self) -> Group | None:
        """Any group, in an action."""
        return choose(Group, "group") if self.several else None

    def has(self, g: Group | None, p: Any) -> Operand:
        """Whether placeholder ``p`` is of group ``g``."""
        return True if g is None else self._group_of[p] == self._number[g]

    def alike(self, p: Any, q: Any) -> Operand:
        """Whether two placeholders are of one group."""
        return self._group_of[p] == self._group_of[q] if self.several else True

    def within(self, g: Group | None, p: Any, value: Expr) -> Expr:
        """``value``, a condition, of a placeholder of the group."""
        return value if g is None else value & self.has(g, p)


class Grouped:
    """A number for each application, and for each of its task groups if there are several.

    ``x[a, g]`` is that of a group, ``x[a]`` of all together; zero can be written to all at once.
    """

    def __init__(self, m: Machine, groups: Groups, name: str, app: type[Sort], values: range, init: int) -> None:
        self._groups = groups
        index: Any = (app, Group) if groups.several else app
        self._variable: Any = m.variable(name, index, values, init=init)

    def __getitem__(self, index: Any) -> Expr:
        a, g = index if isinstance(index, tuple) else (index, None)
        if not self._groups.several:
            return lift(self._variable[a])
        return lift(self._variable[a, g]) if g is not None else sum_(self._variable[a, h] for h in Group)

    def __setitem__(self, index: Any, value: Operand) -> None:
        a, g = index if isinstance(index, tuple) else (index, None)
        if not self._groups.several:
            self._variable[a] = value
        elif g is not None:
            self._variable[a, g] = value
        elif isinstance(value, int) and value == 0:
            for h in Group:
                self._variable[a, h] = 0
        else:
            raise ValueError("of several groups one is written at a time")

    def of(self, a: Any, p: Any) -> Expr:
        """The number of the group that placeholder ``p`` is of."""
        if not self._groups.several:
            return lift(self._variable[a])
        return sum_(ite(self._groups.has(g, p), self._variable[a, g], 0) for g in Group)

    def add(self, a: Any, p: Any, value: Operand) -> None:
        """``value`` more for the group of placeholder ``p``."""
        if not self._groups.several:
            self._variable[a] += value
            return
        for g in Group:
            with when(self._groups.has(g, p)):
                self._variable[a, g] += value

    def take(self, a: Any, p: Any) -> None:
        """One less for the group of placeholder ``p``."""
        if not self._groups.several:
            self._variable[a] -= 1
            return
        for g in Group:
            with when(self._groups.has(g, p)):
                self._variable[a, g] -= 1

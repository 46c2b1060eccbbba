"""Sets and channels in conditions on states: how much is in them, and what can be asked of them.

len(inbox) > 0      inbox == []      app1 in waiting      len(members[q]) == 2      waiting != {}
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from model.errors import QueryError
from model.language import Machine
from model.language.data.base import Holder

_OF_SETS = "len({0}), {0} == {{}}, A in {0}"
_OF_CHANNELS = "len({0}), {0} == []"


class Holders:
    """The sets and channels of a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine.name
        self._known = {view.holder.name: view.holder for view in machine.views if view.holder is not None}

    def at(self, name: str, given: Sequence[ast.expr]) -> Holder:
        """The set or channel ``name``, of which one is named by ``given``. QueryError if there is none."""
        held = self._known.get(name)
        if held is None:
            known = ", ".join(self._known)
            raise QueryError(f"{name} is no set and no channel; {self._machine} has {known or 'none'}")
        if len(given) != len(held.over):
            sorts = ", ".join(s.__name__ for s in held.over)
            raise QueryError(
                f"{name} is indexed by [{sorts}]; write {name}[...]" if sorts else f"{name} is not indexed"
            )
        return held

    def check_use(self, name: str) -> None:
        """QueryError if ``name`` is a set or channel that is used like a value."""
        if name in self._known:
            raise QueryError(f"{name} is no value; {self._can_be_asked(name)}")

    def check_no_channel(self, name: str) -> None:
        """QueryError if ``name`` is a channel: what it holds cannot be asked."""
        if name in self._known and self._known[name].channel:
            raise QueryError(f"what is in {name} cannot be asked; {self._can_be_asked(name)}")

    def check_comparison(self, name: str, given: Sequence[ast.expr], other: ast.expr) -> None:
        """QueryError if ``name`` is a set or channel as a whole, which only nothing is compared with."""
        if name in self._known and len(given) == len(self._known[name].over):
            raise QueryError(f"{name} is not compared with {ast.unparse(other)}; {self._can_be_asked(name)}")

    def _can_be_asked(self, name: str) -> str:
        held = self._known[name]
        shown = f"{name}[{', '.join(s.__name__.lower() for s in held.over)}]" if held.over else name
        return f"there are {(_OF_CHANNELS if held.channel else _OF_SETS).format(shown)}"


def is_empty(node: ast.expr) -> bool:
    """Whether this is ``[]``, ``{}`` or ``()``."""
    return (isinstance(node, (ast.List, ast.Tuple)) and not node.elts) or (isinstance(node, ast.Dict) and not node.keys)


def subscripted(node: ast.expr) -> tuple[str, list[ast.expr]]:
    """``members[q]`` as the name and what stands in brackets."""
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value), listed(node.slice)
    return ast.unparse(node), []


def listed(index: ast.expr) -> list[ast.expr]:
    """The parts of ``a, n``."""
    return index.elts if isinstance(index, ast.Tuple) else [index]


__all__ = ["Holders", "is_empty", "listed", "subscripted"]

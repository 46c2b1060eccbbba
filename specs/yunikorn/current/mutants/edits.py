"""Edits that reports need more than once: another value where the state says so, and an update left out of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from model.language import Expr, Op, Operand, ite
from model.language.expressions import lift
from model.language.machine import Action
from model.language.mutation import Edit
from specs.mutant import Faults
from specs.yunikorn.machine import yunikorn
from specs.yunikorn.parameters import Edition

report: Final = Faults(yunikorn, tracker="YUNIKORN-", everywhere={"edition": Edition.CURRENT}).report
"""A fault that people met, by the number that the YuniKorn project gave it; empty for a seeded fault."""


def keeps_state(action: str, state: Any) -> Edit:
    """The action leaves an application in ``state`` that is there: the core's table lacks the edge."""

    def change(old: Action) -> Action:
        (update,) = [u for u in old.updates if u.variable.name == "core"]
        now: Expr = update.variable[old.parameters[0]]  # type: ignore[index]
        new = replace(update, value=lift(ite(now == state, state, update.value)))
        return replace(old, updates=tuple(new if u is update else u for u in old.updates))

    return Edit(action, f"{action} leaves an application that is {state.name} as it is", change)


def also(other: Any) -> Callable[[Expr], Operand]:
    """A guard ``x == something`` that lets ``other`` pass, too."""

    def widen(guard: Expr) -> Expr:
        assert isinstance(guard, Op)
        either: Expr = guard | (guard.args[0] == other)
        return either

    return widen


def first_half(guard: Expr) -> Operand:
    """The left side of an ``and``."""
    assert isinstance(guard, Op)
    left: Expr = guard.args[0]
    return left


def counts_only_if(action: str, variable: str, condition: Callable[[Callable[[str], Expr]], Operand]) -> Edit:
    """The action's one write of ``variable`` is that of nothing, unless the condition on other cells holds."""

    def change(old: Action) -> Action:
        (update,) = [u for u in old.updates if u.variable.name == variable]

        def cell(name: str) -> Expr:
            (found,) = {u.variable for u in old.updates if u.variable.name == name}
            index = old.parameters[: len(found.sorts)]
            read: Expr = found[index if len(index) > 1 else index[0]]  # type: ignore[index]
            return read

        holds = lift(condition(cell))
        new = replace(update, value=lift(ite(holds, update.value, _nothing(update.value))))
        return replace(old, updates=tuple(new if u is update else u for u in old.updates))

    return Edit(action, f"{action} writes {variable} in some cases only", change)


def _nothing(value: Expr) -> Operand:
    """0, or the first member of an enum."""
    members = getattr(value.type, "members", None)
    return members[0] if members else 0

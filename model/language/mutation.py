"""Mutants: a spec built with one small fault, to show that a property can be violated.

An edit is named by the action and by the guard or the variable that it touches, and it is made while the spec is built:
whatever else speaks of the action (``enabled``, ``any_enabled``) speaks of the edited one.

    mutated(lambda: gang(apps=4), without_guard("allocate", "< 7"))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from model.language.errors import SpecError, where
from model.language.expressions import Const, Expr, Operand, boolean, lift
from model.language.tracing import Guard, Update
from model.language.types import domain_type

if TYPE_CHECKING:
    from model.language.machine import Action, Machine


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one action. ``what`` says it in words: "allocate without (total < 7)"."""

    action: str
    what: str
    change: Callable[[Action], Action]


class _Open:
    edits: tuple[Edit, ...] = ()
    made: list[Edit]


_OPEN = _Open()


def edited(action: Action) -> Action:
    """``action`` as the mutant that is being built has it; `Machine.action` calls this."""
    for edit in _OPEN.edits:
        if edit.action == action.name:
            action = edit.change(action)
            _OPEN.made.append(edit)
    return action


def mutated(build: Callable[[], Machine], *edits: Edit) -> Machine:
    """The machine that ``build`` makes, with ``edits`` made. SpecError if an edit finds nothing or too much."""
    if _OPEN.edits:
        raise SpecError("a mutant is built inside another", where())
    _OPEN.edits, _OPEN.made = edits, []
    try:
        machine = build()
        for edit in edits:
            if edit not in _OPEN.made:
                raise SpecError(
                    f"{machine.name} has no action {edit.action}, so this changes nothing: {edit.what}", None
                )
    finally:
        _OPEN.edits = ()
    return machine


def without_guard(action: str, text: str) -> Edit:
    """Drops the one conjunct of the action's guard whose printed form contains ``text``."""

    def change(old: Action) -> Action:
        dropped = _guard(old, text)
        return replace(old, guards=tuple(g for g in old.guards if g is not dropped))

    return Edit(action, f"{action} without the guard {text}", change)


def with_guard(action: str, text: str, by: Callable[[Expr], Operand]) -> Edit:
    """Replaces the one conjunct whose printed form contains ``text`` by what ``by`` makes of it."""

    def change(old: Action) -> Action:
        found = _guard(old, text)
        new = Guard(boolean(by(found.condition), "with_guard()"), found.at)
        return replace(old, guards=tuple(new if g is found else g for g in old.guards))

    return Edit(action, f"{action} with another guard than {text}", change)


def without_update(action: str, variable: str) -> Edit:
    """Drops the one write of ``variable``."""

    def change(old: Action) -> Action:
        dropped = _update(old, variable)
        return replace(old, updates=tuple(u for u in old.updates if u is not dropped))

    return Edit(action, f"{action} does not write {variable}", change)


def with_update(action: str, variable: str, by: Callable[[Expr], Operand]) -> Edit:
    """Replaces what the one write of ``variable`` assigns (or adds) by what ``by`` makes of it."""

    def change(old: Action) -> Action:
        found = _update(old, variable)
        value = lift(by(found.value))
        if value.type != domain_type(found.variable.domain):
            raise SpecError(f"{action}: {variable} cannot hold {value!r}, which is {value.type}", where())
        return replace(old, updates=tuple(replace(u, value=value) if u is found else u for u in old.updates))

    return Edit(action, f"{action} writes another value to {variable}", change)


def disabled(action: str) -> Edit:
    """The action never fires."""

    def change(old: Action) -> Action:
        return replace(old, guards=(*old.guards, Guard(Const(False), old.at)))

    return Edit(action, f"{action} never fires", change)


def _guard(action: Action, text: str) -> Guard:
    found = [g for g in action.guards if text in repr(g.condition)]
    if len(found) != 1:
        guards = "; ".join(repr(g.condition) for g in action.guards)
        raise SpecError(
            f"{len(found)} guards of {action.name} contain {text!r}, expected one. It has: {guards}", action.at
        )
    return found[0]


def _update(action: Action, variable: str) -> Update:
    found = [u for u in action.updates if u.variable.name == variable]
    if len(found) != 1:
        names = ", ".join(u.variable.name for u in action.updates)
        raise SpecError(
            f"{action.name} writes {variable} {len(found)} times, expected once. It writes: {names}", action.at
        )
    return found[0]

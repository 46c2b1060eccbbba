"""Mutants: a spec built with one small fault, to show that a property can be violated.

An edit is named by the action and by the guard or the variable that it touches, and it is made while the spec is built:
whatever else speaks of the action (``enabled``, ``any_enabled``) speaks of the edited one.

    mutated(lambda: gang(apps=4), without_guard("allocate", "< 7"))

What takes more than that is written like an action, by a function of the machine: instead of the action
(`rewritten`), or as one more beside it (`with_action`); both together split a step. Such a function finds the spec's
variables by `Machine.attached`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from model.language.errors import SpecError, where
from model.language.expressions import Const, Expr, Operand, boolean, lift
from model.language.tracing import Guard, Update
from model.language.types import domain_type

if TYPE_CHECKING:
    from model.language.machine import Action, Machine


Body = Callable[..., None]
Write = Callable[["Machine"], Body]
"""Makes the function that declares an action."""


def _unchanged(action: Action) -> Action:
    return action


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one action. ``what`` says it in words: "allocate without (total < 7)".

    ``instead`` writes the action anew, ``beside`` writes one more; ``change`` edits what was written.
    """

    action: str
    what: str
    change: Callable[[Action], Action] = _unchanged
    instead: Write | None = None
    beside: Write | None = None

    @property
    def lines(self) -> int:
        """Lines of a spec that it changes: statements of the functions it brings along, or one."""
        return sum(_lines(write) for write in (self.instead, self.beside) if write) or 1


@dataclass
class _Build:
    """The mutant that is being built: its edits, and those that were made."""

    edits: tuple[Edit, ...] = ()
    made: list[Edit] = field(default_factory=list)


# For each thread its own: what another one builds meanwhile is no mutant.
_OPEN: ContextVar[_Build] = ContextVar("the mutant that is being built", default=_Build())  # noqa: B039 - never changed


def edited(action: Action) -> Action:
    """``action`` as the mutant that is being built has it; `Machine.action` calls this."""
    build = _OPEN.get()
    for edit in build.edits:
        if edit.action == action.name:
            action = edit.change(action)
            build.made.append(edit)
    return action


def written(machine: Machine, name: str, body: Body) -> Body:
    """The function that declares action ``name``: ``body``, or what an edit has in its place."""
    for edit in _OPEN.get().edits:
        if edit.action == name and edit.instead is not None:
            return edit.instead(machine)
    return body


def beside(machine: Machine, name: str) -> list[Body]:
    """The functions of the actions that edits declare after action ``name``."""
    return [e.beside(machine) for e in _OPEN.get().edits if e.action == name and e.beside is not None]


def mutated(build: Callable[[], Machine], *edits: Edit) -> Machine:
    """The machine that ``build`` makes, with ``edits`` made. SpecError if an edit finds nothing or too much."""
    if _OPEN.get().edits:
        raise SpecError("a mutant is built inside another", where())
    anew = [edit.action for edit in edits if edit.instead is not None]
    if twice := [name for name in anew if anew.count(name) > 1]:
        raise SpecError(f"{twice[0]} is written anew by two edits, of which one would be lost", where())
    opened = _Build(edits)
    token = _OPEN.set(opened)
    try:
        machine = build()
        for edit in edits:
            if edit not in opened.made:
                raise SpecError(
                    f"{machine.name} has no action {edit.action}, so this changes nothing: {edit.what}", None
                )
    finally:
        _OPEN.reset(token)
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


def rewritten(action: str, write: Write, what: str) -> Edit:
    """The action as the function that ``write`` returns declares it; ``what`` is the difference in words."""
    return Edit(action, what, instead=write)


def with_action(after: str, write: Write, what: str) -> Edit:
    """One more action, declared after action ``after`` by the function that ``write`` returns."""
    return Edit(after, what, beside=write)


def disabled(action: str) -> Edit:
    """The action never fires."""

    def change(old: Action) -> Action:
        return replace(old, guards=(*old.guards, Guard(Const(False), old.at)))

    return Edit(action, f"{action} never fires", change)


def _lines(write: Write) -> int:
    """Lines of the functions inside ``write``, without their docstrings, blank lines and comments."""
    source = ast.parse(textwrap.dedent(inspect.getsource(write)))
    inner = [n for n in ast.walk(source) if isinstance(n, ast.FunctionDef)][1:]
    said = {
        line
        for function in inner
        for n in ast.walk(function)
        if isinstance(n, ast.stmt) and not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
        for line in range(n.lineno, (n.end_lineno or n.lineno) + 1 if not hasattr(n, "body") else n.lineno + 1)
    }
    return len(said)


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

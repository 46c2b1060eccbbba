"""Mutants of any spec: every small fault of a few kinds that an action can have.

A conjunct of a guard is dropped, a write is dropped or made whatever its ``when`` says, the branches of an ``ite`` are
swapped, a comparison is off by one, a member of an enum or a number is another, an action never fires. Each is an edit
of one action at one place; the place is a number, so that the edit finds it again when the spec is built anew. Where
two conjuncts hold the same thing, neither is missed alone: `paired_guards` drops two.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from model.language.expressions import After, Const, Expr, Ite, Lookup, Op, Quantified, Read
from model.language.mutation import Edit, disabled
from model.language.tracing import Guard
from model.language.types import EnumType
from model.language.walking import children, conjunction, in_text

if TYPE_CHECKING:
    from model.language.machine import Action, Machine

Path = tuple[int, ...]


class Fault(enum.Enum):
    """Kinds of faults, those first that break most."""

    GUARD = "a conjunct of a guard is dropped"
    UPDATE = "a write is dropped"
    NEVER = "an action never fires"
    WHEN = "a write does not heed its when block"
    COMPARISON = "a comparison is off by one"
    BRANCHES = "the branches of an ite are swapped"
    MEMBER = "a member of an enum is another"
    NUMBER = "a number is another"


_ORDER = list(Fault)
_Place = tuple[int, "Path"]
_OFF_BY_ONE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class GenericMutant:
    """One fault. ``touches``: the variables that the action then writes otherwise, or at other times."""

    edit: Edit
    fault: Fault
    touches: frozenset[str]

    @property
    def order(self) -> int:
        """The place of its fault among the kinds."""
        return _ORDER.index(self.fault)


def generic_mutants(machine: Machine) -> tuple[GenericMutant, ...]:
    """All of them, action by action.

    Where an expression occurs again and again, as what a helper returns does, only the first place is changed: the
    others would be told in the same words.
    """
    found: dict[str, GenericMutant] = {}
    for action in machine.actions:
        for mutant in _of(action):
            found.setdefault(mutant.edit.what, mutant)
    return tuple(found.values())


def paired_guards(machine: Machine) -> tuple[GenericMutant, ...]:
    """Two conjuncts of one action's guard dropped together, for each two of an action."""
    found: list[GenericMutant] = []
    for action in machine.actions:
        for (one, first), (two, second) in itertools.combinations(_conjuncts_of(action), 2):
            what = f"{action.name} without the guards {in_text(first)} and {in_text(second)} ({first.at})"
            change = _without_conjuncts(frozenset((one, two)))
            found.append(GenericMutant(Edit(action.name, what, change), Fault.GUARD, _written(action)))
    return tuple(found)


def _written(action: Action) -> frozenset[str]:
    return frozenset(u.variable.name for u in action.updates)


def _conjuncts_of(action: Action) -> list[tuple[_Place, Expr]]:
    return [((n, path), part) for n, guard in enumerate(action.guards) for path, part in conjuncts(guard.condition)]


def _of(action: Action) -> Iterator[GenericMutant]:
    writes = _written(action)
    for place, part in _conjuncts_of(action):
        what = f"{action.name} without the guard {in_text(part)} ({part.at})"
        yield GenericMutant(Edit(action.name, what, _without_conjuncts(frozenset((place,)))), Fault.GUARD, writes)
    for number, update in enumerate(action.updates):
        what = f"{action.name} does not write {update.variable.name} ({update.at})"
        yield GenericMutant(
            Edit(action.name, what, _without_update(number)), Fault.UPDATE, frozenset({update.variable.name})
        )
    yield GenericMutant(disabled(action.name), Fault.NEVER, writes)
    for number, update in enumerate(action.updates):
        touched = frozenset({update.variable.name})
        if not isinstance(update.condition, Const):
            what = f"{action.name} writes {update.variable.name} whatever its when block says ({update.at})"
            yield GenericMutant(Edit(action.name, what, _without_when(number)), Fault.WHEN, touched)
            yield from _inside(action, touched, update.condition, _in_update(number, "condition"))
        yield from _inside(action, touched, update.value, _in_update(number, "value"), adds=update.adds)
    for number, guard in enumerate(action.guards):
        yield from _inside(action, writes, guard.condition, _in_guard(number))


_At = Callable[["Action", Path, Callable[[Expr], Expr]], "Action"]


def _inside(
    action: Action, touches: frozenset[str], expr: Expr, at: _At, *, adds: bool = False
) -> Iterator[GenericMutant]:
    """The faults inside one expression of ``action``; ``at`` changes what stands at a path of it."""
    for path, part in places(expr):
        for fault, what, change in _faults(part, whole=not path):
            if fault is Fault.NUMBER and adds and isinstance(part, Const) and not path:
                what = f"adds {what}"
            described = f"{action.name}: {what} ({part.at})"
            edit = Edit(action.name, described, _changed(at, path, change))
            yield GenericMutant(edit, fault, touches)


def _faults(part: Expr, *, whole: bool) -> Iterator[tuple[Fault, str, Callable[[Expr], Expr]]]:
    match part:
        case Op(op=op) if op in _OFF_BY_ONE:
            other = _OFF_BY_ONE[op]
            yield Fault.COMPARISON, f"{other} instead of {op} in {in_text(part)}", _with_op(other)
        case Ite():
            yield Fault.BRANCHES, f"the branches of {in_text(part)} swapped", _swapped
        case Const(value=enum.Enum()) if isinstance(part.type, EnumType):
            members = part.type.members
            others = {(part.raw + 1) % len(members), (part.raw - 1) % len(members)} - {part.raw}
            for raw in sorted(others):
                what = f"{members[raw].name} instead of {members[part.raw].name}"
                yield Fault.MEMBER, what, _constant(members[raw])
        case Const(value=bool()):
            # A condition that is TRUE is no place of its own.
            if whole and part.raw in (0, 1):
                yield Fault.MEMBER, f"{not part.value} instead of {part.value}", _constant(not part.value)
        case Const(value=int() as value):
            for other_value in (value + 1, value - 1):
                yield Fault.NUMBER, f"{other_value} instead of {value}", _constant(other_value)


def conjuncts(expr: Expr, path: Path = ()) -> Iterator[tuple[Path, Expr]]:
    """The conditions that ``expr`` joins by &, with the path to each."""
    if isinstance(expr, Op) and expr.op == "&":
        for number, arg in enumerate(expr.args):
            yield from conjuncts(arg, (*path, number))
    else:
        yield path, expr


def places(expr: Expr, path: Path = ()) -> Iterator[tuple[Path, Expr]]:
    """``expr`` and everything below it, each with its path; indices are left out, which are elements, and divisors."""
    yield path, expr
    if not isinstance(expr, (Read, Lookup)):
        for number, child in enumerate(children(expr)):
            if not (number == 1 and isinstance(expr, Op) and expr.op in ("//", "%")):
                yield from places(child, (*path, number))


def replaced(expr: Expr, path: Path, change: Callable[[Expr], Expr]) -> Expr:
    """``expr`` with what stands at ``path`` changed."""
    if not path:
        return change(expr)
    below = list(children(expr))
    below[path[0]] = replaced(below[path[0]], path[1:], change)
    match expr:
        case Op(op=op):
            return Op(op, expr.type, *below)
        case Ite():
            return Ite(*below)
        case Quantified(kind=kind, symbols=symbols):
            return Quantified(kind, symbols, below[0])
        case After():
            return After(below[0])
        case _:
            raise TypeError(f"nothing can be replaced below {expr!r}")


# ---- the edits


def _without_conjuncts(dropped: frozenset[_Place]) -> Callable[[Action], Action]:
    def change(old: Action) -> Action:
        guards: list[Guard] = []
        for number, guard in enumerate(old.guards):
            left = tuple(part for path, part in conjuncts(guard.condition) if (number, path) not in dropped)
            if all(place[0] != number for place in dropped):
                guards.append(guard)
            elif left:
                guards.append(Guard(conjunction(left), guard.at))
        return replace(old, guards=tuple(guards))

    return change


def _without_update(number: int) -> Callable[[Action], Action]:
    return lambda old: replace(old, updates=(*old.updates[:number], *old.updates[number + 1 :]))


def _without_when(number: int) -> Callable[[Action], Action]:
    return lambda old: _in_update(number, "condition")(old, (), lambda _: Const(True))


def _in_guard(number: int) -> _At:
    def at(old: Action, path: Path, change: Callable[[Expr], Expr]) -> Action:
        guard = old.guards[number]
        new = Guard(replaced(guard.condition, path, change), guard.at)
        return replace(old, guards=(*old.guards[:number], new, *old.guards[number + 1 :]))

    return at


def _in_update(number: int, name: str) -> _At:
    def at(old: Action, path: Path, change: Callable[[Expr], Expr]) -> Action:
        update = old.updates[number]
        expr = update.condition if name == "condition" else update.value
        new = replaced(expr, path, change)
        updated = replace(update, condition=new) if name == "condition" else replace(update, value=new)
        return replace(old, updates=(*old.updates[:number], updated, *old.updates[number + 1 :]))

    return at


def _changed(at: _At, path: Path, change: Callable[[Expr], Expr]) -> Callable[[Action], Action]:
    return lambda old: at(old, path, change)


def _with_op(op: str) -> Callable[[Expr], Expr]:
    def change(old: Expr) -> Expr:
        assert isinstance(old, Op)
        return Op(op, old.type, *old.args)

    return change


def _swapped(old: Expr) -> Expr:
    assert isinstance(old, Ite)
    return Ite(old.condition, old.otherwise, old.then)


def _constant(value: int | bool | enum.Enum) -> Callable[[Expr], Expr]:
    return lambda _: Const(value)


__all__ = ["Fault", "GenericMutant", "conjuncts", "generic_mutants", "paired_guards", "places", "replaced"]

"""Whether an action can fire, as an expression: its guard, with its parameters replaced or quantified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.language.errors import SpecError, where
from model.language.expressions import Expr, Quantified, Read, Symbol
from model.language.tracing import OPEN, Kind
from model.language.walking import disjunction, substitute, walk

if TYPE_CHECKING:
    from model.language.machine import Action


def enabled(action: Action, arguments: Sequence[object]) -> Expr:
    """Whether ``action`` can fire: with these arguments, or with any where none are given."""
    given = [a for a in arguments if isinstance(a, Symbol)]
    expected = action.parameters if arguments else ()
    if len(given) != len(arguments) or [a.type for a in given] != [p.type for p in expected]:
        raise SpecError(f"enabled({action.name}): expected ({', '.join(map(repr, action.parameters))})", where())
    by: dict[int, Expr] = {p.uid: a for p, a in zip(expected, given, strict=True)}
    open_symbols = tuple(s for s in action.symbols if s.uid not in by)
    guard = substitute(action.guard, by)
    _note_reads(guard)
    return Quantified("any", open_symbols, guard) if open_symbols else guard


def any_enabled(actions: Sequence[Action]) -> Expr:
    """Whether any of ``actions`` can fire, with any arguments."""
    return disjunction([enabled(action, ()) for action in actions])


def _note_reads(guard: Expr) -> None:
    """An action that asks for a guard reads what the guard reads."""
    if OPEN.recording is not None and OPEN.recording.kind is Kind.ACTION:
        for part in walk(guard):
            if isinstance(part, Read):
                OPEN.recording.note_read(part, part.variable)

"""What a body says beside plain writes: ``require``, ``when``, ``choose``; in a step property ``after``."""

from __future__ import annotations

import enum
import itertools
import sys
from types import TracebackType
from typing import Any, TypeVar, overload

from model.language.blocks import Names
from model.language.errors import SpecError, line_of, user_frame, where
from model.language.expressions import After, Expr, Operand, Symbol, boolean, lift
from model.language.leaving import way_out_of_block
from model.language.sorts import Sort, is_sort
from model.language.tracing import OPEN, Guard, Kind, record, recording
from model.language.types import check_value_domain

S = TypeVar("S", bound=Sort)


def require(*conditions: Operand) -> None:
    """The action fires only where all ``conditions`` hold."""
    current = recording("require()", Kind.ACTION)
    if current.loops or current.conditions:
        raise SpecError(
            "require() inside a for statement or a when block; use all_() or implies() in one require()", where()
        )
    if not conditions:
        raise SpecError("require() takes at least one condition", where())
    for condition in conditions:
        current.guards.append(Guard(boolean(condition, "require()"), where()))


class when:
    """``with when(c):`` the writes inside happen only where ``c`` holds, before the step. Blocks nest."""

    def __init__(self, condition: Operand) -> None:
        self._recording = recording("when()", Kind.ACTION)
        self._condition = boolean(condition, "when()")
        self._recording.unentered[id(self)] = (self, where())

    def __enter__(self) -> None:
        self._recording.unentered.pop(id(self), None)
        self._recording.conditions.append(self._condition)
        frame = user_frame(sys._getframe(1))
        way_out = way_out_of_block(frame)
        if way_out is not None:
            raise SpecError(
                f"'{way_out}' inside a when block: the body always runs while the spec is read, so what comes after "
                "the block would be lost, whatever the condition; write the other case as a when block of its own",
                line_of(frame),
            )
        self._names = Names(frame, record.__code__)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._recording.conditions.pop()
        name = self._names.changed(new_ones=True) if error is None else None
        if name is not None:
            raise SpecError(
                f"{name} is set inside a when block and read after it: the body always runs while the spec is read, "
                f"so {name} does not depend on the condition; use ite()",
                line_of(sys._getframe(1)),
            )


@overload
def choose(domain: type[S], name: str = ...) -> S: ...
@overload
def choose(domain: type[enum.Enum] | range | type[bool], name: str = ...) -> Expr: ...
def choose(domain: Any, name: str = "choice") -> Expr:
    """Any value of ``domain``: the action has an instance for each. ``name`` is what traces call it."""
    current = recording("choose()", Kind.ACTION)
    if current.loops or current.conditions:
        raise SpecError("choose() inside a for statement or a when block; choose once, before it", where())
    if OPEN.quantifiers:
        raise SpecError("choose() inside a generator would choose once for all elements; choose before it", where())
    if not name.isidentifier():
        raise SpecError(f"choose(): a name is a Python identifier, found {name!r}", where())
    taken = {s.name for s in (*current.arguments, *current.choices)}
    unique = next(n for n in itertools.chain([name], (f"{name}{i}" for i in itertools.count(2))) if n not in taken)
    symbol: Symbol = domain(unique) if is_sort(domain) else Symbol(unique, check_value_domain(domain, "choose()"))
    current.choices.append(symbol)
    return symbol


def after(value: Operand) -> Expr:
    """``value`` read in the state after the step; only in step properties."""
    recording("after()", Kind.STEP)
    return After(lift(value))

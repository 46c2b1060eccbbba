"""What Python asks of any object and an expression cannot answer: its truth, its hash, its number, its elements.

Each is an error with the line. To a type checker these operators do not exist, so that it keeps reporting them.
"""

from __future__ import annotations

import linecache
import re
import sys
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from model.language.errors import SpecError, user_frame, where

_NO_TRUTH = (
    "an expression has no truth value while the spec is read. Instead of if/and/or/not, 'in', 0 < x < k or a filter "
    "in a generator, use require(), ite(), when(), all_(), any_(), among(), implies() or & | ~"
)

_OF_TWO = {"min": "ite(a < b, a, b)", "max": "ite(a < b, b, a)"}


def _compared_by(frame: FrameType) -> str | None:
    """``min`` or ``max`` if ``frame`` is calling it right now."""
    line, end, start, stop = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if line is None or start is None or stop is None:
        return None
    # Positions count bytes of the line.
    text = linecache.getline(frame.f_code.co_filename, line).encode()[start : stop if line == end else None]
    called = re.match(r"(?:builtins\.)?(min|max)\s*\(", text.decode(errors="replace"))
    return called[1] if called is not None else None


class NoPythonValue:
    """Base of expressions: they stand for values that only a state has."""

    __slots__ = ()

    def __bool__(self) -> bool:
        name = _compared_by(user_frame(sys._getframe(1)))
        if name is not None:
            raise SpecError(
                f"{self!r}: an expression has no truth value while the spec is read, so Python's {name}() cannot "
                f"compare it; of two values write {_OF_TWO[name]}, over all elements {name}_(... for a in App)",
                where(),
            )
        raise SpecError(f"{self!r}: {_NO_TRUTH}", where())

    def __hash__(self) -> int:
        # x in {A, B} and {A: 1}[x] look for the object, not for its value
        from model.language.tracing import OPEN

        if OPEN.recording is not None:
            message = f"{self!r} cannot be looked up in a set or a dict; use among(), ite() or a constant table"
            raise SpecError(message, where())
        return object.__hash__(self)

    if not TYPE_CHECKING:

        def _no_operator(self, *_: object) -> NoReturn:
            raise SpecError("integers have + - * and, by a positive constant, // and %; booleans have & | ~", where())

        __truediv__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __pow__ = __rpow__ = _no_operator
        __xor__ = __rxor__ = __lshift__ = __rshift__ = __divmod__ = __abs__ = __pos__ = _no_operator

        def _no_number(self) -> NoReturn:
            raise SpecError(f"{self!r} has no value while the spec is read: it is not a Python number", where())

        __int__ = __index__ = __float__ = __len__ = _no_number

        def _no_container(self, *_: object) -> NoReturn:
            raise SpecError(f"{self!r} is one value: it has no elements", where())

        __iter__ = __getitem__ = __setitem__ = __contains__ = _no_container

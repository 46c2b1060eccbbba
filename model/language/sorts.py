"""Sorts: the kinds of entities a spec quantifies over (applications, nodes, ...).

A sort is a class; how many elements it has is said per machine. ``for a in App`` yields ONE bound variable, whatever
the size: inside ``sum_(...)`` and its kin it is quantified over, in a ``for`` statement of an action the writes are for
all elements. The checks here refuse, with the line, every way to iterate that would silently mean something else.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn, TypeVar

from model.language.blocks import Names
from model.language.errors import SpecError, line_of
from model.language.expressions import Symbol
from model.language.tracing import OPEN, Kind, record

S = TypeVar("S", bound="Sort")

_MEANT = (
    "'for a in {0}' is for a generator inside sum_, count_, all_, any_, min_ or max_ or, in an action, "
    "for a for statement"
)


class SortMeta(type):
    """Makes a sort class iterable, in the two ways that mean something."""

    def __iter__(cls: type[S]) -> Iterator[S]:  # type: ignore[misc]
        frame = sys._getframe(1)
        # list(App), enumerate(App), *App, zip(App, ...) reach this by other instructions than a for loop's GET_ITER
        if dis.opname[frame.f_code.co_code[frame.f_lasti]] != "GET_ITER":
            raise _no_elements(cls, frame)
        return _one_symbol(cls)

    def __reversed__(cls) -> NoReturn:
        raise _no_elements(cls, sys._getframe(1))

    def __len__(cls) -> int:
        message = f"len({cls.__name__}) is not known while the spec is read; use the spec's own parameter"
        raise SpecError(message, line_of(sys._getframe(1)))

    def __contains__(cls, item: object) -> bool:
        message = f"'in {cls.__name__}' has no meaning in a spec; {_MEANT.format(cls.__name__)}"
        raise SpecError(message, line_of(sys._getframe(1)))

    def __getitem__(cls, item: object) -> NoReturn:
        message = f"{cls.__name__}[...] has no meaning in a spec: elements are not numbered; take one as a parameter"
        raise SpecError(message, line_of(sys._getframe(1)))

    def __bool__(cls) -> bool:
        return True


def _no_elements(cls: type, frame: FrameType) -> SpecError:
    message = f"{cls.__name__} has no elements while the spec is read; {_MEANT.format(cls.__name__)}"
    return SpecError(message, line_of(frame))


class Sort(Symbol, metaclass=SortMeta):
    """Base of all sorts: ``class App(Sort): "An application."``. Instances are symbols for one element."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(name, type(self))


def _one_symbol(cls: type[S]) -> Iterator[S]:
    frame = sys._getframe(1)
    kind = frame.f_code.co_name
    symbol = cls(_loop_name(frame) or cls.__name__.lower())
    if kind in ("<listcomp>", "<setcomp>", "<dictcomp>"):
        message = f"a list, set or dict over {cls.__name__} would have one element; {_MEANT.format(cls.__name__)}"
        raise SpecError(message, line_of(frame))
    if kind == "<genexpr>":
        if not OPEN.quantifiers or OPEN.quantifiers[-1].frame is not frame:
            raise SpecError(
                f"this generator over {cls.__name__} is not closed by sum_, count_, all_, any_, min_ or max_ "
                "(built-in sum, any, max, list, ... see one symbol, not the elements)",
                line_of(frame),
            )
        OPEN.quantifiers[-1].symbols.append(symbol)
        yield symbol
    else:
        yield from _for_statement(symbol, frame)


def _loop_name(frame: FrameType) -> str | None:
    """The name that the loop which ``frame`` runs gives its values: the author's own word for the symbol."""
    code = frame.f_code.co_code
    after = frame.f_lasti + 2
    operation, argument = dis.opname[code[after]], code[after + 1]
    if operation == "STORE_FAST":
        return frame.f_code.co_varnames[argument]
    if operation == "STORE_DEREF":  # 3.11 numbers locals, cells and free names together
        names = frame.f_code.co_varnames
        cells = [n for n in frame.f_code.co_cellvars if n not in names]
        every = (*names, *cells, *frame.f_code.co_freevars)
        return every[argument] if argument < len(every) else None
    return None


def _for_statement(symbol: S, frame: FrameType) -> Iterator[S]:
    recording = OPEN.recording
    at = line_of(frame)
    if recording is None or recording.kind is not Kind.ACTION or OPEN.quantifiers:
        raise SpecError(
            f"a for statement over {type(symbol).__name__} writes for all elements and belongs in an action; "
            "to compute a value use sum_, count_, all_, any_, min_ or max_",
            at,
        )
    names = Names(frame, record.__code__)
    recording.loops.append(symbol)
    try:
        yield symbol
    except GeneratorExit:
        recording.left_early = recording.left_early or at
        recording.loops.pop()
        raise
    recording.loops.pop()
    name = names.changed(new_ones=False)
    if name is not None:
        raise SpecError(
            f"{name} is changed inside a for statement over {type(symbol).__name__}: its body runs once, for a symbol, "
            f"so {name} would not go through the elements; use sum_, count_, min_ or max_",
            at,
        )


def is_sort(value: object) -> bool:
    """Whether ``value`` is a sort class."""
    return isinstance(value, type) and issubclass(value, Sort) and value is not Sort

"""A size that records its use: a number of elements that a spec function is called with, to see what it does with it.

It may be given to `Machine.sort`, and to a check that refuses what is too small or too large (`within`). A comparison
with an integer is recorded with that integer. Anything else, be it arithmetic, ``range``, ``int``, a text, a key of a
dictionary or an index, is a use that could make the spec another one at each size; it is recorded with its line.

It is no subclass of int: what Python itself does with one, such as ``range(n)`` or ``names[n]``, does not ask it.
"""

from __future__ import annotations

import linecache
import operator
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from model.language.errors import Location, is_language, spec_line


@dataclass(frozen=True, slots=True)
class Use:
    """What a spec does with the size ``name``, in words, and where."""

    name: str
    what: str
    at: Location

    def __str__(self) -> str:
        return f"{self.name} {self.what} at {self.at}"


@dataclass(slots=True)
class Record:
    """What one call of a spec function does with its sizes.

    ``compared``: by size and integer the first comparison of the two. ``uses``: whatever else is done with a size, but
    for ``told``: what became a text once a check had failed, or in a ``raise``. ``bounds``: how many checks there
    were. Check number ``refused``, from 0, fails whatever the size; none if it is negative.
    """

    refused: int = -1
    compared: dict[tuple[str, int], Use] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    told: list[Use] = field(default_factory=list)
    bounds: int = 0
    failed: bool = False


class Size:
    """The size ``name``, ``number`` elements, of which every use is recorded."""

    __slots__ = ("_name", "_number", "_record")

    def __init__(self, name: str, number: int, record: Record) -> None:
        self._name: Final = name
        self._number: Final = number
        self._record: Final = record

    def _used(self, what: str) -> None:
        self._record.uses.append(Use(self._name, what, spec_line(sys._getframe(1))))

    def _text(self) -> str:
        at = spec_line(sys._getframe(1))
        in_raise = linecache.getline(at.file, at.line).lstrip().startswith("raise ")
        into = self._record.told if in_raise or self._record.failed else self._record.uses
        into.append(Use(self._name, "becomes a text", at))
        return str(self._number)

    def _compare(self, other: object, how: Callable[[Any, Any], Any]) -> Any:
        if type(other) in (int, bool):
            at = spec_line(sys._getframe(1))
            value = int(other)  # type: ignore[call-overload]
            self._record.compared.setdefault((self._name, value), Use(self._name, f"is compared with {value}", at))
        else:
            self._used(f"is compared with {'a size' if isinstance(other, Size) else type(other).__name__}")
        return how(self._number, other)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, operator.ne)

    def __lt__(self, other: object) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: object) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: object) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: object) -> Any:
        return self._compare(other, operator.ge)

    def __bool__(self) -> bool:
        return bool(self._compare(0, operator.ne))

    def __hash__(self) -> int:
        self._used("is looked up")
        return hash(self._number)

    def __repr__(self) -> str:
        return self._text()

    def __str__(self) -> str:
        return self._text()

    def __format__(self, how: str) -> str:
        return format(int(self._text()), how)

    def __copy__(self) -> Size:
        return self

    def __deepcopy__(self, memo: object) -> Size:
        return self

    def __reduce_ex__(self, protocol: object) -> Any:
        self._used("is copied")
        return (int, (self._number,))

    def __getattr__(self, name: str) -> Any:
        self._used(f"is asked for its {name}")
        return getattr(self._number, name)


def _recorded(name: str, what: str) -> Callable[..., Any]:
    def use(self: Size, *others: Any) -> Any:
        self._used(what)
        plain = (other._number if isinstance(other, Size) else other for other in others)
        return getattr(operator, name)(self._number, *plain)

    return use


def _reflected(name: str, what: str) -> Callable[..., Any]:
    def use(self: Size, other: Any) -> Any:
        self._used(what)
        return getattr(operator, name)(other, self._number)

    return use


def _method(name: str, what: str) -> Callable[..., Any]:
    def use(self: Size, *others: Any) -> Any:
        self._used(what)
        return getattr(self._number, name)(*others)

    return use


_CALCULATION: Final = "is calculated with"
for _name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"):
    _plain = f"{_name}_" if _name in ("and", "or") else _name
    setattr(Size, f"__{_name}__", _recorded(_plain, _CALCULATION))
    setattr(Size, f"__r{_name}__", _reflected(_plain, _CALCULATION))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Size, f"__{_name}__", _recorded(_name, _CALCULATION))
for _name in ("divmod", "rdivmod", "round", "floor", "ceil", "trunc"):
    setattr(Size, f"__{_name}__", _method(f"__{_name}__", _CALCULATION))
for _name in ("int", "index", "float"):
    setattr(Size, f"__{_name}__", _method(f"__{_name}__", "is taken for a number"))


def number_of(size: Any) -> Any:
    """The number of a size, without a record: for what refuses a size, and says which. Anything else as it is."""
    return size._number if isinstance(size, Size) else size


class Names(tuple[str, ...]):
    """The names of the elements that a `Size` gave a sort: how many there are is recorded where a spec asks for it,
    of these, of the declaration, or of the machine."""

    size: Size

    def _asked(self) -> None:
        frame, asker = sys._getframe(2), ""
        while is_language(frame.f_code) and frame.f_back is not None:
            frame, asker = frame.f_back, frame.f_code.co_name
        if asker in _ASKERS and not _is_engine(frame.f_globals.get("__name__", "")):
            self.size._used("is asked of the machine")

    def __len__(self) -> int:
        self._asked()
        return super().__len__()

    def __iter__(self) -> Iterator[str]:
        self._asked()
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        self._asked()
        return super().__getitem__(index)

    def __contains__(self, name: object) -> bool:
        self._asked()
        return super().__contains__(name)


_ASKERS: Final = ("", "size", "values", "show", "cells", "initial_choices")
"""What a spec asks a machine for how many elements there are; none if it looks at the names."""


def _is_engine(module: str) -> bool:
    """Whether this is a module of the engines, which read a machine that is built."""
    return module.startswith("model.")


def names_of(sort: str, size: Any) -> tuple[str, ...]:
    """A name for each of ``size`` elements, a number or a `Size`."""
    plain = tuple(f"{sort}{i + 1}" for i in range(number_of(size)))
    if not isinstance(size, Size):
        return plain
    names = Names(plain)
    names.size = size
    return names


def within(sizes: Collection[Any], least: int, most: int) -> bool:
    """Whether the product of ``sizes`` is from ``least`` to ``most``. The caller has to raise an error if it is not,
    and to go on alike for every size if it is."""
    numbers = [number_of(size) for size in sizes]
    record = next((size._record for size in sizes if isinstance(size, Size)), None)
    fits: bool = least <= prod(numbers) <= most
    if record is not None:
        if not fits or record.bounds == record.refused:
            record.failed, fits = True, False
        record.bounds += 1
        if type(least) is not int or type(most) is not int:
            record.uses.append(Use("a size", "is checked against another number", spec_line(sys._getframe(1))))
    return fits


__all__ = ["Names", "Record", "Size", "Use", "names_of", "number_of", "within"]

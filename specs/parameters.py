"""The parameters of a spec are those of its function: int, bool, an enum, or a tuple of integers.

They are read from the signature, and filled from text (``policy=fair size=3,2``) or from Python values.
"""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from model.language import Machine
from model.language.sizes import Size, number_of, within
from specs.editions import ByEdition, default_edition


class ParameterError(Exception):
    """A parameter that the spec does not have, or a value that it cannot take."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: ``kinds`` are the types that its annotation allows, among int, bool, tuple and enum classes.

    ``by_edition`` has a default for each edition that has the parameter, where they differ; ``default`` is that of the
    default edition, None if that one does not have it.
    """

    name: str
    kinds: tuple[type, ...]
    default: Any
    by_edition: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kinds in words: "int", "int or int,int,...", "fifo|fair"."""
        return " or ".join(_kind_name(k) for k in self.kinds)

    def parse(self, text: str) -> Any:
        """The value that ``text`` says. ParameterError with what was found and expected."""
        for kind in self.kinds:
            try:
                return _parse(kind, text)
            except ValueError:
                continue
        raise ParameterError(f"{self.name}: expected {self.kind}, found {text!r}")


def parameters_of(function: Callable[..., Machine]) -> list[Parameter]:
    """The parameters of a spec function. ParameterError for one without a default or of a type that text cannot
    give."""
    try:
        # without "return", whose Machine a typed file may import under TYPE_CHECKING only
        annotations = {n: a for n, a in function.__annotations__.items() if n != "return"}
        hints = typing.get_type_hints(types.SimpleNamespace(__annotations__=annotations), function.__globals__)
    except (NameError, TypeError, SyntaxError) as error:
        raise ParameterError(f"{function.__name__}: a parameter's annotation cannot be read: {error}") from None
    found: list[Parameter] = []
    edition = default_edition(function)
    for p in inspect.signature(function).parameters.values():
        if p.default is p.empty:
            raise ParameterError(f"{function.__name__}: parameter {p.name} has no default")
        hint = hints.get(p.name, type(p.default))
        kinds = _kinds(hint)
        if not kinds:
            raise ParameterError(
                f"{function.__name__}: parameter {p.name} must be an int, a bool, an enum or a tuple of int, "
                f"it is {getattr(hint, '__name__', hint)}"
            )
        found.append(_parameter(p.name, kinds, p.default, edition))
    return found


def _parameter(name: str, kinds: tuple[type, ...], default: Any, edition: str) -> Parameter:
    if isinstance(default, ByEdition):
        return Parameter(name, kinds, default.defaults.get(edition), default.defaults)
    return Parameter(name, kinds, default)


def parse_assignments(known: Sequence[Parameter], assignments: Sequence[str]) -> dict[str, Any]:
    """Values by name from ``name=value`` texts."""
    by_name = {p.name: p for p in known}
    values: dict[str, Any] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise ParameterError(f"expected NAME=VALUE, found {text!r}")
        check_known(by_name, name)
        if name in values:
            raise ParameterError(f"{name} is given twice")
        values[name] = by_name[name].parse(value)
    return values


def check_known(by_name: Mapping[str, object], name: str) -> None:
    """ParameterError that lists the parameters there are, if ``name`` is not among them."""
    if name not in by_name:
        raise ParameterError(f"there is no parameter {name!r}; there are {', '.join(by_name) or 'none'}")


def shown(value: Any) -> Any:
    """A parameter's value as JSON has it: enum members by their value, tuples as lists."""
    if isinstance(value, enum.Enum):
        return value.value
    return [shown(v) for v in value] if isinstance(value, tuple) else value


def check_size(name: str, value: int, least: int = 1, most: int = 1000) -> None:
    """ValueError that names the parameter, what was found and what is possible, if ``value`` is no sensible size."""
    if type(value) not in (int, Size) or not within((value,), least, most):
        raise ValueError(f"{name} is an integer from {least} to {most}, found {value!r}")


def check_product(values: Mapping[str, int], most: int) -> None:
    """ValueError that names the parameters, if the product of ``values`` is more than ``most``: a state has a number
    for each combination, and must stay one that can be explored."""
    if not within(values.values(), 0, most):
        found = [number_of(value) for value in values.values()]
        numbers = f"{' x '.join(map(str, found))} = {prod(found)}"
        raise ValueError(f"{' x '.join(values)} is at most {most}, found {numbers}")


def check_member(name: str, value: object, kind: type[enum.Enum]) -> None:
    """ValueError that names the parameter and what is possible, if ``value`` is no member of ``kind``."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} is one of {', '.join(str(m.value) for m in kind)}, found {value!r}")


def check_each(name: str, values: tuple[int, ...], count: int, of: str, least: int = 1, most: int = 1000) -> None:
    """ValueError, as of `check_size`, if ``values`` are not ``count`` sensible sizes, one for each ``of``."""
    if len(values) != count:
        raise ValueError(f"{name} has a number for each {of}, of which there are {count}; found {len(values)} numbers")
    for number, value in enumerate(values, 1):
        check_size(f"{name} of {of} {number}", value, least, most)


def _kinds(hint: Any) -> tuple[type, ...]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        parts = [_kinds(h) for h in typing.get_args(hint)]
        return tuple(k for part in parts for k in part) if all(parts) else ()
    if typing.get_origin(hint) is tuple or hint is tuple:
        return (tuple,)
    if hint in (int, bool) or (isinstance(hint, type) and issubclass(hint, enum.Enum)):
        return (hint,)
    return ()


def _kind_name(kind: type) -> str:
    if issubclass(kind, enum.Enum):
        return "|".join(str(m.value) if isinstance(m.value, str) else m.name.lower() for m in kind)
    return {int: "int", bool: "true|false", tuple: "int,int,..."}[kind]


def _parse(kind: type, text: str) -> Any:
    """ValueError where ``text`` is not of ``kind``."""
    if kind is bool:
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else _no(text)
    if kind is int:
        return int(text) if text.isascii() else _no(text)
    if kind is tuple:
        return tuple(int(part) for part in text.split(",")) if "," in text else _no(text)
    for member in kind:  # type: ignore[attr-defined]
        if text.lower() in (str(member.value).lower(), member.name.lower()):
            return member
    return _no(text)


def _no(text: str) -> Any:
    raise ValueError(text)

"""The types of expressions and the domains of variables.

A domain is what a variable, a parameter or a choice ranges over: ``bool``, an enum class, a ``range`` with step 1, or a
sort. Its type forgets the bounds of a range.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from model.language.errors import SpecError, where

if TYPE_CHECKING:
    from model.language.sorts import Sort

LARGEST: Final = 2**40
"""Bounds of ranges and constants: far beyond what is explored, and sums of many still fit into 64 bits."""

Domain: TypeAlias = "type[bool] | type[enum.Enum] | range | type[Sort]"


@dataclass(frozen=True, slots=True)
class BoolType:
    """Truth values; raw form 0 and 1."""

    def __str__(self) -> str:
        return "a boolean"


@dataclass(frozen=True, slots=True)
class IntType:
    """Integers."""

    def __str__(self) -> str:
        return "an integer"


@dataclass(frozen=True, slots=True)
class EnumType:
    """Members of one enum class; raw form is the position in the class."""

    cls: type[enum.Enum]

    @property
    def members(self) -> list[enum.Enum]:
        """The members in order, aliases left out."""
        return list(self.cls)

    def __str__(self) -> str:
        return f"a {self.cls.__name__}"


@dataclass(frozen=True, slots=True)
class SortType:
    """Elements of one sort; raw form is the position, from 0."""

    sort: type[Sort]

    def __str__(self) -> str:
        return f"an element of {self.sort.__name__}"


Type: TypeAlias = BoolType | IntType | EnumType | SortType
BOOL: Final = BoolType()
INT: Final = IntType()


def domain_type(domain: Domain) -> Type:
    """The type of the values of ``domain``."""
    from model.language.sorts import Sort

    if isinstance(domain, range):
        return INT
    if domain is bool:
        return BOOL
    if issubclass(domain, enum.Enum):
        return EnumType(domain)
    if issubclass(domain, Sort):
        return SortType(domain)
    raise TypeError(f"not a domain: {domain!r}")


def check_value_domain(domain: Any, use: str) -> Domain:
    """``domain`` if a variable or a choice may range over it, else SpecError that names ``use``."""
    if isinstance(domain, range):
        if domain.step != 1 or domain.stop <= domain.start:
            raise SpecError(f"{use}: a range needs step 1 and at least one value, found {domain!r}", where())
        if domain.start < -LARGEST or domain.stop > LARGEST + 1:
            raise SpecError(f"{use}: a range lies within -2**40..2**40, found {domain!r}", where())
        return domain
    if domain is bool:
        return bool
    if isinstance(domain, type) and issubclass(domain, enum.Enum):
        if issubclass(domain, enum.Flag):
            raise SpecError(f"{use}: {domain.__name__} is a Flag, whose members combine; use one bool each", where())
        if not list(domain):
            raise SpecError(f"{use}: the enum {domain.__name__} has no members", where())
        return domain
    raise SpecError(f"{use}: a domain is bool, an enum class or range(...), found {domain!r}", where())


def describe_domain(domain: Domain) -> str:
    """A domain in words, for messages."""
    if isinstance(domain, range):
        return f"{domain.start}..{domain.stop - 1}"
    return "true/false" if domain is bool else domain.__name__

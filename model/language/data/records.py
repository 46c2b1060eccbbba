"""Records: named fields, each over its own domain; as a group of variables, or as what a message carries.

ask = record(kind=Kind, app=App, units=range(size + 1))
pod = m.record("pod", Pod, record(phase=Phase, node=Node), init={"phase": Phase.PENDING})
pod.phase[p] = Phase.BOUND ; pod.node[p] = n        # a field over a sort holds an element, or none
"""

from __future__ import annotations

import itertools
import keyword
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from model.language.data.base import Derived, sorts_of, variable_over
from model.language.data.elements import ElementArray, ElementScalar, declare_element
from model.language.errors import SpecError, where
from model.language.expressions import Const, Expr, Symbol, lift
from model.language.sorts import Sort, is_sort
from model.language.types import Domain, EnumType, check_value_domain, describe_domain, domain_type
from model.language.variables import Scalar, Variable

if TYPE_CHECKING:
    from model.language.machine import Machine

_TAKEN = ("assign", "at", "machine", "name", "next")


class RecordType:
    """Names and domains of fields. A field whose domain is a sort holds an element."""

    def __init__(self, fields: Mapping[str, Domain]) -> None:
        self.fields = dict(fields)
        self.plain = {f: d for f, d in fields.items() if not is_sort(d)}
        self.elements: dict[str, type[Sort]] = {f: d for f, d in fields.items() if is_sort(d)}  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"record({', '.join(self.fields)})"

    def unknown(self, use: str, field: str) -> NoReturn:
        """SpecError: no such field."""
        raise SpecError(f"{use} has no field {field}; it has {', '.join(self.fields)}", where())

    def values(self, field: str) -> list[Const]:
        """Every value of a plain field, in order."""
        domain = self.plain[field]
        if isinstance(domain, range):
            return [Const(v) for v in domain]
        kind = domain_type(domain)
        return [Const(v) for v in kind.members] if isinstance(kind, EnumType) else [Const(False), Const(True)]

    def check(self, use: str, given: Mapping[str, object]) -> dict[str, Expr]:
        """``given`` as values of these fields. SpecError for an unknown field, a wrong type, a literal out of range."""
        return {field: self._value(use, field, value) for field, value in given.items()}

    def _value(self, use: str, field: str, value: object) -> Expr:
        if field not in self.fields:
            self.unknown(use, field)
        domain = self.fields[field]
        if field in self.elements:
            if not isinstance(value, Symbol) or value.type != domain_type(domain):
                found = f"{value!r}, which is {value.type}" if isinstance(value, Expr) else repr(value)
                raise SpecError(f"{use}: {field} takes an element of {describe_domain(domain)}, found {found}", where())
            return value
        expr = lift(value)
        if expr.type != domain_type(domain):
            raise SpecError(
                f"{use}: {field} takes {domain_type(domain)}, found {expr!r}, which is {expr.type}", where()
            )
        if isinstance(domain, range) and isinstance(expr, Const) and expr.raw not in domain:
            raise SpecError(f"{use}: {field} lies within {describe_domain(domain)}, found {expr!r}", where())
        return expr


def record(**fields: Any) -> RecordType:
    """A record type: each field has a domain (``bool``, an enum, a ``range``) or holds an element of a sort."""
    if not fields:
        raise SpecError("record() takes at least one field", where())
    for name, domain in fields.items():
        if name.startswith("_") or name in _TAKEN or keyword.iskeyword(name):
            raise SpecError(f"record(): a field cannot be named {name}", where())
        if not is_sort(domain):
            check_value_domain(domain, name)
    return RecordType(fields)


def record_type(use: str, given: object) -> RecordType:
    """``given`` as a record type, or SpecError."""
    if isinstance(given, RecordType):
        return given
    raise SpecError(f"{use}: the fields are given by record(...), found {given!r}", where())


class Record(Derived):
    """A group of variables: ``pod.phase`` is the variable of that field, read and written as any other."""

    _hint = "; write one of its fields"

    def __init__(self, machine: Machine, name: str, index: object, of: RecordType, init: Mapping[str, Any]) -> None:
        super().__init__(machine, name)
        self._type = of
        self._sorts = sorts_of(machine, name, index, 3)
        for field in init:
            if field not in of.plain:
                how = "starts as none" if field in of.elements else "is no field"
                raise SpecError(f"{name}: {field} {how}; init has values for {', '.join(of.plain)}", where())
        missing = [field for field in of.plain if field not in init]
        if missing:
            raise SpecError(f"{name}: init has no value for {', '.join(missing)}", where())
        self._variables = {field: self._declare(field, init) for field in of.fields}

    def _declare(self, field: str, init: Mapping[str, Any]) -> Any:
        name, label = f"{self.name}_{field}", f"{self.name}.{field}"
        domain: Any = self._type.fields[field]
        if field in self._type.elements:
            return declare_element(self.machine, name, domain, self._sorts, label)
        return variable_over(self.machine, name, self._sorts, domain, init[field], label)

    def __getattr__(self, field: str) -> Any:
        if field.startswith("_"):
            raise AttributeError(field)
        found = self._variables.get(field)
        if found is None:
            self._type.unknown(self.name, field)
        return found

    def assign(self, *index: Any, **values: Any) -> None:
        """Writes some fields at once: ``pod.assign(p, phase=Phase.BOUND, node=n)``."""
        if not values:
            raise SpecError(f"{self.name}.assign() takes values of fields", where())
        for field, value in values.items():
            variable = getattr(self, field)
            match variable:
                case Scalar() | ElementScalar() if not index:
                    variable.next = value
                case Variable() | ElementArray():
                    variable[index if len(index) != 1 else index[0]] = value
                case _:
                    raise SpecError(f"{self.name} is a single record, assign() takes no element", where())


def contents(of: RecordType) -> list[tuple[Const, ...]]:
    """Every combination of values of the plain fields, in order."""
    return list(itertools.product(*(of.values(field) for field in of.plain)))


__all__ = ["Record", "RecordType", "contents", "record", "record_type"]

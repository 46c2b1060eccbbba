"""Parameters of a spec with editions: what differs by edition, and what only some editions have.

Such a spec has a parameter ``edition``, and one function for all editions with the parameters of all of them. The
default of a parameter that differs, or that not every edition has, is `by_edition`.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from model.language import Machine

EDITION = "edition"


@dataclass(frozen=True)
class ByEdition:
    """A default for each edition, by the edition's value; an edition that is not here does not have the parameter."""

    defaults: Mapping[str, Any]


def by_edition(**defaults: Any) -> Any:
    """The default of a parameter that has these in the editions named, and that no other edition has."""
    return ByEdition(defaults)


def editions(function: Callable[..., Machine]) -> tuple[str, ...]:
    """The editions of a spec, in order; none if it has no parameter ``edition``."""
    default = _defaults(function).get(EDITION)
    return tuple(str(e.value) for e in type(default)) if isinstance(default, enum.Enum) else ()


def default_edition(function: Callable[..., Machine]) -> str:
    """The edition that a spec is in where none is asked for; empty if it has no editions."""
    default = _defaults(function).get(EDITION)
    return str(default.value) if isinstance(default, enum.Enum) else ""


def of_edition(function: Callable[..., Machine], given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the edition that ``given`` says: as given, else the edition's default; with ``edition``.

    ValueError for a value of a parameter that the edition does not have, be it the default that another has.
    """
    defaults = _defaults(function)
    values = {**defaults, **given}
    if EDITION not in values:
        return values
    if not isinstance(values[EDITION], type(defaults[EDITION])):
        raise ValueError(f"{EDITION} is a {type(defaults[EDITION]).__name__}, found {values[EDITION]!r}")
    edition = str(values[EDITION].value)
    found: dict[str, Any] = {}
    for name, value in values.items():
        default = defaults[name]
        if not isinstance(default, ByEdition):
            found[name] = value
        elif edition in default.defaults:
            found[name] = default.defaults[edition] if value is default else value
        elif value is not default:
            having = " and ".join(f"{EDITION}={e}" for e in default.defaults)
            instead = ", ".join(_only(defaults, edition)) or "nothing"
            raise ValueError(f"{name} is for {having}; {EDITION}={edition} has {instead} instead")
    return found


def _only(defaults: Mapping[str, Any], edition: str) -> Iterable[str]:
    """The parameters that ``edition`` has and not every other has."""
    others = {e for d in defaults.values() if isinstance(d, ByEdition) for e in d.defaults}
    for name, default in defaults.items():
        if isinstance(default, ByEdition) and edition in default.defaults and others - default.defaults.keys():
            yield name


def _defaults(function: Callable[..., Machine]) -> dict[str, Any]:
    return {n: p.default for n, p in inspect.signature(function).parameters.items()}


__all__ = ["EDITION", "ByEdition", "by_edition", "default_edition", "editions", "of_edition"]

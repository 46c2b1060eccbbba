"""Names within the values that a log tells: of a variable whose values are elements, of an element or none, of a set.

Only where the spec has elements is a text a name. A log may have a job that is called RUNNING, and another sort's names
may be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from model.conform.log import Told
from model.language import Machine
from model.language.types import SortType, domain_type

Key: TypeAlias = tuple[str, str]
"""A sort and a name."""

Element: TypeAlias = Callable[[str | None, str], str]
"""What a name of a sort, or of any, is in the spec's words."""

_NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class _Kind:
    """Values of one variable: elements of ``sorts``, of which a set has many; with ``any``, messages of a channel, in
    which a text may be the name of anything."""

    sorts: tuple[str, ...] = ()
    many: bool = False
    any: bool = False


class ValueNames:
    """Which texts in told values are names; ``labels``: the sorts in the brackets of what traces call a variable."""

    def __init__(self, machine: Machine, labels: Mapping[str, tuple[str, ...]]) -> None:
        self._kinds: Final = _kinds(machine, labels)

    def keys(self, label: str, told: Told) -> Iterator[Key]:
        """The names in a value of the variable ``label``, but for those in messages."""
        kind = self._kinds[label]
        if kind.many and isinstance(told, list):
            for each in told:
                parts = each if isinstance(each, list) else [each]
                if len(parts) == len(kind.sorts):
                    yield from ((s, p) for s, p in zip(kind.sorts, parts, strict=True) if isinstance(p, str))
        elif kind.sorts and not kind.many and isinstance(told, str) and told != _NONE:
            yield kind.sorts[0], told

    def translated(self, label: str, told: Told, element: Element) -> Told:
        """The value with its names in the spec's words."""
        kind = self._kinds[label]
        if kind.any:
            return _everywhere(told, element)
        if kind.many and isinstance(told, list):
            return [_member(each, kind.sorts, element) for each in told]
        if kind.sorts and not kind.many and isinstance(told, str):
            return element(kind.sorts[0], told)
        return told


def _member(told: object, sorts: tuple[str, ...], element: Element) -> object:
    parts = told if isinstance(told, list) else [told]
    if len(parts) != len(sorts):
        return told
    found = [element(s, p) if isinstance(p, str) else p for s, p in zip(sorts, parts, strict=True)]
    return found if isinstance(told, list) else found[0]


def _everywhere(told: Told, element: Element) -> Told:
    if isinstance(told, str):
        return element(None, told)
    if isinstance(told, list):
        return [_everywhere(each, element) for each in told]  # type: ignore[arg-type]
    if isinstance(told, dict):
        return {key: _everywhere(value, element) for key, value in told.items()}  # type: ignore[arg-type]
    return told


def _kinds(machine: Machine, labels: Mapping[str, tuple[str, ...]]) -> dict[str, _Kind]:
    kinds = dict.fromkeys(labels, _Kind())
    held = {id(v) for view in machine.views for v in view.variables}
    for variable in machine.variables:
        kind = domain_type(variable.domain)
        if id(variable) not in held and isinstance(kind, SortType):
            kinds[variable.label] = _Kind((kind.sort.__name__,))
    for view in machine.views:
        label = view.holder.name if view.holder is not None else view.variables[0].label
        if label not in labels:
            continue
        inner = tuple(s.__name__ for s in view.variables[0].sorts[len(labels[label]) :])
        if view.holder is not None and view.holder.channel:
            kinds[label] = _Kind(any=True)
        elif inner:
            kinds[label] = _Kind(inner, many=view.holder is not None)
    return kinds


__all__ = ["Element", "Key", "ValueNames"]

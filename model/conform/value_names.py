"""Names within the values that a log tells: of a variable whose values are elements, of an element or none, of a set.

Only where the spec has elements is a text a name. A log may have a job that is called RUNNING, and another sort's names
may be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from model.conform.log import Told
from model.errors import FileError
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

    def keys(self, label: str, told: Told, where: str) -> Iterator[Key]:
        """The names in a value of the variable ``label``, but for those in messages. FileError for a value of a kind
        that the variable never has."""
        kind = self._kinds[label]
        if told is None or not (kind.sorts or kind.any):
            return
        if kind.many or kind.any:
            if isinstance(told, str):  # as traces show all of it
                return
            if not isinstance(told, list):
                what = "elements" if kind.many else "messages"
                raise FileError(f"{where}: {label} is {told!r}, expected a list of its {what}")
        if kind.many and isinstance(told, list):
            for each in told:
                parts = _parts(each, kind.sorts)
                if parts is None:
                    raise FileError(f"{where}: {label} has {each!r}, expected {' and '.join(kind.sorts)} by name")
                yield from zip(kind.sorts, parts, strict=True)
        elif kind.sorts:
            parts = _parts(told, kind.sorts)
            if parts is None:
                raise FileError(f"{where}: {label} is {told!r}, expected a {kind.sorts[0]} by name")
            if parts[0] != _NONE:
                yield kind.sorts[0], parts[0]

    def translated(self, label: str, told: Told, element: Element) -> Told:
        """The value with its names in the spec's words."""
        kind = self._kinds[label]
        if kind.any:
            return _everywhere(told, element)
        if kind.many and isinstance(told, list):
            return [_member(each, kind.sorts, element) for each in told]
        parts = _parts(told, kind.sorts) if kind.sorts and not kind.many else None
        return told if parts is None else element(kind.sorts[0], parts[0])


def _parts(told: object, sorts: tuple[str, ...]) -> list[str] | None:
    """The names in one member of a set; a number may be a name. None where it is no such member."""
    parts = told if isinstance(told, list) and len(sorts) > 1 else [told]
    names = [str(p) for p in parts if isinstance(p, str | int) and not isinstance(p, bool)]
    return names if len(names) == len(parts) == len(sorts) else None


def _member(told: object, sorts: tuple[str, ...], element: Element) -> object:
    parts = _parts(told, sorts)
    if parts is None:
        return told
    found = [element(sort, name) for sort, name in zip(sorts, parts, strict=True)]
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

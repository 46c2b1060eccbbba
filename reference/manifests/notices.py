"""Collects warnings while files are read; the same kind of remark about many objects becomes one line."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from reference.errors import InputWarning
from reference.manifests.document import Field


class PlaceOf(enum.Enum):
    """What has a place. PODS_THAT_DIFFER: the first pod of a role of one gang whose pods are not alike."""

    QUEUE = "queue"
    GANG = "gang"
    PODS_THAT_DIFFER = "pods that differ"


@dataclass(frozen=True, slots=True)
class Place:
    """A file, a line from 1 where it is known, and the path of a field."""

    file: str
    line: int | None
    where: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line is not None else self.file


@dataclass(slots=True)
class _Entry:
    warning: InputWarning
    more: int = 0


class Notices:
    """Warnings in the order in which their first occasion was met.

    ``selected_labels`` are the labels of pods that some selector of the input looks at: labels of other keys are not
    read, as nothing depends on them. All who read pods have these notices at hand.
    """

    def __init__(self, selected_labels: frozenset[str] = frozenset()) -> None:
        self.selected_labels = selected_labels
        self._entries: dict[str, _Entry] = {}
        self._places: dict[tuple[PlaceOf, str], Field] = {}

    def place(self, of: PlaceOf, name: str, field: Field) -> None:
        """Where something stands, for remarks about the cluster as a whole; the first place counts."""
        self._places.setdefault((of, name), field)

    def places(self) -> dict[tuple[PlaceOf, str], Place]:
        """Where what was told stands."""
        return {key: Place(w.file, w.line, w.where) for key, field in self._places.items() for w in [field.warning("")]}

    def add(self, field: Field, text: str, kind: str | None = None, *, of_key: bool = False) -> None:
        """A warning about ``field``. Warnings of one ``kind`` are counted after the first; without one, all stand."""
        key = f"{kind}" if kind is not None else f"{field.document.file}\0{field.where}\0{text}"
        if key in self._entries:
            self._entries[key].more += 1
        else:
            self._entries[key] = _Entry(field.warning(text, of_key=of_key))

    def add_general(self, text: str, file: str = "") -> None:
        """A warning about no field in particular."""
        self._entries.setdefault(f"{file}\0{text}", _Entry(InputWarning(text, file)))

    def result(self) -> tuple[InputWarning, ...]:
        """All of them, one line each."""
        return tuple(
            replace(e.warning, text=f"{e.warning.text} (and {e.more} more like this)") if e.more else e.warning
            for e in self._entries.values()
        )

"""Collects warnings while files are read; the same kind of remark about many objects becomes one line."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference.errors import InputWarning
from reference.manifests.document import Field


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

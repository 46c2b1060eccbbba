"""PriorityClass objects (scheduling.k8s.io/v1), and the priorities that gangs name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reference.manifests.document import Field
from reference.manifests.notices import Notices
from reference.manifests.objects import Object, by_name

_BUILT_IN: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_LARGEST: Final = 2**31


class Priorities:
    """What names of priority classes stand for; ``classes`` are the objects of each kind that there is."""

    def __init__(self, classes: Iterable[Iterable[Object]], notices: Notices) -> None:
        self._notices = notices
        self._values = dict(_BUILT_IN)
        self._default = 0
        for name, each in (pair for kind in classes for pair in by_name(kind, namespaced=False).items()):
            self._values[name] = number(each.field.need("value", "the priority, a whole number"))
            if each.field.optional("globalDefault", Field.boolean, False):
                self._default = self._values[name]

    def of(self, spec: Field) -> int | None:
        """The priority that a spec states by number or by class, None where it states none."""
        stated = spec.get("priority")
        if stated is not None:
            return number(stated)
        name = spec.get("priorityClassName")
        return self.named(name) if name else None

    def named(self, name: Field) -> int:
        """The value of the class of that name."""
        text = name.string()
        if text in self._values:
            return self._values[text]
        if text:
            found = f"the PriorityClass {text!r} is not given: priority {self._default} is taken"
            self._notices.add(name, found, f"priority class {text}")
        return self._default

    @property
    def default(self) -> int:
        """The priority of what names none."""
        return self._default


def number(field: Field) -> int:
    """A priority as a number."""
    return field.integer(-_LARGEST, _LARGEST, "a priority, a whole number of 32 bits")

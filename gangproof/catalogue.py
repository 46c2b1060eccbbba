"""What is shipped, as ``gangproof list`` tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specs.loading import build_spec, find_function
from specs.parameters import Parameter, parameters_of, shown
from specs.registry import SHIPPED, mutants


@dataclass(frozen=True, slots=True)
class Entry:
    """One spec, with its default parameters."""

    name: str
    doc: str
    parameters: tuple[Parameter, ...]
    actions: tuple[str, ...]
    properties: tuple[str, ...]
    mutants: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The entry of ``gangproof list --json``."""
        return {
            "name": self.name,
            "doc": self.doc,
            "parameters": [{"name": p.name, "kind": p.kind, "default": shown(p.default)} for p in self.parameters],
            "actions": list(self.actions),
            "properties": list(self.properties),
            "mutants": list(self.mutants),
        }


def catalogue() -> Iterator[Entry]:
    """Every shipped spec, in order."""
    for name in SHIPPED:
        function = find_function(name)
        machine = build_spec(name, {})
        yield Entry(
            name,
            (function.__doc__ or "").strip().splitlines()[0],
            tuple(parameters_of(function)),
            tuple(a.name for a in machine.actions),
            tuple(p.name for p in machine.properties),
            tuple(m.name for m in mutants(name)),
        )

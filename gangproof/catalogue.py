"""What is shipped, as ``gangproof list`` tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specs.editions import EDITION, editions
from specs.loading import find_function, load_spec
from specs.parameters import Parameter, parameters_of, shown
from specs.registry import SHIPPED, mutants


@dataclass(frozen=True, slots=True)
class Entry:
    """One spec, with its default parameters; where it has editions, what any of them has."""

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
            "parameters": [_parameter(p) for p in self.parameters],
            "actions": list(self.actions),
            "properties": list(self.properties),
            "mutants": list(self.mutants),
        }


def _parameter(p: Parameter) -> dict[str, Any]:
    told = {"name": p.name, "kind": p.kind, "default": shown(p.default)}
    return {**told, "by_edition": {e: shown(v) for e, v in p.by_edition.items()}} if p.by_edition else told


def catalogue() -> Iterator[Entry]:
    """Every shipped spec, in order."""
    for name in SHIPPED:
        function = find_function(name)
        machines = [load_spec(name, [f"{EDITION}={e}"]) for e in editions(function)] or [load_spec(name)]
        yield Entry(
            name,
            (function.__doc__ or "").strip().splitlines()[0],
            tuple(parameters_of(function)),
            tuple(dict.fromkeys(a.name for m in machines for a in m.actions)),
            tuple(dict.fromkeys(p.name for m in machines for p in m.properties)),
            tuple(m.name for m in mutants(name)),
        )

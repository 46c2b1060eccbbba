"""What a system's ``mutants.py`` lists: faults, each with the property that must be violated.

A property that no mutant breaks may be true because it says nothing. The tests run every mutant; `gangproof mutants`
shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from model.language import Machine
from model.language.mutation import Edit, mutated


@dataclass(frozen=True)
class Mutant:
    """A spec with a fault.

    ``source`` is where the fault comes from: the rule it breaks, or a real fault's number. ``violated`` is the
    property that tells it, ``parameters`` the scope in which the spec without the fault holds and the fault shows.
    """

    name: str
    source: str
    violated: str
    build: Callable[..., Machine]
    edits: tuple[Edit, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def base(self) -> Machine:
        """The spec without the fault."""
        return self.build(**self.parameters)

    def make(self) -> Machine:
        """The spec with the fault."""
        return mutated(self.base, *self.edits)

    @property
    def what(self) -> str:
        """The fault in words."""
        return "; ".join(edit.what for edit in self.edits)

"""What a system's ``mutants.py`` lists: faults, each with the property that must be violated.

A property that no mutant breaks may be true because it says nothing. The tests run every mutant; `gangproof mutants`
runs and shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from model.language import Machine
from model.language.mutation import Edit, mutated
from specs.parameters import shown


@dataclass(frozen=True)
class Mutant:
    """A spec with a fault.

    ``source`` is where the fault comes from: the rule it breaks, or the root cause of a real report. ``violated`` is
    the property that tells it, ``parameters`` the scope in which the spec without the fault holds and the fault shows.
    ``report`` is the id that the project's tracker has for a fault that people really met; such a mutant breaks nothing
    else there but its ``consequences``, and nothing at all is violated there without it. A fault in what users or
    operators say has no line of the spec to edit, and one that the spec has as a variant would be written twice: these
    are ``changed`` parameters, none of them set back to its default.
    """

    name: str
    source: str
    violated: str
    build: Callable[..., Machine]
    edits: tuple[Edit, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    consequences: tuple[str, ...] = ()
    report: str = ""
    changed: Mapping[str, Any] = field(default_factory=dict)

    def base(self) -> Machine:
        """The spec without the fault."""
        return self.build(**self.parameters)

    def make(self) -> Machine:
        """The spec with the fault."""
        return mutated(partial(self.build, **{**self.parameters, **self.changed}), *self.edits)

    @property
    def lines(self) -> int:
        """How many lines of the spec, or values of parameters, are changed."""
        return sum(edit.lines for edit in self.edits) + len(self.changed)

    @property
    def what(self) -> str:
        """The fault in words."""
        variants = [f"{name}={shown(value)}" for name, value in self.changed.items()]
        return "; ".join([*(edit.what for edit in self.edits), *variants])


@dataclass(frozen=True)
class Faults:
    """Makes the mutants of the spec that ``build`` builds, in the scope ``usual`` where none is named.

    ``tracker`` is what the ids of reports begin with: "YUNIKORN-". ``everywhere`` are parameters of every scope: the
    edition.
    """

    build: Callable[..., Machine]
    usual: Mapping[str, Any] = field(default_factory=dict)
    tracker: str = ""
    everywhere: Mapping[str, Any] = field(default_factory=dict)

    def __call__(
        self,
        name: str,
        source: str,
        violated: str,
        *edits: Edit,
        parameters: Mapping[str, Any] | None = None,
        consequences: tuple[str, ...] = (),
        report: str = "",
        changed: Mapping[str, Any] | None = None,
    ) -> Mutant:
        """A `Mutant` of these."""
        scope = {**self.everywhere, **(self.usual if parameters is None else parameters)}
        return Mutant(name, source, violated, self.build, edits, scope, consequences, report, changed or {})

    def report(self, number: str, name: str, source: str, violated: str, *edits: Edit, **given: Any) -> Mutant:
        """One that people met: ``number`` is the tracker's; empty for a seeded fault."""
        return self(name, source, violated, *edits, report=f"{self.tracker}{number}" if number else "", **given)

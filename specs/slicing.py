"""Slices: small machines that stand for a large one in proofs about any size.

A slice forgets variables of the full machine and permits more steps. What holds in every run of the slice holds in
every run of the full machine, if the full machine starts where the slice starts, and each of its steps is a step of the
slice or changes nothing that the slice sees. `specs.slice_check` looks at all states and steps of one size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from model.language import Expr, Machine, Sort
from specs.editions import of_edition

View: TypeAlias = Callable[[Machine], Mapping[str, Callable[..., "Expr | int"]]]
"""For a full machine, what each variable of the slice is there: of the elements that index it, an expression."""


class SliceError(Exception):
    """A slice that does not speak of all of the full machine, or of something that this does not have; or of which
    something is said to follow that does not."""


@dataclass(frozen=True)
class Slice:
    """``small`` is a slice of ``full``.

    ``scale``: the parameters of the slice for those of the full spec, all of them, and ValueError for a scope that it
    is no slice of. ``view``: the state of the slice in a state of the full machine. A sort of both machines has the
    same elements in both; one of ``elements`` has an element for each combination of elements of these sorts of the
    full machine, and the view is given those; an element of another one is given as its number, from 0. ``actions``:
    for an action of the full spec those of the slice that its steps are. ``removed``: variables that the slice does not
    see, and actions that change nothing that it sees, each with the reason. ``follows``: a property of the full spec
    holds in every state, or step, in which these of the slice hold.
    """

    full: Callable[..., Machine]
    small: Callable[..., Machine]
    scale: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    view: View
    actions: Mapping[str, tuple[str, ...]]
    removed: Mapping[str, str]
    follows: Mapping[str, tuple[str, ...]]
    elements: Mapping[type[Sort], tuple[type[Sort], ...]] = field(default_factory=dict)

    def parameters(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters of the full spec, as given or by default."""
        return of_edition(self.full, given)

    def machines(self, given: Mapping[str, Any]) -> tuple[Machine, Machine]:
        """The full machine in the scope of these parameters, and the slice that stands for it. ValueError for a scope
        that it is no slice of, or that makes no sense."""
        values = self.parameters(given)
        return self.full(**values), self.small(**self.scale(values))


def one_number(name: str, value: int | Sequence[int]) -> int:
    """``value`` if it is the same for all. ValueError if it is not."""
    values = {value} if isinstance(value, int) else set(value)
    if len(values) != 1:
        raise ValueError(f"a slice has one {name} for all; found {value}")
    return int(next(iter(values)))


__all__ = ["Slice", "SliceError", "View", "one_number"]

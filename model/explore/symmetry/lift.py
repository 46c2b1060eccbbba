"""From a run over canonical states to a run of the machine.

The elements of a canonical state have other names than in the run: the permutation that makes it of the run's state
says which. Where several do, any of them is right: they differ by a symmetry of the state itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.explore.symmetry.canonical import Canonical
from model.language.types import SortType, domain_type
from model.semantics import Fault, Semantics, State


class Run:
    """Follows a run of a machine, step by step; ``state`` is where it is."""

    def __init__(self, semantics: Semantics, first: State) -> None:
        self.semantics = semantics
        self.state = first

    def step(self, number: int) -> tuple[int, State, Fault | None]:
        """Take the step of instance ``number``: that number, and the state after it; a fault leaves the state."""
        result = self.semantics.fire(self.semantics.instances[number], self.state)
        if isinstance(result, Fault):
            return number, self.state, result
        self.state = result
        return number, result, None


class Lift(Run):
    """Follows a run of canonical states, as a run of the machine."""

    def __init__(self, semantics: Semantics, canonical: Canonical, first: State) -> None:
        """``first`` is an initial state, which need not be a canonical one."""
        super().__init__(semantics, first)
        self._canonical = canonical
        self._numbers = {(id(i.action), i.values): n for n, i in enumerate(semantics.instances)}

    def step(self, number: int) -> tuple[int, State, Fault | None]:
        """Take the step that is instance ``number`` in the canonical state; the answer is in the run's own names."""
        _, images = self._canonical.of(self.state)
        names = {sort: _inverse(image) for sort, image in images.items()}
        instance = self.semantics.instances[number]
        values = tuple(
            names[kind.sort][value]
            if isinstance(kind := domain_type(symbol.domain), SortType) and kind.sort in names
            else value
            for symbol, value in zip(instance.action.symbols, instance.values, strict=True)
        )
        return super().step(self._numbers[id(instance.action), values])


def _inverse(image: Sequence[int]) -> list[int]:
    found = [0] * len(image)
    for element, place in enumerate(image):
        found[place] = element
    return found


__all__ = ["Lift", "Run"]

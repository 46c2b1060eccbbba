"""Every state that a spec may be in at one place of a log, and how it came there.

A candidate is a packed state, the number of its world, and which of the records of one time were matched already.
Candidates are numbered over the whole log; each knows the one before it and the step between, so that runs can be told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.walks.stepper import Packed, Stepper

NO_STEP: Final = -1


class BudgetSpent(Exception):
    """A budget of the check ran out; the message says which."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Candidates, a row each: packed ``states``, ``worlds``, ``matched`` (a bit for each record of one time), the
    number of the candidate before (``parents``, `NO_STEP` for none) and the ``instances`` of the step between
    (`NO_STEP` where it is the same state). The first one is number ``first``."""

    first: int
    states: Packed
    worlds: NDArray[np.int64]
    matched: NDArray[np.int64]
    parents: NDArray[np.int64]
    instances: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.states)


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps from candidates of a layer: ``rows`` (positions in the layer), ``instances`` and packed ``targets``."""

    rows: NDArray[np.int64]
    instances: NDArray[np.int64]
    targets: Packed


class Builder:
    """Collects the candidates of a layer, each once; the first way to come to one is the one that is told."""

    def __init__(self, first: int, words: int, most: int) -> None:
        self._first: Final = first
        self._words: Final = words
        self._most: Final = most
        self._index: Final[dict[tuple[int, int, bytes], int]] = {}
        self._parts: Final[list[tuple[int, int, int, int]]] = []
        self._states: Final[list[bytes]] = []

    def add(self, state: bytes, world: int, matched: int, parent: int, instance: int) -> bool:
        """Whether it is a new one. BudgetSpent past the most."""
        key = (world, matched, state)
        if key in self._index:
            return False
        if len(self._states) >= self._most:
            raise BudgetSpent(f"more than {self._most:,} candidate states")
        self._index[key] = len(self._states)
        self._states.append(state)
        self._parts.append((world, matched, parent, instance))
        return True

    def __len__(self) -> int:
        return len(self._states)

    def layer(self, start: int = 0) -> Layer:
        """The candidates from position ``start`` on."""
        states = np.frombuffer(b"".join(self._states[start:]), np.uint64).reshape(-1, self._words)
        columns = np.array(self._parts[start:], np.int64).reshape(-1, 4)
        return Layer(self._first + start, states, columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3])


def expand(stepper: Stepper, layer: Layer) -> Steps:
    """All steps without a fault from the candidates of ``layer``."""
    found = stepper.successors(layer.states)
    rows = np.repeat(np.arange(len(layer)), found.counts)
    instances, targets = found.pick(np.arange(len(rows)))
    return Steps(rows, instances.astype(np.int64), targets)


class History:
    """All layers so far, for runs. Of a long log the oldest are dropped, when they hold more than ``most`` candidates
    together: a run then begins later."""

    def __init__(self, most: int) -> None:
        self._most: Final = most
        self._layers: Final[list[Layer]] = []
        self.count = 0
        self.next = 0

    def keep(self, layer: Layer) -> Layer:
        """Remember ``layer``; its candidates follow those that were kept before."""
        assert layer.first == self.next, "candidates are numbered without gaps"
        self.next += len(layer)
        self.count += len(layer)
        self._layers.append(layer)
        while self.count > self._most and len(self._layers) > 1:
            self.count -= len(self._layers.pop(0))
        return layer

    def run(self, number: int) -> tuple[NDArray[np.uint64], list[int]]:
        """The first state that is still known on the way to candidate ``number``, and the instances from there."""
        instances: list[int] = []
        while True:
            layer = self._layer_of(number)
            row = number - layer.first
            parent = int(layer.parents[row])
            if parent == NO_STEP or parent < self._layers[0].first:
                return layer.states[row], instances[::-1]
            if layer.instances[row] != NO_STEP:
                instances.append(int(layer.instances[row]))
            number = parent

    def _layer_of(self, number: int) -> Layer:
        low, high = 0, len(self._layers)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._layers[middle].first <= number else (low, middle)
        return self._layers[low]


def both(layer: Layer, new: Layer) -> Layer:
    """Two layers of which the second follows the first, as one."""
    assert new.first == layer.first + len(layer), "the second follows the first"
    parts = zip(
        (layer.states, layer.worlds, layer.matched, layer.parents, layer.instances),
        (new.states, new.worlds, new.matched, new.parents, new.instances),
        strict=True,
    )
    return Layer(layer.first, *(np.concatenate(pair) for pair in parts))


def rows_of(layer: Layer) -> Iterator[tuple[bytes, int, int, int]]:
    """State, world, matched and number of each candidate."""
    columns: Sequence[tuple[int, int]] = list(zip(layer.worlds.tolist(), layer.matched.tolist(), strict=True))
    for row, (world, matched) in enumerate(columns):
        yield layer.states[row].tobytes(), world, matched, layer.first + row


__all__ = ["NO_STEP", "BudgetSpent", "Builder", "History", "Layer", "Steps", "both", "expand", "rows_of"]

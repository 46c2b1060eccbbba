"""Random walks, many at a time: in each round all walks of a batch take one step, chosen evenly among those enabled.

Of every state that a walk visits all enabled steps are looked at, not only the one that is taken: a claim about steps,
a fault or a deadlock next to the way is seen too. A batch has random numbers of its own, so what it does depends on the
seed and on its number, not on threads.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model.explore.codegen.native import Native
from model.explore.coverage.distinct import distinct
from model.explore.coverage.values import Values
from model.explore.packing import PackedProgram
from model.explore.walks.stepper import Packed, Stepper

WALKS: Final = 512
_CHOICES: Final = 1 << 24  # of all walks of a batch together, kept until its traces are known
_VISITED: Final = 1 << 17
_NONE: Final = np.int32(-1)


def batch_size(steps: int) -> int:
    """Walks in a batch, for walks of at most ``steps`` steps."""
    return max(1, min(WALKS, _CHOICES // (steps + 1)))


@dataclass(frozen=True, slots=True)
class Sighting:
    """The first occurrence of an event in a batch: the walk's start, its instances up to there, and the last one if
    it is a step's. ``walk`` is counted over all batches, from 1."""

    event: int
    walk: int
    start: tuple[int, ...]
    instances: tuple[int, ...]
    last: int | None

    @property
    def length(self) -> int:
        """Steps of the run that shows it."""
        return len(self.instances) + (self.last is not None)


@dataclass(slots=True)
class BatchResult:
    """What the walks of one batch saw. ``steps`` is by action; ``dead_ends``: walks that could not go on.

    ``starts`` are packed; ``choices`` has for each round the number of the instance that each walk took, -1 for none.
    """

    starts: Packed
    steps: NDArray[np.int64]
    choices: list[NDArray[np.int32]] = field(default_factory=list)
    longest: int = 0
    dead_ends: int = 0
    states: list[Packed] = field(default_factory=list)
    values: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    sightings: list[Sighting] = field(default_factory=list)
    in_time: bool = True

    @property
    def walks(self) -> int:
        """How many walks."""
        return len(self.starts)


class Walker:
    """Walks of at most ``steps`` steps over one machine, from its ``initial`` states (packed)."""

    def __init__(
        self, program: PackedProgram, native: Native, initial: Packed, steps: int, seed: int, deadline: float | None
    ) -> None:
        self._program: Final = program
        self._native: Final = native
        self._initial: Final = initial
        self._steps: Final = steps
        self._seed: Final = seed
        self._deadline: Final = deadline
        self._stopped = False
        self.values: Final = Values(program.machine, program.layout)
        numbers = [i.number for i in program.instances]
        self._action: Final = np.zeros(max(numbers, default=0) + 1, np.int64)
        for i in program.instances:
            self._action[i.number] = i.action

    def stop(self) -> None:
        """End the batches that are under way in other threads; nobody wants them any more."""
        self._stopped = True

    def batch(self, number: int, walks: int) -> BatchResult:
        """Batch ``number``, from 0, of ``walks`` walks."""
        random = np.random.default_rng([self._seed, number])
        stepper = Stepper(self._program, self._native)
        starts = self._initial[random.integers(len(self._initial), size=walks)]
        result = BatchResult(starts, np.zeros(self._program.actions, np.int64), values=self.values.blank())
        seen: dict[int, tuple[int, int, int | None]] = {}
        active, states = np.arange(walks), starts
        visited, waiting = [states], len(states)
        for step in range(self._steps + 1):
            found = stepper.successors(states)
            for noted in stepper.noted():
                seen[noted.event] = (step, int(active[noted.row]), noted.instance)
            counts = found.counts
            alive = counts > 0
            result.dead_ends += int(np.count_nonzero(~alive))
            if step == self._steps or not alive.any():
                break
            if self._stopped or (self._deadline is not None and time.perf_counter() > self._deadline):
                result.in_time = False
                break
            firsts = np.cumsum(counts) - counts
            taken = firsts[alive] + random.integers(counts[alive])
            active = active[alive]
            instances, states = found.pick(taken)
            made = np.full(walks, _NONE)
            made[active] = instances
            result.choices.append(made)
            result.steps += np.bincount(self._action[instances], minlength=len(result.steps))
            result.longest = step + 1
            visited.append(states)
            waiting += len(states)
            if waiting > _VISITED:
                self._gather(visited, result)
                visited, waiting = [], 0
        self._gather(visited, result)
        first = number * batch_size(self._steps) + 1
        for event, (step, walk, instance) in sorted(seen.items()):
            start = self._program.layout.unpack(starts[walk].tolist())
            made_by = tuple(int(made[walk]) for made in result.choices[:step])
            result.sightings.append(Sighting(event, first + walk, start, made_by, instance))
        return result

    def _gather(self, visited: list[Packed], result: BatchResult) -> None:
        if visited:
            states = distinct(np.concatenate(visited))
            self.values.look_into(states, result.values)
            result.states.append(states)


__all__ = ["BatchResult", "Sighting", "Walker", "batch_size"]

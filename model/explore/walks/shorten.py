"""Shorter runs to an event that a random walk came to. What is left need not be the shortest run.

A run ends where the event first occurs. States of the run that one step leads between are joined by that step, which
cuts loops too; then steps are left out, many at once at first, and what of the rest is still enabled is replayed. At
last the shortest way is taken among the states of the run and those one step beside it, as long as that helps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from model.explore.codegen.native import Native
from model.explore.packing import PackedProgram
from model.explore.walks.stepper import Stepper

_LOOKS: Final = 50_000

Words = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Instances from the start, the packed states that they lead through, and the step of the event, if it is one's."""

    instances: tuple[int, ...]
    states: tuple[Words, ...]
    last: int | None


@dataclass(frozen=True, slots=True)
class _Look:
    events: dict[int, int | None]
    successors: dict[int, Words]


class Shortener:
    """Shortens runs of one machine. It looks at most at `_LOOKS` states for each run, then it returns what it has."""

    def __init__(self, program: PackedProgram, native: Native) -> None:
        self._pack: Final = program.layout.pack
        self._stepper: Final = Stepper(program, native)
        self._known: dict[Words, _Look] = {}
        self._left = 0

    def shorten(self, event: int, start: Sequence[int], instances: Sequence[int]) -> Run:
        """A run from the raw state ``start`` to ``event``, made of ``instances`` or of steps beside them."""
        self._left = _LOOKS
        first = self._pack(start)
        best = self._replay(event, first, instances)
        assert best is not None, "a walk is a run"
        best = self._shortcuts(best)
        size = max(1, len(best.instances) // 2)
        while self._left > 0:
            shorter = self._without(event, best, size)
            if shorter is not None:
                best = self._shortcuts(shorter)
                size = min(size, max(1, len(best.instances) // 2))
            elif size > 1:
                size //= 2
            else:
                beside = self._shortcuts(best, beside=True)
                if len(beside.instances) == len(best.instances):
                    break
                best, size = beside, max(1, len(beside.instances) // 2)
        return best

    def _without(self, event: int, run: Run, size: int) -> Run | None:
        """``run`` without some ``size`` steps, if that still comes to ``event``."""
        for at in range(0, len(run.instances), size):
            if self._left <= 0:
                return None
            shorter = self._replay(event, run.states[0], run.instances[:at] + run.instances[at + size :])
            if shorter is not None and len(shorter.instances) < len(run.instances):
                return shorter
        return None

    def _replay(self, event: int, state: Words, instances: Sequence[int]) -> Run | None:
        """The run of those ``instances`` that are enabled in turn, up to ``event``; None if it never comes there."""
        taken: list[int] = []
        states = [state]
        for instance in (*instances, None):
            look = self._look(state)
            if event in look.events:
                return Run(tuple(taken), tuple(states), look.events[event])
            if instance in look.successors:
                state = look.successors[instance]
                taken.append(instance)
                states.append(state)
        return None

    def _shortcuts(self, run: Run, *, beside: bool = False) -> Run:
        """A shortest way among the states of ``run``; with ``beside``, among them and all that a step leads to."""
        inside = set(run.states)
        if beside:
            inside.update(target for state in run.states for target in self._look(state).successors.values())
            if len(inside) > self._left:
                return run
        goal = run.states[-1]
        came: dict[Words, tuple[Words, int]] = {}
        level = [run.states[0]]
        reached = {run.states[0]}
        while level and goal not in reached:
            further: list[Words] = []
            for state in level:
                for instance, target in sorted(self._look(state).successors.items()):
                    if target in inside and target not in reached:
                        reached.add(target)
                        came[target] = (state, instance)
                        further.append(target)
            level = further
        instances: list[int] = []
        states = [goal]
        while states[-1] in came:
            before, instance = came[states[-1]]
            instances.append(instance)
            states.append(before)
        return Run(tuple(instances[::-1]), tuple(states[::-1]), run.last)

    def _look(self, state: Words) -> _Look:
        """The steps from a packed state, and the events in it or in a step from it."""
        found = self._known.get(state)
        if found is None:
            self._left -= 1
            self._stepper.forget()
            steps = self._stepper.successors(np.array([state], np.uint64))
            events = {noted.event: noted.instance for noted in self._stepper.noted()}
            instances, states = steps.pick(np.arange(int(steps.counts[0])))
            targets = [tuple(words) for words in states.tolist()]
            found = _Look(events, dict(zip(instances.tolist(), targets, strict=True)))
            self._known[state] = found
        return found


__all__ = ["Run", "Shortener"]

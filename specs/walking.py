"""A spec that walks along with running code, for the bindings: one state at a time, by the names of its actions."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import ClassVar

from model.language import Machine
from model.semantics import Fault, Semantics, State
from model.trace import NamedState, Value, named_state

Call = tuple[str, tuple[str, ...]]
"""An action's name and the names of its arguments."""


class Divergence(AssertionError):
    """The code did what the spec does not allow, or shows another state."""


class Walked:
    """A machine, asked one state at a time; what was asked before is remembered."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.semantics = Semantics(machine)
        (self.initial,) = self.semantics.initial_states()
        self.instances = {
            (i.action.name, tuple(value for _, value in self.semantics.arguments(i))): i
            for i in self.semantics.instances
        }
        self._shown: dict[State, NamedState] = {}
        self._after: dict[tuple[State, Call], State | Fault | None] = {}

    def shown(self, state: State) -> NamedState:
        """``state`` in the spec's words."""
        found = self._shown.get(state)
        if found is None:
            found = self._shown[state] = named_state(self.machine, state)
        return found

    def after(self, state: State, call: Call) -> State | Fault | None:
        """Where ``call`` leads from ``state``; None where it is not enabled or no such action is declared."""
        if (state, call) not in self._after:
            instance = self.instances.get(call)
            enabled = instance is not None and self.semantics.is_enabled(instance, state)
            self._after[state, call] = self.semantics.fire(instance, state) if instance and enabled else None
        return self._after[state, call]

    def step(self, state: State, call: Call) -> State:
        """The same where it has to lead somewhere: Divergence if it is not enabled, or its step is a fault."""
        after = self.after(state, call)
        shown = f"{call[0]}({', '.join(call[1])})"
        if after is None:
            raise Divergence(f"the spec does not enable {shown}")
        if isinstance(after, Fault):
            raise Divergence(f"{shown}: {after.message}")
        return after


@functools.lru_cache(maxsize=64)
def walked(machine: Machine) -> Walked:
    """The one that all who follow ``machine`` share."""
    return Walked(machine)


class SpecWalk:
    """Where a spec is that walks along; ``state`` is its raw state. ``code`` is what complaints call the code."""

    code: ClassVar[str] = "code"

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.walked = walked(machine)
        self.state = self.walked.initial

    def shown(self) -> NamedState:
        """What the spec shows now, by cell."""
        return self.walked.shown(self.state)

    def enabled(self) -> set[Call]:
        """Every action that the spec enables now."""
        return set(filter(self.is_enabled, self.walked.instances))

    def is_enabled(self, call: Call) -> bool:
        """Whether the spec enables ``call`` now."""
        return self.walked.after(self.state, call) is not None

    def fire(self, call: Call) -> None:
        """Takes one step. Divergence if it is not enabled."""
        self.state = self.walked.step(self.state, call)

    def take(self, event: object, calls: Iterable[Call]) -> None:
        """Takes the steps that ``event`` was. Divergence if one is not enabled."""
        for call in calls:
            try:
                self.fire(call)
            except Divergence as error:
                raise Divergence(f"{event}: {error}") from None

    def compare(self, event: object, observed: Mapping[str, Value], shown: NamedState | None = None) -> None:
        """Divergence where the code shows something else after ``event`` than the spec, or than ``shown``."""
        shown = self.shown() if shown is None else shown
        for cell in observed:
            if cell not in shown:
                raise ValueError(f"{self.code} shows {cell!r}, which is no cell of the spec: {', '.join(shown)}")
        differing = [
            f"{cell}: spec {shown[cell]}, {self.code} {value}"
            for cell, value in observed.items()
            if shown[cell] != value
        ]
        if differing:
            raise Divergence(f"{event}: {', '.join(differing)}")

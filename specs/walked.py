"""A spec, asked one state at a time: what a reference that runs beside it may do next."""

from __future__ import annotations

import functools

from model.language import Machine
from model.semantics import Fault, Semantics, State
from model.trace import NamedState, named_state

Call = tuple[str, tuple[str, ...]]
"""An action's name and the names of its arguments."""


class Divergence(AssertionError):
    """The reference did what the spec does not allow, or shows another state."""


class Walked:
    """A machine; what was asked before is remembered."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.semantics = Semantics(machine)
        (self.initial,) = self.semantics.initial_states()
        self.calls = {
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
            instance = self.calls.get(call)
            enabled = instance is not None and self.semantics.is_enabled(instance, state)
            self._after[state, call] = self.semantics.fire(instance, state) if instance and enabled else None
        return self._after[state, call]

    def next(self, state: State, call: Call) -> State:
        """Where ``call`` leads from ``state``. Divergence where it is not enabled, or its step is a fault."""
        after = self.after(state, call)
        shown = f"{call[0]}({', '.join(call[1])})"
        if after is None:
            raise Divergence(f"the spec does not enable {shown}")
        if isinstance(after, Fault):
            raise Divergence(f"{shown}: {after.message}")
        return after


@functools.lru_cache(maxsize=64)
def walked(machine: Machine) -> Walked:
    """The machine's; all who ask share what is worked out."""
    return Walked(machine)
